"""A member that this release does not know is not lost, wherever in a response it stands."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pandas as pd
import pytest
from cases import only

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.frames import Frames
from ledgerframes.loaders.executors import processes
from ledgerframes.sandbox import Faults, Sandbox

DAY = {"since": "2026-11-08", "until": "2026-11-09"}
HOURS = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T12:00:00Z"}
MAPS = {"events_by_id"}  # whose keys are data


def checksums(net: lf.Network) -> Any:
    listing = net.history.bulk_updates(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))
    keys = [unquote(ref.url.partition("/download/")[2]) for ref in listing.object_refs[:2]]
    return listing, net.history.bulk_checksums(keys)


LOADS: dict[str, Callable[[lf.Network], Any]] = {
    "events": lambda net: lf.load_events(net, **DAY),
    "updates": lf.load_updates,
    "parties": lf.load_parties,
    "packages": lf.load_packages,
    "synchronizers": lf.load_synchronizers,
    "completions": lf.load_completions,
    "active contracts": lf.load_active_contracts,
    "price votes": lf.load_price_votes,
    "name rules": lf.load_name_rules,
    "checksums": checksums,
    "ledger end": lambda net: net.ledger.ledger_end(),
    "pruned offsets": lambda net: net.ledger.latest_pruned_offsets(),
    "participant": lambda net: net.ledger.participant_id(),
    "version": lambda net: net.ledger.version(),
    "package status": lambda net: net.ledger.package_status("ab"),
    "balance": lambda net: net.wallet.balance(),
    "offers": lambda net: net.wallet.offers(),
}


class Additions(httpx.BaseTransport):
    """The sandbox of a newer release, with one more member in every object of every response."""

    def __init__(self, box: Sandbox) -> None:
        self.inner = in_process(box.app)
        self.is_version = False  # a load that only asks for the version does not keep its features
        self.added: dict[str, str] = {}  # value by operation and path

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self.inner.handle_request(request)
        response.read()
        if response.status_code != 200 or "json" not in response.headers.get("content-type", ""):
            return response
        if request.url.path.endswith("/version") and not self.is_version:
            return response
        content = self.extended(json.loads(response.content), f"{request.method} {request.url.path}")
        return httpx.Response(200, json=content)

    def extended(self, value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self.extended(item, f"{path}[]") for item in value]
        if not isinstance(value, dict):
            return value
        name = path.rpartition(".")[2]
        content = {key: self.extended(item, f"{path}.{'*' if name in MAPS else key}") for key, item in value.items()}
        if name in MAPS:
            return content
        return {**content, "mood": self.added.setdefault(path, f"new-{zlib.crc32(path.encode())}-value")}


def text_of(result: Any) -> str:
    """All that a result has, as text."""
    if isinstance(result, Frames):
        result = [result.read(name) for name in result.tables]
    if isinstance(result, pd.DataFrame):
        return " ".join(str(value) for column in result for value in result[column].dropna())
    return " ".join(map(text_of, result)) if isinstance(result, list | tuple) else repr(result)


def connect(box: Sandbox, transport: httpx.BaseTransport, store: Path, **options: Any) -> lf.Network:
    return lf.connect(
        "sandbox", history_url=box.history_url, ledger_url=box.ledger_url, wallet_url=box.wallet_url, token=box.token,
        transport=transport, requests_per_second=0, store=store, **options,
    )  # fmt: skip


@pytest.mark.parametrize("name", only(lambda name: name in ("updates", "packages", "name rules"), LOADS))
def test_the_value_of_a_new_member_is_found_wherever_it_stands(name: str, tmp_path: Path) -> None:
    box = Sandbox(events=320, days=1)
    transport = Additions(box)
    transport.is_version = name == "version"
    with connect(box, transport, tmp_path) as net:
        result = LOADS[name](net)
    text = f"{text_of(result)} {net.extra_members}"
    assert transport.added
    assert {path for path, value in transport.added.items() if f"{value}" not in text} == set()


@pytest.mark.parametrize("load", [lf.load_updates, lf.load_price_votes, lf.load_parties])
def test_a_new_member_around_rows_need_not_be_utf8(load: Callable[[lf.Network], Any], tmp_path: Path) -> None:
    box = Sandbox(events=320, days=1)
    inner = in_process(box.app)

    def answer(request: httpx.Request) -> httpx.Response:
        content = inner.handle_request(request).read()
        is_object = content.startswith(b"{") and not request.url.path.endswith("/version")
        return httpx.Response(200, content=b'{"mood":"\xe9",' + content[1:] if is_object else content)

    with connect(box, httpx.MockTransport(answer), tmp_path) as net:
        load(net)
    assert set(net.extra_members.values()) == {'"\ufffd"'}


def test_a_cache_hit_repeats_the_new_members_of_the_name_rules(tmp_path: Path) -> None:
    box = Sandbox(events=320, days=1)
    for hour in (10, 11):
        with connect(box, Additions(box), tmp_path) as net:
            net._clock = lambda hour=hour: datetime(2026, 11, 8, hour, tzinfo=UTC)
            rules = lf.load_name_rules(net)
    assert rules["cache_hit"].tolist() == [False, True]
    assert rules["extra"].notna().all()
    assert rules["extra"].nunique() == 1


def test_new_members_of_what_is_empty_are_kept(tmp_path: Path) -> None:
    """Neither an empty topology event nor an empty entry of the active contracts is a row."""
    box = Sandbox(events=320, days=1)
    empty = {"Empty": {"value": {"mood": "inner"}, "mood": "outer"}}

    class Emptied(httpx.BaseTransport):
        inner = in_process(box.app)

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = self.inner.handle_request(request)
            content = json.loads(response.read() or b"null")
            for item in content.get("updates", ()) if isinstance(content, dict) else ():
                if "TopologyTransaction" in item["update"]:
                    item["update"]["TopologyTransaction"]["value"]["events"].append({"event": empty})
            if isinstance(content, dict) and content.get("activeContracts"):
                content["activeContracts"].append({"contractEntry": {"JsEmpty": {"mood": "of no contract"}}})
            return httpx.Response(response.status_code, json=content)

    net = connect(box, Emptied(), tmp_path)
    text = text_of(lf.load_updates(net))
    assert "inner" in text and "outer" in text
    lf.load_active_contracts(net)
    path = "POST /v2/state/active-contracts-page.activeContracts[...].contractEntry.JsEmpty.mood"
    assert net.extra_members == {path: '"of no contract"'}


@pytest.mark.exhaustive
def test_values_outlive_the_connections_and_do_not_depend_on_pages(tmp_path: Path) -> None:
    box, frames, members = Sandbox(events=320, days=1), [], []
    for size in (20, 1000):
        with connect(box, Additions(box), tmp_path / str(size), page_size=size) as net:
            frames.append(text_of(lf.load_events(net, **HOURS)))
        members.append(net.extra_members)
    assert frames[0] == frames[1] and members[0] == members[1] != {}


def test_new_members_beside_no_completion_are_kept_and_those_of_rows_are_not_kept_twice(tmp_path: Path) -> None:
    box = Sandbox(events=600, days=1)
    empty = {"completionResponse": {"Empty": {"value": {"mood": "inner"}}, "mood": "outer"}, "mood": "outermost"}

    class Emptied(httpx.BaseTransport):
        inner = in_process(box.app)

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = self.inner.handle_request(request)
            content = json.loads(response.read() or b"null")
            if request.url.path.endswith("/command-completions") and content:
                for item in content:
                    item |= {"mood": "of a row"} if "Completion" in item["completionResponse"] else {}
                content.append(empty)
            return httpx.Response(response.status_code, json=content)

    net = connect(box, Emptied(), tmp_path)
    assert "of a row" in text_of(lf.load_completions(net))
    item = "POST /v2/commands/command-completions.[...]"
    assert net.extra_members == {
        f"{item}.mood": '"outermost"',
        f"{item}.completionResponse.mood": '"outer"',
        f"{item}.completionResponse.Empty.value.mood": '"inner"',
    }


@pytest.mark.exhaustive
def test_workers_return_the_new_members_that_they_met(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    faults = Faults(unknown_members=1)

    def load(store: Path, executor: Executor | None) -> dict[str, str]:
        net = lf.connect("sandbox", events=400, days=1, faults=faults, store=store)
        lf.load_events(net, **HOURS, executor=executor)
        lf.load_updates(net, page_size=200, executor=executor)
        return net.extra_members

    expected = load(tmp_path / "here", None)
    assert {"POST /v0/events.sandbox_extension", "POST /v2/updates/get-updates-page.sandbox_extension"} <= expected.keys()
    caplog.clear()
    with processes(1) as pool:
        assert load(tmp_path / "there", pool) == expected
    assert "POST /v2/updates/get-updates-page.sandbox_extension" in caplog.text
