"""Checks of arguments that are numbers."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from ledgerframes.errors import UsageError

MAX_INTEGER = 2**63 - 1  # of a column, and of an integer in JSON


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or NumPy, but not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object, low: float, high: float) -> bool:
    """Return whether a value is a number of Python or NumPy in these bounds."""
    return (is_integer(value) or isinstance(value, float | np.floating)) and bool(low <= value <= high)


def require_integer(name: str, value: object, least: int, most: int = MAX_INTEGER) -> int:
    """Return an argument that is an integer in these bounds, or raise a UsageError.

    An integer of NumPy, as of a frame, becomes one of Python, which JSON and SQL accept and whose sums cannot overflow.
    """
    if not is_integer(value) or not least <= value <= most:
        bound = f"at most {most:,}" if is_integer(value) and value > most else f"at least {least:,}"
        raise UsageError(f"{name}= must be a whole number of {bound}, got {value!r}.")
    return int(value)


def require_min_coverage(value: object) -> None:
    """Raise a UsageError unless `min_coverage` is a share, not a percentage or text."""
    if not is_number(value, 0, 1):
        raise UsageError(f"min_coverage= must be a number from 0 to 1, such as 0.99, got {value!r}.")
