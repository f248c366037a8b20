"""Snapshots and holdings: the requests as they are sent, pages of either version, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest
from answering import Handler, answering

import ledgerframes as lf
from ledgerframes.api.history import History
from ledgerframes.api.history_snapshots import HostChangedError
from ledgerframes.errors import DecodeError, NotFoundError, UnsupportedOperationError, UsageError
from ledgerframes.values.windows import instant

TIME, TEXT = instant("2026-11-09"), "2026-11-09T00:00:00Z"
UNKNOWN = httpx.Response(404, text="The requested resource could not be found.")
Json = dict[str, Any]


def history(handler: Handler, *hosts: str) -> History:
    urls = [f"http://{host}.invalid/api" for host in hosts or ("one",)]
    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", history_url=urls, transport=transport, requests_per_second=0, retries=0).history


def contract(number: int) -> Json:
    return {
        "contract_id": f"00{number:02x}", "template_id": "p:M:E", "package_name": "p", "create_arguments": {},
        "created_at": TEXT, "signatories": [], "observers": [],
    }  # fmt: skip


def page(*numbers: int, token: Any = None, **members: Any) -> Json:
    content: Json = {"record_time": TEXT, "migration_id": 4, "created_events": [contract(number) for number in numbers]}
    return {**content, **({} if token is None else {"next_page_token": token}), **members}


def service(version: str, paths: dict[str, list[Json]], seen: list[httpx.Request] | None = None) -> Handler:
    """A service of a version, with the pages of each path that it has."""

    def handler(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api")
        if path == "/version":
            return httpx.Response(200, json={"version": version}) if version else httpx.Response(404)
        if path == "/v0/coin-price/votes":  # which every version has
            return httpx.Response(200, json={"coin_price_votes": []})
        if seen is not None:
            seen.append(request)
        return httpx.Response(200, json=paths[path].pop(0)) if paths.get(path) else UNKNOWN

    return handler


SENT: list[tuple[Callable[[History], Any], str, Json, Json]] = [
    (
        lambda it: it.contracts_page(4, TIME, templates=["p:M:E"], parties=["a"], after="dG9rZW4=", page_size=7),
        "/v2/state/acs",
        {"templates": ["p:M:E"], "party_ids": ["a"], "after": "dG9rZW4=", "page_size": 7},
        page(),
    ),
    (lambda it: it.contracts_page(4, TIME), "/v2/state/acs", {"page_size": 1000}, page()),
    (lambda it: it.contracts_page_v1(4, TIME, after=12), "/v1/state/acs", {"after": 12, "page_size": 1000}, page()),
    (
        lambda it: it.holdings_page(4, TIME, owners=["a"], after="x"),
        "/v2/holdings/state",
        {"owner_party_ids": ["a"], "after": "x", "page_size": 1000},
        page(),
    ),
    (
        lambda it: it.holdings_page_v1(4, TIME, owners=["a", "b"], page_size=1),
        "/v1/holdings/state",
        {"owner_party_ids": ["a", "b"], "page_size": 1},
        page(),
    ),
    (
        lambda it: it.holdings_summary(4, TIME, owners=("a",)),
        "/v1/holdings/summary",
        {"owner_party_ids": ["a"]},
        {"record_time": TEXT, "migration_id": 4, "summaries": []},
    ),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("call", "path", "body", "answer"), SENT, ids=lambda value: value if isinstance(value, str) else "")
def test_bodies_as_sent(call: Callable[[History], Any], path: str, body: Json, answer: Json) -> None:
    seen: list[httpx.Request] = []
    call(history(answering(answer, seen)))
    assert (seen[0].method, seen[0].url.path) == ("POST", f"/api{path}")
    assert json.loads(seen[0].content) == {"migration_id": 4, "record_time": TEXT, **body}


def test_queries_as_sent() -> None:
    seen: list[httpx.Request] = []
    client = history(answering({"record_time": TEXT}, seen))
    assert client.snapshot_time(instant("2026-11-09T01:02:03.4Z"), 4) == TEXT
    assert client.next_snapshot_time(TIME, 0) == TEXT
    assert [(request.url.path, dict(request.url.params)) for request in seen] == [
        ("/api/v0/state/acs/snapshot-timestamp", {"before": "2026-11-09T01:02:03.400000Z", "migration_id": "4"}),
        ("/api/v0/state/acs/snapshot-timestamp-after", {"after": TEXT, "migration_id": "0"}),
    ]


def test_integers_of_a_frame_are_sent_as_numbers() -> None:
    seen: list[httpx.Request] = []
    client = history(answering(page(), seen))
    client.snapshot_time(TIME, np.int64(4))
    client.contracts_page(np.int64(4), TIME, page_size=np.int64(7))
    assert seen[0].url.params["migration_id"] == "4"
    assert json.loads(seen[-1].content).items() >= {"migration_id": 4, "page_size": 7}.items()


@pytest.mark.parametrize(
    "call",
    [
        lambda it: it.contracts_page(4, TIME, page_size=0),
        lambda it: it.contracts_page(4, TIME, page_size=1001),
        lambda it: it.contracts_page(4, TIME, templates="p:M:E"),
        *(
            lambda it, name=name: it.contracts_page(4, TIME, templates=[name])
            for name in ("p:M.E", "M.N:E", f"{'ab' * 32}:M:E", f"#{'ab' * 32}:M:E", "p:M:E:F", "p:M:", 7)
        ),
        lambda it: it.contracts_page(4, TIME, parties=[""]),
        lambda it: it.contracts_page(-1, TIME),
        lambda it: it.contracts_page(True, TIME),
        lambda it: it.contracts_page(4, "soon"),
        lambda it: it.holdings_page(4, TIME, owners=[]),
        lambda it: it.holdings_summary(4, TIME, owners="a"),
        lambda it: it.snapshot_time(TIME, "4"),
        lambda it: it.snapshot_time(TIME.replace(tzinfo=None), 4),
    ],
)
def test_bad_arguments_are_refused_before_they_are_sent(call: Callable[[History], Any]) -> None:
    with pytest.raises(UsageError, match=r"\w+= must|has no time zone"):
        call(history(lambda _: pytest.fail("sent")))


@pytest.mark.parametrize(
    ("version", "path"),
    [("0.7.4", "/v1/state/acs"), ("0.8.0", "/v2/state/acs"), ("0.10.2", "/v2/state/acs"), ("", "/v1/state/acs")],
)
def test_the_version_of_the_service_chooses_the_listing(version: str, path: str) -> None:
    seen: list[httpx.Request] = []
    token: Any = 2 if path[2] == "1" else "Mg=="
    pages = [page(1, 2, token=token), page(3)]
    client = history(service(version, {path: pages}, seen))
    found = [each.contract_id for some in client.contract_pages(4, TIME, page_size=2) for each in some]
    assert found == ["0001", "0002", "0003"]
    assert [request.url.path for request in seen] == [f"/api{path}"] * 2
    assert json.loads(seen[1].content)["after"] == token


@pytest.mark.parametrize(("version", "path"), [("", "/v2/state/acs"), ("0.7.9", "/v2/state/acs"), ("0.8.0", "/v1/state/acs")])
def test_a_service_with_only_the_other_listing_is_read_as_well(version: str, path: str) -> None:
    client = history(service(version, {path: [page(1)]}))
    assert [each.contract_id for some in client.contract_pages(4, TIME) for each in some] == ["0001"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("version", "call", "text"),
    [
        ("0.7.4", lambda it: it.contracts_page(4, TIME), r"requires history API 0\.8\.0, but one\.invalid runs 0\.7\.4"),
        ("0.9.0", lambda it: it.contracts_page_v1(4, TIME), r"was removed in history API 0\.9\.0.*Use contracts_page instead"),
        ("0.6.0", lambda it: it.update_by_hash("ab"), r"requires history API 0\.6\.1, but one\.invalid runs 0\.6\.0"),
        ("0.8.1", lambda it: it.contracts_page(4, TIME), "supports contracts_page .* the route was not found"),
        ("", lambda it: it.contracts_page(4, TIME), "its version is unknown"),
        ("0.7.4", lambda it: list(it.contract_pages(4, TIME)), r"contracts_page .* requires history API 0\.8\.0"),
    ],
)
def test_a_version_without_the_operation_is_named(version: str, call: Callable[[History], Any], text: str) -> None:
    with pytest.raises(UnsupportedOperationError, match=text) as caught:
        call(history(service(version, {})))
    assert caught.value.actual_version == version


def test_an_unknown_snapshot_is_no_unknown_route() -> None:
    with pytest.raises(NotFoundError, match="no snapshot") as caught:
        history(answering({"error": "no snapshot"}, [], 404)).contracts_page(4, TIME)
    assert not isinstance(caught.value, UnsupportedOperationError)


def test_another_host_does_not_continue_a_listing() -> None:
    pages = {"one.invalid": [page(1, token=1)], "two.invalid": [page(2)]}

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/version"):
            return httpx.Response(200, json={"version": "0.7.4"})
        left = pages[request.url.host]
        return httpx.Response(200, json=left.pop()) if left else httpx.Response(503)

    with pytest.raises(HostChangedError, match=r"two\.invalid continued a listing of one\.invalid"):
        list(history(handler, "one", "two").contract_pages(4, TIME))


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ([page(record_time="2026-11-09T03:00:00Z")], "returned the snapshot of migration 4 at 2026-11-09T03:00:00Z"),
        ([page(migration_id=3)], "returned the snapshot of migration 3"),
        ([page(record_time="soon")], "no time"),
        ([page(1, token=1), page(2, token=1)], "the token of an earlier page"),
        ([page(1, token=1), page(1, token=2)], "the same page twice"),
        ([{"created_events": []}], "record_time"),
        ([page(created_events=None)], "created_events"),
        ([[]], "array"),
    ],
)
def test_malformed_pages(answers: list[Any], text: str) -> None:
    with pytest.raises(DecodeError, match=text):
        list(history(service("0.7.4", {"/v1/state/acs": answers})).contract_pages(4, TIME))


def test_unknown_members_around_contracts_are_kept() -> None:
    client = history(service("0.7.4", {"/v1/state/acs": [page(1, cursor="x")]}))
    list(client.contract_pages(4, TIME))
    assert list(client.extra_members) == ["POST /v1/state/acs.cursor"]


def test_holdings_of_either_version_and_their_sums() -> None:
    summary = {"party_id": "a", "total_unlocked_coin": "1.5", "total_locked_coin": "0E-10", "total_coin_holdings": "1.5"}
    answers = {
        "/v2/holdings/state": [page(1)],
        "/v1/holdings/summary": [{"record_time": TEXT, "migration_id": 4, "summaries": [summary]}],
    }
    client = history(service("0.8.0", answers))
    assert [len(some) for some in client.holding_pages(4, TIME, owners=["a"])] == [1]
    (found,) = client.holdings_summary(4, TIME, owners=["a"])
    assert (found.party_id, found.total_coin_holdings) == ("a", "1.5")
