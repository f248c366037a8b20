"""Transfer offers: states, tracking ids, limits, faults (docs/facts.md#transfer-offers, docs/facts.md#wallet-api)."""

from __future__ import annotations

import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Dropped, Faults, Sandbox

from .conftest import DAYS, EVENTS, wallet_of

OFFERS = "/v0/wallet/transfer-offers"


def new_box(**arguments: Any) -> Sandbox:
    return Sandbox(1, EVENTS, DAYS, **arguments)


def offer(box: Sandbox, **fields: Any) -> dict[str, Any]:
    expires_at = int((box.now + timedelta(hours=1)).timestamp() * 1_000_000)
    return {
        "receiver_party_id": box.user_parties[5], "amount": "12.5", "description": "tea",
        "expires_at": expires_at, "tracking_id": "t-1", **fields,
    }  # fmt: skip


def status(client: httpx.Client, tracking_id: str = "t-1") -> httpx.Response:
    return client.post(f"{OFFERS}/{tracking_id}/status")


def test_an_offer_goes_its_way() -> None:
    box = new_box()
    client = wallet_of(box)
    created = client.post(OFFERS, json=offer(box)).json()
    assert set(created) == {"offer_contract_id"}
    response = status(client).json()
    assert set(response) == {"status", "transaction_id", "contract_id"}
    assert (response["status"], response["contract_id"]) == ("created", created["offer_contract_id"])
    (contract,) = client.get(OFFERS).json()["offers"]
    assert set(contract) == {"template_id", "contract_id", "payload", "created_event_blob", "created_at"}
    assert contract["contract_id"] == created["offer_contract_id"]
    assert contract["payload"]["amount"] == {"amount": "12.5", "unit": "CoinUnit"}
    assert list(contract["payload"]) == ["sender", "receiver", "dso", "amount", "description", "expiresAt", "trackingId"]
    before = Decimal(client.get("/v0/wallet/balance").json()["effective_unlocked_qty"])
    accepted = client.post(f"{OFFERS}/{created['offer_contract_id']}/accept").json()["accepted_offer_contract_id"]
    (contract,) = client.get("/v0/wallet/accepted-transfer-offers").json()["accepted_offers"]
    assert contract["contract_id"] == accepted
    assert "description" not in contract["payload"]
    assert status(client).json()["status"] == "completed"
    assert client.get("/v0/wallet/accepted-transfer-offers").json() == {"accepted_offers": []}
    after = client.get("/v0/wallet/balance").json()
    assert before - Decimal(after["effective_unlocked_qty"]) == Decimal("12.5")
    assert set(after) == {"round", "effective_unlocked_qty", "effective_locked_qty", "total_holding_fees"}
    assert [(each.tracking_id, each.state) for each in box.offers] == [("t-1", "completed")]
    assert box.writes[0].operation == "POST transfer-offers"
    assert client.post(OFFERS, json=offer(box)).status_code == 409


def test_an_accepted_offer_is_seen_before_it_is_completed() -> None:
    box = new_box()
    client = wallet_of(box)
    contract_id = client.post(OFFERS, json=offer(box)).json()["offer_contract_id"]
    accepted = client.post(f"{OFFERS}/{contract_id}/accept").json()["accepted_offer_contract_id"]
    assert status(client).json()["contract_id"] == accepted
    assert status(client).json()["status"] == "completed"


def test_rejected_and_withdrawn() -> None:
    box = new_box()
    client = wallet_of(box)
    for step, failure in (("reject", {"failure_kind": "rejected"}), ("withdraw", {"failure_kind": "withdrawn"})):
        contract_id = client.post(OFFERS, json=offer(box, tracking_id=step)).json()["offer_contract_id"]
        answer = client.post(f"{OFFERS}/{contract_id}/{step}")
        assert (answer.status_code, answer.content) == (200, b"")
        response = status(client, step).json()
        assert {"status": "failed", **failure}.items() <= response.items()
        assert ("withdrawn_reason" in response) == (step == "withdraw")
        assert client.post(f"{OFFERS}/{contract_id}/{step}").status_code == 404
        assert client.post(OFFERS, json=offer(box, tracking_id=step)).status_code == 409


def test_expired() -> None:
    box = new_box()
    client = wallet_of(box)
    contract_id = client.post(OFFERS, json=offer(box)).json()["offer_contract_id"]
    box.clock.advance(timedelta(hours=2))
    assert client.post(f"{OFFERS}/{contract_id}/accept").status_code == 404
    assert status(client).json() == {"status": "failed", "failure_kind": "expired"}


def test_without_enough_coin_the_transfer_fails() -> None:
    box = new_box()
    client = wallet_of(box)
    contract_id = client.post(OFFERS, json=offer(box, amount="99999999")).json()["offer_contract_id"]
    client.post(f"{OFFERS}/{contract_id}/accept")
    status(client)
    assert status(client).json()["failure_kind"] == "withdrawn"
    assert client.get("/v0/wallet/balance").json()["effective_unlocked_qty"] == "100000.0"


@pytest.mark.parametrize(
    "fields",
    [
        {"amount": "1.12345678901"}, {"amount": "-1"}, {"amount": "0"}, {"amount": "0.0"}, {"amount": "ten"},
        {"amount": ""}, {"amount": "1e3"}, {"amount": "NaN"}, {"description": ""}, {"description": "x" * 280},
        {"tracking_id": "x" * 280}, {"tracking_id": ""}, {"expires_at": 5}, {"receiver_party_id": "nobody"},
    ],
)  # fmt: skip
def test_bad_offers_are_refused(fields: dict[str, Any]) -> None:
    box = new_box()
    answer = wallet_of(box).post(OFFERS, json=offer(box, **fields))
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]
    assert box.offers == box.writes == []


@pytest.mark.parametrize("fields", [{"amount": 5}, {"expires_at": "soon"}, {"expires_at": 1.5}, {"description": None}])
def test_misshapen_offers_are_refused_in_plain_text(fields: dict[str, Any]) -> None:
    box = new_box()
    answer = wallet_of(box).post(OFFERS, json=offer(box, **fields))
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (400, "text/plain")
    for missing in offer(box):
        short = {key: value for key, value in offer(box).items() if key != missing}
        assert wallet_of(box).post(OFFERS, json=short).status_code == 400
    assert box.offers == []


def test_the_longest_and_the_smallest_are_taken() -> None:
    box = new_box()
    longest = offer(box, amount="0.0000000001", description="d" * 279, tracking_id="t" * 279)
    assert wallet_of(box).post(OFFERS, json=longest).is_success
    assert wallet_of(box).get(OFFERS).json()["offers"][0]["payload"]["amount"]["amount"] == "0.0000000001"


def test_wallets_belong_to_their_users() -> None:
    box = new_box(require_token=True)
    mine, theirs = wallet_of(box, box.token), wallet_of(box, box.token_of(box.user_parties[5]))
    for token in (None, "nonsense", box.expired_token):
        answer = wallet_of(box, token).post(OFFERS, json=offer(box))
        assert (answer.status_code, list(answer.json())) == (401, ["error"])
    assert wallet_of(box, box.limited_token).post(OFFERS, json=offer(box)).status_code == 404
    contract_id = mine.post(OFFERS, json=offer(box)).json()["offer_contract_id"]
    assert mine.post(f"{OFFERS}/{contract_id}/accept").status_code == 404
    assert theirs.post(f"{OFFERS}/{contract_id}/withdraw").status_code == 404
    assert theirs.get(OFFERS).json() == mine.get(OFFERS).json()
    assert wallet_of(box, box.token_of(box.user_parties[6])).get(OFFERS).json() == {"offers": []}
    assert status(theirs).status_code == 404
    assert theirs.post(f"{OFFERS}/{contract_id}/accept").is_success


def test_the_version_needs_no_token() -> None:
    box = new_box(require_token=True)
    assert wallet_of(box, None).get("/version").json()["version"] == box.history_version


def test_the_token_of_an_unknown_party_names_the_parties() -> None:
    box = new_box()
    with pytest.raises(ValueError, match=f"Unknown party 'nobody'. Choose from .*{re.escape(box.user_parties[5])}"):
        box.token_of("nobody")


def test_a_busy_wallet() -> None:
    for succeeds in (0, 1):
        box = new_box(faults=Faults(wallet_429=1, wallet_429_succeeds=succeeds))
        client = wallet_of(box)
        answers = [client.post(OFFERS, json=offer(box)).status_code for _ in range(4)]
        assert answers[:3] == [429, 429, 429]
        assert answers[3] == (409 if succeeds else 429)
        assert len(box.offers) == succeeds
        assert [(write.api, write.operation, write.body.tracking_id) for write in box.writes] == [
            ("wallet", "POST transfer-offers", "t-1")
        ] * succeeds


def test_an_internal_error_before_or_after_the_effect() -> None:
    for fault, count in (("wallet_500_before", 0), ("wallet_500_after", 1)):
        box = new_box(faults=Faults(**{fault: 1}))
        answer = wallet_of(box).post(OFFERS, json=offer(box))
        assert (answer.status_code, list(answer.json())) == (500, ["error"])
        assert len(box.offers) == len(box.writes) == count


def test_a_drop_after_the_effect() -> None:
    box = new_box(faults=Faults(dropped_after_write=1))
    client = wallet_of(box)
    with pytest.raises(Dropped):
        client.post(OFFERS, json=offer(box))
    assert len(box.offers) == 1
    assert status(client).json()["status"] == "created"


def test_a_status_that_comes_late() -> None:
    box = new_box(faults=Faults(late_status=1))
    client = wallet_of(box)
    client.post(OFFERS, json=offer(box))
    assert [status(client).status_code for _ in range(3)] == [404, 404, 200]
    assert status(client, "unknown").status_code == 404


def send(client: httpx.Client, body: dict[str, Any]) -> None:
    """Send an offer as clients should (docs/facts.md#tracking-id-rules)."""
    for _ in range(60):
        try:
            answer = client.post(OFFERS, json=body)
        except Dropped:
            continue
        if answer.status_code in (200, 409):
            return
        assert answer.status_code in (429, 500, 503)
    raise AssertionError("never got through")


def test_each_offer_exists_once_whatever_goes_wrong() -> None:
    faults = Faults(
        dropped_after_write=0.2, dropped_connections=0.1, wallet_429=0.3, wallet_500_before=0.2,
        wallet_500_after=0.2, too_many_requests=0.1, unavailable_html=0.1,
    )  # fmt: skip
    box = new_box(faults=faults)
    client = wallet_of(box)
    bodies = [offer(box, tracking_id=str(uuid.UUID(int=number)), amount=f"{number + 1}") for number in range(100)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda body: send(client, body), bodies))
    assert sorted(each.tracking_id for each in box.offers) == sorted(body["tracking_id"] for body in bodies)
    assert sum(each.amount for each in box.offers) == Decimal(5050)


def test_contract_ids_look_like_contract_ids() -> None:
    box = new_box(vocabulary="canton")
    client = wallet_of(box)
    created = client.post(OFFERS, json=offer(box)).json()["offer_contract_id"]
    assert re.fullmatch("00[0-9a-f]+", created)
    assert client.get(OFFERS).json()["offers"][0]["payload"]["amount"]["unit"] == "AmuletUnit"
    assert client.get("/v0/wallet/user-status").json()["party_id"] == box.user_parties[0]


@pytest.mark.parametrize("expires_at", [253_402_300_800_000_000, 2**63 - 1, 2**63])
def test_an_expiry_after_the_year_9999_is_refused(expires_at: int) -> None:
    box = new_box()
    client = wallet_of(box)
    assert client.post(OFFERS, json=offer(box, expires_at=expires_at)).status_code == 400
    latest = offer(box, expires_at=253_402_300_799_999_999)
    assert client.post(OFFERS, json=latest).status_code == 200
    (contract,) = client.get(OFFERS).json()["offers"]
    assert contract["payload"]["expiresAt"] == "9999-12-31T23:59:59.999999Z"
