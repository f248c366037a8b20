"""Warnings, shown at the line of the code that calls this package."""

from __future__ import annotations

import sys
import warnings

from ledgerframes.texts.hidden_tokens import hide_tokens


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the innermost caller outside this package."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ledgerframes":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(hide_tokens(message), category, stacklevel=depth)
