"""Requests that the history shows only the verdict of: what their informees see of them."""

from __future__ import annotations

from typing import Any

from ..builder import Event
from ..identifiers import contract_id
from ..randomness import digest, number
from ..times import instant, six_digits, trimmed

PACKAGE = digest("package", "meadow-settlement")
NAME = "meadow-settlement"
BEFORE_RECORDED = 380_000  # microseconds from effective to record time


def private_update(
    event: Event, submitters: list[str], transaction_views: dict[str, Any], synchronizer: str, seed: int
) -> dict[str, Any]:
    """Return the transaction behind a private verdict, written as the history writes others.

    Parameters
    ----------
    event
        The event, of which the history has no update.
    submitters, transaction_views
        From its verdict: the operator who submits, and the views with the customers in them.
    synchronizer
        Id of the synchronizer.
    seed
        Seed of the world.
    """
    operator, views = submitters[0], transaction_views["views"]
    customers = [party for party in views[0]["informees"] if party != operator]
    effective_at = event.record_time - BEFORE_RECORDED
    identifier = event.update_id
    nodes: list[dict[str, Any]] = []
    agreements = []
    for position, customer in enumerate(customers):
        cid = contract_id("private", identifier, position)
        agreements.append(cid)
        nodes.append(_agreement(cid, operator, customer, identifier, position, effective_at))
    root = {
        "event_type": "exercised_event",
        "event_id": f"{identifier}:0",
        "contract_id": contract_id(seed, "lasting", "venue", operator),
        "template_id": f"{PACKAGE}:Meadow.Settlement.Venue:Venue",
        "package_name": NAME,
        "choice": "Venue_Agree",
        "choice_argument": {"customers": customers},
        "child_event_ids": [node["event_id"] for node in nodes],
        "exercise_result": agreements,
        "consuming": False,
        "acting_parties": [operator],
        "interface_id": None,
        "stakeholders": [[operator], []],
    }
    return {
        "update_id": identifier,
        "migration_id": event.migration_id,
        "workflow_id": "",
        "record_time": six_digits(event.record_time),
        "synchronizer_id": synchronizer,
        "effective_at": instant(effective_at),
        "root_event_ids": [root["event_id"]],
        "events_by_id": {node["event_id"]: node for node in (root, *nodes)},
    }


def _agreement(identifier: str, operator: str, customer: str, update_id: str, position: int, effective_at: int) -> dict[str, Any]:
    cents = number("private sum", update_id, position) % 1_000_000
    return {
        "event_type": "created_event",
        "event_id": f"{update_id}:{position + 1}",
        "contract_id": identifier,
        "template_id": f"{PACKAGE}:Meadow.Settlement.Trade:Trade",
        "package_name": NAME,
        "create_arguments": {
            "buyer": customer,
            "seller": operator,
            "venue": operator,
            "price": f"{cents // 100}.{cents % 100:02d}00000000",
        },
        "created_at": trimmed(effective_at),
        "signatories": sorted({operator, customer}),
        "observers": [],
    }
