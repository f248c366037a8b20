"""Every picture draws for no rows, one row and many, has its units, and leaves nothing behind."""

from __future__ import annotations

import functools
import inspect
import pickle
import pydoc
import re
from itertools import pairwise, product
from operator import attrgetter
from types import SimpleNamespace

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import every_nth
from matplotlib import pyplot as plt

import ledgerframes as lf
from ledgerframes import plot
from ledgerframes.analysis import CALLS, FIGURES
from ledgerframes.analysis.figures import ResultColumn
from ledgerframes.errors import UsageError
from ledgerframes.plots import PICTURES as DRAWINGS
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots._columns import show_axis
from ledgerframes.plots._results import percent
from ledgerframes.plots.anatomy_picture import _confirmers
from ledgerframes.report.marks import find_marks, locate_marks

START = pd.Timestamp("2026-11-08", tz="UTC")
NAMESPACE = "1220" + "ab34" * 16
GROUPS = 8
GRAY = "#8b9099"  # of all other groups
LATENCIES = {"p50": 400_000, "p90": 900_000, "p95": 1_200_000, "p99": 30_000_001, "max": 30_000_001, "latency": 300_000}
LATENCIES |= {"added": 2_000_000, "median_latency": 500_000, "age": 40 * 86_400_000_000}
for prefix in ("", "rejected_"):
    for name in ("p50", "p90", "p95", "p99"):
        LATENCIES |= {f"{prefix}{name}{end}": LATENCIES[name] for end in ("", "_low", "_high")}
LATENCIES["rejected_max"] = LATENCIES["max"]
SHARES = {
    "low": 0.08,
    "high": 0.22,
    "lower": 0.1,
    "upper": 0.3,
    "center": 0.2,
    "coverage": 0.9,
    "coverage_bytes": 0.9,
    "coverage_time": 1.0,
}
CATEGORIES = {
    "why": [None, "rejected"],
    "kind": ["with views", "without views"],
    "request_kind": ["transaction", "not visible"],
    "population": ["all", "all"],
    "network": ["devnet", "devnet"],
    "reject_kind_heuristic": ["contention", "timeout"],
    "top_cause": ["contention", "timeout"],
    "verdict_result": ["VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED"],
    "size": ["under 2 kB", "50 kB and more"],
    "judgment": ["dearer", "no clear change"],
    "few_requests_for": [None, "p95"],
    "outcome": ["different", "equal"],
    "statistic": ["p95", "p95"],
    "member": ["party", "party"],
    "reason": ["rounding", None],
    "scheme": ["traffic", "markers"],
    "dataset": ["events", "bulk"],
    "status": ["ok", "degraded"],
    "event": ["bought", "expired"],
    "for_whom": ["own", "other"],
    "era": ["weights", "free responses"],
    "source": ["one.example", "two.example"],
    "aspect": ["verdict", "parties"],
    "user_status": ["known", "other participant"],
    "link": ["weights", "root"],
}


BY_NAME = {
    "template_name": lambda group: [f"Some.Long.Module.Name:Template{each}" for each in group],
    "choice": lambda group: "Template_Choose$one$",
    "parties": lambda group: [f"a::{NAMESPACE}, b::{NAMESPACE}, c-{each}" for each in group],
    "label": lambda group: ["no views (mediator or root hash)" if each == 0 else f"view {each}" for each in group],
    "hour": lambda group: group % 24,
    "weekday": lambda group: group // 24 % 7,
    "day": lambda group: START + pd.to_timedelta(group, unit="D"),
    "threshold": lambda group: 2,
    "round_number": lambda group: 41_200 + group,
    "parties_zero": lambda group: 0,
    "party_count": lambda group: 3,
    "part": lambda group: pd.Categorical(["envelope"] * len(group), categories=["node", "view", "envelope", "activity"]),
}
BY_DTYPE = {
    "str": lambda name, group: [f"party-{each}::{NAMESPACE}{each:02d}" for each in group],
    "category": lambda name, group: [CATEGORIES[name][each % 2] for each in group],
    "timedelta64[us]": lambda name, group: np.full(len(group), LATENCIES.get(name, 500_000)).view("timedelta64[us]"),
    "float64": lambda name, group: SHARES.get(name, np.linspace(0.1, 0.5, len(group))),
    "boolean": lambda name, group: np.arange(len(group)) > 5,
    "datetime64[us, UTC]": lambda name, group: START + pd.to_timedelta(group, unit="h"),
}


def values(column, group):
    """Values of one declared column for rows of these groups."""
    has_other_meaning = column.dtype.startswith("datetime") or (column.name, column.dtype) == ("parties", "int64")
    if column.name in BY_NAME and not has_other_meaning:
        return BY_NAME[column.name](group)
    numbers = 9_000 * np.arange(len(group), 0, -1)
    return BY_DTYPE.get(column.dtype, lambda name, group: numbers)(column.name, group)


def result(name, by=None, *, over_time=False):
    """A function that makes a result of so many rows, as it is declared."""
    return lambda rows: declared_rows(name, by, rows, over_time=over_time).copy()


@functools.cache
def declared_rows(name, by, rows, *, over_time):
    figure = FIGURES[name]
    columns = figure.result_columns(by, has_periods=over_time)
    group = np.arange(rows) % GROUPS if over_time and by else np.arange(rows)
    rows_of_result = pd.DataFrame({column.name: values(column, group) for column in columns}, index=range(rows))
    if over_time:
        starts = START + pd.to_timedelta(np.arange(rows) // (GROUPS if by else 1), unit="h")
        rows_of_result = rows_of_result.assign(period_start=starts, period_end=starts + pd.Timedelta(hours=1))
    if name == "cost.overhead":  # three rows of each
        kinds = [*CATEGORIES["kind"], "unassigned"] * rows
        rows_of_result = rows_of_result.loc[rows_of_result.index.repeat(3)].reset_index(drop=True).assign(kind=kinds)
    if figure.distinct is not None:  # as in any result, a period and group have one row
        names = [*(["period_start"] if over_time else []), *figure.grouping(by).key_names, *figure.distinct]
        rows_of_result = rows_of_result.drop_duplicates(names, ignore_index=True) if names else rows_of_result.head(1)
    amounts = {column.name: pa.decimal128(38, 10) for column in columns if column.dtype.startswith("decimal")}
    amounts |= {name: pa.decimal128(38, 16) for name in amounts if name == "allowance"}
    dtypes = {column.name: column.dtype for column in columns if column.name not in amounts}
    return rows_of_result.astype({**dtypes, **{name: pd.ArrowDtype(kind) for name, kind in amounts.items()}})


def verdicts(rows):
    starts = START + pd.Series(pd.to_timedelta(np.arange(rows), unit="h"))
    waited = pd.Series((np.arange(rows) * 100_000).view("timedelta64[us]"))
    results = pd.Categorical(CATEGORIES["verdict_result"] * rows)[:rows]
    return pd.DataFrame({"record_time": starts, "finalization_time": starts + waited, "verdict_result": results})


def per_round(name, by=None):
    """Results with eight parties in each round, or one row per round."""

    def frame(rows):
        rounds = 41_200 + np.arange(rows) // (GROUPS if by else 1)
        leading = pd.DataFrame({"round_number": rounds, "is_partial": False}).astype(
            {"round_number": "Int64", "is_partial": "boolean"}
        )
        others = result(name, by, over_time=True)(rows).drop(columns=["period_start", "period_end", "is_partial"])
        return pd.concat([leading, others], axis=1)

    return frame


def one_party(rows):
    frame = result("activity.rewards", "party")(rows).assign(party="app::" + NAMESPACE)
    return frame.astype({"party": "str"})


def estimates(rows):
    return result("cost.estimate", "request")(rows).assign(outcome="matched")


def transfers(rows):
    kinds = [
        ("TransferFactory_Transfer", "TransferInstructionResult_Completed"),
        ("TransferFactory_Transfer", "TransferInstructionResult_Pending"),
        ("Allocation_ExecuteTransfer", None),
        ("TransferInstruction_Reject", "TransferInstructionResult_Failed"),
    ]
    columns = {
        "choice": [kinds[number % 4][0] for number in range(rows)],
        "output": [kinds[number % 4][1] for number in range(rows)],
        "instrument_id": [None if number % 5 == 4 else f"EUR-{number % 3}" for number in range(rows)],
        "instrument_admin": ["bank::1220abcd"] * rows,
    }
    texts = {name: pd.Series(values, range(rows), dtype="str") for name, values in columns.items()}
    return result("economy.transfers")(rows).assign(**texts)


def leaders(of, *, over_time=False):
    """A function that makes a ranking of these amounts."""

    def frame(rows):
        ranked = result("economy.leaderboard", over_time=over_time)(rows)
        ranked.attrs["of"] = of
        return ranked

    return frame


def limited(make, most):
    return lambda rows: make(min(rows, most))


DRAWN = [name for name in FIGURES if name in DRAWINGS]
PLACES = ("rank", "rank_before", "change", "round_number", "hour", "weekday")  # numbers that cannot be large
TIME, COST, SHARE, LATENCY = "Record time (UTC)", "raffic cost (", "(%)", "Latency (s)"
PICTURES = {
    "spend over time": ("cost.spend", result("cost.spend", over_time=True), TIME, COST),
    "spend by participant": ("cost.spend", result("cost.spend", "participant"), COST, ""),
    "spend by participant over time": ("cost.spend", result("cost.spend", "participant", over_time=True), TIME, COST),
    "spend by view": ("cost.spend", result("cost.spend", "view"), COST, ""),
    "largest requests": ("cost.requests", result("cost.requests"), COST, ""),
    "overhead": ("cost.overhead", limited(result("cost.overhead"), 1), COST, ""),
    "overhead over time": ("cost.overhead", result("cost.overhead", over_time=True), TIME, COST),
    "overhead by participant over time": (
        "cost.overhead",
        result("cost.overhead", "participant", over_time=True),
        TIME,
        SHARE,
    ),
    "waste over time": ("cost.wasted", result("cost.wasted", over_time=True), TIME, SHARE),
    "waste by participant": ("cost.wasted", result("cost.wasted", "participant"), SHARE, ""),
    "waste by participant over time": ("cost.wasted", result("cost.wasted", "participant", over_time=True), TIME, SHARE),
    "comparison": ("cost.compare", result("cost.compare"), COST, ""),
    "comparison by version": ("cost.compare", result("cost.compare", "version"), COST, ""),
    "comparison of medians": ("cost.compare_medians", result("cost.compare"), COST, ""),
    "estimates": ("cost.estimate", estimates, COST, COST),
    "budgets": ("cost.budget", result("cost.budget"), SHARE, ""),
    "concentration": ("cost.concentration", limited(result("cost.concentration"), 1), SHARE, ""),
    "concentration over time": ("cost.concentration", result("cost.concentration", over_time=True), TIME, SHARE),
    "runway": ("cost.runway", result("cost.runway"), "Time (UTC)", "Traffic balance ("),
    "head of line": ("verdict.head_of_line", result("verdict.head_of_line"), TIME, ""),
    "slow requests by party": ("verdict.waited_for", result("verdict.waited_for"), SHARE, ""),
    "price votes": ("votes.price", result("votes.price"), "Time of the observation", "(USD per coin)"),
    "ages of votes": ("votes.stale", result("votes.stale"), "(days)", "(USD per coin)"),
    "anatomy": ("cost.anatomy", result("cost.anatomy"), COST, "Envelope"),
    "outcomes by party": ("verdict.outcomes", result("verdict.outcomes", "party"), SHARE, ""),
    "outcomes by hour": ("verdict.outcomes", limited(result("verdict.outcomes", "hour"), 24), "Hour of day (UTC)", SHARE),
    "outcomes by day": ("verdict.outcomes", result("verdict.outcomes", "day"), TIME, SHARE),
    "outcomes over time": ("verdict.outcomes", result("verdict.outcomes", over_time=True), TIME, SHARE),
    "outcomes by party over time": ("verdict.outcomes", result("verdict.outcomes", "party", over_time=True), TIME, SHARE),
    "latency by party": ("verdict.latency", result("verdict.latency", "party"), LATENCY, ""),
    "latency over time": ("verdict.latency", result("verdict.latency", over_time=True), TIME, LATENCY),
    "latency by party over time": ("verdict.latency", result("verdict.latency", "party", over_time=True), TIME, LATENCY),
    "latency distribution": ("verdict.latency_distribution", verdicts, LATENCY, SHARE),
    "rejections": ("verdict.rejections", result("verdict.rejections"), "Hour of day (UTC)", ""),
    "quorums": ("verdict.quorums", result("verdict.quorums"), "Quorums", ""),
    "activity weights": ("activity.weights", result("activity.weights", "party"), "Activity weight (weighted ", ""),
    "activity weights over time": (
        "activity.weights",
        result("activity.weights", over_time=True),
        TIME,
        "Activity weight (weighted ",
    ),
    "activity shares over time": (
        "activity.weights",
        result("activity.weights", "party", over_time=True),
        TIME,
        SHARE,
    ),
    "activity shares per round": ("activity.weights", per_round("activity.weights", "party"), "Mining round", SHARE),
    "activity rounds": ("activity.rewards", result("activity.rewards"), "Mining round", "Reward (coin)"),
    "activity rounds by party": ("activity.rewards", one_party, "Mining round", "Reward (coin)"),
    "activity concentration": ("activity.concentration", limited(result("activity.concentration"), 1), SHARE, ""),
    "activity concentrations": ("activity.concentration", result("activity.concentration", over_time=True), TIME, SHARE),
    "concentration per round": ("activity.concentration", per_round("activity.concentration"), "Mining round", SHARE),
    "lorenz": ("activity.lorenz", result("activity.lorenz"), SHARE, SHARE),
    "reconcile": ("activity.reconcile", result("activity.reconcile"), "Records", ""),
    "reconcile totals": ("activity.reconcile_totals", limited(result("activity.reconcile_totals"), 2), "Records", ""),
    "what if": ("activity.what_if", result("activity.what_if"), "Change of the activity weight (weighted ", ""),
    "coin per round": ("economy.flows", per_round("economy.flows"), "Mining round", "(coin)"),
    "coin over time": ("economy.flows", result("economy.flows", over_time=True), TIME, "(coin)"),
    "coin": ("economy.flows", limited(result("economy.flows"), 1), "Whole window", "(coin)"),
    "burn and mint over time": ("economy.burn_mint", result("economy.burn_mint", over_time=True), TIME, "Burned per coin"),
    "burn and mint": ("economy.burn_mint", limited(result("economy.burn_mint"), 1), "Burned per coin", ""),
    "balances": ("economy.balance", result("economy.balance"), "Balance (coin)", ""),
    "balances over time": ("economy.balance", result("economy.balance", over_time=True), TIME, "Balance (coin)"),
    "leaderboard": ("economy.leaderboard", leaders("issued"), "Rewards issued (coin)", ""),
    "leaderboard over time": ("economy.leaderboard", leaders("bytes_bought", over_time=True), "Traffic bought (", ""),
    "reward split": ("economy.reward_split", result("economy.reward_split"), "Reward (coin)", ""),
    "purchases": ("economy.purchases", result("economy.purchases"), "Traffic bought (", ""),
    "purchases over time": ("economy.purchases", result("economy.purchases", over_time=True), TIME, "Traffic bought ("),
    "transfers": ("economy.transfers", transfers, "Exercises", ""),
    "names": ("economy.names", result("economy.names"), TIME, "Names"),
    "names over time": ("economy.names", result("economy.names", over_time=True), TIME, "Names"),
    "calendar": ("reconcile.coverage", result("reconcile.coverage", over_time=True), TIME, ""),
    "digests": ("reconcile.digests", result("reconcile.digests"), TIME, ""),
    "bulk": ("reconcile.bulk_totals", result("reconcile.bulk_totals"), "Updates", ""),
    "bulk over time": ("reconcile.bulk_totals", result("reconcile.bulk_totals", over_time=True), TIME, ""),
    "nodes": ("reconcile.nodes", result("reconcile.nodes"), "Updates", ""),
    "nodes over time": ("reconcile.nodes", result("reconcile.nodes", over_time=True), TIME, ""),
    "bounds": ("reconcile.bounds", result("reconcile.bounds"), "Offset", ""),
    "contracts": ("reconcile.contracts", result("reconcile.contracts"), "Contracts", ""),
    "supply": ("reconcile.supply", limited(result("reconcile.supply"), 1), "Amount (coin)", ""),
    "prices": ("state.rounds", result("state.rounds"), "Opening of the round (UTC)", "Coin price (USD)"),
    "featured rights": ("state.featured", result("state.featured"), TIME, ""),
    "super validators": ("state.super_validators", result("state.super_validators"), TIME, ""),
    "evidence": ("grant.evidence", result("grant.evidence"), TIME, "Bytes of outside parties ("),
    "quorums over time": ("verdict.quorums", result("verdict.quorums", over_time=True), TIME, "Quorums"),
}


def one_line(text):
    return " ".join(text.split())


OF_WINDOW = [(name, by, False) for name in DRAWN for by in (None, *FIGURES[name].by)]
OF_PERIODS = [(name, by, True) for name, by, _ in OF_WINDOW if FIGURES[name].has_periods]


@pytest.fixture(autouse=True)
def nothing_stays():
    """No figure is open before a test, and no test changes the user's settings of matplotlib."""
    assert plt.get_fignums() == []
    before = mpl.rcParams.copy()
    yield
    plt.close("all")
    assert mpl.rcParams == before


OF_SIZES = [*product(PICTURES, [200]), *every_nth(product(PICTURES, [0, 1]), 3)]


@pytest.mark.parametrize(("name", "rows"), OF_SIZES)
def test_draws_on_one_new_figure_with_labels_that_fit(name, rows):
    picture, frame, x, y = PICTURES[name]
    ax = plot(frame(rows), picture=picture)
    ax.figure.draw_without_rendering()  # places all texts, and leaves out the pixels, which nobody looks at
    assert len(plt.get_fignums()) == 1
    if not rows:
        assert any(text.get_text().endswith(".") for text in ax.texts)
        assert ax.get_title(loc="left"), "a title says what would be there"
        return
    assert any(x in panel.get_xlabel() for panel in ax.figure.axes)
    assert y in ax.get_ylabel()
    assert ax.get_title(loc="left")
    renderer, whole = ax.figure.canvas.get_renderer(), ax.figure.bbox
    for axis, low, high in ((ax.xaxis, "x0", "x1"), (ax.yaxis, "y0", "y1")):
        start, end = sorted(axis.get_view_interval())
        drawn = [tick.label1 for tick in axis.get_major_ticks() if start <= tick.get_loc() <= end]
        boxes = [text.get_window_extent(renderer) for text in drawn if text.get_text()]
        assert all(box.x0 >= whole.x0 - 1 and box.x1 <= whole.x1 + 1 for box in boxes)
        boxes = sorted(boxes, key=lambda box, low=low: getattr(box, low))
        assert all(getattr(a, high) <= getattr(b, low) + 1 for a, b in pairwise(boxes))
    if rows > 1:
        assert_values_for_a_pointer(ax.figure)


def assert_values_for_a_pointer(figure):
    texts = [text for *_, text in locate_marks(find_marks(figure), figure)]
    assert texts and all(re.search(r"\d", text) for text in texts)
    assert not any(re.search(r"\bnan\b|\\\$|^:|: *$", text, re.MULTILINE) for text in texts)


@pytest.mark.parametrize(("name", "rows"), every_nth(product(PICTURES, [200, 0]), 13))
def test_draws_on_given_axes_opens_no_figure_and_leaves_the_frame(name, rows):
    picture, frame, _, _ = PICTURES[name]
    figure, drawn = mpl.figure.Figure(), frame(rows)
    axes = figure.subplots()
    assert plot(drawn, axes, picture=picture) is axes
    figure.draw_without_rendering()
    assert plt.get_fignums() == []
    pd.testing.assert_frame_equal(drawn, frame(rows))


@pytest.mark.parametrize(("name", "by", "over_time"), [*every_nth(OF_WINDOW, 2), *every_nth(OF_PERIODS, 5)])
def test_every_grouping_can_be_drawn(name, by, over_time):
    frame, axes = result(name, by, over_time=over_time)(24), mpl.figure.Figure().subplots()
    ax = plot(frame, axes, picture=name)
    assert ax is axes and plt.get_fignums() == []
    pd.testing.assert_frame_equal(frame, result(name, by, over_time=over_time)(24))
    if name == "reconcile.coverage" and not over_time:  # a calendar needs periods
        assert ax.get_title(loc="left") == "Coverage of the store" and ax.texts[-1].get_text().startswith("Events: ")
        return
    assert ax.get_title(loc="left")
    assert ("per hour" in one_line(ax.get_title(loc="left"))) == over_time


# A result of a comparison has a row of all requests, which those made here have not.
WITH_SENTENCE = [name for name in DRAWN if FIGURES[name].answer and name != "cost.compare"]


# Of groups that share requests, or have the same quorums, no sums are right.
WITHOUT_SENTENCE = {
    ("cost.wasted", "party"),
    ("verdict.outcomes", "party"),
    ("verdict.quorums", "participant"),
    ("verdict.quorums", "template"),
}


@pytest.mark.parametrize(("name", "by"), [(name, by) for name in WITH_SENTENCE for by in FIGURES[name].by if by])
def test_every_grouping_has_a_sentence(name, by):
    sentence = FIGURES[name].answer(result(name, by)(24))
    assert sentence.endswith(".") != ((name, by) in WITHOUT_SENTENCE)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("wrong", ["frames", pd.DataFrame({"party": []}), None])
def test_other_things_than_results_are_refused(name, wrong):
    call = re.escape(CALLS[name])
    with pytest.raises(UsageError, match=rf"Pass the result of {call} to lf\.plot, got"):
        plot(wrong, picture=name)


def test_a_result_whose_groups_were_changed_is_refused():
    frame = result("cost.spend", "template")(3).drop(columns="package_name")
    with pytest.raises(UsageError, match="got a DataFrame grouped by kind, template_name, choice"):
        plot(frame, picture="cost.spend")


def test_the_curve_ends_below_the_timeouts():
    times = pd.to_datetime(["2026-11-08"] * 12, utc=True).as_unit("us")
    seconds = pd.to_timedelta([0.5] * 6 + [30.1] * 6, unit="s")
    table = pd.DataFrame(
        {"record_time": times, "finalization_time": times + seconds, "verdict_result": "VERDICT_RESULT_REJECTED"}
    )
    curve = plot(table, picture="verdict.latency_distribution").lines[0]
    assert (curve.get_ydata().max(), curve.get_label()) == (0.5, "rejected (12, of which 6 timed out)")


def test_a_curve_with_a_doubtful_limit_names_no_timeouts():
    times = pd.to_datetime(["2026-11-08"] * 12, utc=True).as_unit("us")
    seconds = pd.to_timedelta([25.0] * 7 + [30.1] * 5, unit="s")
    table = pd.DataFrame(
        {"record_time": times, "finalization_time": times + seconds, "verdict_result": "VERDICT_RESULT_REJECTED"}
    )
    curve = plot(table, picture="verdict.latency_distribution").lines[0]
    assert (curve.get_ydata().max(), curve.get_label()) == (1, "rejected (12)")


def test_rejections_of_an_unknown_kind_are_drawn():
    frame = result("verdict.rejections")(3)
    ax = plot(frame.assign(reject_kind_heuristic=frame["reject_kind_heuristic"].where([False] * 3)), picture="verdict.rejections")
    assert names_beside(ax) == ["unknown (3)"]


def test_a_forecast_without_a_band_names_no_cases():
    unknown = pd.array([None] * 48, "Int64")
    ax = plot(result("cost.runway")(48).assign(balance_low=unknown, balance_high=unknown), picture="cost.runway")
    assert names_beside(ax) == ["mean burn"]
    assert ax.get_title(loc="left") == "Forecast of the traffic balance"


def test_a_change_that_chance_explains_among_many_kinds_is_not_marked():
    """The band of a change that is not marked has 0 in it, so nothing seems to rise."""
    row = {"relative": 0.1, "median_before": 100, "median_after": 110, "low": 1, "high": 20, "low_all": [1, -5], "high_all": 20}
    frame = result("cost.compare")(2).assign(**row, judgment=["dearer", "no clear change"])
    ax = plot(frame, picture="cost.compare_medians")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert ["10.0 %" in label for label in labels] == [True, False]
    bands = [segment[:, 0].tolist() for lines in ax.collections[:1] for segment in lines.get_segments()]
    assert bands == [[1, 20], [-5, 20]]


def test_a_clear_change_is_drawn_however_small_its_kind_is():
    frame = result("cost.compare", "template")(40).assign(judgment=[*["no clear change"] * 39, "cheaper"], relative=-0.1)
    ax = plot(frame, picture="cost.compare_medians")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 15
    assert ["10.0 %" in label for label in labels] == [True, *[False] * 14]
    assert any("25 kinds not shown" in text for text in texts_of(ax))


def compared(*changes, before=100, after=120, judgment="no clear change", **columns):
    """A comparison with these changes."""
    frame = result("cost.compare", "template")(len(changes))
    values = {"change": pd.array(changes, "Int64"), "requests_before": before, "requests_after": after, "judgment": judgment}
    return frame.assign(**{"relative": 0.1, "not_comparable": pd.array([None] * len(changes), "str"), **values, **columns})


def test_the_change_of_a_cost_has_bars_that_add_up_to_it():
    ax = plot(compared(*range(4_000, 3_960, -1), judgment=[*["no clear change"] * 39, "cheaper"]), picture="cost.compare")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    lengths = [bar.get_width() for bar in ax.patches]
    assert len(labels) == 16 and labels[-1] == "other (25)"
    assert sum(lengths) == sum(range(4_000, 3_960, -1))
    assert lengths[:15] == [*range(4_000, 3_986, -1), 3_961], "those with a clear change are among the largest"
    assert ["10.0 %" in label for label in labels] == [*[False] * 14, True, False]
    assert any("Together +159 kB. In parentheses: requests before → after" in text for text in texts_of(ax))
    assert "+4.00 kB (100 → 120)" in texts_of(ax)


def test_a_change_between_windows_of_unequal_length_is_one_per_day():
    unknown, reason = pd.array([None, None], "Int64"), "windows of 1 day and 2 days"
    frame = compared(1, 2, change_per_day=pd.array([-5_000, 2_000], "Int64"), not_comparable=reason).assign(change=unknown)
    ax = plot(frame, picture="cost.compare")
    assert [bar.get_width() for bar in ax.patches] == [-5_000, 2_000]
    assert "per day" in ax.get_xlabel()
    assert any("Together −3.00 kB per day" in text and reason in text for text in map(" ".join, map(str.split, texts_of(ax))))
    ax = plot(frame.assign(change_per_day=unknown), picture="cost.compare")
    assert ax.get_title(loc="left").startswith("Change of the median traffic cost"), "without windows"


def test_percentiles_of_few_requests_are_named_below_the_title():
    frame = result("verdict.latency", "participant")(3)
    for marks, note in ((["p50, p95", None, None], "From few requests in some rows: p50, p95"), ([None] * 3, "")):
        ax = plot(frame.assign(few_requests_for=pd.array(marks, "str")), picture="verdict.latency")
        texts = [" ".join(text.get_text().split()) for text in ax.texts]
        assert any(note in text for text in texts) if note else not any("few" in text for text in texts)


def test_parties_that_nobody_can_judge_are_marked_as_such():
    frame = result("verdict.waited_for", "party")(3).assign(differs=pd.array([True, False, None], "boolean"))
    ax = plot(frame, picture="verdict.waited_for")
    markers = {line.get_marker(): line.get_label() for line in ax.lines}
    assert markers == {"o": "as chance explains", "D": "more than chance explains", "x": "too few to say"}
    assert any("Diamond: more than chance explains. Cross: too few to say" in text for text in texts_of(ax))


def test_a_party_that_differs_is_drawn_however_few_requests_need_it():
    frame = result("verdict.waited_for", "party")(30)
    frame = frame.assign(required=range(1_030, 1_000, -1), slow_rate=0.1, differs=pd.array([False] * 29 + [True], "boolean"))
    frame.loc[29, "slow_rate"] = 0.4
    ax = plot(frame, picture="verdict.waited_for")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 15 and labels[0].endswith("(1,001)") and labels[-1].endswith("(1,017)")
    assert any("Those that differ and the largest others, 15 more not shown" in text for text in texts_of(ax))


@pytest.mark.parametrize("name", ["verdict.latency", "verdict.outcomes", "cost.wasted"])
def test_all_hours_of_a_day_are_drawn(name):
    frame = result(name, "hour")(24)
    ax = plot(frame, picture=name)
    points = {x for line in ax.lines if line.get_marker() != "None" for x in line.get_xdata()}
    assert len(points or ax.patches) == 24 and not any("more not shown" in text for text in texts_of(ax))


def test_all_days_of_latencies_are_drawn():
    ax = plot(result("verdict.latency", "day")(40), picture="verdict.latency")
    assert [len(line.get_xdata()) for line in ax.lines] == [40, 40]


def test_the_kinds_above_their_limit_come_first():
    frame = result("cost.budget")(30).assign(value=pd.array([*[50] * 29, 120], "Int64"), budget=100)
    ax = plot(frame, picture="cost.budget")
    assert [round(bar.get_width(), 3) for bar in ax.patches] == [1.2, *[0.5] * 14]
    assert any("The 15 highest of 30 kinds" in text for text in texts_of(ax))


def test_a_round_has_the_time_at_which_it_opens():
    ax = plot(result("activity.rewards")(3), picture="activity.rewards")
    lower = ax.figure.axes[-1]
    ax.figure.draw_without_rendering()
    times = [text.partition("\n")[2] for text in (label.get_text() for label in lower.get_xticklabels()) if "\n" in text]
    assert times and all(re.fullmatch(r"\d\d [A-Z][a-z]{2} \d\d:\d\d", time) for time in times)
    assert lower.get_xlabel() == "Mining round and its opening (UTC)"


def test_waste_without_a_usual_range_says_why():
    frame = result("cost.wasted", None, over_time=True)(24)
    without = frame.assign(upper=np.nan, is_above=pd.array([pd.NA] * 24, "boolean"), reason="history is too short")
    for rows, is_noted in ((without, True), (frame.assign(upper=0.5), False)):
        ax = plot(rows, picture="cost.wasted")
        assert any("No usual range: history is too short" in text.get_text() for text in ax.texts) == is_noted


@pytest.mark.parametrize("ax", [5, mpl.figure.Figure()])
def test_axes_of_another_type_are_refused(ax):
    with pytest.raises(UsageError, match="ax= must be axes of matplotlib"):
        plot(result("cost.spend", None, over_time=True)(24), ax=ax, picture="cost.spend")


def test_a_distribution_of_something_else_is_refused():
    with pytest.raises(UsageError, match=r"Pass frames\.verdicts"):
        plot(result("verdict.latency")(3), picture="verdict.latency_distribution")


def test_unknown_costs_are_not_drawn_as_zero():
    frame = result("cost.spend", over_time=True)(24).assign(total_traffic_cost=pd.Series([pd.NA] * 24, dtype="Int64"))
    assert "known cost" in plot(frame, picture="cost.spend").texts[0].get_text()


def test_an_unknown_cost_in_a_stack_is_a_gap_and_not_zero():
    frame = result("cost.spend", over_time=True)(4)
    frame.loc[1, ["total_traffic_cost", "rejected_traffic_cost"]] = pd.NA
    groups = result("cost.spend", "participant", over_time=True)(16)
    groups.loc[[0, 8], "total_traffic_cost"] = [10**9, pd.NA]  # of the largest group, the first of the stack
    overhead = result("cost.overhead", over_time=True)(4)
    overhead.loc[overhead["period_start"] == START, "traffic_cost"] = pd.NA
    for rows, picture, at, missing in (
        (frame, "cost.spend", 1, [True, True]),
        (groups, "cost.spend", 1, [True] + [False] * 4),
        (overhead, "cost.overhead", 0, [True, True]),
    ):
        ax = plot(rows, picture=picture)
        filled = [
            patch.get_data().values for patch in ax.patches if isinstance(patch, mpl.patches.StepPatch) and patch.get_fill()
        ]
        assert [bool(np.isnan(values[at])) for values in filled] == missing, picture
        assert not any(np.isnan(values[1 - at]) for values in filled), picture
        plt.close("all")


@pytest.mark.parametrize("name", ["cost.spend", "cost.overhead"])
def test_a_strip_marks_the_periods_of_partly_known_costs(name):
    frame = result(name, over_time=True)(4)
    frame["coverage"] = np.where(frame["period_start"] == START + pd.Timedelta(hours=2), 0.5, 1.0)
    ax = plot(frame, picture=name)
    paths = [path for each in ax.collections for path in each.get_paths()]
    (path,) = (path for path in paths if path.get_extents().height < 0.1)
    start = mpl.dates.date2num(START)
    assert (path.get_extents().intervalx - start).tolist() == pytest.approx([2 / 24, 3 / 24])
    assert any("Strip at the bottom: cost partly known" in one_line(text) for text in texts_of(ax))
    assert not any("Strip" in text for text in texts_of(plot(frame.assign(coverage=1.0), picture=name)))


def test_no_requests_have_no_coverage():
    frame = result("cost.spend", "participant")(3).assign(requests=0)
    assert not any("known for" in text for text in texts_of(plot(frame.astype({"requests": "int64"}), picture="cost.spend")))


def test_the_coverage_is_a_note():
    ax = plot(result("cost.spend", over_time=True)(24).assign(is_partial=False), picture="cost.spend")
    assert "Cost known for 90.0 % of requests. Strip at the bottom: cost partly known" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize(
    ("population", "note"),
    [
        ("all", ""),
        ("chosen", "Of the requests chosen"),
        ("committed, accepted", "Committed updates, which have no rejected requests"),
    ],
)
@pytest.mark.parametrize(
    "name",
    ["outcomes over time", "outcomes by party", "rejections", "waste over time", "waste by participant"],
)
def test_the_population_of_a_rate_is_a_note(name, population, note):
    picture, make, *_ = PICTURES[name]
    ax = plot(make(24).assign(population=population), picture=picture)
    notes = one_line(" ".join(text.get_text() for text in ax.texts))
    assert note in notes
    assert bool(note) == ("chosen" in notes or "committed" in notes.lower())


def test_votes_that_agree_deviate_by_nothing_that_is_shown():
    frame = result("votes.stale")(5)
    ax = plot(frame.assign(deviation=0.0), picture="votes.stale")
    ax.figure.draw_without_rendering()
    assert max(len(label.get_text()) for label in ax.get_yticklabels()) < 8
    assert plot(
        result("votes.price")(1).assign(**dict.fromkeys(("median", "highest", "lowest", "round_price"), 0.0)),
        picture="votes.price",
    ).get_ylim() == (0, 1)


def test_missing_rejections_are_not_drawn_as_none():
    missing = pd.Series([pd.NA] * 24, dtype="Int64")
    ax = plot(
        result("cost.spend", over_time=True)(24).assign(rejected=missing, rejected_traffic_cost=missing), picture="cost.spend"
    )
    names = names_beside(ax)
    assert "committed updates" in names
    assert not {"rejected", "not rejected"} & set(names)


def test_long_tails_are_summed_as_other():
    frame = result("cost.spend", "participant")(200)
    ax = plot(frame, picture="cost.spend")
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(labels) == 16
    assert labels[-1] == "other (185)"
    assert labels[0] == "party-0::1220ab…3400"
    assert sum(bar.get_width() for bar in ax.patches) == frame["total_traffic_cost"].sum()


def test_a_party_that_is_large_in_one_period_has_its_own_area():
    frame = result("activity.weights", "party", over_time=True)(200)
    periods = frame[frame["party"] == frame["party"].iloc[0]]
    parties = [periods.assign(party=f"app-{number}::1220{number:064x}", weight=1000 - number) for number in range(11)]
    spike = periods.assign(party="spike::1220ab", weight=[5000, *[0] * (len(periods) - 1)])
    rows = pd.concat([*parties, spike]).astype({"weight": "Int64"}).sort_values("period_start", kind="stable")
    names = names_beside(plot(rows.reset_index(drop=True), picture="activity.weights"))
    assert len(names) == 8
    assert [name for name in names if name.startswith(("other", "spike"))] == ["other (5)", "spike::1220ab"]


def test_stacked_groups_add_up_to_the_cost_of_each_period():
    frame = result("cost.spend", "participant", over_time=True)(200)
    ax = plot(frame, picture="cost.spend")
    stack = [patch.get_data() for patch in ax.patches if isinstance(patch, mpl.patches.StepPatch)]
    assert names_beside(ax)[0] == "other (4)", "the highest area"
    assert [mpl.colors.to_hex(patch.get_facecolor()) == GRAY for patch in ax.patches][:5] == [False] * 4 + [True]
    assert stack[-1].values.tolist() == frame.groupby("period_start")["total_traffic_cost"].sum().tolist()


@pytest.mark.parametrize("by", ["party", "label"])
def test_groups_that_share_requests_are_panels_and_no_stack(by):
    ax = plot(result("cost.spend", by, over_time=True)(16), picture="cost.spend")
    assert len(ax.child_axes) == GROUPS
    assert any(f"A request of several {'parties' if by == 'party' else 'labels'} counts for each" in t for t in texts_of(ax))
    assert any("counts for each" in text for text in texts_of(plot(result("cost.spend", by)(3), picture="cost.spend")))


def test_text_of_the_network_is_never_mathematics():
    names = pd.Series([r"$\frac{1}{0}$::" + NAMESPACE, "$x^2$", "bad\x00\n\u202etext", "$"], dtype="str")
    frame = result("cost.spend", "participant")(4).assign(submitting_participant_uid=names)
    ax = plot(frame, picture="cost.spend")
    with plt.rc_context({"text.usetex": False}):
        ax.figure.canvas.draw()
    labels = ax.get_yticklabels()
    assert labels[1].get_text() == r"\$x^2\$"
    assert not any(text._preprocess_math(text.get_text())[1] for text in labels)
    assert labels[2].get_text() == "badU+0000U+000AU+202Etext"


def test_ids_of_requests_are_never_mathematics():
    ids = pd.Series([r"$\frac$", "$x$\x00 日本", "1220" + "ab" * 32], dtype="str")
    ax = plot(result("cost.requests")(3).assign(update_id=ids), picture="cost.requests")
    labels = ax.get_yticklabels()
    assert [label.get_text().rpartition("  ")[2] for label in labels][0::2] == [r"\$\frac\$…", "1220abab…"]
    assert not any(text._preprocess_math(text.get_text())[1] for text in labels)
    ax.figure.draw_without_rendering()  # warns of a letter without a picture


def test_names_in_any_script_stay_different():
    names = ["Müller::" + NAMESPACE, "Mäller::" + NAMESPACE, "Ωμέγα", "a\U000e0001", "a"]
    ax = plot(
        result("cost.spend", "participant")(5).assign(submitting_participant_uid=pd.Series(names, dtype="str")),
        picture="cost.spend",
    )
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert [label[:6] for label in labels[:2]] == ["Müller", "Mäller"]
    assert labels[2:] == ["Ωμέγα", "aU+E0001", "a"]
    ax.figure.draw_without_rendering()  # warns of a letter without a picture


@pytest.mark.parametrize("name", ["", " "])
def test_a_name_that_is_empty_is_said_to_be(name):
    frame = result("cost.spend", "participant")(3)
    names = pd.Series([name, None, "bank"], dtype="str")
    ax = plot(frame.assign(submitting_participant_uid=names), picture="cost.spend")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["(no name)", "unknown", "bank"]


def test_groups_whose_labels_are_cut_to_the_same_text_are_numbered():
    names = ["x" * 200 + end + "x" * 200 for end in "ab"]
    frame = result("cost.spend", "participant")(2).assign(submitting_participant_uid=pd.Series(names, dtype="str"))
    first, second = (text.get_text() for text in plot(frame, picture="cost.spend").get_yticklabels())
    assert second == f"{first} #2"


def test_a_line_shows_points_without_neighbors():
    frame = result("verdict.latency", over_time=True)(72)
    is_known = np.isin(np.arange(72), [3, 10, 11, 71])
    for name in ("p50", "p95", "p99"):
        frame[name] = frame[name].where(is_known)
    ax = plot(frame, picture="verdict.latency")
    points = [len(line.get_xdata()) for line in ax.lines if line.get_marker() == "o"]
    assert points == [2, 2, 2]  # the first and the last, of each percentile


@pytest.mark.parametrize("name", ["reconcile.contracts", "reconcile.bulk_totals"])
def test_bars_of_counts_start_at_zero(name):
    ax = plot(result(name)(3), picture=name)
    assert (ax.get_xscale(), ax.get_xlim()[0]) == ("linear", 0)


def test_contracts_of_which_there_are_none_are_drawn():
    counts = dict.fromkeys(("only_replay", "only_snapshot", "different", "equal"), 0)
    assert any(
        "0 of 0 equal" in text
        for text in texts_of(plot(result("reconcile.contracts")(2).assign(**counts), picture="reconcile.contracts"))
    )


def test_an_unknown_cost_in_an_anatomy_is_not_zero():
    frame = result("cost.anatomy")(3).assign(part="envelope", traffic_cost=pd.array([5_000, pd.NA, 0], "Int64"))
    ax = plot(frame, picture="cost.anatomy")
    assert [text.get_text() for text in ax.texts][:3] == ["5.0 kB", "unknown", "0 B"]
    assert ax.get_title(loc="left") == "Traffic cost by envelope: at least 5.0 kB in 3 envelopes"


def test_an_anatomy_without_costs_says_so():
    frame = result("cost.anatomy")(3).assign(part="envelope", traffic_cost=pd.array([pd.NA] * 3, "Int64"))
    assert "The cost of this transaction is unknown." in texts_of(plot(frame, picture="cost.anatomy"))


def test_no_tick_of_a_share_is_above_the_whole():
    ax = mpl.figure.Figure().subplots()
    ax.set_ylim(0, 1.3)
    c.percent_axis(ax.yaxis, "Share")
    assert max(ax.get_yticks()) == 1


@pytest.mark.parametrize("by", [None, "participant"])
def test_several_results_in_one_frame_are_refused(by):
    """Of two windows, of two lengths of periods, and of one window twice, whose areas would be wrong."""
    window, hours = result("cost.spend", by)(2), result("cost.spend", by, over_time=True)(16)
    longer = hours.assign(period_end=hours["period_end"] + pd.Timedelta(hours=2))
    for parts, message in (
        ((window, window), f"several rows of one {'submitting_participant_uid' if by else 'window'}"),
        ((hours, longer), "periods that overlap or are not in order"),
        ((hours, hours), "several rows of one period_start"),
        ((hours.iloc[::-1],), "periods that overlap or are not in order"),
    ):
        with pytest.raises(UsageError, match=f"one at a time, got .*({message})"):
            plot(pd.concat(parts, ignore_index=True), picture="cost.spend")


@pytest.mark.parametrize("name", ["cost.spend", "verdict.outcomes"])
def test_rows_that_repeat_a_label_are_drawn_as_those_that_do_not(name):
    hours = result(name, "participant" if name == "cost.spend" else "party")(30)
    repeated = hours.set_axis([number % 3 for number in range(len(hours))])
    drawn = [plot(frame, picture=name) for frame in (hours, repeated)]
    texts = [[*texts_of(ax), *(each.get_text() for each in ax.get_yticklabels())] for ax in drawn]
    assert texts[0] == texts[1]


def test_areas_do_not_fill_the_gap_between_two_periods():
    hours = result("cost.spend", over_time=True)(6)
    with pytest.raises(UsageError, match=r"Pass all periods of the result of lf\.cost\.spend"):
        plot(hours.drop(index=[2, 3]), picture="cost.spend")
    assert plot(hours.drop(index=[0, 1]), picture="cost.spend").get_xlim() == tuple(
        mpl.dates.date2num([hours["period_start"][2], hours["period_end"][5]])
    )


def test_no_line_without_a_point_has_a_name():
    frame = result("verdict.latency", over_time=True)(6).assign(p99=pd.array([None] * 6, "timedelta64[us]"))
    ax = plot(frame, picture="verdict.latency")
    assert names_beside(ax) == ["timeout (30 s)", "p95", "p50"]
    assert "Without a value: p99" in " ".join(text.get_text() for text in ax.texts)
    parties = result("verdict.waited_for", "party")(3)
    drawn = plot(parties.assign(differs=pd.array([False] * 3, "boolean")), picture="verdict.waited_for")
    assert [line.get_label() for line in drawn.lines] == ["as chance explains"]
    assert not any("Diamond" in text or "Cross" in text for text in texts_of(drawn))


@pytest.mark.parametrize(("name", "columns"), [("head_of_line", ["victims", "added"]), ("waited_for", ["slow", "slow_rate"])])
def test_a_doubtful_limit_is_said_instead_of_nothing(name, columns):
    frame = result(f"verdict.{name}", "party" if name == "waited_for" else None)(3)
    unknown = {each: pd.array([None] * 3, frame[each].dtype) for each in columns}
    ax = plot(frame.assign(**unknown), picture=f"verdict.{name}")
    assert "the limit of this network may not be 30 s" in " ".join(text.get_text() for text in ax.texts)


def test_results_of_two_networks_are_refused():
    frame = result("cost.spend", "participant")(2).assign(network=["one", "two"])
    with pytest.raises(UsageError, match="for one network, got rows of one and two"):
        plot(frame, picture="cost.spend")


@pytest.mark.parametrize(
    ("share", "places", "text"),
    [(0.9996, 1, "> 99.9 %"), (0.0004, 1, "< 0.1 %"), (0, 1, "0 %"), (1, 1, "100 %"), (0.004, 0, "< 1 %"), (0.996, 0, "> 99 %")],
)
def test_shares_are_never_rounded_to_none_or_all(share, places, text):
    assert percent(share, places) == text


@pytest.mark.parametrize(
    ("length", "texts"),
    [
        ("1h", ["2026-11-08 00:00", "2026-11-08 01:00", "2026-11-08 03:00"]),
        ("1D", ["2026-11-08", "2026-11-09", "2026-11-11"]),
    ],
)
def test_a_pointer_over_time_says_the_period(length, texts):
    frame = result("economy.burn_mint", over_time=True)(3)
    starts = START + np.arange(3) * pd.Timedelta(length)
    ax = plot(frame.assign(period_start=starts, period_end=starts + pd.Timedelta(length)), picture="economy.burn_mint")
    first, last = ax.get_xlim()
    step = (last - first) / 3
    for axes in ax.figure.axes:
        assert [axes.format_xdata(each) for each in (first + step / 2, first + 1.5 * step, last)] == texts


@pytest.mark.parametrize(
    ("rows", "texts"), [(40, ["41200", "41200", "41239"]), (300, ["41200 to 41202"] * 2 + ["41497 to 41499"])]
)
def test_a_pointer_over_rounds_says_all_that_a_bin_adds_up(rows, texts):
    ax = plot(one_party(rows), picture="activity.rewards")
    for axes in ax.figure.axes:
        first, last = axes.get_xlim()
        assert [axes.format_xdata(each) for each in (first, 41_200, last)] == texts


def test_a_pointer_over_moments_says_the_minute():
    ax = plot(result("votes.price")(40), picture="votes.price")
    day = mpl.dates.date2num(START.to_pydatetime())
    assert [ax.format_xdata(day + each) for each in (0, 0.5)] == ["2026-11-08", "2026-11-08 12:00"]


def test_partial_periods_are_open_and_gray():
    frame = result("cost.wasted", over_time=True)(24)
    ax = plot(frame.assign(is_partial=[*[False] * 23, True]), picture="cost.wasted")
    assert [len(line.get_xdata()) for line in ax.lines if line.get_markerfacecolor() == "white"] == [1]
    assert any("Gray: partial periods" in text.get_text() for text in ax.texts)


def test_a_stack_does_not_hide_that_a_period_is_partial():
    frame = result("activity.weights", "party", over_time=True)(24).assign(is_partial=True)
    ax = plot(frame, picture="activity.weights")
    (strip,) = ax.collections
    assert max(patch.get_zorder() for patch in ax.patches) < strip.get_zorder()


def test_rounds_without_any_weight_are_a_sentence():
    ax = plot(result("activity.rewards")(3).assign(weight=pd.array([pd.NA] * 3, "Int64")), picture="activity.rewards")
    assert [text.get_text() for text in ax.texts] == ["No round has a known weight in this window."]
    empty = plot(result("activity.rewards", "party")(0), picture="activity.rewards")
    assert empty.get_title(loc="left") == "Reward and activity weight by app provider"


def test_a_provider_whose_coupons_are_unknown_has_no_empty_row():
    frame = result("economy.reward_split")(3)
    unknown = frame.assign(**{name: pd.array([None] * 3, frame[name].dtype) for name in ("coupon_amount", "expected", "actual")})
    assert texts_of(plot(unknown, picture="economy.reward_split")).count("unknown") == frame["provider"].nunique()


def test_an_unknown_wasted_share_does_not_deny_known_costs():
    ax = plot(result("cost.wasted", over_time=True)(1).assign(share=np.nan), picture="cost.wasted")
    assert [text.get_text() for text in ax.texts] == ["The wasted share is not known in this window."]


def test_an_unknown_number_by_chance_is_not_zero():
    frame = result("verdict.head_of_line")(2)
    for expected, is_noted in ((1.5, True), (np.nan, False)):
        ax = plot(frame.assign(expected_victims=expected), picture="verdict.head_of_line")
        assert any("expected by chance" in text.get_text() for text in ax.texts) == is_noted


@pytest.mark.parametrize(("amount", "text"), [(224_999.6, "225,000"), (1_234.5, "1,234"), (0.25, "0.25")])
def test_amounts_of_leaders_have_no_exponent(amount, text):
    ax = plot(result("economy.leaderboard")(1).assign(amount=amount), picture="economy.leaderboard")
    assert any(each.get_text().split(" ")[0] == text for each in ax.texts)


def test_one_party_is_singular():
    ax = plot(result("activity.lorenz")(1), picture="activity.lorenz")
    assert any("Among 1 party with activity" in text.get_text() for text in ax.texts)


def test_a_curve_with_an_unknown_share_says_no_share_of_the_largest_party():
    frame = result("activity.lorenz")(4)
    assert any(" has " in text for text in texts_of(plot(frame, picture="activity.lorenz")))
    frame.loc[2, "cumulative_share"] = None
    assert not any(" has " in text for text in texts_of(plot(frame, picture="activity.lorenz")))


def test_the_curve_of_parties_is_named_where_shares_are_missing() -> None:
    frame = result("activity.lorenz")(24)
    every_second = frame.assign(cumulative_share=frame["cumulative_share"].where(frame.index % 2 == 0))
    assert "activity" in texts_of(plot(every_second, picture="activity.lorenz"))


@pytest.mark.parametrize("rows", [1, 5, 24])
def test_the_curve_of_parties_is_named_beside_it_where_it_ends_early(rows):
    ax = plot(result("activity.lorenz")(rows), picture="activity.lorenz")
    (name,) = (text for text in ax.texts if text.get_text() == "activity")
    x, y = (values[np.isfinite(values)] for values in ax.lines[1].get_data())
    at, height = name.xy
    assert x[0] < at <= x[-1] and height == pytest.approx(np.interp(at, x, y))


def test_one_observation_of_votes_has_the_day_around_it():
    ax = plot(result("votes.price")(1), picture="votes.price")
    first, last = ax.get_xlim()
    assert last - first == pytest.approx(1)


def test_the_rest_of_the_quorums_says_of_how_many():
    ax = plot(result("verdict.quorums")(200), picture="verdict.quorums")
    total = 9_000 * sum(range(1, 201))
    assert any(f"Percent of {total:,} quorums, 200 of them different" in text for text in texts_of(ax))
    assert any("Not shown: 185 others with" in text for text in texts_of(ax))
    assert len(ax.patches) == 15


def test_texts_of_budgets_stand_after_the_line():
    ax = plot(limited(result("cost.budget"), 3)(3).assign(value=[1, 5, 20], budget=10), picture="cost.budget")
    assert [text.xy[0] for text in ax.texts[:3]] == [2, 1, 1]
    assert any("above the limit" in text for text in texts_of(ax))
    assert not any("budget" in text for text in texts_of(ax)), "a report takes the weeks before where nobody set a budget"


def test_a_percentile_that_no_group_has_is_no_bar():
    frame = result("verdict.latency", "participant")(3)
    frame["p95"] = frame["p95"].where(np.zeros(len(frame), dtype=bool))
    ax = plot(frame, picture="verdict.latency")
    assert [bars.get_label() for bars in ax.containers] == ["p50"]


def test_a_group_with_too_few_requests_is_named_below_the_title():
    frame = result("verdict.latency", "size")(2)
    ax = plot(frame.assign(p50=frame["p50"].where([True, False])), picture="verdict.latency")
    assert len(ax.get_yticks()) == 1
    assert any("Without a value: 50 kB and more" in text for text in texts_of(ax))


def test_latencies_of_groups_are_bars_on_a_linear_scale_with_their_intervals():
    frame = result("verdict.latency", "participant")(3)
    seconds = {
        "p50": [1, 2, 3],
        "p50_low": 0.5,
        "p50_high": [4, 5, 6],
        "p95": [10, 20, None],
        "p95_low": 9,
        "p95_high": [11, 25, None],
    }
    frame = frame.assign(**{name: pd.to_timedelta(value, unit="s") for name, value in seconds.items()})
    ax = plot(frame.astype(result("verdict.latency", "participant")(1).dtypes.to_dict()), picture="verdict.latency")
    assert ax.get_xscale() == "linear" and ax.get_xlim()[0] == 0
    assert {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers} == {
        "p50": [1, 2, 3],
        "p95": [10, 20, 0],
    }
    segments = [segment for lines in ax.collections for segment in lines.get_segments() if len(segment)]
    assert [segment[:, 0].tolist() for segment in segments] == [[0.5, 4], [0.5, 5], [0.5, 6], [9, 11], [9, 25]]
    texts = [text for text in ax.texts if text.xycoords == "data"]
    assert [text.get_text() for text in texts] == ["1 s  p50", "2 s", "3 s", "10 s  p95", "20 s", "too few"]
    assert [text.xy[0] for text in texts] == [4, 5, 6, 11, 25, 0], "after the intervals"


@pytest.mark.parametrize("by", ["hour", "day"])
def test_latencies_of_hours_and_days_are_lines_over_them(by):
    ax = plot(result("verdict.latency", by)(4), picture="verdict.latency")
    assert names_beside(ax) == ["p95", "p50"]
    assert ax.get_yscale() == "linear" and ax.get_ylim()[0] == 0
    assert [len(lines.get_segments()) for lines in ax.collections] == [4, 4]


@pytest.mark.parametrize(
    ("every", "words"), [("15min", "15 minutes"), ("1h", "hour"), ("1d", "day"), ("7d", "7 days"), ("1mo", "month")]
)
def test_periods_are_named(every, words):
    starts = {"1mo": "2026-11-01"}.get(every, "2026-11-08")
    ends = {"1mo": "2026-12-01"}.get(every)
    start = pd.Timestamp(starts, tz="UTC")
    end = pd.Timestamp(ends, tz="UTC") if ends else start + pd.Timedelta(every.replace("d", "D"))
    frame = result("cost.spend", over_time=True)(1).assign(period_start=start, period_end=end)
    assert plot(frame, picture="cost.spend").get_title(loc="left") == f"Traffic cost, per {words}"


# -- eras, rounds and pictures with a meaning of their own -----------------------------------------------------------------


def days(name, start, count):
    """A result with one row per day."""
    starts = pd.Timestamp(start, tz="UTC") + pd.to_timedelta(range(count), unit="D")
    frame = result(name, over_time=True)(count)
    return frame.assign(period_start=starts.as_unit("us"), period_end=(starts + pd.Timedelta(days=1)).as_unit("us"))


def names_beside(ax):
    """The names of the series beside axes, from the top down."""
    (labels,) = ax.artists
    return [end.name for end in reversed(labels.ends)]


def texts_of(ax):
    return [one_line(text.get_text()) for text in ax.texts]


def test_eras_of_a_window_are_bands_with_names():
    ax = plot(days("cost.spend", "2026-02-20", 20), picture="cost.spend")
    assert {"migration 4", "free responses"} <= set(texts_of(ax))
    assert any("Eras of the main network: migration 4, free responses" in text for text in texts_of(ax))
    (band,) = [patch for patch in ax.patches if isinstance(patch, mpl.patches.Rectangle)]
    assert band.get_x() == pytest.approx(pd.Timestamp("2026-03-02").timestamp() / 86_400)


def test_a_window_in_one_era_names_none():
    assert not any(
        "migration" in text or "Eras" in text
        for text in texts_of(plot(days("cost.spend", "2026-03-02", 20), picture="cost.spend"))
    )


def test_short_eras_are_named_in_the_note_only():
    ax = plot(days("cost.spend", "2024-06-20", 800), picture="cost.spend")
    assert "migration 1" not in texts_of(ax)
    assert any("migration 0, migration 1, migration 2, migration 3, migration 4, free responses" in text for text in texts_of(ax))


def test_many_rounds_are_added_up():
    frame = one_party(1_000).assign(below_threshold=False, amount=2)
    ax = plot(frame.astype({"below_threshold": "boolean"}), picture="activity.rewards")
    assert ax.get_title(loc="left").endswith(", per 10 rounds")
    (rewards,) = [patch.get_data() for patch in ax.patches if isinstance(patch, mpl.patches.StepPatch)]
    assert rewards.values.tolist() == [20] * 100
    weights = ax.figure.axes[1].lines[0].get_ydata()
    assert weights.sum() == frame["weight"].sum()
    assert ax.get_legend() is None  # each panel names its quantity


def test_rounds_without_a_weight_are_a_gap():
    frame = result("activity.rewards")(3).assign(round_number=[1, 2, 5]).astype({"round_number": "Int64"})
    ax = plot(frame, picture="activity.rewards")
    assert np.isnan(ax.figure.axes[-1].lines[0].get_ydata()).tolist() == [False, False, True, True, False]


def test_gaps_and_overlaps_of_offsets_are_counted_and_drawn():
    """Offsets 0 to 10 pruned, 10 to 20, a gap to 25, 25 to 40, and 35 to 50 that covers 5 of them again."""
    ranges = {"after": [0, 10, 25, 35], "through": [10, 20, 40, 50], "gap_before": [0, 0, 5, 0], "overlap_before": [0, 0, 0, 5]}
    status = {"is_pruned": [True, False, False, False], "status": ["gap", "final", "final", "provisional"]}
    ax = plot(result("reconcile.bounds")(4).assign(**ranges, **status), picture="reconcile.bounds")
    assert "4 ranges: 5 offsets not in the store, 5 covered twice, 10 pruned" in texts_of(ax)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["final", "provisional", "pruned", "not in the store", "covered twice"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["offsets", "covered twice"]


def test_templates_with_differences_come_first():
    counts = {"equal": [50, 3], "different": [0, 1], "only_replay": [0, 0], "only_snapshot": [0, 2]}
    ax = plot(result("reconcile.contracts")(2).assign(**counts), picture="reconcile.contracts")
    assert [text.get_text()[-1] for text in ax.get_yticklabels()] == ["1", "0"]
    assert "53 of 56 equal" in texts_of(ax)


def test_an_unknown_amount_is_no_supply():
    frame = result("reconcile.supply")(1)
    ax = plot(frame.assign(burned=pd.Series([None], dtype=frame["burned"].dtype)), picture="reconcile.supply")
    assert texts_of(ax) == ["An amount is unknown, so the coin cannot be added up."]


def test_the_supply_is_a_waterfall():
    amounts = {"opening": 10, "minted": 5, "burned": 3, "fees": 1, "closing_expected": 11, "closing_found": 11, "unexplained": 0}
    ax = plot(result("reconcile.supply")(1).assign(**amounts), picture="reconcile.supply")
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 10), (10, 5), (12, 3), (11, 1), (0, 11), (0, 11)]
    assert any("No unexplained difference" in text for text in texts_of(ax))


def test_the_last_rounds_that_are_added_up_are_counted():
    frame = one_party(1_004).assign(below_threshold=False, amount=2)
    ax = plot(frame.astype({"below_threshold": "boolean"}), picture="activity.rewards")
    assert ax.get_title(loc="left").endswith(", per 11 rounds")
    assert "The last point has only 3 rounds" in " ".join(texts_of(ax))
    (rewards,) = [patch.get_data() for patch in ax.patches if isinstance(patch, mpl.patches.StepPatch)]
    assert rewards.values.tolist() == [22] * 91 + [6]
    assert np.diff(rewards.edges).tolist() == [11] * 91 + [3]


@pytest.mark.parametrize(("by", "name"), [(None, "Activity weight"), ("party", "Share of the activity weight by app provider")])
def test_weights_of_many_rounds_are_added_up(by, name):
    frame = per_round("activity.weights", by)(300 if by is None else 300 * GROUPS)
    ax = plot(frame, picture="activity.weights")
    assert ax.get_title(loc="left") == f"{name}, per 3 rounds"
    if by is None:
        assert ax.lines[0].get_ydata().sum() == frame["weight"].sum() and len(ax.lines[0].get_ydata()) == 100
    else:
        weights = frame.groupby([(frame["round_number"] - 41_200) // 3, "party"])["weight"].sum().unstack()
        lowest = next(patch.get_data().values for patch in ax.patches if isinstance(patch, mpl.patches.StepPatch))
        assert lowest == pytest.approx((weights["party-0::" + NAMESPACE + "00"] / weights.sum(axis=1)).astype("float64"))


def test_concentrations_of_many_rounds_are_medians():
    frame = per_round("activity.concentration")(300)
    ax = plot(frame, picture="activity.concentration")
    assert ax.get_title(loc="left") == "Concentration of activity, median of 3 rounds"
    assert ax.lines[0].get_ydata() == pytest.approx(frame["gini"].to_numpy()[1::3])


def test_a_buyer_and_a_member_are_both_named():
    names = [f"a-very-long-name-of-an-organization-{number}" for number in range(3)]
    frame = result("economy.purchases")(2).assign(
        buyer=pd.Series([f"{names[0]}::{NAMESPACE}", f"{names[1]}::{NAMESPACE}"], dtype="str"),
        member_id=pd.Series([f"PAR::{names[2]}::{NAMESPACE}", f"PAR::{names[1]}::{NAMESPACE}"], dtype="str"),
    )
    labels = [text.get_text() for text in plot(frame, picture="economy.purchases").get_yticklabels()]
    assert labels == [
        "a-very-long-…ganization-0::1220ab…ab34\nfor a-very-long-…ganization-2::1220ab…ab34",
        "a-very-long-…ganization-1::1220ab…ab34",
    ]


def test_active_parties_are_above_those_that_ended():
    frame = result("state.featured")(40)
    frame["until"] = frame["from"] + pd.Timedelta(hours=1)
    frame.loc[[3, 20], "until"] = pd.NaT
    ax = plot(frame, picture="state.featured")
    names = [text.get_text().split("::")[0] for text in ax.get_yticklabels()]
    assert names == ["party-3", "party-20", *(f"party-{number}" for number in range(27, 40))]
    assert any("The latest 15 of 40 parties, active ones first" in text for text in texts_of(ax))


def test_lifetimes_of_one_party_share_a_row():
    frame = result("state.featured")(3).assign(party=["a", "b", "a"], until=[START + pd.Timedelta(hours=2), pd.NaT, pd.NaT])
    ax = plot(frame.astype({"party": "str", "until": "datetime64[us, UTC]"}), picture="state.featured")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a  (× 9,000 to 27,000)", "b  (× 18,000)"]
    assert any(text.startswith("2 active on") for text in texts_of(ax))


def test_a_factor_that_changes_is_a_range():
    frame = result("state.featured")(4).assign(party=pd.Series(["a", "a", "a", "b"], dtype="str"))
    ax = plot(frame.assign(weight=pd.array(["2", "1", "0", "0.5"], frame["weight"].dtype)), picture="state.featured")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a  (× 0 to 2)", "b  (× 0.5)"]


def test_active_rights_are_drawn_up_to_the_end_of_what_frames_know():
    end = START + pd.Timedelta(days=9)
    frame = result("state.featured")(1).assign(until=pd.array([pd.NaT], "datetime64[us, UTC]"), known_until=end)
    ax = plot(frame, picture="state.featured")
    assert ax.get_xlim()[1] == pytest.approx(end.timestamp() / 86_400)
    assert any(text.startswith(f"1 active on {end:%Y-%m-%d}") for text in texts_of(ax))


# -- the call that draws any result ------------------------------------------------------------------------------------


def test_a_result_knows_its_picture():
    frame = result("cost.spend", "participant")(3)
    frame.attrs["figure"] = "cost.spend"  # as every analysis says
    assert plot(frame).get_title(loc="left") == "Traffic cost by submitting participant"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, r"such as that of lf\.cost\.spend\(frames\), got NoneType"),
        (
            pd.DataFrame(),
            'got a DataFrame of another origin. For a result from a file, name its picture, such as picture="cost.spend"',
        ),
    ],
)
def test_what_has_no_figure_is_refused(wrong, message):
    with pytest.raises(UsageError, match=message):
        plot(wrong)


def test_a_figure_without_a_picture_has_a_table():
    frame = result("cost.spend")(3)
    frame.attrs["figure"] = "cost.statement"
    with pytest.raises(UsageError, match=r"lf\.cost\.statement has no picture. lf\.show\(result\) shows its table"):
        plot(frame)


def test_an_unknown_picture_is_refused_with_all_of_them():
    with pytest.raises(UsageError, match=r"no picture 'cost\.spendings'\. Choose from activity\..*, votes\.stale\."):
        plot(result("cost.spend")(3), picture="cost.spendings")


def test_a_milestone_is_a_line_of_the_evidence_alone():
    frame = result("grant.evidence")(3)
    names = names_beside(plot(frame, picture="grant.evidence", milestone=5_000_000))
    assert sorted(names) == ["bytes", "milestone, 5.0 MB"]
    with pytest.raises(UsageError, match=r"milestone= is for a result of lf\.grant\.evidence, got one of cost\.spend"):
        plot(result("cost.spend")(3), picture="cost.spend", milestone=1)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("cost_spend", r'Write lf\.plot\(result\), or lf\.plot\(result, picture="cost\.spend"\) for a result that lost'),
        ("economy_rounds", r'Write lf\.plot\(result\), or lf\.plot\(result, picture="economy\.flows"\) for a result that lost'),
        ("verdict_rejection_rates", r'Write lf\.plot\(result\), or lf\.plot\(result, picture="verdict\.outcomes"\)'),
        ("cost_spendings", "has no attribute 'cost_spendings'"),
    ],
)
def test_an_earlier_name_says_what_to_write(name, instead):
    with pytest.raises(AttributeError, match=instead):
        getattr(plot, name)


def test_it_is_the_same_in_another_process():
    assert pickle.loads(pickle.dumps(plot)) is plot


def test_help_has_all_sections_and_arguments():
    text = pydoc.plain(pydoc.render_doc(plot))
    assert "\nplot(result: 'pd.DataFrame', ax: 'Axes | None' = None, *, " in text
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert re.search(rf"\n +{section}\n +{'-' * len(section)}\n", text)
    assert [*inspect.signature(plot).parameters] == ["result", "ax", "picture", "milestone"]


@pytest.mark.parametrize("name", DRAWN)
def test_help_of_an_analysis_says_what_its_picture_has(name):
    text = inspect.getdoc(attrgetter(name)(lf))
    assert "\nPicture, by :func:`ledgerframes.plot`: " in text


def test_transfers_are_counted_by_instrument_and_outcome():
    ax = plot(transfers(40), picture="economy.transfers")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [label.split("  ")[-1] for label in labels][-1] == "unknown instrument" or "unknown instrument" in " ".join(labels)
    assert all("\nof bank" in label or "unknown" in label for label in labels)
    _, names = ax.get_legend_handles_labels()
    assert set(names) == {"moved", "reserved or waits", "ended without a transfer"}
    widths = [bar.get_width() for container in ax.containers for bar in container]
    assert sum(widths) == 40


def test_amounts_of_two_instruments_are_never_added():
    frame = transfers(8).assign(choice="Allocation_ExecuteTransfer").astype({"choice": "str"})
    labels = [label.get_text() for label in plot(frame, picture="economy.transfers").get_yticklabels()]
    amounts = {label.split("\n")[0] for label in labels}
    sums = frame.assign(amount=frame["amount"].astype(float)).groupby("instrument_id", dropna=False)["amount"].sum()
    assert amounts == {f"{value:,.2f}" for value in sums}


def test_only_no_amount_reads_as_zero_and_no_digit_is_lost():
    amounts = pd.array(["0.0040000000", "12345678901234567890.1230000000", "0E-10"], dtype=pd.ArrowDtype(pa.decimal128(38, 10)))
    frame = transfers(3).assign(choice="Allocation_ExecuteTransfer", instrument_id=["a", "b", "c"], amount=amounts)
    labels = plot(frame.astype({"choice": "str", "instrument_id": "str"}), picture="economy.transfers").get_yticklabels()
    assert [each.get_text().split("\n")[0] for each in labels] == ["0.0040", "12,345,678,901,234,567,890.12", "0.00"]
    for name, column in (("economy.balance", "balance"), ("economy.reward_split", "actual"), ("economy.burn_mint", "ratio")):
        rows = result(name)(1)
        value = 0.00003 if column == "ratio" else pd.array(["0.00003"], dtype=rows[column].dtype)
        texts = texts_of(plot(rows.assign(**{column: value}), picture=name))
        assert any(text.startswith("< 0.0001") for text in texts), name


@pytest.mark.parametrize(
    ("cost", "text"),
    [(0, "All known costs in this window are 0 bytes."), (pd.NA, "No request with a known cost in this window.")],
)
def test_an_overhead_without_cost_says_whether_costs_are_known(cost: object, text: str) -> None:
    frame = result("cost.overhead")(1).assign(traffic_cost=pd.array([cost] * 3, dtype="Int64"))
    assert plot(frame, picture="cost.overhead").texts[0].get_text() == text
    assert FIGURES["cost.overhead"].answer(frame) == text


@pytest.mark.parametrize(
    ("name", "by", "over_time", "column", "text"),
    [
        ("cost.spend", "participant", False, "total_traffic_cost", "All known costs in this window are 0 bytes."),
        ("cost.requests", None, False, "total_traffic_cost", "All known costs in this window are 0 bytes."),
        ("cost.wasted", "participant", False, "share", "No known cost in this window was wasted."),
        ("activity.weights", "party", False, "weight", "All known activity weights in this window are 0 weighted bytes."),
        ("economy.balance", None, False, "balance", "All known balances in this window are 0 coin."),
        ("economy.leaderboard", None, False, "amount", "All known amounts are 0."),
        ("economy.leaderboard", None, True, "amount", "All known amounts are 0."),
    ],
)
def test_bars_without_a_length_are_a_sentence(name, by, over_time, column, text):
    frame = result(name, by, over_time=over_time)(4)
    none = (frame[column].astype(object) * 0).astype(frame[column].dtype)
    for values in (none, none.where([False, True] * 2)):
        ax = plot(frame.assign(**{column: values}), picture=name)
        assert texts_of(ax)[-1] == text and not ax.patches
        plt.close(ax.figure)
    ax = plot(frame.assign(**{column: none.where([False] * 4, frame[column])}), picture=name)
    assert text not in texts_of(ax) and ax.patches


def test_some_rows_of_an_overhead_have_the_kinds_that_they_have():
    frame = result("cost.overhead", "participant")(3)
    labels = [len(plot(rows, picture="cost.overhead").get_yticks()) for rows in (frame.head(4), frame.iloc[1::3], frame.head(1))]
    assert labels == [2, 3, 1]
    ax = plot(frame[frame["kind"] == "unassigned"], picture="cost.overhead")
    assert ax.texts[0].get_text() == "No request with a known cost in this window."
    hours = result("cost.overhead", over_time=True)(3)
    areas = [patch.get_data().values for patch in plot(hours.tail(7), picture="cost.overhead").patches]
    assert [np.isnan(values).tolist() for values in areas] == [[True, False, False]] * 2


@pytest.mark.parametrize("name", every_nth(DRAWN, 3))
def test_no_axis_has_a_power_of_ten_above_it(name):
    frame = result(name)(24)
    for column in FIGURES[name].columns:
        if column.name not in PLACES and (column.dtype in ("int64", "Int64") or column.dtype.startswith("decimal")):
            values_of_column = frame[column.name]
            large = [value if pd.isna(value) else value * 10**7 for value in values_of_column]
            frame[column.name] = pd.array(large, values_of_column.dtype)
    ax = plot(frame, picture=name)
    ax.figure.draw_without_rendering()
    texts = [axis.get_offset_text().get_text() for each in ax.figure.axes for axis in (each.xaxis, each.yaxis)]
    assert not [text for text in texts if re.match(r"[×+−-]?1e", text)]


@pytest.mark.usefixtures("copied_first_loads")
def test_a_leaderboard_that_does_not_say_what_it_ranks_has_no_unit():
    ax = plot(result("economy.leaderboard")(3), picture="economy.leaderboard")
    assert ax.get_xlabel() == "Amount"


def test_large_ranks_have_separators():
    frame = leaders("issued")(1).assign(rank=12_345, change=-6_789)
    ax = plot(frame.astype({"rank": "Int64", "change": "Int64"}), picture="economy.leaderboard")
    assert ax.get_yticklabels()[0].get_text().startswith("12,345 ")
    assert any("down 6,789)" in text for text in texts_of(ax))


def test_a_leaderboard_names_what_it_ranks():
    net = lf.connect("sandbox", events=400, days=1)
    history = lf.load_events(net, since="0001-01-01")
    for of, quantity in (
        ("issued", "Rewards issued (coin)"),
        ("bytes_bought", "Traffic bought (MB)"),
        ("burned", "Coin burned (coin)"),
    ):
        ax = plot(lf.economy.leaderboard(history, of=of, every=None))
        ax.figure.draw_without_rendering()
        assert ax.get_xlabel() == quantity
        assert ax.xaxis.get_offset_text().get_text() == ""
        plt.close(ax.figure)
    plain = lf.economy.leaderboard(history, of="burned", every=None)
    assert plain.attrs["of"] == plain.sort_values("party").head(3).attrs["of"] == "burned"


def test_shares_of_no_weight_are_a_sentence_and_no_empty_legend():
    frame = per_round("activity.weights", "party")(8)
    ax = plot(frame.assign(weight=0), picture="activity.weights")
    assert "No app provider has an activity weight above 0." in texts_of(ax)
    assert ax.get_legend() is None and not ax.artists


def test_a_period_without_any_weight_has_no_shares():
    frame = result("activity.weights", "party", over_time=True)(2 * GROUPS)
    weights = frame["weight"].where(frame["period_start"] == START)
    ax = plot(frame.assign(weight=weights), picture="activity.weights")
    areas = [patch.get_data().values for patch in ax.patches if isinstance(patch, mpl.patches.StepPatch)]
    assert areas and all(np.isnan(values).tolist() == [False, True] for values in areas)


def test_traffic_of_unknown_size_is_a_gap_with_a_note():
    frame = result("economy.purchases", over_time=True)(3)
    ax = plot(frame.assign(bytes=frame["bytes"].where([True, False, True])), picture="economy.purchases")
    (area,) = [patch for patch in ax.patches if isinstance(patch, mpl.patches.StepPatch)]
    assert np.isnan(area.get_data().values).tolist() == [False, True, False]
    assert any("Gap: 1 period with a purchase of unknown size" in text for text in texts_of(ax))


def test_requests_of_unknown_cost_have_no_bar():
    frame = result("cost.requests")(4)
    costs = frame["total_traffic_cost"].where([True, False, True, False])
    ax = plot(frame.assign(total_traffic_cost=costs), picture="cost.requests")
    assert [bar.get_width() for bar in ax.patches] == costs.dropna().tolist()


def test_one_hour_of_a_balance_is_a_point():
    frame = result("cost.runway")(3).assign(balance_middle=pd.array([5_000, -1, -2], "Int64"))
    points = [each for each in plot(frame, picture="cost.runway").lines if each.get_marker() == "o"]
    assert [each.get_ydata().tolist() for each in points] == [[5_000]]


@pytest.mark.parametrize("name", ["economy.balance", "economy.purchases", "activity.weights"])
def test_an_unknown_value_is_no_zero_at_the_end_of_a_bar(name):
    column = {"economy.balance": "balance", "economy.purchases": "bytes", "activity.weights": "weight"}[name]
    frame = result(name, "party" if name == "activity.weights" else None)(4)
    ax = plot(frame.assign(**{column: frame[column].where([True, False, True, False])}), picture=name)
    assert texts_of(ax).count("unknown") == 2
    assert not [text for text in texts_of(ax) if text.startswith(("0", "nan"))]


def test_the_price_of_one_round_is_a_point():
    frame = result("state.rounds")(1)
    points = [each for each in plot(frame, picture="state.rounds").lines if each.get_marker() == "o"]
    assert [each.get_ydata().tolist() for each in points] == [[float(frame["coin_price"].iloc[0])]]


def test_a_bar_of_others_without_a_value_is_unknown():
    values = r.group_remaining([str(number) for number in range(20)], np.append(np.ones(15), np.full(5, np.nan)))[1]
    assert np.isnan(values[-1]) and np.nansum(values) == 15


@pytest.mark.parametrize("by", ["party", "participant", "template"])
def test_bars_of_costs_have_the_shares_of_the_result(by):
    # A request counts for each of its parties, whose costs add up to more than the total.
    frame = result("cost.spend", by)(20).assign(share=[0.517, *[0.3] * 19])
    shares = [text.split("(")[1] for text in texts_of(plot(frame, picture="cost.spend")) if " %)" in text]
    assert shares == ["51.7 %)", *["30.0 %)"] * 14]


def test_the_share_of_all_other_rows_is_that_of_the_result():
    frame = result("cost.spend", "participant")(20).assign(share=0.05)
    assert [text.split("(")[1] for text in texts_of(plot(frame, picture="cost.spend")) if " %)" in text] == [
        *["5.0 %)"] * 15,
        "25.0 %)",
    ]


def test_bars_of_costs_that_differ_in_coverage_have_no_shares():
    frame = result("cost.spend", "participant")(4).assign(share=np.nan)
    assert not [text for text in texts_of(plot(frame, picture="cost.spend")) if " %)" in text]


def test_an_object_that_differs_does_not_hide_the_others_of_its_day():
    frame = result("reconcile.digests")(12).assign(until=START, outcome="equal", dissenters=None, missing_at=None)
    frame.loc[0, ["outcome", "dissenters"]] = ["different", "three"]
    ax = plot(frame, picture="reconcile.digests")
    styles = {
        label.get_text(): patch.get_facecolor()
        for label, patch in zip(ax.get_legend().get_texts(), ax.get_legend().get_patches(), strict=True)
    }
    drawn = {name: [] for name in styles}
    for strip in ax.collections:
        name = next(name for name, color in styles.items() if np.allclose(strip.get_facecolor()[0], color))
        drawn[name] += [path.get_extents() for path in strip.get_paths()]
    assert len(drawn["equal"]) == 11 and len(drawn["different"]) == 2
    assert max(cell.x1 for cell in drawn["different"]) < min(cell.x0 for cell in drawn["equal"])
    assert sum(cell.width for cell in drawn["equal"]) == pytest.approx(11 / 12, rel=0.1)


def test_the_picture_of_waste_has_the_groups_that_wasted_most():
    frame = result("cost.wasted", "participant")(40)
    wasted = pd.Series(range(40), dtype="Int64")
    ax = plot(frame.assign(wasted_traffic_cost=wasted, requests=wasted[::-1].to_numpy("int64")), picture="cost.wasted")
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert [int(label.split("(")[1].rstrip(")")) for label in labels] == list(range(14, -1, -1))


def test_rows_of_accepted_requests_have_their_number():
    frame = result("verdict.latency", "participant")(4).assign(requests=200, accepted=[10, 20, 30, 40])
    labels = [text.get_text() for text in plot(frame, picture="verdict.latency").get_yticklabels()]
    assert [label.split("  ")[1] for label in labels] == ["(10)", "(20)", "(30)", "(40)"]


@pytest.mark.parametrize("name", ["cost.runway", "votes.price", "cost.wasted"])
def test_the_ends_of_a_band_are_lines(name):
    # A pale area alone is almost invisible on a dark page.
    ax = plot(result(name, over_time=name == "cost.wasted")(8), picture=name)
    usual = "usual: up to the limit"
    areas = [*ax.collections, *(each for each in ax.patches if each.get_label() == usual)]
    (band,) = [each for each in areas if each.get_label() in ("4 of 5 cases", "all votes", usual)]
    edge, face = (np.ravel(colors)[:4] for colors in (band.get_edgecolor(), band.get_facecolor()))
    assert edge[3] == 1 and 0.25 <= face[3] < 1 and np.ravel(band.get_linewidth())[0] > 0


def test_ticks_have_the_minus_of_other_numbers():
    ax = plot(
        result("cost.compare", "template")(8).assign(difference=-2_500, low_all=-5_000, high_all=100),
        picture="cost.compare_medians",
    )
    ax.figure.canvas.draw()
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert any(text.startswith("−") for text in texts) and not any("-" in text for text in texts)


@pytest.mark.parametrize("by", ["participant", "hour"])
def test_a_rate_beyond_its_interval_is_on_the_axis(by):
    ax = plot(result("verdict.outcomes", by)(8).assign(rejection_rate=0.7, high=0.3), picture="verdict.outcomes")
    highest = ax.get_ylim() if by == "hour" else ax.get_xlim()
    assert highest[1] > 0.7


def test_rates_that_differ_are_diamonds_and_the_rate_of_all_is_a_line():
    counts = {"accepted": [90, 60, 240], "rejected": [10, 40, 60], "differs": [None, True, False]}
    rates = {"rejection_rate": [0.1, 0.4, 0.2], "low": [0.05, 0.3, 0.15], "high": [0.2, 0.5, 0.3], "requests": [100, 100, 100]}
    frame = result("verdict.outcomes", "participant")(3).assign(**counts, **rates)
    ax = plot(frame.assign(differs=frame["differs"].astype("boolean")), picture="verdict.outcomes")
    markers = {line.get_marker(): line.get_xdata().tolist() for line in ax.lines if line.get_marker() in ("o", "D", "x")}
    assert markers == {"o": [0.2], "D": [0.4], "x": [0.1]}, "a row without a judgment is not called as chance explains"
    (all_together,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert all_together.get_xdata()[0] == pytest.approx(110 / 500)
    assert all_together.get_label() == "all together, 22.0 %"
    heights = {line.get_marker(): line.get_ydata().tolist() for line in ax.lines if line.get_marker() in ("o", "D", "x")}
    assert heights == {"D": [0.0], "o": [1.0], "x": [2.0]}, "the highest rate first"


def test_rates_of_parties_that_share_requests_have_no_rate_of_all():
    frame = result("verdict.outcomes", "party")(3)
    ax = plot(frame.assign(differs=pd.array([None] * 3, dtype="boolean")), picture="verdict.outcomes")
    assert [line.get_label() for line in ax.lines if not str(line.get_label()).startswith("_")] == ["not judged"]


def test_the_usual_range_of_waste_is_all_below_its_limit_with_its_center():
    frame = result("cost.wasted", None, over_time=True)(4).assign(share=0.05, center=0.1, upper=[0.25, 0.25, np.nan, 0.3])
    ax = plot(frame, picture="cost.wasted")
    (band,) = [each for each in ax.patches if each.get_label() == "usual: up to the limit"]
    (center,) = [each for each in ax.patches if each.get_label() == "center of the usual range"]
    assert band.get_data().baseline == 0
    np.testing.assert_array_equal(band.get_data().values, [0.25, 0.25, np.nan, 0.3])
    assert center.get_data().values.tolist() == [0.1] * 4 and center.get_data().baseline is None and not center.get_fill()
    ax.figure.draw_without_rendering()
    edges, area = band.get_data().edges, band.get_transform().transform_path(band.get_path())
    for middle, limit in zip((edges[1:] + edges[:-1]) / 2, [0.25, 0.25, 0, 0.3], strict=True):
        for share in (0.01, 0.05, 0.2, 0.26, 0.31):
            assert area.contains_point(ax.transData.transform((middle, share))) == (share < limit)


def texts_on(ax):
    """The texts that stand at points of the axes."""
    return {text.get_text() for text in ax.texts if text.xycoords == "data"}


def test_bad_days_and_spikes_have_their_numbers():
    rates = {"accepted": [90, 60, 80, 99], "rejected": [10, 40, 20, 1], "rejection_rate": [0.1, 0.4, 0.2, 0.01]}
    differs = pd.array([None, True, False, True], dtype="boolean")
    frame = result("verdict.outcomes", None, over_time=True)(4).assign(**rates, low=0.005, high=0.5, differs=differs)
    frame = frame.assign(difference=[0.0, 0.2, 0.0, -0.3])
    assert texts_on(plot(frame, picture="verdict.outcomes")) == {"40.0 %"}
    is_above = pd.array([False, True, None, False], dtype="boolean")
    waste = result("cost.wasted", None, over_time=True)(4).assign(share=[0.1, 0.296, 0.1, 0.1], is_above=is_above)
    assert texts_on(plot(waste, picture="cost.wasted")) == {"29.6 %"}
    costs = result("cost.spend", None, over_time=True)(3)
    start = f"{costs['period_start'].iloc[1]:%d %b %H:%M}"
    spike = costs.assign(total_traffic_cost=pd.array([400_000, 776_000, None], dtype="Int64"))
    assert texts_on(plot(spike, picture="cost.spend")) == {f"{start}, 776.0 kB"}
    flat = costs.assign(total_traffic_cost=pd.array([700_000, 776_000, None], dtype="Int64"))
    assert texts_on(plot(flat, picture="cost.spend")) == set()


def test_a_party_without_a_known_amount_has_no_zero():
    frame = result("economy.leaderboard")(3)
    ax = plot(frame.assign(amount=frame["amount"].where([True, False, True])), picture="economy.leaderboard")
    assert [text for text in texts_of(ax) if text == "unknown" or text.startswith("0")] == ["unknown"]


def test_unknown_rewards_are_one_text_and_rewards_of_0_have_a_mark():
    frame = result("economy.reward_split")(3)
    for name in ("coupon_amount", "expected", "actual"):
        frame.loc[0, name] = None
    frame.loc[1, "expected"] = 0
    ax = plot(frame, picture="economy.reward_split")
    ax.figure.draw_without_rendering()
    names = [text.get_text() for text in ax.get_yticklabels()]
    unknown, empty = (names.index(r.label(frame["provider"][row])) for row in (0, 1))
    texts = [(round(text.xy[1]), text.get_text()) for text in ax.texts]
    assert [text for row, text in texts if row == unknown] == ["unknown"]
    assert sorted(text for row, text in texts if row == empty) == ["0.00  expected", "18,000.00  actual"]
    expected, actual = (bars[empty] for bars in ax.containers)
    assert expected.get_width() == 0 < 1 < expected.get_linewidth() and expected.get_edgecolor() == expected.get_facecolor()
    assert actual.get_linewidth() < 1
    values = [text for *_, text in locate_marks(find_marks(ax.figure), ax.figure)]
    assert sum("unknown" in text for text in values) == 2 and not any("nan" in text.lower() for text in values)


def test_rewards_of_0_alone_are_a_sentence():
    frame = result("economy.reward_split")(3).assign(expected=0, actual=0)
    assert "All known amounts are 0." in texts_of(plot(frame, picture="economy.reward_split"))


def test_each_provider_has_an_expected_and_an_actual_bar():
    texts = texts_of(plot(result("economy.reward_split")(3), picture="economy.reward_split"))
    assert [[text.endswith(name) for text in texts].count(True) for name in (" expected", " actual")] == [3, 3]


def test_kinds_without_a_median_or_a_value_are_a_sentence():
    few = result("cost.compare")(2)
    ax = plot(few.assign(median_before=pd.array([None, None], "Int64")), picture="cost.compare_medians")
    assert "No kind of request has a median before and after." in texts_of(ax)
    ax = plot(result("cost.budget")(2).assign(value=pd.array([None, None], "Int64")), picture="cost.budget")
    assert "No kind of request has enough requests for its limit." in texts_of(ax)


def test_a_kind_of_few_requests_is_marked_as_such():
    ax = plot(result("cost.compare")(2).assign(judgment=["too few", "no clear change"]), picture="cost.compare_medians")
    assert ["(few)" in label.get_text() for label in ax.get_yticklabels()] == [True, False]


@pytest.mark.parametrize(
    ("unit", "largest", "label"),
    [
        ("bytes", 2_000_000, "Size (MB)"),
        ("share of 1", 0.5, "Size (%)"),
        ("coin", 3, "Size (coin)"),
        ("microseconds", 5_000_000, "Size (s)"),
        ("requests", 7, "Size"),
    ],
)
def test_a_declared_column_is_drawn_in_its_unit(unit, largest, label):
    column = ResultColumn("size", "int64", "The size.", unit=unit, title="Size")
    chart = SimpleNamespace(figure=SimpleNamespace(drawn="size", column=lambda name: column))
    with plt.rc_context():
        _, ax = plt.subplots()
        show_axis(ax.yaxis, chart, largest)
    assert ax.get_ylabel() == label


def test_rounds_without_a_price_and_links_that_are_unknown_are_said():
    rounds = result("state.rounds")(3)
    ax = plot(rounds.assign(coin_price=pd.array([None] * 3, pd.ArrowDtype(pa.decimal128(38, 10)))), picture="state.rounds")
    assert "No round of this history has a price." in texts_of(ax)
    ax = plot(result("reconcile.rewards")(3).assign(status="unknown"), picture="reconcile.rewards")
    assert "No link is known" in ax.get_title(loc="left") + "".join(texts_of(ax))


def test_a_request_that_nobody_confirms_is_drawn():
    assert _confirmers(None) == "nobody confirms"
    assert _confirmers("2 of 3: alice::1220ab, bob::1220cd") == "2 of 3 (alice, bob)"


@pytest.mark.parametrize(
    ("template", "choice", "text"),
    [
        ("A:B", "C", "A:B.C"),
        ("A:B", "", "A:B"),
        ("", "C", "(no name).C"),
        ("", "", "(no name)"),
        ("", None, "(no name) (create)"),
    ],
)
def test_a_kind_whose_names_are_empty_has_a_label(template, choice, text):
    assert r.template_label("transaction", template, choice) == text


@pytest.mark.parametrize(
    ("template", "choice", "text"),
    [
        ("Meadow.Settlement.Batch:BatchRunner", "BatchRunner_Run", "…BatchRunner.BatchRunner_Run"),
        ("Splice.Coin:FeaturedAppRight", "FeaturedAppRight_CreateActivityMarker", "…FeaturedAppRight_CreateActivityMarker"),
        ("Meadow.Settlement.Settlement.Batch:BatchRunner", "", "…BatchRunner"),
        ("Meadow.Settlement.Settlement.Batch:BatchRunner", None, "…BatchRunner (create)"),
        ("M:T", "c" * 60, f"…{'c' * 21}…{'c' * 21}"),
    ],
)
def test_a_long_kind_keeps_its_choice(template, choice, text):
    assert r.template_label("transaction", template, choice) == text
