"""The statement on the end of a traffic balance."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.cost.traffic_balance import TrafficBalance, describe_purchase
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.report.cells import shorten
from ledgerframes.report.key_figure import BALANCE, OWN_COST
from ledgerframes.report.loads import has_requests
from ledgerframes.report.prices import Prices
from ledgerframes.report.sentences import Statement
from ledgerframes.report.summary.periods import Periods
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import capitalize, pluralize

SOON = timedelta(days=7)
LONG = "more than a year"
USED_UP = "balance is used up. Buy traffic now."
GIVEN_USED_UP = f"The given {USED_UP}"


def describe_balance(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on a balance and on the cost of a participant, if they are given."""
    own = []
    if periods.participant:
        own = [Statement(term="Own cost", text=_own_cost(periods, prices), details=[], key_figure=OWN_COST)]
    return own if periods.balance is None else [*_runway(periods), *own]


def _own_cost(periods: Periods, prices: Prices) -> str:
    """Return what the given participant paid."""
    row, name = bill_of(periods.after, periods.participant), f"Participant {shorten(periods.participant)}"
    if row is None:
        has_any = has_requests(periods.after, periods.participant)
        return f"{name} has no known cost in this window." if has_any else f"{name} submitted no request in this window."
    number, is_lower_bound = int(row.total_traffic_cost), row.requests_with_cost < row.requests
    amounts = [printing.size(number), prices.of_bytes(number, is_lower_bound=is_lower_bound).removeprefix("≥ ")]
    paid = f"{'at least ' if is_lower_bound else ''}{', '.join(filter(None, amounts))}"
    return f"{name} paid {paid}: {printing.share(row.share)} of the known cost."


def largest_payer(frames: Frames) -> str:
    """Return the participant with the highest cost, empty if none is known."""
    return next(iter(known_payers(frames)["submitting_participant_uid"]), "")


def known_payers(frames: Frames) -> pd.DataFrame:
    """Return the participants with a known cost, the highest first."""
    return cost.spend(frames, by="participant").dropna(subset=["submitting_participant_uid", "total_traffic_cost"])


def bill_of(frames: Frames, participant: str) -> Any | None:
    """Return the known cost of a participant, None if it has none."""
    payers = known_payers(frames)
    return next(iter_rows(payers[payers["submitting_participant_uid"] == participant]), None)


def owner_of(periods: Periods) -> str:
    """Return the participant of the balance, empty if none is known."""
    return periods.participant or largest_payer(periods.after)


def forecast_balance(periods: Periods) -> pd.DataFrame:
    """Return the forecast of the balance from :func:`ledgerframes.cost.runway_end`.

    Raises
    ------
    CoverageError
        If the store does not have the weeks before the window, or they are too few.
    """
    participant = owner_of(periods)
    if periods.weeks is None or not participant or periods.after.window is None or periods.balance is None:
        raise CoverageError("The store does not have the weeks before this window.")
    balance = TrafficBalance(periods.balance, periods.after.window.until)
    return cost.runway_end(periods.weeks, participant=participant, balance=balance)


def _runway(periods: Periods) -> list[Statement]:
    participant = owner_of(periods)
    name = f"Participant {shorten(participant)}: " if participant else ""
    try:
        text = f"{name}{describe_given_balance(forecast_balance(periods)) if periods.balance else GIVEN_USED_UP}"
    except CoverageError as error:
        return [Statement(term="Traffic balance", text=f"{name}No forecast. {error}", details=[])]
    return [Statement(term="Traffic balance", text=text, details=[], key_figure=BALANCE)]


def describe_runway(forecast: pd.DataFrame) -> str:
    r"""Return when a traffic balance ends, and before when to buy traffic.

    Parameters
    ----------
    forecast : DataFrame
        From :func:`ledgerframes.cost.runway_end`.

    Returns
    -------
    str
        A sentence on the ends of the band, one if the earliest is within 7 days, and one with the time to buy traffic. Another
        one if the balance is 0.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import describe_runway
    >>> net = lf.connect("sandbox", events=6500, days=29)
    >>> frames = lf.load_events(net, since="2026-10-12", until="2026-11-09")
    >>> payer = lf.cost.spend(frames, by="participant")["submitting_participant_uid"][0]
    >>> balance = lf.TrafficBalance(200_000, "2026-11-09")
    >>> text = describe_runway(lf.cost.runway_end(frames, participant=payer, balance=balance))
    >>> print(text.replace(". ", ".\n"))
    A balance of 200 kB ends from 2026-11-09 to 2026-11-10, in 4 of 5 cases.
    The earliest of these ends is within 7 days.
    Buy traffic before 2026-11-09 22:00 UTC.
    """
    (row,) = iter_rows(forecast)
    return _end("A balance", row) if row.balance else f"The {USED_UP}"


def describe_given_balance(forecast: pd.DataFrame) -> str:
    """Return when a balance ends that is a parameter, and was not read from the network."""
    (row,) = iter_rows(forecast)
    return _end("The given balance", row) if row.balance else GIVEN_USED_UP


def _end(name: str, row: Any) -> str:
    amount = f"{name} of {printing.size(row.balance)}"
    first, middle = row.runs_dry_first, row.runs_dry_middle
    if pd.isna(row.factor):
        end = f"after {LONG}" if pd.isna(middle) else f"on {middle:%Y-%m-%d}"
        return f"{amount} ends {end} at mean burn. A week of the history has no burn, so there is no band.{_step(row, middle)}"
    if pd.isna(first):
        return f"{amount} lasts {LONG}, in {cases_of(row)}."
    return f"{amount} {describe_band(row)}.{_step(row, first)}"


def describe_length(forecast: pd.DataFrame) -> str:
    """Return how long a supposed balance would last.

    It has no dates, which a reader could take for those of a real balance.
    """
    (row,) = iter_rows(forecast)
    length = f"A balance of {printing.size(row.balance)} would last {days_left(row)}"
    if pd.isna(row.factor):
        return f"{length} at mean burn."
    return f"{length}, in {cases_of(row)}."


def days_left(row: Any) -> str:
    """Return how long the balance of a forecast lasts, such as ``15 to 22 days``.

    Within two days, the hours count: nobody should read 0 days of a balance that lasts until the evening.
    """
    first, last = (row.runs_dry_middle,) * 2 if pd.isna(row.factor) else (row.runs_dry_first, row.runs_dry_last)
    if pd.isna(first):
        return LONG
    if pd.isna(last):
        return f"{pluralize((first - row.balance_at).days, 'day')} to {LONG}"
    unit, length = ("hour", timedelta(hours=1)) if last - row.balance_at < timedelta(days=2) else ("day", timedelta(days=1))
    shortest, longest = ((end - row.balance_at) // length for end in (first, last))
    if not longest:
        return "less than an hour"
    return pluralize(longest, unit) if shortest == longest else f"{shortest:,} to {pluralize(longest, unit)}"


def describe_band(row: Any) -> str:
    """Return from when to when a balance ends that does not last more than a year."""
    since = f"{row.runs_dry_first:%Y-%m-%d}"
    until = LONG if pd.isna(row.runs_dry_last) else f"{row.runs_dry_last:%Y-%m-%d}"
    return f"ends {f'on {since}' if since == until else f'from {since} to {until}'}, in {cases_of(row)}"


def cases_of(row: Any) -> str:
    """Return how often a balance ends within the band of a forecast."""
    return "9 of 10 cases" if pd.isna(row.runs_dry_first) else "4 of 5 cases"


def time_to_buy(row: Any) -> str:
    """Return before when to buy traffic, empty if the balance lasts more than a year."""
    end = row.runs_dry_middle if pd.isna(row.factor) else row.runs_dry_first
    return "" if pd.isna(end) else describe_purchase(end)


def _step(row: Any, end: pd.Timestamp) -> str:
    soon = " The earliest of these ends is within 7 days." if end - row.balance_at <= SOON else ""
    step = time_to_buy(row)
    return f"{soon} {capitalize(step)}." if step else soon
