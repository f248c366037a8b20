"""The statement on the end of a traffic balance."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.cost.traffic_balance import TrafficBalance
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.report.cells import shorten
from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.periods import Periods, Statement
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize

SOON = timedelta(days=7)
LONG = "more than a year"


def describe_balance(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on a balance and on the cost of a participant, if they are given."""
    own = [Statement(term="Own cost", text=_own_cost(periods, prices), details=[])] if periods.participant else []
    if not periods.balance:
        return own
    participant = periods.participant or largest_payer(periods.after)
    name = f"Participant {shorten(participant)}: " if participant else ""
    return [{"term": "Traffic balance", "text": f"{name}{_runway(periods, participant)}", "details": []}, *own]


def _own_cost(periods: Periods, prices: Prices) -> str:
    """Return what the given participant paid."""
    payers = known_payers(periods.after)
    payers = payers[payers["submitting_participant_uid"] == periods.participant]
    name = f"Participant {shorten(periods.participant)}"
    if payers.empty:
        return f"{name} has no known cost in this window."
    (row,) = iter_rows(payers)
    number = int(row.total_traffic_cost)
    paid = ", ".join(filter(None, [printing.size(number), prices.of_bytes(number)]))
    return f"{name} paid {paid}: {printing.share(row.share)} of the known cost."


def largest_payer(frames: Frames) -> str:
    """Return the participant with the highest cost, empty if none is known."""
    return next(iter(known_payers(frames)["submitting_participant_uid"]), "")


def known_payers(frames: Frames) -> pd.DataFrame:
    """Return the participants with a known cost, the highest first."""
    return cost.spend(frames, by="participant").dropna(subset=["submitting_participant_uid", "total_traffic_cost"])


def _runway(periods: Periods, participant: str) -> str:
    if periods.weeks is None or not participant or periods.after.window is None:
        return "No forecast. The store does not have the weeks before this window."
    balance = TrafficBalance(periods.balance, periods.after.window.until)
    try:
        return describe_runway(cost.runway_summary(periods.weeks, participant=participant, balance=balance))
    except CoverageError as error:
        return f"No forecast. {error}"


def describe_runway(forecast: pd.DataFrame) -> str:
    """Return when a traffic balance ends, and whether that can be within 7 days.

    Parameters
    ----------
    forecast : DataFrame
        From :func:`ledgerframes.cost.runway_summary`.

    Returns
    -------
    str
        A sentence on the ends of the band, and another one if the earliest is within 7 days.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import describe_runway
    >>> net = lf.connect("sandbox", events=6500, days=29)
    >>> frames = lf.load_events(net, since="2026-10-12", until="2026-11-09")
    >>> payer = lf.cost.spend(frames, by="participant")["submitting_participant_uid"][0]
    >>> balance = lf.TrafficBalance(200_000, "2026-11-09")
    >>> describe_runway(lf.cost.runway_summary(frames, participant=payer, balance=balance))
    'A balance of 200 kB ends from 2026-11-09 to 2026-11-10, in 4 of 5 cases. The earliest of these ends is within 7 days.'
    """
    (row,) = iter_rows(forecast)
    amount = f"A balance of {printing.size(row.balance)}"
    first, middle, last = row.runs_dry_first, row.runs_dry_middle, row.runs_dry_last
    if pd.isna(row.factor):
        end = f"after {LONG}" if pd.isna(middle) else f"on {middle:%Y-%m-%d}"
        return f"{amount} ends {end} at mean burn. A week of the history has no burn, so there is no band.{_soon(row, middle)}"
    if pd.isna(first):
        return f"{amount} lasts {LONG}, in 9 of 10 cases."
    until = LONG if pd.isna(last) else f"{last:%Y-%m-%d}"
    return f"{amount} ends from {first:%Y-%m-%d} to {until}, in 4 of 5 cases.{_soon(row, first)}"


def describe_length(forecast: pd.DataFrame) -> str:
    """Return how long a supposed balance would last.

    It has no dates, which a reader could take for those of a real balance.
    """
    (row,) = iter_rows(forecast)
    ends = (row.runs_dry_first, row.runs_dry_middle, row.runs_dry_last)
    first, middle, last = (LONG if pd.isna(end) else pluralize((end - row.balance_at).days, "day") for end in ends)
    amount = f"A balance of {printing.size(row.balance)} would last"
    if pd.isna(row.factor):
        return f"{amount} {middle} at mean burn."
    return f"{amount} {first}, in 9 of 10 cases." if first == LONG else f"{amount} {first} to {last}, in 4 of 5 cases."


def _soon(row: Any, end: pd.Timestamp) -> str:
    return " The earliest of these ends is within 7 days." if end - row.balance_at <= SOON else ""
