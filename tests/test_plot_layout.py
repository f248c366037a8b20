"""Titles, notes, legends and ticks fit on the figure, hide no data and can be read."""

from __future__ import annotations

import sys
from decimal import Decimal
from itertools import combinations
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from cases import every_nth
from matplotlib import pyplot as plt
from matplotlib.dates import date2num
from matplotlib.text import Text
from test_plot import PICTURES, START, one_party, per_round, result, texts_of

import ledgerframes as lf
from ledgerframes import plot
from ledgerframes.plots import _canvas as c
from ledgerframes.plots._canvas import amount_axis, bytes_axis, plain, ratio_axis
from ledgerframes.plots._time_axis import time_axis
from ledgerframes.report.pictures import draw_pictures

sys.path.append(str(Path(__file__).parents[1] / "tools"))

from picture_sheets import CASES

NAME = "a-long-name-of-some-participant::1220" + "ab34" * 16


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def named(frame, *columns):
    """The frame with long names in these columns."""
    names = [f"{NAME}{number:02d}" for number in range(len(frame))]
    return frame.assign(**{column: pd.Series(names, dtype="str") for column in columns})


def rates(rows):
    return named(result("verdict.outcomes", "participant", over_time=True)(rows), "submitting_participant_uid")


def of_templates(name, rows=40):
    frame = result(name, "template", over_time=True)(rows)
    names = pd.Series([f"Some.Long.Module{each % 8}.Name:AndTemplate" for each in range(len(frame))], dtype="str")
    return frame.assign(template_name=names, kind=pd.Categorical(["transaction"] * len(frame)))


WIDE = {
    "a note of four sentences": lambda: plot(rates(40), picture="verdict.outcomes"),
    "a long title": lambda: plot(
        named(result("verdict.quorums", "participant")(40), "submitting_participant_uid"), picture="verdict.quorums"
    ),
    "a fixed note": lambda: plot(named(result("activity.what_if")(40), "party"), picture="activity.what_if"),
    "panels of templates": lambda: plot(of_templates("verdict.latency"), picture="verdict.latency"),
    "panels of quorums": lambda: plot(of_templates("verdict.quorums"), picture="verdict.quorums"),
}


@pytest.mark.parametrize("draw", every_nth(WIDE.values(), 2), ids=WIDE)
def test_long_texts_stay_on_the_figure_and_leave_the_axes_their_width(draw):
    ax = draw()
    ax.figure.draw_without_rendering()
    renderer, whole = ax.figure.canvas.get_renderer(), ax.figure.bbox
    legend = [ax.get_legend()] if ax.get_legend() else []
    for text in [*ax.texts, *legend, ax._left_title]:
        box = text.get_window_extent(renderer)
        assert box.x0 >= whole.x0 - 1
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1
    assert ax.get_window_extent(renderer).width > whole.width * 0.4


def test_title_and_note_do_not_overlap():
    ax = plot(rates(40), picture="verdict.outcomes")
    ax.figure.draw_without_rendering()
    renderer = ax.figure.canvas.get_renderer()
    note = next(text for text in ax.texts if text.get_text().startswith("Gray"))
    assert "\n" in note.get_text()
    assert note.get_window_extent(renderer).y1 <= ax._left_title.get_window_extent(renderer).y0


def split():
    return plot(result("economy.reward_split")(1), picture="economy.reward_split")


def overhead():
    return plot(result("cost.overhead", "participant")(4).assign(traffic_cost=900), picture="cost.overhead")


def latencies():
    return plot(named(result("verdict.latency", "participant")(4), "submitting_participant_uid"), picture="verdict.latency")


def contracts():
    return plot(result("reconcile.contracts")(4), picture="reconcile.contracts")


@pytest.mark.parametrize("is_narrow", [False, True])
@pytest.mark.parametrize("draw", [split, overhead, latencies, contracts])
def test_the_names_of_bars_stand_at_the_first_row_and_hide_nothing(draw, is_narrow):
    ax = draw()
    if is_narrow:
        draw_pictures(ax.figure)
    ax.figure.draw_without_rendering()
    renderer, whole = ax.figure.canvas.get_renderer(), ax.figure.bbox
    texts = [text for text in ax.texts if text.xycoords == "data"]
    names = {str(bars.get_label()) for bars in ax.containers}
    assert len(names) > 1
    assert names == {name for name in names for text in texts if text.get_text().endswith(name)}
    boxes = [Text.get_window_extent(text, renderer) for text in texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert not any(bar.get_window_extent(renderer).overlaps(box) for box in boxes for bar in ax.patches if bar.get_width())
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)


def test_a_name_hides_no_forecast():
    hours = START + pd.to_timedelta(np.arange(200), unit="h")
    balance = np.linspace(2_000_000, -6_000_000, 200).round().astype("int64")
    frame = result("cost.runway")(200)
    frame = frame.assign(hour=hours, balance_low=balance - 20_000, balance_middle=balance, balance_high=balance + 20_000)
    ax = plot(frame.astype(result("cost.runway")(1).dtypes.to_dict()), picture="cost.runway")
    ax.figure.draw_without_rendering()
    renderer = ax.figure.canvas.get_renderer()
    boxes = [Text.get_window_extent(text, renderer) for text in ax.texts if text.xycoords == "data"]
    assert len(boxes) == 2, "the ends of the band and of the mean burn"
    (line,) = (each for each in ax.lines if each.get_label() == "mean burn")
    points = line.get_transform().transform(line.get_xydata())
    assert not any(box.contains(*point) for point in points for box in boxes)
    assert not boxes[0].overlaps(boxes[1])
    ends = [each.get_window_extent(renderer) for each in ax.lines if each.get_linestyle() in ("--", ":")]
    assert len(ends) == 2
    inner = [box.padded(-3) for box in boxes]  # a text can end at its own line
    assert not any(end.overlaps(box) for end in ends for box in inner), "a line crosses no text"


def spikes(at, rows=168):
    """Hourly costs of a week with one spike."""
    costs = pd.array([100_000] * rows, "Int64")
    costs[at] = 776_500
    return plot(result("cost.spend", over_time=True)(rows).assign(total_traffic_cost=costs), picture="cost.spend")


def waste(at, rows=40):
    frame = result("cost.wasted", over_time=True)(rows)
    return plot(frame.assign(share=0.1, is_above=np.arange(rows) == at % rows), picture="cost.wasted")


@pytest.mark.parametrize("draw", [spikes, waste])
@pytest.mark.parametrize("at", every_nth([0, 1, 4, 20, -20, -4, -2, -1], 7))
def test_labels_of_points_stay_within_axes_of_any_width(draw, at):
    ax = draw(at)
    (label,) = [text for text in ax.texts if text.xycoords == "data"]
    draw_pictures(ax.figure)  # leaves the narrow one
    for width in (3.6, 3.9, 6, 9, 11.7):
        ax.figure.set_size_inches(width, 4)
        ax.figure.draw_without_rendering()
        renderer = ax.figure.canvas.get_renderer()
        box, axes = label.get_window_extent(renderer), ax.get_window_extent(renderer)
        assert axes.x0 < box.x0 and box.x1 < axes.x1 and axes.y0 < box.y0 and box.y1 < axes.y1
        ticks = [each for axis in (ax.xaxis, ax.yaxis) for each in axis.get_ticklabels()]
        assert not any(box.overlaps(tick.get_window_extent(renderer)) for tick in ticks)
        x = ax.transData.transform(label.xy)[0]
        assert box.x0 - 1 <= x <= box.x1 + 1, "the text is above its point"


def test_labels_of_points_are_in_their_middle_wherever_there_is_room():
    ax = spikes(84)
    ax.figure.draw_without_rendering()
    (label,) = [text for text in ax.texts if text.xycoords == "data"]
    box = label.get_window_extent(ax.figure.canvas.get_renderer())
    assert (box.x0 + box.x1) / 2 == pytest.approx(ax.transData.transform(label.xy)[0], abs=1)


# -- ticks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [(35e9, "35,000,000,000"), (1e-5, "0.00001"), (0.1 + 0.2, "0.3"), (12_345.5, "12,345.5"), (0.0, "0"), (-2.5, "−2.5")],
)
def test_numbers_have_no_exponent(number, text):
    assert plain(number) == text


@pytest.mark.parametrize(
    ("set_axis", "highest", "text"),
    [
        (lambda axis: amount_axis(axis, "Coin"), 35e9, "30,000,000,000"),
        (lambda axis: bytes_axis(axis, 6e15, "Cost"), 6e15, "6,000,000"),
        (lambda axis: ratio_axis(axis, "Ratio"), 1_234.0, "100,000"),
        (lambda axis: amount_axis(axis, "Coin"), 5e-5, "0.00005"),
    ],
)
def test_ticks_have_no_exponent(set_axis, highest, text):
    ax = mpl.figure.Figure().subplots()
    ax.set_ylim(0, highest)
    set_axis(ax.yaxis)
    ticks = [label.get_text() for label in ax.get_yticklabels()]
    assert text in ticks
    assert not any("e" in tick for tick in ticks)


def test_small_amounts_of_leaders_have_no_exponent():
    frame = result("economy.leaderboard")(1)
    ax = plot(frame.assign(amount=pd.Series([Decimal("0.000012")], dtype=frame["amount"].dtype)), picture="economy.leaderboard")
    assert any(text.startswith("0.000012") for text in texts_of(ax))


@pytest.mark.parametrize(
    ("picture", "make"),
    [
        ("economy.flows", per_round("economy.flows")),
        ("activity.concentration", per_round("activity.concentration")),
        ("activity.rewards", one_party),
    ],
)
def test_one_round_is_named_once(picture, make):
    ax = plot(make(1), picture=picture)
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()
    ticks = [tick.label1.get_text() for tick in ax.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert [text.partition("\n")[0] for text in ticks] == ["41200"], "a second line has its opening"


def test_bars_without_any_length_have_an_axis_that_can_be_read():
    frame = result("activity.weights", "party")(3)
    ax = plot(frame.assign(weight=(frame["weight"] * 0)), picture="activity.weights")
    assert ax.get_xlim() == (0, 1)


def test_timeouts_are_drawn_in_their_window_as_other_pictures_over_time(tmp_path):
    net = lf.connect("sandbox", store=tmp_path / "store", events=800, days=2)
    frames = lf.load_events(net, since="2026-11-07", until="2026-11-09")
    timeouts, edges = lf.verdict.head_of_line(frames), plot(lf.cost.spend(frames, every="1d")).get_xlim()
    assert len(timeouts) > 1
    assert edges == tuple(date2num(np.array(["2026-11-07", "2026-11-09"], "datetime64[us]")))
    timeouts.to_parquet(tmp_path / "timeouts.parquet")
    for rows in (timeouts, timeouts.head(1), pd.read_parquet(tmp_path / "timeouts.parquet")):
        assert plot(rows, picture="verdict.head_of_line").get_xlim() == edges


def test_a_circle_at_the_end_of_the_window_keeps_its_area():
    frame = result("verdict.head_of_line")(2)
    first, last = (int(frame["record_time"].iloc[each].timestamp() * 1e6) for each in (0, -1))
    frame.attrs["window"] = [first, last + 1]
    ax = plot(frame, picture="verdict.head_of_line")
    assert ax.get_xlim()[0] == first / 86_400e6
    assert ax.collections and not any(circles.get_clip_on() for circles in ax.collections)


def test_timeouts_without_a_window_have_room_around_them():
    frame = result("verdict.head_of_line")(2)
    low, high = plot(frame, picture="verdict.head_of_line").get_xlim()
    times = date2num(frame["record_time"].dt.tz_localize(None).to_numpy())
    assert low < times.min() and times.max() < high


# -- cells and counts ---------------------------------------------------------------------------------------------------


def test_a_gap_between_two_cells_is_no_time_without_data():
    days = START + pd.to_timedelta([0, 1], unit="D")
    frame = result("reconcile.coverage", over_time=True)(2)
    frame = frame.assign(period_start=days, period_end=days + pd.Timedelta(1, "D"), dataset="events", status="ok")
    ax = plot(frame.astype({"dataset": "category", "status": "category"}), picture="reconcile.coverage")
    ends = sorted(path.vertices[:, 0].max() for each in ax.collections for path in each.get_paths())
    first_end = pd.Timestamp("2026-11-09", tz="UTC").timestamp() / 86_400
    assert 0 < first_end - ends[0] < 15 / 1_440  # days


def test_a_lifetime_that_ends_as_it_begins_can_be_seen():
    ax = plot(result("state.featured")(12), picture="state.featured")  # each one lasts no time
    widths = [path.get_extents().width for bars in ax.collections for path in bars.get_paths()]
    low, high = ax.get_xlim()
    assert len(widths) == 12
    assert min(widths) > (high - low) / 300


def test_a_status_without_periods_is_a_sentence():
    ax = plot(result("reconcile.coverage")(1), picture="reconcile.coverage")
    assert draw_pictures(ax.figure)[0] == {"text/html": '<p class="note"><strong>Coverage of the store.</strong> Events: ok.</p>'}


def test_many_cells_keep_their_gaps():
    ax = plot(result("reconcile.coverage", over_time=True)(200).assign(dataset="events"), picture="reconcile.coverage")
    paths = [path.vertices[:, 0] for each in ax.collections for path in each.get_paths()]
    assert all(np.ptp(x) == pytest.approx(0.94 / 24) for x in paths)


def test_one_is_singular():
    assert any(
        "1 row with an unexplained net" in text for text in texts_of(plot(per_round("economy.flows")(1), picture="economy.flows"))
    )
    purchases = result("economy.purchases", over_time=True)(1).assign(purchases=1)
    assert "1 purchase" in [text.split(".")[0] for text in texts_of(plot(purchases, picture="economy.purchases"))]
    anatomy = plot(result("cost.anatomy")(1), picture="cost.anatomy")
    assert anatomy.get_title(loc="left").endswith("in 1 envelope")
    evidence = plot(result("grant.evidence")(1).assign(requests=1, parties_cumulative=1), picture="grant.evidence")
    assert any(text.startswith("1 request, ") and "1 party" in text for text in texts_of(evidence))
    bounds = result("reconcile.bounds")(1).assign(gap_before=1)
    assert any("1 offset not in the store" in text for text in texts_of(plot(bounds, picture="reconcile.bounds")))


@pytest.mark.parametrize(("largest", "scale"), [(600_000, "log"), (20_000, "linear")])
def test_one_giant_request_leaves_the_others_their_room(largest, scale):
    costs = pd.Series([4_000, 5_000, 6_000, largest], dtype="Int64")
    frame = result("cost.estimate", "request")(4).assign(estimated=costs, actual=costs, outcome="matched")
    ax = plot(frame, picture="cost.estimate")
    assert ax.get_xscale() == ax.get_yscale() == scale
    ax.figure.draw_without_rendering()
    places = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([costs, costs]).astype(float)))
    assert places[2, 0] - places[0, 0] > 0.05, "points that differ do not coincide"
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert not any("e" in text for text in texts)
    plt.close(ax.figure)


@pytest.mark.parametrize("days", [8, 16, 28, 33, 52, 80])
def test_dates_have_one_distance_where_a_month_ends(days):
    _, ax = plt.subplots()
    time_axis(ax.xaxis, "Time")
    start = int(date2num(pd.Timestamp("2026-11-09")))
    ax.set_xlim(start, start + days)
    ticks = ax.get_xticks()
    assert len(ticks) >= 4 and len(set(np.diff(ticks))) == 1
    assert start <= ticks[0] and ticks[-1] <= start + days and ticks[-1] + ticks[1] - ticks[0] > start + days


@pytest.mark.parametrize(
    ("since", "until", "first", "last", "date"),
    [
        ("2026-03-02", "2026-03-03", "02 Mar", "03 Mar", "02 Mar 2026"),
        ("2026-03-02 23:00", "2026-03-03", "23:00", "03 Mar", "02 Mar 2026"),
        ("2026-03-02 20:00", "2026-03-03 04:00", "20:00", "04:00", "2026"),
        ("2025-12-31", "2026-01-01", "31 Dec", "01 Jan", "31 Dec 2025"),
        ("2025-12-28", "2026-01-01", "28 Dec", "01 Jan", "2025"),
        ("2025-12-28", "2026-01-04", "28 Dec", "04 Jan", "2025 to 2026"),
    ],
)
def test_a_time_axis_has_the_date_of_its_window_and_not_of_its_end(since, until, first, last, date):
    figure, ax = plt.subplots(figsize=c.SIZE)
    time_axis(ax.xaxis, "Time")
    ax.set_xlim(*(date2num(pd.Timestamp(time)) for time in (since, until)))
    figure.draw_without_rendering()
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert (labels[0], labels[-1], ax.xaxis.get_offset_text().get_text()) == (first, last, date)
    assert labels.count("00:00") == 0, "midnight is a date"
    plt.close(figure)


@pytest.mark.parametrize(
    "picture", ["verdict.quorums", "economy.balance", "cost.estimate", "verdict.latency_distribution", "verdict.outcomes"]
)
def test_numbers_below_a_narrow_picture_do_not_overlap(picture):
    name = next(name for name, (drawn, *_) in PICTURES.items() if drawn == picture)
    rows, change = CASES["huge"]
    ax = plot(change(PICTURES[name][1](rows)), picture=picture)
    draw_pictures(ax.figure)  # leaves the narrow one
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()
    ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    boxes = [label.get_window_extent() for at, label in ticks if low <= at <= high and label.get_text()]
    assert len(boxes) > 1 and not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_what_is_unknown_of_a_quorum_is_no_missing_value():
    frame = result("verdict.quorums")(3)
    frame["threshold"] = pd.array([None] * 3, frame["threshold"].dtype)
    assert "unknown of" in plot(frame, picture="verdict.quorums").get_yticklabels()[0].get_text()


def test_a_weight_that_is_unknown_is_not_0():
    frame = result("activity.what_if")(3)
    frame["weight_before"] = frame["weight_after"] = pd.array([10, None, 30], frame["weight_before"].dtype)
    assert len(plot(frame, picture="activity.what_if").get_yticklabels()) == 2
