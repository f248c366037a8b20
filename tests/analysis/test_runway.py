"""Balances to come, worked out by hand."""

from __future__ import annotations

import math
import statistics
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import cost
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.statistics import runways
from ledgerframes.values.windows import Window

MONDAY = datetime(2026, 10, 5, tzinfo=UTC)
HOURS_PER_WEEK = 168


def frames_of(weeks, *, population="all", participant="val-a", days=None, without_verdict=0):
    """Frames with one request per hour, of the bytes that a function of week and hour of the week returns."""
    burns = [burn for week in weeks for burn in week]
    rows = [
        {"update_id": f"u{number}", "record_time": MONDAY + timedelta(hours=number, minutes=30)} for number in range(len(burns))
    ]
    window = Window(MONDAY, MONDAY + timedelta(days=days or 7 * len(weeks)))
    return testing.frames_of(
        network="memory",
        window=window,
        population=population,
        verdicts=[{**row, "submitting_participant_uid": participant} for row in rows[without_verdict:]],
        traffic=[{**row, "total_traffic_cost": burn} for row, burn in zip(rows, burns, strict=True) if burn is not None],
        updates=rows,
    )


CONSTANT = [[72_000] * HOURS_PER_WEEK] * 4
AFTER = MONDAY + timedelta(weeks=4)


@pytest.fixture(scope="module")
def constant():
    return frames_of(CONSTANT)


def end_of(frames, size=500_000, at=AFTER, **named):
    (row,) = cost.runway_end(frames, participant="val-a", balance=lf.TrafficBalance(size, at), **named).to_dict("records")
    return row


def test_a_constant_burn_ends_in_the_seventh_hour(constant):
    row = end_of(constant)
    end = pd.Timestamp(AFTER) + pd.Timedelta(hours=7)
    assert (row["runs_dry_first"], row["runs_dry_middle"], row["runs_dry_last"]) == (end, end, end)
    assert (row["weeks_of_history"], row["factor"], row["coverage"]) == (4, 1.0, 1.0)
    assert row["silent_minutes"] == 60 * (4 * HOURS_PER_WEEK - 6)
    assert pd.isna(row["safe_interval"])
    path = cost.runway(constant, participant="val-a", balance=lf.TrafficBalance(500_000, AFTER), horizon="8h")
    assert path["balance_middle"].tolist() == [500_000 - 72_000 * hour for hour in range(1, 9)]
    assert path["balance_low"].tolist() == path["balance_high"].tolist() == path["balance_middle"].tolist()
    assert path["hour"].iloc[6] == end


def test_a_balance_of_exactly_zero_is_not_dry(constant):
    assert end_of(constant, 432_000)["runs_dry_middle"] == pd.Timestamp(AFTER) + pd.Timedelta(hours=7)
    assert end_of(constant, 431_999)["runs_dry_middle"] == pd.Timestamp(AFTER) + pd.Timedelta(hours=6)


def test_a_balance_within_an_hour_counts_that_hour_in_full(constant):
    row = end_of(constant, at=AFTER + timedelta(minutes=59))
    assert row["runs_dry_middle"] == pd.Timestamp(AFTER) + pd.Timedelta(hours=7)


def test_the_base_rate_is_free(constant):
    row = end_of(constant, base_rate=lf.BaseRate(4_000, "20min"))  # 12,000 of 72,000 an hour
    assert row["runs_dry_middle"] == pd.Timestamp(AFTER) + pd.Timedelta(hours=9)
    assert pd.isna(end_of(constant, base_rate=lf.BaseRate(24_000, "20min"))["runs_dry_first"])


def test_purchases_keep_a_balance_above_zero(constant):
    row = end_of(constant, topup=runways.TopUp(below=72_000, amount=720_000))
    assert pd.isna(row["runs_dry_first"])
    assert row["safe_interval"] == 10
    assert row["silent_minutes"] == 0


def test_the_paths_follow_the_hours_of_the_week_and_the_spread_of_the_weeks():
    weeks = [[level * (3 if hour % 24 in range(8, 18) else 1) for hour in range(HOURS_PER_WEEK)] for level in (100, 120, 90, 110)]
    frames = frames_of(weeks)
    path = cost.runway(frames, participant="val-a", balance=lf.TrafficBalance(10**6, AFTER), horizon="24h")
    mean = [105 * (3 if hour in range(8, 18) else 1) for hour in range(24)]
    assert path["balance_middle"].tolist() == [10**6 - sum(mean[: hour + 1]) for hour in range(24)]
    factor = end_of(frames)["factor"]
    deviation = statistics.stdev(math.log(level) for level in (100, 120, 90, 110))
    assert factor == pytest.approx(math.exp(1.637744354 * deviation * math.sqrt(5 / 4)))  # 90% of Student's t, 3 degrees
    assert path["balance_low"].iloc[0] == int(10**6 - 105 * factor)
    assert (path["balance_low"] < path["balance_middle"]).all()
    assert (path["balance_middle"] < path["balance_high"]).all()


def test_only_the_latest_six_whole_weeks_count():
    frames = frames_of([[10_000] * HOURS_PER_WEEK, *([[100] * HOURS_PER_WEEK] * 6), [9_000] * HOURS_PER_WEEK])
    row = end_of(frames, 1_000, at=MONDAY + timedelta(weeks=7, days=3))
    assert row["weeks_of_history"] == 6
    assert row["runs_dry_middle"] == pd.Timestamp(MONDAY) + pd.Timedelta(weeks=7, days=3, hours=11)


@pytest.mark.parametrize(("weeks", "days"), [(3, None), (4, 27)])
def test_a_short_history_is_refused(weeks, days):
    with pytest.raises(CoverageError, match="A runway needs 4 whole weeks before 2026-11-02 00:00, and these frames hold"):
        end_of(frames_of(CONSTANT[:weeks], days=days))


def test_unknown_costs_are_no_history():
    week = [None if hour % 5 == 0 else 100 for hour in range(HOURS_PER_WEEK)]
    with pytest.raises(CoverageError, match="these frames hold 0"):
        end_of(frames_of([*CONSTANT, week]), at=MONDAY + timedelta(weeks=5))


@pytest.mark.parametrize("population", ["committed", "chosen"])
def test_frames_without_all_requests_are_refused(population):
    with pytest.raises(CoverageError, match="because rejected requests cost too"):
        end_of(frames_of(CONSTANT, population=population))


def test_an_unknown_participant_is_refused(constant):
    with pytest.raises(UsageError, match=r"Unknown participant 'val-b'. Choose from 'val-a'\."):
        cost.runway(constant, participant="val-b", balance=lf.TrafficBalance(1, AFTER))


def test_wrong_arguments_are_refused(constant):
    balance = lf.TrafficBalance(1, AFTER)
    for named in ({"balance": 5}, {"balance": balance, "topup": {"amount": 1}}, {"balance": balance, "base_rate": 4_000}):
        with pytest.raises(UsageError, match=r"= must be a (TrafficBalance or rows of .*|TopUp|BaseRate), got (int|dict)"):
            cost.runway(constant, participant="val-a", **named)
    for horizon in ("1mo", "367d", "10min", "long"):
        with pytest.raises(UsageError, match="horizon= must"):
            cost.runway(constant, participant="val-a", balance=balance, horizon=horizon)
    for size in (-1, 1.5, True):
        with pytest.raises(UsageError, match="bytes= must be a whole number"):
            lf.TrafficBalance(size, AFTER)
        with pytest.raises(UsageError, match="burst= must be a whole number"):
            lf.BaseRate(size, "20min")
    with pytest.raises(UsageError, match="window= must"):
        lf.BaseRate(1, "soon")
    with pytest.raises(UsageError, match="at= must be before the year 9998"):
        lf.TrafficBalance(1, "9998-01-01")


def test_weeks_of_unknown_participants_are_no_weeks_without_burn():
    """In the first two weeks, the history did not have verdicts yet."""
    with pytest.raises(CoverageError, match="these frames hold 2"):
        end_of(frames_of(CONSTANT, without_verdict=2 * HOURS_PER_WEEK))


# -- observed balances ------------------------------------------------------------------------------------------------------


STATUS = lf.table("traffic_status")


def observed(*rows):
    """Observations: time, member, balance and synchronizer."""
    values = {
        "observed_at": [time for time, *_ in rows],
        "member_id": [member for _, member, *_ in rows],
        "balance": [size for *_, size, _ in rows],
        "synchronizer_id": [domain for *_, domain in rows],
        **{name: [0] * len(rows) for name in ("total_consumed", "total_limit", "total_purchased")},
        "extra": [None] * len(rows),
    }
    return STATUS.to_pandas(STATUS.from_arrays(values))


@pytest.mark.parametrize("member", ["val-a", "PAR::val-a"])
def test_an_observed_balance_is_as_good_as_a_typed_one(constant, member):
    status = observed(
        (AFTER - timedelta(days=1), member, 1, "d"),
        (AFTER, member, 500_000, "d"),
        (AFTER, "PAR::val-b", 2, "d"),
        (AFTER + timedelta(days=3), member, 3, "d"),  # after the frames
    )
    for figure in (cost.runway, cost.runway_end):
        typed = figure(constant, participant="val-a", balance=lf.TrafficBalance(500_000, AFTER))
        pd.testing.assert_frame_equal(figure(constant, participant="val-a", balance=status), typed)
    assert cost.runway_end(constant, participant="val-a", balance=status)["balance"].tolist() == [500_000]


def test_integers_of_numpy_are_bytes():
    size = observed((AFTER, "val-a", 500_000, "d"))["balance"].iloc[-1]
    top_up, rate = lf.TopUp(below=np.int64(5), amount=np.int64(7)), lf.BaseRate(np.int64(400), "20min")
    numbers = [lf.TrafficBalance(size, AFTER).bytes, top_up.below, top_up.amount, rate.burst]
    assert numbers == [500_000, 5, 7, 400]
    assert {type(each) for each in numbers} == {int}
    for value in (True, np.bool_(True), 5.0, np.float64(5), "5"):
        with pytest.raises(UsageError, match="below= must be a whole number of at least 0"):
            lf.TopUp(below=value, amount=1)


def test_without_an_observation_in_the_window_the_last_one_counts(constant):
    status = observed((AFTER + timedelta(days=1), "val-a", 7, "d"), (AFTER + timedelta(days=2), "val-a", 8, "d"))
    assert cost.runway_end(constant, participant="val-a", balance=status)["balance"].tolist() == [8]


def test_observations_that_do_not_tell_the_balance_are_refused(constant):
    cases = {
        r"no observation of 'val-a'\. Load one": observed((AFTER, "val-b", 7, "d")),
        r"no observation of 'val-a'": STATUS.empty(),
        r"on several synchronizers: d, e\. Pass the rows of one": observed(
            (AFTER, "val-a", 7, "d"), (AFTER, "PAR::val-a", 8, "e")
        ),
        r"on several synchronizers: d, e\. Pass": observed(
            (AFTER, "val-a", 7, "d"), (AFTER + timedelta(minutes=1), "val-a", 8, "e")
        ),
        r"balance= must be a TrafficBalance or rows of table traffic_status, got int": 500_000,
        r"a DataFrame without column 'observed_at'": pd.DataFrame({"balance": [1]}),
        r"bytes= must be": observed((AFTER, "val-a", -7, "d")),
    }
    for words, status in cases.items():
        with pytest.raises(UsageError, match=words):
            cost.runway_end(constant, participant="val-a", balance=status)


@pytest.mark.exhaustive  # four weeks of a network; the tests above pass rows of the same table
def test_the_balance_of_the_sandbox_needs_no_typing(tmp_path):
    net = lf.connect("sandbox", events=6_500, days=29, store=tmp_path)
    status = lf.load_traffic_status(net)
    frames = lf.load_events(net, since="2026-10-12", until=net.now())
    payer = status["member_id"].iloc[-1].removeprefix("PAR::")
    (row,) = cost.runway_end(frames, participant=payer, balance=status).itertuples()
    assert (row.balance, row.balance_at) == (status["balance"].iloc[-1], status["observed_at"].iloc[-1])


def test_filtered_frames_are_refused(constant):
    filtered = constant.where("verdicts", participant="val-a")
    assert filtered.population == "all"
    with pytest.raises(CoverageError, match="do not filter it"):
        end_of(filtered)
