"""Traffic: what the envelopes of a request cost its submitter's validator, in bytes (docs/facts.md#event-items)."""

from __future__ import annotations

from typing import Any

from .draft import Draft
from .randomness import Draws

MEDIATOR_MESSAGE, ROOT_HASH_MESSAGE = 1150, 150  # median bytes of the envelopes that carry no view
ONE_MESSAGE_ONLY = 0.12
SHARED_ENVELOPE = 0.1  # the last two views have the same recipients and travel together


def traffic_of(draft: Draft, views: int, draws: Draws) -> dict[str, Any]:
    """Return the traffic summary of a request.

    Parameters
    ----------
    draft
        The request; its fixed costs, if any, leave nothing to chance.
    views
        How many views it has.
    draws
        Chance: the sizes.

    Returns
    -------
    dict
        total_traffic_cost, which is the sum of the envelopes' costs, and envelope_traffic_summaries.
    """
    envelopes = _fixed(draft, views) if draft.fixed_costs else _drawn(draft, views, draws)
    total = sum(envelope["traffic_cost"] for envelope in envelopes)
    return {"total_traffic_cost": total, "envelope_traffic_summaries": envelopes}


def _fixed(draft: Draft, views: int) -> list[dict[str, Any]]:
    plain = len(draft.fixed_costs) - views
    return [
        {"traffic_cost": cost, "view_ids": [] if position < plain else [position - plain]}
        for position, cost in enumerate(draft.fixed_costs)
    ]


def _drawn(draft: Draft, views: int, draws: Draws) -> list[dict[str, Any]]:
    messages = [draws.around(MEDIATOR_MESSAGE, 0.2), draws.around(ROOT_HASH_MESSAGE, 0.1)]
    if draws.chance(ONE_MESSAGE_ONLY):
        messages.pop()
    groups = [[view_id] for view_id in range(views)]
    if views > 1 and draws.chance(SHARED_ENVELOPE):
        groups[-2:] = [[views - 2, views - 1]]
    sizes = [draws.around(draft.bytes_per_view, 0.35) * len(group) for group in groups]
    envelopes = [{"traffic_cost": cost, "view_ids": []} for cost in messages]
    return envelopes + [{"traffic_cost": cost, "view_ids": group} for cost, group in zip(sizes, groups, strict=True)]
