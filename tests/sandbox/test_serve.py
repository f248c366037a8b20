"""The sandbox on a port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from servers import served

from ledgerframes.sandbox import Faults, Sandbox

from .conftest import DAYS, EVENTS

BULK = {"start_record_time": "2026-11-01T00:00:00Z", "end_record_time": "2026-11-09T00:00:00Z", "page_size": 99}


@contextmanager
def connected(box: Sandbox) -> Iterator[httpx.Client]:
    with served(box) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}/api/scan", trust_env=False) as client:
        yield client


@pytest.mark.loopback
def test_a_served_sandbox_answers_as_the_one_in_the_process(box: Sandbox, client: httpx.Client) -> None:
    with connected(box) as remote:
        assert remote.get("/readyz").status_code == 200
        body = {"page_size": 50}
        assert remote.post("/v0/events", json=body).content == client.post("/v0/events", json=body).content


@pytest.mark.loopback
def test_a_dropped_connection_is_a_closed_socket() -> None:
    with connected(Sandbox(1, EVENTS, DAYS, faults=Faults(dropped_connections=1))) as remote:
        with pytest.raises(httpx.RemoteProtocolError):
            remote.post("/v0/events", json={"page_size": 5})
        assert remote.get("/readyz").status_code == 200


@pytest.mark.loopback
def test_a_truncated_body_ends_early() -> None:
    with (
        connected(Sandbox(1, EVENTS, DAYS, faults=Faults(truncated_bodies=1))) as remote,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        remote.post("/v0/events", json={"page_size": 5})


@pytest.mark.loopback
def test_all_apis_are_served_under_their_prefixes() -> None:
    box = Sandbox(1, EVENTS, DAYS)
    with connected(box) as remote:
        root = str(remote.base_url).removesuffix("/api/scan/")
        assert remote.get(f"{root}/api/ledger/v2/state/ledger-end").json() == {"offset": box.ledger.end()}
        assert remote.get(f"{root}/api/validator/v0/wallet/transfer-offers").json() == {"offers": []}
        ref = remote.post("/v0/history/bulk/updates", json=BULK).json()["object_refs"][0]
        assert ref["url"].startswith(root)
        assert remote.get(ref["url"]).content == box.bulk.get(box.bulk.keys(box.bulk.folders()[0])[0])


@pytest.mark.loopback
def test_a_drop_after_the_effect_is_a_closed_socket() -> None:
    box = Sandbox(1, EVENTS, DAYS, faults=Faults(dropped_after_write=1))
    with connected(box) as remote:
        root = str(remote.base_url).removesuffix("/api/scan/")
        with pytest.raises(httpx.RemoteProtocolError):
            remote.post(f"{root}/api/ledger/v2/parties", json={"partyIdHint": "zora"})
    assert len(box.writes) == 1
