"""Checks of the population of frames.

A request is an update id with a verdict, an update or a traffic summary. History older than the verdicts has updates only.
Such a request counts, with a missing submitter, outcome and latency. It does not count as accepted: the rejected requests of
its time are not visible, so a rate would suffer from survivorship.
"""

from __future__ import annotations

from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames

PARTICIPANT_PREFIX = "PAR::"  # some fields put it before the id of a participant (docs/facts.md#identifiers)

# -- population ---------------------------------------------------------------------------------------------------------


def require_rejections(frames: Frames, accept_survivorship: bool, quantity: str) -> None:
    """Raise a CoverageError if rejected requests cannot be in the frames."""
    if accept_survivorship or frames.population != "committed":
        return
    raise CoverageError(
        f"Cannot compute {quantity} because committed updates have no rejected requests. "
        "Load a window with since= if the network lists events, or pass accept_survivorship=True.",
        missing=("rejected requests",),
    )


def require_same_requests(name: str, frames: Frames, history: Frames) -> None:
    """Raise a UsageError if only one of two Frames is filtered, or their populations differ."""
    if frames.is_filtered != history.is_filtered:  # which changes the population, too
        raise UsageError(f"lf.{name} compares frames with history=, of which one is filtered. Filter both alike, or neither.")
    if frames.population != history.population:
        raise UsageError(
            f"lf.{name} compares frames with history= of the same population, got {frames.population!r} and "
            f"{history.population!r}. Load both with since= from the same network."
        )


def population_of(frames: Frames, accept_survivorship: bool = False) -> str:
    """Return the population of a result, which shows that the caller accepts survivorship."""
    is_accepted = accept_survivorship and frames.population == "committed"
    return f"{frames.population}, accepted" if is_accepted else frames.population
