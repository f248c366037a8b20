"""The statement on the end of a traffic balance."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.cost.runway_sentences import BUY_NOW, GIVEN_USED_UP, describe_end, describe_given_balance, purchase_of
from ledgerframes.analysis.cost.traffic_balance import TrafficBalance
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
    text, step = GIVEN_USED_UP, BUY_NOW
    if periods.balance:
        try:
            forecast = forecast_balance(periods)
        except CoverageError as error:
            return [Statement(term="Traffic balance", text=f"{name}No forecast. {error}", details=[])]
        text, step = describe_given_balance(forecast), purchase_of(forecast)
    return [Statement(term="Traffic balance", text=f"{name}{text}", details=[], key_figure=BALANCE, next_step=step)]


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
    A balance of 200 kB runs out between 2026-11-09 and 2026-11-10, in 4 of 5 cases.
    It can run out within 7 days.
    Buy traffic before 2026-11-09 22:00 UTC.
    """
    return describe_end(forecast)
