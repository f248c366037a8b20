"""Structs of the wallet API for transfer offers, their status, and the balance.

Amounts are decoded as decimals. Times stay text, as in all structs of the wire.
"""

from __future__ import annotations

from decimal import Decimal

from ledgerframes.datasets.structs import Wire


class OfferStatus(Wire):
    """Status of the offer with a tracking id (docs/facts.md#wallet-api).

    ``created``, ``accepted`` and ``completed`` have a transaction id and a contract id, which differ between states.
    ``failed`` has a failure kind (expired, rejected, withdrawn), and a reason only if it was withdrawn.
    """

    status: str
    transaction_id: str | None = None
    contract_id: str | None = None
    failure_kind: str | None = None
    withdrawn_reason: str | None = None


class OfferedAmount(Wire):
    """An amount with its unit, such as AmuletUnit or USDUnit (docs/facts.md#wallet-api)."""

    amount: Decimal
    unit: str | None = None


class OfferPayload(Wire, rename={"expires_at": "expiresAt", "tracking_id": "trackingId"}):
    """Payload of an offer, without a description if it was accepted.

    See docs/facts.md#wallet-api.
    """

    sender: str
    receiver: str
    amount: OfferedAmount
    dso: str | None = None
    description: str | None = None
    expires_at: str | None = None
    tracking_id: str | None = None


class OfferContract(Wire):
    """Contract of a transfer offer or of an accepted one (docs/facts.md#wallet-api)."""

    template_id: str
    contract_id: str
    payload: OfferPayload
    created_event_blob: str | None = None
    created_at: str | None = None


class Balance(Wire):
    """Balance of the wallet, as of a round."""

    round: int
    effective_unlocked_qty: Decimal
    effective_locked_qty: Decimal
    total_holding_fees: Decimal
