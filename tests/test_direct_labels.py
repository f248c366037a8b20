"""Lines and areas have their names beside them, at any width of a page, instead of a legend."""

from __future__ import annotations

import sys
from itertools import combinations, product
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pytest
from cases import every_nth
from matplotlib import pyplot as plt
from matplotlib.patches import StepPatch
from matplotlib.text import Text
from test_plot import PICTURES, names_beside, result

from ledgerframes import plot
from ledgerframes.report.pictures import draw_pictures

sys.path.append(str(Path(__file__).parents[1] / "tools"))

from picture_sheets import CASES

NAMED = {
    name: (picture, make) for name, (picture, make, *_) in PICTURES.items() if picture not in ("cost.budget", "cost.anatomy")
}
OF_CELLS = ("reconcile.coverage", "reconcile.digests", "reconcile.bulk_totals", "reconcile.nodes", "reconcile.bounds")
HARD = ("one", "forty", "huge", "zeros", "negative", "names")
OF_LIFETIMES = ("state.featured", "state.super_validators")


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def draw(name, case):
    picture, make = NAMED[name]
    rows, change = CASES[case]
    return plot(change(make(rows)), picture=picture)


def boxes_beside(ax):
    """The boxes of the names beside all axes of a figure that was drawn."""
    renderer = ax.figure.canvas.get_renderer()
    labels = [(each, artist) for each in ax.figure.axes for artist in each.artists]
    texts = [(each, child) for each, artist in labels for child in artist.get_children() if isinstance(child, Text)]
    return [(each, text.get_window_extent(renderer)) for each, text in texts]


def assert_names_have_room(ax):
    ax.figure.draw_without_rendering()
    boxes, whole = boxes_beside(ax), ax.figure.bbox
    for each, box in boxes:
        assert box.x0 > each.bbox.x1 and box.x1 <= whole.x1 + 1
        assert whole.y0 - 1 <= box.y0 and box.y1 <= whole.y1 + 1
    assert not any(one.overlaps(other) for (_, one), (_, other) in combinations(boxes, 2))
    assert ax.bbox.width > whole.width * 0.3


@pytest.mark.parametrize(("name", "case"), every_nth(product(NAMED, HARD), 11))
def test_names_overlap_nothing_on_a_wide_and_on_a_narrow_page(name, case):
    ax = draw(name, case)
    is_named = any(each.artists for each in ax.figure.axes)
    assert (ax.get_legend() is None) or NAMED[name][0] in (*OF_CELLS, *OF_LIFETIMES)
    if not is_named:
        return
    assert_names_have_room(ax)
    draw_pictures(ax.figure)  # leaves the narrow one
    assert_names_have_room(ax)
    assert not ax.figure.legends


def test_names_of_areas_have_the_order_of_the_stack():
    ax = plot(result("activity.weights", "party", over_time=True)(200), picture="activity.weights")
    heights = {each.get_label(): np.mean(each.get_data().baseline) for each in ax.patches if isinstance(each, StepPatch)}
    assert len(heights) == 8
    assert names_beside(ax) == sorted(heights, key=heights.get, reverse=True)
    ax.figure.draw_without_rendering()
    bottoms = [box.y0 for _, box in boxes_beside(ax)]
    assert bottoms == sorted(bottoms)


def test_a_name_starts_where_its_line_ends():
    ax = plot(result("verdict.latency", over_time=True)(6), picture="verdict.latency")
    ax.figure.draw_without_rendering()
    (labels,) = ax.artists
    ends = {str(line.get_label()): ax.transData.transform((0, line.get_ydata()[-1]))[1] for line in ax.lines}
    starts = [line.get_ydata()[0] for line in labels.lines]
    assert starts == pytest.approx([ends[end.name] for end in labels.ends])
    assert [line.get_color() for line in labels.lines] == [end.color for end in labels.ends]


def test_names_stay_different_where_they_are_shortened():
    ax = draw("spend by participant over time", "names")
    draw_pictures(ax.figure)
    (labels,) = ax.artists
    names = [text.get_text() for text in labels.texts]
    assert len(set(names)) == len(names) == 5


def test_long_names_break_on_a_narrow_page():
    ax = draw("coin over time", "forty")
    ax.figure.draw_without_rendering()
    (labels,) = ax.artists
    assert not any("\n" in text.get_text() for text in labels.texts)
    draw_pictures(ax.figure)
    assert "minted for super\nvalidators" in [text.get_text() for text in labels.texts]


def test_names_have_room_in_a_figure_of_the_user_without_a_layout():
    _, (ax, other) = plt.subplots(1, 2, figsize=(8, 3))
    plot(result("economy.burn_mint", over_time=True)(24), ax=ax, picture="economy.burn_mint")
    ax.figure.draw_without_rendering()
    boxes = [box for _, box in boxes_beside(ax)]
    assert boxes and max(box.x1 for box in boxes) < other.bbox.x0
    below = ax.figure.axes[-1]
    assert below is not other and (below.bbox.x0, below.bbox.x1) == (ax.bbox.x0, ax.bbox.x1)


def test_names_on_axes_of_the_user_have_the_color_of_their_texts():
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
    plot(result("verdict.latency", over_time=True)(6), ax=ax, picture="verdict.latency")
    (labels,) = ax.artists
    assert {text.get_color() for text in labels.texts} == {"#ffffff"}


@pytest.mark.parametrize(
    ("name", "column", "text"),
    [
        ("coin per round", "minted_app", "minted for apps"),
        ("coin over time", "burned_traffic", "burned for traffic"),
        ("coin over time", "net", "net"),
        ("burn and mint over time", "burned", "otherwise"),
        ("runway", "balance_high", "4 of 5 cases"),
        ("price votes", "highest", "all votes"),
    ],
)
def test_a_series_without_a_value_is_named_as_unknown(name, column, text):
    picture, make = NAMED[name]
    frame = make(24)
    ax = plot(frame.assign(**{column: frame[column].where(frame.index < 0)}), picture=picture)
    assert_names_have_room(ax)
    assert f"{text}, unknown" in [each for axes in ax.figure.axes if axes.artists for each in names_beside(axes)]
