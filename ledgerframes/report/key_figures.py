"""Key figures of a page, with their change and their days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time
from fractions import Fraction
from typing import Literal

import pandas as pd

from ledgerframes.analysis import activity, verdict
from ledgerframes.engine import Query, run
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.frames import Frames
from ledgerframes.report.clear_changes import is_clear_cost, is_clear_median, is_clear_sum, is_clear_waste
from ledgerframes.report.headline import Headline, measure_headline
from ledgerframes.report.history import daily_integers
from ledgerframes.report.key_figure import LATENCY, REJECTED, REWARDS, TRAFFIC_COST, WASTED, WEIGHT, KeyFigure, new_figure
from ledgerframes.report.own_figures import balance_left, own_cost
from ledgerframes.report.prices import Prices
from ledgerframes.report.run_content import DayRows, DayTotals
from ledgerframes.report.summary.periods import MIN_FINAL_SHARE, Periods, Rewards
from ledgerframes.report.summary.texts import signed_percent, signed_points
from ledgerframes.report.summary.traffic import is_same_coverage
from ledgerframes.report.summary.verdicts import design_effect, microseconds_of
from ledgerframes.report.units import BYTES, COIN, MICROSECONDS, WEIGHTED_BYTES, bytes_text
from ledgerframes.statistics import printing
from ledgerframes.statistics.rates import difference_of_rates
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import iso

Total = Literal["requests", "rejected", "wasted_traffic_cost", "total_traffic_cost"]  # of a day
PAYERS = Query("SELECT count(DISTINCT submitting_participant_uid) AS payers FROM requests", (REQUESTS,))


def measure_key_figures(
    periods: Periods, prices: Prices, after: Headline, days: DayRows, subjects: Sequence[str] = ()
) -> list[KeyFigure]:
    """Return the key figures of a window whose headline figures and days are known.

    Those that the report is about come first. A report on activity shows the rewards, and without traffic the weight, too.
    One on a balance shows how long it lasts instead of the latency, and one for a participant its own cost instead of that
    of all.
    """
    before = measure_headline(periods.before) if periods.before is not None and not periods.obstacle else None
    earlier = _days_before(periods)
    if periods.participant:
        cost = own_cost(periods, prices, earlier, days)
    else:
        cost = _with_days(_cost(after, before, prices, periods.after), earlier, days, "total_traffic_cost")
    waste = _with_days(_waste(after, before, prices), earlier, days, "wasted_traffic_cost", "total_traffic_cost")
    rejections = _with_days(_rejections(periods, after, before), earlier, days, "rejected", "requests")
    cost["is_clear"] = bool(cost["change"]) and not periods.participant and is_clear_cost(earlier, days)
    waste["is_clear"] = bool(waste["change"]) and is_clear_waste(earlier, days)
    rewards = _rewards(periods, prices, earlier, days) if "activity" in subjects else None
    if "activity" in subjects and "traffic" not in subjects:
        weight, latency = _weight(periods, earlier, days), None if rewards else _latency(periods, earlier, days)
        return [each for each in (weight, rewards, cost, rejections, latency) if each]
    if "verdicts" in subjects and "traffic" not in subjects:
        return [rejections, _latency(periods, earlier, days), waste, cost]
    balance = balance_left(periods) if subjects and subjects[0] == "balance" else None
    if periods.participant:
        waste, rejections = (_of_all(each) for each in (waste, rejections))
    if balance:
        return [balance, cost, waste, rejections]
    latency = _latency(periods, earlier, days)
    if periods.participant:
        latency = _of_all(latency)
    return [cost, rejections, latency, rewards] if rewards else [cost, waste, rejections, latency]


def _of_all(figure: KeyFigure) -> KeyFigure:
    """Return a figure that says whose it is, next to one of a single participant."""
    return {**figure, "note": f"{figure['note']} · of all participants"}


# -- the figures ------------------------------------------------------------------------------------------------------------


def _cost(after: Headline, before: Headline | None, prices: Prices, frames: Frames) -> KeyFigure:
    total, coverage = after["total_traffic_cost"], after["cost_coverage"]
    if total is None or coverage is None:
        return new_figure(TRAFFIC_COST, printing.MISSING, "no cost is known", unit=BYTES)
    is_known = after["requests_with_cost"] == after["requests"]
    amount = prices.describe_bytes(int(total), is_lower_bound=not is_known)
    payers = int(run(frames, PAYERS)["payers"].iloc[0])
    known = "" if is_known else f"known for {printing.share(coverage)} of requests"
    notes = [amount, f"paid by {pluralize(payers, 'participant')}", known]
    change = ""
    if before is not None and before["total_traffic_cost"] and is_same_coverage(before["cost_coverage"] or 0, coverage):
        earlier = int(before["total_traffic_cost"])
        change = signed_percent(int(total) - earlier, earlier)
    value = bytes_text(int(total), is_lower_bound=not is_known)
    return new_figure(TRAFFIC_COST, value, " · ".join(filter(None, notes)), change, unit=BYTES)


def _waste(after: Headline, before: Headline | None, prices: Prices) -> KeyFigure:
    share, wasted = after["wasted_share"], after["wasted_traffic_cost"]
    if share is None or wasted is None:
        return new_figure(WASTED, printing.MISSING, "no cost of a decided request is known")
    change = ""
    if before is not None and before["wasted_share"] is not None:
        change = signed_points(share - before["wasted_share"])
    note = " · ".join(filter(None, [prices.of_bytes(int(wasted)), f"{bytes_text(int(wasted))} known"]))
    return new_figure(WASTED, printing.share(share), note, change)


def _rejections(periods: Periods, after: Headline, before: Headline | None) -> KeyFigure:
    decided = int(after["accepted"] or 0) + int(after["rejected"] or 0)
    if not decided:
        return new_figure(REJECTED, printing.MISSING, "no request has a decision")
    rejected = int(after["rejected"] or 0)
    note = f"{rejected:,} of {decided:,} decided"
    value = printing.percent(rejected, decided, printing.rate_decimals(decided))
    decided_before = int(before["accepted"] or 0) + int(before["rejected"] or 0) if before else 0
    if before is None or not decided_before:
        return new_figure(REJECTED, value, note)
    counts = (int(before["rejected"] or 0), decided_before), (rejected, decided)
    difference, low, high = (float(each) for each in difference_of_rates(*counts, design_effect=design_effect(periods)))
    return new_figure(REJECTED, value, note, signed_points(difference), is_clear=low > 0 or high < 0)


def _latency(periods: Periods, earlier: DayRows, days: DayRows) -> KeyFigure:
    """Return the median latency with its days, which takes a query over all weeks."""
    return {**_median(periods), "before": _medians(_past(periods), earlier), "days": _medians(periods.after, days)}


def _median(periods: Periods) -> KeyFigure:
    median, p95 = (microseconds_of(value) for value in (periods.latency.p50, periods.latency.p95))
    if median is None:
        return new_figure(LATENCY, printing.MISSING, "too few accepted requests", unit=MICROSECONDS)
    note = f"95 % within {printing.duration(p95)}" if p95 is not None else "of accepted requests"
    figure = new_figure(LATENCY, printing.duration(median), note, unit=MICROSECONDS)
    if periods.before is not None and not periods.obstacle:
        earlier = microseconds_of(periods.latency_before.p50)
        figure["change"] = signed_percent(median - earlier, earlier) if earlier else ""
        figure["is_clear"] = bool(figure["change"]) and is_clear_median(periods.latency_before, periods.latency)
    return figure


def _weight(periods: Periods, earlier: DayRows, days: DayRows) -> KeyFigure:
    weights = activity.weights(periods.after, every=None)["weight"].dropna()
    if weights.empty:
        return new_figure(WEIGHT, printing.MISSING, "no activity record", unit=WEIGHTED_BYTES)
    total, change = int(weights.sum()), ""
    if periods.before is not None and not periods.obstacle:
        total_before = int(activity.weights(periods.before, every=None)["weight"].sum())
        change = signed_percent(total - total_before, total_before) if total_before else ""
    note = f"of {pluralize(len(weights), 'app provider')}"
    figure = new_figure(WEIGHT, printing.weight(total), note, change, unit=WEIGHTED_BYTES)
    before, after = _weights_by_day(_past(periods), earlier), _weights_by_day(periods.after, days)
    return _with_clear_sum({**figure, "before": before, "days": after})


def _rewards(periods: Periods, prices: Prices, earlier: DayRows, days: DayRows) -> KeyFigure | None:
    """Return the rewards of app providers, None if they are unknown."""
    rewards, rounds = periods.rewards, periods.rounds
    if rewards is None or rewards.amount is None or rounds is None:
        return None
    known = f"{rewards.complete:,} of {pluralize(rewards.rounds, 'round')}"
    of_all = "of all app providers" if periods.participant else ""
    note = " · ".join(filter(None, [prices.market_value(rewards.amount), known, of_all]))
    figure = new_figure(
        REWARDS, prices.coins(rewards.amount), note, change_of_rewards(periods.rewards_before, rewards), unit=COIN
    )
    figure |= {"before": _rewards_by_day(_rounds_before(periods), earlier), "days": _rewards_by_day(rounds, days)}
    return _with_clear_sum(figure)


def change_of_rewards(before: Rewards | None, after: Rewards) -> str:
    """Return the change of rewards.

    It is empty unless the same share of the rounds has a known reward.
    """
    if before is None or not before.amount or after.amount is None:
        return ""
    if not is_same_coverage(before.complete / before.rounds, after.complete / after.rounds):
        return ""
    return signed_percent(Fraction(after.amount - before.amount), Fraction(before.amount))


def _with_clear_sum(figure: KeyFigure) -> KeyFigure:
    """Return a sum of days that says whether its change is clear."""
    return {**figure, "is_clear": bool(figure["change"]) and is_clear_sum(figure["before"], figure["days"])}


# -- days -------------------------------------------------------------------------------------------------------------------


def _past(periods: Periods) -> Frames | None:
    """Return the frames that have the days before, those of the weeks or of the period before."""
    if periods.weeks is not None:
        return periods.weeks
    return None if periods.obstacle else periods.before


def _days_before(periods: Periods) -> DayRows:
    """Return the days of the weeks or the period before.

    The day in which the window begins is one of the window, also if a part of it is before.
    """
    past, window = _past(periods), periods.after.window
    if past is None:
        return []
    assert window is not None
    first_day = iso(datetime.combine(window.since, time(), UTC))
    return [row for row in daily_integers(past) if str(row["since"]) < first_day]


def _with_days(figure: KeyFigure, before: DayRows, days: DayRows, name: Total, whole: Total | None = None) -> KeyFigure:
    """Return a figure with its value, or its share of a whole, for each day of two periods."""
    of_before, of_days = ([_day(row, name, whole) for row in rows] for rows in (before, days))
    return {**figure, "before": of_before, "days": of_days}


def _day(row: DayTotals, name: Total, whole: Total | None) -> float | None:
    if not row["is_whole"] or not row["requests_with_cost" if name.endswith("cost") else "requests"]:
        return None
    return float(row[name]) if not whole else row[name] / row[whole] if row[whole] else None


def _weights_by_day(frames: Frames | None, days: DayRows) -> list[float | None]:
    """Return the activity weight of each of the days, None if records of it are missing."""
    if frames is None:
        return []
    weights = activity.weights(frames, by=None, every="1d")
    known = weights[weights["weight"].notna() & ~weights["is_partial"]]
    of_day = {iso(start): float(weight) for start, weight in zip(known["period_start"], known["weight"], strict=True)}
    return [of_day.get(str(day["since"])) for day in days]


def _rounds_before(periods: Periods) -> pd.DataFrame | None:
    """Return the rewards of the rounds of the weeks or the period before."""
    if periods.weeks is None or periods.state is None:
        return periods.rounds_before
    return activity.rewards(periods.weeks, rounds=periods.state["rounds"])


def _rewards_by_day(rounds: pd.DataFrame | None, days: DayRows) -> list[float | None]:
    """Return the rewards of the rounds that open on each day.

    They are None if too few of the rounds are known.
    """
    if rounds is None:
        return []
    groups = rounds.groupby(rounds["opens_at"].dt.floor("D"))["amount"]
    sums = {iso(day): _sum_of_rounds(amounts) for day, amounts in groups}
    return [sums.get(str(day["since"])) if day["is_whole"] else None for day in days]


def _sum_of_rounds(amounts: pd.Series) -> float | None:
    known = amounts.dropna()
    is_known = len(known) > 0 and len(known) >= MIN_FINAL_SHARE * len(amounts)
    return float(known.sum()) if is_known else None


def _medians(frames: Frames | None, days: DayRows) -> list[float | None]:
    """Return the median latency of each of the days, None for one that is not whole."""
    if frames is None:
        return []
    latencies = verdict.latency(frames, every="1d")
    of_day = {iso(start): microseconds_of(p50) for start, p50 in zip(latencies["period_start"], latencies["p50"], strict=True)}
    return [of_day.get(str(day["since"])) if day["is_whole"] else None for day in days]
