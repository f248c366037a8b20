"""One transfer offer: what it says, where it stands, and how the wire shows it (docs/facts.md#wallet-api)."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from ..identifiers import PREFIX, contract_id
from ..randomness import digest
from ..requests import Refusal
from ..times import instant, trimmed
from ..transactions import Templates
from ..vocabulary import Vocabulary

CREATED, ACCEPTED, COMPLETED, FAILED = "created", "accepted", "completed", "failed"
EXPIRED, REJECTED, WITHDRAWN = "expired", "rejected", "withdrawn"
LONGEST_TEXT = 280  # characters that a text stays below
AMOUNT = re.compile(r"\d{1,28}(\.\d{1,10})?", re.ASCII)
PARTY = re.compile(r"[^:\s]+::[0-9a-f]+")


class OfferRequest(msgspec.Struct, frozen=True):
    """The body of a new offer."""

    receiver_party_id: str
    amount: str
    description: str
    expires_at: int
    tracking_id: str

    def check(self, now: int) -> None:
        """Refuse what the contract would not allow; `now` in microseconds since 1970."""
        reason = ""
        if not PARTY.fullmatch(self.receiver_party_id):
            reason = f"'{self.receiver_party_id}' is not a party id"
        elif not AMOUNT.fullmatch(self.amount) or not Decimal(self.amount):
            reason = f"amount '{self.amount}' is not a positive decimal of at most ten places"
        elif not 0 < len(self.description) < LONGEST_TEXT:
            reason = f"description must have 1 to {LONGEST_TEXT - 1} characters"
        elif not 0 < len(self.tracking_id) < LONGEST_TEXT:
            reason = f"tracking_id must have 1 to {LONGEST_TEXT - 1} characters"
        elif self.expires_at <= now:
            reason = f"expires_at {self.expires_at} has passed: it is {now}"
        if reason:
            raise Refusal(400, reason)


@dataclass(slots=True)
class Offer:
    """A transfer offer that exists.

    Parameters
    ----------
    sender
        Party id of who made it.
    asked
        What was asked for.
    created_at
        Microseconds since 1970.
    number
        How many offers there were before it.
    """

    sender: str
    asked: OfferRequest
    created_at: int
    number: int
    state: str = CREATED
    failure_kind: str = ""
    withdrawn_reason: str = ""
    accepted_at_request: int = 0  # the number of the request that accepted it
    status_hidden: int = 0  # how many more times its status is not known yet

    @property
    def tracking_id(self) -> str:
        """The tracking id."""
        return self.asked.tracking_id

    @property
    def receiver(self) -> str:
        """Party id of the receiver."""
        return self.asked.receiver_party_id

    @property
    def amount(self) -> Decimal:
        """The amount of coin."""
        return Decimal(self.asked.amount)

    def contract(self, state: str = CREATED) -> str:
        """Return the contract id that the offer has, or had, in a state."""
        return contract_id("wallet offer", self.sender, self.tracking_id, self.number, state)

    def status(self) -> dict[str, Any]:
        """Return the status as the wire shows it."""
        if self.state == FAILED:
            reason = {"withdrawn_reason": self.withdrawn_reason} if self.failure_kind == WITHDRAWN else {}
            return {"status": FAILED, "failure_kind": self.failure_kind, **reason}
        transaction_id = PREFIX + digest("wallet update", self.sender, self.tracking_id, self.state)
        return {
            "status": self.state,
            "transaction_id": transaction_id,
            "contract_id": self.contract(self.state),
        }

    def fail(self, kind: str, reason: str = "") -> None:
        """End the offer without a transfer."""
        self.state, self.failure_kind, self.withdrawn_reason = FAILED, kind, reason


def shown(offer: Offer, dso: str, templates: Templates, words: Vocabulary) -> dict[str, Any]:
    """Return the contract of an offer as the wire shows it; an accepted one lacks the description."""
    template = templates.transfer_offer if offer.state == CREATED else templates.accepted_offer
    payload: dict[str, Any] = {
        "sender": offer.sender,
        "receiver": offer.receiver,
        "dso": dso,
        "amount": {"amount": trimmed_decimal(offer.amount), "unit": f"{words.Coin}Unit"},
    }
    if offer.state == CREATED:
        payload["description"] = offer.asked.description
    payload |= {"expiresAt": instant(offer.asked.expires_at), "trackingId": offer.tracking_id}
    identifier = offer.contract(offer.state)
    return {
        "template_id": template.identifier,
        "contract_id": identifier,
        "payload": payload,
        "created_event_blob": base64.b64encode(bytes.fromhex(identifier)).decode(),
        "created_at": trimmed(offer.created_at),
    }


def trimmed_decimal(value: Decimal) -> str:
    """Write a decimal as contract payloads do: without trailing zeros, but with one place at least."""
    text = f"{value:f}"
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"
