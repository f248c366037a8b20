"""The world that most tests of the sandbox look at: two days, three thousand events."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Planted, Sandbox
from ledgerframes.sandbox.world import World

EVENTS, DAYS = 3_000, 2


@pytest.fixture
def own_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sandbox makes its own world, which shows that equal figures make equal worlds, and how much is made."""
    monkeypatch.setattr("ledgerframes.sandbox.sandbox.world_of", World)


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


@pytest.fixture(scope="session")
def planted(box: Sandbox) -> dict[str, list[Planted]]:
    """The key of the world, by kind."""
    entries: dict[str, list[Planted]] = {}
    for entry in box.key():
        entries.setdefault(entry.kind, []).append(entry)
    return entries


@pytest.fixture(scope="session")
def by_id(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The first event item of each update id."""
    results: dict[str, dict[str, Any]] = {}
    for item in items:
        results.setdefault((item["verdict"] or item["update"])["update_id"], item)
    return results


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


def cursor_of(item: dict[str, Any]) -> dict[str, Any]:
    """Return the cursor that follows an event item (docs/facts.md#history-paging)."""
    part = item["verdict"] or item["update"]
    migration_id = part["migration_id"] if "migration_id" in part else part["event"]["migration_id"]
    return {"after_migration_id": migration_id, "after_record_time": part["record_time"]}


def read_all(client: httpx.Client, path: str = "/v0/events", page_size: int = 500) -> list[dict[str, Any]]:
    """Return every item of a listing, page after page."""
    results: list[dict[str, Any]] = []
    while True:
        body: dict[str, Any] = {"page_size": page_size}
        if results:
            last = results[-1]
            body["after"] = cursor_of(last if path == "/v0/events" else {"verdict": None, "update": last})
        (page,) = client.post(path, json=body).raise_for_status().json().values()
        results += page
        if len(page) < page_size:
            return results


DELTA, EFFECTS = "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"
PAGE = "/v2/updates/get-updates-page"
ANYBODY: dict[str, Any] = {"filtersForAnyParty": {"cumulative": []}, "verbose": True}


def ledger_of(box: Sandbox, token: str | None = None) -> httpx.Client:
    """Return a client of a sandbox's ledger API, in the process."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.ledger_url, headers=headers)


def wallet_of(box: Sandbox, token: str | None = None) -> httpx.Client:
    """Return a client of a sandbox's wallet API, in the process."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.wallet_url, headers=headers)


def update_format(shape: str = EFFECTS, events: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a format of everything, or of what an event format says."""
    event_format = events or ANYBODY
    return {
        "includeTransactions": {"transactionShape": shape, "eventFormat": event_format},
        "includeReassignments": event_format,
        "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": []}},
    }


def read_pages(client: httpx.Client, size: int = 500, **request: Any) -> list[dict[str, Any]]:
    """Return the pages of a chain up to its end; a tail ends with its first empty page."""
    body = {"updateFormat": update_format(), "maxPageSize": size, **request}
    pages: list[dict[str, Any]] = []
    while True:
        pages.append(client.post(PAGE, json=body).raise_for_status().json())
        body["pageToken"] = pages[-1]["nextPageToken"]
        if not body["pageToken"] or not pages[-1]["updates"]:
            return pages


def updates_of(pages: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return (kind, value) of every update of some pages."""
    results = []
    for page in pages:
        for item in page["updates"]:
            ((kind, wrapped),) = item["update"].items()
            assert set(wrapped) == {"value"}
            results.append((kind, wrapped["value"]))
    return results


@pytest.fixture(scope="session")
def ledger(box: Sandbox) -> httpx.Client:
    """A client of the ledger API, in the process."""
    return ledger_of(box)


@pytest.fixture(scope="session")
def effects(ledger: httpx.Client) -> list[tuple[str, dict[str, Any]]]:
    """Every update of the participant as ledger effects."""
    return updates_of(read_pages(ledger, 2000))


@pytest.fixture(scope="session")
def deltas(ledger: httpx.Client) -> list[tuple[str, dict[str, Any]]]:
    """Every update of the participant as ACS delta."""
    return updates_of(read_pages(ledger, 2000, updateFormat=update_format(DELTA)))


def events_of(value: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return (kind, event) of a transaction."""
    return [next(iter(event.items())) for event in value["events"]]
