"""The world that most tests of the sandbox look at: two days, three thousand events."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox

EVENTS, DAYS = 3_000, 2


@pytest.fixture(scope="session")
def box() -> Sandbox:
    """A sandbox that behaves well."""
    return Sandbox(seed=1, events=EVENTS, days=DAYS)


@pytest.fixture(scope="session")
def items(box: Sandbox) -> list[dict[str, Any]]:
    """Every event item of the world, in its order."""
    return [json.loads(event.item()) for event in box.world.events()]


@pytest.fixture(scope="session")
def updates(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every transaction that the history shows."""
    return [item["update"] for item in items if item["update"] and "events_by_id" in item["update"]]


@pytest.fixture
def client(box: Sandbox) -> httpx.Client:
    """A client of the history API, in the process."""
    return client_of(box)


def client_of(box: Sandbox) -> httpx.Client:
    """Return a client of a sandbox's history API, in the process."""
    return httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.history_url)


def nodes_of(update: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a transaction in pre-order."""
    nodes = update["events_by_id"].values()
    return sorted(nodes, key=lambda node: int(node["event_id"].rpartition(":")[2]))


def place_of(item: dict[str, Any]) -> dict[str, Any]:
    """Return the cursor that follows an event item (wire facts 5.2)."""
    part = item["verdict"] or item["update"]
    migration_id = part["migration_id"] if "migration_id" in part else part["event"]["migration_id"]
    return {"after_migration_id": migration_id, "after_record_time": part["record_time"]}


def read_all(client: httpx.Client, path: str = "/v0/events", page_size: int = 500) -> list[dict[str, Any]]:
    """Return every item of a listing, page after page."""
    found: list[dict[str, Any]] = []
    while True:
        body: dict[str, Any] = {"page_size": page_size}
        if found:
            last = found[-1]
            body["after"] = place_of(last if path == "/v0/events" else {"verdict": None, "update": last})
        (page,) = client.post(path, json=body).raise_for_status().json().values()
        found += page
        if len(page) < page_size:
            return found
