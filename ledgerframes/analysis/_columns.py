"""What the columns of a result are, declared once per analysis and checked in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

COUNT = "int64"
COST = "Int64"
RATE = "float64"
FLAG = "boolean"
TEXT = "str"
LABEL = "category"
TIME = "datetime64[us, UTC]"
DURATION = "timedelta64[us]"
AMOUNT = "decimal128(38, 10)[pyarrow]"


@dataclass(frozen=True)
class ResultColumn:
    """One column of a result.

    Attributes
    ----------
    name : str
    dtype : str
        Its pandas dtype, the same for every input, also for an empty one.
    description : str
        One sentence.
    unit : str
        Empty if it has none.
    """

    name: str
    dtype: str
    description: str
    unit: str = ""


def count(name: str, description: str, unit: str = "requests") -> ResultColumn:
    """A column that counts; never missing."""
    return ResultColumn(name, COUNT, description, unit)


def cost(name: str, description: str) -> ResultColumn:
    """A column of bytes; missing where nothing is known."""
    return ResultColumn(name, COST, description, "bytes")


def share(description: str, name: str = "share") -> ResultColumn:
    """A column of shares from 0 to 1; missing where there is nothing to share."""
    return ResultColumn(name, RATE, description, "share of 1")


def coverage(fact: str, of: str = "requests of this row") -> ResultColumn:
    """The column that says how much of the truth a row was made from."""
    return ResultColumn("coverage", RATE, f"Share of the {of} whose {fact} is known; missing if there are none.", "share of 1")


PERIOD = (
    ResultColumn("period_start", TIME, "Start of the period.", "UTC"),
    ResultColumn("period_end", TIME, "End of the period, not included; may lie after the end of the window.", "UTC"),
)
COVERAGE = coverage("cost")


def shaped(columns: tuple[ResultColumn, ...], values: Mapping[str, Any]) -> pd.DataFrame:
    """Put finished columns together in the declared order, each in its declared dtype; amounts come in theirs already."""
    frame = pd.DataFrame({column.name: values[column.name] for column in columns})
    return frame.astype({column.name: column.dtype for column in columns if column.dtype != AMOUNT})
