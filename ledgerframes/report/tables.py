"""Tables and texts in notebooks, which in a report are also written to files.

Names and texts from a network are not trusted: everything is escaped here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.analysis._figures import SHARE
from ledgerframes.control_characters import escape_html as escape
from ledgerframes.errors import UsageError
from ledgerframes.export import write_csv
from ledgerframes.representation import pluralize
from ledgerframes.statistics import printing

TABLES_VARIABLE = "LEDGERFRAMES_REPORT_TABLES"
TABLE_METADATA = "ledgerframes_table"  # of an output, with the name of the table's files
FILE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
HEX = re.compile(r"[0-9a-f]+")
FINGERPRINT = re.compile(r"::(\w{6})\w{8,}(\w{4})\b")
LEFT = ' style="text-align: left"'  # for notebooks, which align all cells right; pages of reports have their own style
MAX_TEXT = 56
MAX_UNBROKEN_TEXT = 20
SECOND = pd.Timedelta(1, "s")
DURATION_UNITS = {"days": pd.Timedelta(1, "D"), "h": pd.Timedelta(1, "h"), "min": pd.Timedelta(1, "min")}
LEAST_AMOUNT = Decimal("0.0001")
LEAST_NUMBER = 0.001
ID_NAMES = ("_id", "_number")  # columns of integers that count nothing
MIN_HEX = 40  # digits of an id or digest
HEX_ENDS = (12, 4)
Units = dict[tuple[str, str], str]  # of columns, by name and dtype
# Columns at the end of every result. With one value in all rows they are a note below the table.
TAIL_NAMES = {
    "coverage_bytes": "Known bytes",
    "coverage_time": "Time covered by final data",
    "population": "Requests",
    "network": "Network",
}
# The name of a count is its unit.
UNITS_IN_HEAD = ("bytes", "weighted bytes", "UTC")


def show_table(
    name: str, frame: pd.DataFrame, *, max_rows: int = 15, display: pd.DataFrame | None = None, caption: str | None = None
) -> TableOutput:
    """Show a table.

    In a report, all rows are also written to ``tables/NAME.csv`` and ``tables/NAME.parquet``.

    Parameters
    ----------
    name : str
        Name of the files: lowercase letters, digits and underscores.
    frame : DataFrame
        All rows, for the files.
    max_rows : int, optional
        Maximum number of rows to show (default: 15).
    display : DataFrame, optional
        Rows to show instead: other rows, another order, or fewer columns of the same table.
    caption : str, optional
        What the table shows (default: its name in words).

    Returns
    -------
    TableOutput
        Shows itself as the last value of a cell.

    Raises
    ------
    UsageError
        If `name` is not a valid file name.

    Notes
    -----
    The Parquet file has the dtypes of the frame. The CSV is that of :func:`ledgerframes.export.write_csv`.

    Examples
    --------
    >>> import pandas as pd
    >>> show_table("parties", pd.DataFrame({"party": ["alice"], "requests": [1200]}))
       party  requests
    0  alice      1200
    """
    if not FILE_NAME.fullmatch(name):
        raise UsageError(f"name= must consist of lowercase letters, digits and underscores, got {name!r}.")
    tables_dir = os.environ.get(TABLES_VARIABLE)
    if tables_dir:
        _write_files(Path(tables_dir), name, frame)
    text = caption or name.replace("_", " ").capitalize()
    visible = frame if display is None else display
    return TableOutput(name, visible, max_rows, len(frame), text, units=_units_of(frame), has_files=bool(tables_dir))


def show_text(text: str) -> TextOutput:
    """Show a text with computed values, without markup.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> show_text(f"{2000:,} of {5000:,} requests were rejected.")
    2,000 of 5,000 requests were rejected.
    """
    return TextOutput(text)


@dataclass(frozen=True, repr=False)
class TextOutput:
    """A sentence that shows itself in a notebook."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<p class="statement">{escape(keep_together(_shorten_fingerprints(self.text)))}</p>'


@dataclass(frozen=True, repr=False)
class TableOutput:
    """A table that shows itself in a notebook, with units in the head and formatted numbers."""

    name: str
    frame: pd.DataFrame
    max_rows: int
    row_count: int
    caption: str
    units: Units
    has_files: bool

    def __repr__(self) -> str:
        return repr(self.frame.head(self.max_rows))

    def _repr_html_(self) -> str:
        if self.frame.empty:
            return f'<p class="note">{escape(self.caption)}. No rows.</p>'
        constants = self._constants()
        rows = self.frame.head(self.max_rows).drop(columns=list(constants))
        columns = [_Column(name, rows[name], self.units) for name in rows]
        head = "".join(column.head() for column in columns)
        body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in zip(*(column.cells() for column in columns), strict=True))
        caption = f"<caption{LEFT}>{escape(self.caption)}</caption>"
        table = f'<table class="result">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        return table + f'<p class="note">{escape(self._note(constants))}</p>'

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, str]]:
        """Return the name of the files as metadata of the output, for the links of the page."""
        return {}, {TABLE_METADATA: self.name} if self.has_files else {}

    def _constants(self) -> dict[str, str]:
        """Return the columns at the end of a result that have the same text in all rows."""
        names = [name for name in TAIL_NAMES if name in self.frame and self.frame[name].nunique(dropna=False) == 1]
        return {name: _Column(name, self.frame[name].head(1), self.units).text() for name in names}

    def _note(self, constants: dict[str, str]) -> str:
        visible, count = min(self.max_rows, len(self.frame)), self.row_count
        text = f"{visible:,} of {count:,} rows" if visible < count else pluralize(count, "row")
        tail = [f"{TAIL_NAMES[name]}: {value}" for name, value in constants.items() if value != printing.MISSING]
        return ". ".join([text, *tail])


# -- helpers ------------------------------------------------------------------------------------------------------------


def _units_of(frame: pd.DataFrame) -> Units:
    """Return the units of columns, by name and dtype.

    The results with all columns of the table say it first. Another result can have a column of the same name in another unit: a
    difference can be of bytes, or of weights.
    """
    columns = {(str(name), str(dtype)) for name, dtype in frame.dtypes.items()}
    own = [units for units in _units_of_results() if columns <= units.keys()]
    return {**_units_of_all_results(), **_common_units(own)}


@cache
def _units_of_results() -> list[Units]:
    """Return the units of the columns of each figure in each grouping."""
    from ledgerframes.analysis import FIGURES  # imports all of them

    return [
        {(column.name, column.dtype): column.unit for column in figure.result_columns(by, has_periods=True)}
        for figure in FIGURES.values()
        for by in (None, *figure.by)
    ]


@cache
def _units_of_all_results() -> Units:
    return _common_units(_units_of_results())


def _common_units(results: Sequence[Units]) -> Units:
    """Return the units of the columns that have one unit in all results."""
    units: dict[tuple[str, str], set[str]] = {}
    for column, unit in (item for result in results for item in result.items()):
        units.setdefault(column, set()).add(unit)
    return {column: unit for column, (unit, *others) in units.items() if not others}


def _write_files(tables_dir: Path, name: str, frame: pd.DataFrame) -> None:
    tables_dir.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, tables_dir / f"{name}.parquet", compression="zstd")
    with (tables_dir / f"{name}.csv").open("wb") as file:
        write_csv(frame, file)


class _Column:
    """One column as HTML."""

    def __init__(self, name: Any, values: pd.Series, units: Units) -> None:
        self.name = str(name)
        self.values = values
        self.is_duration = pd.api.types.is_timedelta64_dtype(values)
        self.is_flag = pd.api.types.is_bool_dtype(values)
        self.is_number = self.is_duration or (pd.api.types.is_numeric_dtype(values) and not self.is_flag)
        self.is_text = not self.is_number and not pd.api.types.is_datetime64_any_dtype(values)
        self.unit = units.get((self.name, str(values.dtype)), "")
        if self.is_duration:
            self.unit = _duration_unit(values)
        amounts = [value for value in values if isinstance(value, Decimal)]
        self.decimals = 2 if all(value == round(value, 2) for value in amounts) else 4

    def head(self) -> str:
        unit = self.unit if self.unit in UNITS_IN_HEAD and self.unit != self.name and not self.is_text else ""
        text = self.unit if self.is_duration else "%" if self.unit == SHARE else unit
        title = escape(self.name.replace("_", " "))
        return f'<th scope="col"{self._attributes()}>{title}{f" <small>{text}</small>" if text else ""}</th>'

    def cells(self) -> list[str]:
        return [
            f"<td{self._attributes()}{_tooltip(value)}>{_allow_breaks(escape(self._text(value)))}</td>" for value in self.values
        ]

    def text(self) -> str:
        """Return the first value with its unit."""
        text = self._text(self.values.iloc[0])
        return f"{text} %" if self.unit == SHARE and text != printing.MISSING else text

    def _attributes(self) -> str:
        return ' class="number"' if self.is_number else f' class="text"{LEFT}' if self.is_text else LEFT

    def _text(self, value: Any) -> str:
        if pd.api.types.is_scalar(value) and pd.isna(value):
            return printing.MISSING
        if self.is_duration:
            length = DURATION_UNITS.get(self.unit, SECOND)
            return printing.duration_number(value // (length // 1_000_000))
        if self.unit == SHARE:
            end = self.name.rpartition("_")[2]
            is_end = end in ("low", "high")
            return printing.interval_end(float(value), end) if is_end else printing.share_number(float(value))
        if self.is_flag:
            return "yes" if value else "no"
        if isinstance(value, pd.Timestamp):
            return value.strftime("%Y-%m-%d %H:%M")
        if isinstance(value, Decimal):
            return _with_minus(_amount(value, self.decimals))
        if self.is_number and self.name.endswith(ID_NAMES):
            return str(value)
        if self.is_number:
            return _with_minus(_number(value))
        return shorten(str(value))


def _duration_unit(values: pd.Series) -> str:
    """Return the unit of a column of durations, of which a usual one has at least two."""
    usual = pd.Timedelta(values[values != pd.Timedelta(0)].abs().median())
    return next((unit for unit, length in DURATION_UNITS.items() if usual >= 2 * length), "s")


def _with_minus(number: str) -> str:
    """Return a number with the minus sign that shares and changes have."""
    return number.replace("-", "−")


def _amount(value: Decimal, decimals: int) -> str:
    """Return an amount with the decimals of its column.

    >>> _amount(Decimal("108.0000000000"), 2), _amount(Decimal("0E-10"), 2), _amount(Decimal("0.1784923"), 4)
    ('108.00', '0.00', '0.1785')
    >>> _amount(Decimal("-0.00000004"), 4), _amount(Decimal("12345.6"), 2)
    ('> -0.0001', '12,345.60')
    """
    if value and abs(value) < LEAST_AMOUNT:
        return f"< {LEAST_AMOUNT}" if value > 0 else f"> -{LEAST_AMOUNT}"
    return f"{value:,.{decimals}f}"


def _number(value: float) -> str:
    """Return a number with at most 3 decimals, and no other number as 0.

    >>> _number(1200), _number(0.3), _number(2 / 3), _number(0.00002), _number(0.0), _number(1200.0001)
    ('1,200', '0.3', '0.667', '< 0.001', '0', '1,200')
    """
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) < LEAST_NUMBER:
        return f"< {LEAST_NUMBER}" if value > 0 else f"> -{LEAST_NUMBER}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def _allow_breaks(html: str) -> str:
    """Let names of templates and parties break at their separators, where paper is narrow."""
    return re.sub(r"(?<=[.:_…])(?=\w)", "<wbr>", html) if len(html) > MAX_UNBROKEN_TEXT else html


def _tooltip(value: Any) -> str:
    """Return the whole text of a shortened cell as its title attribute."""
    return f' title="{escape(value)}"' if isinstance(value, str) and shorten(value) != value else ""


def shorten(text: str, max_length: int = MAX_TEXT) -> str:
    """Return a text without the middle of its fingerprint.

    Without a fingerprint, the middle of an id, a digest or another long text is omitted.

    >>> shorten("alice::1220" + "ab" * 32), shorten("x" * 99)
    ('alice::1220ab…abab', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…xxxxxxxx')
    >>> shorten("1220" + "ab" * 32)
    '1220abababab…abab'
    """
    if len(text) >= MIN_HEX and HEX.fullmatch(text):
        return f"{text[: HEX_ENDS[0]]}…{text[-HEX_ENDS[1] :]}"
    text = _shorten_fingerprints(text)
    return text if len(text) <= max_length else f"{text[: max_length - 9]}…{text[-8:]}"


def keep_together(text: str) -> str:
    """Return a text in which no line ends between a number and its percent sign.

    >>> len(keep_together("12.5 % of 80").split(" "))
    3
    """
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)


def _shorten_fingerprints(text: str) -> str:
    return FINGERPRINT.sub(r"::\1…\2", text)
