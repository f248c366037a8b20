from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from answering import Handler, answering

import ledgerframes as lf
from ledgerframes.api.history import Cursor, History
from ledgerframes.api.transport import in_process
from ledgerframes.errors import (
    BadRequestError,
    DecodeError,
    InternalServerError,
    NotFoundError,
    ServiceError,
    UsageError,
    WrongUrlError,
)
from ledgerframes.sandbox import Sandbox


def network(handler: Handler, **overrides: Any) -> lf.Network:
    transport = httpx.MockTransport(handler)
    urls = {"history_url": "http://one.invalid/api", **overrides}
    return lf.connect("sandbox", transport=transport, requests_per_second=0, **urls)


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({}, {}),  # a body is needed even so (docs/facts.md#body-required)
        (
            {"cached_contract_id": "00aa", "cached_domain_id": "global::12"},
            {"cached_ans_rules_contract_id": "00aa", "cached_ans_rules_domain_id": "global::12"},
        ),
    ],
)
def test_name_rules_as_sent(arguments: dict[str, str], sent: dict[str, str]) -> None:
    seen: list[httpx.Request] = []
    network(answering({"ans_rules_update": {"domain_id": "d"}}, seen)).history.name_rules(**arguments)
    assert (seen[0].method, seen[0].url.path) == ("POST", "/api/v0/ans-rules")
    assert json.loads(seen[0].content) == sent


def test_name_rules_fresh_and_cached(fixtures: Path) -> None:
    recorded = json.loads((fixtures / "made" / "scan_ans_rules.json").read_text())
    fresh = network(answering(recorded["fresh"], [])).history.name_rules()
    expected = recorded["fresh"]["ans_rules_update"]
    assert fresh.contract is not None
    assert (fresh.contract.contract_id, fresh.domain_id) == (expected["contract"]["contract_id"], expected["domain_id"])
    assert msgspec.json.decode(fresh.contract.payload) == expected["contract"]["payload"]
    assert network(answering(recorded["cached_hit"], [])).history.name_rules("00aa").contract is None


@pytest.mark.parametrize(("vocabulary", "coin"), [("neutral", "coin"), ("canton", "amulet")])
def test_price_votes_use_the_networks_word(vocabulary: str, coin: str) -> None:
    seen: list[httpx.Request] = []
    net = network(answering({f"{coin}_price_votes": []}, seen), vocabulary=vocabulary)
    assert net.history.price_votes() == []
    assert (seen[0].method, seen[0].url.path) == ("GET", f"/api/v0/{coin}-price/votes")


def test_price_votes_as_published(fixtures: Path) -> None:
    recorded = json.loads((fixtures / "made" / "scan_amulet_price_votes.json").read_text())
    votes = network(answering(recorded, []), vocabulary="canton").history.price_votes()
    assert [vote.contract_id for vote in votes] == [vote["contract_id"] for vote in recorded["amulet_price_votes"]]
    assert (
        msgspec.json.decode(votes[1].payload)["amuletPrice"] is None
    )  # a new voter has none (docs/facts.md#price-vote-without-price)
    with pytest.raises(DecodeError, match=r"coin_price_votes is missing, got amulet_price_votes\. Check vocabulary="):
        network(answering(recorded, [])).history.price_votes()


def test_unknown_members_of_a_contract_are_kept() -> None:
    contract = {"template_id": "t", "contract_id": "c", "payload": {}, "created_at": "2026-01-01T00:00:00Z", "new": 1}
    (vote,) = network(answering({"coin_price_votes": [contract]}, [])).history.price_votes()
    assert msgspec.json.decode(vote.extra) == {"new": 1}
    assert vote.created_event_blob is None


def test_a_bulk_key_is_one_segment_of_the_path() -> None:
    seen: list[httpx.Request] = []
    key = "2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd"
    assert network(answering(b"\x28\xb5\x2f\xfd", seen)).history.bulk_object(key) == b"\x28\xb5\x2f\xfd"
    segment = b"2026-01-29T00%3A00%3A00Z%7E2026-01-30T00%3A00%3A00Z%2Fupdates_compact_json_0.zstd"
    assert seen[0].url.raw_path == b"/api/v0/history/bulk/download/" + segment


@pytest.mark.parametrize("key", ["", ".", ".."])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="object_key= must be text"):
        network(lambda _: pytest.fail("sent")).history.bulk_object(key)


@pytest.mark.parametrize(("status", "kind"), [(404, NotFoundError), (400, BadRequestError), (500, InternalServerError)])
def test_refusals(status: int, kind: type[Exception]) -> None:
    history = network(lambda _: httpx.Response(status, json={"error": "it is so"}), retries=0).history
    for call in (history.name_rules, history.price_votes, lambda: history.bulk_object("key")):
        with pytest.raises(kind, match="it is so"):
            call()  # type: ignore[operator]


@pytest.mark.parametrize("content", [{}, {"ans_rules_update": None}, {"ans_rules_update": {"contract": {}}}, []])
def test_malformed_name_rules(content: Any) -> None:
    with pytest.raises(DecodeError, match="ans-rules"):
        network(answering(content, [])).history.name_rules()


def test_the_traffic_of_a_member() -> None:
    seen: list[httpx.Request] = []
    status = {"actual": {"total_consumed": 300, "total_limit": 1000}, "target": {"total_purchased": 1500, "new": 1}}
    found = network(answering({"traffic_status": status}, seen)).history.traffic_status("global::12", "PAR::node::1220aa")
    path = "/api/v0/domains/global%3A%3A12/members/PAR%3A%3Anode%3A%3A1220aa/traffic-status"
    assert (seen[0].method, seen[0].url.raw_path.decode()) == ("GET", path)
    assert (found.actual.total_consumed, found.actual.total_limit, found.target.total_purchased) == (300, 1000, 1500)
    assert found.balance == 700
    assert msgspec.json.decode(found.target.extra) == {"new": 1}


def test_the_serial_of_the_synchronizer() -> None:
    seen: list[httpx.Request] = []
    assert network(answering({"serial": 35}, seen)).history.synchronizer_serial() == 35
    assert (seen[0].method, seen[0].url.path) == ("GET", "/api/v0/active-synchronizer-serial")
    with pytest.raises(NotFoundError):
        network(answering({"error": "none"}, [], 404)).history.synchronizer_serial()


def download(history: History) -> Any:
    return history.bulk_download("k", Path("never written"))


@pytest.mark.parametrize("knowing", ["one.invalid", "two.invalid", "none"])
def test_an_update_is_looked_up_by_hash_on_every_host(knowing: str) -> None:
    box = Sandbox(events=400, days=1)
    served, asked = in_process(box.app), []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        if request.url.host != knowing:
            return httpx.Response(404, json={"error": "Transaction with hash ab not found"})
        path = request.url.raw_path.decode().removeprefix("/api")
        return served.handle_request(httpx.Request(request.method, f"{box.history_url}{path}"))

    updates = lf.connect("sandbox", history_url=box.history_url, transport=served, requests_per_second=0).history.updates()
    transaction_hash = next(update.external_transaction_hash for update in updates if update.external_transaction_hash)
    history = network(handler, history_url=["http://one.invalid/api", "http://two.invalid/api"]).history
    if knowing == "none":
        with pytest.raises(NotFoundError, match="with hash ab not found"):
            history.update_by_hash(transaction_hash)
    else:
        assert history.update_by_hash(transaction_hash).external_transaction_hash == transaction_hash
    assert asked == ["one.invalid", "two.invalid"][: 1 if knowing == "one.invalid" else 2]


@pytest.mark.parametrize(
    "look_up", [lambda it: it.update("ab"), lambda it: it.event("ab"), lambda it: it.bulk_object("k"), download]
)
def test_what_the_first_host_does_not_have_yet_is_looked_up_on_the_next(
    look_up: Callable[[History], Any], caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[httpx.Request] = []
    urls = ["http://one.invalid/api", "http://two.invalid/api"]
    with pytest.raises(NotFoundError):
        look_up(network(answering({"error": "not found"}, seen, 404), history_url=urls).history)
    assert [request.url.host for request in seen] == ["one.invalid", "two.invalid"]
    assert "host_failed" not in caplog.text, "an unknown id is no failure of a host"


@pytest.mark.parametrize(
    "record_time",
    [
        "2026-11-08T15:00:00Z",
        datetime(2026, 11, 8, 15, tzinfo=UTC),
        datetime(2026, 11, 8, 20, tzinfo=timezone(timedelta(hours=5))),
    ],
)
def test_a_position_of_any_zone_is_sent_in_utc(record_time: Any) -> None:
    assert Cursor(4, record_time).as_json()["after_record_time"] == "2026-11-08T15:00:00.000000Z"


@pytest.mark.parametrize("record_time", [datetime(2026, 11, 8), "noon", None])
def test_a_position_without_a_time_zone_is_refused(record_time: Any) -> None:
    seen: list[httpx.Request] = []
    with pytest.raises(UsageError, match="record_time="):
        network(answering({}, seen)).history.updates(Cursor(4, record_time))
    assert not seen


@pytest.mark.parametrize("status", [401, 403])
def test_the_history_asks_for_no_token(status: int) -> None:
    with pytest.raises(ServiceError, match=r": no\. The history API takes no token: ask the operator to admit this address"):
        network(answering({"error": "no"}, [], status), retries=0).history.events()


def test_the_base_of_a_wallet_is_not_that_of_the_history() -> None:
    """Both have a version, but only one of them has a balance."""

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/version":
            return httpx.Response(200, json={"version": "0.7.4"})
        return httpx.Response(401 if request.url.path == "/v0/wallet/balance" else 404)

    with pytest.raises(WrongUrlError, match="is not the base URL of a history API"):
        network(handler).history.events()
