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
from ledgerframes.analysis._usual_range_sentences import describe_usual_range
from ledgerframes.frames import Frames
from ledgerframes.windows import Window

MONDAY = datetime(2026, 9, 7, tzinfo=UTC)
TUESDAY = pd.Timestamp("2026-09-08", tz="UTC")
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
    assert found[usual.INTEGERS].to_numpy().tolist() == [[3, 2, 2, 40, 147], [0, 0, 0, 0, 0], [1, 0, 1, 0, 9]]
    assert found["is_whole"].all()
    assert usual.has_coverage("wasted_share", found).tolist() == [False, True, True]  # a third of the first day is unknown
    assert usual.has_coverage("rejection_rate", found).all()
    assert (found.dtypes[usual.INTEGERS] == "int64").all()


def test_the_share_that_is_judged_is_that_of_the_table() -> None:
    frames = frames_of([(0.1, "ACCEPTED", 100), (0.2, "REJECTED", 40), (0.4, "UNSPECIFIED", 60)], 1)
    (row,) = usual.period_totals(frames, "1d").itertuples()
    assert lf.cost.wasted(frames)["share"].tolist() == [row.wasted_traffic_cost / row.total_traffic_cost] == [0.2]


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
    assert len(usual.history_weeks("spend", rows, tested["period_start"].iloc[0], "1d")) == 5
    omitted = [pd.Timestamp("2026-09-23", tz="UTC"), pd.Timestamp("2026-10-01", tz="UTC")]
    found = usual.usual_ranges(rows, tested, "1d", omitted_weeks=omitted)["wasted_share"]
    assert found.reason == "history is too short"
    assert usual.usual_ranges(rows, tested, "1d", omitted_weeks=omitted[:1])["wasted_share"].history_weeks == 4


def test_only_whole_periods_are_tested() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    complete = usual.usual_ranges(rows, rows.iloc[42:], "1d", series=usual.SERIES)
    rows.loc[44, "is_whole"] = False
    rows.loc[46, "requests_with_cost"] = 5
    partial = usual.usual_ranges(rows, rows.iloc[42:], "1d", series=usual.SERIES)
    for name, result in partial.items():
        missing = {44} if name == "rejection_rate" else {44, 46}
        reasons = ["not a whole period" if position in missing else "" for position in range(42, 49)]
        assert result.periods.reasons == tuple(reasons), name
        assert np.isnan(result.periods.upper).tolist() == [bool(reason) for reason in reasons]
        assert result.weeks.reasons == ("not a whole period",)
        assert result.factor < complete[name].factor  # fewer tests
        assert np.array_equal(result.periods.center, complete[name].periods.center)


def test_a_report_without_periods() -> None:
    rows = totals_of(6, pd.Timestamp("2026-09-07", tz="UTC"))
    found = usual.usual_ranges(rows, rows.head(0), "1d", series=usual.SERIES)
    assert {result.reason for result in found.values()} == {"history is too short"}
    assert {len(result.periods.upper) for result in found.values()} == {0}


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
    eight = pd.concat([rows, rows.tail(1).assign(period_start=rows["period_end"].max(), is_whole=False)])
    found = usual.range_within_window("rejection_rate", eight).periods
    assert found.reasons == ("",) * 7 + ("not a whole period",)
    assert np.allclose(found.upper[:7], usual.range_within_window("rejection_rate", rows).periods.upper, rtol=1e-12)


@pytest.mark.parametrize(("every", "series"), [("1h", "spend"), ("1d", "views")])
def test_unknown_series_are_refused(every: str, series: str) -> None:
    rows = totals_of(1, pd.Timestamp("2026-09-07", tz="UTC"))
    with pytest.raises(lf.UsageError, match=f"Unknown series '{series}' for every='{every}'. Choose from rejection_rate"):
        usual.usual_ranges(rows, rows, every, series=[series])
    with pytest.raises(lf.UsageError, match="every= must be '1d' or '1h', got '2d'"):
        usual.usual_ranges(rows, rows, "2d")


# -- groups ---------------------------------------------------------------------------------------------------------------


def test_a_participant_is_compared_with_its_own_weeks_before() -> None:
    """The rate of one doubles, to what the other always has."""
    history = pd.concat([totals_of(6, TUESDAY, seed=1).assign(name="calm"), totals_of(6, TUESDAY, seed=2).assign(name="busy")])
    history.loc[history["name"] == "busy", "wasted_traffic_cost"] *= 2
    start = TUESDAY + pd.Timedelta(42, "D")
    report = pd.concat([totals_of(1, start, seed=3).assign(name=name) for name in ("calm", "busy", "new")], ignore_index=True)
    report.loc[report["name"] != "new", "wasted_traffic_cost"] *= 2
    found = usual.waste_limits(report, history, "1d", ["name"])
    assert found["is_above"].tolist() == [True] * 7 + [False] * 7 + [pd.NA] * 7
    assert found["reason"].tolist() == [""] * 14 + ["history is too short"] * 7
    assert set(usual.waste_limits(report, None, "1d", ["name"])["reason"]) == {"history is too short"}


def test_groups_share_the_chance_of_a_false_alarm() -> None:
    history, report = totals_of(6, TUESDAY), totals_of(1, TUESDAY + pd.Timedelta(42, "D"), seed=4)
    names = [f"g{number}" for number in range(20)]
    of_all = [pd.concat([rows.assign(name=name) for name in names], ignore_index=True) for rows in (report, history)]
    of_one = usual.waste_limits(report.assign(name="g0"), history.assign(name="g0"), "1d", ["name"])
    found = usual.waste_limits(*of_all, "1d", ["name"])
    assert (found["upper"].head(7) > of_one["upper"] * 1.05).all()
    few = of_all[0].assign(requests_with_cost=3, requests=3)
    assert set(usual.waste_limits(few, of_all[1], "1d", ["name"])["reason"]) == {"too few requests"}


# -- sentences ------------------------------------------------------------------------------------------------------------


def sentence(rows: pd.DataFrame, name: str, weeks: int = 6, every: str = "1d") -> str:
    start = weeks * {"1d": 7, "1h": 168}[every]
    found = usual.usual_ranges(rows.iloc[:start], rows.iloc[start:], every, series=[name])[name]
    return describe_usual_range(name, found, rows.iloc[start:], every)


def test_a_sentence_names_the_day_its_value_and_its_limit() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    few = rows.assign(requests=rows["requests"] // 8, rejected=rows["rejected"] // 8)
    noticed = "No day is above its usual range, and a rise of about {} % of one day would have been noticed in 4 of 5 cases."
    assert sentence(few.head(35), "rejection_rate", 4) == noticed.format(100)
    assert sentence(few, "rejection_rate") == noticed.format(75)
    assert sentence(rows, "rejection_rate") == noticed.format(30)
    rows.loc[44, ["requests", "rejected"]] = [3_000, 600]
    upper = usual.usual_ranges(rows.iloc[:42], rows.iloc[42:], "1d", series=["rejection_rate"])["rejection_rate"].periods.upper[2]
    text = sentence(rows, "rejection_rate")
    expected = f"(up to {upper * 100:.1f} %, from the 6 weeks before)."
    assert text.startswith(f"Wednesday 2026-10-21: rejection rate 20.0 %, above its usual range {expected}")


def test_a_sentence_on_bytes() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    assert sentence(rows, "spend") == "No day is above its usual range."
    rows.loc[46, "total_traffic_cost"] = 30_000_000
    assert sentence(rows, "spend").startswith("Friday 2026-10-23: traffic cost 30,000,000 bytes, above its usual range (up to 1")


def test_sentences_without_limits() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    short = "Too little history for a usual range: 4 whole weeks are needed, 2 are here."
    assert sentence(rows.iloc[28:], "wasted_share", 2) == short
    assert sentence(rows.assign(total_traffic_cost=0), "spend") == "No usual range: a period without any."
    never = sentence(rows.assign(rejected=0, wasted_traffic_cost=0), "rejection_rate")
    assert never == "No day has a usual range: none in the history."


def test_sentences_without_a_history() -> None:
    rows = totals_of(1, pd.Timestamp("2026-09-07", tz="UTC"))
    found = usual.waste_range(rows, None, "1d")
    assert describe_usual_range("wasted_share", found, rows, "1d") == "No day stands out from the others of this window."
    rows.loc[2, "wasted_traffic_cost"] *= 3
    text = describe_usual_range("wasted_share", usual.waste_range(rows, None, "1d"), rows, "1d")
    assert text.startswith("Wednesday 2026-09-09: wasted share 3") and text.endswith("from the other days of this window).")


def test_a_sentence_on_an_hour() -> None:
    rows = totals_of(5, pd.Timestamp("2026-09-07", tz="UTC"), "1h").head(4 * 168 + 24)
    rows.loc[4 * 168 + 14, ["requests", "rejected"]] = [1_000, 400]
    assert sentence(rows, "rejection_rate", 4, "1h").startswith(
        "2026-10-05 14:00: rejection rate 40.0 %, above its usual range (up"
    )
