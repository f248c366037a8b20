"""For notebooks: showing a table or a sentence, and, when run as a report, writing the table to files as well.

Names and texts come from a network and are not trusted: everything is escaped here, never left to the caller.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.analysis import cost, verdict
from ledgerframes.errors import UsageError

TABLES_VARIABLE = "LEDGERFRAMES_REPORT_TABLES"
FILE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
FINGERPRINT = re.compile(r"::(\w{6})\w{8,}(\w{4})\b")
LONGEST_TEXT = 56
SHORT_TEXT = 20
MISSING = "–"
SHARE = "share of 1"
UNITS = {
    column.name: column.unit
    for columns in (
        *cost.COLUMNS.values(),
        *verdict.COLUMNS.values(),
        *verdict.OUTCOMES_BY.values(),
        *verdict.LATENCY_BY.values(),
    )
    for column in columns
}
# Counts say by their name what they count.
UNITS_SHOWN = ("bytes", "UTC")


def publish(name: str, frame: pd.DataFrame, rows: int = 15, *, shown: pd.DataFrame | None = None) -> ShownTable:
    """Show a table; in a report, also write all of it as ``tables/NAME.csv`` and ``tables/NAME.parquet``.

    Parameters
    ----------
    name : str
        Name of the files: small letters, digits and underscores.
    frame : DataFrame
    rows : int
        The most rows to show.
    shown : DataFrame, optional
        Show this instead: other rows, another order, or fewer columns of the same table.

    Returns
    -------
    ShownTable
        Shows itself when it is the last value of a cell.

    Raises
    ------
    UsageError
        If the name cannot name a file.

    Notes
    -----
    The Parquet file has the frame's own types. In the CSV, durations are seconds, in columns with ``_seconds`` added to the name.

    Examples
    --------
    >>> import pandas as pd
    >>> publish("parties", pd.DataFrame({"party": ["alice"], "requests": [1200]}))
       party  requests
    0  alice      1200
    """
    if not FILE_NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a table's files. Use small letters, digits and underscores.")
    folder = os.environ.get(TABLES_VARIABLE)
    if folder:
        _write(Path(folder), name, frame)
    return ShownTable(name, frame if shown is None else shown, rows, len(frame), filed=bool(folder))


def finding(text: str) -> ShownText:
    """Show a sentence made from computed values; whatever is in it appears as plain text.

    Parameters
    ----------
    text : str

    Notes
    -----
    A percent sign behind a number gets a space before it, as in the pictures.

    Examples
    --------
    >>> finding(f"{2000:,} of {5000:,} requests were rejected.")
    2,000 of 5,000 requests were rejected.
    """
    return ShownText(re.sub(r"(?<=\d)%", "\u00a0%", text))


@dataclass(frozen=True, repr=False)
class ShownText:
    """A sentence that shows itself in a notebook."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<p class="finding">{escape(self.text)}</p>'


@dataclass(frozen=True, repr=False)
class ShownTable:
    """A table that shows itself in a notebook: units in the head, numbers as people read them."""

    name: str
    frame: pd.DataFrame
    rows: int
    all_rows: int
    filed: bool

    def __repr__(self) -> str:
        return repr(self.frame.head(self.rows))

    def _repr_html_(self) -> str:
        if self.frame.empty:
            return '<p class="note">No rows.</p>'
        head = self.frame.head(self.rows)
        columns = [_Column(name, head[name]) for name in head]
        titles = "".join(column.head() for column in columns)
        body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in zip(*(column.cells() for column in columns), strict=True))
        table = f'<table class="published"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'
        return table + f'<p class="note">{escape(self._note())}</p>'

    def _note(self) -> str:
        shown, count = min(self.rows, len(self.frame)), self.all_rows
        words = f"{shown:,} of {count:,} rows" if shown < count else f"{count:,} {'row' if count == 1 else 'rows'}"
        return f"{words}. In full: tables/{self.name}.csv and .parquet" if self.filed else words


# -- helpers ----------------------------------------------------------------------------------------------------------


def _write(folder: Path, name: str, frame: pd.DataFrame) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    _for_csv(frame).to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")


def _for_csv(frame: pd.DataFrame) -> pd.DataFrame:
    """Durations as seconds, which a spreadsheet can read."""
    durations = list(frame.select_dtypes("timedelta").columns)
    seconds = frame.assign(**{name: frame[name].dt.total_seconds() for name in durations})
    return seconds.rename(columns={name: f"{name}_seconds" for name in durations})


class _Column:
    """One column on its way to HTML."""

    def __init__(self, name: Any, values: pd.Series) -> None:
        self.name = str(name)
        self.values = values
        self.is_duration = pd.api.types.is_timedelta64_dtype(values)
        self.is_flag = pd.api.types.is_bool_dtype(values)
        self.is_number = self.is_duration or (pd.api.types.is_numeric_dtype(values) and not self.is_flag)
        self.is_text = not self.is_number and not pd.api.types.is_datetime64_any_dtype(values)
        self.is_share = UNITS.get(self.name) == SHARE

    def head(self) -> str:
        unit = UNITS.get(self.name, "")
        note = "s" if self.is_duration else "%" if self.is_share else unit if unit in UNITS_SHOWN else ""
        words = escape(self.name.replace("_", " "))
        return f"<th{self._kind()}>{words}{f' <small>{note}</small>' if note else ''}</th>"

    def cells(self) -> list[str]:
        return [f"<td{self._kind()}{_title(value)}>{_breakable(escape(self._text(value)))}</td>" for value in self.values]

    def _kind(self) -> str:
        return ' class="number"' if self.is_number else ' class="text"' if self.is_text else ""

    def _text(self, value: Any) -> str:
        if pd.api.types.is_scalar(value) and pd.isna(value):
            return MISSING
        if self.is_duration:
            return f"{value.total_seconds():,.3f}"
        if self.is_share:
            return f"{value * 100:.1f}"
        if self.is_flag:
            return "yes" if value else "no"
        if isinstance(value, pd.Timestamp):
            return value.strftime("%Y-%m-%d %H:%M")
        if self.is_number:
            return f"{value:,}" if isinstance(value, int) or float(value).is_integer() else f"{value:,.3f}"
        return shortened(str(value))


def _breakable(html: str) -> str:
    """Names of templates and parties may be broken at their joints, where paper is narrow."""
    return re.sub(r"(?<=[.:_…])(?=\w)", "<wbr>", html) if len(html) > SHORT_TEXT else html


def _title(value: Any) -> str:
    """The whole text of a shortened cell, for the mouse."""
    return f' title="{escape(value)}"' if isinstance(value, str) and shortened(value) != value else ""


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """A long text with a part in its middle left out.

    >>> shortened("alice::1220" + "ab" * 32), shortened("x" * 99)
    ('alice::1220ab…abab', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…xxxxxxxx')
    """
    text = FINGERPRINT.sub(r"::\1…\2", text)
    return text if len(text) <= longest else f"{text[: longest - 9]}…{text[-8:]}"
