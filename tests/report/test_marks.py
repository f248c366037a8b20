"""What a pointer says of the marks of a picture: the names and values that are drawn, where they are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

import pandas as pd
import pytest
from matplotlib import dates
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

import ledgerframes as lf
from ledgerframes.report.marks import MAX_MARKS, find_marks, locate_marks
from ledgerframes.report.picture_html import MARK_SCALE, MARKS, NARROW_SVG, SVG
from ledgerframes.report.pictures import draw_pictures

from .conftest import EVIL

DAYS = [datetime(2026, 11, day, tzinfo=UTC) for day in range(2, 6)]


@pytest.fixture
def ax() -> Iterator[Axes]:
    _, ax = plt.subplots()
    yield ax
    plt.close("all")


@pytest.fixture(scope="module")
def day() -> lf.Frames:
    return lf.load_events(lf.connect("sandbox", events=400, days=1), during="2026-11-08")


def texts(ax: Axes) -> list[str]:
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    return [text for *_, text in locate_marks(find_marks(figure), figure)]


def in_percent(axis_is_x: bool, ax: Axes, label: str) -> None:
    axis = ax.xaxis if axis_is_x else ax.yaxis
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number * 100:.10g}"))
    axis.set_label_text(label)


def times(ax: Axes) -> None:
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(dates.AutoDateLocator()))  # type: ignore[no-untyped-call]
    ax.fmt_xdata = lambda number: f"{dates.num2date(number):%d %b}"  # type: ignore[no-untyped-call]


# -- texts --------------------------------------------------------------------------------------------------------------


def test_a_bar_has_the_name_of_its_row_and_its_text(ax: Axes) -> None:
    bars = ax.barh([0, 1], [50, 20])
    ax.bar_label(bars, labels=["50 kB  (71 %)", "20 kB  (29 %)"])
    ax.set_yticks([0, 1], labels=["alice::1220ab…abab", "bob\n(3)"])
    assert texts(ax) == ["alice::1220ab…abab: 50 kB  (71 %)", "bob (3): 20 kB  (29 %)"]


def test_a_row_of_a_stack_has_a_value_for_each_part(ax: Axes) -> None:
    ax.barh([0, 1], [0.5, 0.25], label="paid")
    ax.barh([0, 1], [0.1, 0], left=[0.5, 0.25], label="wasted")
    ax.set_yticks([0, 1], labels=["alice", "bob"])
    in_percent(True, ax, "Share (%)")
    assert texts(ax) == ["alice\npaid: 50 %\nwasted: 10 %", "bob\npaid: 25 %\nwasted: 0 %"]


def test_points_of_a_row_have_the_names_of_their_series(ax: Axes) -> None:
    ax.plot([0.5, 0.7], [0, 1], "o", label="p50")
    ax.scatter([0.9], [0], label="p95")
    ax.hlines([0], [0.5], [0.9])
    ax.axvline(0.3)
    ax.set_yticks([0, 1], labels=["alice", "bob"])
    ax.set_xlabel("Latency (s)")
    assert texts(ax) == ["alice\np50: 0.5 s (0.5 to 0.9 s)\np95: 0.9 s (0.5 to 0.9 s)", "bob\np50: 0.7 s"]


def test_a_value_has_the_interval_that_it_lies_in(ax: Axes) -> None:
    middles = [day.replace(hour=12) for day in DAYS[:3]]
    ax.plot(middles, [0.25, 0.5, 0.5], "o-", label="rate")
    ax.errorbar(middles, [0.25, 0.5, 0.5], yerr=[0.125, 0.25, float("nan")], fmt="none")
    in_percent(False, ax, "Share (%)")
    times(ax)
    assert texts(ax) == ["02 Nov\nrate: 25 % (12.5 to 37.5 %)", "03 Nov\nrate: 50 % (25 to 75 %)", "04 Nov\nrate: 50 %"]


def test_a_band_has_its_ends_at_each_position(ax: Axes) -> None:
    ax.fill_between(DAYS[:3], [1, 2, 2], [3, 5, 2], label="4 of 5 cases")
    ax.plot(DAYS[:3], [2, 4, float("nan")], label="mean")
    ax.set_ylabel("Balance (kB)")
    times(ax)
    assert texts(ax) == [
        "02 Nov\nmean: 2 kB\n4 of 5 cases: 1 to 3 kB",
        "03 Nov\nmean: 4 kB\n4 of 5 cases: 2 to 5 kB",
        "04 Nov\n4 of 5 cases: 2 kB",
    ]


def test_a_band_of_steps_has_the_ends_of_the_lines_in_it(ax: Axes) -> None:
    ax.fill_between(DAYS[:2], [1, 5], [3, 9], step="post", label="all votes")
    ax.vlines(DAYS[:2], [1, 5], [3, 9], label="_all votes")
    ax.step(DAYS[:2], [2, 6], where="post", marker="o", label="median")
    ax.set_ylabel("Price (USD)")
    times(ax)
    assert texts(ax) == ["02 Nov\nmedian: 2 USD\nall votes: 1 to 3 USD", "03 Nov\nmedian: 6 USD\nall votes: 5 to 9 USD"]


def test_a_bar_has_its_interval(ax: Axes) -> None:
    ax.barh([0, 1], [2, 3], label="p50")
    ax.hlines([0, 1], [1, 4], [3, 5])
    ax.set_yticks([0, 1], labels=["alice", "bob"])
    ax.set_xlabel("Latency (s)")
    assert texts(ax) == ["alice\np50: 2 s (1 to 3 s)", "bob\np50: 3 s"]


def test_a_period_has_the_values_of_lines_and_areas_with_their_unit(ax: Axes) -> None:
    ax.stairs([3, 5], dates.date2num(DAYS[:3]), baseline=[1, 1], fill=True, label="rejected")  # type: ignore[no-untyped-call]
    middles = [day.replace(hour=12) for day in DAYS[:2]]
    ax.plot(middles, [1.5, float("nan")], "o-", label="usual")
    ax.plot(middles, [1.5, 2], "o", markerfacecolor="white")  # a second drawing of points, without a name
    ax.axhline(4, label="limit")
    ax.set_ylabel("Traffic cost (kB)")
    times(ax)
    assert texts(ax) == ["02 Nov\nusual: 1.5 kB\nrejected: 2 kB", "03 Nov\nrejected: 4 kB"]


def test_a_line_without_a_name_needs_none(ax: Axes) -> None:
    ax.plot(DAYS, [0.5, 0.25, float("nan"), 1])
    in_percent(False, ax, "Share (%)")
    times(ax)
    assert texts(ax) == ["02 Nov: 50 %", "03 Nov: 25 %", "04 Nov: no value", "05 Nov: 100 %"]


def test_a_position_that_is_no_time_has_the_name_of_its_axis(ax: Axes) -> None:
    ax.plot([41_200, 41_201, 41_202], [1, 2, 3])
    ax.set(xlabel="Mining round", ylabel="Reward (coin)")
    assert texts(ax)[0] == "Mining round 41,200: 1 coin"
    ax.fmt_xdata = lambda number: f"{number:.0f} to {number + 9:.0f}"
    assert texts(ax)[0] == "Mining round 41200 to 41209: 1 coin"


def test_a_point_without_a_position_has_no_mark(ax: Axes) -> None:
    ax.plot([0.0, float("nan"), 1.0], [1.0, 2.0, 3.0], label="share")
    ax.set_xlabel("Parties")
    assert texts(ax) == ["Parties 0\nshare: 1", "Parties 1\nshare: 3"]


def test_a_point_between_two_quantities_has_both(ax: Axes) -> None:
    ax.plot([1, 2], [3, 4], "o", label="matched")
    ax.plot([0, 5], [0, 5], "--", label="equal")
    ax.set(xlabel="Estimated (kB)", ylabel="Actual (kB)")
    assert texts(ax) == ["matched\nEstimated: 1 kB\nActual: 3 kB", "matched\nEstimated: 2 kB\nActual: 4 kB"]


def test_a_cell_has_its_row_its_start_and_what_it_says(ax: Axes) -> None:
    start = float(dates.date2num(DAYS[0]))  # type: ignore[no-untyped-call]
    ax.broken_barh([(start, 0.9), (start + 1, 0.9)], (-0.36, 0.72), label="final")
    ax.broken_barh([(start, 5)], (0, 1), transform=ax.get_xaxis_transform())  # behind all rows
    ax.set_yticks([0], labels=["events"])
    times(ax)
    assert texts(ax) == ["events\n02 Nov: final", "events\n03 Nov: final"]


def test_a_panel_has_its_title(ax: Axes) -> None:
    panel = ax.inset_axes((0, 0, 1, 1))
    panel.set_title("alder-validator-1", loc="left")
    panel.plot(DAYS, [1, 2, 3, 4], label="_around")
    panel.plot(DAYS, [5, 6, 7, 8], label="_own")
    ax.set_ylabel("Latency (s)")
    times(panel)
    assert texts(ax)[0] == "alder-validator-1\n02 Nov: 5 s"


def test_a_dollar_sign_is_one_character(ax: Axes) -> None:
    ax.barh([0], [1])
    ax.set_yticks([0], labels=[r"Pay\$one\$"])
    assert texts(ax) == ["Pay$one$: 1"]


def test_many_marks_are_thinned_evenly(ax: Axes) -> None:
    ax.plot(range(10 * MAX_MARKS), range(10 * MAX_MARKS))
    ax.set_xlabel("Mining round")
    found = texts(ax)
    assert len(found) == MAX_MARKS
    assert found[:2] == ["Mining round 0: 0", "Mining round 10: 10"]


# -- values and places --------------------------------------------------------------------------------------------------


def test_the_values_are_those_of_the_result(day: lf.Frames) -> None:
    spend = lf.cost.spend(day, every="1h")
    _, metadata = draw_pictures(lf.plot(spend).figure)
    marks = metadata[MARKS][SVG]
    assert len(marks) == len(spend) and spend["total_traffic_cost"].isna().any()
    for (*_, text), row in zip(marks, spend.itertuples(), strict=True):
        start, *values = text.split("\n")
        numbers = {name: float(value.removesuffix(" kB")) for name, value in (line.split(": ") for line in values)}
        assert start.startswith(f"{row.period_start:%Y-%m-%d %H:%M}")
        if pd.isna(row.total_traffic_cost):
            assert start.endswith(": no value")
            continue
        expected = {"rejected": row.rejected_traffic_cost, "overhead (no views)": row.overhead_traffic_cost}
        known = {name: int(value) / 1000 for name, value in expected.items() if pd.notna(value)}
        known["not rejected"] = int(row.total_traffic_cost) / 1000 - known.get("rejected", 0)
        assert numbers == pytest.approx(known, rel=0.005)  # three digits


@pytest.mark.parametrize("variant", [SVG, NARROW_SVG])
def test_periods_lie_side_by_side_on_both_pictures(day: lf.Frames, variant: str) -> None:
    _, metadata = draw_pictures(lf.plot(lf.cost.spend(day, every="1h")).figure)
    marks = metadata[MARKS][variant]
    ends = [(left, left + width) for left, _, width, _, _ in marks]
    assert all(abs(end - start) <= 1 for (_, end), (start, _) in pairwise(ends))
    assert ends[0][0] > 0 and ends[-1][1] < MARK_SCALE


def test_rows_of_a_narrow_picture_have_their_full_names(day: lf.Frames) -> None:
    data, metadata = draw_pictures(lf.plot(lf.cost.spend(day, by="participant")).figure)
    wide, narrow = ([text for *_, text in metadata[MARKS][kind]] for kind in (SVG, NARROW_SVG))
    assert wide == narrow and "…" in wide[0].split(": ")[0]
    assert wide[0].split(": ")[0].split("::")[0] in data[SVG]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_mark_is_where_its_point_is_drawn(ax: Axes, scale: str) -> None:
    ax.plot([1, 10, 100], [1, 2, 3], "o-")
    ax.set(xscale=scale, xlabel="Latency (s)")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    for x, (left, _, width, _, text) in zip((1, 10, 100), locate_marks(find_marks(figure), figure), strict=True):
        at = ax.transData.transform((x, 1))[0] / figure.bbox.width * MARK_SCALE
        assert left - 1 <= at <= left + width + 1 and text.startswith(f"Latency {x} s")


def test_a_point_has_room_for_a_pointer(ax: Axes) -> None:
    ax.plot([1, 2], [3, 4], "o")
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    x, y = ax.transData.transform((1, 3)) / figure.bbox.size * MARK_SCALE
    (left, top, width, height, _), _ = locate_marks(find_marks(figure), figure)
    assert left + width / 2 == pytest.approx(x, abs=1) and MARK_SCALE - top - height / 2 == pytest.approx(y, abs=1)
    assert min(width, height) > MARK_SCALE / 100


def test_a_hostile_name_is_a_text(ax: Axes) -> None:
    ax.barh([0], [1])
    ax.set_yticks([0], labels=[EVIL])
    assert texts(ax) == [f"{EVIL}: 1"]
