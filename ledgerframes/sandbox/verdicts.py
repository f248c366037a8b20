"""Verdicts: the mediator's answer to a request, with the views it saw (docs/facts.md#event-items)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .draft import Draft, View
from .parties import Population
from .plan import ACCEPTED, CONTENTION, PRIVATE, TIMEOUT
from .randomness import Draws
from .times import SECOND, six_digits

TIMEOUT_AFTER = 30 * SECOND
SECOND_QUORUM = 0.12


def verdict_of(
    update_id: str,
    migration_id: int,
    people: Population,
    record_time: int,
    outcome: str,
    draft: Draft,
    draws: Draws,
) -> dict[str, Any]:
    """Return the verdict of a request.

    Parameters
    ----------
    update_id, migration_id
        Identity of the update.
    people
        The DSO and its synchronizer.
    record_time
        Microseconds since 1970.
    outcome
        How the request ends, one of the outcomes of `plan`.
    draft
        The request.
    draws
        Chance: latency and second quorums.
    """
    views, roots = _views(draft.views, draws)
    if outcome != PRIVATE:
        # The history service sees what the DSO sees: whatever it shows has the DSO among its informees.
        views[0]["informees"] = sorted({*views[0]["informees"], people.dso})
    confirmers = {party for view in views for quorum in view["confirming_parties"] for party in quorum["parties"]}
    return {
        "update_id": update_id,
        "migration_id": migration_id,
        "domain_id": people.synchronizer,
        "record_time": six_digits(record_time),
        "finalization_time": six_digits(record_time + _latency(outcome, len(confirmers), draws)),
        "submitting_parties": [draft.submitter.identifier],
        "submitting_participant_uid": draft.submitter.participant,
        "verdict_result": f"VERDICT_RESULT_{'ACCEPTED' if outcome in (ACCEPTED, PRIVATE) else 'REJECTED'}",
        "mediator_group": 0,
        "transaction_views": {"views": views, "root_views": roots},
    }


def _latency(outcome: str, confirmers: int, draws: Draws) -> int:
    """Return how long the verdict takes, in microseconds: more with more confirmers, or the time-out."""
    if outcome == TIMEOUT:
        return TIMEOUT_AFTER + draws.between(5, 10_000)
    if outcome == CONTENTION:
        return draws.between(60_000, 200_000) + draws.below(draws.below(1_300_000) + 1)
    return min(20 * SECOND, draws.around(500_000 + 45_000 * confirmers, 0.45))


def _views(roots: Sequence[View], draws: Draws) -> tuple[list[dict[str, Any]], list[int]]:
    """Number the views in pre-order, so that ids are dense from 0."""
    views: list[dict[str, Any]] = []

    def visit(view: View) -> int:
        view_id = len(views)
        quorums = [{"parties": sorted(set(view.confirmers)), "threshold": len(set(view.confirmers))}]
        if view.extra_quorum or draws.chance(SECOND_QUORUM):
            second = list(view.extra_quorum or view.confirmers[:1])
            quorums.append({"parties": second, "threshold": len(second)})
        entry: dict[str, Any] = {
            "view_id": view_id,
            "informees": sorted(set(view.informees)),
            "confirming_parties": quorums,
            "sub_views": [],
            "view_hash": "",
        }
        views.append(entry)
        entry["sub_views"] = [visit(child) for child in view.children]
        return view_id

    root_ids = [visit(root) for root in roots]
    return views, root_ids
