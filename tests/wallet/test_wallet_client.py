"""The wallet's operations, and the frame of the offers made here."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from virtual_clock import VirtualClock
from wallet_service import OFFER, TOKEN, Connect, WalletService

import ledgerframes as lf
from ledgerframes.datasets.offers.schema import TRANSFER_OFFERS
from ledgerframes.errors import (
    BusyError,
    ConflictError,
    DecodeError,
    InternalServerError,
    NotFoundError,
    OfferUnresolvedError,
    UsageError,
    WrongUrlError,
)
from ledgerframes.loaders.offers import load_transfer_offers

Answers = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(scope="module")
def recorded(fixtures: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((fixtures / "made" / "wallet_transfer_offers.json").read_text())
    return content


def answering(connect: Connect, content: object, status: int = 200, asked: list[httpx.Request] | None = None) -> lf.Network:
    def handler(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        return httpx.Response(status, content=b"" if content is None else json.dumps(content).encode())

    return connect(transport=httpx.MockTransport(handler), retries=0)


def test_a_wrong_base_url_says_nothing_about_an_offer(connect: Connect) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404, text="The requested resource could not be found.")

    wallet = connect(transport=httpx.MockTransport(handler), retries=0).wallet
    with pytest.raises(OfferUnresolvedError, match=r"outcome of offer .* is unknown"):
        wallet.offer_transfer(**OFFER)
    (before,) = wallet.journal.offers()
    assert (before.status, before.open_attempts) == ("pending", 1)
    with pytest.raises(WrongUrlError, match="is not the base URL of a wallet API"):
        wallet.refresh()
    assert wallet.journal.offers() == [before]


def test_a_user_without_a_wallet_does_not_make_a_url_wrong(connect: Connect) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/version"):
            return httpx.Response(200, json={"version": "0.7.4"})
        return httpx.Response(404, json={"error": "No wallet found for this user"})

    with pytest.raises(NotFoundError, match="No wallet found") as caught:
        connect(transport=httpx.MockTransport(handler), retries=0).wallet.balance()
    assert not isinstance(caught.value, WrongUrlError)


# -- operations -------------------------------------------------------------------------------------------------------


def test_each_operation_has_its_method_and_path(connect: Connect, recorded: dict[str, Any]) -> None:
    for call, content, method, path in [
        (
            lambda w: w.offer_status("t 1/ü"),
            recorded["status_created"],
            "POST",
            "/transfer-offers/t%201%2F%C3%BC/status",
        ),
        (lambda w: w.offers(), recorded["list_200"], "GET", "/transfer-offers"),
        (lambda w: w.accepted_offers(), {"accepted_offers": []}, "GET", "/accepted-transfer-offers"),
        (lambda w: w.accept("00ab"), recorded["accept_200"], "POST", "/transfer-offers/00ab/accept"),
        (lambda w: w.reject("00ab"), None, "POST", "/transfer-offers/00ab/reject"),
        (lambda w: w.withdraw("00ab"), None, "POST", "/transfer-offers/00ab/withdraw"),
    ]:
        asked: list[httpx.Request] = []
        call(answering(connect, content, asked=asked).wallet)
        assert [(r.method, r.url.raw_path.decode(), r.content) for r in asked] == [
            (method, f"/api/validator/v0/wallet{path}", b"")
        ]
        assert asked[0].headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("name", ["status_created", "status_accepted", "status_completed", "status_failed"])
def test_every_status_is_read(connect: Connect, recorded: dict[str, Any], name: str) -> None:
    status = answering(connect, recorded[name]).wallet.offer_status("t-1")
    members = ("status", "transaction_id", "contract_id", "failure_kind", "withdrawn_reason")
    assert {member: getattr(status, member) for member in members} == {member: recorded[name].get(member) for member in members}


def test_offers_are_read_whole(connect: Connect, recorded: dict[str, Any]) -> None:
    (offer,) = answering(connect, recorded["list_200"]).wallet.offers()
    assert offer.payload.amount.amount == Decimal("5.0")
    assert (offer.payload.tracking_id, offer.payload.expires_at) == ("t-1", "2026-02-01T00:00:00Z")
    recorded["list_200"]["offers"][0]["payload"]["novelty"] = 1
    (offer,) = answering(connect, recorded["list_200"]).wallet.offers()
    assert json.loads(bytes(offer.payload.extra)) == {"novelty": 1}


def test_an_accepted_offer_has_no_description(connect: Connect, recorded: dict[str, Any]) -> None:
    contract = json.loads(json.dumps(recorded["list_200"]["offers"][0]))
    del contract["payload"]["description"]
    (offer,) = answering(connect, {"accepted_offers": [contract]}).wallet.accepted_offers()
    assert offer.payload.description is None


def test_the_balance_is_exact(net: lf.Network) -> None:
    balance = net.wallet.balance()
    assert (balance.round, balance.effective_unlocked_qty) == (7, Decimal("12345678901234567.0000000001"))
    assert balance.effective_locked_qty == 0


def test_a_malformed_answer_names_the_place(connect: Connect) -> None:
    with pytest.raises(DecodeError) as caught:
        answering(connect, {"offers": [{"template_id": 7}]}).wallet.offers()
    assert caught.value.json_path.startswith("$.offers")


@pytest.mark.parametrize(
    ("status", "kind"), [(404, NotFoundError), (409, ConflictError), (429, BusyError), (500, InternalServerError)]
)
def test_writes_are_sent_once(connect: Connect, status: int, kind: type[Exception]) -> None:
    for write in (
        lambda w: w.accept("00ab"),
        lambda w: w.reject("00ab"),
        lambda w: w.withdraw("00ab"),
        lambda w: w.create_offer(receiver_party_id="b", amount="1", description="d", expires_at=1, tracking_id="t"),
    ):
        asked: list[httpx.Request] = []
        with pytest.raises(kind):
            write(answering(connect, {"error": "no"}, status, asked).wallet)
        assert len(asked) == 1


def test_the_status_is_asked_again_on_what_may_pass(net: lf.Network, service: WalletService) -> None:
    net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    service.status_plan = ["500", "drop", "429"]
    assert net.wallet.offer_status("t-1").status == "created"


@pytest.mark.parametrize(("status", "kind"), [(429, BusyError), (500, InternalServerError)])
def test_the_status_is_not_waited_for_beyond_the_minutes_of_the_user(
    connect: Connect, clock: VirtualClock, status: int, kind: type[Exception]
) -> None:
    answer = httpx.Response(status, headers={"Retry-After": "7200"})
    with pytest.raises(kind):
        connect(transport=httpx.MockTransport(lambda _: answer), max_wait_minutes=1).wallet.offer_status("t-1")
    assert clock.time == 1000


@pytest.mark.parametrize("contract_id", ["", ".", ".."])
def test_what_names_no_offer_is_not_sent(net: lf.Network, service: WalletService, contract_id: str) -> None:
    for call in (net.wallet.accept, net.wallet.reject, net.wallet.withdraw, net.wallet.offer_status):
        with pytest.raises(UsageError, match="must be text that a URL path can contain"):
            call(contract_id)
    assert service.requests == []


def test_a_token_that_the_service_quotes_is_not_shown(connect: Connect) -> None:
    with pytest.raises(ConflictError) as caught:
        answering(connect, {"error": f"bad token {TOKEN}"}, 409).wallet.accept("00ab")
    assert TOKEN not in str(caught.value) + caught.value.detail


# -- the frame --------------------------------------------------------------------------------------------------------


def test_no_offers_give_the_empty_frame(net: lf.Network, service: WalletService) -> None:
    frame = load_transfer_offers(net)
    assert len(frame) == 0
    assert list(frame.columns) == list(TRANSFER_OFFERS.column_names)
    assert dict(frame.dtypes.astype(str)) == dict(TRANSFER_OFFERS.empty().dtypes.astype(str))
    assert service.requests == []
    assert not net.local_dir.exists()


def test_the_frame_is_the_journal_with_status(net: lf.Network, service: WalletService) -> None:
    for tracking_id in ("t-1", "t-2", "t-3"):
        net.wallet.offer_transfer(**OFFER, tracking_id=tracking_id)
    service.post_plan = ["drop before"] * 9
    with pytest.raises(OfferUnresolvedError):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-4")
    service.statuses["t-2"] = {"status": "completed", "transaction_id": "1220cc", "contract_id": "00c0"}
    service.statuses["t-3"] = {"status": "failed", "failure_kind": "withdrawn", "withdrawn_reason": "out of funds"}
    sent = len(service.posts)

    unasked = load_transfer_offers(net, refresh=False).set_index("tracking_id")
    assert list(unasked["status"]) == ["created"] * 3 + ["pending"]
    frame = load_transfer_offers(net).set_index("tracking_id")
    assert list(frame["status"]) == ["created", "completed", "failed", "pending"]
    assert frame.loc["t-3", ["failure_kind", "withdrawn_reason", "contract_id"]].tolist() == [
        "withdrawn",
        "out of funds",
        "000003",
    ]
    assert frame["amount"].sum() == Decimal("20")
    assert str(frame["amount"].dtype) == "decimal128(38, 10)[pyarrow]"
    assert frame.loc["t-1", "expires_at"] == OFFER["expires_at"]
    assert dict(frame.dtypes.astype(str)) == dict(TRANSFER_OFFERS.empty().set_index("tracking_id").dtypes.astype(str))
    assert len(service.posts) == sent, "reading the frame sent an offer"


def test_finished_offers_are_not_asked_about(net: lf.Network, service: WalletService) -> None:
    net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    service.statuses["t-1"] = {"status": "completed", "transaction_id": "1220cc", "contract_id": "00c0"}
    load_transfer_offers(net)
    asked = len(service.requests)
    load_transfer_offers(net)
    assert len(service.requests) == asked


def test_an_unreadable_status_is_an_error_with_the_place(net: lf.Network, service: WalletService) -> None:
    net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    service.statuses["t-1"] = {"status": 7}
    with pytest.raises(DecodeError) as caught:
        load_transfer_offers(net)
    assert caught.value.json_path == "$.status"
