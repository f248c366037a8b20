"""The check of an argument that is Frames."""

from __future__ import annotations

from ledgerframes.errors import UsageError
from ledgerframes.frames.frames import Frames


def require_frames(frames: object, name: str) -> None:
    """Raise a UsageError unless an argument of the function of this name is Frames."""
    if not isinstance(frames, Frames):
        loader = "lf.load_events(net, …)"
        raise UsageError(f"Pass Frames to lf.{name}, such as the result of {loader}, got {type(frames).__name__}.")
