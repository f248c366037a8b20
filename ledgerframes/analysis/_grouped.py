"""The measures of a figure by group and period, computed by the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import indent
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._groupings import COVERED_HOURS, breaks_of_groups, category_of
from ledgerframes.analysis._parameters import parameter_tables
from ledgerframes.analysis._percentiles import few_requests as marks_of_few_requests
from ledgerframes.analysis._percentiles import require_min_requests
from ledgerframes.analysis.coverage import FIRST_PERIOD, covered_time
from ledgerframes.analysis.figures import Figure, Grouping
from ledgerframes.analysis.groups import (
    SECONDS,
    Groups,
    Integers,
    cross,
    group_by,
    microseconds,
    parse_period,
    period_edges,
    single_group,
    times_of,
)
from ledgerframes.analysis.measures import Count, Expression, Measure, Options, Percentile
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.query import run_arrow
from ledgerframes.engine.results import to_pandas
from ledgerframes.frames import Frames
from ledgerframes.values import extents
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR
from ledgerframes.values.windows import iso

OF_PARTS = ("row_count", "known_rows", "known_bytes")  # the measures of parts of groups


@dataclass(frozen=True)
class Grouped:
    """The measures of each group.

    Attributes
    ----------
    keys : DataFrame
        The values that name each group, one row per group. With `every=`, each period has a row for each group.
    values : DataFrame
        The measures of each group, in the order of `keys`. A group without rows has counts of 0, and its other measures are
        missing.
    overall : Series
        The measures of all rows together.
    parts : DataFrame
        Numbers of rows and known bytes of each part of a group, as the query returns them.
    """

    keys: pd.DataFrame
    values: pd.DataFrame
    overall: pd.Series
    parts: pd.DataFrame

    def __len__(self) -> int:
        return len(self.keys)

    def breaks(self, call: Call) -> list[str | None] | None:
        """Return the eras that begin within each period, or within the time of all rows."""
        first, last = self.overall["first_time"], self.overall["last_time"]
        if pd.isna(first):
            return None
        until = last + pd.Timedelta("1us") if call.frames.window is None else pd.Timestamp(call.frames.window.until)
        return breaks_of_groups(first, until, self.keys, call.eras)


@dataclass(frozen=True)
class Call:
    """One call of a figure, with all that the caller chose.

    Attributes
    ----------
    figure : Figure
    frames : Frames
    by, every : str, optional
    min_requests : int, optional
        Minimum number of values of a percentile.
    labels, eras : DataFrame, optional
        For ``by="label"`` and ``by="era"``.
    tables : mapping of str to Table
        Other small tables to join with the rows.
    """

    figure: Figure
    frames: Frames
    by: str | None = None
    every: str | None = None
    min_requests: int | None = None
    labels: pd.DataFrame | None = None
    eras: pd.DataFrame | None = None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_min_requests(self.min_requests)

    @property
    def options(self) -> Options:
        """Choices of the caller that measures need."""
        return Options(self.min_requests, self.frames.population == "committed")

    @property
    def grouping(self) -> Grouping:
        """The grouping of ``by=``."""
        return self.figure.grouping(self.by)

    @property
    def parameters(self) -> Mapping[str, pa.Table]:
        """Small tables to join with the rows."""
        return {**parameter_tables(self.frames, self.grouping.key_names, self.labels, self.eras), **self.tables}

    # -- periods ----------------------------------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The edges of the window, or of the rows if there is none, in microseconds since 1970.

        If the window starts before all history, the first edge is the start of the covered time, so that all tables have the
        same periods. Without a window and without rows, both edges are 0.
        """
        window = self.frames.window
        if window is not None and window.since.year >= FIRST_PERIOD:
            return extents.microseconds(window.since), extents.microseconds(window.until)
        first, last = self._first_and_last
        if window is None:
            return (0, 0) if first is None or last is None else (first, last + 1)
        until = extents.microseconds(window.until)
        covered = covered_time(self.frames, accept_provisional=True).starts
        starts = covered[covered > extents.microseconds(window.since)].tolist()
        return min([*starts, until - 1, *([] if first is None else [first])]), until

    @cached_property
    def _first_and_last(self) -> tuple[int | None, int | None]:
        select = f"SELECT epoch_us(min(record_time)) AS first, epoch_us(max(record_time)) AS last\nFROM {self.grouping.rows.name}"
        (row,) = run(self.frames, Query(select, (self.grouping.rows,), self.parameters)).itertuples(index=False)
        return tuple(None if pd.isna(each) else int(each) for each in row)  # type: ignore[return-value]

    @cached_property
    def edges(self) -> Integers:
        """The starts of all periods in microseconds since 1970, and the end of the last."""
        assert self.every is not None
        return period_edges(*self.bounds, self.every)

    @property
    def _first_period(self) -> str:
        return iso(extents.from_microseconds(int(self.edges[0])))

    @property
    def period_number(self) -> str:
        """The position of the period of a record time among all periods, in SQL."""
        assert self.every is not None
        number, unit = parse_period(self.every)
        first = int(self.edges[0])
        if unit == "mo":
            month = np.datetime64(first, "us").astype("datetime64[M]").astype(int) // number
            return f"(year(record_time) * 12 + month(record_time) - 1 - 23_640) // {number} - {month}"
        return f"(epoch_us(record_time) - {first}) // {number * SECONDS[unit] * 1_000_000}"

    # -- the query --------------------------------------------------------------------------------------------------

    @property
    def group_names(self) -> list[str]:
        """Columns of the query that name a group, the position of its period first."""
        return self.grouping.key_names if self.every is None else ["period", *self.grouping.key_names]

    @property
    def rows(self) -> str:
        """The rows that are grouped, in SQL."""
        # Rows by view are already joined with the envelopes of their requests.
        others = (each.name for each in self.figure.joins if each not in self.grouping.rows.relations)
        joins = "".join(f" LEFT JOIN {name} USING (update_id)" for name in others)
        rows = f"{self.grouping.rows.name}{joins}"
        if self.every is None:
            return rows
        return f"(\n    SELECT *, {self.period_number} AS period\n    FROM {rows}\n)"

    @property
    def aggregates(self) -> dict[str, Measure]:
        """All aggregates over the rows of a group, by name."""
        measures: dict[str, Measure] = {}
        for column in (*self.figure.columns, *self.grouping.extra):
            if column.measure is not None:
                measures[column.name] = self.grouping.measures.get(column.name, column.measure)
            if isinstance(column.measure, Percentile):
                measures[known_count(column.name)] = Count(of=column.measure.of)
        return {
            **measures,
            "row_count": Count(),
            "known_rows": Count(where=self.figure.known),
            "first_time": Expression("min(record_time)"),
            "last_time": Expression("max(record_time)"),
            **self.figure.others,
        }

    @property
    def ratios(self) -> dict[str, Measure]:
        """Ratios of the aggregates of a group and of all rows, by name."""
        return {each.name: each.ratio for each in (*self.figure.columns, *self.figure.tail) if each.ratio is not None}

    @property
    def query(self) -> Query:
        """The query of all measures by group, and of all rows together."""
        ratios = self._selected(self.ratios)
        groups, overall = self._groups_relation, Relation("overall", "All rows together.", "FROM groups WHERE is_overall")
        select = f"SELECT\n{_as_list(['groups.*', *ratios])}\nFROM groups, overall"
        return Query(select, (*groups.relations, groups, overall), self.parameters)

    @property
    def parts(self) -> list[str]:
        """Columns that divide each group into the parts that the figure needs."""
        return [name for name in self.figure.parts if name not in self.group_names]

    @property
    def _groups_relation(self) -> Relation:
        names, rows = self.group_names, self._rows_relation
        is_overall = f"grouping({names[0]}) = 1" if names else "true"
        columns = [*names, *(f"NULL AS {part}" for part in self.parts)]
        if self.every is not None:
            columns[0] = f"-- Periods of {self.every} from {self._first_period} on, counted from 0.\n{columns[0]}"
        selected = [*columns, f"{is_overall} AS is_overall", "false AS is_part", *self._selected(self.aggregates)]
        by_group = f"\nGROUP BY GROUPING SETS (({', '.join(names)}), ())" if names else ""
        select = f"SELECT\n{_as_list(selected)}\nFROM {rows.name}{by_group}{self._select_of_parts if self.parts else ''}"
        return Relation(
            "groups", "One row per group, and one of all rows together.", select, relations=(rows,), is_materialized=True
        )

    @property
    def _rows_relation(self) -> Relation:
        """The rows that are grouped, which groups and parts share."""
        relations = (self.grouping.rows, *self.figure.joins)
        return Relation("grouped_rows", "One row per row of a group.", f"FROM {self.rows}", relations=relations)

    @property
    def _select_of_parts(self) -> str:
        """The parts of each group.

        They have no percentiles, because DuckDB cannot spill the values of a percentile to disk.
        """
        names = ", ".join([*self.group_names, *self.parts])
        aggregates = [each.expression(self.options) if name in OF_PARTS else "NULL" for name, each in self.aggregates.items()]
        selected = _as_list([names, "false AS is_overall", "true AS is_part", *aggregates])
        return f"\nUNION ALL\nSELECT\n{selected}\nFROM {self._rows_relation.name}\nGROUP BY {names}"

    def parts_query(self, parts: Sequence[str], measures: Mapping[str, Measure]) -> Query:
        """Return a query by parts of each group, such as its requests of each kind."""
        names = dict.fromkeys([*self.group_names, *parts])
        selected = _as_list([*names, *self._selected(measures)])
        return Query(
            f"SELECT\n{selected}\nFROM {self.rows}\nGROUP BY ALL", (self.grouping.rows, *self.figure.joins), self.parameters
        )

    def _selected(self, measures: Mapping[str, Measure]) -> list[str]:
        """Return measures in SQL, each with the description of its column or its own as a comment."""
        sentences = {column.name: column.description for column in (*self.figure.columns, *self.grouping.extra)}
        comments = {name: _comment(sentences.get(name, each.description)) for name, each in measures.items()}
        return [f"{comments[name]}{each.expression(self.options)} AS {name}" for name, each in measures.items()]


def known_count(name: str) -> str:
    """Return the name of the number of values that a percentile rests on."""
    return f"values_of_{name}"


def _comment(text: str) -> str:
    return f"-- {text}\n" if text else ""


def _as_list(expressions: Sequence[str]) -> str:
    return indent(",\n".join(expressions), "    ")


# -- results ------------------------------------------------------------------------------------------------------------


def measure(call: Call) -> Grouped:
    """Run the query of a figure, and return its measures for all groups and periods."""
    rows = run_arrow(call.frames, call.query)  # Arrow selects rows of many columns faster than pandas
    overall = rows.filter(rows["is_overall"])
    is_group = pc.invert(pc.or_(rows["is_overall"], rows["is_part"]))
    of_groups = rows.filter(is_group) if call.group_names else overall
    keys = of_groups.select([*call.group_names, "is_overall"])  # without any column, a table would have no rows
    groups = groups_of(call, to_pandas(keys))
    values = to_pandas(of_groups.select([*call.aggregates, *call.ratios]).take(groups.row_of_each()))
    counts = [name for name, each in call.aggregates.items() if each.counts(call.options)]
    of_parts = [*call.group_names, *call.parts, *OF_PARTS] if call.parts else []
    parts = to_pandas(rows.filter(rows["is_part"]).select(of_parts))
    return Grouped(groups.keys, values.fillna(dict.fromkeys(counts, 0)), to_pandas(overall).iloc[0], parts)


def groups_of(call: Call, rows: pd.DataFrame) -> Groups:
    """Return all groups, including those without rows, and the group of each row of a query."""
    keys = {key: category_of(key, rows[key], call.eras) for key in call.grouping.key_names}
    groups = _groups_of_keys(call, rows.assign(**keys))
    if call.every is None:
        return groups
    starts, ends = call.edges[:-1], call.edges[1:]
    covered = covered_time(call.frames)
    edges = pd.DataFrame({"period_start": times_of(starts), "period_end": times_of(ends)})
    periods = edges.assign(is_partial=covered.is_partial(starts, ends), coverage_time=covered.share(starts, ends))
    groups = Groups(groups.keys.drop(columns=["is_partial", "coverage_time"], errors="ignore"), groups.codes)
    return cross(Groups(periods, rows["period"].to_numpy("int64")), groups, call.every)


def _groups_of_keys(call: Call, rows: pd.DataFrame) -> Groups:
    keys = call.grouping.key_names
    if not keys:
        return single_group(len(rows))
    if keys == ["hour"]:
        return Groups(pd.DataFrame({"hour": np.arange(24)}), rows["hour"].to_numpy("int64"))
    if keys == ["weekday", "hour"]:
        numbers = np.arange(168)
        hours = rows["weekday"].to_numpy("int64") * 24 + rows["hour"].to_numpy("int64")
        return Groups(pd.DataFrame({"weekday": numbers // 24, "hour": numbers % 24}), hours)
    if keys == ["day"]:
        return _days(call, rows)
    return group_by(rows, keys)


def _days(call: Call, rows: pd.DataFrame) -> Groups:
    """Return all days of the window."""
    edges = period_edges(*call.bounds, "1d")
    covered = covered_time(call.frames)
    facts = {
        "is_partial": covered.is_partial(edges[:-1], edges[1:]),
        "coverage_time": covered.share(edges[:-1], edges[1:]),
    }
    codes = np.searchsorted(edges, microseconds(rows["day"]), side="right").astype(np.int64) - 1
    return Groups(pd.DataFrame({"day": times_of(edges[:-1]), **facts}), codes)


def covered_hours(call: Call) -> dict[str, Any]:
    """Return the covered time of each hour of the day or week, or nothing for other groups.

    A window of a day and a half has 12 hours twice and 12 hours once, so their counts do not compare.
    """
    if COVERED_HOURS not in call.grouping.extra:
        return {}
    covered = covered_time(call.frames)
    if not len(covered.starts):
        return {COVERED_HOURS.name: 0.0 if call.frames.window else np.nan}
    first, last = covered.starts[0], covered.ends[-1]
    hours = np.arange(first // MICROSECONDS_PER_HOUR, -(-last // MICROSECONDS_PER_HOUR) + 1) * MICROSECONDS_PER_HOUR
    edges = np.unique(np.clip(hours if call.every is None else np.union1d(hours, call.edges), first, last))
    numbers = edges[:-1] // MICROSECONDS_PER_HOUR
    rows = pd.DataFrame({"hour": numbers % 24, "weekday": (numbers // 24 + 3) % 7})
    if call.every is not None:
        rows["period"] = np.searchsorted(call.edges, edges[:-1], side="right") - 1
    groups = groups_of(call, rows)
    lengths = np.bincount(groups.codes, covered.length(edges[:-1], edges[1:]), len(groups))
    return {COVERED_HOURS.name: lengths / MICROSECONDS_PER_HOUR}


def few_requests(grouped: Grouped, call: Call) -> pd.Series | None:
    """Return the names of the percentiles with too few values, for each group."""
    columns = (*call.figure.columns, *call.grouping.extra)
    percents = {each.name: each.measure.percent for each in columns if isinstance(each.measure, Percentile)}
    counts = ((name, grouped.values[known_count(name)].to_numpy("int64"), percent) for name, percent in percents.items())
    return marks_of_few_requests(counts, call.options.min_requests)
