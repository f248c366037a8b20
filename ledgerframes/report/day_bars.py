"""Bars of the days of each row of a table, in one of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ledgerframes.analysis.figures import SHARE
from ledgerframes.report.cells import LEFT, Column, Units
from ledgerframes.statistics import printing
from ledgerframes.texts.control_characters import escape_html as escape

PERIOD, DAY = "period_start", pd.Timedelta(days=1)
MAX_DAYS = 31  # more bars are too narrow for a cell
MIN_REQUESTS = 20  # of a day, because a share of fewer is mostly chance
HEAD = f'<th scope="col" class="days"{LEFT}>by day<br><small>own scale</small></th>'


@dataclass(frozen=True)
class DayBars:
    """One column of a table on each day.

    Attributes
    ----------
    column : str
    keys : list of str
        Columns that name a row.
    days : DataFrame
        One row per day and row of the table, sorted by time, with `keys`, `column` and ``period_start``.
    units : dict
        Units of columns, by name and dtype.
    """

    column: str
    keys: list[str]
    days: pd.DataFrame
    units: Units

    def cells(self, rows: pd.DataFrame) -> list[str]:
        """Return the cells of rows as HTML, with the value of each day in a title."""
        values = Column(self.column, self._known(), self.units)
        columns = {"day": self.days[PERIOD], "text": values.texts_with_unit(), "number": values.numbers()}
        groups = dict(iter(pd.DataFrame(columns).groupby(_names_of(self.days, self.keys), sort=False)))
        return [_cell(groups.get(name)) for name in _names_of(rows, self.keys)]

    def _known(self) -> pd.Series:
        """Return the values, without shares of few requests."""
        values = self.days[self.column]
        if self.units.get((self.column, str(values.dtype))) != SHARE or "requests" not in self.days:
            return values
        return values.mask(self.days["requests"] < MIN_REQUESTS)


def _names_of(rows: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    """Return the names of rows, with an empty text for a missing one."""
    names = rows[list(keys)].astype("object").where(rows[list(keys)].notna(), "")
    return pd.Series([tuple(map(str, name)) for name in names.itertuples(index=False, name=None)], rows.index, dtype="object")


def _cell(days: pd.DataFrame | None) -> str:
    """Return the bars of one row, on a scale from 0 to its highest day."""
    known = None if days is None else days.dropna(subset="number").sort_values("number", kind="stable")
    if days is None or known is None or known.empty:
        return f"<td{LEFT}>{printing.MISSING}</td>"
    label = f"By day, from {known['text'].iloc[0]} to {known['text'].iloc[-1]}"
    heights = (100 * days["number"].fillna(0) / (known["number"].iloc[-1] or 1)).clip(lower=0)
    bars = "".join(map(_bar, days["day"], days["text"], heights))
    return f'<td{LEFT}><span class="cell-days" role="img" aria-label="{escape(label)}">{bars}</span></td>'


def _bar(day: pd.Timestamp, text: str, height: float) -> str:
    """Return the bar of a day, whose title a pointer reaches above the bar, too.

    >>> _bar(pd.Timestamp("2026-11-02"), "5 bytes", 40)
    '<span title="2026-11-02: 5 bytes"><span style="height:40%"></span></span>'
    """
    return f'<span title="{day:%Y-%m-%d}: {escape(text)}"><span style="height:{height:.0f}%"></span></span>'
