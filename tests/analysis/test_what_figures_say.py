"""What a figure would hide, it says: breaks, unequal hours, unknown members, and requests that a filter drops."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest
from events_by_hand import DAY

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import cost, verdict
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.values.windows import Window, instant


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


def eras(**hours):
    times = pd.to_datetime([DAY + timedelta(hours=hour) for hour in hours.values()], utc=True).astype("datetime64[us, UTC]")
    return pd.DataFrame({"at": times, "name": list(hours)})


def test_a_spend_over_a_break_names_it(build, event):
    frames = build([event("a", 1, 9000), event("b", 8, 5000), event("c", 20, 5000)])
    breaks = eras(before=0.5, cheaper=6, rounded=18)  # the first one is before all requests
    assert column(cost.spend(frames, eras=breaks), "breaks") == ["cheaper, rounded"]
    assert column(cost.spend(frames, by="participant", every="8h", eras=breaks), "breaks") == ["cheaper", None, "rounded"]
    assert column(cost.spend(frames, every="6h", eras=breaks), "breaks") == [None] * 4  # they begin with a period
    assert column(cost.spend(frames, by="era", eras=breaks), "breaks") == [None] * 3
    assert column(cost.spend(frames), "breaks") == [None]


def test_a_spend_over_a_break_of_the_main_network_names_it_by_itself():
    window = Window(instant("2026-03-01"), instant("2026-03-04"))
    rows = [{"update_id": day, "record_time": instant(f"2026-03-{day}")} for day in ("01", "03")]
    frames = testing.frames_of(window=window, verdicts=rows)
    assert column(cost.spend(frames), "breaks") == ["free responses"]


def test_a_window_beyond_that_of_the_frames_is_refused(build, event):
    frames = build([event("a", 1, 9000)])
    inside = frames.between(DAY, DAY + timedelta(hours=6))
    for since, until in ((-1, 6), (0, 25), (-1, 25), (30, 31)):
        with pytest.raises(UsageError, match=r"must lie in 2026-11-08T00:00:00Z … 2026-11-09T00:00:00Z, the window of"):
            frames.between(DAY + timedelta(hours=since), DAY + timedelta(hours=until))
    with pytest.raises(UsageError, match="must lie in"):
        inside.between(DAY, DAY + timedelta(hours=7))
    assert frames.between(DAY, DAY + timedelta(days=1)).window == frames.window
    with pytest.raises(CoverageError, match="needs frames that hold all of"):
        lf.grant.evidence(frames, app={"packages": ["pkg"]}, exclude=[], since=DAY, until=DAY + timedelta(days=2))


@pytest.mark.parametrize(
    "figure", [verdict.outcomes, verdict.latency, lambda *args, **named: cost.wasted(*args, every=None, **named)]
)
def test_hours_of_one_and_of_two_days_are_told_apart(build, event, figure):
    window = Window(DAY, DAY + timedelta(hours=36.5))
    frames = build([event("a", 1, 10), event("b", 25, 10), event("c", 20, 10)], window=window)
    result = figure(frames, by="hour")
    assert column(result, "covered_hours") == [2] * 12 + [1.5] + [1] * 11
    assert result["requests" if "requests" in result else "accepted"].sum() == 3


def test_the_hours_of_the_week_and_of_each_period_have_their_own_time(build, event):
    window = Window(DAY, DAY + timedelta(days=1, hours=6))  # from a Sunday on
    frames = build([event("a", 1, 10)], window=window)
    hours = verdict.outcomes(frames, by="weekday_hour").set_index(["weekday", "hour"])["covered_hours"]
    assert (hours[(6, 23)], hours[(0, 5)], hours[(0, 6)], hours.sum()) == (1, 1, 0, 30)
    days = verdict.outcomes(frames, by="hour", every="1d").groupby("period_start")["covered_hours"].sum()
    assert days.tolist() == [24, 6]
    nowhere = build([event("a", 1, 10)], window=None)
    assert verdict.outcomes(nowhere, by="hour")["covered_hours"].isna().all()


def test_periods_that_divide_an_hour_share_its_time(build, event):
    window = Window(DAY, DAY + timedelta(hours=2.25))
    rows = cost.wasted(build([event("a", 1, 10)], window=window), by="hour", every="30min")
    covered = rows[rows["covered_hours"] > 0]
    assert covered["hour"].tolist() == [0, 0, 1, 1, 2]
    assert covered["covered_hours"].tolist() == [0.5, 0.5, 0.5, 0.5, 0.25]
    assert (covered["period_start"] - pd.Timestamp(DAY)).tolist() == [pd.Timedelta(minutes=30 * each) for each in range(5)]


def test_a_filter_on_cost_drops_requests_whose_cost_is_unknown(build, event):
    large = {"predicate": lambda rows: rows["total_traffic_cost"] > 5, "columns": ["total_traffic_cost"]}
    known, unknown, old = event("a", 1, 10), event("b", 2, None), event("c", 3, None, None)
    assert build([known]).where("traffic", **large).population == "all"
    for other in (unknown, old):
        frames = build([known, other])
        assert frames.where("traffic", **large).population == "chosen"
        assert frames.where("envelopes", lambda rows: rows["traffic_cost"] > 5, columns=["traffic_cost"]).population == "chosen"
        assert frames.where("verdicts", participant="val-a").population == "all"
        assert frames.where("verdicts", participant="val-a").where("traffic", **large).population == "chosen" or other is old


def test_the_largest_of_two_is_not_everybody_if_the_other_is_unknown(build, event):
    frames = build([event("a", 1, 1000, participant="p"), event("b", 1, None, participant="q")])
    (row,) = cost.concentration(frames).to_dict("records")
    assert (row["members"], row["unknown_members"], row["total_traffic_cost"]) == (1, 1, 1000)
    assert all(pd.isna(row[name]) for name in ("gini", "hhi", "top_1", "top_3", "top_10"))
    more = build([*(event(name, 1, 100, participant=name) for name in "pqr"), event("b", 1, None, participant="z")])
    (row,) = cost.concentration(more).to_dict("records")
    assert (row["members"], row["unknown_members"], row["gini"]) == (3, 1, 0)
    assert row["hhi"] == pytest.approx(1 / 3)  # of those that are known, which the columns say
    alone = build([event("a", 1, 1000, participant="p"), event("b", 1, None, participant="p")])
    (row,) = cost.concentration(alone).to_dict("records")
    assert (row["members"], row["unknown_members"], row["top_1"], row["hhi"]) == (1, 0, 1, 1)


def test_all_history_is_covered_from_its_start_on(tmp_path):
    with testing.small_network(tmp_path) as net:
        frames = lf.load_events(net, since="0001-01-01", until=net.now())
        whole = cost.spend(frames)["coverage_time"].iloc[0]
    assert 0.9 < whole <= 1
