"""Which versions a network met, and which this release was tried with."""

from __future__ import annotations

import inspect
from pathlib import Path

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.api.versions import TRIED, is_newer
from ledgerframes.sandbox import Sandbox


def test_the_sandbox_speaks_versions_that_were_tried() -> None:
    assert inspect.signature(Sandbox).parameters["history_version"].default in TRIED["history"]
    assert inspect.signature(Sandbox).parameters["ledger_version"].default in TRIED["ledger"]


@pytest.mark.parametrize(
    ("version", "newer"),
    [("3.5.99", False), ("3.4.0", False), ("3.7.4", False), ("3.8.0", True), ("3.10.0", True), ("4.0", True), ("main", False)],
)
def test_a_newer_version_has_a_later_release(version: str, newer: bool) -> None:
    assert is_newer("ledger", version) is newer
    assert TRIED["ledger"][-1] == "3.7"


def test_a_network_tells_the_versions_of_the_hosts_that_it_asked(tmp_path: Path) -> None:
    with lf.connect("sandbox", events=400, days=1, store=tmp_path) as net:
        assert net.versions() == {}
        net.ledger.ledger_end()
        assert net.versions() == {"ledger": {"sandbox.invalid": "3.5.14"}}
        net.history.events(page_size=1)
        assert net.versions()["history"] == {"sandbox.invalid": "0.7.4"}


@pytest.mark.parametrize("answer", [httpx.Response(404), httpx.Response(200, text="<html>"), httpx.Response(200, json=[1])])
def test_a_host_that_does_not_tell_is_left_out(answer: httpx.Response, tmp_path: Path) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"events": []}) if request.url.path.endswith("/events") else answer

    net = lf.connect("sandbox", history_url="http://one.invalid", transport=httpx.MockTransport(handler), store=tmp_path)
    net.history.events(page_size=1)
    assert net.versions() == {"history": {}}
