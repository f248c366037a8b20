"""Concentration of the cost on a few participants, parties or kinds of request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, measure
from ledgerframes.analysis.groups import as_integers
from ledgerframes.analysis.measures import BYTES, COST, Count, Expression
from ledgerframes.engine import Query, run
from ledgerframes.frames import Frames
from ledgerframes.statistics.concentrations import TopMembers, top
from ledgerframes.statistics.concentrations import concentration as concentration_of

TOP_COUNTS = (1, 3, 10)
UNKNOWN = "without a known cost, or if all other members are unknown"
KEYS = {"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "template": grouping.TEMPLATE}
# Conditions of the requests that belong to exactly one known member.
HAS_MEMBER = {
    "party": "is_single_party",
    "template": "kind = 'transaction' AND template_name IS NOT NULL",
}


def _queries(frames: Frames, by: str | None, every: str | None) -> list[Query]:
    requests = _requests_call(frames, by, every)
    return [requests.query] if requests.parts else [requests.query, _members_query(_members_call(frames, by, every))]


CONCENTRATION = declare.Figure(
    "cost.concentration",
    caption="Concentration of the traffic cost",
    distinct=(),
    rows="One row per period, or one for the window; sorted by time.",
    by={member: declare.Grouping(rows=keys.rows) for member, keys in KEYS.items()},
    main_columns=("gini", "hhi", "top_1", "top_3", "top_10", "members", "requests"),
    columns=(
        declare.choice("member", KEYS),
        declare.count("requests", "Confirmation requests, also those of no single member.", measure=Count()),
        declare.count("members", "Members with a known cost.", "members"),
        declare.count("unknown_members", "Members without a known cost, which no measure includes.", "members"),
        declare.cost("total_traffic_cost", "Known cost of these members, which is a lower bound if the coverage is below 1."),
        declare.cost("left_out_traffic_cost", "Known cost of requests that belong to none of these members, or to several."),
        declare.rate("gini", "Gini coefficient. Missing with fewer than 2 members.", "", "Gini coefficient"),
        declare.rate("hhi", f"Sum of the squared shares. Missing {UNKNOWN}.", "", "Sum of squared shares"),
        *(
            declare.share(f"Share of the {number} with the highest cost, ties included. Missing {UNKNOWN}.", f"top_{number}")
            for number in TOP_COUNTS
        ),
        *(declare.count(f"top_{number}_members", f"Members in top_{number}, ties included.", "members") for number in TOP_COUNTS),
    ),
    has_periods=True,
    others=BYTES,
    queries=_queries,
)


@CONCENTRATION.register
def concentration(
    frames: Frames, *, by: Literal["participant", "party", "template"] | None = "participant", every: str | None = None
) -> pd.DataFrame:
    """Return the concentration of the known cost on its members.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "participant", "party", "template"}, optional
        Members: participants that submit and pay, parties with the requests that they submitted alone, or kinds of visible
        transactions (default: participant, also for None).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).

    Returns
    -------
    DataFrame
        One row per period, or one for the window; sorted by time.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``member`` (category): participant, party, or template.
        - ``requests`` (int64, requests): Confirmation requests, also those of no single member.
        - ``members`` (int64, members): Members with a known cost.
        - ``unknown_members`` (int64, members): Members without a known cost, which no measure includes.
        - ``total_traffic_cost`` (Int64, bytes): Known cost of these members, which is a lower bound if the coverage is below 1.
        - ``left_out_traffic_cost`` (Int64, bytes): Known cost of requests that belong to none of these members, or to several.
        - ``gini`` (float64): Gini coefficient. Missing with fewer than 2 members.
        - ``hhi`` (float64): Sum of the squared shares. Missing without a known cost, or if all other members are unknown.
        - ``top_1`` (float64, share of 1): Share of the 1 with the highest cost, ties included. Missing without a known cost, or
          if all other members are unknown.
        - ``top_3`` (float64, share of 1): Share of the 3 with the highest cost, ties included. Missing without a known cost, or
          if all other members are unknown.
        - ``top_10`` (float64, share of 1): Share of the 10 with the highest cost, ties included. Missing without a known cost,
          or if all other members are unknown.
        - ``top_1_members`` (int64, members): Members in top_1, ties included.
        - ``top_3_members`` (int64, members): Members in top_3, ties included.
        - ``top_10_members`` (int64, members): Members in top_10, ties included.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.

    Notes
    -----
    Source: traffic summaries and verdicts (docs/facts.md#traffic-fields). Do not compare Gini coefficients of fewer than 10
    members, or of times with different rules (docs/facts.md#structural-breaks). The sum of squared shares, 1/n to 1, is the
    Herfindahl-Hirschman index: its inverse is the number of equal members that would be as concentrated.

    Picture, by :func:`ledgerframes.plot`: Share of the known cost [%] of the first, the first 3 and the first 10: lines
    over record time [UTC], or bars.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> payers = lf.cost.concentration(day)
    >>> bool(1 / payers["members"][0] <= payers["hhi"][0] <= payers["top_1"][0])
    True
    """
    CONCENTRATION.check(frames, by)
    member = by or "participant"
    call = _requests_call(frames, by, every)
    requests = measure(call)
    rows = _participants(requests.parts) if call.parts else _other_members(_members_call(frames, by, every))
    measures = [_measures(period_costs) for period_costs in _costs_of_members(rows, len(requests))]
    values: dict[str, Any] = {
        **requests.keys,
        **requests.values,
        "member": member,
        **{name: [each[name] for each in measures] for name in _measures([])},
    }
    values[COST] = as_integers(values[COST], COST)
    values["left_out_traffic_cost"] = requests.values["known_bytes"] - values[COST].fillna(0)
    return CONCENTRATION.build(frames, values, by, every=every)


def _requests_call(frames: Frames, by: str | None, every: str | None) -> Call:
    """Return the call of all requests.

    If the members are participants, its parts are the requests of each participant.
    """
    parts = ("submitting_participant_uid",) if by in (None, "participant") else ()
    return Call(replace(CONCENTRATION, parts=parts), frames, None, every)


def _members_call(frames: Frames, by: str | None, every: str | None) -> Call:
    return Call(CONCENTRATION, frames, by, every)


def _members_query(call: Call) -> Query:
    """Return the query of the cost of each member of each period."""
    assert call.by is not None
    measures = {
        "requests": Count(where=HAS_MEMBER[call.by]),
        COST: Expression(f"sum({COST}) FILTER (WHERE {HAS_MEMBER[call.by]})"),
    }
    return call.parts_query(KEYS[call.by].key_names, measures)


def _participants(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the cost of each participant of each period, from the query of all requests."""
    return parts[parts["submitting_participant_uid"].notna()].assign(**{COST: parts["known_bytes"]})


def _other_members(call: Call) -> pd.DataFrame:
    """Return the cost of each party or kind of request of each period."""
    rows = run(call.frames, _members_query(call))
    return rows[rows["requests"] > 0]


def _costs_of_members(rows: pd.DataFrame, period_count: int) -> list[list[int | None]]:
    """Return the cost of each member of each period, in no order. It is None if it is unknown."""
    costs: list[list[int | None]] = [[] for _ in range(period_count)]
    periods = rows["period"] if "period" in rows else pd.Series(0, rows.index)
    for period, cost in zip(periods.tolist(), rows[COST].tolist(), strict=True):
        costs[period].append(None if pd.isna(cost) else cost)
    return costs


def _measures(members: list[int | None]) -> dict[str, float | int | None]:
    costs = [cost for cost in members if cost is not None]
    measured, unknown = concentration_of(costs), len(members) - len(costs)
    tops = {number: top(costs, number) or TopMembers(0, np.nan) for number in TOP_COUNTS}
    is_all = {number: bool(unknown) and each.count == len(costs) for number, each in tops.items()}  # a share of 1 by construction
    return {
        "members": measured.members,
        "unknown_members": unknown,
        "total_traffic_cost": measured.total if costs else None,
        "gini": measured.gini if len(costs) > 1 and measured.gini is not None else np.nan,
        "hhi": np.nan if measured.hhi is None or (unknown and len(costs) == 1) else measured.hhi,
        **{f"top_{number}": np.nan if is_all[number] else each.share for number, each in tops.items()},
        **{f"top_{number}_members": each.count for number, each in tops.items()},
    }
