"""Small multiples: a panel for each of the largest groups, on one scale, of which no part covers another."""

from __future__ import annotations

from itertools import combinations, product

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from cases import every_nth
from matplotlib import pyplot as plt
from test_plot import START, result, texts_of

from ledgerframes import plot
from ledgerframes.plots.panels import MAX_PANELS, OWN_LINE, arrange
from ledgerframes.report.alt_texts import describe_figure
from ledgerframes.report.cells import shorten
from ledgerframes.report.pictures import draw_pictures

DAYS = 7
ID = "::1220ab…abab"


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def rates(groups, *, accepted=90, rejected=10, days=DAYS, **columns):
    """Rejections by participant and day, the same number in each, the largest participant first."""
    rows = groups * days
    frame = result("verdict.outcomes", "participant", over_time=True)(8).iloc[[0] * rows].reset_index(drop=True)
    number = np.arange(rows)
    starts = START + pd.to_timedelta(number // groups, unit="D")
    names = pd.Series([f"alder-validator-{each % groups}::1220{'ab' * 32}" for each in number], dtype="str")
    counts = {"accepted": accepted + (groups - number % groups), "rejected": rejected}
    changed = {"submitting_participant_uid": names, "period_start": starts, "period_end": starts + pd.Timedelta(1, "D")}
    frame = frame.assign(**changed, **counts, is_partial=False, differs=False, **columns)
    return frame.astype(result("verdict.outcomes", "participant", over_time=True)(1).dtypes.to_dict())


def names_of(ax):
    return [panel.get_title(loc="left") for panel in ax.child_axes]


def points_of(panel, label):
    (line,) = (each for each in panel.lines if each.get_label() == label)
    return line.get_ydata().tolist()


def assert_nothing_overlaps(ax):
    """Names, ticks and texts of panels lie on the figure, and neither on another panel nor on a text of one."""
    ax.figure.draw_without_rendering()
    renderer, whole = ax.figure.canvas.get_renderer(), ax.figure.bbox
    boxes = [(-1, ax.yaxis.label.get_window_extent(renderer))] if ax.get_ylabel() else []
    for number, panel in enumerate(ax.child_axes):
        ticks = [label for axis in (panel.xaxis, panel.yaxis) for label in axis.get_ticklabels() if label.get_visible()]
        ticks = [each for each in ticks if is_inside(panel, each)]
        boxes += [(number, each.get_window_extent(renderer)) for each in [panel._left_title, *ticks] if each.get_text()]
        boxes.append((number, panel.get_window_extent(renderer)))
    for (first, box), (second, other) in combinations(boxes, 2):
        assert first == second or not box.overlaps(other)
    for _, box in boxes:
        assert whole.x0 - 1 <= box.x0 and box.x1 <= whole.x1 + 1 and whole.y0 - 1 <= box.y0 and box.y1 <= whole.y1 + 1
    title = ax._left_title.get_window_extent(renderer)
    assert all(box.y1 <= title.y0 for _, box in boxes)


def is_inside(panel, label):
    """Whether a tick lies within the axes, so that it is drawn."""
    (low, high), (bottom, top) = panel.get_xlim(), panel.get_ylim()
    x, y = label.get_position()
    return (low <= x <= high and y == 0) or (bottom <= y <= top and x == 0)


@pytest.mark.parametrize("hours", [2, 24, 30, 40, 47, 48, 60, 80, 24 * 50, 24 * 500])
def test_any_length_of_time_has_few_ticks(hours):
    starts = START + pd.to_timedelta([0, hours - 1], unit="h")
    frame = rates(1, days=2).assign(period_start=starts, period_end=starts + pd.Timedelta(1, "h"))
    panel = plot(frame, picture="verdict.outcomes").child_axes[0]
    panel.figure.draw_without_rendering()
    (low, high), ticks = panel.get_xlim(), panel.get_xticks()
    assert 1 <= sum(low <= tick <= high for tick in ticks) <= 5


def test_long_labels_of_ticks_have_room():
    frame = result("verdict.quorums", over_time=True)(40)
    ax = plot(frame.assign(quorums=frame["quorums"] * 1_000_000), picture="verdict.quorums")
    assert_nothing_overlaps(ax)
    renderer = ax.figure.canvas.get_renderer()
    for panel in ax.child_axes:
        assert all(text.get_window_extent(renderer).x0 >= panel.bbox.x0 for text in panel.texts)
    assert any(len(label.get_text()) > 12 for label in ax.child_axes[0].get_yticklabels())


@pytest.mark.parametrize(("groups", "panels"), [(1, 1), (2, 2), (5, 5), (12, 12), (40, MAX_PANELS)])
def test_the_largest_groups_have_a_panel_each_on_one_scale(groups, panels):
    ax = plot(rates(groups), picture="verdict.outcomes")
    assert [name.partition("::")[0] for name in names_of(ax)] == [f"alder-validator-{number}" for number in range(panels)]
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in ax.child_axes}) == 1
    assert_nothing_overlaps(ax)
    omitted = f"The 12 largest groups, {groups - MAX_PANELS:,} more not shown"
    assert (omitted in " ".join(texts_of(ax))) == (groups > MAX_PANELS)


def test_without_a_decided_request_the_plot_says_so():
    for frame in (rates(3).head(0), rates(3).assign(rejection_rate=np.nan, accepted=0, rejected=0)):
        ax = plot(frame, picture="verdict.outcomes")
        title = "<strong>Rejection rate by submitting participant.</strong>"
        assert draw_pictures(ax.figure)[0] == {"text/html": f'<p class="note">{title} No decided request in this window.</p>'}


def test_a_day_without_requests_is_a_gap_and_not_zero():
    frame = rates(2)
    is_gap = frame["period_start"] == frame["period_start"].iloc[6]
    frame[["accepted", "rejected"]] = frame[["accepted", "rejected"]].mask(is_gap, 0)
    ax = plot(frame, picture="verdict.outcomes")
    values = points_of(ax.child_axes[0], OWN_LINE)
    assert np.isnan(values).tolist() == [day == 3 for day in range(DAYS)]
    assert np.isnan(points_of(ax.child_axes[0], "_around")).tolist() == [day == 3 for day in range(DAYS)]


def test_a_rate_of_few_requests_has_no_point():
    frame = rates(2, accepted=10, rejected=8)  # the first of both has 20 decided requests a day, the other 19
    ax = plot(frame, picture="verdict.outcomes")
    assert len(ax.child_axes) == 1
    assert "Without a value: alder-validator-1" in " ".join(texts_of(ax))
    assert "No point for fewer than 20 decided requests" in " ".join(texts_of(ax))
    nobody = plot(rates(2, accepted=1, rejected=1), picture="verdict.outcomes")
    assert "No group has a period with 20 decided requests." in texts_of(nobody)


def test_days_that_differ_are_marked_with_their_rate():
    frame = rates(2, rejected=10)
    frame.loc[4, ["rejected", "differs"]] = [40, True]  # the first participant on the third day
    ax = plot(frame, picture="verdict.outcomes")
    first, second = ax.child_axes
    assert points_of(first, "_marked") == [40 / 132] and points_of(second, "_marked") == []
    assert [text.get_text() for text in first.texts] == ["30 %"]
    assert [text.get_text() for text in second.texts] == ["10 %"], "the highest rate stands on a panel without a mark"


def test_panels_fit_axes_of_any_size():
    figure = mpl.figure.Figure(figsize=(4, 8))
    above, below = figure.subplots(2)
    assert plot(rates(6), ax=below, picture="verdict.outcomes") is below
    assert above.child_axes == []
    figure.draw_without_rendering()
    outer = below.get_window_extent()
    assert all(outer.contains(*panel.get_window_extent().get_points()[corner]) for panel in below.child_axes for corner in (0, 1))


def test_a_narrow_page_has_two_panels_in_a_row():
    ax = plot(rates(12), picture="verdict.outcomes")
    data, texts = draw_pictures(ax.figure)
    assert len(data) == 2 and texts["title"] == "Rejection rate by submitting participant, per day"
    assert_nothing_overlaps(ax)
    renderer = ax.figure.canvas.get_renderer()
    for panel in ax.child_axes:
        boxes = [text.get_window_extent(renderer) for text in panel.texts]
        assert boxes and all(panel.bbox.x0 < box.x0 and box.x1 < panel.bbox.x1 for box in boxes)
    lefts = {round(panel.get_window_extent().x0) for panel in ax.child_axes}
    assert len(lefts) == 2


def test_the_text_names_the_first_panels():
    text = describe_figure(plot(rates(6), picture="verdict.outcomes").figure)
    assert "Rejection rate (%) by Record time (UTC): alder-validator-0" in text
    assert "2 more panels." in text


def test_the_text_has_the_rates_of_each_panel_and_not_those_of_all():
    frame = rates(2, days=3).assign(rejected=[10, 20, 30, 20, 10, 40], accepted=[90, 80, 70, 80, 90, 60])
    ax = plot(frame, picture="verdict.outcomes")
    assert len({tuple(points_of(panel, "_around")) for panel in ax.child_axes}) == 1
    text = describe_figure(ax.figure)
    assert f"alder-validator-0{ID} from 10 to 30, highest at 2026-11-09; " in text
    assert f"alder-validator-1{ID} from 20 to 40, highest at 2026-11-10." in text


@pytest.mark.parametrize(("days", "marked", "count"), [(14, range(14), 1), (7, range(7), 1), (14, (2, 3), 1), (14, (2, 9), 2)])
def test_rates_that_differ_have_texts_only_where_they_do_not_overlap(days, marked, count):
    frame = rates(8, days=days)
    frame.loc[[day * 8 for day in marked], "differs"] = True  # of the first participant
    frame.loc[[day * 8 for day in marked], "rejected"] = 40
    ax = plot(frame, picture="verdict.outcomes")
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.child_axes[0].texts + ax.child_axes[0].artists if text.get_text()]
    assert len(boxes) == count and not any(box.overlaps(other) for box, other in combinations(boxes, 2))
    assert len(points_of(ax.child_axes[0], "_marked")) == len(marked)


@pytest.mark.parametrize("days", [1, 2])
def test_the_text_has_the_rates_of_panels_with_few_days(days):
    frame = rates(2, days=days).assign(rejected=[10, 20] * days, accepted=[90, 80] * days)
    text = describe_figure(plot(frame, picture="verdict.outcomes").figure)
    assert f"alder-validator-0{ID} 10; alder-validator-1{ID} 20." in text


def test_labels_of_ticks_stand_at_the_first_column_and_the_last_row():
    ax = plot(rates(5), picture="verdict.outcomes")
    arrange(ax, 3)
    labels = [
        (panel.yaxis.get_tick_params()["labelleft"], panel.xaxis.get_tick_params()["labelbottom"]) for panel in ax.child_axes
    ]
    assert labels == [(True, False), (False, False), (False, True), (True, True), (False, True)]


OVER_TIME = {
    "outcomes": ("verdict.outcomes", "party"),
    "waste": ("cost.wasted", "participant"),
    "overhead": ("cost.overhead", "participant"),
    "latency": ("verdict.latency", "party"),
    "balances": ("economy.balance", None),
    "quorums": ("verdict.quorums", "participant"),
}


@pytest.mark.parametrize(("name", "rows"), every_nth(product(OVER_TIME, [40, 200, 1]), 6))
def test_groups_over_time_are_panels_and_no_tangle_of_lines(name, rows):
    figure, by = OVER_TIME[name]
    frame = result(figure, by, over_time=True)(rows)
    if name == "balances":
        number = np.arange(len(frame))
        starts = START + pd.to_timedelta(number // 8, unit="h")
        names = pd.Series([f"party-{each % 8}::1220abcd" for each in number], dtype="str")
        frame = frame.assign(period_start=starts, period_end=starts + pd.Timedelta(1, "h"), party=names)
    if rows == 1 and name == "balances":  # the coin of one party is an area
        return
    ax = plot(frame, picture=figure)
    assert ax.get_legend() is None and 1 <= len(ax.child_axes) <= MAX_PANELS
    assert_nothing_overlaps(ax)


def test_panels_without_a_value_are_a_sentence():
    frame = result("cost.overhead", "participant", over_time=True)(16)
    ax = plot(frame.assign(share=np.nan), picture="cost.overhead")
    assert "No value is known in this window." in texts_of(ax)
    assert not ax.child_axes and ax.get_title(loc="left").startswith("Share of envelopes without views")


@pytest.mark.parametrize("groups", [2, 12])
def test_panels_have_the_names_of_tables_in_two_lines(groups):
    ax = plot(rates(groups), picture="verdict.outcomes")
    assert names_of(ax)[0] == f"alder-validator-0::\n{ID.removeprefix('::')}"
    assert names_of(ax)[0].replace("\n", "") == shorten("alder-validator-0::1220" + "ab" * 32)
    assert_nothing_overlaps(ax)


def test_names_of_panels_do_not_overlap_on_a_phone():
    names = [f"{'a' * 80}{number}" for number in range(4)]
    frame = result("verdict.outcomes", "party", over_time=True)(40)
    frame["party"] = pd.Series([names[row % 4] for row in range(len(frame))], dtype="str")
    ax = plot(frame.drop_duplicates(["period_start", "party"]), picture="verdict.outcomes")
    draw_pictures(ax.figure)
    ax.figure.draw_without_rendering()
    titles = [panel._left_title for panel in ax.child_axes]
    boxes = [title.get_window_extent() for title in titles]
    assert len(boxes) == 4 and len({title.get_text() for title in titles}) == 4
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
