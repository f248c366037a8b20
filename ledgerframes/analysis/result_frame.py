"""The DataFrame of a result, whose text has the columns to read first."""

from __future__ import annotations

import shutil
import textwrap

import pandas as pd

from ledgerframes.analysis.groups import is_measured
from ledgerframes.texts.control_characters import escape_control, escape_html

# In ``attrs`` of a result: the name of its figure, the number of its rows, the columns to read first, and the final share of a
# window that is not all final.
NAME, ROWS, FIRST, FINAL = "figure", "rows", "first", "final"
WINDOW = "window"  # in ``attrs`` of events that are drawn over time: the edges of their window, in microseconds since 1970
SUMMARY = "sentence"  # in ``attrs`` of a result: what it says in words, also without a row
COVERAGE = "coverage"
MAX_TEXTS = (24, 16, 10)  # characters of a value, because an id would fill the line, fewer where no number would fit
DEFAULT_HEIGHT = 24  # of a terminal


class ResultFrame(pd.DataFrame):
    """A result of an analysis.

    It is a DataFrame in all respects but two. Where not all columns fit into a line, :func:`print` shows those to read first
    and ``coverage``, and names the others below. Without a row, the sentence of the result is printed, if it has one: it says
    whether nothing was found or nothing could be compared.
    """

    @property
    def _constructor(self) -> type[ResultFrame]:
        """The type of selected or sorted rows, for pandas."""
        return ResultFrame

    def __repr__(self) -> str:
        if self._summary:
            size = f"[{len(self):,} rows x {len(self.columns)} columns]"
            return escape_control(f"{textwrap.fill(self._summary, _terminal_width())}\n\n{size}")
        first = [name for name in self.attrs.get(FIRST, ()) if name in self]
        if self.empty or COVERAGE not in first:
            return repr(pd.DataFrame(self))
        width = _terminal_width()
        if _width(self, list(self.columns)) <= width:
            return _text(self, list(self.columns))
        names, max_text = _fitting(self, first, width)
        others = [str(name) for name in self.columns if name not in names]
        note = f"[{len(self):,} rows x {len(self.columns)} columns. Not shown: {', '.join(others)}]"
        return f"{_text(self, names, max_text)}\n\n{textwrap.fill(note, width)}"

    def _repr_html_(self) -> str | None:
        """Return the table for a notebook, below its sentence if it has no row."""
        table: str | None = pd.DataFrame(self)._repr_html_()  # type: ignore[operator]
        return f"<p>{escape_html(self._summary)}</p>\n{table}" if self._summary and table else table

    @property
    def _summary(self) -> str:
        """The sentence of a result without rows, empty for other results and for selected rows."""
        return str(self.attrs.get(SUMMARY, "")) if self.attrs.get(ROWS) == 0 else ""


def _terminal_width() -> int:
    return shutil.get_terminal_size((pd.get_option("display.width") or 80, DEFAULT_HEIGHT)).columns


def _fitting(frame: pd.DataFrame, first: list[str], width: int) -> tuple[list[str], int]:
    """Return the columns to read first that fit, and the length of their texts.

    The coverage is the last of them. Texts are shortened rather than that no number is among them.
    """
    main = {name for name in first if is_measured(frame[name]) and name != COVERAGE}
    for max_text in MAX_TEXTS:
        names = [name for name in first if name != COVERAGE]
        while len(names) > 1 and _width(frame, [*names, COVERAGE], max_text) > width:
            names.pop()
        if not main or not main.isdisjoint(names):
            break
    return [*names, COVERAGE], max_text


def _width(frame: pd.DataFrame, names: list[str], max_text: int = MAX_TEXTS[0]) -> int:
    return len(_text(frame, names, max_text).partition("\n")[0])


def _text(frame: pd.DataFrame, names: list[str], max_text: int = MAX_TEXTS[0]) -> str:
    """Return the columns as text, with as many rows as pandas prints."""
    rows = {f"{limit}_rows": pd.get_option(f"display.{limit}_rows") for limit in ("max", "min")}
    return escape_control(frame[names].to_string(**rows, max_colwidth=max_text))
