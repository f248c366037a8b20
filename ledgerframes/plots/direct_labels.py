"""Names at the ends of lines and areas, instead of a legend.

A name stands to the right of the axes. That of a series that ends early stands within them, next to this end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.texts.short_names import display_width, number_repeated

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.lines import Line2D
    from matplotlib.path import Path
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox, Transform

# A color of the style for texts, where it is dark enough on white. Pages have lighter ones for dark paper.
TEXT_COLORS = {"#4f86b0": "#46769b", "#c08319": "#976714", "#8b9099": "#6c717b", "#8a3f6a": "#843c65", "#3b8576": "#377c6e"}
INK = "#3c4148"  # of the texts of the style
MAX_SHARE = 0.28  # of the width of a figure, for the names to the right of its axes
LINE_HEIGHT = 1.3 * c.NOTE_SIZE  # printer's points
ROW_HEIGHT = 0.35  # half of a bar, in rows
CONNECTION = 9  # printer's points between the axes and a name, for a line from the end of the series
GAP = 2  # printer's points between a line and its name
OVER_MARKS = 2.5  # of names and of the lines to them, which an area would hide
EARLY_SHARE = 0.1  # of the width of axes, between their end and that of a series that ends early
CONNECTOR: Any = {"linewidth": 1.2, "linestyle": "-"}
LEADER: Any = {"linewidth": 0.8, "linestyle": ":"}  # from the end of a series to a name at the edge of the axes
SERIES_NAME = "_name"  # label of a text that names a part of the first bar
Values = npt.NDArray[np.float64]


class End(NamedTuple):
    """The end of a line or an area, with its color."""

    name: str
    position: float  # on the horizontal axis
    height: float
    mean_height: float  # of the whole series, which decides between two that end at one height
    color: Any
    transform: Transform


def label_ends(ax: Axes, series: Sequence[Artist] = ()) -> None:
    """Write the name of each line and area at its end.

    It is to the right of the axes, or within them at the end of a line or band that ends early. With `series`, only some of
    them have names.
    """
    series = series or ax.get_legend_handles_labels()[0]
    if not series:
        return
    length = _length_of_stack(series)
    ends = [_end(each, str(each.get_label()), length) for each in series]
    if ax.figure.get_layout_engine() is None:
        _make_narrower(ax, max(display_width(end.name) for end in ends))
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


def _length_of_stack(series: Sequence[Any]) -> int | None:
    """Return the number of steps until the heights of a stack end.

    None is returned without a stack, or if it has no height at all.
    """
    parts = [each.get_data() for each in series if _is_part(each)]
    heights = np.array([np.nan_to_num(part.values - part.baseline) for part in parts])
    filled = np.flatnonzero(heights.any(axis=0)) if parts else np.empty(0)
    return int(filled[-1]) + 1 if len(filled) else None


def _is_part(artist: Any) -> bool:
    """Return whether an artist is a part of a stack, which stands on other parts."""
    from matplotlib.patches import StepPatch

    return isinstance(artist, StepPatch) and np.ndim(artist.get_data()[2]) > 0


def _end(artist: Any, name: str, length: int | None) -> End:
    """Return the end of a line, of steps or of an area between two lines.

    A series without a known value is named as unknown, at 0. A part of a stack has the length of the stack, where it ends early
    with the height 0.
    """
    positions, heights, missing, color = _points(artist)
    if _is_part(artist):
        positions, heights, missing = positions[:length], heights[:length], missing[:length]
    color = color[:3] if isinstance(color, tuple | np.ndarray) else color
    known, transform = heights[np.isfinite(heights)], artist.axes.transData
    if not len(known):
        return End(f"{name}, unknown", 1.0, 0.0, 0.0, color, artist.axes.get_yaxis_transform())
    heights = np.where(np.isfinite(heights), heights, missing)
    last = np.flatnonzero(np.isfinite(heights))[-1]
    if artist in artist.axes.lines:
        transform = artist.get_transform()  # that of a line across the axes counts from their left end
    return End(name, float(positions[last]), float(heights[last]), float(known.mean()), color, transform)


def _points(artist: Any) -> tuple[Values, Values, Values, Any]:
    """Return the positions, heights and color of lines, steps or an area.

    Before the color come the heights where a value is missing.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

    if isinstance(artist, Line2D):
        positions, heights = (np.asarray(values, dtype=np.float64) for values in artist.get_data())
        return positions, heights, np.full(len(heights), np.nan), artist.get_color()
    if isinstance(artist, StepPatch):
        values, edges, base = cast("tuple[Values, Values, Any]", artist.get_data())
        color = artist.get_facecolor() if artist.get_fill() else artist.get_edgecolor()
        missing = base if _is_part(artist) else np.full(len(values), np.nan)
        return edges[1:], values if base is None else (values + base) / 2, missing, color
    points = np.concatenate([np.empty((0, 2)), *(path.vertices for path in artist.get_paths())])
    positions, rows = np.unique(points[:, 0], return_inverse=True)
    heights = np.bincount(rows, points[:, 1]) / np.bincount(rows)
    return positions, heights, np.full(len(heights), np.nan), artist.get_edgecolor()[0]


class Label(NamedTuple):
    """The name of a series, and the line that leads to it from the end of the series."""

    end: End
    text: Text
    line: Line2D


@cache
def _end_labels() -> Callable[[Axes, Sequence[End]], Artist]:
    """Return the class of the names of series, which needs matplotlib.

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
            self.set_zorder(OVER_MARKS)
            style: dict[str, Any] = {"fontsize": c.NOTE_SIZE, "va": "center"}
            self.ends = ends
            self.texts = [Text(color=text_color(ax, end.color), **style) for end in ends]
            self.lines = [Line2D([], [], color=end.color) for end in ends]
            self.labels = [*map(Label, self.ends, self.texts, self.lines)]
            for child in self.get_children():
                child.axes = ax
                child.set_figure(ax.figure)

        def get_children(self) -> list[Artist]:
            return [*self.lines, *self.texts]

        def draw(self, renderer: RendererBase) -> None:
            _move_names(cast("Axes", self.axes), self.labels, renderer)
            for child in self.get_children():
                child.draw(renderer)
            self.stale = False

        def get_window_extent(self, renderer: RendererBase | None = None) -> Bbox:
            _move_names(cast("Axes", self.axes), self.labels, cast("RendererBase", renderer))  # which all callers pass
            return Bbox.union([text.get_window_extent(renderer) for text in self.texts])

        def get_tightbbox(self, renderer: RendererBase | None = None) -> Bbox:
            return self.get_window_extent(renderer)

    return EndLabels


# -- places -------------------------------------------------------------------------------------------------------------


def _move_names(ax: Axes, labels: Sequence[Label], renderer: RendererBase) -> None:
    """Move all names to where they have room.

    Those of series that end early stand next to these ends, and all others at the edge of the axes.
    """
    _set_names(labels, ax.figure.bbox.width / cast("float", renderer.points_to_pixels(1)))
    limit = ax.bbox.x1 - EARLY_SHARE * ax.bbox.width
    named_at_ends: set[str] = set()
    boxes: list[Bbox] = []
    for position in sorted({x for label in labels if (x := _point(ax, label)[0]) < limit}):
        group = [label for label in labels if _point(ax, label)[0] == position]
        if group_boxes := _move_to_ends(ax, group, position, boxes, renderer):
            boxes += group_boxes
            named_at_ends.update(label.end.name for label in group)
    _move_to(ax, [label for label in labels if label.end.name not in named_at_ends], ax.bbox.x1, renderer)


def _point(ax: Axes, label: Label) -> tuple[float, float]:
    """Return the end of a series in pixels, within the axes."""
    x, y = label.end.transform.transform((label.end.position, label.end.height))
    return float(np.clip(x, ax.bbox.x0, ax.bbox.x1)), float(np.clip(y, ax.bbox.y0, ax.bbox.y1))


def _move_to_ends(
    ax: Axes, labels: Sequence[Label], position: float, boxes: Sequence[Bbox], renderer: RendererBase
) -> Sequence[Bbox]:
    """Move names next to the ends of their series, and return their boxes.

    Nothing is returned if they have no room between the other names and lines, at these heights, a line above or below.
    """
    for shift in (0, 1, -1):
        _move_to(ax, labels, position, renderer, shift)
        own = [label.text.get_window_extent(renderer) for label in labels]
        others = [box.padded(CONNECTION * cast("float", renderer.points_to_pixels(1)), 0) for box in boxes]
        if all(box.x1 < ax.bbox.x1 and not _is_taken(ax, box, others) for box in own):
            return own
    return ()


def _is_taken(ax: Axes, box: Bbox, boxes: Sequence[Bbox]) -> bool:
    """Return whether a name would stand on another one, a line, the edge of a band or a stack."""
    stack = (part.get_transform().transform_path(part.get_path()) for part in ax.patches if _is_part(part))
    return (
        any(map(box.overlaps, boxes))
        or any(path.intersects_bbox(box, filled=False) for path in _paths(ax))
        or any(path.intersects_bbox(box, filled=True) for path in stack)
    )


def _paths(ax: Axes) -> Iterator[Path]:
    """Yield the lines and the edges of the named bands of axes in pixels."""
    for line in ax.lines:
        yield line.get_transform().transform_path(line.get_path())
    for band in ax.collections:
        if not str(band.get_label()).startswith("_"):  # but not of a strip that marks partial periods
            yield from map(band.get_transform().transform_path, band.get_paths())


def _move_to(ax: Axes, labels: Sequence[Label], position: float, renderer: RendererBase, shift: int = 0) -> None:
    """Move names to the right of a position.

    They stand as near to the heights of their ends as they can, or with a shift so many lines higher.
    """
    point = cast("float", renderer.points_to_pixels(1))
    points, line_height = [_point(ax, label) for label in labels], LINE_HEIGHT * point
    sizes = [(label.text.get_text().count("\n") + 1) * line_height for label in labels]
    centers = spread([height for _, height in points], sizes, ax.bbox.y0, ax.bbox.y1)
    centers = spread([center + shift * line_height for center in centers], sizes, ax.bbox.y0, ax.bbox.y1)
    for label, (x, height), center in zip(labels, points, centers, strict=True):
        end = position + CONNECTION * point
        label.line.set_data([x, position, end], [height, height, center])
        label.line.set(**(LEADER if x < position - point else CONNECTOR))
        label.text.set_position((end + GAP * point, center))


def _set_names(labels: Sequence[Label], width: float) -> None:
    """Break or shorten names that are too long for a figure of this width in printer's points."""
    letters = int(width * MAX_SHARE / c.NOTE_SIZE / c.LETTER_WIDTH)
    names = [fill(label.end.name, letters, break_long_words=False, break_on_hyphens=False) for label in labels]
    if any(display_width(line) > letters for name in names for line in name.split("\n")):
        names = number_repeated(r.shorten([label.end.name for label in labels], letters))
    for label, name in zip(labels, names, strict=True):
        label.text.set_text(name)


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
