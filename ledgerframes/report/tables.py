"""Tables and texts in notebooks, which a report also writes to files.

Names and texts from a network are not trusted: everything is escaped here.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass
from itertools import accumulate, chain, count
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.errors import UsageError
from ledgerframes.export import write_csv
from ledgerframes.report import day_bars
from ledgerframes.report.cells import LEFT, MAX_PLAIN_TEXT, Column, Units, escape_unbroken, units_of
from ledgerframes.report.day_bars import DayBars
from ledgerframes.statistics import printing
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.control_characters import escape_html as escape
from ledgerframes.texts.representation import pluralize
from ledgerframes.texts.short_names import shorten_fingerprints

TABLES_VARIABLE = "LEDGERFRAMES_REPORT_TABLES"
TABLE_METADATA = "ledgerframes_table"  # of an output, with the name of the table's files
MAX_FILE_NAME = 64  # characters
FILE_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_FILE_NAME - 1}}}")
UNKNOWN = "unknown"  # the group of a row, as in pictures
MAX_WIDTH = 100  # characters of a table as text
MAX_TEXTS = (MAX_PLAIN_TEXT, 24, 17)  # characters of a name in it, fewer where no number would fit
GAP = "  "  # between its columns
MAX_ROWS = 100  # rows of a table whose rest a click shows
# Columns at the end of every result. With one value in all rows they are a note below the table.
TAIL_NAMES = {
    "coverage": "Coverage",
    "coverage_bytes": "Known bytes",
    "coverage_time": "Time covered by final data",
    "population": "Requests",
    "network": "Network",
}


def show_table(
    name: str, frame: pd.DataFrame, *, max_rows: int = 15, display: pd.DataFrame | None = None, caption: str | None = None
) -> TableOutput:
    """Show a table.

    In a report, all rows are also written to ``tables/NAME.csv`` and ``tables/NAME.parquet``. The files of another table with the
    same name get a number: ``NAME_2``.

    Parameters
    ----------
    name : str
        Name of the files: lowercase letters, digits and underscores.
    frame : DataFrame
        All rows, for the files.
    max_rows : int, optional
        Maximum number of rows to show (default: 15).
    display : DataFrame, optional
        Rows to show instead: other rows, a different order, or fewer columns of the same table.
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
    alice     1,200
    1 row
    """
    if not FILE_NAME.fullmatch(name):
        raise UsageError(f"name= must consist of lowercase letters, digits and underscores, got {name!r}.")
    tables_dir = os.environ.get(TABLES_VARIABLE)
    file_name = _write_files(Path(tables_dir), name, frame) if tables_dir else name
    text = caption or name.replace("_", " ").capitalize()
    if file_name != name:  # a reader who hears the captions tells two tables of one page apart
        text = f"{text} ({file_name.rpartition('_')[2]})"
    visible = frame if display is None else display
    return TableOutput(file_name, visible, max_rows, len(frame), text, units=units_of(frame), has_files=bool(tables_dir))


@dataclass(frozen=True, repr=False)
class TextOutput:
    """A sentence that shows itself in a notebook."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<p class="statement">{escape_unbroken(shorten_fingerprints(self.text))}</p>'


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
    bars: str = ""  # name of the column with bars
    has_rest: bool = False  # whether a click shows more rows
    group: str = ""  # name of the column that alone names the group of a row
    condition: str = ""  # what the coverage is the share of
    days: DayBars | None = None  # bars of the days, in a column after that with bars
    sums: pd.DataFrame | None = None  # one row with the sums of the columns that add up

    def __repr__(self) -> str:
        """Return the first rows as text, with as many columns as fit."""
        if self.frame.empty:
            return escape_control(f"{self.caption}. No rows.")
        constants = self._constants()
        columns, visible = self._fitting_columns(constants)
        hidden = [pluralize(len(columns) - len(visible), "more column")] if len(visible) < len(columns) else []
        return "\n".join([*_lines(visible), escape_control(". ".join([self._note(constants), *hidden]))])

    def _repr_html_(self) -> str:
        if self.frame.empty:
            return f'<p class="note">{escape(self.caption)}. No rows.</p>'
        constants = self._constants()
        rows_on_page = self.frame.head(self._row_limit())
        columns = self._columns(rows_on_page, constants)
        heads = [column.head() for column in columns]
        cells = [column.cells(has_bars=column.name == self.bars) for column in columns]
        names = [column.name for column in columns]
        feet = [f'<th scope="row"{LEFT}>All {pluralize(self.row_count, "row")}</th>', *map(self._sum, names[1:])]
        if self.days is not None and self.days.column in names:  # a note has a coverage that is the same in all rows
            position = names.index(self.days.column) + 1
            heads.insert(position, day_bars.HEAD)
            cells.insert(position, self.days.cells(rows_on_page))
            feet.insert(position, "<td></td>")
        head, rows = "".join(heads), zip(*cells, strict=True)
        body = "".join(f"<tr{self._row_class(number)}>{''.join(cells)}</tr>" for number, cells in enumerate(rows))
        caption = f"<caption{LEFT}>{escape(self.caption)}</caption>"
        foot = f"<tfoot><tr>{''.join(feet)}</tr></tfoot>" if self.sums is not None else ""
        table = f'<table class="result">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>'
        return f"{table}{self._rest()}{self._note_element(constants)}"

    def _sum(self, name: str) -> str:
        """Return the sum of a column as HTML, empty if its rows do not add up."""
        if self.sums is None or name not in self.sums:
            return "<td></td>"
        return Column(name, self.sums[name], self.units).cells()[0]

    def _fitting_columns(self, constants: dict[str, str]) -> tuple[list[Column], list[Column]]:
        """Return all columns as text, and the first ones, which fit.

        Names are shortened rather than that the column with bars is not among them, or no number.
        """
        rows = self.frame.head(self.max_rows)
        for max_text in MAX_TEXTS:
            columns = self._columns(rows, constants, max_text)
            visible = columns[: _fitting([column.width() for column in columns])]
            main = [column for column in columns if (column.name == self.bars if self.bars else column.is_number)]
            if not main or any(column in visible for column in main):
                break
        return columns, visible

    def _columns(self, rows: pd.DataFrame, constants: dict[str, str], max_text: int = MAX_PLAIN_TEXT) -> list[Column]:
        missing: dict[object, str] = {self.group: UNKNOWN}
        return [
            Column(name, rows[name], self.units, missing.get(name, printing.MISSING), max_text)
            for name in rows
            if name not in constants
        ]

    def _row_class(self, number: int) -> str:
        """Return the class of a row that is visible only once the rest is opened."""
        return ' class="more"' if number >= self.max_rows else ""

    def _row_limit(self) -> int:
        return max(self.max_rows, MAX_ROWS) if self.has_rest else self.max_rows

    def _rest(self) -> str:
        """Return what opens the rest of the rows, or the first of many.

        The style of the page does this, not a script.
        """
        limit = self._row_limit()
        count = min(len(self.frame), limit) - self.max_rows
        text = pluralize(count, "more row") if self.row_count <= limit else f"First {limit:,} rows"
        return f'<details class="rest"><summary>{text}</summary></details>' if count > 0 else ""

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, str]]:
        """Return the name of the files as metadata of the output, for the links of the page."""
        return {}, {TABLE_METADATA: self.name} if self.has_files else {}

    def _constants(self) -> dict[str, str]:
        """Return the columns at the end of a result that have the same text in all rows."""
        names = [name for name in TAIL_NAMES if name in self.frame and self.frame[name].nunique(dropna=False) == 1]
        return {name: Column(name, self.frame[name].head(1), self.units).text() for name in names}

    def _note(self, constants: dict[str, str]) -> str:
        return ". ".join([self._count(self.max_rows), *self._sum_texts(), *self._tail(constants)])

    def _sum_texts(self) -> list[str]:
        """Return the sums of all rows as text, for a note."""
        if self.sums is None:
            return []
        columns = [Column(str(name), self.sums[name], self.units) for name in self.sums]
        return [f"All rows: {', '.join(column.texts_with_unit()[0] for column in columns)}"]

    def _note_element(self, constants: dict[str, str]) -> str:
        """Return the note, with one count of the first rows and one of all on the page."""
        first, last = self._count(self.max_rows), self._count(self._row_limit())
        both = f'<span class="rows few">{first}</span><span class="rows more">{last}</span>'
        count = f'<span class="rows">{first}</span>' if first == last else both
        return f'<p class="note">{". ".join([count, *map(escape, self._tail(constants))])}</p>'

    def _tail(self, constants: dict[str, str]) -> list[str]:
        """Return the columns that have one value in all rows, each with its value, for the note."""
        ends = {"coverage": f" {self.condition}" if self.condition else ""}
        known = {name: value for name, value in constants.items() if value != printing.MISSING}
        return [f"{TAIL_NAMES[name]}: {value}{ends.get(name, '')}" for name, value in known.items()]

    def _count(self, limit: int) -> str:
        visible, count = min(limit, len(self.frame)), self.row_count
        return f"{visible:,} of {count:,} rows" if visible < count else pluralize(count, "row")


# -- helpers ------------------------------------------------------------------------------------------------------------


def _lines(columns: list[Column]) -> list[str]:
    """Return the rows of a table as text, in which the last column has the rest of the width."""
    *others, last = columns
    indent = sum(column.width() + len(GAP) for column in others)
    rows = zip(*(column.padded() for column in others), last.broken(MAX_WIDTH - indent), strict=True)
    lines = ([GAP.join([*cells, first]), *(" " * indent + each for each in rest)] for *cells, (first, *rest) in rows)
    return [line.rstrip() for of_row in lines for line in of_row]


def _fitting(widths: list[int]) -> int:
    """Return the number of columns with these widths that are no wider than a page.

    >>> _fitting([40, 40, 40]), _fitting([200])
    (2, 1)
    """
    ends = list(accumulate(widths, lambda end, width: end + len(GAP) + width))
    return max(1, sum(end <= MAX_WIDTH for end in ends))


def _write_files(tables_dir: Path, name: str, frame: pd.DataFrame) -> str:
    """Write the files of a table, and return their name.

    It has a number if another table has this name.
    """
    tables_dir.mkdir(parents=True, exist_ok=True)
    rows = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None), rows, compression="zstd")
    numbered = (f"{name[: MAX_FILE_NAME - len(f'_{number}')]}_{number}" for number in count(2))
    for file_name in chain([name], numbered):
        path = tables_dir / f"{file_name}.parquet"
        if not path.exists() or path.read_bytes() == rows.getvalue():
            break
    path.write_bytes(rows.getvalue())
    with path.with_suffix(".csv").open("wb") as file:
        write_csv(frame, file)
    return file_name
