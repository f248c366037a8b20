"""The end of a traffic balance, given the burn in the weeks before."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.cost.runway_sentences import GIVEN_USED_UP, describe_given_balance, describe_length
from ledgerframes.analysis.cost.traffic_balance import TrafficBalance
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.cells import shorten
from ledgerframes.report.loads import has_requests
from ledgerframes.report.summary.balance import known_payers
from ledgerframes.statistics import printing

LONGEST_DAYS, MAX_DAYS = 60, 366  # of a picture whose balance does not end, and of any
DAY = timedelta(days=1)
SUPPOSED_WINDOWS = 4  # windows whose burn an unknown balance is assumed to cover


def describe_forecast(
    net: Network, frames: Frames, history: Frames | pd.DataFrame | None, *, participant: str = "", balance: int | None = None
) -> str:
    """Return what a participant burned, and when its traffic balance ends.

    Parameters
    ----------
    net : Network
        The network of the frames.
    frames : Frames
        All requests of a window.
    history : Frames or DataFrame or None
        From :func:`ledgerframes.report.load_history`.
    participant : str, optional
        Participant of the forecast (default: the one with the highest cost).
    balance : int, optional
        Its balance at the end of the window in bytes (default: unknown, which gives the days that four times its burn
        last, for a window of at least a day).

    Returns
    -------
    str
        Sentences about the burn and the end of the balance, or about why there is no forecast.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import describe_forecast
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> describe_forecast(net, frames, None).rpartition("known. ")[2]
    'No forecast. The store does not have the weeks before this window.'
    """
    weeks = _weeks(net, frames, history)
    payer, burned = _payer(frames, weeks, participant)
    if burned is None:
        return f"The burn of this window is not known.{f' {GIVEN_USED_UP}' if balance == 0 else ''}"
    unknown = " Its balance is not known." if balance is None else ""
    burn = f"Participant {shorten(payer)} burned {printing.size(burned)} of known cost in this window.{unknown}"
    if balance == 0:
        return f"{burn} {GIVEN_USED_UP}"
    if weeks is None:
        return f"{burn} No forecast. The store does not have the weeks before this window."
    if _is_balance_unknown(frames, balance):
        return f"{burn} No forecast. A window of less than a day suggests no balance."
    start = _start(frames, balance, burned)
    if not start.bytes:
        return burn
    try:
        end = cost.runway_end(weeks, participant=payer, balance=start)
    except CoverageError as error:
        return f"{burn} No forecast. {error}"
    return f"{burn} {describe_length(end) if balance is None else describe_given_balance(end)}"


def forecast_runway(
    net: Network, frames: Frames, history: Frames | pd.DataFrame | None, *, participant: str = "", balance: int | None = None
) -> pd.DataFrame | None:
    """Return the traffic balance of a participant hour by hour, until it ends.

    The parameters are those of :func:`describe_forecast`.

    Returns
    -------
    DataFrame or None
        The result of :func:`ledgerframes.cost.runway` for at most a year. None if there is no forecast, or
        nothing is left.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import forecast_runway
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> print(forecast_runway(net, frames, None))
    None
    """
    weeks = _weeks(net, frames, history)
    payer, burned = _payer(frames, weeks, participant)
    if weeks is None or burned is None or _is_balance_unknown(frames, balance):
        return None
    start = _start(frames, balance, burned)
    if not start.bytes:
        return None
    try:
        (end,) = iter_rows(cost.runway_end(weeks, participant=payer, balance=start))
    except CoverageError:
        return None
    days = LONGEST_DAYS if pd.isna(end.runs_dry_last) else min((end.runs_dry_last - start.at).days + 3, MAX_DAYS)
    return cost.runway(weeks, participant=payer, balance=start, horizon=f"{days}d")


def _payer(frames: Frames, weeks: Frames | None, participant: str) -> tuple[str, int | None]:
    """Return a participant and what it burned, or None if that is unknown."""
    if participant:
        (frames if weeks is None else weeks).where("verdicts", participant=participant)  # refuses one that does not submit
        if not has_requests(frames, participant):
            return participant, 0
    costs = known_payers(frames).set_index("submitting_participant_uid")["total_traffic_cost"]
    payer = participant or next(iter(costs.index), "")
    return payer, int(costs[payer]) if payer in costs else None


def _weeks(net: Network, frames: Frames, history: Frames | pd.DataFrame | None) -> Frames | None:
    """Return the weeks until the end of the window, None of days of earlier runs."""
    if not isinstance(history, Frames) or history.window is None or frames.window is None:
        return None
    return load_events(net, since=history.window.since, until=frames.window.until)


def _is_balance_unknown(frames: Frames, balance: int | None) -> bool:
    """Return whether a forecast has no balance to start with.

    Without one that is passed, the burn of the window suggests one, unless it is shorter than a day.
    """
    return balance is None and frames.window is not None and frames.window.until - frames.window.since < DAY


def _start(frames: Frames, balance: int | None, burned: int) -> TrafficBalance:
    assert frames.window is not None, "frames without a window have no weeks"
    return TrafficBalance(SUPPOSED_WINDOWS * burned if balance is None else balance, frames.window.until)
