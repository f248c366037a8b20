"""Cost of the requests that timed out."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, measure
from ledgerframes.analysis.measures import (
    BYTES,
    COST,
    IS_ACCEPTED,
    IS_REJECTED,
    IS_TIMEOUT,
    Count,
    PartTotal,
    Ratio,
    UnlessCommitted,
)
from ledgerframes.analysis.verdict.limit import LIMIT_EVIDENCE, is_limit_doubtful
from ledgerframes.frames import Frames

TIMEOUTS = declare.Figure(
    "cost.timeouts",
    caption="Traffic cost of requests that timed out",
    rows="One row per period and participant; sorted by time and name.",
    by={"participant": grouping.PARTICIPANT},
    columns=(
        declare.count("requests", "Confirmation requests.", measure=Count()),
        declare.integer(
            "timeouts",
            "Rejected requests that timed out, by their latency. Missing if rejections or the limit are unknown.",
            "requests",
            "Timeouts",
            measure=UnlessCommitted(Count(where=IS_TIMEOUT)),
        ),
        declare.share(
            "Timeouts as a share of the accepted and rejected requests. Missing without either, or if the timeouts are.",
            title="Share of the requests that timed out",
            ratio=Ratio("groups.timeouts", "groups.decided"),
        ),
        declare.cost(
            "timeout_traffic_cost",
            "Cost of the timeouts. 0 if there are none and other costs are known. Missing if unknown.",
            "Cost of timeouts",
            measure=UnlessCommitted(PartTotal(COST, where=IS_TIMEOUT)),
        ),
    ),
    has_periods=True,
    distinct=(),
    drawn="timeout_traffic_cost",
    others={**BYTES, **LIMIT_EVIDENCE, "decided": Count(where=f"{IS_ACCEPTED} OR {IS_REJECTED}")},
)
OF_TIMEOUTS = ("timeouts", "share", "timeout_traffic_cost")


@TIMEOUTS.register
def timeouts(frames: Frames, *, by: Literal["participant"] | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the cost of the requests that timed out.

    If the limit of the network may not be the usual one, no timeout is known.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {"participant"}, optional
        Grouping of the rows, with its columns below (default: None).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).

    Returns
    -------
    DataFrame
        One row per period and participant; sorted by time and name.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``submitting_participant_uid`` (str, with by="participant"): Participant that submits and pays. Missing without a
          verdict.
        - ``requests`` (int64, requests): Confirmation requests.
        - ``timeouts`` (Int64, requests): Rejected requests that timed out, by their latency. Missing if rejections or the limit
          are unknown.
        - ``share`` (float64, share of 1): Timeouts as a share of the accepted and rejected requests. Missing without either, or
          if the timeouts are.
        - ``timeout_traffic_cost`` (Int64, bytes): Cost of the timeouts. 0 if there are none and other costs are known. Missing
          if unknown.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.

    Notes
    -----
    Source: verdicts with result rejected, traffic summaries (docs/facts.md#verdict-fields).

    Picture, by :func:`ledgerframes.plot`: One bar of ``timeout_traffic_cost`` per row, or one line per group over time.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> costs = lf.cost.timeouts(day, by="participant")
    >>> ax = lf.plot(costs)
    """
    TIMEOUTS.check(frames, by)
    grouped = measure(Call(TIMEOUTS, frames, by, every))
    unknown = dict.fromkeys(OF_TIMEOUTS) if is_limit_doubtful(grouped.overall) else {}
    values = {**grouped.keys, **grouped.values, **unknown}
    return TIMEOUTS.build(frames, values, by, every=every)
