"""One call that shows a result as an answer, in notebooks and reports alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ledgerframes.analysis import FIGURES, Figure
from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.groups import is_measured, is_true
from ledgerframes.analysis.labels import with_names
from ledgerframes.analysis.result_frame import COVERAGE, FINAL, NAME, ROWS
from ledgerframes.errors import UsageError
from ledgerframes.frames.conditions import require_list
from ledgerframes.plots import PICTURES, RANKINGS
from ledgerframes.plots.checks import check_result, has_gaps, require_no_index, with_times_in_utc
from ledgerframes.report.cells import units_of
from ledgerframes.report.day_bars import DAY, MAX_DAYS, PERIOD, DayBars
from ledgerframes.report.order import describe_order
from ledgerframes.report.tables import TableOutput, TextOutput, show_table
from ledgerframes.statistics import printing
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.control_characters import escape_html as escape
from ledgerframes.texts.representation import pluralize
from ledgerframes.texts.short_names import shorten_fingerprints
from ledgerframes.values import decimals
from ledgerframes.values.checks import require_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

STYLE = (Path(__file__).parent / "templates" / "answer.css").read_text(encoding="utf-8")
NETWORK, PACKAGE, DIFFERS, IS_WITHIN = "network", "package_name", "differs", "is_within"
CURRENCY = "currency_code"
CHOSEN = "Of the requests chosen: "
PERIOD_KEYS = {"period_start", "round_number"}
ADVICE = "Pass the result of an analysis to lf.show, such as that of lf.cost.spend(frames)"


def show(
    result: pd.DataFrame | Axes,
    *,
    columns: Sequence[str] | None = None,
    max_rows: int = 15,
    name: str | None = None,
    picture: bool = True,
    days: pd.DataFrame | None = None,
) -> Answer:
    """Show a result as an answer, which is a sentence, a picture and a table.

    In a notebook, it has the colors of the theme. Names that differ from others by more than chance come first in the table.

    Parameters
    ----------
    result : DataFrame or Axes
        The result of an analysis, or some of its rows or columns. For some rows, the sentence gives only their number,
        because shares refer to the whole result. For a plot, the answer is the picture alone.
    columns : sequence of str, optional
        Columns of the table. The first column of numbers has bars (default: those that the analysis declares, or all columns
        if some were chosen from the result).
    max_rows : int, optional
        Rows of the table that are visible at first (default: 15).
    name : str, optional
        Name of the files in a report, and of the table if it has only some rows of the result (default: analysis and groups,
        such as ``cost_spend_by_participant``).
    picture : bool, optional
        Whether to draw the plot of the analysis, if there is one (default: True). A plot needs all columns, at least two
        rows, and no gap between its periods.
    days : DataFrame, optional
        Result of the same analysis by day (``every="1d"``). The days of each row are bars in a column of the table, if there
        are 2 to 31 of them (default: no bars of days).

    Returns
    -------
    Answer
        Shows itself as the last value of a cell, and as text with :func:`print`.

    Raises
    ------
    UsageError
        If `result` is not the result of an analysis or does not have these columns, `columns` is not a list, `max_rows` is
        not a whole number, or `days` is not the result of the same analysis by day.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> participants = lf.cost.spend(frames, by="participant")
    >>> answer = lf.show(participants, columns=["total_traffic_cost", "requests"], max_rows=2)
    >>> answer.statement.partition(".")[0]
    '28 participants submitted requests'
    """
    if not isinstance(result, pd.DataFrame):
        drawing = _drawing_of(result)
        return Answer("", None, lambda: drawing)
    figure = _figure_of(result)
    require_no_index(result, ADVICE)
    _require_shares(result)
    result = with_names(result)
    result = with_times_in_utc(result, figure, ADVICE)
    require_list(columns)
    max_rows = require_integer("max_rows", max_rows, 1)
    keys = _keys(result, figure)
    names = [*keys, *(_columns(result, figure, keys) if columns is None else columns)]
    rows = require_columns(_in_order(result, keys), names, ADVICE)[list(dict.fromkeys(names))]
    default = _name_of(figure, keys)
    is_named = bool(name) and not _has_all_rows(result)  # some rows are what their name says
    numbers = [each for each in rows.columns if each not in keys and is_measured(rows[each])] if len(rows) > 1 else []
    order = _order_of(rows, result, keys, numbers)
    caption = None if is_named or not figure.caption else f"{_caption(figure, default)}{order}"
    table = show_table(name or default, result, max_rows=max_rows, display=rows, caption=caption)
    grouping = _grouping_of(result, figure)
    bars = next(iter(numbers), "")
    by_day = None if days is None else _days_of(days, figure, [*keys, bars])
    draw = PICTURES.get(figure.name) if picture and grouping and _is_drawable(result) else None
    return Answer(
        statement=escape_control(_statement(result, figure, *grouping)) if grouping else "",
        table=replace(
            table,
            bars=bars,
            has_rest=True,
            group=_group(keys),
            days=by_day,
            condition=figure.condition,
            sums=_sums(result, rows, figure),
        ),
        draw=None if draw is None else lambda: _close(draw(result)),
        is_ranking=figure.name in RANKINGS and grouping is not None and not grouping[1],
    )


def show_text(text: str) -> Answer:
    """Show a text with computed values, without markup.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> show_text(f"{2000:,} of {5000:,} requests were rejected.")
    2,000 of 5,000 requests were rejected.
    """
    return Answer(escape_control(text), None, None)


@dataclass(frozen=True, repr=False)
class Answer:
    """A sentence, a picture and a table of one result.

    Attributes
    ----------
    statement : str
        What the result says. Empty if the analysis declares no sentence.
    table : TableOutput, optional
    draw : callable, optional
        Function that draws the picture.
    is_ranking : bool, optional
        Whether the picture has a bar per row, as the table has, too (default: False).
    """

    statement: str
    table: TableOutput | None
    draw: Callable[[], Drawing] | None
    is_ranking: bool = False

    @property
    def alt(self) -> str:
        """A text for readers who see neither picture nor table."""
        return " ".join(filter(None, [shorten_fingerprints(self.statement), self._picture[1]])) or (
            f"{self.table.caption}." if self.table else ""
        )

    def __repr__(self) -> str:
        rest = repr(self.table) if self.table else self._picture[1]
        return "\n\n".join(filter(None, [shorten_fingerprints(self.statement), rest]))

    def _repr_html_(self) -> str:
        statement = TextOutput(self.statement)._repr_html_() if self.statement else ""
        table = _region(self.table) if self.table else ""
        return f'<div class="lf-answer"><style>{STYLE}</style>{statement}{self._picture[0]}{table}</div>'

    @cached_property
    def _picture(self) -> tuple[str, str]:
        """The picture as HTML, and its text. Both are empty without a picture."""
        if self.draw is None:
            return "", ""
        from ledgerframes.report.pictures import draw_element

        return draw_element(self.draw())

    def display_parts(self) -> None:
        """Display sentence, picture and table separately, for the page of a report.

        A page does not show the same bars twice: those of a ranking are in its table.
        """
        from IPython import display

        show_part: Callable[[object], None] = display.display
        if self.statement:
            show_part(TextOutput(self.statement))
        if self.draw is not None and not self.is_ranking:
            show_part(self.draw())
        if self.table is not None:
            show_part(self.table)


# -- helpers ------------------------------------------------------------------------------------------------------------


def _drawing_of(result: object) -> Drawing:
    """Return the drawing of a plot, or raise a UsageError for neither plot nor result."""
    axes = sys.modules.get("matplotlib.axes")  # without an import, nothing is a plot
    if axes is None or not isinstance(result, axes.Axes):
        raise UsageError(f"{ADVICE}, got {type(result).__name__}.")
    return _close(result)


def _close(ax: Axes) -> Drawing:
    """Return the drawing of a plot, which a notebook then does not show again."""
    from matplotlib import pyplot

    drawing: Any = ax.figure
    pyplot.close(drawing)
    return drawing  # type: ignore[no-any-return]


def _region(table: TableOutput) -> str:
    """Return a table that the keyboard can scroll if it is wider than the page."""
    return f'<div class="table" tabindex="0" role="group" aria-label="{escape(table.caption)}">{table._repr_html_()}</div>'


def _figure_of(result: pd.DataFrame) -> Figure:
    """Return the figure that a result belongs to."""
    name = result.attrs.get(NAME)
    if name not in FIGURES:
        step = "lf.plot(result, picture=) draws rows of several results."
        raise UsageError(f"{ADVICE}, got a DataFrame without its figure, such as a merge. {step}")
    return FIGURES[name]


def _require_shares(result: pd.DataFrame) -> None:
    """Raise a UsageError for sums of rows, because sums of shares mean nothing."""
    sums = [name for name in (COVERAGE, "coverage_time") if name in result and result[name].max() > 1]
    if sums:
        raise UsageError(f"{ADVICE}, got sums of its column {sums[0]}, which is a share. Pass the rows, or print the sums.")


def _days_of(days: pd.DataFrame, figure: Figure, names: list[str]) -> DayBars | None:
    """Return the bars of the days of these columns, of which the last has the values.

    They are None with too few or too many days, or without numbers.
    """
    *keys, column = names
    is_of_rows = days.attrs.get(NAME) == figure.name and {*keys, PERIOD, "period_end"} <= {*days.columns}
    if not is_of_rows or (days["period_end"] - days[PERIOD] != DAY).any():
        raise UsageError('days= must be the result of the same analysis and groups with every="1d".')
    count = days[PERIOD].nunique()
    if not column or not keys or not 2 <= count <= MAX_DAYS:
        return None
    return DayBars(column, keys, with_names(days), units_of(days))


def _columns(result: pd.DataFrame, figure: Figure, keys: list[str]) -> list[str]:
    """Return the declared columns of the table, or all if columns were chosen before."""
    if not _has_all_columns(result, figure):
        return [str(name) for name in result.columns]
    tail = {column.name for column in figure.tail}
    others = [str(name) for name in result.columns if name not in tail and name not in keys]
    declared = [each for each in figure.main_columns or others if result[each].notna().any() or result.empty]
    return [*declared, *([COVERAGE] if result[COVERAGE].min() < 1 else [])]


def _keys(result: pd.DataFrame, figure: Figure) -> list[str]:
    """Return the columns that name a row.

    They include networks if there are several, and packages only if a row needs them.
    """
    keys = [str(name) for name in result.columns if name in figure.key_names]
    others = [name for name in keys if name != PACKAGE]
    if NETWORK in result and result[NETWORK].nunique() > 1:
        return [NETWORK, *keys]
    return others if others and not result.duplicated(others).any() else keys


def _in_order(result: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the rows in their order, but those that differ or exceed their limit first."""
    if IS_WITHIN in result:
        return result.sort_values(IS_WITHIN, key=lambda within: within.fillna(True).astype(bool), kind="stable")
    if DIFFERS not in result or not keys or any(not pd.api.types.is_string_dtype(result[name]) for name in keys):
        return result
    return result.sort_values(DIFFERS, key=lambda differs: ~is_true(differs), kind="stable")


def _order_of(rows: pd.DataFrame, result: pd.DataFrame, keys: list[str], numbers: list[str]) -> str:
    """Return the order of groups, which a caption says."""
    if not keys or any(not pd.api.types.is_string_dtype(result[name]) for name in keys):
        return ""
    has_differing = DIFFERS in result and bool(is_true(result[DIFFERS]).any())
    return describe_order(rows, rows[numbers[0]] if numbers else None, has_differing=has_differing)


def _caption(figure: Figure, name: str) -> str:
    """Return the caption of a figure, with the groups of the default name in words."""
    groups = name.removeprefix(figure.name.replace(".", "_")).replace("_", " ")
    return f"{figure.caption}{groups}"


def _sums(result: pd.DataFrame, rows: pd.DataFrame, figure: Figure) -> pd.DataFrame | None:
    """Return the sums of the columns whose rows add up.

    They are None for one row, for rows of several units, and without a known value.
    """
    is_mixed = any(name in result and result[name].nunique() > 1 for name in (NETWORK, CURRENCY))
    names = [name for name in figure.added_up if name in rows and rows[name].notna().any()]
    if len(rows) < 2 or is_mixed or not names or rows.columns[0] in names:  # a row of sums begins with what it sums up
        return None
    return pd.DataFrame({name: pd.Series([decimals.total(rows[name].dropna())], dtype=rows[name].dtype) for name in names})


def _group(keys: list[str]) -> str:
    """Return the only column that names a group, or empty if there is not exactly one."""
    names = [name for name in keys if name not in PERIOD_KEYS]
    return names[0] if len(names) == 1 else ""


def _statement(result: pd.DataFrame, figure: Figure, by: str | None, is_over_time: bool) -> str:
    """Return what a result says, and about which requests or rows. Without rows, it is empty."""
    if figure.answer is None or (result.empty and not _has_all_rows(result)):
        return ""
    text = figure.answer(result) if by is None or not is_over_time or figure.answers_over_time else ""
    if text and not _has_all_rows(result):  # some of its shares refer to these rows, and others to all
        return _describe_some(result)
    note = CHOSEN if result["population"].eq("chosen").any() else ""
    return text and "".join([note, text, _note_of_final(result)])


def _describe_some(result: pd.DataFrame) -> str:
    """Return how many rows of a result these are, or an empty text if that is unknown."""
    number = result.attrs.get(ROWS, 0)
    return f"{len(result):,} of {pluralize(number, 'row')} of the result." if len(result) < number else ""


def _note_of_final(result: pd.DataFrame) -> str:
    """Return how much of the window is final, or an empty text if all of it is."""
    share = result.attrs.get(FINAL)
    return "" if share is None else f" Of the window, {printing.share(share)} is final."


def _grouping_of(result: pd.DataFrame, figure: Figure) -> tuple[str | None, bool] | None:
    """Return the grouping of a result, and whether it is over time.

    It is None for rows of several results, and for some of the columns.
    """
    try:
        by, has_periods, has_rounds = check_result(result, figure.name)
    except UsageError:
        return None
    return by, has_periods or has_rounds


def _has_all_rows(result: pd.DataFrame) -> bool:
    return len(result) == result.attrs.get(ROWS, len(result)) and {*result.index} == {*range(len(result))}


def _has_all_columns(result: pd.DataFrame, figure: Figure) -> bool:
    return {column.name for column in (*figure.columns, *figure.tail)} <= set(result.columns)


def _is_drawable(result: pd.DataFrame) -> bool:
    has_all_periods = PERIOD not in result or not has_gaps(result)
    return len(result) > 1 and has_all_periods and find_spec("matplotlib") is not None


def _name_of(figure: Figure, keys: list[str]) -> str:
    """Return a name for the files of a result, from its analysis and its groups."""
    groups = {*keys} - PERIOD_KEYS
    by = next(
        (f"by_{by}" for by, each in figure.by.items() if groups and groups - {PACKAGE} == {*each.key_names} - {PACKAGE}), ""
    )
    periods = "over_time" if PERIOD_KEYS.intersection(keys) else ""
    return "_".join(filter(None, [*figure.name.split("."), by, periods]))
