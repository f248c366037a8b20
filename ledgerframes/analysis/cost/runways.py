"""Time until the traffic balance of a participant is used up."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.cost._runway_history import history_of, hours_query, span_of
from ledgerframes.analysis.cost.runway_sentences import describe_end
from ledgerframes.analysis.cost.traffic_balance import BaseRate, TrafficBalance, balance_of
from ledgerframes.analysis.groups import ORIGIN, as_integers, period_length
from ledgerframes.engine import Query
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.runways import HOURS_PER_WEEK, TopUp, balances, safe_interval, silent_hours
from ledgerframes.statistics.runways import runway as runway_of
from ledgerframes.values import extents
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR

HOUR = timedelta(hours=1)
MAX_HORIZON = 366 * 24
PATH = (("balance_low", "high"), ("balance_middle", "middle"), ("balance_high", "low"))
NO_END = "Missing if it is not within a year, or there is no band."


def _queries(frames: Frames, participant: str, balance: TrafficBalance | pd.DataFrame, **_: object) -> list[Query]:
    return [hours_query(participant, *span_of(balance_of(balance, frames, participant)))]


RUNWAY = declare.Figure(
    "cost.runway",
    caption="Forecast of the traffic balance",
    rows="One row per hour; sorted by time.",
    columns=(
        declare.time("hour", "End of the hour.", "Time"),
        declare.cost("balance_low", "Balance if burn is high. Missing if a week of the history has no burn.", "Traffic balance"),
        declare.cost("balance_middle", "Balance if burn is the mean of the weeks before.", "Traffic balance"),
        declare.cost("balance_high", "Balance if burn is low. Missing if a week of the history has no burn.", "Traffic balance"),
    ),
    unit="requests of the history",
    queries=_queries,
)
END = declare.Figure(
    "cost.runway_end",
    caption="End of the traffic balance",
    rows="One row.",
    answer=describe_end,
    main_columns=("runs_dry_first", "runs_dry_middle", "runs_dry_last", "balance", "balance_at", "factor", "participant"),
    columns=(
        declare.text("participant", "Participant that pays."),
        declare.time("balance_at", "Time of the balance."),
        declare.cost("balance", "Balance at that time.", "Traffic balance"),
        declare.time("runs_dry_first", f"Earliest end of the band: in 9 of 10 cases, the end is later. {NO_END}"),
        declare.time("runs_dry_middle", "End at mean burn. Missing if it is not within a year."),
        declare.time("runs_dry_last", f"Latest end of the band: in 9 of 10 cases, the end is earlier. {NO_END}"),
        declare.integer("safe_interval", "Longest interval during which one purchase suffices. Missing without topup=.", "hours"),
        declare.integer(
            "silent_minutes", "Minutes of the history in which this balance, with this rule, would have been below 0.", "minutes"
        ),
        declare.ResultColumn("weeks_of_history", declare.COUNT, "Number of whole weeks that the paths rest on.", "weeks"),
        declare.rate("factor", "High burn divided by mean burn. Missing without a band."),
    ),
    unit="requests of the history",
    queries=_queries,
)


@RUNWAY.register
def runway(
    frames: Frames,
    *,
    participant: str,
    balance: TrafficBalance | pd.DataFrame,
    topup: TopUp | None = None,
    base_rate: BaseRate | None = None,
    horizon: str = "30d",
) -> pd.DataFrame:
    """Return the forecast of a participant's traffic balance, hour by hour.

    It assumes that the coming weeks are like the last ones.

    Parameters
    ----------
    frames : Frames
        All requests of at least the 4 whole weeks before the balance.
    participant : str
        Participant that submits and pays.
    balance : TrafficBalance or DataFrame
        Balance to start from, or observed balances from :func:`ledgerframes.load_traffic_status`. Of these, the participant's
        latest one up to the end of the window counts, or the latest of all if there is none. The hour of the balance counts
        in full.
    topup : lf.TopUp, optional
        Rule for purchases, applied at the end of each hour.
    base_rate : BaseRate, optional
        Free traffic, which is subtracted from the burn of each hour and is not carried over to later hours.
    horizon : str, optional
        Length of the forecast, at most 366 days (default: 30d).

    Returns
    -------
    DataFrame
        One row per hour; sorted by time.

        Columns:

        - ``hour`` (datetime64[us, UTC]): End of the hour.
        - ``balance_low`` (Int64, bytes): Balance if burn is high. Missing if a week of the history has no burn.
        - ``balance_middle`` (Int64, bytes): Balance if burn is the mean of the weeks before.
        - ``balance_high`` (Int64, bytes): Balance if burn is low. Missing if a week of the history has no burn.
        - ``coverage`` (float64, share of 1): Share of the requests of the history with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    UsageError
        If the participant is unknown, or an argument is not valid.
    CoverageError
        If the frames do not hold all requests, or fewer than 4 whole weeks before the balance.

    Notes
    -----
    The three paths are the mean burn per hour of the week, and a high and a low burn that differ from it by one factor. The
    band between them covers about 4 of 5 cases, or fewer if the burn has a trend. Rejected requests cost too, so the figure
    needs all requests (docs/facts.md#survivorship). Unknown costs and requests of unknown participants count as no burn, and
    each may be at most a tenth of a week. With a `coverage` below 1, the balance therefore ends sooner than the paths say.
    Balances are at the end of an hour, before purchases.

    Picture, by :func:`ledgerframes.plot`: Balance [bytes] over time [UTC], down to the first hour below 0, which is marked.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=6500, days=29)
    >>> frames = lf.load_events(net, since="2026-10-12", until="2026-11-09")
    >>> payer = lf.cost.spend(frames, by="participant")["submitting_participant_uid"][0]
    >>> balance = lf.TrafficBalance(2_000_000, "2026-11-09")
    >>> path = lf.cost.runway(frames, participant=payer, balance=balance)
    >>> len(path), bool((path["balance_low"] <= path["balance_high"]).all())
    (720, True)
    """
    RUNWAY.check(frames)
    hours = period_length(horizon, "horizon") // 3_600
    if not 1 <= hours <= MAX_HORIZON:
        raise UsageError(f"horizon= must be from 1h to 366d, got {horizon!r}.")
    balance = balance_of(balance, frames, participant)
    weeks, coverage = history_of(frames, participant, balance, topup, base_rate)
    paths = balances(weeks, balance.bytes, hours, **_options(balance, topup, base_rate))
    start = _hour(balance.at)
    values: dict[str, Any] = {
        "hour": pd.date_range(start + HOUR, periods=hours, freq="h", unit="us"),
        **{name: as_integers(paths.get(path, [None] * hours), name) for name, path in PATH},
        **coverage,
    }
    return RUNWAY.build(frames, values)


@END.register
def runway_end(
    frames: Frames,
    *,
    participant: str,
    balance: TrafficBalance | pd.DataFrame,
    topup: TopUp | None = None,
    base_rate: BaseRate | None = None,
) -> pd.DataFrame:
    """Return the times when the traffic balance of a participant is used up.

    Parameters
    ----------
    frames : Frames
        All requests of at least the 4 whole weeks before the balance.
    participant : str
        Participant that submits and pays.
    balance : TrafficBalance or DataFrame
        Balance to start from, or observed balances from :func:`ledgerframes.load_traffic_status`. Of these, the participant's
        latest one up to the end of the window counts, or the latest of all if there is none. The hour of the balance counts
        in full.
    topup : lf.TopUp, optional
        Rule for purchases, applied at the end of each hour.
    base_rate : BaseRate, optional
        Free traffic, which is subtracted from the burn of each hour and is not carried over to later hours.

    Returns
    -------
    DataFrame
        One row.

        Columns:

        - ``participant`` (str): Participant that pays.
        - ``balance_at`` (datetime64[us, UTC]): Time of the balance.
        - ``balance`` (Int64, bytes): Balance at that time.
        - ``runs_dry_first`` (datetime64[us, UTC]): Earliest end of the band: in 9 of 10 cases, the end is later. Missing if it
          is not within a year, or there is no band.
        - ``runs_dry_middle`` (datetime64[us, UTC]): End at mean burn. Missing if it is not within a year.
        - ``runs_dry_last`` (datetime64[us, UTC]): Latest end of the band: in 9 of 10 cases, the end is earlier. Missing if it
          is not within a year, or there is no band.
        - ``safe_interval`` (Int64, hours): Longest interval during which one purchase suffices. Missing without topup=.
        - ``silent_minutes`` (Int64, minutes): Minutes of the history in which this balance, with this rule, would have been
          below 0.
        - ``weeks_of_history`` (int64, weeks): Number of whole weeks that the paths rest on.
        - ``factor`` (float64): High burn divided by mean burn. Missing without a band.
        - ``coverage`` (float64, share of 1): Share of the requests of the history with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    UsageError
        If the participant is unknown, or an argument is not valid.
    CoverageError
        If the frames do not hold all requests, or fewer than 4 whole weeks before the balance.

    Notes
    -----
    A balance runs dry at the end of the first hour that leaves it below 0. If the coming weeks are like the last ones, the
    end is between the first and the last time in 4 of 5 cases (docs/facts.md#free-base-rate). Unknown costs count as no burn,
    so with a `coverage` below 1 the ends are too late.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=6500, days=29)
    >>> frames = lf.load_events(net, since="2026-10-12", until="2026-11-09")
    >>> payer = lf.cost.spend(frames, by="participant")["submitting_participant_uid"][0]
    >>> balance = lf.TrafficBalance(200_000, "2026-11-09")
    >>> end = lf.cost.runway_end(frames, participant=payer, balance=balance)
    >>> bool((end["runs_dry_first"] <= end["runs_dry_last"]).all())
    True
    """
    END.check(frames)
    balance = balance_of(balance, frames, participant)
    weeks, coverage = history_of(frames, participant, balance, topup, base_rate)
    free = base_rate.per_hour if base_rate else 0
    measured = runway_of(weeks, balance.bytes, **_options(balance, topup, base_rate))
    mean = [Fraction(sum(hours), len(weeks)) for hours in zip(*weeks, strict=True)]
    safe = None if topup is None else safe_interval(mean, topup.amount, factor=measured.factor or 1.0, free_per_hour=free)
    ends = {"first": measured.high, "middle": measured.middle, "last": measured.low}
    values: dict[str, Any] = {
        "participant": [participant],
        "balance_at": pd.Series([balance.at], dtype=declare.TIME),
        "balance": [balance.bytes],
        **{f"runs_dry_{name}": pd.Series([_end(balance, hours)], dtype=declare.TIME) for name, hours in ends.items()},
        "safe_interval": as_integers([safe], "safe_interval"),
        "silent_minutes": [60 * silent_hours(weeks, balance.bytes, topup, free_per_hour=free)],
        "weeks_of_history": [measured.weeks],
        "factor": [np.nan if measured.factor is None else measured.factor],
        **coverage,
    }
    return END.build(frames, values)


def _end(balance: TrafficBalance, hours: int | None) -> datetime | None:
    return None if hours is None else _hour(balance.at) + (hours + 1) * HOUR


def _hour(time: datetime) -> datetime:
    return time.replace(minute=0, second=0, microsecond=0)


def _options(balance: TrafficBalance, topup: TopUp | None, base_rate: BaseRate | None) -> dict[str, Any]:
    start = (extents.microseconds(balance.at) - ORIGIN) // MICROSECONDS_PER_HOUR % HOURS_PER_WEEK
    return {"start": start, "top_up": topup, "free_per_hour": base_rate.per_hour if base_rate else 0}
