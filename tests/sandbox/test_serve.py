"""The sandbox on a port."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.sandbox.serve import make_server

from .conftest import DAYS, EVENTS


@contextmanager
def served(box: Sandbox) -> Iterator[httpx.Client]:
    server = make_server(box, port=0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.effective_port}/api/scan", trust_env=False) as client:
            yield client
    finally:
        # The workers end first, then the loop closes its own sockets: nobody is left to use a closed one.
        server.task_dispatcher.shutdown()
        server.trigger.pull_trigger(server.close)
        thread.join(5)
        assert not thread.is_alive()


@pytest.mark.loopback
def test_a_served_sandbox_answers_as_the_one_in_the_process(box: Sandbox, client: httpx.Client) -> None:
    with served(box) as remote:
        assert remote.get("/readyz").status_code == 200
        body = {"page_size": 50}
        assert remote.post("/v0/events", json=body).content == client.post("/v0/events", json=body).content


@pytest.mark.loopback
def test_a_dropped_connection_is_a_closed_socket() -> None:
    with served(Sandbox(1, EVENTS, DAYS, faults=Faults(dropped_connections=1))) as remote:
        with pytest.raises(httpx.RemoteProtocolError):
            remote.post("/v0/events", json={"page_size": 5})
        assert remote.get("/readyz").status_code == 200


@pytest.mark.loopback
def test_a_truncated_body_ends_early() -> None:
    with (
        served(Sandbox(1, EVENTS, DAYS, faults=Faults(truncated_bodies=1))) as remote,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        remote.post("/v0/events", json={"page_size": 5})
