"""Rows in numbered groups, and the exact figures of each group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.values import extents
from ledgerframes.values.decimals import sum_groups

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Rates = npt.NDArray[np.float64]

MAX_PERIODS = 1_000_000
MAX_INTEGER = 2**63 - 1
FIRST_TIME, LAST_TIME = (extents.microseconds(time.replace(tzinfo=UTC)) for time in (datetime.min, datetime.max))
SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}

# Periods are numbered from a Monday, so that weeks start on Mondays. Hours and days start on full hours in any case.
ORIGIN = pd.Timestamp("1970-01-05", tz="UTC").value // 1_000
ONE_DAY = pd.Timedelta(1, "D")


@dataclass(frozen=True)
class Groups:
    """The group of each row."""

    keys: pd.DataFrame  # one row per group: the values that name it
    codes: Integers  # for each row, the position of its group in `keys`

    def __len__(self) -> int:
        return len(self.keys)

    def count(self, mask: Flags | None = None) -> Integers:
        """Return the number of rows of each group, or of its rows that are in the mask."""
        codes = self.codes if mask is None else self.codes[mask]
        return np.bincount(codes, minlength=len(self)).astype(np.int64)

    def row_of_each(self) -> pa.Array:
        """Return the only row of each group, missing for a group without rows."""
        if len(distinct(self.codes)) < len(self.codes):
            raise IntegrityError("A group has several rows. Report this as a defect of ledgerframes.")
        positions = np.full(len(self), -1)
        positions[self.codes] = np.arange(len(self.codes))
        return pa.array(positions, mask=positions < 0)

    def split(self, rows: pd.DataFrame) -> list[pd.DataFrame]:
        """Return the rows of each group."""
        parts: dict[Any, pd.DataFrame] = dict(iter(rows.groupby(self.codes)))
        return [parts.get(code, rows.head(0)) for code in range(len(self))]

    def total(self, values: pd.Series) -> pd.Series:
        """Return exact sums of integers, which are missing for a group without a known value."""
        return sum_groups(values.astype("Int64"), self.codes, len(self), name=str(values.name or "sum"))


def as_integers(numbers: Sequence[int | None], name: object) -> pd.Series:
    """Return exact integers as a column of 64 bits, or raise a UsageError."""
    if any(number is not None and abs(number) > MAX_INTEGER for number in numbers):
        raise UsageError(f"A sum of column {name} is above 2^63 - 1. Choose shorter periods, more groups or a shorter window.")
    return pd.Series(pd.array([pd.NA if number is None else number for number in numbers], dtype="Int64"))


def exact_sum(values: pd.Series) -> int | None:
    """Return the exact sum of a column of integers, or None without a known value."""
    (total,) = single_group(len(values)).total(values)
    return None if pd.isna(total) else int(total)


def known(values: pd.Series) -> Flags:
    """Return which values are not missing."""
    return values.notna().to_numpy(dtype=bool)


def are_days(rows: pd.DataFrame) -> bool:
    """Return whether the periods of rows are days."""
    return bool((rows["period_end"] - rows["period_start"] == ONE_DAY).all())


def is_measured(values: pd.Series) -> bool:
    """Return whether values are durations, or numbers other than flags."""
    is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    return pd.api.types.is_timedelta64_dtype(values) or is_number


def is_true(values: pd.Series) -> Flags:
    """Return which values are true. A missing value is not."""
    return values.to_numpy(dtype=bool, na_value=False)


def ratio(part: Any, whole: Any) -> Rates:
    """Return `part` divided by `whole`, missing where either is missing or the whole is 0."""
    above, below = (pd.array(number).to_numpy(dtype="float64", na_value=np.nan) for number in (part, whole))
    result = np.full(len(below), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result


def distinct(numbers: Integers) -> Integers:
    """Return each number once, in order. Sorting is faster here than NumPy's hashing."""
    ordered = np.sort(numbers)
    is_new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    result: Integers = ordered[is_new]
    return result


def iter_rows(frame: pd.DataFrame) -> Iterator[Any]:
    """Iterate over rows with their columns as attributes, which no type checker knows."""
    yield from frame.itertuples()


def sort_largest_first(rows: pd.DataFrame, largest: str, *names: str, before: Sequence[str] = ()) -> pd.DataFrame:
    """Return rows sorted by some columns, then by a number from the largest, then by others.

    The others are names, so that the order of the input does not matter.
    """
    order = [*before, largest, *names]
    return rows.sort_values(order, ascending=[name != largest for name in order], ignore_index=True)


# -- ways to group ------------------------------------------------------------------------------------------------------


def single_group(rows: int) -> Groups:
    """Return all rows in one group."""
    return Groups(pd.DataFrame(index=range(1)), np.zeros(rows, dtype=np.int64))


def group_by(rows: pd.DataFrame, names: Sequence[str]) -> Groups:
    """Return one group per combination of values that occurs, missing values included."""
    numbers = rows.groupby(list(names), dropna=False, observed=True, sort=True).ngroup()
    codes: Integers = np.asarray(numbers, dtype=np.int64)
    _, first = np.unique(codes, return_index=True)
    return Groups(rows[list(names)].iloc[first].reset_index(drop=True), codes)


def group_by_period(times: pd.Series, every: str, since: int, until: int) -> Groups:
    """Return all periods between two times in microseconds since 1970, which contain all rows."""
    edges = period_edges(since, until, every)
    keys = pd.DataFrame({"period_start": times_of(edges[:-1]), "period_end": times_of(edges[1:])})
    return Groups(keys, np.searchsorted(edges, microseconds(times), side="right").astype(np.int64) - 1)


def cross(periods: Groups, groups: Groups, every: str) -> Groups:
    """Return each group in each period, even without rows, in the order of the periods."""
    keys = groups.keys if len(groups) else groups.keys.reindex([0])  # an empty window still has its periods
    if len(periods) * len(keys) > MAX_PERIODS:
        raise UsageError(
            f"every={every!r} makes {len(periods):,} periods of {len(keys):,} groups each. "
            f"Choose a longer period, or narrow the frames to fewer groups."
        )
    crossed = periods.keys.merge(keys, how="cross") if len(keys.columns) else periods.keys
    return Groups(crossed, periods.codes * len(keys) + groups.codes)


def period_edges(since: int, until: int, every: str) -> Integers:
    """Return the edges of all periods between two times, in microseconds since 1970."""
    number, unit = parse_period(every)
    if since >= until:
        return np.array([ORIGIN], dtype=np.int64)
    if unit == "mo":
        first, last = (np.datetime64(time, "us").astype("datetime64[M]").astype(int) // number for time in (since, until - 1))
        months = np.arange(first, last + 2) * number
        return _within_years(months.astype("datetime64[M]").astype("datetime64[us]").astype(np.int64), every)
    step = number * SECONDS[unit] * 1_000_000
    first, last = (since - ORIGIN) // step, (until - 1 - ORIGIN) // step
    if last - first >= MAX_PERIODS:
        raise UsageError(
            f"every={every!r} splits the window into {last - first + 1:,} periods. Choose a longer one, such as '1h'."
        )
    return _within_years(np.arange(first, last + 2, dtype=np.int64) * step + ORIGIN, every)


def _within_years(edges: Integers, every: str) -> Integers:
    """Return edges of periods, which must be times that Python knows, up to the year 9999."""
    if edges[0] < FIRST_TIME or edges[-1] > LAST_TIME:
        raise UsageError(f"every={every!r} makes periods outside the years 1 to 9999. Choose a shorter one, or another window.")
    return edges


def period_length(text: object, argument: str) -> int:
    """Return a length of time, such as ``"20min"`` but not in months, in seconds."""
    number, unit = parse_period(text, argument, "'1d' or '1w'")
    if unit == "mo":
        raise UsageError(f"{argument}= must not be in months, which differ in length, got {text!r}.")
    return number * SECONDS[unit]


def parse_period(every: object, argument: str = "every", longest: str = "'1d', '1w' or '1mo'") -> tuple[int, str]:
    """Return number and unit of a period. The units of pandas change between its versions."""
    match = re.fullmatch(r"(\d{1,6})\s*(s|min|h|d|w|mo)", every.strip().lower()) if isinstance(every, str) else None
    if match is None or int(match[1]) == 0:
        raise UsageError(f"{argument}= must be a period such as '15min', '1h', {longest}, got {every!r}.")
    return int(match[1]), match[2]


# -- times as integers --------------------------------------------------------------------------------------------------


def from_microseconds(numbers: Iterable[int | None]) -> pd.Series:
    """Return the times of microseconds since 1970, which can be missing."""
    return pd.Series(pd.array(list(numbers), "Int64")).astype("datetime64[us]").dt.tz_localize("UTC")


def microseconds(times: pd.Series) -> Integers:
    """Return microseconds since 1970 of a column without missing values."""
    numbers: Integers = np.asarray(times.astype("int64"), dtype=np.int64)
    return numbers


def durations(numbers: pd.Series) -> pd.Series:
    """Return integer microseconds, which can be missing, as ``timedelta64[us]``."""
    missing = np.iinfo(np.int64).min
    return pd.Series(numbers.to_numpy(dtype="int64", na_value=missing).view("timedelta64[us]"))


def times_of(numbers: Integers) -> pd.Series:
    """Return times of microseconds since 1970."""
    return pd.Series(numbers.view("datetime64[us]")).dt.tz_localize("UTC")
