"""The transfer offers of the wallet, in memory apart from the seeded world.

See docs/facts.md#wallet-api. Time passes by the sandbox's clock. Delays are counted in requests to the wallet, so that
tests need not wait.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from threading import RLock

import msgspec

from .identifiers import PREFIX, contract_id
from .randomness import digest
from .responses import HttpError, Json
from .times import Clock

CREATED, ACCEPTED, COMPLETED, FAILED = "created", "accepted", "completed", "failed"
EXPIRED, REJECTED, WITHDRAWN = "expired", "rejected", "withdrawn"
MAX_TEXT = 279  # characters
MAX_TIME = 253_402_300_799_999_999  # last microsecond that a time of the contract language can have
AMOUNT = re.compile(r"\d{1,28}(\.\d{1,10})?", re.ASCII)
PARTY = re.compile(r"[A-Za-z0-9_-]+::[0-9a-f]+")
PROCESSING_REQUESTS = 3  # duration of a submission after a 429
HIDDEN_STATUSES = 2  # requests for a late status that get a 404
INITIAL_BALANCE = Decimal("100000")
OUT_OF_FUNDS = "the sender has not enough coin left"


class OfferRequest(msgspec.Struct, frozen=True):
    """Body of a new offer."""

    receiver_party_id: str
    amount: str
    description: str
    expires_at: int
    tracking_id: str

    def check(self, now: int) -> None:
        """Refuse terms that the contract does not allow, at a time in microseconds since 1970."""
        refusals = {
            f"'{self.receiver_party_id}' is not a party id": not PARTY.fullmatch(self.receiver_party_id),
            f"amount '{self.amount}' is not a positive decimal of at most ten places": (
                not AMOUNT.fullmatch(self.amount) or not Decimal(self.amount)
            ),
            f"description must have 1 to {MAX_TEXT} characters": not 0 < len(self.description) <= MAX_TEXT,
            f"tracking_id must have 1 to {MAX_TEXT} characters": not 0 < len(self.tracking_id) <= MAX_TEXT,
            f"expires_at {self.expires_at} has passed: it is {now}": self.expires_at <= now,
            f"expires_at {self.expires_at} is after the year 9999": self.expires_at > MAX_TIME,
        }
        for message, applies in refusals.items():
            if applies:
                raise HttpError(400, message)


@dataclass(slots=True)
class Offer:
    """A transfer offer."""

    sender: str  # party id
    request: OfferRequest  # its terms
    created_at: int  # microseconds since 1970
    number: int  # of earlier offers
    state: str = CREATED
    failure_kind: str = ""
    withdrawn_reason: str = ""
    accepted_at_request: int = 0  # number of the request that accepted it
    status_hidden: int = 0  # further requests for its status that get a 404

    @property
    def tracking_id(self) -> str:
        """Tracking id."""
        return self.request.tracking_id

    @property
    def receiver(self) -> str:
        """Party id of the receiver."""
        return self.request.receiver_party_id

    @property
    def amount(self) -> Decimal:
        """Amount of coin."""
        return Decimal(self.request.amount)

    def contract(self, state: str = CREATED) -> str:
        """Return the offer's contract id in a state."""
        return contract_id("wallet offer", self.sender, self.tracking_id, self.number, state)

    def status(self) -> Json:
        """Return the status in the form of the API."""
        if self.state == FAILED:
            reason = {"withdrawn_reason": self.withdrawn_reason} if self.failure_kind == WITHDRAWN else {}
            return {"status": FAILED, "failure_kind": self.failure_kind, **reason}
        transaction_id = PREFIX + digest("wallet update", self.sender, self.tracking_id, self.state)
        return {"status": self.state, "transaction_id": transaction_id, "contract_id": self.contract(self.state)}

    def fail(self, kind: str, reason: str = "") -> None:
        """End the offer without a transfer."""
        self.state, self.failure_kind, self.withdrawn_reason = FAILED, kind, reason


class OfferBook:
    """Offers and the automation that advances them (docs/facts.md#transfer-offers)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = RLock()
        self._offers: dict[tuple[str, str], Offer] = {}
        # Submissions whose outcome is open, with the number of the request that decides it, and whether they succeed.
        self._submissions: dict[tuple[str, str], tuple[OfferRequest, int, bool]] = {}
        self._requests = 0
        self.balances: dict[str, Decimal] = {}

    @property
    def offers(self) -> list[Offer]:
        """Copies of all offers in order of creation, none of which advances."""
        with self._lock:
            return [replace(offer) for offer in self._offers.values()]

    def start_request(self) -> list[OfferRequest]:
        """Count a request, advance what is due, and return the submissions that became offers."""
        created = []
        with self._lock:
            self._requests += 1
            for key, (request, until, succeeds) in list(self._submissions.items()):
                if self._requests >= until:
                    del self._submissions[key]
                    if succeeds:
                        created.append(self._add(key[0], request).request)
            for offer in self._offers.values():
                self._advance(offer)
        return created

    def _advance(self, offer: Offer) -> None:
        if offer.state == CREATED and self._clock.now() >= offer.request.expires_at:
            offer.fail(EXPIRED)
        elif offer.state == ACCEPTED and self._requests > offer.accepted_at_request + 1:
            if self.balance(offer.sender) < offer.amount:
                offer.fail(WITHDRAWN, OUT_OF_FUNDS)
                return
            self.balances[offer.sender] = self.balance(offer.sender) - offer.amount
            self.balances[offer.receiver] = self.balance(offer.receiver) + offer.amount
            offer.state = COMPLETED

    def balance(self, party: str) -> Decimal:
        """Return the balance of a party's wallet."""
        return self.balances.get(party, INITIAL_BALANCE)

    def create(self, sender: str, request: OfferRequest, strikes: Callable[[str], bool]) -> Offer:
        """Create an offer, or refuse it by the rules of tracking ids."""
        with self._lock:
            key = sender, request.tracking_id
            busy = HttpError(429, f"an offer with tracking id {request.tracking_id} is still being processed")
            if key in self._offers:
                raise HttpError(409, f"an offer with tracking id {request.tracking_id} has been created")
            if key in self._submissions:
                raise busy
            request.check(self._clock.now())
            if strikes("wallet_429"):
                self._submissions[key] = request, self._requests + PROCESSING_REQUESTS, strikes("wallet_429_succeeds")
                raise busy
            offer = self._add(sender, request)
            if strikes("late_status"):
                offer.status_hidden = HIDDEN_STATUSES
            return offer

    def _add(self, sender: str, request: OfferRequest) -> Offer:
        offer = Offer(sender, request, self._clock.now(), len(self._offers))
        self._offers[sender, request.tracking_id] = offer
        return offer

    def status(self, sender: str, tracking_id: str) -> Offer:
        """Return an offer by its tracking id, or refuse while its status is unknown."""
        with self._lock:
            offer = self._offers.get((sender, tracking_id))
            if offer and not offer.status_hidden:
                return offer
            if offer:
                offer.status_hidden -= 1
            raise HttpError(404, f"no offer with tracking id {tracking_id} is known")

    def of(self, party: str, state: str) -> list[Offer]:
        """Return the offers in a state that a party sent or received."""
        with self._lock:
            return [offer for offer in self._offers.values() if offer.state == state and party in (offer.sender, offer.receiver)]

    def accept(self, contract_id: str, by: str | None = None) -> Offer:
        """Accept an offer as its receiver, where None is whoever is entitled."""
        with self._lock:
            offer = self._open_offer(contract_id, by, receiver=True)
            offer.state, offer.accepted_at_request = ACCEPTED, self._requests
            return offer

    def reject(self, contract_id: str, by: str | None = None) -> None:
        """Reject an offer as its receiver."""
        with self._lock:
            self._open_offer(contract_id, by, receiver=True).fail(REJECTED)

    def withdraw(self, contract_id: str, by: str | None = None) -> None:
        """Withdraw an offer as its sender."""
        with self._lock:
            self._open_offer(contract_id, by, receiver=False).fail(WITHDRAWN, "withdrawn by the sender")

    def _open_offer(self, contract_id: str, by: str | None, receiver: bool) -> Offer:
        for offer in self._offers.values():
            if offer.contract() == contract_id and by in (None, offer.receiver if receiver else offer.sender):
                self._advance(offer)
                if offer.state == CREATED:
                    return offer
        raise HttpError(404, f"no active transfer offer {contract_id}")
