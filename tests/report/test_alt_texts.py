"""Texts for readers who do not see a plot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter

from ledgerframes.report.alt_texts import describe_figure


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    yield
    plt.close("all")


def test_bars_are_named_with_their_texts() -> None:
    _, ax = plt.subplots()
    bars = ax.barh(range(5), [50, 20, 15, 10, 5])
    ax.bar_label(bars, labels=["50 kB", "20 kB", "15 kB", "10 kB", "5 kB"])
    ax.set_yticks(range(5), labels=["alice", "bob", "carol", "dave", "erin"])
    ax.set_title("Traffic cost", loc="left")
    ax.annotate("Cost known for 90 %", (0, 1), xycoords="axes fraction")
    ax.set_xlabel("Cost (kB)")
    text = "Traffic cost. Cost known for 90 %. Cost (kB): alice 50 kB; bob 20 kB; carol 15 kB; 2 more rows."
    assert describe_figure(ax.figure) == text


def test_points_are_named_with_their_values() -> None:
    _, ax = plt.subplots()
    ax.errorbar([0.25, 0.5], [0, 1], xerr=0.1, fmt="o", capsize=3)
    ax.plot([0.75], [1], "s")
    ax.set_yticks([0, 1, 2], labels=["alice (20)", "bob (8)", "carol (0)"])
    ax.set_xlabel("Rate")
    assert describe_figure(ax.figure) == "Rate: alice (20) 0.25; bob (8) 0.5, 0.75; carol (0)."


def test_circles_are_points_with_their_values_and_one_row_is_singular() -> None:
    _, ax = plt.subplots()
    ax.scatter([0.25, 0.5, 0.75, 1], range(4))
    ax.set_yticks(range(4), labels=["alice", "bob", "carol", "dave"])
    ax.set_xlabel("Rate")
    assert describe_figure(ax.figure) == "Rate: alice 0.25; bob 0.5; carol 0.75; 1 more row."


def test_one_point_has_its_value() -> None:
    _, ax = plt.subplots()
    ax.plot([3], [32.7], "o")
    ax.axhline(50)
    ax.set(xlabel="Hour", ylabel="Rate")
    assert describe_figure(ax.figure) == "Rate by Hour: 32.7."


def test_bars_are_rows_below_a_title_of_the_axis() -> None:
    _, ax = plt.subplots()
    ax.barh(range(2), [10, 5], left=[0, 10])
    ax.set_yticks(range(2), labels=["view 0", "view 1"])
    ax.set(xlabel="Cost (kB)", ylabel="Envelope")
    assert describe_figure(ax.figure) == "Envelope by Cost (kB): view 0 10; view 1 5."


def test_series_have_their_range_and_the_time_of_the_highest() -> None:
    _, ax = plt.subplots()
    times = [datetime(2026, 11, day, tzinfo=UTC) for day in range(2, 6)]
    ax.plot(times, [3, 1, 9, float("nan")], label="rejected")
    ax.plot(times, [float("nan")] * 4, label="unknown")
    ax.axhline(5, color="black")
    ax.set_ylabel("Requests")
    assert describe_figure(ax.figure) == "Requests: rejected from 1 to 9, highest at 2026-11-04 00:00; unknown without values."


def test_a_series_of_one_value_has_no_range() -> None:
    _, ax = plt.subplots()
    ax.stairs([5], [0, 1], fill=True, label="share")
    ax.set_ylabel("Bytes")
    assert describe_figure(ax.figure) == "Bytes: share 5."


def test_areas_have_their_own_heights() -> None:
    _, ax = plt.subplots()
    ax.stairs([5, 9], [0, 1, 2], baseline=[4, 2], fill=True, label="upper")
    ax.set_ylabel("Bytes")
    assert describe_figure(ax.figure) == "Bytes: upper from 1 to 7, highest at 1.5."


def test_an_empty_plot_has_its_message() -> None:
    _, ax = plt.subplots()
    ax.set_title("Nothing", loc="left")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(0.5, 0.5, "No request in this window.", transform=ax.transAxes)
    assert describe_figure(ax.figure) == "Nothing. No request in this window."


def test_a_row_with_several_bars_names_each_of_them() -> None:
    _, ax = plt.subplots()
    for number, (name, widths) in enumerate({"moved": [3, 1], "waits": [0, 2]}.items()):
        bars = ax.barh([0.4 * number, 1 + 0.4 * number], widths, height=0.4, label=name)
        ax.bar_label(bars, [str(width) for width in widths])
    ax.set_yticks([0, 1], ["EUR", "USD"])
    ax.set_xlabel("Exercises")
    assert describe_figure(ax.figure) == "Exercises: EUR moved 3, waits 0; USD moved 1, waits 2."


def test_a_text_has_dollar_signs_and_rounded_numbers_below_zero() -> None:
    _, ax = plt.subplots()
    ax.barh([0], [-1.23456])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.10g}".replace("-", "\N{MINUS SIGN}")))
    ax.set_yticks([0], [r"Pay\$one\$"])
    assert describe_figure(ax.figure) == "Pay$one$ −1.23."
