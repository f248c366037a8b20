"""Reassignments between the global synchronizer and an app's own: two halves, each an event of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..draft import Draft, view
from ..ledger import Contract, create
from ..parties import Party
from ..randomness import digest
from ..scene import Scene
from ..times import HOUR, trimmed
from . import tokens

ASSIGNED_FIRST = 0.15
LEDGER_ONLY = "unassigned_contract"  # what only the ledger API tells of an unassignment


@dataclass(slots=True)
class Pending:
    """The half that has not happened yet."""

    owner: Party
    contract: Contract
    unassign_id: str
    source: str
    target: str
    assign: bool
    counter: int


def reassignment(scene: Scene) -> Draft:
    """One half of a reassignment; the other half follows in the slice, and the assignment may come first."""
    waiting: Pending | None = scene.pending_reassignment if scene.visible else None
    half = waiting or _begin(scene)

    def event() -> dict[str, Any]:
        scene.pending_reassignment = None if waiting else _other(half)
        return _assignment(scene, half) if half.assign else _unassignment(scene, half)

    issuer = tokens.issuer_of(scene.scenery).party.identifier
    return Draft(half.owner, [view([half.owner.identifier, issuer])], reassignment=event, bytes_per_view=1000)


def _other(half: Pending) -> Pending:
    return replace(half, assign=not half.assign)


def _begin(scene: Scene) -> Pending:
    """Start a reassignment: a holding of this slice leaves, or one from the app's synchronizer comes."""
    people, draws = scene.people, scene.draws
    held = scene.tokens.any(draws) if scene.visible else None
    if held and held.created_at:
        contract, owner = held, people.by_identifier[held.owner]
        source, target = people.synchronizer, people.app_synchronizer
    else:
        owner = scene.user()
        issuer = tokens.issuer_of(scene.scenery).party.identifier
        contract = tokens.holding_of(scene, owner.identifier, issuer, scene.sum(30))
        contract.created_at = scene.effective_at - draws.between(1, 40) * HOUR
        source, target = people.app_synchronizer, people.synchronizer
    contract.spent = True
    unassign_id = "00" + digest(scene.scenery.seed, "unassign", contract.identifier, size=20)
    assign_first = draws.chance(ASSIGNED_FIRST)
    return Pending(owner, contract, unassign_id, source, target, assign_first, draws.between(1, 4))


def _unassignment(scene: Scene, half: Pending) -> dict[str, Any]:
    created = create(half.contract)
    created["created_at"] = trimmed(half.contract.created_at)
    return {
        "submitter": half.owner.identifier,
        "source_synchronizer": half.source,
        "migration_id": scene.migration_id,
        "target_synchronizer": half.target,
        "unassign_id": half.unassign_id,
        "reassignment_counter": half.counter,
        "contract_id": half.contract.identifier,
        LEDGER_ONLY: created,
    }


def _assignment(scene: Scene, half: Pending) -> dict[str, Any]:
    created = create(half.contract)
    created["event_id"] = f"{scene.update_id}:0"
    created["created_at"] = trimmed(half.contract.created_at)
    return {
        "submitter": half.owner.identifier,
        "source_synchronizer": half.source,
        "target_synchronizer": half.target,
        "migration_id": scene.migration_id,
        "unassign_id": half.unassign_id,
        "created_event": created,
        "reassignment_counter": half.counter,
    }
