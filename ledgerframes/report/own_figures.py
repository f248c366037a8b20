"""Key figures of the participant that a report is run for."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.cost.runway_sentences import cases_of, days_left, describe_band, describe_mean, time_to_buy
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.report.cells import shorten
from ledgerframes.report.key_figure import BALANCE, OWN_COST, KeyFigure, new_figure
from ledgerframes.report.loads import has_requests
from ledgerframes.report.prices import Prices
from ledgerframes.report.run_content import DayRows
from ledgerframes.report.summary.balance import bill_of, forecast_balance, owner_of
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.texts import signed_percent
from ledgerframes.report.summary.traffic import is_same_coverage
from ledgerframes.report.units import BYTES, bytes_text
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import iso


def own_cost(periods: Periods, prices: Prices, before: DayRows, days: DayRows) -> KeyFigure:
    """Return what the participant of a report paid, with each of the days."""
    row, name = bill_of(periods.after, periods.participant), shorten(periods.participant)
    if row is None and not has_requests(periods.after, periods.participant):
        return new_figure(OWN_COST, bytes_text(0), f"no request of {name}", unit=BYTES)
    if row is None:
        return new_figure(OWN_COST, printing.MISSING, f"no cost of {name} is known", unit=BYTES)
    number = int(row.total_traffic_cost)
    is_known = row.requests_with_cost == row.requests
    amount = prices.describe_bytes(number, is_lower_bound=not is_known)
    note = " · ".join(filter(None, [amount, f"{printing.share(row.share)} of all known", f"paid by {name}"]))
    figure = new_figure(OWN_COST, bytes_text(number, is_lower_bound=not is_known), note, _change(periods, row), unit=BYTES)
    past = periods.weeks if periods.weeks is not None else periods.before
    figure["days"] = _costs_of_days(periods.after, periods.participant, days)
    figure["before"] = [] if past is None else _costs_of_days(past, periods.participant, before)
    return figure


def balance_left(periods: Periods) -> KeyFigure | None:
    """Return how long the balance of a report lasts, None without a balance or a forecast."""
    if periods.balance is None:
        return None
    owner = owner_of(periods)
    amount = f"{printing.size(periods.balance)} given{f' for {shorten(owner)}' if owner else ''}"
    if not periods.balance:
        return new_figure(BALANCE, pluralize(0, "day"), f"{amount} · buy traffic now")
    try:
        (row,) = iter_rows(forecast_balance(periods))
    except CoverageError:
        return None
    return new_figure(BALANCE, days_left(row), " · ".join(filter(None, [amount, _end(row), time_to_buy(row)])))


def _end(row: Any) -> str:
    """Return when a balance ends, and in how many cases."""
    if pd.isna(row.factor):
        return "at mean burn" if pd.isna(row.runs_dry_middle) else describe_mean(row)
    if pd.isna(row.runs_dry_first):
        return f"in {cases_of(row)}"
    return describe_band(row)


def _change(periods: Periods, after: Any) -> str:
    """Return the change against the period before, empty if the two are not comparable."""
    if periods.before is None or periods.obstacle:
        return ""
    before = bill_of(periods.before, periods.participant)
    if before is None or not before.total_traffic_cost or not is_same_coverage(before.coverage, after.coverage):
        return ""
    earlier = int(before.total_traffic_cost)
    return signed_percent(int(after.total_traffic_cost) - earlier, earlier)


def _costs_of_days(frames: Frames, participant: str, days: DayRows) -> list[float | None]:
    """Return what a participant paid on each of the days, None if unknown."""
    costs = cost.spend(frames, by="participant", every="1d")
    costs = costs[costs["submitting_participant_uid"] == participant]
    totals = costs["total_traffic_cost"].mask(costs["requests"] == 0, 0)  # without requests, none is known
    starts = [iso(time) for time in costs["period_start"].dt.to_pydatetime()]
    of_day = {start: None if pd.isna(total) else float(total) for start, total in zip(starts, totals, strict=True)}
    return [of_day.get(str(day["since"]), 0.0) if day["is_whole"] else None for day in days]
