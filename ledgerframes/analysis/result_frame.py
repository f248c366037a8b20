"""The DataFrame of a result, whose text has the columns to read first."""

from __future__ import annotations

import shutil
import textwrap

import pandas as pd

from ledgerframes.analysis.groups import is_measured
from ledgerframes.texts.control_characters import escape_control

# In ``attrs`` of a result: the name of its figure, the number of its rows, the columns to read first, and the final share of a
# window that is not all final.
NAME, ROWS, FIRST, FINAL = "figure", "rows", "first", "final"
WINDOW = "window"  # in ``attrs`` of events that are drawn over time: the edges of their window, in microseconds since 1970
COVERAGE = "coverage"
MAX_TEXTS = (24, 16, 10)  # characters of a value, because an id would fill the line, fewer where no number would fit
DEFAULT_HEIGHT = 24  # of a terminal


class ResultFrame(pd.DataFrame):
    """A result of an analysis.

    It is a DataFrame in all respects but one: where not all columns fit into a line, :func:`print` shows those to read first
    and ``coverage``, and names the others below.
    """

    @property
    def _constructor(self) -> type[ResultFrame]:
        """The type of selected or sorted rows, for pandas."""
        return ResultFrame

    def __repr__(self) -> str:
        first = [name for name in self.attrs.get(FIRST, ()) if name in self]
        if self.empty or COVERAGE not in first:
            return repr(pd.DataFrame(self))
        width = shutil.get_terminal_size((pd.get_option("display.width") or 80, DEFAULT_HEIGHT)).columns
        if _width(self, list(self.columns)) <= width:
            return _text(self, list(self.columns))
        names, max_text = _fitting(self, first, width)
        others = [str(name) for name in self.columns if name not in names]
        note = f"[{len(self):,} rows x {len(self.columns)} columns. Not shown: {', '.join(others)}]"
        return f"{_text(self, names, max_text)}\n\n{textwrap.fill(note, width)}"


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
