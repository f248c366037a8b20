"""Declarations of results.

The analyses, the plots, the reports, the docs and the tool that writes docstrings read them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ledgerframes.analysis.coverage import window_share
from ledgerframes.analysis.measures import BYTES, IS_KNOWN, CoverageOfBytes, Measure, Ratio
from ledgerframes.analysis.requests import population_of
from ledgerframes.analysis.result_frame import COVERAGE, FINAL, FIRST, NAME, ROWS, ResultFrame
from ledgerframes.engine.query import Query
from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames

Analysis = TypeVar("Analysis", bound=Callable[..., pd.DataFrame])

COUNT = "int64"
INTEGER = "Int64"
RATE = "float64"
FLAG = "boolean"
TEXT = "str"
LABEL = "category"
TIME = "datetime64[us, UTC]"
DURATION = "timedelta64[us]"
AMOUNT = "decimal128(38, 10)[pyarrow]"
SHARE = "share of 1"
WEIGHT_UNIT = "weighted bytes"  # times the factor of the right, so nobody paid these bytes


@dataclass(frozen=True)
class ResultColumn:
    """One column of a result.

    Attributes
    ----------
    name : str
    dtype : str
        The pandas dtype, which is the same for every input, even an empty one.
    description : str
        One sentence, followed by "Missing if …" if values can be missing.
    unit : str
        Empty if the column has none.
    title : str
        Label of the quantity on an axis.
    choices : tuple of str
        All values of a category, in order. Empty if they depend on the rows.
    measure : Measure, optional
        What the engine computes from the rows of a group.
    ratio : Measure, optional
        What the engine computes from the measures of a group. Without either, the analysis does.
    """

    name: str
    dtype: str
    description: str
    unit: str = ""
    title: str = ""
    choices: tuple[str, ...] = ()
    measure: Measure | None = None
    ratio: Measure | None = None

    @property
    def pandas_dtype(self) -> str | pd.CategoricalDtype:
        """The dtype with all choices, including those that no row has."""
        return pd.CategoricalDtype(list(self.choices)) if self.choices else self.dtype


@dataclass(frozen=True)
class Grouping:
    """One value of ``by=``.

    Attributes
    ----------
    keys : tuple of ResultColumn
        Columns that name the group.
    extra : tuple of ResultColumn
        Columns that only this grouping has.
    rows : Relation
        The rows to group, with a column per key.
    measures : mapping of str to Measure
        Columns of the figure that this grouping measures differently.
    """

    keys: tuple[ResultColumn, ...] = ()
    extra: tuple[ResultColumn, ...] = ()
    rows: Relation = REQUESTS
    measures: Mapping[str, Measure] = field(default_factory=dict)

    @property
    def key_names(self) -> list[str]:
        """Names of the columns that name the group."""
        return [column.name for column in self.keys]


@dataclass(frozen=True)
class Figure:
    """The result of one analysis.

    Attributes
    ----------
    name : str
        Module and function, such as ``cost.spend``.
    rows : str
        What a row is, and the order of the rows.
    columns : tuple of ResultColumn
        Columns of every grouping. Every result has the columns of :attr:`tail` at its end.
    by : mapping of str to Grouping
        Values of ``by=``.
    misleading : mapping of str to str
        Values of ``by=`` that would mislead, and why.
    is_grouped : bool
        Whether ``by=None`` is refused.
    has_periods : bool
        Whether the analysis has ``every=``.
    condition : str
        Condition of the rows that ``coverage`` counts, in words.
    unit : str
        Rows of which ``coverage`` is a share.
    caption : str
        Caption of its tables. If it is empty, they are captioned with the name in words.
    has_rounds : bool
        Whether the analysis has ``every="round"``.
    distinct : tuple of str, optional
        Columns that name a row, together with its period and group. None if nothing does.
    joins : tuple of Relation
        Relations with one row per update id, which are joined with the rows.
    known : str
        Condition of the rows that ``coverage`` counts, in SQL.
    others : mapping of str to Measure
        Measures that are not in the result, but that columns are computed from.
    parts : tuple of str
        Columns that divide each group into parts. The analysis needs the number of rows and the known bytes of each part.
    queries : callable, optional
        Function from the arguments of the analysis to its queries. It is needed if they do not follow from the measures.
    without_query : str
        Why the analysis has no query, and what to do instead. Empty if it has one.
    main_columns : tuple of str
        Columns of a short table, after those that name its rows. The first has bars. Empty for all columns.
    added_up : tuple of str
        Columns whose sum a table has in its last row, because the rows add up.
    drawn : str
        Column that the picture shows. Empty for a figure that has its own drawing or no picture.
    answer : callable, optional
        Function from a whole result to the sentence with the answer. It is empty if there is nothing to say.
    answers_over_time : bool
        Whether the sentence is also correct for groups in periods or rounds.
    """

    name: str
    rows: str
    columns: tuple[ResultColumn, ...]
    by: Mapping[str, Grouping] = field(default_factory=dict)
    misleading: Mapping[str, str] = field(default_factory=dict)
    is_grouped: bool = False
    has_periods: bool = False
    condition: str = "with a known cost"
    unit: str = "requests of this row"
    caption: str = ""
    has_rounds: bool = False
    distinct: tuple[str, ...] | None = None
    joins: tuple[Relation, ...] = ()
    known: str = IS_KNOWN
    others: Mapping[str, Measure] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    queries: Callable[..., Iterable[Query]] | None = None
    without_query: str = ""
    main_columns: tuple[str, ...] = ()
    added_up: tuple[str, ...] = ()
    drawn: str = ""
    answer: Callable[[pd.DataFrame], str] | None = None
    answers_over_time: bool = False

    @property
    def tail(self) -> tuple[ResultColumn, ...]:
        """Columns that every result has at its end."""
        description = f"Share of the {self.unit} {self.condition}. Missing if there are none."
        coverage = ResultColumn("coverage", RATE, description, SHARE, ratio=Ratio("groups.known_rows", "groups.row_count"))
        of_bytes, *others = TAIL
        return (coverage, replace(of_bytes, ratio=CoverageOfBytes()) if BYTES.keys() <= self.others.keys() else of_bytes, *others)

    def grouping(self, by: str | None) -> Grouping:
        """Return the grouping of a value of ``by=``."""
        return Grouping() if by is None else self.by[by]

    def result_columns(
        self, by: str | None = None, *, has_periods: bool = False, has_rounds: bool = False
    ) -> tuple[ResultColumn, ...]:
        """Return the columns of a result in order."""
        grouping = self.grouping(by)
        periods = ROUND if has_rounds else PERIOD if has_periods else ()
        own = {column.name for column in periods}  # a day within periods is as partial as its period
        extra = (column for column in grouping.extra if column.name not in own)
        return (*periods, *grouping.keys, *self.columns, *extra, *self.tail)

    def column(self, name: str) -> ResultColumn:
        """Return one of the columns that every grouping has."""
        return next(column for column in self.columns if column.name == name)

    def check(self, frames: object, by: str | None = None) -> Grouping:
        """Return the grouping of a call whose arguments are valid.

        Raises
        ------
        UsageError
            If `frames` is not Frames, or `by` is not a grouping of this figure.
        """
        require_frames(frames, self.name)
        choices = list(self.by) if self.is_grouped else [None, *self.by]
        if by in choices:
            return self.grouping(by)
        reason = f" because {self.misleading[by]}" if isinstance(by, str) and by in self.misleading else ""
        raise UsageError(f"lf.{self.name} cannot group by={by!r}{reason}. Choose from {', '.join(map(repr, choices))}.")

    def build(
        self,
        frames: Frames | None,
        values: Mapping[str, Any],
        by: str | None = None,
        *,
        every: str | None = None,
        accept_survivorship: bool = False,
    ) -> pd.DataFrame:
        """Return the declared columns in order, each in the declared dtype.

        A value that is not a column applies to all rows. Amounts must already have their dtype. The columns of :attr:`tail`
        follow from `frames`, unless `values` has them. The result knows its figure, even after rows or columns are selected.
        """
        columns = self.result_columns(by, has_periods=every is not None, has_rounds=every == "round")
        row_count = next(len(value) for value in values.values() if pd.api.types.is_list_like(value))
        tail = _tail_values(frames, accept_survivorship)
        values = {**tail, **values}
        index = pd.RangeIndex(row_count)
        frame = ResultFrame({column.name: _in_dtype(column, values[column.name], index) for column in columns})
        frame.attrs |= {NAME: self.name, ROWS: row_count, FIRST: [*self._first_columns(by, columns)]}
        if tail["coverage_time"] is not None and tail["coverage_time"] < 1:
            frame.attrs[FINAL] = tail["coverage_time"]
        return frame

    def _first_columns(self, by: str | None, columns: Iterable[ResultColumn]) -> Iterator[str]:
        """Yield the columns of a result that name a row, those of a short table, and the coverage."""
        keys = {"period_start", "round_number", *self.grouping(by).key_names} - {"package_name"}
        names = [column.name for column in columns]
        yield from (name for name in names if name in keys)
        tail = {column.name for column in self.tail}
        yield from (name for name in self.main_columns or names if name not in keys and name not in tail)
        yield COVERAGE

    def register(self, analysis: Analysis) -> Analysis:
        """Register the analysis whose result this is."""
        FIGURES[self.name] = ANALYSES[analysis] = self
        CALLS[self.name] = _call_text(self.name, analysis)
        return analysis

    @property
    def key_names(self) -> set[str]:
        """Names of the columns that name a row, in any grouping."""
        return {"period_start", "round_number"}.union(*(grouping.key_names for grouping in self.by.values()))


FIGURES: dict[str, Figure] = {}
ANALYSES: dict[Callable[..., pd.DataFrame], Figure] = {}
CALLS: dict[str, str] = {}


def _call_text(name: str, analysis: Callable[..., object]) -> str:
    parameters = [each for each in inspect.signature(analysis).parameters.values() if each.default is each.empty]
    required = [f"{each.name}=…" if each.kind is each.KEYWORD_ONLY else each.name for each in parameters]
    return f"lf.{name}({', '.join(required)})"


def _in_dtype(column: ResultColumn, value: Any, index: pd.RangeIndex) -> pd.Series:
    """Return the values of a column, or one value for all rows, in the declared dtype."""
    if column.dtype == LABEL and isinstance(value, str):  # one text per row would need much memory
        value = pd.Categorical.from_codes(np.zeros(len(index), "int8"), pd.Index([value] if len(index) else [], dtype="str"))
    rows = pd.Series(value, index)
    return rows if column.dtype.startswith("decimal") else rows.astype(pd.api.types.pandas_dtype(column.pandas_dtype))


def _tail_values(frames: Frames | None, accept_survivorship: bool) -> dict[str, Any]:
    """Return the values for all rows that follow from the frames."""
    if frames is None:
        return dict.fromkeys(("coverage_bytes", "coverage_time", "population", "network"))
    return {
        "coverage_bytes": np.nan,
        "coverage_time": window_share(frames),
        "population": population_of(frames, accept_survivorship),
        "network": frames.network,
    }


# -- columns ------------------------------------------------------------------------------------------------------------


def text(name: str, description: str) -> ResultColumn:
    """Return a column of texts."""
    return ResultColumn(name, TEXT, description)


def label(name: str, description: str, unit: str = "", title: str = "") -> ResultColumn:
    """Return a column of categories."""
    return ResultColumn(name, LABEL, description, unit, title)


def choice(name: str, choices: Iterable[str], description: str = "", title: str = "") -> ResultColumn:
    """Return a column of categories that are known in advance.

    Without a description, the categories describe the column.
    """
    *others, last = choices
    return ResultColumn(name, LABEL, description or f"{', '.join(others)}, or {last}.", "", title, (*others, last))


def flag(name: str, description: str) -> ResultColumn:
    """Return a column of booleans, which can be missing."""
    return ResultColumn(name, FLAG, description)


def time(name: str, description: str, title: str = "") -> ResultColumn:
    """Return a column of times in UTC."""
    return ResultColumn(name, TIME, description, "UTC", title)


def duration(name: str, description: str, title: str = "", *, measure: Measure | None = None) -> ResultColumn:
    """Return a column of durations."""
    return ResultColumn(name, DURATION, description, "microseconds", title, measure=measure)


def integer(name: str, description: str, unit: str = "", title: str = "", *, measure: Measure | None = None) -> ResultColumn:
    """Return a column of integers, which can be missing."""
    return ResultColumn(name, INTEGER, description, unit, title, measure=measure)


def rate(name: str, description: str, unit: str = "", title: str = "", *, measure: Measure | None = None) -> ResultColumn:
    """Return a column of floats."""
    return ResultColumn(name, RATE, description, unit, title, measure=measure)


def amount(name: str, description: str, unit: str = "", title: str = "") -> ResultColumn:
    """Return a column of exact decimals."""
    return ResultColumn(name, AMOUNT, description, unit, title)


def count(name: str, description: str, unit: str = "requests", *, measure: Measure | None = None) -> ResultColumn:
    """Return a column of counts, which are never missing."""
    return ResultColumn(name, COUNT, description, unit, name.replace("_", " ").capitalize(), measure=measure)


def cost(name: str, description: str, title: str = "Traffic cost", *, measure: Measure | None = None) -> ResultColumn:
    """Return a column of bytes."""
    return ResultColumn(name, INTEGER, description, "bytes", title, measure=measure)


def share(description: str, name: str = "share", title: str = "Share", *, ratio: Measure | None = None) -> ResultColumn:
    """Return a column of shares from 0 to 1."""
    return ResultColumn(name, RATE, description, SHARE, title, ratio=ratio)


POPULATIONS = ("all", "committed", "committed, accepted", "chosen")
TAIL = (
    ResultColumn(
        "coverage_bytes",
        RATE,
        "Known bytes as a share of known bytes and estimated unknown bytes. Missing without bytes, or if not computed.",
        SHARE,
    ),
    ResultColumn(
        "coverage_time",
        RATE,
        "Share of the period, or of the window since the history began, that final data cover. Missing without either.",
        SHARE,
    ),
    choice(
        "population",
        POPULATIONS,
        "Requests in the frames: all of the window, only committed ones, or chosen ones. Missing if unknown.",
    ),
    ResultColumn("network", LABEL, "Name of the network. Missing if unknown."),
)
PERIOD = (
    ResultColumn("period_start", TIME, "Start of the period.", "UTC", "Record time"),
    ResultColumn("period_end", TIME, "End of the period, exclusive. The last period can end after the window.", "UTC"),
    ResultColumn("is_partial", FLAG, "Whether final data of the window do not cover the whole period."),
)
ROUND = (
    ResultColumn("round_number", INTEGER, "Mining round.", "", "Mining round"),
    ResultColumn("is_partial", FLAG, "Whether records of the round can be missing. Missing if the rounds are unknown."),
)
