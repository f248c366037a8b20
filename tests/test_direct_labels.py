"""Lines and areas have their names beside them, at any width of a page, instead of a legend."""

from __future__ import annotations

import sys
from itertools import combinations, product
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from cases import every_nth
from matplotlib import pyplot as plt
from matplotlib.patches import StepPatch
from test_plot import PICTURES, names_beside, result

from ledgerframes import plot
from ledgerframes.plots.direct_labels import CONNECTION, EARLY_SHARE
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
    """The boxes of the names of all series of a figure that was drawn, each with the pixel to which it is drawn."""
    renderer = ax.figure.canvas.get_renderer()
    return [
        (end_of(each, label.end), label.text.get_window_extent(renderer))
        for each in ax.figure.axes
        for artist in each.artists
        for label in artist.labels
    ]


def end_of(ax, end):
    """The pixel at which a series ends, that of the axes unless it ends early."""
    x, _ = end.transform.transform((end.position, end.height))
    return x if x < ax.bbox.x1 - EARLY_SHARE * ax.bbox.width else ax.bbox.x1


def assert_names_have_room(ax):
    ax.figure.draw_without_rendering()
    boxes, whole = boxes_beside(ax), ax.figure.bbox
    for end, box in boxes:
        assert box.x0 > end and box.x1 <= whole.x1 + 1
        assert whole.y0 - 1 <= box.y0 and box.y1 <= whole.y1 + 1
    assert not any(one.overlaps(other) for (_, one), (_, other) in combinations(boxes, 2))
    assert ax.bbox.width > whole.width * 0.3


@pytest.mark.parametrize(("name", "case"), every_nth(product(NAMED, HARD), 23))
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


def ending_early(**last):
    """A picture of latencies over 48 hours, some of which end before the others."""
    frame = result("verdict.latency", over_time=True)(48)
    for name, row in last.items():
        frame.loc[row:, name] = pd.NaT
    ax = plot(frame, picture="verdict.latency")
    ax.figure.draw_without_rendering()
    (labels,) = ax.artists
    return ax, {label.end.name: label for label in labels.labels}


def test_the_name_of_a_line_that_ends_early_is_beside_its_end():
    ax, labels = ending_early(p95=24)
    middle = (ax.bbox.x0 + ax.bbox.x1) / 2
    assert middle - 20 < labels["p95"].text.get_window_extent().x0 < middle + 20
    assert labels["p95"].line.get_ydata()[0] == pytest.approx(labels["p95"].line.get_ydata()[-1]), "at the height of the line"
    assert labels["p50"].text.get_window_extent().x0 > ax.bbox.x1


def test_a_name_beside_its_end_leaves_other_lines_free():
    ax, labels = ending_early(p99=24)  # at 30 s, where the line of the timeout is
    box = labels["p99"].text.get_window_extent()
    assert box.x1 < ax.bbox.x1 and box.y0 > ax.transData.transform((0, 30))[1]


@pytest.mark.parametrize("name", ["coin", "coin over time", "coin per round"])
def test_no_name_of_a_point_is_on_a_stack_or_below_it(name):
    ax = draw(name, "one")
    ax.figure.draw_without_rendering()
    (labels,) = ax.artists
    (label,) = (each for each in labels.labels if each.end.name == "net")
    box = label.text.get_window_extent()
    for part in ax.patches:
        if isinstance(part, StepPatch):
            assert not part.get_transform().transform_path(part.get_path()).intersects_bbox(box)
    assert label.line.get_xdata()[0] == pytest.approx(ax.transData.transform((label.end.position, 0))[0])
    assert labels.zorder > max(part.zorder for part in ax.patches), "no area hides the line from the point to its name"


def forecast_that_ends(low, middle, high):
    """A picture of the balance of 400 hours, whose lines end after so many of them."""
    frame = result("cost.runway")(400)
    balances = {"balance_low": low, "balance_middle": middle, "balance_high": high}
    columns = {name: np.maximum(end - np.arange(400), -1) * 1_000_000 for name, end in balances.items()}
    ax = plot(frame.assign(**columns).astype(frame.dtypes), picture="cost.runway")
    ax.figure.draw_without_rendering()
    return ax


def test_no_name_of_a_forecast_is_on_the_edge_of_its_band():
    ax = forecast_that_ends(320, 340, 360)
    (band,) = (each for each in ax.collections if each.get_label() == "4 of 5 cases")
    path = band.get_transform().transform_path(band.get_paths()[0])
    mean, cases = (text.get_window_extent() for text in ax.artists[0].texts)
    assert not any(path.intersects_bbox(box, filled=False) for box in (mean, cases))
    assert abs(mean.y0 - cases.y0) > mean.height / 2 or max(mean.x0, cases.x0) - min(mean.x1, cases.x1) > CONNECTION


def test_the_line_of_a_name_starts_at_the_last_point():
    ax = plot(result("verdict.latency", "hour")(24), picture="verdict.latency")
    ax.figure.draw_without_rendering()
    (labels,) = ax.artists
    for label in labels.labels:
        assert label.line.get_xdata()[0] == pytest.approx(ax.transData.transform((label.end.position, 0))[0])
        assert label.line.get_linestyle() == ":", "a line of data goes to the next point"


def test_both_names_of_a_forecast_are_beside_its_ends():
    ax = forecast_that_ends(140, 150, 160)
    boxes = [text.get_window_extent() for text in ax.artists[0].texts]
    assert len(boxes) == 2 and not boxes[0].overlaps(boxes[1])
    assert all(box.x1 < (ax.bbox.x0 + ax.bbox.x1) * 0.6 for box in boxes)
    draw_pictures(ax.figure)  # leaves the narrow one
    ax.figure.draw_without_rendering()
    ends = [text.get_window_extent() for text in ax.get_children() if str(getattr(text, "get_text", str)()).startswith("low end")]
    assert len(ends) == 1 and ends[0].x1 <= ax.figure.bbox.x1


def test_a_name_without_room_beside_its_end_has_a_line_from_there():
    ax, labels = ending_early(p95=43)
    label = labels["p95"]
    assert label.text.get_window_extent().x1 < ax.bbox.x1
    draw_pictures(ax.figure)  # leaves the narrow one
    ax.figure.draw_without_rendering()
    assert label.text.get_window_extent().x0 > ax.bbox.x1
    start = ax.transData.transform((ax.lines[1].get_xdata()[42], 0))[0]
    assert label.line.get_xdata()[0] == pytest.approx(start) and label.line.get_linestyle() == ":"


def test_names_of_a_stack_that_ends_early_are_beside_it():
    frame = result("verdict.rejections")(6)
    frame["record_time"] = pd.Timestamp("2026-11-08T14:00Z")
    ax = plot(frame.astype({"record_time": "datetime64[us, UTC]"}), picture="verdict.rejections")
    ax.figure.draw_without_rendering()
    end = ax.transData.transform((14.5, 0))[0]
    (labels,) = ax.artists
    assert len(labels.texts) == 2
    for label, part in zip(labels.labels, ax.patches, strict=True):
        assert end < label.text.get_window_extent().x0 < end + 20
        values, _, base = part.get_data()
        assert label.end.height == (values[14] + base[14]) / 2


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
