"""Plots of a report as SVG, wide and narrow, in the reader's light or dark colors."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any
from weakref import WeakSet

from matplotlib import pyplot, rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.dates import AutoDateLocator
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.text import Annotation
from matplotlib.ticker import LogLocator, MaxNLocator

from ledgerframes.gc_pause import pause_gc
from ledgerframes.plots.panels import arrange, shorten_names
from ledgerframes.plots.panels import height as panels_height
from ledgerframes.report.alt_texts import bar_containers, describe_drawn
from ledgerframes.report.marks import find_marks, locate_marks
from ledgerframes.report.picture_html import MARKS, NARROW_SVG, SVG, figure_caption
from ledgerframes.texts.control_characters import escape_html as escape
from ledgerframes.texts.short_names import (
    break_before_fingerprints,
    display_width,
    mark_right_to_left,
    number_repeated,
    without_middle,
)

NO_METADATA = ("Creator", "Date", "Format", "Type")  # all that matplotlib would write
SVG_DPI = 72
# Text stays text, which is small, sharp and searchable. With a salt and without a date, equal plots are equal files.
SVG_SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "ledgerframes"}
NO_LAYOUT: dict[Any, Any] = {"figure.autolayout": False, "figure.constrained_layout.use": False}
WIDE_WIDTH = 1120 / 96  # inches of the column of a page
NARROW_WIDTH = 3.9  # inches, 374 pixels
MIN_NARROW_HEIGHT = 3.0
NARROW_COLUMNS = 2  # of panels
MAX_PANEL_NAME = 20  # characters of a line of the name of a panel
LETTER, PADDING = 4.5, 8.0  # printer's points for a character, and around the texts at the ends of bars
LEGEND_ROW_HEIGHT = 0.2
LINE_HEIGHT, AROUND_ROWS = 0.16, 1.0  # inches of a line of the label of a row, and above and below all rows
MAX_LABEL = 22
MAX_SHARE = 0.85  # of the axis, for a text
DATE_HEIGHT = 11.0  # printer's points of the date to the right below an axis of times
MAX_CENTERED_LABEL = 30  # characters of the label of an axis that starts in the middle of a picture
# Characters that stay at the end of a shortened line, the first that keep all labels distinct: a kind of request ends with its
# choice.
KIND_ENDS = (14, 16, 12, 10)
COUNT = re.compile(r" +(\([^()]+\))$")  # at the end of a label, never shortened
MAX_COUNT = 26  # characters of it, in a separate line

# Colors of the style that are text, lines or paper, each with its name in the SVG and its color on a dark page.
INKS = {
    "#23272d": ("title", "#e4e6ea"),
    "#3c4148": ("text", "#c9cdd4"),
    "#8a8f98": ("axis", "#838a95"),
    "#dfe2e6": ("grid", "#343a42"),
    "#ffffff": ("paper", "#16191d"),
}
# Colors of data are the same on both, but for those that are too dark, or too light, for a dark page.
DARK_DATA = {"#8a3f6a": ("plum", "#a3527f"), "#f3e3ec": ("gap", "#3a2531")}
# Colors of the names of series, which are texts.
DARK_NAMES = {
    "#46769b": ("blue_text", "#6a9bc2"),
    "#976714": ("orange_text", "#cf9330"),
    "#6c717b": ("gray_text", "#989da6"),
    "#843c65": ("plum_text", "#c077a0"),
    "#377c6e": ("green_text", "#4b9b8c"),
}
COLORS = INKS | DARK_DATA | DARK_NAMES
LIGHT_STYLE = "".join(f"--{name}:{light};" for light, (name, _) in COLORS.items())
DARK_STYLE = "".join(f"--{name}:{dark};" for name, dark in COLORS.values())
STYLE = f"<style>:root{{{LIGHT_STYLE}}}@media (prefers-color-scheme:dark){{:root{{{DARK_STYLE}}}}}</style>"


def register_pictures(shell: Any) -> None:
    """Let each plot in a shell show itself as two pictures with a title and a text.

    As in a notebook, a plot that a cell neither displays nor closes is displayed at its end.
    """
    from IPython.display import display
    from matplotlib_inline.config import InlineBackend

    InlineBackend.instance(parent=shell).figure_formats = set()
    pyplot.switch_backend("module://matplotlib_inline.backend_inline")
    pyplot.uninstall_repl_displayhook()  # it would draw each plot once more after its cell, for a window that nobody sees
    formatters = shell.display_formatter
    displayed = WeakSet[Figure]()

    def draw(figure: Figure, **_: object) -> tuple[dict[str, str], dict[str, Any]]:
        displayed.add(figure)
        return draw_pictures(figure)

    def display_others() -> None:
        for figure in map(pyplot.figure, pyplot.get_fignums()):
            if figure not in displayed:
                display(figure)  # type: ignore[no-untyped-call]
        pyplot.close("all")

    shell.events.register("post_execute", display_others)
    formatters.mimebundle_formatter.for_type(Figure, draw)
    formatters.mimebundle_formatter.for_type(Axes, lambda ax, **_: draw(ax.figure.figure))  # also of a subfigure
    # A page has its own places for sentences, pictures and tables.
    display_formatter = formatters.ipython_display_formatter
    display_formatter.for_type_by_name("ledgerframes.report.answers", "Answer", lambda answer: answer.display_parts())


def draw_pictures(figure: Figure) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a plot as SVG for wide and narrow pages, with its text, title, note and marks.

    A plot that only says why it is empty is a sentence. The figure loses its title, which the page shows, and becomes narrow.
    """
    with pause_gc(), _fonts_found_once():
        return _draw(figure)


def draw_element(figure: Figure) -> tuple[str, str]:
    """Return a plot as HTML in the color of the text around, and its text.

    A plot that only says why it is empty is a sentence. The figure loses its title, which the HTML has.
    """
    with pause_gc(), _fonts_found_once():
        if message := _message(figure):
            return _note(message), " ".join(message)
        titles = [(ax, ax.get_title(loc="left")) for ax in figure.axes]
        title, note = _take_title(figure)
        svg, alt = _to_svg_element(figure), _describe(figure, titles)
    # A narrow page scrolls the picture, also by the keyboard.
    picture = f'<div class="picture" tabindex="0" role="img" aria-label="{escape(alt)}">{svg}</div>'
    return f"<figure>{figure_caption(title, note)}{picture}</figure>", alt


@contextmanager
def _fonts_found_once() -> Iterator[None]:
    """Let matplotlib find each font once."""
    # It would look for each family of each text again, which takes a fifth of the time.
    searches = {name: cache(getattr(fontManager, name)) for name in ("findfont", "_find_fonts_by_props")}
    vars(fontManager).update(searches)
    try:
        yield
    finally:
        for name in searches:
            del vars(fontManager)[name]


def _draw(figure: Figure) -> tuple[dict[str, str], dict[str, Any]]:
    if message := _message(figure):
        return {"text/html": _note(message)}, {}
    titles = [(ax, ax.get_title(loc="left")) for ax in figure.axes]
    title, note = _take_title(figure)
    figure.set_size_inches(WIDE_WIDTH, figure.get_size_inches()[1])
    wide = _to_svg(figure)
    alt, marks = _describe(figure, titles), find_marks(figure)
    located = {SVG: locate_marks(marks, figure)}
    _make_narrow(figure)
    narrow = _to_svg(figure)
    located[NARROW_SVG] = locate_marks(marks, figure)
    return {SVG: wide, NARROW_SVG: narrow}, {"alt": alt, "title": title, "note": note, MARKS: located}


def _describe(figure: Figure, titles: list[tuple[Axes, str]]) -> str:
    """Return the text of a figure that was drawn, with the titles that it had before."""
    for ax, title in titles:
        ax.set_title(title, loc="left")
    text = describe_drawn(figure)
    _take_title(figure)
    return text


def _message(figure: Figure) -> tuple[str, ...]:
    """Return the titles and the texts of axes without data, nothing if a plot shows more."""
    if any(ax.has_data() or ax.child_axes for ax in figure.axes):
        return ()
    titles = (f"{ax.get_title(loc='left')}." for ax in figure.axes if ax.get_title(loc="left"))
    texts = (text.get_text() for ax in figure.axes for text in ax.texts if text not in _notes(ax))
    title, reason = (" ".join(" ".join(parts).split()) for parts in (titles, texts))
    return (title, reason) if reason else ()


def _note(message: tuple[str, ...]) -> str:
    """Return the title of a plot without data and the reason as HTML."""
    title, reason = map(escape, message)
    return f'<p class="note"><strong>{title}</strong> {reason}</p>' if title else f'<p class="note">{reason}</p>'


def _take_title(figure: Figure) -> tuple[str, str]:
    """Return title and note of the only axes with a title, and remove them."""
    titles = [ax for ax in figure.axes if ax.get_title(loc="left")]
    if len(titles) != 1:
        return "", ""
    (ax,) = titles
    title, notes = ax.get_title(loc="left"), _notes(ax)
    ax.set_title("", loc="left")
    for note in notes:
        note.set_visible(False)
    texts = [" ".join(text.split()) for text in (title, *(note.get_text() for note in notes))]  # a page breaks lines itself
    return texts[0], " ".join(f"{text.rstrip('.')}." for text in texts[1:] if text)


def _notes(ax: Axes) -> list[Annotation]:
    return [text for text in ax.texts if isinstance(text, Annotation) and text.xycoords == "axes fraction"]


def _to_svg(figure: Figure) -> str:
    """Return a figure as transparent SVG with inks that follow the color scheme of the page."""
    return re.sub(r"(<svg [^>]*>)", rf"\1{STYLE}", _to_svg_element(figure), count=1)


def _to_svg_element(figure: Figure) -> str:
    """Return a figure as transparent SVG whose inks are variables."""
    figure.patch.set_alpha(0)
    for ax in figure.axes:
        ax.patch.set_alpha(0)
    file = io.StringIO()
    with rc_context(SVG_SETTINGS), laid_out(figure):
        figure.savefig(file, format="svg", metadata=dict.fromkeys(NO_METADATA))
    svg = re.sub("|".join(COLORS), lambda match: f"var(--{COLORS[match[0]][0]})", file.getvalue())
    return mark_right_to_left(svg[svg.index("<svg ") :])


@contextmanager
def laid_out(figure: Figure) -> Iterator[None]:
    """Lay out a figure for SVG, which has no layout in the block.

    To save a figure with a layout, matplotlib draws it twice. The first drawing serves the layout alone.
    """
    layout = figure.get_layout_engine()
    if layout is None:
        yield
        return
    canvas, dpi = figure.canvas, figure.dpi
    FigureCanvasSVG(figure)  # the canvas of the figure, so that texts have their width in SVG
    figure.dpi = SVG_DPI
    with suppress(ValueError):  # of a layout without room, which matplotlib ignores, too
        layout.execute(figure)
    figure.set_canvas(canvas)
    figure.dpi = dpi
    try:
        with rc_context(NO_LAYOUT):
            figure.set_layout_engine(None)
        yield
    finally:
        figure.set_layout_engine(layout)


# -- a narrow page ------------------------------------------------------------------------------------------------------


def _make_narrow(figure: Figure) -> None:
    """Give a figure the width of a phone, with short labels, few ticks and the legend below."""
    legends: list[Any] = [legend for ax in figure.axes if (legend := ax.get_legend())]
    rows = sum(len(legend.get_texts()) for legend in legends)
    height = max(MIN_NARROW_HEIGHT, figure.get_size_inches()[1]) + LEGEND_ROW_HEIGHT * rows
    height = max([height, *map(_arrange_panels, figure.axes), *map(_shorten_row_labels, figure.axes)])
    figure.set_size_inches(NARROW_WIDTH, height)
    for ax in figure.axes:
        _keep_label_inside(ax)
        _lower_label_of_times(ax)
        _reduce_ticks(ax)
        _widen_for_bar_labels(ax)
        _hide_cell_texts(ax)
    for legend in legends:
        _move_below(figure, legend)


def _arrange_panels(ax: Axes) -> float:
    """Place the panels of axes in fewer columns with short names, and return their height."""
    columns = min(NARROW_COLUMNS, len(ax.child_axes)) or 1
    arrange(ax, columns)
    shorten_names(ax, MAX_PANEL_NAME)
    return panels_height(ax, columns)


def _move_below(figure: Figure, legend: Any) -> None:
    """Replace a legend by one of the figure, below the axes."""
    texts = legend.get_texts()
    figure.legend(
        legend.legend_handles,
        [text.get_text() for text in texts],
        loc="outside lower left",
        frameon=False,
        labelcolor=[text.get_color() for text in texts],
    )
    legend.remove()


def _shorten_row_labels(ax: Axes) -> float:
    """Shorten the labels of rows, and return the height that all their lines need, in inches."""
    labels = [label.get_text() for label in ax.get_yticklabels()]
    if not any(display_width(line) > MAX_LABEL for label in labels for line in label.split("\n")):
        return 0.0
    shortened = _shorten(labels)
    ax.set_yticks(ax.get_yticks(), labels=shortened)
    return AROUND_ROWS + LINE_HEIGHT * len(labels) * max(label.count("\n") + 1 for label in shortened)


def _shorten(labels: list[str]) -> list[str]:
    r"""Shorten the lines of labels in their middle, so that different labels stay different.

    >>> _shorten(["Splice.DsoRules.DsoRules_ConfirmAction", "Splice.DsoRules.DsoRules_ExecuteConfirmedAction"])
    ['Splice.…_ConfirmAction', 'Splice.…onfirmedAction']
    >>> _shorten(["alder-validator-1::1220d8…bf95 (1,269)"])
    ['alder-validator-1::\n1220d8…bf95 (1,269)']
    >>> _shorten(["not visible (rejected or private)", "mulberry-notes::1220e1…3190  (× 0.57 to 3)"])
    ['not visible\n(rejected or private)', 'mulberry-notes::\n1220e1…3190\n(× 0.57 to 3)']
    """
    labels = shortened = [_break(break_before_fingerprints(label)) for label in labels]
    for end in KIND_ENDS:
        shortened = ["\n".join(_shorten_line(line, end) for line in label.split("\n")) for label in labels]
        if len(set(shortened)) == len(set(labels)):
            break
    return number_repeated(shortened)


def _break(label: str) -> str:
    """Return a label whose last line, if it is too long, has its count below it."""
    match = COUNT.search(label)
    is_short = display_width(label.rpartition("\n")[2]) <= MAX_LABEL
    return label if is_short or match is None or len(match[1]) > MAX_COUNT else f"{label[: match.start()]}\n{match[1]}"


def _shorten_line(line: str, end: int) -> str:
    is_count = line[:1] in "(0123456789" and len(line) <= MAX_COUNT
    return line if is_count else without_middle(line, MAX_LABEL, end)


def _keep_label_inside(ax: Axes) -> None:
    """End a long label below the end of its axis, as its middle is right of the picture's."""
    if len(ax.get_xlabel()) > MAX_CENTERED_LABEL and ax.xaxis.label.get_horizontalalignment() == "center":
        ax.set_xlabel(ax.get_xlabel(), loc="right")


def _lower_label_of_times(ax: Axes) -> None:
    """Move the label of an axis of times below its date, as one line is too short for both."""
    if isinstance(ax.xaxis.get_major_locator(), AutoDateLocator):
        ax.xaxis.labelpad += DATE_HEIGHT


def _reduce_ticks(ax: Axes) -> None:
    """Reduce the ticks of times and numbers, not those of categories."""
    locator = ax.xaxis.get_major_locator()
    if isinstance(locator, AutoDateLocator):
        locator.minticks, locator.maxticks = 2, dict.fromkeys(locator.maxticks, 5)
    elif isinstance(locator, MaxNLocator):
        locator.set_params(nbins=4)  # the numbers that are measured next
        locator.set_params(nbins=_tick_count(ax))
    elif isinstance(locator, LogLocator):
        locator.set_params(subs=(1.0,), numticks=4)


def _tick_count(ax: Axes) -> int:
    """Return how many of the texts below a narrow axis stand next to each other, at most 4."""
    labels = ax.xaxis.get_major_formatter().format_ticks(list(ax.get_xticks()))
    names = [line for label in ax.get_yticklabels() for line in label.get_text().split("\n")]
    width = NARROW_WIDTH * 72 - LETTER * max(map(display_width, names), default=0) - 2 * PADDING
    return min(4, max(1, int(width / (LETTER * max(map(len, labels), default=1) + PADDING))))


def _widen_for_bar_labels(ax: Axes) -> None:
    """Lengthen the axis of bars for their texts, all of which stand on the right."""
    notes = _notes(ax)
    texts = [text for text in ax.texts if isinstance(text, Annotation) and text not in notes]
    if not texts or not any(bars.orientation == "horizontal" for bars in bar_containers(ax)):
        return
    longest = max((display_width(line) for label in ax.get_yticklabels() for line in label.get_text().split("\n")), default=0)
    width = NARROW_WIDTH * 72 - longest * LETTER - 2 * PADDING
    left, right = ax.get_xlim()
    for text in texts:
        if text.get_horizontalalignment() == "right":  # of a bar to the left of 0, where the names of rows are
            text.xy, text.xyann = (0.0, text.xy[1]), (-text.xyann[0], text.xyann[1])
            text.set_horizontalalignment("left")
        share = min((len(text.get_text()) * LETTER + PADDING) / width, MAX_SHARE)
        right = max(right, left + (float(text.xy[0]) - left) / (1 - share))
    ax.set_xlim(left, right)


def _hide_cell_texts(ax: Axes) -> None:
    """Hide the numbers in the cells of an image, which would overlap."""
    for text in ax.texts if ax.images else ():
        text.set_visible(False)
