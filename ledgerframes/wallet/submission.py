"""The submission of one offer, repeated until its outcome is certain."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from ledgerframes.api.host_rates import is_retryable, retry
from ledgerframes.api.status_errors import PERMANENT, fetch_if_known
from ledgerframes.api.wallet import Wallet
from ledgerframes.datasets.offers.wire import OfferPayload, OfferStatus
from ledgerframes.errors import (
    BusyError,
    ConflictError,
    DecodeError,
    LedgerframesError,
    NotFoundError,
    OfferUnresolvedError,
    ServiceError,
    TransportError,
)
from ledgerframes.values.windows import iso
from ledgerframes.wallet.journal import Journal, TransferOffer

__all__ = ["Submission"]

# Right after its creation, the status of an offer may still be 404 (docs/facts.md#offer-status-lag).
MAX_STATUS_CHECKS = 4
# An expired offer may still appear for this long, because expiry is compared with ledger time (docs/facts.md#transfer-offers).
EXPIRY_GRACE = timedelta(hours=1)
# Statuses of a response that certainly made no offer. 408 and 5xx leave the outcome open.
INVALID_TERMS = (400, 413, 415, 422)
MAY_HIDE_AN_EFFECT = (400, 403, 404)  # a proxy may return them after the wallet has made the offer
WITHOUT_EFFECT = (*INVALID_TERMS, 401, 403, 404, 405, 429)
CONFLICT, BUSY = "ConflictError 409", "BusyError 429"  # as in the journal
FAILURES = (ServiceError, TransportError, DecodeError)  # of a request


class Submission:
    """Brings one offer of the journal to a certain outcome.

    Every request has the same tracking id and terms. On 429, the same request is sent again. On 409, and if a response is
    missing or leaves the outcome open, the status is fetched first (docs/facts.md#tracking-id-rules).
    """

    def __init__(self, wallet: Wallet, journal: Journal, clock: Callable[[], datetime], offer: TransferOffer) -> None:
        self._wallet = wallet
        self._journal = journal
        self._clock = clock
        self._offer = offer
        self._tracking_id = offer.tracking_id
        self._next_call = f"net.wallet.resume({offer.tracking_id!r})"
        self._terms = offer.terms

    def resolve(self) -> TransferOffer:
        """Return the offer once it exists, or raise OfferUnresolvedError."""
        try:
            return self._find_or_send()
        except OfferUnresolvedError:
            raise
        except LedgerframesError as error:
            cause = _without_step(error) if _is_resendable(error) else error
            message = (
                f"The outcome of offer {self._tracking_id} is unknown: {cause} "
                f"Call {self._next_call} to resume, which cannot make the offer twice."
            )
            raise self._unresolved(message, "unknown", error.status if isinstance(error, ServiceError) else 0) from error

    def record(self, status: OfferStatus) -> TransferOffer:
        """Record the wallet's status of the offer.

        Raises
        ------
        OfferUnresolvedError
            If it is, or may be, the status of another call's offer.
        """
        own = self._journal.get(self._tracking_id)
        # The open request returned 409, so that another store made an offer with this tracking id, maybe with other terms.
        if not own.exists and own.open_attempts == 1 and own.last_failure == CONFLICT:
            self._compare_terms(status, is_conflict=True)
        return self._journal.update_status(self._tracking_id, status, self._clock())

    def _unresolved(self, message: str, outcome: str, status: int = 0) -> OfferUnresolvedError:
        facts = {"tracking_id": self._tracking_id, "outcome": outcome, "next_call": self._next_call}
        return OfferUnresolvedError(message, status=status, **facts)

    def _find_or_send(self) -> TransferOffer:
        existing = self._find() if self._offer.open_attempts else None
        if existing is not None:
            return existing
        return self._retry(self._send, self._wallet.transport.limits.retries + 1, _is_resendable)

    def _retry(self, call: Callable[[], TransferOffer], attempts: int, on: Callable[[Exception], bool]) -> TransferOffer:
        transport = self._wallet.transport
        return retry(call, attempts, on, transport.waits, transport.limits.max_wait_seconds)

    def _send(self) -> TransferOffer:
        """Send the offer once, and look it up if the outcome is open."""
        existing = self._check_expiry()
        if existing is not None:
            return existing
        self._journal.record_attempt(self._tracking_id, self._clock())
        try:
            contract_id = self._wallet.create_offer(
                receiver_party_id=self._terms.receiver_party_id,
                amount=self._terms.amount,
                description=self._terms.description,
                expires_at=self._terms.expires_at,
                tracking_id=self._tracking_id,
            )
        except ServiceError as error:
            if error.status in MAY_HIDE_AN_EFFECT and (existing := self._find_despite(error)):
                return existing
            if error.status in WITHOUT_EFFECT:
                self._record_refusal(error)
            elif isinstance(error, ConflictError) and self._is_second_conflict():
                self._journal.record_refusal(self._tracking_id, CONFLICT, self._clock(), is_final=False)
            else:
                self._record_unknown_outcome(error)
            failure: LedgerframesError = error
        except (TransportError, DecodeError) as error:
            self._record_unknown_outcome(error)
            failure = error
        else:
            status = OfferStatus(status="created", contract_id=contract_id)
            # Since 0.7.1, the wallet returns the earlier offer of a tracking id instead of 409 (docs/facts.md#versions).
            self._compare_terms(status)
            return self._journal.update_status(self._tracking_id, status, self._clock())
        # On 429 the rule is to send again, and the response to that is as good as the status.
        existing = None if isinstance(failure, BusyError) else self._find()
        if existing is None:
            raise failure
        return existing

    def _record_unknown_outcome(self, error: LedgerframesError) -> None:
        self._journal.record_unknown_outcome(self._tracking_id, _label(error), self._clock())

    def _is_second_conflict(self) -> bool:
        """Return whether a 409 repeats that of an earlier request, and so opens nothing more."""
        offer = self._journal.get(self._tracking_id)
        return offer.open_attempts > 1 and offer.last_failure == CONFLICT

    def _record_refusal(self, error: ServiceError) -> None:
        """Record a response without effect, and raise unless an earlier request is open."""
        is_final = error.status in INVALID_TERMS
        offer = self._journal.record_refusal(self._tracking_id, _label(error), self._clock(), is_final=is_final)
        if offer.open_attempts or offer.exists or isinstance(error, BusyError):
            return
        step = f"{'Use a new tracking_id= for other terms, or call' if is_final else 'Call'} {self._next_call} to retry."
        message = f"Offer {self._tracking_id} was not made: {_without_step(error) if is_final else error} {step}"
        raise self._unresolved(message, "refused", error.status) from error

    def _find_despite(self, refusal: ServiceError) -> TransferOffer | None:
        """Return the offer if it exists although its request was refused.

        None if the wallet itself says that it does not have it. If its status cannot be fetched, the outcome is unknown, and
        the refusal is raised.
        """
        try:
            return fetch_if_known(self._fetch_offer)
        except FAILURES:
            self._record_unknown_outcome(refusal)
            raise refusal from None

    def _find(self) -> TransferOffer | None:
        """Return the offer, or None if the wallet does not have it or is not available."""
        try:
            return self._fetch_offer()
        except FAILURES as error:
            if _is_status_unavailable(error):
                return None
            raise

    def _fetch_offer(self) -> TransferOffer:
        return self._retry(self._fetch_offer_once, MAX_STATUS_CHECKS, _is_status_unavailable)

    def _fetch_offer_once(self) -> TransferOffer:
        return self.record(self._wallet.offer_status_once(self._tracking_id))

    def _compare_terms(self, status: OfferStatus, *, is_conflict: bool = False) -> None:
        """Refuse an offer of the wallet whose terms differ, or cannot be compared any more.

        After a conflict, an offer whose terms cannot be fetched has an unknown outcome.
        """
        try:
            payload = self._payload_of(status)
            if payload is None and status.status == "created":  # an earlier offer may have moved on
                status = self._wallet.offer_status_once(self._tracking_id)
                payload = self._payload_of(status)
        except FAILURES as error:
            if is_conflict:
                raise self._terms_unknown_error() from error
            return  # the offer exists, even if its terms cannot be compared
        if payload is not None:
            self._require_terms(payload)
        # The wallet may not list it yet, and an earlier request of this journal may have made it.
        elif status.status != "created" and self._journal.get(self._tracking_id).open_attempts == 1:
            self._journal.record_unknown_outcome(self._tracking_id, CONFLICT, self._clock())
            message = (
                f"Offer {self._tracking_id} is {status.status} in the wallet, which may be an offer of another call, because its "
                "terms cannot be compared any more. Look up its transfer before you use a new tracking_id=."
            )
            raise self._unresolved(message, "unknown", 409)
        elif is_conflict:
            raise self._terms_unknown_error()

    def _terms_unknown_error(self) -> OfferUnresolvedError:
        message = (
            f"The outcome of offer {self._tracking_id} is unknown: the wallet has an offer with this tracking id, but did not "
            f"return its terms. Call {self._next_call} to resume, which cannot make the offer twice."
        )
        return self._unresolved(message, "unknown", 409)

    def _payload_of(self, status: OfferStatus) -> OfferPayload | None:
        """Return the payload of an offer, or None if the wallet does not list it."""
        lists = {"created": self._wallet.offers, "accepted": self._wallet.accepted_offers}
        offers = lists[status.status]() if status.status in lists else []
        return next((offer.payload for offer in offers if offer.contract_id == status.contract_id), None)

    def _require_terms(self, payload: OfferPayload) -> None:
        differences = self._terms.differences_from_wallet(payload, self._tracking_id)
        if differences:
            self._journal.record_refusal(self._tracking_id, CONFLICT, self._clock(), is_final=True)
            message = (
                f"Offer {self._tracking_id} was not made: its tracking id was used elsewhere, for an offer of "
                f"{payload.amount.amount} to {payload.receiver} with another {', '.join(differences)}. Use a new tracking_id=."
            )
            raise self._unresolved(message, "refused", 409)

    def _check_expiry(self) -> TransferOffer | None:
        """Return an expired offer that exists, or None if the offer has not expired.

        Any other offer raises OfferUnresolvedError, and lapses only when it cannot appear any more. An offer whose status cannot
        be fetched raises the error of that request.
        """
        offer = self._journal.get(self._tracking_id)
        now = self._clock()
        if now < offer.expires_at:
            return None
        if offer.attempt_count and (existing := fetch_if_known(self._fetch_offer)):
            return existing
        # A busy wallet may be making the offer, for a request of another store.
        may_appear = offer.open_attempts or offer.last_failure == BUSY
        has_lapsed = not may_appear or now >= offer.expires_at + EXPIRY_GRACE
        self._journal.record_absence(self._tracking_id, now, has_lapsed=has_lapsed)
        message = (
            f"Offer {self._tracking_id} expired at {iso(offer.expires_at)} before the wallet confirmed it, and will not be "
            "sent again. "
        )
        if has_lapsed:
            raise self._unresolved(f"{message}Create an offer with a new tracking_id=.", "lapsed")
        raise self._unresolved(f"{message}Call {self._next_call} in an hour to see if it exists.", "unknown")


def _without_step(error: LedgerframesError) -> str:
    """Return an error's message without its next step."""
    message, separator, _ = str(error).rstrip(".").rpartition(". ")
    return f"{message}." if separator else str(error)


def _label(error: LedgerframesError) -> str:
    """Return class and status only, because the journal contains no text of a service."""
    return f"{type(error).__name__} {error.status}" if isinstance(error, ServiceError) else type(error).__name__


def _is_resendable(error: Exception) -> bool:
    """Return whether the same tracking id is sent again, on 429 or if the outcome is open.

    A redirect, or a service without the operation, gives the same response again.
    """
    if isinstance(error, ServiceError) and not error.retryable:
        is_permanent = error.status // 100 == 3 or error.status in {*PERMANENT, *WITHOUT_EFFECT}
        return isinstance(error, ConflictError) or not is_permanent
    return isinstance(error, DecodeError) or is_retryable(error)


def _is_status_unavailable(error: Exception) -> bool:
    """Return whether to fetch the status again, also on 404 (docs/facts.md#offer-status-lag)."""
    return isinstance(error, NotFoundError | DecodeError) or is_retryable(error)
