"""Warnings about what is deprecated, shown at the line of whoever called this library."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_deprecated"]


def warn_deprecated(message: str) -> None:
    """Warn at the first caller outside this library: how far up that is depends on the way the call took."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ledgerframes":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, DeprecationWarning, stacklevel=depth)
