"""Verdicts and traffic costs of requests (docs/facts.md#event-items)."""

from __future__ import annotations

from typing import Any

from .cases import (
    ADDED_TO_TOTAL,
    BEFORE_RECORD_TIME,
    BELOW_ZERO,
    CASES,
    EARLY_VERDICT,
    HEAD_OF_LINE,
    LONGEST_WAIT,
    NEGATIVE_COST,
    OTHER_TOTAL,
    SHORTEST_WAIT,
    UNSPECIFIED,
)  # fmt: skip
from .parties import Party
from .randomness import Draws
from .timeline import ACCEPTED, CONTENTION, PRIVATE, TIMEOUT, PlannedEvent
from .times import SECOND, six_digits
from .transactions.draft import DraftTransaction, Request, RequestView, View, resolve_parties
from .values import Names

TIMEOUT_AFTER = 30 * SECOND
SECOND_QUORUM = 0.12
BELOW_ALL = 0.15  # of the quorums of several, whose threshold is one below their number
JOINT_SUBMISSION = 0.03
SLOW, SLOW_MEDIAN, SLOWEST = 0.13, 9_500_000, 22 * SECOND  # share of slow acceptances, and their microseconds
SLOW_CONFIRMERS_SHARE = 0.6  # of the requests that the slow confirmer takes part in
MEDIATOR_MESSAGE, ROOT_HASH_MESSAGE = 1150, 150  # median bytes of the envelopes without views
ONE_MESSAGE_ONLY = 0.12
SHARED_ENVELOPE = 0.1  # the last two views have the same recipients and share an envelope


def request_of(draft: DraftTransaction) -> Request:
    """Draw who confirms the request of a draft, and when it is decided."""
    views: list[RequestView] = []
    kind, parties, outcome = draft.kind, draft.parties, draft.event.outcome
    roots = [view_id for view in kind.views for view_id in _add_views(views, view, draft.names, draft.draws)]
    confirmers = {party for view in views for party in (*view.confirmers, *view.second)}
    submitter = parties.by_identifier[draft.names[kind.submitter]]
    joint = _joint_submitter(draft, submitter, views[0])
    is_slow = draft.draws.chance(SLOW_CONFIRMERS_SHARE if parties.slow_confirmer.identifier in confirmers else SLOW)
    finalized_at = draft.event.time + _latency(outcome, len(confirmers), is_slow, draft.draws)
    result = "ACCEPTED" if outcome in (ACCEPTED, PRIVATE) else "REJECTED"
    return Request(views, roots, submitter, joint, finalized_at, result)


def verdict_of(draft: DraftTransaction, request: Request) -> dict[str, Any]:
    """Return the verdict of a request."""
    views = [_wire_view(view_id, view) for view_id, view in enumerate(request.views)]
    if draft.event.outcome != PRIVATE:
        # The history service sees what the DSO sees: the DSO is an informee of all it shows.
        views[0]["informees"] = sorted({*views[0]["informees"], draft.parties.dso})
    return {
        "update_id": draft.update_id,
        "migration_id": draft.migration_id,
        "domain_id": draft.parties.synchronizer,
        "record_time": six_digits(draft.event.time),
        "finalization_time": six_digits(request.finalized_at),
        "submitting_parties": [party for party in (request.submitter.identifier, request.joint) if party],
        "submitting_participant_uid": request.submitter.participant,
        "verdict_result": f"VERDICT_RESULT_{request.result}",
        "mediator_group": 0,
        "transaction_views": {"views": views, "root_views": request.roots},
    }


def _wire_view(view_id: int, request_view: RequestView) -> dict[str, Any]:
    quorums = [{"parties": sorted(set(request_view.confirmers)), "threshold": request_view.threshold}]
    if request_view.second:
        quorums.append({"parties": request_view.second, "threshold": len(request_view.second)})
    return {
        "view_id": view_id,
        "informees": sorted({*request_view.confirmers, *request_view.informees}),
        "confirming_parties": quorums,
        "sub_views": request_view.children,
        "view_hash": "",
    }


def _joint_submitter(draft: DraftTransaction, submitter: Party, root_view: RequestView) -> str:
    """Return a second submitting party at the same participant, which some requests have."""
    others = draft.parties.neighbors(submitter)
    if draft.event.outcome == PRIVATE or not others or not draft.draws.chance(JOINT_SUBMISSION):
        return ""
    joint = draft.draws.pick(others).identifier
    if joint not in root_view.confirmers:
        root_view.confirmers.append(joint)
        root_view.threshold += 1
    return joint


def _latency(outcome: str, confirmers: int, is_slow: bool, draws: Draws) -> int:
    """Return the microseconds up to the verdict, which grow with the confirmers."""
    if outcome == TIMEOUT:
        return TIMEOUT_AFTER + draws.between(5, 10_000)
    if outcome == CONTENTION:
        return draws.between(60_000, 200_000) + draws.below(draws.below(1_300_000) + 1)
    median, spread = (SLOW_MEDIAN, 0.35) if is_slow else (500_000 + 45_000 * confirmers, 0.45)
    return min(SLOWEST, draws.around(median, spread))


def _add_views(views: list[RequestView], view: View, names: Names, draws: Draws) -> list[int]:
    """Add a declared view in pre-order with dense ids, and return its ids."""
    if not view.each:
        return [_add_view(views, view, names, draws)]
    (name, source), inner, view_ids = view.each, {**names}, []
    for inner[name] in names[source]:
        view_ids.append(_add_view(views, view, inner, draws))
    return view_ids


def _add_view(views: list[RequestView], view: View, names: Names, draws: Draws) -> int:
    view_id = len(views)
    confirmers = resolve_parties(view.confirmers, names)
    informees = resolve_parties(view.informees, names) if view.informees else []
    count = len(set(confirmers))
    threshold = count - (count > 1 and draws.chance(BELOW_ALL))
    second = resolve_parties(view.quorum, names) if view.quorum else []
    if not second and draws.chance(SECOND_QUORUM):
        second = confirmers[:1]
    children: list[int] = []
    views.append(RequestView(confirmers, informees, threshold, second, children))
    for child in view.children:
        children += _add_views(views, child, names, draws)
    return view_id


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


def alter(event: PlannedEvent, request: Request, traffic: dict[str, Any], draws: Draws) -> None:
    """Change decision and traffic of a planted request as its case has them."""
    kind = CASES[event.case].kind if event.case is not None else ""
    if kind == UNSPECIFIED:
        request.result = "UNSPECIFIED"
    elif kind == EARLY_VERDICT:
        request.finalized_at = event.time - BEFORE_RECORD_TIME
    elif kind == HEAD_OF_LINE and event.member:
        request.finalized_at = event.time + draws.between(SHORTEST_WAIT, LONGEST_WAIT)
    elif kind == OTHER_TOTAL:
        traffic["total_traffic_cost"] += ADDED_TO_TOTAL
    elif kind == NEGATIVE_COST:
        traffic["envelope_traffic_summaries"][-1]["traffic_cost"] -= traffic["total_traffic_cost"] + BELOW_ZERO
        traffic["total_traffic_cost"] = -BELOW_ZERO
