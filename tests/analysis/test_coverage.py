"""Coverage by count, by bytes and by time, each worked out by hand."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import cost, verdict
from ledgerframes.analysis.coverage import period_share
from ledgerframes.errors import UsageError
from ledgerframes.values.windows import Window, instant

WINDOW = Window(instant("2026-11-08"), instant("2026-11-09"))


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


def segment(since, until, status="final", migration=4):
    return {
        "migration_id": migration,
        "since": instant(since),
        "until": instant(until),
        "status": status,
        "rows": 0,
        "source": "a",
    }


def frames_with(*segments, window=WINDOW, **tables):
    return testing.frames_of(window=window, coverage=segments, **tables)


def hours(frames, every="6h"):
    return cost.spend(frames, every=every)


def test_time_before_the_first_event_is_not_covered():
    """A listing is stored from its first event on: at 03:00 of the day."""
    periods = hours(frames_with(segment("2026-11-08T03:00Z", "2026-11-09")))
    assert column(periods, "coverage_time") == [0.5, 1, 1, 1]
    assert column(periods, "is_partial") == [True, False, False, False]
    tail = segment("2026-11-08T20:00Z", "2026-11-09", "provisional")
    whole = frames_with(segment("2026-11-08T03:00Z", "2026-11-08T20:00Z"), tail)
    assert column(cost.spend(whole), "coverage_time") == [17 / 21]  # time before the history is not the window's
    assert period_share(whole) == 17 / 24  # but a day that the history begins in is no whole day


def test_provisional_time_and_the_future_are_not_covered():
    tail = segment("2026-11-08T20:00Z", "2026-11-08T21:00Z", "provisional")
    periods = hours(frames_with(segment("2026-11-08", "2026-11-08T20:00Z"), tail))
    assert column(periods, "coverage_time") == [1, 1, 1, pytest.approx(1 / 3)]
    assert column(periods, "is_partial") == [False, False, False, True]


def test_a_period_that_the_window_cuts_is_partial():
    window = Window(instant("2026-11-08T03:00Z"), instant("2026-11-08T13:30Z"))
    periods = hours(frames_with(segment("2026-11-08", "2026-11-09"), window=window))
    assert column(periods, "coverage_time") == [0.5, 1, 0.25]
    assert column(periods, "is_partial") == [True, False, True]


def test_time_is_final_only_if_every_migration_is():
    other = segment("2026-11-08T06:00Z", "2026-11-08T09:00Z", "provisional", migration=3)
    assert column(hours(frames_with(segment("2026-11-08", "2026-11-09"), other)), "coverage_time") == [1, 0.5, 1, 1]


def test_nothing_happens_between_two_migrations(tmp_path):
    """A migration ends at 05:00 and the next one begins at 07:00, so no listing can have events of the time between."""
    segments = [segment("2026-11-08", "2026-11-08T05:00Z", migration=3), segment("2026-11-08T07:00Z", "2026-11-09")]
    listing = frames_with(*segments)
    listing._tables = tuple(name for name in listing.tables if name != "bulk_objects")
    assert column(hours(listing), "coverage_time") == [1, 1, 1, 1]
    assert column(hours(frames_with(*segments)), "coverage_time") == [pytest.approx(5 / 6), pytest.approx(5 / 6), 1, 1]


def test_the_first_bulk_object_covers_the_time_from_the_first_update_on():
    window = Window(instant("0001-01-01"), instant("2026-11-09"))
    update = {"update_id": "a", "record_time": instant("2026-11-08T18:00Z")}
    frames = frames_with(segment("0001-01-01", "2026-11-09"), window=window, updates=[update])
    day = cost.spend(frames.between("2026-11-08", "2026-11-09"), every="1d")
    assert column(day, "coverage_time") == [0.25]
    assert column(cost.spend(frames), "coverage_time") == [1]
    assert period_share(frames) == 1  # a window of all history


def test_periods_of_all_history_do_not_depend_on_the_rows():
    """The first update is of November 1, and the first cost of November 4."""
    window = Window(instant("0001-01-01"), instant("2026-11-06"))
    costs = [{"update_id": f"{day}", "record_time": instant(f"2026-11-0{day}T05:00Z")} for day in (4, 5)]
    frames = testing.frames_of(
        window=window,
        updates=[{"update_id": "1", "record_time": instant("2026-11-01T05:00Z")}],
        traffic=[{**row, "total_traffic_cost": 300 + number * 100} for number, row in enumerate(costs)],
        envelopes=[{**row, "traffic_cost": 300 + number * 100, "view_ids": []} for number, row in enumerate(costs)],
    )
    days = cost.spend(frames, every="1d")
    assert days["period_start"].dt.day.tolist() == [1, 2, 3, 4, 5]
    assert column(days, "overhead_traffic_cost") == [None, None, None, 300, 400]
    assert column(days, "total_traffic_cost") == [None, None, None, 300, 400]
    calendar = lf.reconcile.coverage(frames)
    assert calendar["period_start"].dt.day.tolist() == [1, 2, 3, 4, 5]
    assert column(calendar, "with_cost") == [0, 0, 0, 1, 1]
    pd.testing.assert_frame_equal(cost.spend(frames.between("2026-11-01", "2026-11-06"), every="1d"), days)
    assert len(cost.spend(testing.frames_of(window=window), every="1d")) == 1


def test_frames_by_id_cover_no_time(build, event):
    frames = build([event("a", 1, 10), event("b", 2, 10)], window=None)
    assert column(cost.spend(frames), "coverage_time") == [None]
    assert column(hours(frames, "1h"), "coverage_time") == [0, 0]
    assert column(hours(frames, "1h"), "is_partial") == [True, True]


def test_days_have_the_coverage_of_their_own_time():
    window = Window(WINDOW.since, WINDOW.until + timedelta(days=1))
    frames = frames_with(segment("2026-11-08", "2026-11-09T06:00Z"), window=window)
    for figure in (verdict.outcomes, verdict.latency):
        assert column(figure(frames, by="day"), "coverage_time") == [1, 0.25]
        assert column(figure(frames, by="day"), "is_partial") == [False, True]
    assert column(verdict.outcomes(frames, by="hour"), "coverage_time") == [0.625] * 24
    assert verdict.outcomes(frames, by="day", every="1d")["coverage_time"].tolist() == [1, 1, 0.25, 0.25]


def test_a_network_that_has_eight_days_of_nothing_before_its_history(tmp_path):
    with testing.small_network(tmp_path) as net:
        frames = lf.load_events(net, since="2026-10-31", until="2026-11-08")
        assert column(cost.spend(frames), "coverage_time") == [0]
        today = cost.spend(lf.load_events(net, during="today"), every="1h")
    assert today["is_partial"].tolist() == (today["coverage_time"] < 1).tolist()
    is_future = today["period_start"] >= pd.Timestamp(net.now())
    assert is_future.any()
    assert (today.loc[is_future, "coverage_time"] == 0).all()
    assert today.loc[is_future, "total_traffic_cost"].isna().all()


def test_unknown_requests_count_as_the_median_of_their_group(build, event):
    """Group x knows 100, 200, 300 and not one: 600 of 800. Group y knows none of one: 0 of the median of all, 200."""
    rows = [event(f"x{number}", 1, number, participant="x") for number in (100, 200, 300)]
    rows += [event("x", 1, None, participant="x"), event("y", 1, None, participant="y")]
    payers = cost.spend(build(rows), by="participant")
    assert column(payers, "coverage") == [0.75, 0]
    assert column(payers, "coverage_bytes") == [0.75, 0]
    assert column(cost.spend(build(rows)), "coverage_bytes") == [0.6]
    assert column(cost.spend(build([event("a", 1, 0)])), "coverage_bytes") == [1]
    assert column(cost.spend(build([event("a", 1, None)])), "coverage_bytes") == [None]


def test_a_total_without_envelopes_is_not_covered(build, event):
    """Three of six totals have envelopes, of 10 bytes each."""
    rows = [event(f"{number}", 1, 10, envelopes=[(4, []), (6, [0])] if number < 3 else []) for number in range(6)]
    kinds = cost.overhead(build(rows))
    assert column(kinds, "coverage") == [0.5] * 3
    assert column(kinds, "coverage_bytes") == [0.5] * 3
    assert column(kinds, "traffic_cost") == [18, 12, 30]
    assert column(kinds, "share") == [0.3, 0.2, 0.5]


# -- population and network ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("population", ["all", "committed", "chosen"])
def test_results_name_the_population_and_the_network(build, event, population):
    result = cost.spend(build([event("a", 1, 10)], population=population))
    assert column(result, "population") == [population]
    assert column(result, "network") == ["memory"]


def test_results_of_two_networks_stay_apart():
    one, two = (cost.spend(testing.frames_of(network=name)) for name in ("one", "two"))
    assert pd.concat([one, two])["network"].tolist() == ["one", "two"]
    with pytest.raises(UsageError, match=r"lf\.plot for one network, got rows of one and two"):
        lf.plot(pd.concat([one, two], ignore_index=True))
    with pytest.raises(UsageError, match=r"lf\.reconcile\.paid_traffic needs frames of one network, got one and two"):
        lf.reconcile.paid_traffic(testing.frames_of(network="one"), testing.frames_of(network="two"))
