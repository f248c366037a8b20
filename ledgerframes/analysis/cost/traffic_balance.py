"""Traffic balances that a caller knows or a service returned, and the free base rate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pandas as pd

from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.groups import period_length
from ledgerframes.analysis.requests import PARTICIPANT_PREFIX
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.checks import require_integer
from ledgerframes.values.windows import Time, instant

LATEST = datetime(9998, 1, 1, tzinfo=UTC)  # A forecast is up to a year long, and times end with the year 9999.
STATUS_COLUMNS = ("observed_at", "synchronizer_id", "member_id", "balance")


@dataclass(frozen=True)
class TrafficBalance:
    """A traffic balance at a time, such as that of ``net.history.traffic_status`` now.

    Parameters
    ----------
    bytes : int
        Balance, at least 0 [bytes].
    at : str, date or datetime
        Time of the balance.

    Raises
    ------
    UsageError
        If the balance is not a count of bytes, or the time is not valid.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.TrafficBalance(500_000, "2026-11-09").at.isoformat()
    '2026-11-09T00:00:00+00:00'
    """

    bytes: int
    at: datetime

    def __init__(self, bytes: int, at: Time) -> None:  # noqa: A002
        object.__setattr__(self, "bytes", require_integer("bytes", bytes, 0))
        object.__setattr__(self, "at", instant(at, "at"))
        if self.at >= LATEST:
            raise UsageError(f"at= must be before the year 9998, got {at!r}.")


@dataclass(frozen=True)
class BaseRate:
    """The traffic that each participant has for free.

    Attributes
    ----------
    burst : int
        Free traffic of one time window, at least 0 [bytes].
    window : str
        Length of the time window, such as ``"20min"``.

    Raises
    ------
    UsageError
        If `burst` is negative, or `window` is no length of time.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.BaseRate(400_000, "20min").per_hour
    1200000
    """

    burst: int
    window: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "burst", require_integer("burst", self.burst, 0))
        period_length(self.window, "window")

    @property
    def per_hour(self) -> int:
        """The most that is free within an hour, rounded down [bytes]."""
        return self.burst * 3_600 // period_length(self.window, "window")


def balance_of(balance: TrafficBalance | pd.DataFrame, frames: Frames, participant: str) -> TrafficBalance:
    """Return a balance, or the latest observed one of a participant.

    The latest observation up to the end of the frames' window counts, or the latest of all if there is none.

    Raises
    ------
    UsageError
        If it is neither, or this participant has no observation or observations on several synchronizers.
    """
    if isinstance(balance, TrafficBalance):
        return balance
    step = "Pass the result of lf.load_traffic_status(net)."
    rows = require_columns(balance, STATUS_COLUMNS, "balance= must be a TrafficBalance or rows of table traffic_status", step)
    members = rows["member_id"].str.removeprefix(PARTICIPANT_PREFIX)
    own = rows[(members == str(participant).removeprefix(PARTICIPANT_PREFIX)).fillna(False).astype(bool)]
    if own.empty:
        raise UsageError(
            f"balance= has no observation of {participant!r}. Load one with lf.load_traffic_status(net, members=[…])."
        )
    synchronizers = own["synchronizer_id"].unique()
    if len(synchronizers) > 1:
        names = ", ".join(sorted(map(str, synchronizers)))
        raise UsageError(f"balance= has balances of {participant!r} on several synchronizers: {names}. Pass the rows of one.")
    within = own if frames.window is None else own[own["observed_at"] <= frames.window.until]
    own = own if within.empty else within
    row = own.sort_values("observed_at").iloc[-1]
    return TrafficBalance(int(row["balance"]), row["observed_at"].to_pydatetime())


def describe_purchase(end: datetime) -> str:
    """Return before when to buy traffic, for a balance that ends then."""
    return f"buy traffic before {end:%Y-%m-%d %H:%M} UTC"
