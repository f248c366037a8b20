"""Checks of results before they are drawn or put into a sentence."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import CALLS, FIGURES, Figure
from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.figures import COUNT, DURATION, INTEGER, PERIOD, RATE, TIME
from ledgerframes.errors import UsageError

MEASURED = (COUNT, INTEGER, RATE, TIME, DURATION)


def check_result(frame: object, name: str) -> tuple[str | None, bool, bool]:
    """Return the grouping of a result, and whether it has periods or rounds."""
    figure, advice = FIGURES[name], f"Pass the result of {CALLS[name]} to lf.plot"
    frame = require_columns(frame, (column.name for column in (*figure.columns, *figure.tail)), advice)
    frame = with_times_in_utc(frame, figure, advice)
    _require_types(frame, figure, advice)
    require_no_index(frame, advice)
    networks = sorted(map(str, frame["network"].dropna().unique()))
    if len(networks) > 1:
        raise UsageError(f"{advice} for one network, got rows of {' and '.join(networks)}.")
    leading = list(frame.columns[: frame.columns.get_loc(figure.columns[0].name)])
    has_periods = leading[:1] == ["period_start"]
    has_rounds = figure.has_rounds and leading[:1] == ["round_number"]
    keys = leading[3:] if has_periods else leading[2:] if has_rounds else leading
    for by in (None, *figure.by):
        if figure.grouping(by).key_names == keys:
            _require_one_result(frame, leading[:1] if has_periods or has_rounds else [], keys, figure, advice)
            return by, has_periods, has_rounds
    step = " Call reset_index(drop=True) instead of reset_index()." if "index" in keys else ""
    raise UsageError(f"{advice}, got a DataFrame grouped by {', '.join(map(str, keys))}.{step}")


def require_no_index(frame: pd.DataFrame, advice: str) -> None:
    """Raise a UsageError if the names of rows are an index, because it is not shown."""
    if names := [str(name) for name in frame.index.names if name is not None]:
        raise UsageError(f"{advice}, got one with the index {', '.join(names)}. Call reset_index() first.")


def has_gaps(frame: pd.DataFrame) -> bool:
    """Return whether time lies between two periods of a result."""
    starts, ends = (frame[name].drop_duplicates().sort_values().to_numpy() for name in ("period_start", "period_end"))
    return bool((starts[1:] != ends[:-1]).any())


def with_times_in_utc(frame: pd.DataFrame, figure: Figure, advice: str) -> pd.DataFrame:
    """Return a result with the times of its figure in UTC.

    Raises
    ------
    UsageError
        If times have no zone.
    """
    names = [each.name for each in (*PERIOD, *figure.columns) if each.dtype == TIME and each.name in frame]
    times = {name: frame[name] for name in names if frame[name].dtype.kind == "M"}
    if without := [name for name, values in times.items() if values.dt.tz is None]:
        step = 'Call dt.tz_localize("UTC") where they are in UTC.'
        raise UsageError(f"{advice}, got times without a time zone in column {without[0]!r}. {step}")
    return frame.assign(**{name: values.dt.tz_convert("UTC") for name, values in times.items()})


def _require_types(frame: pd.DataFrame, figure: Figure, advice: str) -> None:
    """Raise a UsageError for numbers and times that have become texts or objects."""
    for column in (*PERIOD, *figure.columns):
        if column.name in frame and column.dtype in MEASURED and frame[column.name].dtype.kind == "O":
            types = f"got column {column.name!r} as {frame[column.name].dtype}, not {column.pandas_dtype}"
            raise UsageError(f"{advice}, {types}. Save results with to_parquet, which keeps types.")


def _require_one_result(frame: pd.DataFrame, time: list[str], keys: list[str], figure: Figure, advice: str) -> None:
    """Raise a UsageError for rows of several results, whose areas and lines would be wrong."""
    if time == ["period_start"]:
        periods = frame[["period_start", "period_end"]].drop_duplicates()
        is_before = periods["period_end"].to_numpy()[:-1] <= periods["period_start"].to_numpy()[1:]
        if not is_before.all():
            raise UsageError(f"{advice}, one at a time, got periods that overlap or are not in order.")
    if figure.distinct is not None and len(frame):
        names = [*time, *keys, *figure.distinct]
        is_repeated = frame.duplicated(names) if names else pd.Series(range(len(frame))) > 0
        if is_repeated.any():
            raise UsageError(f"{advice}, one at a time, got several rows of one {' and '.join(names) or 'window'}.")
