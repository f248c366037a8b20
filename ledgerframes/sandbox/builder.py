"""Builds one slice of the world: plan and drafts become event items, already encoded as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from . import transactions
from .activity import activity_records
from .draft import Draft
from .identifiers import UpdateIds
from .ledger import arrange
from .plan import ACCEPTED, REJECTED, Entry, Planner
from .randomness import Draws, number
from .reference import Reference
from .rounds import FIRST_ROUND
from .scene import Scene, Scenery
from .timeline import Timeline
from .times import instant, six_digits
from .traffic import traffic_of
from .transactions.reassignments import LEDGER_ONLY
from .values import LEDGER
from .verdicts import verdict_of

NULL = b"null"
REASSIGNMENT_OFFSET = "000000000000000001"  # a constant on the wire (docs/facts.md#reassignment-item)
UNJOINED = 0.03  # share of verdicts whose traffic the service has not found
EXTERNALLY_SIGNED = 0.02
LATER_THAN_RECORDED, WHOLE_MILLISECONDS = 0.25, 0.1  # shares of effective times
encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Event:
    """One event of the history; its four parts are JSON texts, "null" where there is nothing."""

    update_id: str
    migration_id: int
    record_time: int  # microseconds since 1970
    update: bytes
    verdict: bytes = NULL
    traffic_summary: bytes = NULL
    app_activity_records: bytes = NULL

    def item(self) -> bytes:
        """Return the event item as POST /v0/events lists it: four keys, always present."""
        return b'{"update":%b,"verdict":%b,"traffic_summary":%b,"app_activity_records":%b}' % (
            self.update, self.verdict, self.traffic_summary, self.app_activity_records,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Bytes of its four texts."""
        return len(self.update) + len(self.verdict) + len(self.traffic_summary) + len(self.app_activity_records)

    def update_only(self) -> bytes:
        """Return the event item before the verdict has arrived."""
        return Event(self.update_id, self.migration_id, self.record_time, self.update).item()


class Builder:
    """Builds slices, each on its own.

    Parameters
    ----------
    seed
        Seed of the world.
    timeline, planner, reference
        Its time, its plans, and the state that activity is computed against.
    identifiers
        Its update ids.
    """

    def __init__(self, seed: int, timeline: Timeline, planner: Planner, reference: Reference, identifiers: UpdateIds) -> None:
        self._seed = seed
        self._timeline = timeline
        self._planner = planner
        self._reference = reference
        self._identifiers = identifiers

    def build(self, slice_number: int, scenery: Scenery) -> list[Event]:
        """Return the events of a slice, in order."""
        draws = Draws(number(self._seed, "slice", slice_number))
        scene = Scene(scenery, slice_number, draws)
        scene.migration_id = self._timeline.slice(slice_number).migration_id
        # Nothing crosses from one migration to the next, except what the schedule carries.
        if slice_number not in (0, self._timeline.first_count):
            transactions.leave(scene, slice_number - 1, self._planner.plan(slice_number - 1))
        entries = self._planner.plan(slice_number)
        return [self._event(scene, index, entry) for index, entry in enumerate(entries)]

    def _event(self, scene: Scene, index: int, entry: Entry) -> Event:
        self._set(scene, index, entry)
        draft = transactions.DRAFTS[entry.kind](scene)
        update = encode(self._update(scene, draft)) if scene.visible else NULL
        event = Event(scene.update_id, scene.migration_id, entry.time, update)
        if entry.time >= self._planner.verdicts_since:
            self._judge(event, scene, entry, draft)
        return event

    def _set(self, scene: Scene, index: int, entry: Entry) -> None:
        """Set the clock, the identity and the fate of the next event."""
        state = self._reference.round_at(entry.time)
        scene.index = index
        scene.update_id = self._identifiers.at(scene.slice_number, index)
        scene.record_time = entry.time
        scene.member, scene.occurrence = entry.member, entry.occurrence
        scene.visible, scene.rejected = entry.outcome == ACCEPTED, entry.outcome in REJECTED
        scene.round_number = state.number if state else FIRST_ROUND
        scene.featured = state.featured if state else {}
        if entry.kind == "round tick":
            scene.effective_at = scene.scenery.rounds.effective_at_tick(entry.occurrence)
        else:
            scene.effective_at = _effective_at(entry.time, scene.draws)

    def _update(self, scene: Scene, draft: Draft) -> dict[str, Any]:
        for_ledger = scene.value is LEDGER
        if draft.reassignment:
            half = draft.reassignment()
            if not for_ledger:
                half.pop(LEDGER_ONLY, None)
            return {
                "update_id": scene.update_id,
                "offset": REASSIGNMENT_OFFSET,
                "record_time": six_digits(scene.record_time),
                "event": half,
            }
        roots = draft.tree() if draft.tree else []
        root_ids, nodes = arrange(scene.update_id, roots, scene.effective_at, for_ledger)
        update = {
            "update_id": scene.update_id,
            "migration_id": scene.migration_id,
            "workflow_id": draft.workflow_id,
            "record_time": six_digits(scene.record_time),
            "synchronizer_id": scene.people.synchronizer,
            "effective_at": instant(scene.effective_at),
            "root_event_ids": root_ids,
            "events_by_id": nodes,
        }
        if scene.draws.chance(EXTERNALLY_SIGNED):  # the key is left out, not null, when there is no hash
            update["external_transaction_hash"] = f"{number(scene.update_id):016x}" * 4
        return update

    def _judge(self, event: Event, scene: Scene, entry: Entry, draft: Draft) -> None:
        """Add verdict, traffic and activity to an event."""
        identity = event.update_id, event.migration_id
        verdict = verdict_of(*identity, scene.people, entry.time, entry.outcome, draft, scene.draws)
        event.verdict = encode(verdict)
        if scene.draws.chance(UNJOINED) and not draft.fixed_costs:
            return
        traffic = traffic_of(draft, len(verdict["transaction_views"]["views"]), scene.draws)
        event.traffic_summary = encode(traffic)
        state = self._reference.round_at(entry.time)
        if state and state.complete and scene.value is not LEDGER:  # the ledger tells nothing of activity
            records = activity_records(verdict, traffic, state.number, state.featured, state.sv_participants)
            event.app_activity_records = encode(records)


def _effective_at(record_time: int, draws: Draws) -> int:
    """Return a ledger effective time: mostly a little before the record time, a quarter of them after it."""
    if draws.chance(LATER_THAN_RECORDED):
        effective_at = record_time + draws.below(draws.below(4_300_000) + 1)
    else:
        effective_at = record_time - draws.between(50_000, 1_500_000)
    return effective_at - effective_at % 1000 if draws.chance(WHOLE_MILLISECONDS) else effective_at
