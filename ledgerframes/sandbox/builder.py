"""Builder of one slice of the world, from planned events to event items in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from .cases import alter, draws_of, first_of, is_in_history, is_in_ledger
from .formulas import activity_records
from .ledger import arrange
from .randomness import Draws, digest
from .script import SCRIPT, STATE_CHANGE
from .timeline import ACCEPTED, PlannedEvent
from .times import instant, six_digits
from .transactions.declarations import KINDS, Kind
from .transactions.draft import DraftTransaction, SliceState
from .transactions.kinds import assign_roles, build_tree
from .transactions.payments import LEDGER_ONLY, carried_contract
from .values import LEDGER
from .verdicts import traffic_of, verdict_of

NULL = b"null"
REASSIGNMENT_OFFSET = "000000000000000001"  # a constant on the wire (docs/facts.md#reassignment-item)
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


def build(state: SliceState) -> list[Event]:
    """Return the events of a slice in order, independently of other slices."""
    schedule = state.constants.schedule
    # Nothing crosses from one migration to the next except what is scheduled.
    if state.number not in (0, schedule.timeline.first_count):
        for index, event in enumerate(schedule.plan(state.number - 1)):
            template = KINDS[event.kind].carries
            if template and event.outcome == ACCEPTED:
                state.pools[template].add(carried_contract(state.constants, template, state.number - 1, index))
    return [_event(state, index, event) for index, event in enumerate(schedule.plan(state.number))]


def _event(state: SliceState, index: int, planned: PlannedEvent) -> Event:
    draft = _draft(state, index, planned)
    kind = assign_roles(draft)
    update = encode(_update(draft, kind)) if draft.is_visible else NULL
    is_shown = is_in_ledger(planned) if state.constants.encoding is LEDGER else is_in_history(planned)
    event = Event(draft.update_id, draft.migration_id, planned.time, update, is_shown=is_shown)
    if planned.time >= state.constants.schedule.timeline.verdicts_since:
        _add_verdict(event, draft, kind)
    return event


def _draft(state: SliceState, index: int, planned: PlannedEvent) -> DraftTransaction:
    """Return the draft of a planned event, without its roles."""
    constants, schedule = state.constants, state.constants.schedule
    if planned.kind == "round tick":
        effective_at = schedule.effective_at_tick(planned.occurrence)
    elif planned.kind == STATE_CHANGE and planned.member >= 0 and (lead := SCRIPT[planned.member].lead):
        effective_at = planned.time - lead
    else:
        effective_at = _effective_at(planned.time, state.draws)
    first = first_of(planned)  # of two events with one update id
    position = (state.number, index) if first is planned else schedule.position_of(first)
    draft = DraftTransaction(state, planned, index, constants.identifiers.at(*position), effective_at)
    if planned.case is not None:
        draft.draw_from(draws_of(constants.seed, planned, "roles"))
    return draft


def _update(draft: DraftTransaction, kind: Kind) -> dict[str, Any]:
    is_for_ledger = draft.constants.encoding is LEDGER
    record_time = six_digits(draft.event.time)
    roots = build_tree(draft, kind)
    if half := draft.names.get("half"):
        if not is_for_ledger:
            half.pop(LEDGER_ONLY, None)
        return {"update_id": draft.update_id, "offset": REASSIGNMENT_OFFSET, "record_time": record_time, "event": half}
    root_ids, nodes = arrange(draft.update_id, roots, draft.effective_at, is_for_ledger)
    update = {
        "update_id": draft.update_id,
        "migration_id": draft.migration_id,
        "workflow_id": kind.workflow_id,
        "record_time": record_time,
        "synchronizer_id": draft.parties.synchronizer,
        "effective_at": instant(draft.effective_at),
        "root_event_ids": root_ids,
        "events_by_id": nodes,
    }
    if draft.state.draws.chance(EXTERNALLY_SIGNED):  # without a hash, the key is absent rather than null
        update["external_transaction_hash"] = external_hash(draft.update_id)
    return update


def _add_verdict(event: Event, draft: DraftTransaction, kind: Kind) -> None:
    """Add verdict, traffic and activity to an event."""
    constants, round_state, is_planted = draft.constants, draft.round_state, draft.event.case is not None
    if is_planted:
        draft.draw_from(draws_of(constants.seed, draft.event, "verdict"))
    verdict = verdict_of(draft, kind)
    if is_planted:
        draft.draw_from(draws_of(constants.seed, draft.event, "traffic"))
    traffic = traffic_of(draft, len(verdict["transaction_views"]["views"]))
    alter(draft.event, verdict, traffic, draft.draws)
    event.verdict = encode(verdict)
    if draft.state.draws.chance(WITHOUT_TRAFFIC) and not draft.fixed_costs and not is_planted:
        return
    event.traffic_summary = encode(traffic)
    if first_of(draft.event) is draft.event:  # a second verdict is about the same request
        request = (draft.event.time, verdict["submitting_participant_uid"], traffic["total_traffic_cost"])
        draft.state.totals.requests.append(request)
    if round_state and round_state.is_complete:
        records = activity_records(verdict, traffic, round_state.number, round_state.featured, round_state.sv_participants)
        if constants.encoding is not LEDGER:  # the ledger API has no activity
            event.app_activity_records = encode(records)
        for record in records["records"] if records and is_in_history(draft.event) else ():
            draft.state.totals.weights[round_state.number][record["party"]] += record["weight"]


def _effective_at(record_time: int, draws: Draws) -> int:
    """Return a ledger effective time, mostly before the record time, for a quarter after it."""
    if draws.chance(LATER_THAN_RECORD_TIME):
        effective_at = record_time + draws.below(draws.below(4_300_000) + 1)
    else:
        effective_at = record_time - draws.between(50_000, 1_500_000)
    return effective_at - effective_at % 1000 if draws.chance(WHOLE_MILLISECONDS) else effective_at
