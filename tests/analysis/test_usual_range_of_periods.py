"""The usual range of a report, from frames and from kept integers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import usual_range as usual
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window

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
    assert usual.has_coverage(found).tolist() == [False, True, True]  # a third of the first day is unknown
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


def test_a_raised_day_is_above_its_usual_range() -> None:
    """The history starts on a Thursday, as the report does."""
    rows = totals_of(7, pd.Timestamp("2026-09-03", tz="UTC"))
    rows.loc[45, "wasted_traffic_cost"] *= 2
    found = usual.waste_range(rows.iloc[42:], rows.iloc[:42], "1d")
    assert (found.history_weeks, found.reason) == (6, "")
    assert found.periods.is_above.tolist() == [False] * 3 + [True] + [False] * 3
    rows.loc[45, "total_traffic_cost"] *= 2  # bytes wasted and bytes in all rose alike
    assert not usual.waste_range(rows.iloc[42:], rows.iloc[:42], "1d").periods.is_above.any()


def test_positions_in_the_week_do_not_depend_on_the_day_of_the_report() -> None:
    """Sundays have twice the rate. A Sunday like the others is no outlier."""
    rows = totals_of(7, pd.Timestamp("2026-09-03", tz="UTC"))
    is_sunday = rows["period_start"].dt.day_of_week == 6
    rows.loc[is_sunday, "wasted_traffic_cost"] *= 2
    found = usual.waste_range(rows.iloc[42:], rows.iloc[:42], "1d")
    assert not found.periods.is_above.any()
    assert int(np.argmax(found.periods.center)) == 3  # Thursday, Friday, Saturday, Sunday
    assert found.periods.center[3] > 0.2


def test_kept_rows_are_history_as_they_are() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    kept = pd.concat([rows.iloc[:30], rows.iloc[20:]]).sample(frac=1, random_state=2)  # runs overlap, and rows of the report too
    expected = usual.waste_range(rows.iloc[42:], rows.iloc[:42], "1d")
    found = usual.waste_range(rows.iloc[42:], kept, "1d")
    assert np.array_equal(found.periods.upper, expected.periods.upper)


def test_weeks_that_are_not_whole_are_no_history() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    rows.loc[10, "is_whole"] = False
    tested = rows.iloc[42:]
    assert usual.waste_range(tested, rows, "1d").history_weeks == 5
    rows.loc[[17, 24], "is_whole"] = False
    assert usual.waste_range(tested, rows, "1d").reason == "history is too short"


def test_weeks_whose_costs_are_unknown_are_no_history_and_say_so() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    rows.loc[[3, 10, 17], "requests_with_cost"] = 5
    found = usual.waste_range(rows.iloc[42:], rows, "1d")
    assert (found.reason, found.history_weeks) == ("too few costs of the history are known", 3)
    assert found.periods.reasons == (found.reason,) * 7
    assert usual.describe_waste_range(found, rows.iloc[42:]) == "No usual range: too few costs of the history are known."
    rows.loc[24, "is_whole"] = rows.loc[31, "is_whole"] = rows.loc[38, "is_whole"] = False
    assert usual.waste_range(rows.iloc[42:], rows, "1d").reason == "history is too short"


def test_only_whole_periods_are_tested() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    complete = usual.waste_range(rows.iloc[42:], rows.iloc[:42], "1d")
    rows.loc[44, "is_whole"] = False
    rows.loc[46, "requests_with_cost"] = 5
    partial = usual.waste_range(rows.iloc[42:], rows.iloc[:42], "1d")
    reasons = ["not a whole period" if position in (44, 46) else "" for position in range(42, 49)]
    assert partial.periods.reasons == tuple(reasons)
    assert np.isnan(partial.periods.upper).tolist() == [bool(reason) for reason in reasons]
    assert partial.weeks.reasons == ("not a whole period",)
    assert partial.factor < complete.factor  # fewer tests
    assert np.array_equal(partial.periods.center, complete.periods.center)


def test_a_report_without_periods() -> None:
    rows = totals_of(6, pd.Timestamp("2026-09-07", tz="UTC"))
    found = usual.waste_range(rows.head(0), rows, "1d")
    assert found.reason == "history is too short"
    assert len(found.periods.upper) == 0


def test_hours() -> None:
    rows = totals_of(5, pd.Timestamp("2026-09-03 07:00", tz="UTC"), "1h")
    report = rows.iloc[4 * 168 : 4 * 168 + 24].reset_index(drop=True)
    report.loc[5, "wasted_traffic_cost"] *= 3
    found = usual.waste_range(report, rows.iloc[: 4 * 168], "1h")
    assert np.flatnonzero(found.periods.is_above).tolist() == [5]
    assert len(found.weeks.upper) == 0
    assert usual.waste_range(report, None, "1h").reason == "history is too short"


def test_within_the_window_without_a_history() -> None:
    rows = totals_of(1, pd.Timestamp("2026-09-07", tz="UTC"))
    rows.loc[2, "wasted_traffic_cost"] *= 3
    whole = usual.waste_range(rows, None, "1d").periods
    assert np.flatnonzero(whole.is_above).tolist() == [2]
    eight = pd.concat([rows, rows.tail(1).assign(period_start=rows["period_end"].max(), is_whole=False)])
    found = usual.waste_range(eight, None, "1d").periods
    assert found.reasons == ("",) * 7 + ("not a whole period",)
    assert np.allclose(found.upper[:7], whole.upper, rtol=1e-12)


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


def sentence(rows: pd.DataFrame, weeks: int = 6) -> str:
    report, history = rows.iloc[7 * weeks :], rows.iloc[: 7 * weeks]
    return usual.describe_waste_range(usual.waste_range(report, history, "1d"), report)


def test_a_sentence_names_the_day_its_value_and_its_limit() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    few = rows.assign(requests=rows["requests"] // 8, requests_with_cost=rows["requests"] // 8)
    noticed = "No day is above its usual range, and a rise of about {} % of one day would have been noticed in 4 of 5 cases."
    assert sentence(few.head(35), 4) == noticed.format(100)
    assert sentence(few) == noticed.format(75)
    assert sentence(rows) == noticed.format(30)
    rare = rows.assign(wasted_traffic_cost=rows["wasted_traffic_cost"] // 6)  # a share of 2 % has too few hits for it
    assert sentence(rare) == noticed.format(75)
    rows.loc[44, ["wasted_traffic_cost", "total_traffic_cost"]] = [3_000_000, 15_000_000]
    upper = usual.waste_range(rows.iloc[42:], rows.iloc[:42], "1d").periods.upper[2]
    expected = f"(up to {upper * 100:.1f} %, from the 6 weeks before)."
    assert sentence(rows).startswith(f"Wednesday 2026-10-21: wasted share 20.0 %, above its usual range {expected}")


def test_a_sentence_says_that_days_have_no_usual_range() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    rows.loc[[43, 45], "is_whole"] = False
    assert sentence(rows).endswith(" in 4 of 5 cases. 2 of 7 days have no usual range.")
    rows.loc[44, "wasted_traffic_cost"] *= 3
    assert sentence(rows).endswith(" from the 6 weeks before). 2 of 7 days have no usual range.")


def test_sentences_without_limits() -> None:
    rows = totals_of(7, pd.Timestamp("2026-09-07", tz="UTC"))
    short = "Too little history for a usual range: 4 whole weeks are needed, 2 are here."
    assert sentence(rows.iloc[28:], 2) == short
    assert sentence(rows.assign(wasted_traffic_cost=0)) == "No day has a usual range: none in the history."


def test_sentences_without_a_history() -> None:
    rows = totals_of(1, pd.Timestamp("2026-09-07", tz="UTC"))
    text = usual.describe_waste_range(usual.waste_range(rows, None, "1d"), rows)
    assert text == "No day stands out from the others of this window."
    rows.loc[2, "wasted_traffic_cost"] *= 3
    text = usual.describe_waste_range(usual.waste_range(rows, None, "1d"), rows)
    assert text.startswith("Wednesday 2026-09-09: wasted share 3") and text.endswith("from the other days of this window).")
