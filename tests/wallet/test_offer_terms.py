"""Offers that make no sense are caught before anything is sent or written; amounts stay exact."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wallet_service import OFFER, URL, WalletService

import ledgerframes as lf
from ledgerframes.api.transport import Transport
from ledgerframes.errors import UsageError
from ledgerframes.settings import Limits
from ledgerframes.wallet import Journal, OffersWallet
from ledgerframes.wallet.terms import format_amount

NOW = datetime(2026, 11, 20, tzinfo=UTC)

# -- bad input: nothing is sent, nothing is written -------------------------------------------------------------------

LONG = "x" * 280
BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"amount": 1.5}, TypeError, "Decimal"),
    ({"amount": "1.5"}, TypeError, "Decimal"),
    ({"amount": True}, TypeError, "Decimal"),
    ({"amount": Decimal("0.00000000001")}, UsageError, "decimal places"),
    ({"amount": Decimal("1.12345678901")}, UsageError, "decimal places"),
    ({"amount": Decimal("-1")}, UsageError, "above zero"),
    ({"amount": Decimal(0)}, UsageError, "above zero"),
    ({"amount": Decimal("NaN")}, UsageError, "above zero"),
    ({"amount": Decimal("sNaN")}, UsageError, "above zero"),
    ({"amount": Decimal("Infinity")}, UsageError, "above zero"),
    ({"amount": 10**28}, UsageError, "digits before"),
    ({"amount": Decimal("1E+999999")}, UsageError, "digits before"),
    ({"expires_at": datetime(2100, 1, 1)}, UsageError, "time zone"),
    ({"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}, UsageError, "later than now"),
    ({"expires_at": 4102488000123457}, UsageError, "must be a time"),
    ({"expires_at": None}, UsageError, "expires_in"),
    ({"expires_in": timedelta(1)}, UsageError, "cannot be combined"),
    ({"expires_at": None, "expires_in": timedelta(0)}, UsageError, "expires_in"),
    ({"expires_at": None, "expires_in": timedelta(-1)}, UsageError, "expires_in"),
    ({"expires_at": None, "expires_in": 60}, UsageError, "timedelta"),
    ({"expires_at": None, "expires_in": timedelta.max}, UsageError, "9999"),
    ({"description": ""}, UsageError, "description"),
    ({"description": "  "}, UsageError, "description"),
    ({"description": LONG}, UsageError, "at most 279 characters, got 280"),
    ({"description": "a\0b"}, UsageError, "character"),
    ({"description": "\ud800"}, UsageError, "character"),
    ({"tracking_id": ""}, UsageError, "tracking_id"),
    ({"tracking_id": LONG}, UsageError, "at most 279 characters, got 280"),
    ({"tracking_id": ".."}, UsageError, "path"),
    ({"tracking_id": "a/b"}, UsageError, "path"),
    ({"tracking_id": "a\nb"}, UsageError, "path"),
    ({"tracking_id": 7}, UsageError, "tracking_id"),
    ({"receiver": ""}, UsageError, "receiver"),
    ({"receiver": None}, UsageError, "receiver"),
]


@pytest.mark.parametrize(("wrong", "kind", "says"), BAD)
def test_bad_input_is_caught_before_anything(
    net: lf.Network, service: WalletService, wrong: dict[str, Any], kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=says):
        net.wallet.offer_transfer(**{**OFFER, **wrong})
    assert service.requests == []
    assert not net.local_dir.exists()


def test_the_longest_texts_are_taken(net: lf.Network, service: WalletService) -> None:
    net.wallet.offer_transfer(**{**OFFER, "description": "ü" * 279}, tracking_id="y" * 279)
    assert service.count("y" * 279) == 1


@given(st.decimals(min_value=Decimal("1E-10"), max_value=Decimal("1E+28") - 1, places=10, allow_nan=False))
def test_amounts_reach_the_wire_exactly(amount: Decimal) -> None:
    service = WalletService()
    limits = Limits(requests_per_second=0)
    wallet = OffersWallet(Transport((URL,), limits, service.transport()), Journal(Path()), lambda: NOW)
    wallet.create_offer(
        receiver_party_id="b", amount=format_amount(amount), description="d", expires_at=1, tracking_id=str(amount)
    )
    text = json.loads(service.posts[0])["amount"]
    assert Decimal(text) == amount
    assert "E" not in text
    assert "e" not in text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (5, "5"),
        (Decimal("5.0"), "5.0"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E-10"), "0.0000000001"),
        (Decimal("9" * 28 + "." + "9" * 10), "9" * 28 + "." + "9" * 10),
    ],
)
def test_amounts_are_written_in_plain_digits(amount: Decimal, text: str) -> None:
    assert format_amount(amount) == text
