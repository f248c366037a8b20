"""All offers of a sandbox, and the automation that moves them on (docs/facts.md#transfer-offers).

Time passes by the sandbox's clock; "a moment" is counted in requests to the wallet, so that tests need not wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from threading import RLock

from ..clock import Clock
from ..requests import Refusal
from .offers import ACCEPTED, COMPLETED, CREATED, EXPIRED, REJECTED, WITHDRAWN, Offer, OfferRequest

PROCESSING_REQUESTS = 3  # how long a submission is being processed after a 429
HIDDEN_STATUSES = 2  # how often a late status is not found
INITIAL_BALANCE = Decimal("100000")
OUT_OF_FUNDS = "the sender has not enough coin left"


@dataclass(slots=True)
class _Processing:
    """A submission whose outcome is open."""

    sender: str
    asked: OfferRequest
    until: int  # number of the request at which it is decided
    succeeds: bool


def _nothing_strikes(fault: str) -> bool:
    return False


class OfferBook:
    """The offers, by tracking id.

    Parameters
    ----------
    clock
        The present.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = RLock()
        self._offers: dict[tuple[str, str], Offer] = {}
        self._processing: dict[tuple[str, str], _Processing] = {}
        self._requests = 0
        self.balances: dict[str, Decimal] = {}

    @property
    def offers(self) -> list[Offer]:
        """Copies of all offers that exist, in the order of their making; nothing is moved on by looking."""
        with self._lock:
            return [replace(offer) for offer in self._offers.values()]

    def begin_request(self) -> None:
        """Count a request, and let the automation do what is due."""
        with self._lock:
            self._requests += 1
            for key, waiting in list(self._processing.items()):
                if self._requests >= waiting.until:
                    del self._processing[key]
                    if waiting.succeeds:
                        self._make(waiting.sender, waiting.asked)
            for offer in self._offers.values():
                self._move_on(offer)

    def _move_on(self, offer: Offer) -> None:
        if offer.state == CREATED and self._clock.now() >= offer.asked.expires_at:
            offer.fail(EXPIRED)
        elif offer.state == ACCEPTED and self._requests > offer.accepted_at_request + 1:
            if self.balance(offer.sender) < offer.amount:
                offer.fail(WITHDRAWN, OUT_OF_FUNDS)
                return
            self.balances[offer.sender] = self.balance(offer.sender) - offer.amount
            self.balances[offer.receiver] = self.balance(offer.receiver) + offer.amount
            offer.state = COMPLETED

    def balance(self, party: str) -> Decimal:
        """Return what a party's wallet holds."""
        return self.balances.get(party, INITIAL_BALANCE)

    def create(self, sender: str, asked: OfferRequest, strikes: Callable[[str], bool] = _nothing_strikes) -> Offer:
        """Make an offer, or refuse by the rules of tracking ids.

        Parameters
        ----------
        sender
            Party id of the wallet's owner.
        asked
            The request.
        strikes
            Tells whether a fault strikes this request.
        """
        with self._lock:
            key = sender, asked.tracking_id
            if key in self._offers:
                raise Refusal(409, f"an offer with tracking id {asked.tracking_id} has been created")
            if key in self._processing:
                raise self._busy(asked)
            asked.check(self._clock.now())
            if strikes("wallet_429"):
                until = self._requests + PROCESSING_REQUESTS
                succeeds = strikes("wallet_429_succeeds")
                self._processing[key] = _Processing(sender, asked, until, succeeds)
                raise self._busy(asked)
            offer = self._make(sender, asked)
            if strikes("late_status"):
                offer.status_hidden = HIDDEN_STATUSES
            return offer

    @staticmethod
    def _busy(asked: OfferRequest) -> Refusal:
        return Refusal(429, f"an offer with tracking id {asked.tracking_id} is still being processed")

    def _make(self, sender: str, asked: OfferRequest) -> Offer:
        offer = Offer(sender, asked, self._clock.now(), len(self._offers))
        self._offers[sender, asked.tracking_id] = offer
        return offer

    def status(self, sender: str, tracking_id: str) -> Offer:
        """Return an offer by its tracking id, or refuse while it is unknown."""
        with self._lock:
            offer = self._offers.get((sender, tracking_id))
            if offer is None or offer.status_hidden:
                if offer:
                    offer.status_hidden -= 1
                raise Refusal(404, f"no offer with tracking id {tracking_id} is known")
            return offer

    def of(self, party: str, state: str) -> list[Offer]:
        """Return the offers in a state that a party has sent or received."""
        with self._lock:
            return [offer for offer in self._offers.values() if offer.state == state and party in (offer.sender, offer.receiver)]

    def accept(self, contract_id: str, by: str | None = None) -> Offer:
        """Accept an offer; `by` is its receiver, or None when nobody asks who it is."""
        with self._lock:
            offer = self._waiting(contract_id, by, receiver=True)
            offer.state, offer.accepted_at_request = ACCEPTED, self._requests
            return offer

    def reject(self, contract_id: str, by: str | None = None) -> None:
        """Reject an offer, as its receiver."""
        with self._lock:
            self._waiting(contract_id, by, receiver=True).fail(REJECTED)

    def withdraw(self, contract_id: str, by: str | None = None) -> None:
        """Withdraw an offer, as its sender."""
        with self._lock:
            self._waiting(contract_id, by, receiver=False).fail(WITHDRAWN, "withdrawn by the sender")

    def _waiting(self, contract_id: str, by: str | None, receiver: bool) -> Offer:
        for offer in self._offers.values():
            if offer.contract() == contract_id and offer.state == CREATED:
                self._move_on(offer)
                entitled = offer.receiver if receiver else offer.sender
                if offer.state == CREATED and by in (None, entitled):
                    return offer
        raise Refusal(404, f"no active transfer offer {contract_id}")
