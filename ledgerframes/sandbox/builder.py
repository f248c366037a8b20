"""Builder of one slice of the world, its transactions and their events in JSON.

The transactions decide everything: who takes part, which contracts begin and end, the verdict and its cost. They are
built without JSON, which is only written, in one encoding, when somebody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from .cases import draws_of, first_of, is_in_history, is_in_ledger
from .formulas import activity_weights
from .ledger import Node, arrange
from .randomness import Draws, digest
from .schedule import Scheduled
from .script import SCRIPT, STATE_CHANGE
from .timeline import ACCEPTED, PlannedEvent
from .times import instant, six_digits, trimmed
from .transactions.constants import WorldConstants
from .transactions.draft import DraftTransaction, SliceState
from .transactions.kinds import KINDS
from .transactions.payments import carried_contract
from .transactions.trees import TreeWriter
from .values import LEDGER
from .verdicts import alter, request_of, traffic_of, verdict_of

NULL = b"null"
REASSIGNMENT_OFFSET = "000000000000000001"  # a constant on the wire (docs/facts.md#reassignment-item)
LEDGER_ONLY = "unassigned_contract"  # only the ledger API shows it
WITHOUT_TRAFFIC = 0.03  # share of verdicts whose traffic the service does not know
EXTERNALLY_SIGNED = 0.02
LATER_THAN_RECORD_TIME, WHOLE_MILLISECONDS = 0.25, 0.1  # shares of effective times
encode = msgspec.json.Encoder().encode
decode_object = msgspec.json.Decoder(dict[str, Any]).decode


def external_hash(update_id: str) -> str:
    """Return the hash of an update's transaction if it is signed outside the participant."""
    return digest(update_id, size=8) * 4


@dataclass(slots=True)
class Event:
    """One event of the history, with four parts as JSON texts, "null" if absent."""

    update_id: str
    migration_id: int
    record_time: int  # microseconds since 1970
    update: bytes
    verdict: bytes = NULL
    traffic_summary: bytes = NULL
    app_activity_records: bytes = NULL
    is_shown: bool = True  # by the API of its encoding

    def item(self) -> bytes:
        """Return the event item of POST /v0/events, in which all four keys are present."""
        return b'{"update":%b,"verdict":%b,"traffic_summary":%b,"app_activity_records":%b}' % (
            self.update, self.verdict, self.traffic_summary, self.app_activity_records,
        )  # fmt: skip


def build(state: SliceState) -> Iterator[DraftTransaction]:
    """Iterate over the transactions of a slice in order, independently of other slices."""
    schedule = state.constants.schedule
    # Nothing crosses from one migration to the next except what is scheduled.
    if state.number not in (0, schedule.timeline.first_count):
        for index, event in enumerate(schedule.plan(state.number - 1)):
            template = KINDS[event.kind].carries
            if template and event.outcome == ACCEPTED:
                state.pools[template].add(carried_contract(state.constants, template, state.number - 1, index))
    for index, event in enumerate(schedule.plan(state.number)):
        yield _draft(state, index, event)


def _draft(state: SliceState, index: int, planned: PlannedEvent) -> DraftTransaction:
    constants, schedule = state.constants, state.constants.schedule
    if planned.kind == Scheduled.ROUND_TICK:
        effective_at = schedule.effective_at_tick(planned.occurrence)
    elif planned.kind == STATE_CHANGE and planned.member >= 0 and (lead := SCRIPT[planned.member].lead):
        effective_at = planned.time - lead
    else:
        effective_at = _effective_at(planned.time, state.draws)
    draft = DraftTransaction(state, planned, KINDS[planned.kind], index, effective_at)
    if planned.case is not None:
        draft.draws = draws_of(constants.seed, planned, "roles")
    draft.assign_roles()
    if draft.is_visible:
        draft.decide_content()
        # A half of a reassignment has no hash.
        draft.is_signed_outside = "half" not in draft.names and state.draws.chance(EXTERNALLY_SIGNED)
    if planned.time >= schedule.timeline.verdicts_since:
        _decide_verdict(draft)
    return draft


def _decide_verdict(draft: DraftTransaction) -> None:
    """Draw verdict and traffic of a draft, and count its activity."""
    event, seed, totals, round_state = draft.event, draft.constants.seed, draft.state.totals, draft.round_state
    is_planted = event.case is not None
    if is_planted:
        draft.draws = draws_of(seed, event, "verdict")
    draft.request = request = request_of(draft)
    if is_planted:
        draft.draws = draws_of(seed, event, "traffic")
    traffic = traffic_of(draft, len(request.views))
    alter(event, request, traffic, draft.draws)
    if draft.state.draws.chance(WITHOUT_TRAFFIC) and not draft.fixed_costs and not is_planted:
        return
    draft.traffic = traffic
    if first_of(event) is event:  # a second verdict is about the same request
        totals.requests.append((event.time, request.submitter.participant, traffic["total_traffic_cost"]))
    has_records = round_state and round_state.is_complete and request.result == "ACCEPTED"
    if round_state and has_records and request.submitter.participant not in round_state.sv_participants:
        confirmers = {view_id: (*view.confirmers, *view.second) for view_id, view in enumerate(request.views)}
        draft.weights = activity_weights(confirmers, traffic, round_state.featured)
        if is_in_history(event):
            totals.weights[round_state.number].update(draft.weights)


def write(draft: DraftTransaction, constants: WorldConstants) -> Event:
    """Return the event of a draft, in the encoding of some constants."""
    planned, is_for_ledger = draft.event, constants.encoding is LEDGER
    event = Event(draft.update_id, draft.migration_id, planned.time, NULL)
    event.is_shown = is_in_ledger(planned) if is_for_ledger else is_in_history(planned)
    if draft.is_visible:
        event.update = encode(_update(draft, constants))
    if draft.request:
        event.verdict = encode(verdict_of(draft, draft.request))
    if draft.traffic:
        event.traffic_summary = encode(draft.traffic)
    if draft.weights is not None and not is_for_ledger:  # the ledger API has no activity
        records = [{"party": party, "weight": weight} for party, weight in draft.weights.items()]
        event.app_activity_records = encode({"round_number": draft.round_number, "records": records} if records else None)
    return event


def _update(draft: DraftTransaction, constants: WorldConstants) -> dict[str, Any]:
    is_for_ledger = constants.encoding is LEDGER
    record_time = six_digits(draft.event.time)
    writer = TreeWriter(draft, constants)
    if half := draft.names.get("half"):
        event = _half(draft, half, writer.create(half["contract"]), is_for_ledger)
        return {"update_id": draft.update_id, "offset": REASSIGNMENT_OFFSET, "record_time": record_time, "event": event}
    root_ids, nodes = arrange(draft.update_id, writer.nodes(draft.branches()), draft.effective_at, is_for_ledger)
    update = {
        "update_id": draft.update_id,
        "migration_id": draft.migration_id,
        "workflow_id": draft.kind.workflow_id,
        "record_time": record_time,
        "synchronizer_id": draft.parties.synchronizer,
        "effective_at": instant(draft.effective_at),
        "root_event_ids": root_ids,
        "events_by_id": nodes,
    }
    if draft.is_signed_outside:  # without a hash, the key is absent rather than null
        update["external_transaction_hash"] = external_hash(draft.update_id)
    return update


def _half(draft: DraftTransaction, half: dict[str, Any], created: Node, is_for_ledger: bool) -> dict[str, Any]:
    """Return the event of one half of a reassignment."""
    contract = half["contract"]
    created["created_at"] = trimmed(contract.created_at)
    # The two halves have most members in common, in different orders.
    unassign_id, counter = {"unassign_id": half["unassign_id"]}, {"reassignment_counter": half["counter"]}
    target, migration = {"target_synchronizer": half["target"]}, {"migration_id": draft.migration_id}
    shared = {"submitter": contract.owner, "source_synchronizer": half["source"]}
    if half["is_assignment"]:
        created["event_id"] = f"{draft.update_id}:0"
        return {**shared, **target, **migration, **unassign_id, "created_event": created, **counter}
    unassigned = {**shared, **migration, **target, **unassign_id, **counter, "contract_id": contract.identifier}
    return {**unassigned, LEDGER_ONLY: created} if is_for_ledger else unassigned


def _effective_at(record_time: int, draws: Draws) -> int:
    """Return a ledger effective time, mostly before the record time, for a quarter after it."""
    if draws.chance(LATER_THAN_RECORD_TIME):
        effective_at = record_time + draws.below(draws.below(4_300_000) + 1)
    else:
        effective_at = record_time - draws.between(50_000, 1_500_000)
    return effective_at - effective_at % 1000 if draws.chance(WHOLE_MILLISECONDS) else effective_at
