"""Offers that expire, any sequence of failures, and what must never happen."""

from __future__ import annotations

import itertools
import logging
import sqlite3
from contextlib import closing
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wallet_service import NOW, OFFER, POST_FAULTS, STATUS_FAULTS, TOKEN, Connect, WalletService, offers_wallet

import ledgerframes as lf
from ledgerframes.errors import (
    CoverageError,
    HostUnreachableError,
    OfferUnresolvedError,
    StoreError,
    UsageError,
)

# -- expiry -----------------------------------------------------------------------------------------------------------


def unresolved(service: WalletService, folder: Path, fault: str) -> None:
    service.post_plan = [fault] * 9
    with pytest.raises(OfferUnresolvedError):
        offers_wallet(service, folder).offer_transfer(**{**OFFER, "expires_at": NOW + timedelta(days=1)}, tracking_id="t-1")
    service.post_plan.clear()


@pytest.mark.parametrize(
    ("fault", "late", "outcome", "left"),
    [
        ("drop before", timedelta(days=1), "unknown", "pending"),
        ("drop before", timedelta(days=1, hours=1), "lapsed", "lapsed"),
        ("401 before", timedelta(days=1), "lapsed", "lapsed"),
        ("400 before", timedelta(days=1), "lapsed", "lapsed"),
        ("429 before", timedelta(days=1), "unknown", "pending"),  # for a request of another store
        ("429 before", timedelta(days=1, hours=1), "lapsed", "lapsed"),
    ],
)
def test_what_has_expired_is_never_sent(
    service: WalletService, tmp_path: Path, fault: str, late: timedelta, outcome: str, left: str
) -> None:
    unresolved(service, tmp_path, fault)
    posts = len(service.posts)
    wallet = offers_wallet(service, tmp_path, NOW + late)
    with pytest.raises(OfferUnresolvedError, match="expired at") as caught:
        wallet.resume("t-1")
    assert (caught.value.outcome, wallet.journal.get("t-1").status, len(service.posts)) == (outcome, left, posts)


def test_an_offer_does_not_lapse_by_the_404_of_a_proxy(service: WalletService, tmp_path: Path) -> None:
    unresolved(service, tmp_path, "drop before")
    wallet = offers_wallet(service, tmp_path, NOW + timedelta(days=2))
    before = wallet.journal.get("t-1")
    for _ in range(2):
        service.status_plan = ["gone"] * 8
        with pytest.raises(OfferUnresolvedError, match="outcome of offer t-1 is unknown") as caught:
            wallet.resume("t-1")
        assert caught.value.outcome == "unknown"
        assert wallet.journal.get("t-1") == before
    service.status_plan.clear()
    with pytest.raises(OfferUnresolvedError, match="new tracking_id=") as caught:
        wallet.resume("t-1")
    assert caught.value.outcome == "lapsed"


def test_what_has_expired_may_still_turn_out_to_exist(service: WalletService, tmp_path: Path) -> None:
    service.status_plan = ["404"] * 99
    unresolved(service, tmp_path, "drop after")
    service.status_plan.clear()
    wallet = offers_wallet(service, tmp_path, NOW + timedelta(days=30))
    service.statuses["t-1"] = {"status": "failed", "failure_kind": "expired"}
    offer = wallet.resume("t-1")
    assert (offer.status, offer.failure_kind) == ("failed", "expired")


@pytest.mark.parametrize("fault", ["429 before", "400 before", "401 before"])
def test_what_another_store_made_is_found_after_its_expiry(service: WalletService, tmp_path: Path, fault: str) -> None:
    unresolved(service, tmp_path / "one", fault)
    terms = {**OFFER, "expires_at": NOW + timedelta(days=1), "tracking_id": "t-1"}
    assert offers_wallet(service, tmp_path / "other").offer_transfer(**terms).status == "created"
    service.statuses["t-1"]["status"] = "completed"
    assert offers_wallet(service, tmp_path / "one", NOW + timedelta(days=2)).resume("t-1").status == "completed"
    assert service.count("t-1") == 1


# -- a hundred, and any sequence --------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_hundred_offers_with_every_failure(connect: Connect, service: WalletService) -> None:
    service.ingest = 2
    faults = itertools.cycle(POST_FAULTS)
    ids = [f"t-{number:03}" for number in range(100)]
    for number, tracking_id in enumerate(ids):
        service.post_plan = [next(faults) for _ in range(number % 7)]
        service.status_plan = [STATUS_FAULTS[(number + step) % len(STATUS_FAULTS)] for step in range(number % 5)]
        try:
            connect().wallet.offer_transfer(**OFFER, tracking_id=tracking_id)
        except OfferUnresolvedError as error:
            assert error.tracking_id == tracking_id
    service.settle()
    connect().wallet.resume_all()
    assert sorted(offer["tracking_id"] for offer in service.made) == ids
    frame = lf_offers(connect())
    assert list(frame["tracking_id"]) == ids
    assert set(frame["status"]) == {"created"}


def lf_offers(net: lf.Network, **arguments: Any) -> Any:
    from ledgerframes.loaders.offers import load_transfer_offers

    return load_transfer_offers(net, **arguments)


@given(
    st.lists(st.sampled_from((*POST_FAULTS, "400 before", "401 before")), max_size=12),
    st.lists(st.sampled_from((*STATUS_FAULTS, "401")), max_size=12),
    st.integers(0, 6),
    st.integers(0, 6),
)
def test_any_sequence_of_failures_makes_one_offer_or_none_with_an_error(
    tmp_path_factory: pytest.TempPathFactory, posts: list[str], statuses: list[str], ingest: int, delay: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    service = WalletService(posts, statuses, ingest=ingest, delay=delay)
    try:
        offer = offers_wallet(service, folder).offer_transfer(**OFFER, tracking_id="t-1")
        assert offer.exists
        assert service.count("t-1") == 1
    except OfferUnresolvedError as error:
        assert service.count("t-1") <= 1
        assert error.outcome != "refused" or not service.made
    service.settle()
    assert offers_wallet(service, folder).resume("t-1").exists
    assert service.count("t-1") == 1
    assert service.made[0]["amount"] == "5.0"


# -- what must never happen -------------------------------------------------------------------------------------------


def test_no_token_shows_anywhere(
    net: lf.Network, service: WalletService, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    service.post_plan = ["401 before", *["drop before"] * 9]
    shown: list[str] = []
    for _ in range(2):
        with pytest.raises(OfferUnresolvedError) as caught:
            net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
        shown += [str(caught.value), repr(caught.value), repr(vars(caught.value)), repr(caught.value.__cause__)]
    shown += [repr(net), repr(net.wallet), repr(net.wallet.journal), repr(net.wallet.journal.get("t-1")), caplog.text]
    shown += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert service.requests[0][3] == f"Bearer {TOKEN}"
    for part in TOKEN.split("."):
        assert all(part not in text for text in shown)


def test_offline_networks_send_nothing(net: lf.Network, connect: Connect, service: WalletService) -> None:
    net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    asked = len(service.requests)
    offline = connect(offline=True)
    with pytest.raises(CoverageError, match="offline"):
        offline.wallet.offer_transfer(**OFFER)
    assert list(lf_offers(offline)["tracking_id"]) == ["t-1"]
    assert len(service.requests) == asked


@pytest.mark.parametrize(
    ("missing", "says"), [("wallet_url", "LEDGERFRAMES_WALLET_URL"), ("token", "token, token_file or token_env")]
)
def test_what_the_profile_lacks_is_named(connect: Connect, missing: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        connect(**{missing: None}).wallet  # noqa: B018


# -- the journal ------------------------------------------------------------------------------------------------------


def test_without_a_journal_that_can_be_written_nothing_is_sent(net: lf.Network, service: WalletService) -> None:
    net.local_dir.parent.mkdir(parents=True)
    net.local_dir.write_text("a file in the way")
    with pytest.raises(StoreError):
        net.wallet.offer_transfer(**OFFER)
    assert service.requests == []


def test_a_journal_of_a_newer_version_is_left_alone(net: lf.Network, service: WalletService) -> None:
    net.wallet.offer_transfer(**OFFER)
    with closing(sqlite3.connect(net.wallet.journal.path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer"):
        net.wallet.offer_transfer(**OFFER)
    net.wallet.journal.path.write_bytes(b"this is no database at all, but long enough to be looked at" * 99)
    with pytest.raises(StoreError, match="Cannot read the journal of offers"):
        net.wallet.offer_transfer(**OFFER)
    assert len(service.posts) == 1


def test_news_never_goes_back(net: lf.Network, service: WalletService) -> None:
    net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    service.statuses["t-1"] = {"status": "accepted", "transaction_id": "1220bb", "contract_id": "00acc"}
    net.wallet.refresh()
    service.statuses["t-1"] = {"status": "created", "transaction_id": "1220aa", "contract_id": "000001"}
    (offer,) = net.wallet.refresh()
    assert (offer.status, offer.contract_id) == ("accepted", "00acc")


def test_a_status_of_a_later_version_means_that_the_offer_exists(net: lf.Network, service: WalletService) -> None:
    service.post_plan = ["drop after"]
    service.hook = lambda when, tracking_id: service.statuses.update(
        {tracking_id: {"status": "settling", "since": 3}} if when == "after" else {}
    )
    assert net.wallet.offer_transfer(**OFFER).status == "settling"


def test_the_offer_has_every_column_of_the_journal(net: lf.Network) -> None:
    offer = net.wallet.offer_transfer(**OFFER)
    assert {field.name for field in fields(offer)} >= {"tracking_id", "status", "contract_id", "attempt_count", "first_sent_at"}
    assert offer.first_sent_at is not None


def test_a_dropped_connection_is_the_cause(net: lf.Network, service: WalletService) -> None:
    service.post_plan = ["drop before"] * 9
    with pytest.raises(OfferUnresolvedError) as caught:
        net.wallet.offer_transfer(**OFFER)
    assert isinstance(caught.value.__cause__, HostUnreachableError)
    assert isinstance(caught.value.__cause__.__cause__, httpx.RemoteProtocolError)


def test_an_offer_made_elsewhere_is_unknown_while_its_contents_cannot_be_read(
    net: lf.Network, connect: Connect, service: WalletService, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(network="elsewhere").wallet.offer_transfer(**OFFER, tracking_id="t-1")
    with monkeypatch.context() as patch:
        patch.setattr(service, "contract", lambda offer: {"strange": True})
        with pytest.raises(OfferUnresolvedError, match="did not return its terms") as caught:
            net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    assert caught.value.outcome == "unknown"
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").contract_id == "000001"


def test_a_token_that_fails_meanwhile_leaves_an_offer_that_can_be_resumed(connect: Connect, service: WalletService) -> None:
    tokens = [TOKEN]
    net = connect(token=lambda: tokens.pop())
    with pytest.raises(OfferUnresolvedError, match=r"net\.wallet\.resume\('t-1'\)"):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-1")
    with pytest.raises(UsageError, match="token"):
        net.wallet.offer_transfer(**OFFER, tracking_id="t-2")
    assert [offer.tracking_id for offer in net.wallet.journal.offers()] == ["t-1"]
    tokens.extend([TOKEN] * 99)
    assert [offer.status for offer in net.wallet.resume_all()] == ["created"]
    assert service.count("t-1") == 1
