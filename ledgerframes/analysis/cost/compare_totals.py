"""Total costs of two windows, and whether they are comparable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from ledgerframes.analysis.coverage import period_share
from ledgerframes.analysis.groups import as_integers
from ledgerframes.frames import Frames
from ledgerframes.statistics import printing
from ledgerframes.statistics.rounding import half_up
from ledgerframes.texts.representation import describe_length
from ledgerframes.values.windows import DAY, MICROSECOND

MAX_COVERAGE_DIFFERENCE = 0.01


def compare_totals(
    totals: Sequence[tuple[int, int]],
    frames: Sequence[Frames],
    spans: Sequence[tuple[int, int]],
    known_shares: Sequence[float],
) -> dict[str, Any]:
    """Return the changes of total costs, and whether the two windows are comparable.

    Parameters
    ----------
    totals : sequence of (int, int)
        Known cost before and after, for each row.
    frames : sequence of Frames
        The frames before and after.
    spans : sequence of (int, int)
        Times of their first and last requests, or of their windows [microseconds since 1970].
    known_shares : sequence of float
        Share of their requests with a known cost.
    """
    lengths = [_window_length(*side) for side in zip(frames, spans, strict=True)]
    final = [period_share(side) for side in frames]  # The history covers only a part of a window that begins before it.
    obstacles = (
        *unequal_lengths(lengths[0], lengths[1]),
        *unequal_shares("final", final[0], final[1]),
        *unequal_shares("known costs", known_shares[0], known_shares[1]),
    )
    reason = ", ".join(obstacles)
    changes = [second - first for first, second in totals]
    have_one_length = lengths[0] == lengths[1]
    return {
        "change": as_integers(changes if have_one_length else [None] * len(changes), "change"),
        "change_per_day": as_integers([_change_per_day(pair, lengths) for pair in totals], "change_per_day"),
        "contribution": _contributions(changes) if not reason else np.nan,
        "length_before": lengths[0],
        "length_after": lengths[1],
        "not_comparable": reason or None,
        "coverage_time": _covered_by_both(lengths, final),
    }


def _window_length(frames: Frames, span: tuple[int, int]) -> timedelta | None:
    """Return the length of a window, or None. A window of all history starts with the history."""
    if frames.window is None:
        return None
    since, until = span
    return timedelta(microseconds=until - since)


def unequal_lengths(before: timedelta | None, after: timedelta | None) -> Iterator[str]:
    """Yield a note if two windows differ in length."""
    if before != after:
        yield f"windows of {describe_length(before)} and {describe_length(after)}"


def unequal_shares(noun: str, before: float | None, after: float | None) -> Iterator[str]:
    """Yield a note if two known shares differ by more than 0.01."""
    if before is not None and after is not None and abs(before - after) > MAX_COVERAGE_DIFFERENCE:
        yield f"{noun}: {printing.share(float(before))} before and {printing.share(float(after))} after"


def _change_per_day(totals: tuple[int, int], lengths: Sequence[timedelta | None]) -> int | None:
    first, second = (
        Fraction(total * (DAY // MICROSECOND), length // MICROSECOND) if length else None
        for total, length in zip(totals, lengths, strict=True)
    )
    return None if first is None or second is None else half_up(second - first)


def _contributions(changes: Sequence[int]) -> list[float]:
    total = sum(changes)
    return [float(Fraction(each, total)) if total else np.nan for each in changes]


def _covered_by_both(lengths: Sequence[timedelta | None], final: Sequence[float]) -> float:
    """Return the part of the longer window that the side with less final time covers."""
    if lengths[0] is None or lengths[1] is None:
        return np.nan
    longest = max(lengths[0], lengths[1])
    return min(share * (length / longest) for share, length in zip(final, lengths, strict=True) if length is not None)
