"""Concentration of the cost on participants, parties or kinds of request."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Flags, Groups, Integers, as_integers, group_by, known
from ledgerframes.analysis._requests import is_first_of_request
from ledgerframes.frames import Frames
from ledgerframes.statistics import TopMembers, top
from ledgerframes.statistics import concentration as concentration_of

TOP_COUNTS = (1, 3, 10)
UNKNOWN = "without a cost, or if all others are unknown"
KEYS = {"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "template": grouping.TEMPLATE}
CONCENTRATION = declare.Figure(
    "cost.concentration",
    distinct=(),
    rows="One row per period, or one for the window; sorted by time.",
    by=dict.fromkeys(KEYS, declare.Grouping()),
    columns=(
        declare.choice("member", KEYS),
        declare.count("requests", "Confirmation requests."),
        declare.count("members", "Members with a known cost.", "members"),
        declare.count("unknown_members", "Members without a known cost, which all measures leave out.", "members"),
        declare.cost("total_traffic_cost", "Known cost of these members. A lower bound with a coverage below 1."),
        declare.rate("gini", "Gini coefficient. Missing below 2 members.", "", "Gini coefficient"),
        declare.rate("hhi", f"Sum of the squared shares. Missing {UNKNOWN}.", "", "Sum of squared shares"),
        *(
            declare.share(f"Share of the {number} with the highest cost, ties included. Missing {UNKNOWN}.", f"top_{number}")
            for number in TOP_COUNTS
        ),
        *(declare.count(f"top_{number}_members", f"Members in top_{number}, ties included.", "members") for number in TOP_COUNTS),
    ),
    has_periods=True,
)


@CONCENTRATION.document
def concentration(
    frames: Frames, *, by: Literal["participant", "party", "template"] | None = "participant", every: str | None = None
) -> pd.DataFrame:
    """Return the concentration of the known cost on its members.

    Parameters
    ----------
    by : {"participant", "party", "template"}, optional
        Members: participants that submit and pay, parties with the requests that they submitted alone, or kinds of visible
        transactions (default: participant, also for None).

    Source: traffic summaries and verdicts (docs/facts.md#traffic-fields). Do not compare Gini coefficients of fewer than 10
    members, or of times with other rules (docs/facts.md#structural-breaks). The sum of squared shares, 1/n to 1, is the
    Herfindahl-Hirschman index: its inverse is the number of equal members that would be as concentrated.

    >>> payers = lf.cost.concentration(day)
    >>> bool(1 / payers["members"][0] <= payers["hhi"][0] <= payers["top_1"][0])
    True
    """
    CONCENTRATION.check(frames, by)
    member = by or "participant"
    keys = KEYS[member].key_names
    rows, groups = grouping.requests_by(frames, keys, None)
    costs = rows["total_traffic_cost"]
    periods = grouping.group_rows(frames, rows, (), every)
    is_member = _has_member(rows, member)
    members = _costs_of_members(costs[is_member], periods, periods.codes[is_member], groups.codes[is_member])
    measures = [_measures(period_costs) for period_costs in members]
    is_request, is_known = is_first_of_request(rows), known(costs)
    requests = Groups(periods.keys, periods.codes[is_request])
    values: dict[str, Any] = {
        **periods.keys,
        "member": member,
        "requests": requests.count(),
        **{name: [each[name] for each in measures] for name in _measures([])},
        "coverage": requests.coverage(is_known[is_request]),
        "coverage_bytes": requests.coverage_bytes(costs[is_request].reset_index(drop=True), is_known[is_request]),
    }
    values["total_traffic_cost"] = as_integers(values["total_traffic_cost"], "total_traffic_cost")
    return CONCENTRATION.build(frames, values, by, every=every)


def _has_member(rows: pd.DataFrame, member: str) -> Flags:
    """Return which requests belong to exactly one member that is known."""
    if member == "participant":
        return known(rows["submitting_participant_uid"])
    if member == "party":
        return rows["is_single_party"].to_numpy(dtype=bool) & known(rows["party"])
    return (rows["kind"] == "transaction").to_numpy(dtype=bool) & known(rows["template_name"])


def _costs_of_members(
    costs: pd.Series, periods: Groups, period_codes: Integers, member_codes: Integers
) -> list[list[int | None]]:
    """Return the cost of each member of each period in no order, None if it is unknown."""
    names = pd.DataFrame({"period": period_codes, "member": member_codes})
    members = group_by(names, ["period", "member"])
    totals = members.total(costs.reset_index(drop=True)) if len(names) else pd.Series(dtype="Int64")
    by_period = totals.astype("object").where(totals.notna(), None).groupby(members.keys["period"]).agg(list)
    return [list(by_period.get(period, [])) for period in range(len(periods))]


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
