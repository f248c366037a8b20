"""One offer on its way: sent, and asked about until its outcome is known."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from ledgerframes.api.transport import tries
from ledgerframes.api.wallet import Wallet, retryable
from ledgerframes.datasets.offers.wire import OfferStatus
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
from ledgerframes.wallet.contents import Contents
from ledgerframes.wallet.journal import Journal, TransferOffer
from ledgerframes.windows import iso

__all__ = ["Submission"]

# Asks of a status that is 404: right after a creation it may not be there yet (docs/facts.md#offer-status-lag).
LOOKS = 4
# How long after its expiry an offer may still turn up: expiry is compared with ledger time, which skews (order).
SKEW = timedelta(hours=1)
# Answers that say that this very request made no offer: 408 and 5xx do not say so.
BAD_CONTENTS = (400, 413, 415, 422)
CONFLICT = "ConflictError 409"
WITHOUT_EFFECT = (*BAD_CONTENTS, 401, 403, 404, 405, 429)


class Submission:
    """Brings one offer of the journal to a known outcome; every request carries the same tracking id and contents.

    Parameters
    ----------
    wallet : Wallet
    journal : Journal
    clock : callable
        The present, with a time zone.

    Notes
    -----
    Source: docs/facts.md#tracking-id-rules. On 429 the same request is sent again; on 409, and
    whenever an answer does not come or leaves it open, the status is asked first, and then the same request is sent again.
    """

    def __init__(self, wallet: Wallet, journal: Journal, clock: Callable[[], datetime]) -> None:
        self._wallet = wallet
        self._journal = journal
        self._clock = clock

    def settle(self, offer: TransferOffer) -> TransferOffer:
        """The offer as it exists now.

        Raises
        ------
        OfferUnresolvedError
            If it was not made, or that is not known.
        """
        try:
            return self._asked_or_sent(offer)
        except OfferUnresolvedError:
            raise
        except LedgerframesError as error:
            raise self._unresolved(offer.tracking_id, error) from error

    def _asked_or_sent(self, offer: TransferOffer) -> TransferOffer:
        if offer.open_attempts:
            found = self._found(offer.tracking_id)
            if found is not None:
                return found
        for attempt in tries(self._wallet.limits.retries + 1, _send_again):
            with attempt:
                return self._sent(offer.tracking_id)
        raise AssertionError("retry_context returns or raises")

    def _sent(self, tracking_id: str) -> TransferOffer:
        """Send an offer once; when that leaves its outcome open, ask for it."""
        contents = self._journal.contents(tracking_id)
        assert contents is not None
        too_late = self._expired(tracking_id)
        if too_late is not None:
            return too_late
        self._journal.sending(tracking_id, self._clock())
        try:
            contract_id = self._created(tracking_id, contents)
        except ServiceError as error:
            if error.status in WITHOUT_EFFECT:
                self._answered(tracking_id, error)
            else:
                self._journal.unknown(tracking_id, _in_short(error), self._clock())
            failure: LedgerframesError = error
        except (TransportError, DecodeError) as error:
            self._journal.unknown(tracking_id, _in_short(error), self._clock())
            failure = error
        else:
            return self._journal.found(tracking_id, OfferStatus(status="created", contract_id=contract_id), self._clock())
        # On 429 the rule is to send again, and the answer to that tells as much as the status would.
        found = None if isinstance(failure, BusyError) else self._found(tracking_id)
        if found is None:
            raise failure
        return found

    def _created(self, tracking_id: str, contents: Contents) -> str:
        return self._wallet.create_offer(
            receiver_party_id=contents.receiver_party_id,
            amount=contents.amount,
            description=contents.description,
            expires_at=contents.expires_at,
            tracking_id=tracking_id,
        )

    def _answered(self, tracking_id: str, error: ServiceError) -> None:
        """Write down an answer without effect; it is an end unless an earlier request may have made the offer."""
        refused = error.status in BAD_CONTENTS
        offer = self._journal.answered(tracking_id, _in_short(error), self._clock(), refused=refused)
        if offer.open_attempts or offer.exists or isinstance(error, BusyError):
            return
        call = _call(tracking_id)
        next_step = (
            f"For another offer, use a new tracking id; to try this one again, {call}." if refused else f"Then go on: {call}."
        )
        raise OfferUnresolvedError(
            f"Offer {tracking_id} was not made. {error} {next_step}",
            tracking_id=tracking_id,
            outcome="refused",
            status=error.status,
            resume=call,
        ) from error

    def _found(self, tracking_id: str) -> TransferOffer | None:
        """The offer if the wallet has it, None if it has not or cannot say now."""
        try:
            return self._looked_up(tracking_id)
        except (ServiceError, TransportError, DecodeError) as error:
            if isinstance(error, NotFoundError) or _look_again(error):
                return None
            raise

    def _looked_up(self, tracking_id: str) -> TransferOffer:
        for attempt in tries(LOOKS, _look_again):
            with attempt:
                status = self._wallet.offer_status_once(tracking_id)
                self._require_own(tracking_id, status)
                return self._journal.found(tracking_id, status, self._clock())
        raise AssertionError("retry_context returns or raises")

    def _require_own(self, tracking_id: str, status: OfferStatus) -> None:
        """Refuse an offer that another store made under this tracking id with other contents, as far as it can still be read.

        Only where no request from here can have made it: the one that is open was answered with 409.
        """
        meant = self._journal.get(tracking_id)
        if meant.exists or meant.open_attempts != 1 or meant.last_failure != CONFLICT or status.status != "created":
            return
        try:
            contracts = self._wallet.offers()
        except (ServiceError, TransportError, DecodeError):
            return  # that the offer exists is known all the same
        for contract in contracts:
            if contract.contract_id == status.contract_id:
                made = contract.payload
                texts = (made.receiver, made.description) == (meant.receiver_party_id, meant.description)
                if texts and made.amount.amount == meant.amount:
                    return
                self._journal.answered(tracking_id, CONFLICT, self._clock(), refused=True)
                raise OfferUnresolvedError(
                    f"Offer {tracking_id} was not made: its tracking id was used elsewhere, for an offer of {made.amount.amount} "
                    f"to {made.receiver}. Use a new tracking id.",
                    tracking_id=tracking_id,
                    outcome="refused",
                    status=409,
                    resume=_call(tracking_id),
                )

    # -- limits of what may be sent ---------------------------------------------------------------------------------

    def _expired(self, tracking_id: str) -> TransferOffer | None:
        """Never send what has expired: the offer if it is there after all, None while there is time left.

        It is given up only when it cannot turn up any more.
        """
        offer = self._journal.get(tracking_id)
        now = self._clock()
        if now < offer.expires_at:
            return None
        if offer.open_attempts:
            with suppress(NotFoundError):  # which is the wallet's word that it does not have it
                return self._looked_up(tracking_id)
        lapsed = not offer.open_attempts or now >= offer.expires_at + SKEW
        self._journal.not_found(tracking_id, now, lapsed=lapsed)
        later = f"It may still turn up within {SKEW}; then ask again: {_call(tracking_id)}."
        raise OfferUnresolvedError(
            f"Offer {tracking_id} expired at {iso(offer.expires_at)} before the wallet had it, and is not sent any more. "
            + ("Make a new offer with a new tracking id." if lapsed else later),
            tracking_id=tracking_id,
            outcome="lapsed" if lapsed else "unknown",
            resume=_call(tracking_id),
        )

    @staticmethod
    def _unresolved(tracking_id: str, error: LedgerframesError) -> OfferUnresolvedError:
        call = _call(tracking_id)
        return OfferUnresolvedError(
            f"It is not known whether offer {tracking_id} was made. {error} Then go on: {call}; that cannot make it twice.",
            tracking_id=tracking_id,
            status=error.status if isinstance(error, ServiceError) else 0,
            resume=call,
        )


def _call(tracking_id: str) -> str:
    return f"net.wallet.resume({tracking_id!r})"


def _in_short(error: LedgerframesError) -> str:
    """Class and status only: the journal keeps no words of a service."""
    return f"{type(error).__name__} {error.status}" if isinstance(error, ServiceError) else type(error).__name__


def _send_again(error: Exception) -> bool | float:
    """Whether the same tracking id is sent again: on 429, and whenever the outcome is still open."""
    if isinstance(error, ServiceError) and not error.retryable:
        return isinstance(error, ConflictError) or error.status not in WITHOUT_EFFECT
    return isinstance(error, DecodeError) or retryable(error)


def _look_again(error: Exception) -> bool | float:
    """Whether the status is asked again: on 404 too, because it may lag behind the creation (docs/facts.md#offer-status-lag)."""
    return isinstance(error, NotFoundError | DecodeError) or retryable(error)
