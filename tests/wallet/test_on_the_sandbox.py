"""Offers to the sandbox's wallet, which knows what really exists in its world."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.errors import OfferUnresolvedError
from ledgerframes.sandbox import Faults, Sandbox

OFFERS = 100
FAULTS = Faults(
    too_many_requests=0.05,
    unavailable_html=0.05,
    dropped_connections=0.05,
    dropped_after_write=0.1,
    wallet_429=0.1,
    wallet_500_before=0.1,
    wallet_500_after=0.1,
    late_status=0.2,
)


def connect(box: Sandbox, store: Path) -> lf.Network:
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    return lf.connect("sandbox", transport=in_process(box.app), token=box.token, store=store, requests_per_second=0, **urls)


def test_a_user_without_a_wallet_is_told_whose_token_to_check(tmp_path: Path) -> None:
    box = Sandbox(events=400, days=1, require_token=True)
    urls = {"wallet_url": box.wallet_url, "token": box.limited_token}
    net = lf.connect("sandbox", transport=in_process(box.app), store=tmp_path, requests_per_second=0, **urls)
    for call in (net.wallet.balance, lambda: net.wallet.offer_status("t-1")):
        with pytest.raises(lf.NotFoundError, match=r"No wallet found for user .* Check whose token= it is") as caught:
            call()
        assert not isinstance(caught.value, lf.WrongUrlError)
    with pytest.raises(OfferUnresolvedError, match=r"was not made: .* Check whose token= it is"):
        net.wallet.offer_transfer(receiver=box.user_parties[1], amount=1, description="x", expires_in=timedelta(days=1))


def test_a_hundred_offers_with_every_fault_exist_exactly_once(tmp_path: Path) -> None:
    box = Sandbox(events=400, days=1, faults=FAULTS)
    wanted = [f"offer-{number}" for number in range(OFFERS)]
    for tracking_id in wanted:
        # Every offer is made by a network of its own, as if the process had begun again; the journal is what stays.
        net = connect(box, tmp_path)
        try:
            net.wallet.offer_transfer(
                receiver=box.user_parties[1],
                amount=Decimal("0.0000000001"),
                description=tracking_id,
                expires_in=timedelta(days=30_000),
                tracking_id=tracking_id,
            )
        except OfferUnresolvedError as error:
            assert tracking_id in str(error)
    for _ in range(20):
        try:
            connect(box, tmp_path).wallet.resume_all()
            break
        except OfferUnresolvedError:
            continue
    made = Counter(offer.tracking_id for offer in box.offers)
    assert made == dict.fromkeys(wanted, 1)
    journal = lf.load_transfer_offers(connect(box, tmp_path), refresh=False)
    assert sorted(journal["tracking_id"]) == sorted(wanted)
    assert not (journal["status"] == "pending").any()


@pytest.mark.parametrize("step", ["accept", "reject", "withdraw"])
def test_what_becomes_of_an_offer_is_seen(tmp_path: Path, step: str) -> None:
    box = Sandbox(events=400, days=1)
    net = connect(box, tmp_path)
    receiver = box.user_parties[0] if step in ("accept", "reject") else box.user_parties[1]
    offer = net.wallet.offer_transfer(
        receiver=receiver, amount=Decimal(1), description="test", expires_in=timedelta(days=30_000), tracking_id="one"
    )
    assert offer.contract_id is not None
    getattr(net.wallet, step)(offer.contract_id)
    for _ in range(10):
        row = lf.load_transfer_offers(net).iloc[0]
    expected = {"accept": ("completed", None), "reject": ("failed", "rejected"), "withdraw": ("failed", "withdrawn")}[step]
    assert row["status"] == expected[0]
    assert expected[1] is None or row["failure_kind"] == expected[1]


@pytest.mark.parametrize("tracking_id", ["Grüße", "10 €", "日本"])
def test_ids_of_any_script_reach_the_sandbox(tmp_path: Path, tracking_id: str) -> None:
    box = Sandbox(events=400, days=1)
    net = connect(box, tmp_path)
    terms: dict[str, Any] = {"receiver": box.user_parties[1], "amount": 1, "description": "tea", "tracking_id": tracking_id}
    net.wallet.offer_transfer(**terms, expires_in=timedelta(days=1))
    assert net.wallet.offer_status(tracking_id).status == "created"
    with pytest.raises(lf.NotFoundError, match=tracking_id):
        net.history.event(tracking_id)
