"""Facts that need no comparison, such as missing time or a balance that ends."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis.cost.runways import runway_end
from ledgerframes.analysis.cost.traffic_balance import TrafficBalance
from ledgerframes.analysis.coverage import begin_of_window, window_share
from ledgerframes.analysis.finding_names import BALANCE, NOT_FINAL, NOT_IN_STORE
from ledgerframes.analysis.groups import ratio
from ledgerframes.analysis.measures import IS_KNOWN
from ledgerframes.engine import Query, run
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.values import extents
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR
from ledgerframes.values.windows import Window

CURRENCY = "USD"  # of list prices that findings accept
SOON = pd.Timedelta(7, "D")
LEAST_SHARE = 1e-9  # a smaller value is a rounding error


def share_with_cost(frames: Frames) -> float:
    """Return the share of the requests that have a known cost, missing without requests."""
    select = f"SELECT count(*) AS requests, count(*) FILTER (WHERE {IS_KNOWN}) AS known\nFROM requests"
    counts = run(frames, Query(select, (REQUESTS,)))
    return float(ratio(counts["known"], counts["requests"])[0])


def missing_time(frames: Frames, window: Window) -> list[dict[str, object]]:
    """Return one row for time that is not in the store, and one for time that can change."""
    in_store, final = window_share(frames, accept_provisional=True), window_share(frames)
    hours = (extents.microseconds(window.until) - begin_of_window(frames)) / MICROSECONDS_PER_HOUR
    parts = ((NOT_IN_STORE, 1 - in_store), (NOT_FINAL, in_store - final))
    return [fact_row("data", "", what, "hours", share * hours, window) for what, share in parts if share > LEAST_SHARE]


def ending_balance(
    frames: Frames, history: Frames, window: Window, participant: str, balance: TrafficBalance
) -> tuple[list[dict[str, object]], str]:
    """Return a row if a balance is 0 or can end within 7 days, or why nobody can tell."""
    if not balance.bytes:
        return [fact_row("balance", participant, BALANCE, "bytes", 0.0, window)], ""
    source = history if history.window is not None and history.window.until >= balance.at else frames
    try:
        (end,) = runway_end(source, participant=participant, balance=balance).to_dict("records")
    except CoverageError as error:
        return [], f"The balance has no forecast. {error}"
    first = end["runs_dry_middle"] if pd.isna(end["runs_dry_first"]) else end["runs_dry_first"]
    if pd.isna(first) or first - end["balance_at"] > SOON:
        return [], ""
    row = fact_row("balance", participant, BALANCE, "bytes", float(balance.bytes), Window(balance.at, first.to_pydatetime()))
    return [row], ""


def fact_row(subject: str, name: str, what: str, unit: str, value: float, window: Window) -> dict[str, object]:
    """Return the row of a finding on a window that is compared with nothing."""
    since, until = (extents.microseconds(time) for time in (window.since, window.until))
    return {"subject": subject, "name": name, "what": what, "unit": unit, "value": value, "since": since, "until": until}
