"""Names at the ends of lines and areas, instead of a legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

# A color of the style for texts, where it is dark enough on white. Pages have lighter ones for dark paper.
TEXT_COLORS = {"#4f86b0": "#46769b", "#c08319": "#976714", "#8b9099": "#6c717b", "#8a3f6a": "#843c65", "#3b8576": "#377c6e"}
INK = "#3c4148"  # of the texts of the style
MAX_SHARE = 0.28  # of the width of a figure, for the names to the right of its axes
LINE_HEIGHT = 1.3 * c.NOTE_SIZE  # printer's points
ROW_HEIGHT = 0.35  # half of a bar, in rows
CONNECTION = 9  # printer's points between the axes and a name, for a line from the end of the series
GAP = 2  # printer's points between a line and its name
SERIES_NAME = "_name"  # label of a text that names a part of the first bar


class End(NamedTuple):
    """The end of a line or an area, with its color."""

    name: str
    height: float
    mean_height: float  # of the whole series, which decides between two that end at one height
    color: Any


def label_ends(ax: Axes, series: Sequence[Artist] = ()) -> None:
    """Write the name of each line and area at its end, to the right of the axes.

    With `series`, only some of them have names.
    """
    ends = [_end(each, str(each.get_label())) for each in series or ax.get_legend_handles_labels()[0]]
    if not ends:
        return
    if ax.figure.get_layout_engine() is None:
        _make_narrower(ax, max(len(end.name) for end in ends))
    ax.add_artist(_end_labels()(ax, sorted(ends, key=lambda end: (end.height, end.mean_height))))


def _make_narrower(ax: Axes, letters: int) -> None:
    """Make axes narrower for names with so many letters, as a layout would.

    Axes that share their times stay as wide as these.
    """
    siblings = ax.get_shared_x_axes().get_siblings(ax)
    if any(each.artists for each in siblings):  # already narrower
        return
    width = ax.figure.bbox.width * 72 / ax.figure.dpi
    change = (CONNECTION + GAP) / width + min(letters * c.NOTE_SIZE * c.LETTER_WIDTH / width, MAX_SHARE)
    for each in siblings:
        box = each.get_position()
        each.set_position((box.x0, box.y0, box.width - change, box.height))


def label_parts(ax: Axes, starts: Sequence[float], names: Sequence[str], colors: Sequence[Any]) -> None:
    """Write the names of the parts of the first bar above it, each in its own line."""
    top = -ROW_HEIGHT
    for number, (start, name, color) in enumerate(zip(starts, names, colors, strict=True)):
        line = {"arrowstyle": "-", "color": color, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0)}
        rise = 3 + LINE_HEIGHT * number
        style: dict[str, Any] = {"color": text_color(ax, color), "arrowprops": line, "label": SERIES_NAME}
        c.label_point(ax, name, (start, top), rise, **style)


def text_color(ax: Axes, color: Any) -> str:
    """Return a color for the text of a series, that of all texts on axes of the user."""
    from matplotlib.colors import to_hex

    ink = to_hex(c.text_color(ax))
    return TEXT_COLORS.get(to_hex(color), ink) if ink == INK else ink


def _end(artist: Any, name: str) -> End:
    """Return the end of a line, of steps or of an area between two lines.

    A series without a known value is named as unknown, at 0.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

    if isinstance(artist, Line2D):
        heights, color = np.asarray(artist.get_ydata(), dtype=np.float64), artist.get_color()
    elif isinstance(artist, StepPatch):
        values, _, baseline = artist.get_data()
        heights = values if baseline is None else (values + baseline) / 2
        color = artist.get_facecolor() if artist.get_fill() else artist.get_edgecolor()
    else:
        points = np.concatenate([np.empty((0, 2)), *(path.vertices for path in artist.get_paths())])
        rows = np.unique(points[:, 0], return_inverse=True)[1]
        heights = np.bincount(rows, points[:, 1]) / np.bincount(rows)
        color = artist.get_edgecolor()[0]
    known = heights[np.isfinite(heights)]
    color = color[:3] if isinstance(color, tuple | np.ndarray) else color
    if not len(known):
        return End(f"{name}, unknown", 0.0, 0.0, color)
    return End(name, float(known[-1]), float(known.mean()), color)


@cache
def _end_labels() -> Callable[[Axes, Sequence[End]], Artist]:
    """Return the class of the names to the right of axes, which needs matplotlib.

    Names keep their distance at any size of the axes, which have their size only when they are drawn. They are no texts of
    the axes, because these are notes or stand at values.
    """
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    class EndLabels(Artist):
        def __init__(self, ax: Axes, ends: Sequence[End]) -> None:
            super().__init__()
            self.set_clip_on(False)
            self.ends = ends
            self.texts = [Text(color=text_color(ax, end.color), fontsize=c.NOTE_SIZE, va="center") for end in ends]
            self.lines = [Line2D([], [], color=end.color, linewidth=1.2) for end in ends]
            for child in self.get_children():
                child.axes = ax
                child.set_figure(ax.figure)

        def get_children(self) -> list[Artist]:
            return [*self.lines, *self.texts]

        def draw(self, renderer: RendererBase) -> None:
            self._move_names(renderer)
            for child in self.get_children():
                child.draw(renderer)
            self.stale = False

        def get_window_extent(self, renderer: RendererBase | None = None) -> Bbox:
            self._move_names(cast("RendererBase", renderer))  # which all callers pass
            return Bbox.union([text.get_window_extent(renderer) for text in self.texts])

        def get_tightbbox(self, renderer: RendererBase | None = None) -> Bbox:
            return self.get_window_extent(renderer)

        def _move_names(self, renderer: RendererBase) -> None:
            ax, point = cast("Axes", self.axes), cast("float", renderer.points_to_pixels(1))
            _set_names(self.texts, self.ends, ax.figure.bbox.width / point)
            heights = np.array([ax.transData.transform((0, end.height))[1] for end in self.ends], dtype=np.float64)
            heights = np.clip(heights, ax.bbox.y0, ax.bbox.y1)
            sizes = [(text.get_text().count("\n") + 1) * LINE_HEIGHT * point for text in self.texts]
            centers = spread(heights.tolist(), sizes, ax.bbox.y0, ax.bbox.y1)
            for text, line, height, center in zip(self.texts, self.lines, heights, centers, strict=True):
                line.set_data([ax.bbox.x1, ax.bbox.x1 + CONNECTION * point], [height, center])
                text.set_position((ax.bbox.x1 + (CONNECTION + GAP) * point, center))

    return EndLabels


def _set_names(texts: Sequence[Text], ends: Sequence[End], width: float) -> None:
    """Break or shorten names that are too long for a figure of this width in printer's points."""
    letters = int(width * MAX_SHARE / c.NOTE_SIZE / c.LETTER_WIDTH)
    names = [fill(end.name, letters, break_long_words=False, break_on_hyphens=False) for end in ends]
    if any(len(line) > letters for name in names for line in name.split("\n")):
        names = r.number_repeated(r.shorten([end.name for end in ends], letters))
    for text, name in zip(texts, names, strict=True):
        text.set_text(name)


def spread(centers: Sequence[float], sizes: Sequence[float], low: float, high: float) -> list[float]:
    """Return the centers of texts of some sizes, moved so far that none overlaps the next one.

    >>> spread([0, 1, 50], [10, 10, 10], 0, 100), spread([95, 99], [10, 10], 0, 100)
    ([5.0, 15.0, 50], [85.0, 95.0])
    """
    moved, end = [], low
    for center, size in zip(centers, sizes, strict=True):
        moved.append(max(center, end + size / 2))
        end = moved[-1] + size / 2
    end = high
    for number in reversed(range(len(moved))):
        moved[number] = min(moved[number], end - sizes[number] / 2)
        end = moved[number] - sizes[number] / 2
    return moved
