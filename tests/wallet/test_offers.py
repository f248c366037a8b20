"""Transfer offers are made exactly once, whatever fails."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from wallet_service import EXPIRY, NOW, OFFER, OFFERS, POST_FAULTS, Connect, WalletService, jwt, offers_wallet

import ledgerframes as lf
from ledgerframes.errors import (
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    OfferUnresolvedError,
    UsageError,
)
from ledgerframes.values.extents import microseconds
from ledgerframes.wallet import Journal

# -- all is well ------------------------------------------------------------------------------------------------------


def test_an_offer_reaches_the_wallet_as_the_order_says(net: lf.Network, service: WalletService) -> None:
    offer = net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert json.loads(service.posts[0]) == {
        "receiver_party_id": "bob::1220bb",
        "amount": "5.0",
        "description": "lunch",
        "expires_at": 4102488000123457,
        "tracking_id": "t-1",
    }
    assert (offer.tracking_id, offer.status, offer.contract_id, offer.amount) == ("t-1", "created", "000001", Decimal("5.0"))
    assert offer.expires_at == EXPIRY
    assert [change.description for change in net.wallet.journal.history("t-1")] == [
        "recorded",
        "attempt started",
        "wallet reported the status",
    ]


def test_a_tracking_id_is_made_when_none_is_given(net: lf.Network, service: WalletService) -> None:
    ids = {net.wallet.offer_transfer(**OFFER).tracking_id for _ in range(3)}
    assert len(ids) == 3
    assert {offer["tracking_id"] for offer in service.made} == ids


def test_it_is_in_the_journal_before_it_is_sent(net: lf.Network, service: WalletService) -> None:
    seen: list[tuple[str, int]] = []

    def hook(when: str, tracking_id: str) -> None:
        offer = Journal(net.local_dir).get(tracking_id)
        seen.append((offer.status, offer.open_attempts))

    service.hook = hook
    net.wallet.offer_transfer(**OFFER)
    assert seen[0] == ("pending", 1)


def test_expires_in_counts_from_the_first_call(service: WalletService, tmp_path: Path) -> None:
    offer = {**OFFER, "expires_at": None, "expires_in": timedelta(hours=2), "tracking_id": "t-1"}
    first = offers_wallet(service, tmp_path).offer_transfer(**offer)
    later = offers_wallet(service, tmp_path, NOW + timedelta(days=1)).offer_transfer(**offer)
    assert first.expires_at == later.expires_at == NOW + timedelta(hours=2)
    assert json.loads(service.posts[0])["expires_at"] == microseconds(NOW + timedelta(hours=2))
    assert len(service.posts) == 1


# -- a tracking id used twice -----------------------------------------------------------------------------------------


def test_same_contents_give_the_same_offer(net: lf.Network, connect: Connect, service: WalletService) -> None:
    first = net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    again = connect().wallet.offer_transfer(**{**OFFER, "amount": 5}, tracking_id="t-1")
    assert again == first
    assert len(service.posts) == 1


@pytest.mark.parametrize(
    ("other", "names"),
    [
        ({"receiver": "carol::1220cc"}, "receiver"),
        ({"amount": Decimal("5.1")}, "amount"),
        ({"description": "dinner"}, "description"),
        ({"expires_at": EXPIRY + timedelta(microseconds=1)}, "expires_at"),
        ({"expires_at": None, "expires_in": timedelta(days=1)}, "expires_in"),
    ],
)
def test_other_contents_are_an_error_before_anything_is_sent(
    net: lf.Network, service: WalletService, other: dict[str, Any], names: str
) -> None:
    service.post_plan = ["400 before"]
    with pytest.raises(OfferUnresolvedError):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    with pytest.raises(UsageError, match=f"another {names}"):
        net.wallet.offer_transfer(**{**OFFER, **other}, tracking_id="t-1")
    assert len(service.posts) == 1


def test_two_threads_with_one_tracking_id_make_one_offer(connect: Connect, service: WalletService) -> None:
    nets = [connect() for _ in range(8)]
    start = threading.Barrier(len(nets))
    results: list[object] = []

    def offer(net: lf.Network) -> None:
        start.wait()
        results.append(net.wallet.offer_transfer(**OFFER, tracking_id="t-1").contract_id)

    threads = [threading.Thread(target=offer, args=[net]) for net in nets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["000001"] * len(nets)
    assert len(service.made) == 1


def test_an_offer_made_elsewhere_is_taken_over_only_with_the_same_contents(
    net: lf.Network, connect: Connect, service: WalletService
) -> None:
    elsewhere = connect(network="elsewhere")
    for number in (1, 2):
        elsewhere.wallet.offer_transfer(**OFFER, tracking_id=f"t-{number}")
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").contract_id == "000001"
    other = {**OFFER, "amount": 6}
    for call in (lambda: net.wallet.offer_transfer(**other, tracking_id="t-2"), lambda: net.wallet.resume("t-2")):
        with pytest.raises(OfferUnresolvedError, match=r"used elsewhere, for an offer of 5\.0 to bob::1220bb") as caught:
            call()
        assert (caught.value.outcome, net.wallet.journal.get("t-2").status) == ("refused", "refused")
    assert len(service.made) == 2


def test_another_wallet_does_not_get_the_same_offer(net: lf.Network, connect: Connect, service: WalletService) -> None:
    service.post_plan = ["drop before"] * 20
    with pytest.raises(OfferUnresolvedError):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    sent = len(service.requests)
    for other in ({"wallet_url": "http://other.invalid"}, {"token": jwt("carol")}):
        with pytest.raises(UsageError, match="belongs to another wallet"):
            connect(**other).wallet.resume("t-1")
        assert connect(**other).wallet.resume_all() == []
    assert len(service.requests) == sent


# -- failures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [fault for fault in POST_FAULTS if fault != "ok"])
def test_one_failure_is_overcome(net: lf.Network, service: WalletService, fault: str) -> None:
    service.post_plan = [fault]
    service.ingest = 2
    offer = net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert (offer.status, service.count("t-1")) == ("created", 1)
    assert offer.contract_id == "000001"


def test_429_is_the_same_request_again(net: lf.Network, service: WalletService) -> None:
    service.post_plan = ["429 before"] * 4
    net.wallet.offer_transfer(**OFFER)
    assert len(set(service.posts)) == 1
    assert len(service.posts) == 5
    assert len(service.requests) == 6, "and the offers, to compare the terms"


def test_tries_are_bounded_by_the_limits(connect: Connect, service: WalletService) -> None:
    service.post_plan = ["429 before"] * 99
    with pytest.raises(OfferUnresolvedError):
        connect(retries=2).wallet.offer_transfer(**OFFER)
    assert len(service.posts) == 3


def test_409_asks_the_status_and_returns_the_outcome(net: lf.Network, service: WalletService) -> None:
    service.post_plan = ["drop after"]
    service.ingest = 4
    offer = net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert offer.contract_id == "000001"
    kinds = [path.rpartition("/")[2] for _, path, _, _ in service.requests]
    assert kinds == ["transfer-offers", *["status"] * 4, "transfer-offers", "status"]


def test_an_offer_that_has_gone_on_meanwhile_is_a_success(net: lf.Network, service: WalletService) -> None:
    service.post_plan = ["timeout after", "drop before"]
    service.status_plan = ["404"] * 4
    service.hook = lambda when, tracking_id: service.statuses.update(
        {tracking_id: {"status": "completed", "transaction_id": "1220cc", "contract_id": "00c0"}} if when == "after" else {}
    )
    offer = net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert (offer.status, offer.contract_id, offer.transaction_id, offer.finished) == ("completed", "00c0", "1220cc", True)


@pytest.mark.parametrize(("fault", "status"), [("429 before", 429), ("503 before", 503), ("drop before", 0), ("never", 0)])
def test_what_stays_unresolved_names_the_id_and_the_next_call(
    net: lf.Network, connect: Connect, service: WalletService, fault: str, status: int
) -> None:
    service.post_plan = [fault] * 99
    service.delay = 0
    with pytest.raises(OfferUnresolvedError) as caught:
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    error = caught.value
    assert (error.tracking_id, error.status, error.outcome) == ("t-1", status, "unknown")
    assert error.next_call == "net.wallet.resume('t-1')"
    assert error.next_call in str(error)
    service.settle()
    assert connect().wallet.resume("t-1").status == "created"
    assert service.count("t-1") == 1


@pytest.mark.parametrize(
    ("fault", "kind", "left"),
    [("400 before", BadRequestError, "refused"), ("401 before", AuthenticationError, "pending"), ("404 before", None, "pending")],
)
def test_a_refusal_is_not_sent_again_by_itself(
    net: lf.Network, service: WalletService, fault: str, kind: type[Exception] | None, left: str
) -> None:
    service.post_plan = [fault]
    with pytest.raises(OfferUnresolvedError, match="was not made") as caught:
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert kind is None or isinstance(caught.value.__cause__, kind)
    status_checks = 0 if fault == "401 before" else 4  # the others may hide an effect
    assert (len(service.requests), caught.value.outcome) == (1 + status_checks, "refused")
    assert caught.value.status == int(fault[:3])
    assert net.wallet.journal.get("t-1").status == left
    assert [offer.tracking_id for offer in net.wallet.resume_all()] == (["t-1"] if left == "pending" else [])
    assert net.wallet.resume("t-1").status == "created"
    assert service.count("t-1") == 1


@pytest.mark.parametrize(
    ("fault", "step"),
    [("501 before", "does not have the operation"), ("302 before", "Set the URL of this API"), ("401 before", "Check token=")],
)
def test_what_would_fail_again_is_sent_once_and_says_what_to_change(
    net: lf.Network, service: WalletService, fault: str, step: str
) -> None:
    service.post_plan = [fault] * 9
    with pytest.raises(OfferUnresolvedError, match=step) as caught:
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert (len(service.posts), caught.value.outcome) == (1, "refused" if fault == "401 before" else "unknown")
    service.post_plan.clear()
    assert net.wallet.resume("t-1").status == "created"
    assert service.count("t-1") == 1


@pytest.mark.parametrize("fault", ["400 after", "403 after", "404 after"])
def test_a_refusal_after_the_effect_is_seen_through(net: lf.Network, service: WalletService, fault: str) -> None:
    service.post_plan, service.ingest = [fault], 2
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").status == "created"
    assert (service.count("t-1"), len(service.posts)) == (1, 1)


@pytest.mark.parametrize("status_fault", ["500", "gone"])
@pytest.mark.parametrize("fault", ["400 after", "403 after", "404 after", "gone after", "400 before", "gone before"])
def test_a_refusal_that_cannot_be_checked_is_unknown(
    net: lf.Network, service: WalletService, fault: str, status_fault: str
) -> None:
    service.post_plan, service.status_plan = [fault], [status_fault] * 4
    with pytest.raises(OfferUnresolvedError, match="outcome of offer t-1 is unknown") as caught:
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert caught.value.outcome == "unknown"
    left = net.wallet.journal.get("t-1")
    assert (left.status, left.open_attempts) == ("pending", 1)
    assert net.wallet.resume("t-1").status == "created"
    assert service.count("t-1") == 1


def test_a_404_that_is_not_the_wallets_own_says_nothing_about_an_offer(net: lf.Network, service: WalletService) -> None:
    service.post_plan = ["401 before"]
    with pytest.raises(OfferUnresolvedError):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    before, service.status_plan = net.wallet.journal.offers(), ["gone"]
    with pytest.raises(NotFoundError, match="404 page not found"):
        net.wallet.refresh()
    assert net.wallet.journal.offers() == before
    (after,) = net.wallet.refresh()  # the wallet itself does not have it
    assert after.last_checked_at is not None


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("receiver", {"receiver": "eve::1220"}),
        ("amount", {"amount": {"amount": "99", "unit": "AmuletUnit"}}),
        ("description", {"description": "another"}),
        ("tracking_id", {"trackingId": "t-2"}),
        ("expires_at", {"expiresAt": "2100-01-01T12:00:00.123456Z"}),
        ("unit", {"amount": {"amount": "5.0", "unit": "USDUnit"}}),
    ],
)
def test_an_earlier_offer_returned_with_200_is_compared(
    net: lf.Network, service: WalletService, name: str, payload: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wallets since 0.7.1 return the offer of a used tracking id instead of 409."""
    list_offer(service, monkeypatch, payload)
    with pytest.raises(OfferUnresolvedError, match=rf"its tracking id was used elsewhere, .* with another {name}\.") as caught:
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert caught.value.outcome == "refused"


@pytest.mark.parametrize(
    "payload",
    [
        {"amount": {"amount": "5.0000000000", "unit": "AmuletUnit"}, "expiresAt": "2100-01-01T12:00:00.123457Z"},
        {"amount": {"amount": "5"}, "expiresAt": None, "description": None, "trackingId": None},
        {"expiresAt": "in a while"},
    ],
)
def test_an_offer_is_not_refused_for_what_the_wallet_does_not_say(
    net: lf.Network, service: WalletService, payload: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    list_offer(service, monkeypatch, payload)
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").status == "created"


def test_a_relative_expiry_is_not_compared(net: lf.Network, service: WalletService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another store has counted it from another call."""
    list_offer(service, monkeypatch, {"expiresAt": "2100-01-01T12:00:00Z"})
    terms = {name: value for name, value in OFFER.items() if name != "expires_at"}
    assert net.wallet.offer_transfer(**terms, expires_in=timedelta(days=1), tracking_id="t-1").status == "created"


def let_move_on(service: WalletService, monkeypatch: pytest.MonkeyPatch, status: str, payload: dict[str, Any] | None) -> None:
    """Let each offer have a later status as soon as it is made, and let the wallet list it as accepted with some members."""
    rest = service._rest

    def listed(method: str, path: str) -> tuple[int, Any]:
        if path == OFFERS:
            return 200, {"offers": []}
        if path.endswith("/accepted-transfer-offers"):
            offers = [{**service.contract(offer), "contract_id": "00accepted"} for offer in service.made]
            accepted = [{**each, "payload": {**each["payload"], **payload}} for each in offers] if payload is not None else []
            return 200, {"accepted_offers": accepted}
        return rest(method, path)

    later = {"status": status, "transaction_id": "1220bb", "contract_id": "00accepted"}
    service.hook = lambda when, tracking_id: service.statuses.update({tracking_id: later} if when == "after" else {})
    monkeypatch.setattr(service, "_rest", listed)


def test_an_earlier_offer_that_was_accepted_is_compared(
    net: lf.Network, service: WalletService, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_move_on(service, monkeypatch, "accepted", {"amount": {"amount": "99.0", "unit": "AmuletUnit"}, "description": None})
    with pytest.raises(OfferUnresolvedError, match=r"used elsewhere, for an offer of 99\.0 to bob::1220bb with another amount"):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert net.wallet.journal.get("t-1").status == "refused"


def test_an_own_offer_that_was_accepted_at_once_is_ones_own(
    net: lf.Network, service: WalletService, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_move_on(service, monkeypatch, "accepted", {"description": None})
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").contract_id == "000001"


@pytest.mark.parametrize("status", ["accepted", "completed", "failed"])
@pytest.mark.parametrize("first", ["ok", "409"])
def test_terms_that_cannot_be_compared_are_not_taken_for_ones_own(
    net: lf.Network, service: WalletService, connect: Connect, first: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if first == "409":
        connect(network="elsewhere").wallet.offer_transfer(**OFFER, tracking_id="t-1")
    let_move_on(service, monkeypatch, status, None)
    for call in (lambda: net.wallet.offer_transfer(**OFFER, tracking_id="t-1"), lambda: net.wallet.resume("t-1")):
        with pytest.raises(OfferUnresolvedError, match=rf"Offer t-1 is {status} in the wallet, .* cannot be compared") as caught:
            call()
        assert (caught.value.outcome, net.wallet.journal.get("t-1").status) == ("unknown", "pending")
    assert len(service.posts) == (1 if first == "ok" else 2), "it is not sent again"


def refuse_listing(service: WalletService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the wallet fail whenever it lists its offers."""
    rest = service._rest
    monkeypatch.setattr(service, "_rest", lambda method, path: (503, None) if path == OFFERS else rest(method, path))


@pytest.mark.parametrize("status_plan", [[], ["500"] * 4], ids=["at once", "after a second 409"])
def test_an_offer_of_another_store_is_unknown_while_its_terms_cannot_be_fetched(
    connect: Connect, service: WalletService, status_plan: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(network="elsewhere").wallet.offer_transfer(**{**OFFER, "amount": 100}, tracking_id="t-1")
    net = connect(retries=1)
    service.status_plan = status_plan
    with monkeypatch.context() as patch:
        refuse_listing(service, patch)
        for call in (lambda: net.wallet.offer_transfer(**OFFER, tracking_id="t-1"), lambda: net.wallet.resume("t-1")):
            with pytest.raises(OfferUnresolvedError, match="did not return its terms") as caught:
                call()
            assert caught.value.outcome == "unknown"
        assert [offer.status for offer in net.wallet.refresh()] == ["pending"]
    with pytest.raises(OfferUnresolvedError, match="used elsewhere, for an offer of 100"):
        net.wallet.resume("t-1")


def test_refresh_does_not_take_the_offer_of_another_store_for_ones_own(
    net: lf.Network, connect: Connect, service: WalletService, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(network="elsewhere").wallet.offer_transfer(**{**OFFER, "amount": 100}, tracking_id="t-1")
    let_move_on(service, monkeypatch, "completed", None)
    for _ in range(2):
        with pytest.raises(OfferUnresolvedError, match="cannot be compared"):
            net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
        assert [offer.status for offer in net.wallet.refresh()] == ["pending"]


def test_an_offer_of_an_earlier_request_is_ones_own(
    net: lf.Network, service: WalletService, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_move_on(service, monkeypatch, "completed", None)
    service.post_plan, service.status_plan = ["drop after"], ["404"] * 4
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").status == "completed"
    assert service.count("t-1") == 1


def list_offer(service: WalletService, monkeypatch: pytest.MonkeyPatch, payload: dict[str, Any]) -> None:
    """Let the wallet list its offers with these members."""
    contract = service.contract

    def changed(offer: dict[str, Any]) -> dict[str, Any]:
        listed = contract(offer)
        return {**listed, "payload": {**listed["payload"], **payload}}

    monkeypatch.setattr(service, "contract", changed)


def test_a_refusal_after_an_unknown_outcome_refuses_nothing(net: lf.Network, service: WalletService) -> None:
    service.post_plan = ["drop after", "400 before"]
    service.status_plan = ["404"] * 4
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").status == "created"
    service.post_plan = ["drop before", "400 before"]
    with pytest.raises(OfferUnresolvedError, match="outcome of offer t-2 is unknown"):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-2")
    assert net.wallet.journal.get("t-2").status == "pending"


def test_resume_all_tries_all_and_says_what_is_left(net: lf.Network, service: WalletService) -> None:
    for number in range(3):
        service.post_plan = ["401 before"]
        with pytest.raises(OfferUnresolvedError):
            net.wallet.offer_transfer(**OFFER, tracking_id=f"t-{number}")
    service.post_plan = ["401 before"]
    with pytest.raises(OfferUnresolvedError, match="1 of 3 offers") as caught:
        net.wallet.resume_all()
    assert caught.value.tracking_id == "t-0"
    assert [service.count(f"t-{number}") for number in range(3)] == [0, 1, 1]
    assert [offer.status for offer in net.wallet.resume_all()] == ["created"]


def test_unknown_ids_cannot_be_resumed(net: lf.Network, service: WalletService) -> None:
    with pytest.raises(UsageError, match="Unknown offer 'nope'"):
        net.wallet.resume("nope")
    assert net.wallet.resume_all() == []
    assert service.requests == []
