"""Finding contracts of the world that are known by name, where they were created."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from .ledger import Contract
from .randomness import digest
from .timeline import SECOND_MIGRATION
from .world import World

read = msgspec.json.Decoder(dict[str, Any]).decode


class Lookup:
    """Reads contracts out of the world; each is looked for once.

    Parameters
    ----------
    world
        The world.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[str, dict[str, Any]] = {}

    def contract(self, contract: Contract, time: int) -> dict[str, Any]:
        """Return a contract as the history API's reference operations show it.

        Parameters
        ----------
        contract
            The contract, of which only the id is looked at.
        time
            Record time of the transaction that created it, microseconds since 1970.
        """
        name = contract.identifier
        if name not in self._known:
            self._known[name] = wire_contract(self._created(name, time))
        return self._known[name]

    def _created(self, contract_id: str, time: int) -> dict[str, Any]:
        timeline = self._world.timeline
        migration = SECOND_MIGRATION if time >= timeline.switch else SECOND_MIGRATION - 1
        mark = contract_id.encode()
        for event in self._world.slice(timeline.number_at(migration, time)):
            if mark in event.update:
                for node in read(event.update)["events_by_id"].values():
                    if node["contract_id"] == contract_id and "created_at" in node:
                        return dict(node)
        raise LookupError(f"the world does not create {contract_id} at {time}")


def wire_contract(created: dict[str, Any]) -> dict[str, Any]:
    """Return the five fields of a contract (docs/facts.md#contract-object)."""
    return {
        "template_id": created["template_id"],
        "contract_id": created["contract_id"],
        "payload": created["create_arguments"],
        "created_event_blob": blob(created["contract_id"]),
        "created_at": created["created_at"],
    }


def blob(contract_id: str) -> str:
    """Return the opaque bytes of a contract in base64: made up, but the same each time."""
    raw = b"".join(bytes.fromhex(digest("blob", contract_id, part, size=64)) for part in range(4))
    return base64.b64encode(raw).decode()
