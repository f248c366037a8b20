"""Measures of each subject in a window, and in the same stretch of the weeks before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.coverage import covered_time
from ledgerframes.analysis.groups import Flags, Integers
from ledgerframes.analysis.measures import COST, IS_ACCEPTED, IS_KNOWN, IS_REJECTED
from ledgerframes.engine import Query, Relation
from ledgerframes.engine.query import run_arrow
from ledgerframes.engine.weeks import (
    ACTIVITY_OF_WEEKS,
    CONFIRMERS_OF_WEEKS,
    PARTIES_OF_WEEKS,
    REQUESTS_OF_WEEKS,
)
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.distributions import Numbers
from ledgerframes.statistics.usual_ranges import MAX_WEEKS
from ledgerframes.values import extents
from ledgerframes.values.extents import MICROSECONDS_PER_DAY, MICROSECONDS_PER_HOUR
from ledgerframes.values.windows import Window

WEEK = 7 * MICROSECONDS_PER_DAY
MIN_COVERAGE = 0.99  # of a window, a period or a week: with a smaller share, counts would be too low
IS_DECIDED = f"({IS_ACCEPTED} OR {IS_REJECTED})"
MEASURES = {
    "requests": "count(*)",
    "decided": f"count(*) FILTER ({IS_DECIDED})",
    "rejected": f"count(*) FILTER ({IS_REJECTED})",
    "known": f"count(*) FILTER ({IS_KNOWN})",
    "rejected_known": f"count(*) FILTER ({IS_REJECTED} AND {IS_KNOWN})",
    "cost": f"coalesce(sum({COST}), 0)",
    "wasted_cost": f"coalesce(sum({COST}) FILTER ({IS_REJECTED}), 0)",
    "cost_median": f"quantile_disc({COST}, 0.50)",
    "latency_median": "quantile_disc(accepted_latency, 0.50)",
    "cost_classes": "coalesce(histogram(cost_class), MAP {})",
    "latency_classes": "coalesce(histogram(latency_class), MAP {})",
    "negative_costs": "count(*) FILTER (cost < 0)",
    "early_verdicts": "count(*) FILTER (latency < 0)",
}
ACTIVITY = {
    "records": "count(weight)",
    "weight": "coalesce(sum(weight), 0)",
    "weight_square": "coalesce(sum(weight::HUGEINT * weight), 0)",
}
MEDIANS_OF = ("cost_median", "latency_median")
CLASSES_OF = {"cost": "cost_classes", "latency": "latency_classes"}
MEDIANS = {name: MEASURES[name] for name in ("requests", "known", "cost", *MEDIANS_OF, *CLASSES_OF.values())}
# The subjects that have one query each, with the column that names them.
SETS = {"day": "day_number", "hour": "hour_number", "participant": "submitting_participant_uid", "kind": "kind"}
OTHERS = ("party", "confirming party", "app provider")


@dataclass(frozen=True)
class Stretch:
    """A window, and the same stretch of each of the weeks before it.

    Attributes
    ----------
    window : Window
        The window itself, which is week 0.
    weeks : tuple of int
        The earlier weeks that final data cover, counted back from the window.
    """

    window: Window
    weeks: tuple[int, ...]

    @classmethod
    def of(cls, window: Window, history: Frames) -> Stretch:
        """Return the weeks before a window that a history covers, at most 6."""
        numbers = np.arange(1, MAX_WEEKS + 1, dtype=np.int64)
        since, until, step = _span(window)
        shares = covered_time(history).share(since - numbers * step, until - numbers * step)
        return cls(window, tuple(numbers[shares >= MIN_COVERAGE].tolist()))

    def part_of(self, history: Frames) -> Frames:
        """Return the history from the earliest of the weeks on."""
        since, until, step = _span(self.window)
        part = Window(*map(extents.from_microseconds, (since - max(self.weeks, default=0) * step, until)))
        within = part.intersect(history.window) if history.window else None
        # A whole history shares its rows with other figures.
        return history if within in (None, history.window) else history.between(within.since, within.until)

    @property
    def days(self) -> int:
        """Days from a stretch to the next, 7 or the next multiple for a longer window."""
        return _span(self.window)[2] // MICROSECONDS_PER_DAY

    @property
    def since(self) -> int:
        """Start of the window in microseconds since 1970."""
        return extents.microseconds(self.window.since)

    @property
    def until(self) -> int:
        """End of the window in microseconds since 1970."""
        return extents.microseconds(self.window.until)

    def table(self, weeks: int) -> pa.Table:
        """Return the parameter of the queries for this many weeks before."""
        since, until, step = _span(self.window)
        return pa.table({"since": [since], "until": [until], "step": [step], "weeks": pa.array([weeks], pa.int64())})

    def covers(self, frames: Frames, every: int) -> Flags:
        """Return which periods of the window final data cover."""
        starts = np.arange(self.since, self.until, every, dtype=np.int64)
        result: Flags = covered_time(frames).share(starts, np.minimum(starts + every, self.until)) >= MIN_COVERAGE
        return result


def _span(window: Window) -> tuple[int, int, int]:
    """Return start and end of a window, and the step to the week before it."""
    since, until = (extents.microseconds(time) for time in (window.since, window.until))
    return since, until, -(-(until - since) // WEEK) * WEEK


@dataclass(frozen=True)
class Subjects:
    """Measures of subjects, with a row per subject and a column per week, the window first.

    Attributes
    ----------
    kind : str
        What they are, such as ``participant``.
    names : list
        The name of each, or the number of a day or hour.
    values : mapping of str to array
        Each measure.
    classes : mapping of str to array
        Counts of values in each class, for cost and latency, with the classes as a third dimension.
    """

    kind: str
    names: list[object]
    values: Mapping[str, Numbers]
    classes: Mapping[str, Numbers]

    def __getitem__(self, name: str) -> Numbers:
        """Return a measure."""
        return self.values[name]

    def __len__(self) -> int:
        return len(self.names)


# -- queries ------------------------------------------------------------------------------------------------------------


def queries(stretch: Stretch, weeks: int) -> dict[str, Query]:
    """Return the queries of all subjects, over this many weeks before."""
    columns = ", ".join(SETS.values())
    sets = ", ".join(f"(week, {column})" for column in SETS.values())
    parts = {
        "requests": (f"{columns}, grouping({columns}) AS set_number", REQUESTS_OF_WEEKS, MEASURES, f"GROUPING SETS ({sets})"),
        "party": ("party AS name", PARTIES_OF_WEEKS, MEASURES, "ALL"),
        "confirming party": ("party AS name", CONFIRMERS_OF_WEEKS, MEDIANS, "ALL"),
        "app provider": ("party AS name", ACTIVITY_OF_WEEKS, ACTIVITY, "ALL"),
    }
    parameters = {"stretch": stretch.table(weeks)}
    return {kind: _query(*part, parameters) for kind, part in parts.items()}


def _query(names: str, rows: Relation, measures: Mapping[str, str], groups: str, parameters: Mapping[str, pa.Table]) -> Query:
    selected = ",\n".join(f"    {sql} AS {name}" for name, sql in measures.items())
    return Query(f"SELECT week, {names},\n{selected}\nFROM {rows.name}\nGROUP BY {groups}", (rows,), parameters)


# -- results ------------------------------------------------------------------------------------------------------------


def read_subjects(frames: Frames, history: Frames, stretch: Stretch) -> list[Subjects]:
    """Return the measures of all subjects in the window and the weeks before."""
    past = _rows_before(history, stretch)
    rows = {kind: pa.concat_tables([run_arrow(frames, query), past[kind]]) for kind, query in queries(stretch, 0).items()}
    result = [_subjects(kind, _of_set(rows["requests"], kind), stretch) for kind in SETS]
    result += [_subjects(kind, rows[kind], stretch) for kind in OTHERS]
    days = result[0]
    return [*result, Subjects("data", [""], {name: days[name].sum(axis=0, keepdims=True) for name in days.values}, {})]


@once_per_frames
def _rows_before(history: Frames, stretch: Stretch) -> dict[str, pa.Table]:
    """Return the measures in the weeks before, which several windows can share."""
    part = stretch.part_of(history)
    is_used = pc.is_in(pc.field("week"), pa.array(stretch.weeks, pa.int64()))
    return {kind: run_arrow(part, query).filter(is_used) for kind, query in queries(stretch, max(stretch.weeks)).items()}


def require_tables(frames: Frames) -> None:
    """Raise a UsageError if frames do not have the tables of events."""
    missing = [name for name in ("verdicts", "traffic", "updates") if name not in frames.tables]
    if missing:
        raise UsageError(f"These frames have no table {missing[0]!r}. Pass those of lf.load_events.")


def _of_set(rows: pa.Table, kind: str) -> pa.Table:
    """Return the rows of one of the sets of groups, with the column ``name``."""
    columns = list(SETS.values())
    number = 2 ** len(columns) - 1 - 2 ** (len(columns) - 1 - list(SETS).index(kind))
    return rows.filter(pc.field("set_number") == number).rename_columns(
        ["name" if name == SETS[kind] else name for name in rows.column_names]
    )


def _subjects(kind: str, rows: pa.Table, stretch: Stretch) -> Subjects:
    """Return one row per subject of any week, or per day or hour of the window."""
    rows = rows.filter(pc.field("name").is_valid())
    names, weeks = _all_names(kind, rows["name"], stretch), (0, *stretch.weeks)
    indexes = pd.Index(names).get_indexer(rows["name"].to_pylist()), pd.Index(weeks).get_indexer(rows["week"].to_pylist())
    values = {}
    for name in (each for each in (*MEASURES, *ACTIVITY) if each in rows.column_names and each not in CLASSES_OF.values()):
        values[name] = np.full((len(names), len(weeks)), np.nan if name in MEDIANS_OF else 0.0)
        values[name][indexes] = rows[name].cast(pa.float64()).to_numpy()
    columns = {name: column for name, column in CLASSES_OF.items() if column in rows.column_names}
    classes = {name: _classes(rows[column], indexes, values) for name, column in columns.items()}
    return Subjects(kind, names, values, classes)


def _classes(histograms: pa.ChunkedArray, indexes: tuple[Integers, Integers], values: Mapping[str, Numbers]) -> Numbers:
    """Return the number of values of each subject, week and class."""
    maps = histograms.combine_chunks()
    rows = np.repeat(np.arange(len(maps)), np.diff(maps.offsets.to_numpy()))
    keys, items = maps.keys.to_numpy(), maps.items.to_numpy()
    numbers = np.unique(keys)
    table = np.zeros((*values["requests"].shape, len(numbers)))
    table[indexes[0][rows], indexes[1][rows], np.searchsorted(numbers, keys)] = items
    return table


def _all_names(kind: str, names: pa.ChunkedArray, stretch: Stretch) -> list[object]:
    length: int | None = {"day": MICROSECONDS_PER_DAY, "hour": MICROSECONDS_PER_HOUR}.get(kind)
    if length is None:
        return sorted(names.unique().to_pylist())
    return list(range(-(-(stretch.until - stretch.since) // length)))


def starts_of(stretch: Stretch, length: int) -> Integers:
    """Return the starts of the periods of the window."""
    return np.arange(stretch.since, stretch.until, length, dtype=np.int64)


SUBJECTS: Sequence[str] = (*SETS, *OTHERS, "request", "round", "balance", "data")
