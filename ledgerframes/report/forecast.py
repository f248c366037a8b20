"""The end of a traffic balance at the burn of the weeks before."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.cost._traffic_balance import TrafficBalance
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.cells import shorten
from ledgerframes.report.summary.balance import describe_runway

SUPPOSED_WINDOWS = 4  # whose burn a balance is supposed to be, where it is not known


def describe_forecast(
    net: Network, frames: Frames, history: Frames | pd.DataFrame | None, *, participant: str = "", balance: int = 0
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
        Its balance at the end of the window in bytes (default: four times what it burned).

    Returns
    -------
    str
        Sentences on the burn and on the end of the balance, or why there is no forecast.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import describe_forecast
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> describe_forecast(net, frames, None).rpartition("that. ")[2]
    'No forecast. The store does not have the weeks before this window.'
    """
    payers = cost.spend(frames, by="participant").dropna(subset=["submitting_participant_uid", "total_traffic_cost"])
    costs = payers.set_index("submitting_participant_uid")["total_traffic_cost"]
    payer = participant or next(iter(costs.index), "")
    if payer not in costs or frames.window is None:
        return "The burn of this window is not known."
    burned = int(costs[payer])
    supposed = "" if balance else " Its balance is not known. Suppose it were four times that."
    burn = f"Participant {shorten(payer)} burned {burned:,} known bytes in this window.{supposed}"
    if not isinstance(history, Frames) or history.window is None:
        return f"{burn} No forecast. The store does not have the weeks before this window."
    weeks = load_events(net, since=history.window.since, until=frames.window.until)
    start = TrafficBalance(balance or SUPPOSED_WINDOWS * burned, frames.window.until)
    try:
        return f"{burn} {describe_runway(cost.runway_summary(weeks, participant=payer, balance=start))}"
    except CoverageError as error:
        return f"{burn} No forecast. {error}"
