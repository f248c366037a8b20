"""The usual range of a report, from frames and from kept integers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import _usual_range as usual
from ledgerframes.frames import Frames
from ledgerframes.windows import Window

MONDAY = datetime(2026, 9, 7, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def frames_of(requests: list[tuple[float, str, int | None]], days: float, status: str = "final", until: float = 99) -> Frames:
    """Requests as (days after Monday, result, cost), covered until a day."""
    heads = [{"migration_id": 4, "record_time": MONDAY + at * DAY, "update_id": f"u{n}"} for n, (at, *_) in enumerate(requests)]
    verdicts = [
        {**head, "verdict_result": f"VERDICT_RESULT_{result}", "finalization_time": head["record_time"]}
        for head, (_, result, _) in zip(heads, requests, strict=True)
    ]
    traffic = [{**head, "total_traffic_cost": cost} for head, (*_, cost) in zip(heads, requests, strict=True) if cost is not None]
    end = MONDAY + min(days, until) * DAY
    segments: list[dict[str, Any]] = [{"migration_id": 4, "since": MONDAY, "until": end, "status": "final"}]
    if status != "final":
        segments.append({"migration_id": 4, "since": end, "until": MONDAY + days * DAY, "status": status})
    return testing.frames_of(window=Window(MONDAY, MONDAY + days * DAY), coverage=segments, verdicts=verdicts, traffic=traffic)


def totals_of(weeks: int, start: pd.Timestamp, every: str = "1d", seed: int = 3) -> pd.DataFrame:
    """Integers of whole weeks, with a rate of 12% and waste of about 11% of the bytes."""
    rng = np.random.default_rng(seed)
    length = {"1d": DAY, "1h": HOUR}[every]
    count = weeks * int(timedelta(days=7) / length)
    starts = pd.Series(pd.date_range(start, periods=count, freq=length)).astype("datetime64[us, UTC]")
    requests = rng.poisson(3_000 if every == "1d" else 1_000, count)
    rejected = rng.binomial(requests, 0.12)
    return pd.DataFrame(
        {
            "period_start": starts,
            "period_end": starts + length,
            "requests": requests,
            "rejected": rejected,
            "requests_with_cost": requests,
            "wasted_traffic_cost": rejected * 4_800,
            "total_traffic_cost": requests * 5_000,
            "is_whole": True,
        }
    )


# -- integers of periods --------------------------------------------------------------------------------------------------


def test_five_integers_per_day() -> None:
    requests = [
        (0.1, "ACCEPTED", 100),
        (0.2, "REJECTED", 40),
        (0.3, "REJECTED", None),
        (0.4, "UNSPECIFIED", 7),
        (2.5, "ACCEPTED", 9),
    ]
    found = usual.period_totals(frames_of(requests, 3), "1d")
    assert found[usual.INTEGERS].to_numpy().tolist() == [[3, 2, 2, 40, 140], [0, 0, 0, 0, 0], [1, 0, 1, 0, 9]]
    assert found["is_whole"].tolist() == [False, True, True]  # costs of a third of the first day's requests are unknown
    assert (found.dtypes[usual.INTEGERS] == "int64").all()


@pytest.mark.parametrize(
    ("days", "status", "until", "is_whole"),
    [
        (3, "final", 99, [True, True, True]),
        (2.5, "final", 99, [True, True, False]),  # cut by the window
        (3, "provisional", 2.5, [True, True, False]),
        (3, "provisional", 2.95, [True, True, False]),
        (3, "final", 2.95, [True, True, True]),  # 95% are covered
        (3, "final", 2.5, [True, True, False]),
    ],
)
def test_partial_periods(days: float, status: str, until: float, is_whole: list[bool]) -> None:
    requests = [(each + 0.1, "ACCEPTED", 5) for each in range(3) if each + 0.1 < days]
    assert usual.period_totals(frames_of(requests, days, status, until), "1d")["is_whole"].tolist() == is_whole


def test_time_before_the_history_began_says_nothing() -> None:
    found = usual.period_totals(frames_of([(1.6, "ACCEPTED", 5), (2.1, "ACCEPTED", 5)], 4), "1d")
    assert found["is_whole"].tolist() == [False, False, True, True]
    assert usual.period_totals(frames_of([], 2), "1d")["is_whole"].tolist() == [False, False]


def test_other_periods_are_refused() -> None:
    with pytest.raises(lf.UsageError, match="every= must be '1d' or '1h', got '1w'"):
        usual.period_totals(frames_of([], 2), "1w")


# -- limits ---------------------------------------------------------------------------------------------------------------


def test_a_raised_day_is_above_its_usual_range_of_every_series() -> None:
    """The history starts on a Thursday, as the report does."""
    rows = totals_of(7, pd.Timestamp("2026-09-03", tz="UTC"))
    rows.loc[45, ["rejected", "wasted_traffic_cost", "total_traffic_cost"]] *= 2
    found = usual.usual_ranges(rows.iloc[:42], rows.iloc[42:], "1d", series=usual.SERIES)
    for name, result in found.items():
        assert result.history_weeks == 6, name
        assert result.reason == ""
    assert found["rejection_rate"].periods.is_above.tolist() == [False] * 3 + [True] + [False] * 3
    assert found["spend"].periods.is_above.tolist() == [False] * 3 + [True] + [False] * 3
    assert not found["wasted_share"].periods.is_above.any()  # bytes wasted and bytes in all rose alike


def test_positions_in_the_week_do_not_depend_on_the_day_of_the_report() -> None:
    """Sundays have twice the rate. A Sunday like the others is no outlier."""
    rows = totals_of(7, pd.Timestamp("2026-09-03", tz="UTC"))
    is_sunday = rows["period_start"].dt.day_of_week == 6
    rows.loc[is_sunday, "rejected"] *= 2
    found = usual.usual_ranges(rows.iloc[:42], rows.iloc[42:], "1d", series=["rejection_rate"])["rejection_rate"]
    assert not found.periods.is_above.any()
    assert int(np.argmax(found.periods.center)) == 3  # Thursday, Friday, Saturday, Sunday
    assert found.periods.center[3] > 0.2


def test_kept_rows_are_history_as_they_are() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    kept = pd.concat([rows.iloc[:30], rows.iloc[20:]]).sample(frac=1, random_state=2)  # runs overlap, and rows of the report too
    expected = usual.usual_ranges(rows.iloc[:42], rows.iloc[42:], "1d")["wasted_share"]
    found = usual.usual_ranges(kept, rows.iloc[42:], "1d")["wasted_share"]
    assert np.array_equal(found.periods.upper, expected.periods.upper)


def test_weeks_that_are_not_whole_or_omitted_are_no_history() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    rows.loc[10, "is_whole"] = False
    tested = rows.iloc[42:]
    assert len(usual.history_weeks(rows, tested, "1d")) == 5
    omitted = [pd.Timestamp("2026-09-23", tz="UTC"), pd.Timestamp("2026-10-01", tz="UTC")]
    found = usual.usual_ranges(rows, tested, "1d", omitted_weeks=omitted)["wasted_share"]
    assert found.reason == "history is too short"
    assert usual.usual_ranges(rows, tested, "1d", omitted_weeks=omitted[:1])["wasted_share"].history_weeks == 4


def test_only_whole_periods_in_a_row_are_tested() -> None:
    rows = totals_of(1, pd.Timestamp("2026-09-07", tz="UTC"))
    rows.loc[[0, 4], "is_whole"] = False
    assert usual.tested_periods(rows).equals(rows.iloc[1:4].reset_index(drop=True))
    nothing = rows.assign(is_whole=False)
    assert usual.tested_periods(nothing).empty
    found = usual.usual_ranges(rows, nothing, "1d")["wasted_share"]
    assert found.reason == "history is too short"
    assert len(found.periods.upper) == 0


def test_hours() -> None:
    rows = totals_of(5, pd.Timestamp("2026-09-03 07:00", tz="UTC"), "1h")
    report = rows.iloc[4 * 168 : 4 * 168 + 24].reset_index(drop=True)
    report.loc[5, "rejected"] *= 3
    found = usual.usual_ranges(rows.iloc[: 4 * 168], report, "1h", series=["rejection_rate"])["rejection_rate"]
    assert np.flatnonzero(found.periods.is_above).tolist() == [5]
    assert len(found.weeks.upper) == 0


def test_within_the_window_for_a_short_history() -> None:
    rows = totals_of(1, pd.Timestamp("2026-09-07", tz="UTC"))
    rows.loc[2, ["rejected", "wasted_traffic_cost"]] *= 3
    for name in ("rejection_rate", "wasted_share"):
        assert np.flatnonzero(usual.range_within_window(name, rows).periods.is_above).tolist() == [2]


@pytest.mark.parametrize(("every", "series"), [("1h", "spend"), ("1d", "views")])
def test_unknown_series_are_refused(every: str, series: str) -> None:
    rows = totals_of(1, pd.Timestamp("2026-09-07", tz="UTC"))
    with pytest.raises(lf.UsageError, match=f"Unknown series '{series}' for every='{every}'. Choose from rejection_rate"):
        usual.usual_ranges(rows, rows, every, series=[series])
    with pytest.raises(lf.UsageError, match="every= must be '1d' or '1h', got '2d'"):
        usual.usual_ranges(rows, rows, "2d")
