"""Cost of envelopes with and without views, and of none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Flags, Groups, is_true, known, ratio
from ledgerframes.analysis._percentiles import FEW_REQUESTS, few_requests, needs, require_min_requests
from ledgerframes.analysis._views import confirmer_sets, has_no_views, request_envelopes
from ledgerframes.frames import Frames

KINDS = ("with views", "without views", "unassigned")
REQUEST_KIND = replace(grouping.KIND, name="request_kind")
OVERHEAD = declare.Figure(
    "cost.overhead",
    distinct=("kind",),
    rows="Three rows per period and group; sorted by time and group, envelopes with views first, unassigned last.",
    by={
        "participant": grouping.PARTICIPANT,
        "template": declare.Grouping((REQUEST_KIND, *grouping.TEMPLATE.keys[1:])),
        "view_count": grouping.VIEWS,
    },
    columns=(
        declare.choice(
            "kind", KINDS, "with views, without views (to the mediator, root hashes), or unassigned (in no envelope)."
        ),
        declare.count("envelopes", "Envelopes of this kind.", "envelopes"),
        declare.cost("traffic_cost", "Cost of these envelopes. Unassigned is the total of the requests less all envelopes."),
        declare.share("Share of the total cost of the requests."),
        declare.integer("confirmers_per_view", f"Median number of parties that can confirm an envelope. {needs(50)}", "parties"),
        declare.integer(
            "same_confirmers_envelopes",
            "Envelopes with the confirmers of a larger one of their request. Missing without views.",
            "envelopes",
        ),
        declare.cost("same_confirmers_cost", "Cost of these envelopes. Missing without views."),
        FEW_REQUESTS,
    ),
    has_periods=True,
    condition="with a known cost and with envelopes",
)


@OVERHEAD.document
def overhead(
    frames: Frames,
    *,
    by: Literal["participant", "template", "view_count"] | None = None,
    every: str | None = None,
    min_requests: int | None = None,
) -> pd.DataFrame:
    """Return the cost of envelopes with views, of those without, and of none.

    Envelopes without views are messages to the mediator and root hashes. A total that is not the sum of its envelopes leaves an
    unassigned rest, which can be negative.

    Source: the envelopes of traffic summaries. An envelope whose views the history service could not match looks as if it
    carried none, so the overhead is an upper bound (docs/facts.md#envelopes-without-views). The ``same_confirmers`` columns are a
    bound on what merging views could save. What it would save is not in the data.

    >>> lf.cost.overhead(day)["kind"].tolist()
    ['with views', 'without views', 'unassigned']
    """
    keys = ["kind" if name == REQUEST_KIND.name else name for name in OVERHEAD.check(frames, by).key_names]
    require_min_requests(min_requests)
    rows, groups = grouping.requests_by(frames, keys, every)
    groups = Groups(groups.keys.rename(columns={"kind": REQUEST_KIND.name}), groups.codes)
    facts = _facts_of_requests(frames, rows)
    has_envelopes = facts["envelopes_with_views"] + facts["envelopes_without_views"] > 0
    is_covered = known(rows["total_traffic_cost"]) & is_true(has_envelopes)
    facts.loc[~is_covered] = pd.NA
    assigned = facts["assigned"]
    unassigned = rows["total_traffic_cost"] - assigned.fillna(0)
    totals = groups.total(rows["total_traffic_cost"])
    (confirmers,) = groups.percentiles(facts["confirmers"], [50], min_requests)
    marked = [("confirmers_per_view", groups.count(known(facts["confirmers"])), 50)]
    with_views: dict[str, Any] = {
        "envelopes": groups.total(facts["envelopes_with_views"]),
        "traffic_cost": groups.total(facts["with_views"]),
        "confirmers_per_view": confirmers,
        "few_requests_for": few_requests(marked, min_requests),
        **{name: groups.total(facts[name]) for name in ("same_confirmers_envelopes", "same_confirmers_cost")},
    }
    without_views = {
        "envelopes": groups.total(facts["envelopes_without_views"]),
        "traffic_cost": groups.total(facts["without_views"]),
    }
    parts = zip(KINDS, (with_views, without_views, {"traffic_cost": groups.total(unassigned)}), strict=True)
    tables = [pd.DataFrame(columns).assign(kind=kind) for kind, columns in parts]
    kinds = pd.concat(tables).rename_axis("group").sort_values("group", kind="stable").reset_index()
    of_rows = kinds["group"].to_numpy()
    coverage_bytes = ratio(groups.total(assigned).fillna(0).mask(totals.isna()), totals).clip(max=1)
    values = {
        **groups.keys.take(of_rows).reset_index(drop=True),
        **kinds.fillna({"envelopes": 0}),
        "share": ratio(kinds["traffic_cost"], totals.take(of_rows)),
        "coverage": groups.coverage(is_covered)[of_rows],
        "coverage_bytes": coverage_bytes[of_rows],
    }
    return OVERHEAD.build(frames, values, by, every=every)


def _facts_of_requests(frames: Frames, rows: pd.DataFrame) -> pd.DataFrame:
    """Return counts and sums of the envelopes of each request."""
    envelopes = request_envelopes(frames, rows)
    envelopes = envelopes.join(confirmer_sets(frames, rows, envelopes))
    requests = Groups(pd.DataFrame(index=range(len(rows))), envelopes["request"].to_numpy("int64"))
    costs, is_without = envelopes["traffic_cost"].astype("Int64"), has_no_views(envelopes)
    is_repeated = _has_confirmers_of_larger(envelopes)
    confirmers = envelopes["confirmers"].groupby(requests.codes).max().reindex(range(len(rows)))
    return pd.DataFrame(
        {
            "envelopes_with_views": requests.count(~is_without),
            "envelopes_without_views": requests.count(is_without),
            "assigned": requests.total(costs).fillna(0),
            "with_views": requests.total(costs.where(~is_without)).fillna(0),
            "without_views": requests.total(costs.where(is_without)).fillna(0),
            "confirmers": confirmers.astype("Int64"),
            "same_confirmers_envelopes": requests.count(is_repeated),
            "same_confirmers_cost": requests.total(costs.where(is_repeated)).fillna(0),
        }
    ).astype("Int64")


def _has_confirmers_of_larger(envelopes: pd.DataFrame) -> Flags:
    """Return which envelopes are not the largest with their confirmers in their request."""
    has_confirmers = envelopes["confirmer_set"].notna()
    largest_first = envelopes[has_confirmers].sort_values("traffic_cost", ascending=False, kind="stable")
    is_repeated = largest_first.duplicated(["request", "confirmer_set"])
    return is_true(is_repeated.reindex(envelopes.index, fill_value=False))
