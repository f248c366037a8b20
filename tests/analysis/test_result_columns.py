"""Every result has the declared columns and dtypes, every period, and an error for wrong arguments."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime, timedelta
from operator import attrgetter

import pandas as pd
import pytest
from cases import every_nth, only
from equality import assert_table_equal

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import CALLS, FIGURES
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.values.windows import Window

# One input for every figure; a figure of another kind of input is tested where its input is.
# Figures of the network's state and of the economy refuse frames without its start or all updates, and are tested by themselves,
# as is the calendar, whose counts can be 0 in a period that is known.
FROM_STATE = (
    "state.",
    "activity.re",
    "activity.rewards",
    "activity.what_if",
    "economy.",
    "reconcile.coverage",
    "reconcile.rewards",
)
FROM_FRAMES = [name for name, call in CALLS.items() if call.endswith("(frames)") and not name.startswith(FROM_STATE)]
GROUPINGS = [(name, by) for name in FROM_FRAMES for by in (None, *FIGURES[name].by)]
WHOLE_COVERAGE = ["verdict.quorums"]  # a period without quorums is known as well as the others
PERIODS = [(name, by) for name, by in GROUPINGS if FIGURES[name].has_periods]
# By default, columns of all groupings are tried over the whole window, and periods without a grouping.
FIRST_GROUPINGS = only(lambda case: case[1] is None, PERIODS)


def analysis(name):
    return attrgetter(name)(lf)


LABELS = pd.DataFrame({"id": ["alice"], "name": ["Alice"], "group": ["people"]}, dtype="str")
START = pd.Timestamp("2026-11-01", tz="UTC")
HOSTING = pd.DataFrame({"party": ["alice"], "participant": ["val-a"], "from": [START], "until": [pd.NaT]})

COMPLETIONS = lf.table("completions").empty()


def compute(name, frames, by=None, **named):
    named |= {"labels": LABELS} if by == "label" else {}
    named |= {"completions": COMPLETIONS} if by == "user" else {}
    named |= {"hosting": HOSTING} if (name, by) == ("verdict.waited_for", "participant") else {}
    return analysis(name)(frames, **({"by": by} if FIGURES[name].by else {}), **named)


def assert_declared(frame, columns):
    assert list(frame.columns) == [column.name for column in columns]
    assert [str(dtype) for dtype in frame.dtypes] == [column.dtype for column in columns]
    assert frame.index.equals(frame.reset_index(drop=True).index)


@pytest.fixture(scope="module", params=["sample", "empty by id", pytest.param("empty", marks=pytest.mark.exhaustive)])
def frames(request, build, sample):
    return {"sample": sample, "empty": build([]), "empty by id": build([], window=None)}[request.param]


@pytest.mark.parametrize(("name", "by"), GROUPINGS)
def test_columns(frames, name, by):
    figure = FIGURES[name]
    periods = {"every": None} if figure.has_periods else {}
    assert_declared(compute(name, frames, by, **periods), figure.result_columns(by))


@pytest.mark.parametrize("name", FROM_FRAMES)
def test_committed_updates_have_no_rejections(build, event, name):
    """A figure refuses them, or what it says of rejections is missing, not 0."""
    frames = build([event("a", 1, 10), event("b", 7, 30)], population="committed")
    try:
        result = compute(name, frames)
    except CoverageError as error:
        assert error.missing[0] in ("rejected requests", "requests of the window")
        return
    counts = [column for column in result if re.search("reject|timeout|wasted", column)]
    assert result[counts].isna().all(axis=None), "declare measure=UnlessCommitted(…), or call require_rejections"


@pytest.mark.parametrize("name", FROM_FRAMES)
def test_a_doubtful_limit_has_no_timeouts(build, event, name):
    """More rejections lie just below the limit of 30 s than from it on, so a figure refuses to name timeouts."""
    seconds = {"late": 30.5, "first": 25, "second": 25}
    rows = [event(each, 1, 10, result="REJECTED", seconds=latency) for each, latency in seconds.items()]
    frames = build(rows)
    try:
        result = compute(name, frames)
    except CoverageError:
        return
    counts = [column for column in result if "timeout" in column]
    assert result[counts].isna().all(axis=None), "mask it where is_limit_doubtful(grouped.overall)"


TAIL = {
    "coverage": "float64",
    "coverage_bytes": "float64",
    "coverage_time": "float64",
    "population": "category",
    "network": "category",
}
WINDOWS = {
    "full": ("2026-11-08", "2026-11-09"),
    "empty": ("2026-11-08T00:00:00Z", "2026-11-08T00:00:00.000001Z"),
    "before the history": ("2026-10-08", "2026-10-10"),
    "future": ("2027-01-01", "2027-01-03"),
}


@pytest.fixture(scope="module", params=only(lambda window: window in ("full", "empty"), WINDOWS))
def loaded(request, tmp_path_factory):
    since, until = WINDOWS[request.param]
    with testing.small_network(tmp_path_factory.mktemp("store"), events=400) as net:
        yield request.param, lf.load_events(net, since=since, until=until)


@pytest.mark.parametrize("name", every_nth(FROM_FRAMES, 2))
def test_every_result_ends_with_its_coverage(loaded, name):
    window, frames = loaded
    results = [compute(name, frames)]
    if FIGURES[name].has_periods:
        results += [compute(name, frames, every=every) for every in (None, "1d")]
    for result in results:
        assert {str(column): str(result[column].dtype) for column in result.columns[-5:]} == TAIL
        assert list(result.columns[-5:]) == list(TAIL)
        assert set(result["population"]) <= {"all"}
        assert set(result["network"]) <= {frames.network}
        is_full = window == "full"
        assert ((result["coverage_time"] > 0.99) == is_full).all()
        assert ((result["coverage_time"] == 0) != is_full).all()


@pytest.mark.parametrize(("name", "by"), every_nth(PERIODS, 9))
def test_periods_of_all_history_start_with_the_history(sandbox_history, name, by):
    first = sandbox_history.coverage["since"].min().to_pydatetime()
    since_then = sandbox_history.between(first, sandbox_history.window.until)
    periods, expected = (compute(name, frames, by, every="1h") for frames in (sandbox_history, since_then))
    assert periods["period_start"].iloc[0] == pd.Timestamp(first).floor("h")
    assert_table_equal(periods, expected, name)


@pytest.mark.parametrize("name", [name for name in FROM_FRAMES if FIGURES[name].has_periods])
def test_periods_without_final_data_are_partial(loaded, name):
    window, frames = loaded
    result = compute(name, frames, every="6h")
    assert result["is_partial"].tolist() == (result["coverage_time"] < 1).tolist()
    if window == "full" and not result.empty:
        assert result.drop_duplicates("period_start")["is_partial"].tolist() == [True, False, False, False]  # history begins
    elif not result.empty:
        assert result["is_partial"].all()


FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
DAY = datetime(2026, 11, 8, tzinfo=UTC)


@pytest.mark.parametrize("name", sorted({name for name, _ in PERIODS}))
@pytest.mark.parametrize(
    ("since", "until"), every_nth([(FIRST, FIRST + timedelta(days=2)), (LAST - timedelta(days=2), LAST), (FIRST, LAST)], 2)
)
def test_windows_at_the_edge_of_time(build, event, name, since, until):
    at = since if until - since < timedelta(days=3) else DAY
    frames = build([event("a", (at - DAY) / timedelta(hours=1), 500)], window=Window(since, until))
    for every in ("1d", "1w", "999999w", "999999mo"):
        try:
            result = compute(name, frames, every=every)
        except UsageError as error:
            assert "makes periods outside the years 1 to 9999" in str(error) or "splits the window" in str(error)
        else:
            assert result["period_start"].min() >= FIRST and result["period_end"].max() <= LAST


def test_every_figure_declares_the_same_tail():
    assert all([column.name for column in figure.tail] == list(TAIL) for figure in FIGURES.values())
    assert all([column.dtype for column in figure.tail] == list(TAIL.values()) for figure in FIGURES.values())


@pytest.mark.parametrize("update_id", ["a", "c", "d", "f"])
def test_anatomy(sample, update_id):
    assert_declared(lf.cost.anatomy(sample, update_id), FIGURES["cost.anatomy"].result_columns())


COUNTS_THAT_CAN_BE_MISSING = ("rejected", "timeouts", "envelopes", "price_differs")


@pytest.mark.parametrize("every", ["1h", pytest.param("1d", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("name", "by"), FIRST_GROUPINGS)
def test_every_period_has_rows_of_the_declared_columns(frames, name, by, every):
    """Also a period without requests: its counts are 0, and everything else of it is missing."""
    result = compute(name, frames, by, every=every)
    assert_declared(result, FIGURES[name].result_columns(by, has_periods=True))
    if frames.window is None:
        assert result.empty
        return
    hours = {"1h": range(24), "1d": range(1)}[every]
    assert result["period_start"].drop_duplicates().tolist() == [frames.window.since + timedelta(hours=hour) for hour in hours]
    figure = FIGURES[name]
    counts = [column.name for column in figure.columns if column.dtype == "int64" or column.name in COUNTS_THAT_CAN_BE_MISSING]
    empty = result[(result[counts] == 0).all(axis=1)]
    if name == "cost.overhead":  # the unassigned cost is in no envelope
        empty = empty[empty["coverage"].isna()]
    others = [column.name for column in figure.columns if column.dtype not in ("int64", "category", "str")]
    others = [name for name in others if name not in counts]
    others += ["coverage", "coverage_bytes"] if name not in WHOLE_COVERAGE else []
    limits = ["dispersion"] if name == "verdict.outcomes" else []  # the same in every row
    keys = ["threshold", "party_count"] if name == "verdict.quorums" else []
    others = [column for column in others if column not in (*counts, *limits, *keys)]
    assert len(empty) or every == "1d"
    assert empty[others].isna().all(axis=None)


@pytest.mark.parametrize("name", list(FIGURES))
def test_docstrings_list_every_column(name):
    doc = inspect.getdoc(analysis(name))
    figure = FIGURES[name]
    groupings = [column for by in figure.by for column in (*figure.grouping(by).keys, *figure.grouping(by).extra)]
    for column in (*groupings, *figure.columns, figure.tail[0]):
        assert f"- ``{column.name}`` ({column.dtype}" in doc
    names = ", ".join(f"``{column.name}``" for column in figure.tail[1:])
    assert f"- {names}: docs/times-and-costs.md#columns-of-every-result" in doc


@pytest.mark.parametrize("name", list(FIGURES))
def test_docstrings_are_complete(name):
    doc = inspect.getdoc(analysis(name))
    sections = re.findall(r"^(\w+)\n-+$", doc, re.MULTILINE)
    order = ["Parameters", "Returns", "Raises", "Notes", "Examples"]
    assert sections == [each for each in order if each in sections]
    assert {"Parameters", "Returns", "Raises", "Notes", "Examples"} - {*sections} <= {"Raises"}
    described = re.search(r"Parameters\n-+\n(.*?)\n\nReturns", doc, re.DOTALL)[1]
    names = [each for line in re.findall(r"^\w.*$", described, re.MULTILINE) for each in line.partition(" : ")[0].split(", ")]
    assert sorted(names) == sorted(inspect.signature(analysis(name)).parameters)
    assert re.search(r"Returns\n-+\nDataFrame\n    (One|Two|Three) rows? ?[a-z.]", doc)
    assert ">>> import ledgerframes as lf" in doc


@pytest.mark.parametrize("name", list(FIGURES))
def test_columns_are_described(name):
    figure = FIGURES[name]
    columns = [column for by in (None, *figure.by) for column in figure.result_columns(by, has_periods=figure.has_periods)]
    assert all(column.description.endswith(".") and ";" not in column.description for column in columns)
    assert all(len(column.description) <= 120 for column in columns)


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.endswith("(frames)")])
@pytest.mark.parametrize("wrong", [pd.DataFrame(), "sandbox", None])
def test_other_things_than_frames_are_refused(name, wrong):
    with pytest.raises(UsageError, match=rf"Pass Frames to lf\.{name}, .* got {type(wrong).__name__}"):
        analysis(name)(wrong)


def test_other_inputs_are_refused(sample):
    with pytest.raises(UsageError, match=r"Pass Frames to lf\.cost\.anatomy"):
        lf.cost.anatomy(pd.DataFrame(), "a")
    with pytest.raises(UsageError, match=r"Pass Frames to lf\.reconcile\.paid_traffic"):
        lf.reconcile.paid_traffic(sample, pd.DataFrame())
    with pytest.raises(UsageError, match=r"Pass Frames to lf\.contracts\.active_at"):
        lf.contracts.active_at(pd.DataFrame(), "2026-11-08")
    with pytest.raises(UsageError, match=r"Pass the result of lf\.load_price_votes\(net\) to lf\.votes\.price, got Frames"):
        lf.votes.price(sample)


@pytest.mark.parametrize("name", [name for name in FROM_FRAMES if FIGURES[name].by])
def test_unknown_groupings_are_refused(sample, name):
    with pytest.raises(UsageError, match="Choose from None, '"):
        analysis(name)(sample, by="validator")
