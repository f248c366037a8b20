"""Rows put into numbered groups, and the exact figures that can be asked of each group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Rates = npt.NDArray[np.float64]

MICROSECONDS_PER_HOUR = 3_600_000_000
MOST_PERIODS = 1_000_000
SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}

# Periods are counted from a Monday, so that weeks begin on one; days and hours begin on the full hour all the same.
ORIGIN = pd.Timestamp("1970-01-05", tz="UTC").value // 1_000


@dataclass(frozen=True)
class Groups:
    """Which group each row is in.

    Attributes
    ----------
    keys : DataFrame
        One row per group: what the group is.
    codes : array of int64
        For each row, the position of its group in `keys`.
    """

    keys: pd.DataFrame
    codes: Integers

    def __len__(self) -> int:
        return len(self.keys)

    def count(self, mask: Flags | None = None) -> Integers:
        """How many rows each group has, or how many of those marked."""
        codes = self.codes if mask is None else self.codes[mask]
        return np.bincount(codes, minlength=len(self)).astype(np.int64)

    def total(self, values: pd.Series) -> pd.Series:
        """Exact sums of integers; missing where a group has no known value."""
        sums = values.astype("Int64").groupby(self.codes).sum(min_count=1)
        return sums.reindex(range(len(self))).reset_index(drop=True)

    def part_total(self, values: pd.Series, part: Flags) -> pd.Series:
        """Exact sums over the rows marked.

        A group of which some value is known and no row is marked has 0, which is a fact; where rows are marked and none of
        their values is known, the sum is missing.
        """
        sums = self.total(values.where(part))
        nothing_marked = (self.count(part) == 0) & (self.count(known(values)) > 0)
        return sums.mask(nothing_marked, 0)

    def nearest_rank(self, values: pd.Series, percents: Sequence[int]) -> list[pd.Series]:
        """Percentiles of integers that are themselves values of the group (nearest rank); missing where none is known."""
        is_known = known(values)
        codes, numbers = self.codes[is_known], values[is_known].to_numpy("int64")
        ordered = numbers[np.lexsort((numbers, codes))]
        counts = np.bincount(codes, minlength=len(self))
        filled = counts > 0
        starts = (np.cumsum(counts) - counts)[filled]
        results = []
        for percent in percents:
            ranks = (counts[filled] * percent + 99) // 100
            result = pd.Series(pd.NA, index=range(len(self)), dtype="Int64")
            result[filled] = ordered[starts + np.maximum(ranks, 1) - 1]
            results.append(result)
        return results

    def share_known(self, is_known: Flags) -> Rates:
        """The share of each group's rows that are marked as known; missing for a group without rows."""
        return ratio(self.count(is_known), self.count())


def known(values: pd.Series) -> Flags:
    """Which values are not missing."""
    return values.notna().to_numpy(dtype=bool)


def ratio(part: Any, whole: Any) -> Rates:
    """`part` over `whole`; missing where either is, or where the whole is 0."""
    above, below = (pd.array(number).to_numpy(dtype="float64", na_value=np.nan) for number in (part, whole))
    result = np.full(len(below), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result


def shares(values: pd.Series) -> Rates:
    """Each value's share of the sum of all; missing where the value is, or where the sum is 0."""
    whole = values.sum(min_count=1)
    return ratio(values, pd.Series(whole, index=values.index, dtype="Int64"))


def distinct(numbers: Integers) -> Integers:
    """Each number once, in order; by sorting, which is many times faster here than numpy's own hashing."""
    ordered = np.sort(numbers)
    is_new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    result: Integers = ordered[is_new]
    return result


# -- ways to group ----------------------------------------------------------------------------------------------------


def everything(rows: int) -> Groups:
    """All rows in one group."""
    return Groups(pd.DataFrame(index=range(1)), np.zeros(rows, dtype=np.int64))


def by_columns(rows: pd.DataFrame, names: Sequence[str]) -> Groups:
    """One group per combination of values that occurs, a missing value being one too."""
    numbers = rows.groupby(list(names), dropna=False, observed=True, sort=True).ngroup()
    codes: Integers = np.asarray(numbers, dtype=np.int64)
    _, first = np.unique(codes, return_index=True)
    return Groups(rows[list(names)].iloc[first].reset_index(drop=True), codes)


def by_hour_of_day(times: pd.Series) -> Groups:
    """The 24 hours of the day, UTC, whether they have rows or not."""
    keys = pd.DataFrame({"hour": np.arange(24)})
    hours = microseconds(times) // MICROSECONDS_PER_HOUR % 24
    return Groups(keys, hours.astype(np.int64))


@dataclass(frozen=True)
class Periods:
    """Periods of one length, in a row without gaps; microseconds, numbered from a Monday."""

    step: int
    first: int
    last: int

    def group(self, times: pd.Series) -> Groups:
        """All the periods, whether they have rows or not."""
        starts = pd.Series(np.arange(self.first, self.last + 1) * self.step + ORIGIN)
        keys = pd.DataFrame({"period_start": _times(starts), "period_end": _times(starts + self.step)})
        codes = (microseconds(times) - ORIGIN) // self.step - self.first
        return Groups(keys, codes.astype(np.int64))


def periods(frames: Frames, times: pd.Series, every: str) -> Periods:
    """The periods of the frames' window; of frames loaded by id, which have none, those from the first row to the last."""
    step = _step(every)
    if frames.window is not None:
        since, until = (pd.Timestamp(time).value // 1_000 for time in (frames.window.since, frames.window.until))
    elif len(times):
        since, until = int(microseconds(times).min()), int(microseconds(times).max()) + 1
    else:
        return Periods(step, 0, -1)
    first, last = (since - ORIGIN) // step, (until - 1 - ORIGIN) // step
    if last - first >= MOST_PERIODS:
        raise UsageError(f"every={every!r} cuts the range into {last - first + 1:,} periods. Choose a longer one, such as 1h.")
    return Periods(step, first, last)


def _step(every: str) -> int:
    """The length of a period in microseconds; own spelling, because pandas changes its letters between versions."""
    match = re.fullmatch(r"(\d{1,6})\s*(s|min|h|d|w)", every.strip().lower())
    if match is None or int(match[1]) == 0:
        raise UsageError(f"every={every!r} is not a period. Write it as 30s, 15min, 1h, 1d or 1w.")
    return int(match[1]) * SECONDS[match[2]] * 1_000_000


# -- times as integers ------------------------------------------------------------------------------------------------


def microseconds(times: pd.Series) -> Integers:
    """Microseconds since 1970; only for columns without missing values."""
    numbers: Integers = np.asarray(times.astype("int64"), dtype=np.int64)
    return numbers


def durations(numbers: pd.Series) -> pd.Series:
    """Integer microseconds, some of them missing, as ``timedelta64[us]``."""
    missing = np.iinfo(np.int64).min
    return pd.Series(numbers.to_numpy(dtype="int64", na_value=missing).view("timedelta64[us]"))


def _times(numbers: pd.Series) -> pd.Series:
    return pd.Series(numbers.to_numpy("int64").view("datetime64[us]")).dt.tz_localize("UTC")
