"""Verdicts and traffic costs of requests (docs/facts.md#event-items)."""

from __future__ import annotations

from typing import Any

from .parties import Party
from .randomness import Draws
from .timeline import ACCEPTED, CONTENTION, PRIVATE, TIMEOUT
from .times import SECOND, six_digits
from .transactions.declarations import Kind, View
from .transactions.draft import DraftTransaction, resolve_parties

TIMEOUT_AFTER = 30 * SECOND
SECOND_QUORUM = 0.12
BELOW_ALL = 0.15  # of the quorums of several, whose threshold is one below their number
JOINT_SUBMISSION = 0.03
SLOW, SLOW_MEDIAN, SLOWEST = 0.13, 9_500_000, 22 * SECOND  # share of slow acceptances, and their microseconds
SLOW_CONFIRMERS_SHARE = 0.6  # of the requests that the slow confirmer takes part in
MEDIATOR_MESSAGE, ROOT_HASH_MESSAGE = 1150, 150  # median bytes of the envelopes without views
ONE_MESSAGE_ONLY = 0.12
SHARED_ENVELOPE = 0.1  # the last two views have the same recipients and share an envelope


def verdict_of(draft: DraftTransaction, kind: Kind) -> dict[str, Any]:
    """Return the verdict of a request."""
    views: list[dict[str, Any]] = []
    roots = [view_id for view in kind.views for view_id in _add_views(views, view, draft.names, draft.draws)]
    parties, outcome, record_time = draft.parties, draft.event.outcome, draft.event.time
    if outcome != PRIVATE:
        # The history service sees what the DSO sees: the DSO is an informee of all it shows.
        views[0]["informees"] = sorted({*views[0]["informees"], parties.dso})
    confirmers = {party for view in views for quorum in view["confirming_parties"] for party in quorum["parties"]}
    submitter = parties.by_identifier[draft.names[kind.submitter]]
    submitters = _submitters(draft, submitter, views[0])
    is_slow = draft.draws.chance(SLOW_CONFIRMERS_SHARE if parties.slow_confirmer.identifier in confirmers else SLOW)
    return {
        "update_id": draft.update_id,
        "migration_id": draft.migration_id,
        "domain_id": parties.synchronizer,
        "record_time": six_digits(record_time),
        "finalization_time": six_digits(record_time + _latency(outcome, len(confirmers), is_slow, draft.draws)),
        "submitting_parties": submitters,
        "submitting_participant_uid": submitter.participant,
        "verdict_result": f"VERDICT_RESULT_{'ACCEPTED' if outcome in (ACCEPTED, PRIVATE) else 'REJECTED'}",
        "mediator_group": 0,
        "transaction_views": {"views": views, "root_views": roots},
    }


def _submitters(draft: DraftTransaction, submitter: Party, root_view: dict[str, Any]) -> list[str]:
    """Return the submitting parties, of which some requests have two at one participant."""
    others = [party for party in draft.parties.by_participant[submitter.participant] if party != submitter]
    if draft.event.outcome == PRIVATE or not others or not draft.draws.chance(JOINT_SUBMISSION):
        return [submitter.identifier]
    joint = draft.draws.pick(others).identifier
    root_view["informees"] = sorted({*root_view["informees"], joint})
    quorum = root_view["confirming_parties"][0]
    if joint not in quorum["parties"]:
        quorum.update(parties=sorted([*quorum["parties"], joint]), threshold=quorum["threshold"] + 1)
    return [submitter.identifier, joint]


def _latency(outcome: str, confirmers: int, is_slow: bool, draws: Draws) -> int:
    """Return the microseconds up to the verdict, which grow with the confirmers."""
    if outcome == TIMEOUT:
        return TIMEOUT_AFTER + draws.between(5, 10_000)
    if outcome == CONTENTION:
        return draws.between(60_000, 200_000) + draws.below(draws.below(1_300_000) + 1)
    median, spread = (SLOW_MEDIAN, 0.35) if is_slow else (500_000 + 45_000 * confirmers, 0.45)
    return min(SLOWEST, draws.around(median, spread))


def _add_views(views: list[dict[str, Any]], view: View, names: dict[str, Any], draws: Draws) -> list[int]:
    """Add a declared view in pre-order with dense ids, and return its ids."""
    if view.each:
        name, source = view.each
        single = view._replace(each=[])
        return [_add_views(views, single, {**names, name: party}, draws)[0] for party in names[source]]
    view_id = len(views)
    confirmers = resolve_parties(view.confirmers, names)
    parties = sorted(set(confirmers))
    threshold = len(parties) - (len(parties) > 1 and draws.chance(BELOW_ALL))
    quorums = [{"parties": parties, "threshold": threshold}]
    second = resolve_parties(view.quorum, names)
    if second or draws.chance(SECOND_QUORUM):
        second = second or confirmers[:1]
        quorums.append({"parties": second, "threshold": len(second)})
    wire_view: dict[str, Any] = {
        "view_id": view_id,
        "informees": sorted({*confirmers, *resolve_parties(view.informees, names)}),
        "confirming_parties": quorums,
        "sub_views": [],
        "view_hash": "",
    }
    views.append(wire_view)
    wire_view["sub_views"] = [child_id for child in view.children for child_id in _add_views(views, child, names, draws)]
    return [view_id]


def traffic_of(draft: DraftTransaction, view_count: int) -> dict[str, Any]:
    """Return the traffic summary of a request, in bytes."""
    costs, draws = list(draft.fixed_costs), draft.draws
    groups = [[view_id] for view_id in range(view_count)]
    if costs:
        groups = list(draft.fixed_views) or [[]] * (len(costs) - view_count) + groups
    else:
        costs = [draws.around(MEDIATOR_MESSAGE, 0.2), draws.around(ROOT_HASH_MESSAGE, 0.1)]
        if draws.chance(ONE_MESSAGE_ONLY):
            costs.pop()
        if view_count > 1 and draws.chance(SHARED_ENVELOPE):
            groups[-2:] = [[view_count - 2, view_count - 1]]
        message_count = len(costs)
        costs += [draws.around(draft.bytes_per_view, 0.35) * len(group) for group in groups]
        groups = [[]] * message_count + groups
    costs = [cost * draft.cost_percent // 100 for cost in costs]
    envelopes = [{"traffic_cost": cost, "view_ids": group} for cost, group in zip(costs, groups, strict=True)]
    return {"total_traffic_cost": sum(costs), "envelope_traffic_summaries": envelopes}
