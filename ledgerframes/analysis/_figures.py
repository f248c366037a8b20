"""Declarations of results.

The analyses, their docstrings, the docs, the plots and the reports read them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

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
USAGE_ERROR = """\
UsageError
    If `by` is not a grouping of this figure, `every` is not a period, or there are more than a million of them.
"""


@dataclass(frozen=True)
class ResultColumn:
    """One column of a result.

    Attributes
    ----------
    name : str
    dtype : str
        The pandas dtype, the same for every input, also for an empty one.
    description : str
        One sentence, and a last one "Missing if …" where values can be missing.
    unit : str
        Empty if the column has none.
    title : str
        Label of the quantity on an axis.
    """

    name: str
    dtype: str
    description: str
    unit: str = ""
    title: str = ""


@dataclass(frozen=True)
class Grouping:
    """One value of ``by=``.

    Attributes
    ----------
    keys : tuple of ResultColumn
        Columns that name the group.
    extra : tuple of ResultColumn
        Columns that only this grouping has.
    """

    keys: tuple[ResultColumn, ...] = ()
    extra: tuple[ResultColumn, ...] = ()

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
    columns : tuple of ResultColumn
        Columns of every grouping; the last one stays last.
    by : mapping of str to Grouping
        Values of ``by=``.
    misleading : mapping of str to str
        Values of ``by=`` that would mislead, and why.
    has_periods : bool
        Whether the analysis has ``every=``.
    has_rounds : bool
        Whether the analysis has ``every="round"``.
    """

    name: str
    columns: tuple[ResultColumn, ...]
    by: Mapping[str, Grouping] = field(default_factory=dict)
    misleading: Mapping[str, str] = field(default_factory=dict)
    has_periods: bool = False
    has_rounds: bool = False

    def grouping(self, by: str | None) -> Grouping:
        """Return the grouping of a value of ``by=``."""
        return Grouping() if by is None else self.by[by]

    def result_columns(
        self, by: str | None = None, *, has_periods: bool = False, has_rounds: bool = False
    ) -> tuple[ResultColumn, ...]:
        """Return the columns of a result in order."""
        grouping = self.grouping(by)
        periods = ROUND if has_rounds else PERIOD if has_periods else ()
        return (*periods, *grouping.keys, *self.columns[:-1], *grouping.extra, self.columns[-1])

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
        if by is None or by in self.by:
            return self.grouping(by)
        choices = ", ".join(repr(choice) for choice in (None, *self.by))
        reason = f" because {self.misleading[by]}" if by in self.misleading else ""
        raise UsageError(f"lf.{self.name} cannot group by={by!r}{reason}. Choose from {choices}.")

    def build(self, values: Mapping[str, Any], by: str | None = None, *, every: str | None = None) -> pd.DataFrame:
        """Return the declared columns in order, each in the declared dtype.

        Amounts have their dtype before this call.
        """
        columns = self.result_columns(by, has_periods=every is not None, has_rounds=every == "round")
        frame = pd.DataFrame({column.name: values[column.name] for column in columns})
        return frame.astype({column.name: column.dtype for column in columns if not column.dtype.startswith("decimal")})

    def document(self, analysis: Analysis) -> Analysis:
        """Register an analysis, and complete its docstring.

        The docstring gets the declared columns and the errors of :meth:`check`.
        """
        FIGURES[self.name] = self
        CALLS[self.name] = _call_text(self.name, analysis)
        if not analysis.__doc__:  # Python removes docstrings with -OO
            return analysis
        head, returns, rest = re.split(r"(Returns\n-------\n.*?)\n(?=\n\w)", inspect.cleandoc(analysis.__doc__), flags=re.DOTALL)
        if self.by or self.has_periods:
            section = "\nRaises\n------\n"
            rest = section + USAGE_ERROR + rest.removeprefix(section)
        analysis.__doc__ = f"{head}{returns}\n\n    Columns:\n\n{self._listing()}\n{rest}"
        return analysis

    def _listing(self) -> str:
        lines = [_line(column, " With every= only.") for column in PERIOD if self.has_periods]
        lines += [_line(column, " With every='round' only.") for column in ROUND if self.has_rounds]
        for by, grouping in self.by.items():
            lines += [_line(column, f" With by={by!r} only.") for column in (*grouping.keys, *grouping.extra)]
        return "\n".join(lines + [_line(column) for column in self.columns])


FIGURES: dict[str, Figure] = {}
CALLS: dict[str, str] = {}


def _call_text(name: str, analysis: Callable[..., object]) -> str:
    required = [each.name for each in inspect.signature(analysis).parameters.values() if each.default is each.empty]
    return f"lf.{name}({', '.join(required)})"


def _line(column: ResultColumn, condition: str = "") -> str:
    kind = ", ".join(part for part in (column.dtype, column.unit) if part)
    return f"    - ``{column.name}`` ({kind}): {column.description}{condition}"


def require_frames(frames: object, name: str) -> None:
    """Raise a UsageError unless the argument of an analysis is Frames."""
    if not isinstance(frames, Frames):
        loader = "lf.load_events(net, …)"
        raise UsageError(f"Pass Frames to lf.{name}, such as the result of {loader}, got {type(frames).__name__}.")


# -- columns that several results have ----------------------------------------------------------------------------------


def count(name: str, description: str, unit: str = "requests") -> ResultColumn:
    """Return a column of counts, which are never missing."""
    return ResultColumn(name, COUNT, description, unit, name.replace("_", " ").capitalize())


def cost(name: str, description: str, title: str = "Traffic cost") -> ResultColumn:
    """Return a column of bytes."""
    return ResultColumn(name, INTEGER, description, "bytes", title)


def share(description: str, name: str = "share", title: str = "Share") -> ResultColumn:
    """Return a column of shares from 0 to 1."""
    return ResultColumn(name, RATE, description, SHARE, title)


def known_share(fact: str, of: str = "requests of this row") -> ResultColumn:
    """Return the column with the share of the data that a row is computed from."""
    return ResultColumn("known_share", RATE, f"Share of the {of} with a known {fact}. Missing if there are none.", SHARE)


PERIOD = (
    ResultColumn("period_start", TIME, "Start of the period.", "UTC", "Record time"),
    ResultColumn("period_end", TIME, "End of the period, exclusive. The last period can end after the window.", "UTC"),
)
ROUND = (
    ResultColumn("round_number", INTEGER, "Mining round.", "", "Mining round"),
    ResultColumn("is_partial", FLAG, "Whether records of the round can be missing. Missing if the rounds are unknown."),
)
