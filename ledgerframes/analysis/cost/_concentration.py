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
KEYS = {"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "template": grouping.TEMPLATE}
CONCENTRATION = declare.Figure(
    "cost.concentration",
    distinct=(),
    rows="One row per period, or one for the window; sorted by time.",
    by=dict.fromkeys(KEYS, declare.Grouping()),
    columns=(
        declare.choice("member", KEYS),
        declare.count("requests", "Confirmation requests."),
        declare.count("members", "Members with a known cost. Other members have no cost or an unknown one.", "members"),
        declare.cost("total_traffic_cost", "Known cost of these members. A lower bound with a coverage below 1."),
        declare.rate("gini", "Gini coefficient. Missing below 2 members.", "", "Gini coefficient"),
        declare.rate("hhi", "Sum of the squared shares. Missing without a cost.", "", "Sum of squared shares"),
        *(
            declare.share(f"Share of the {number} with the highest cost, ties included. Missing without a cost.", f"top_{number}")
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
    measures = [
        _measures(period_costs)
        for period_costs in _costs_of_members(costs[is_member], periods, periods.codes[is_member], groups.codes[is_member])
    ]
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


def _costs_of_members(costs: pd.Series, periods: Groups, period_codes: Integers, member_codes: Integers) -> list[list[int]]:
    """Return the known costs of the members of each period, in no particular order."""
    names = pd.DataFrame({"period": period_codes, "member": member_codes})
    members = group_by(names, ["period", "member"])
    totals = members.total(costs.reset_index(drop=True)) if len(names) else pd.Series(dtype="Int64")
    by_period = totals.dropna().groupby(members.keys["period"].reindex(totals.dropna().index)).agg(list)
    return [list(by_period.get(period, [])) for period in range(len(periods))]


def _measures(costs: list[int]) -> dict[str, float | int | None]:
    measured = concentration_of(costs)
    tops = {number: top(costs, number) or TopMembers(0, np.nan) for number in TOP_COUNTS}
    return {
        "members": measured.members,
        "total_traffic_cost": measured.total if costs else None,
        "gini": measured.gini if len(costs) > 1 and measured.gini is not None else np.nan,
        "hhi": np.nan if measured.hhi is None else measured.hhi,
        **{f"top_{number}": each.share for number, each in tops.items()},
        **{f"top_{number}_members": each.count for number, each in tops.items()},
    }
