"""The wallet client whose transfer offers are made exactly once."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from ledgerframes.api.status_errors import fetch_if_known
from ledgerframes.api.tokens import token_subject
from ledgerframes.api.transport import Transport
from ledgerframes.api.wallet import Wallet
from ledgerframes.errors import OfferUnresolvedError, UsageError
from ledgerframes.wallet.journal import Journal, TransferOffer
from ledgerframes.wallet.submission import Submission
from ledgerframes.wallet.terms import parse_terms, require_future, require_tracking_id

__all__ = ["OffersWallet"]

logger = logging.getLogger("ledgerframes")


class OffersWallet(Wallet):
    """Client of one wallet, with transfer offers that are made exactly once.

    The journal has each offer before it is sent. The subject of the token is the wallet's user.
    """

    def __init__(
        self,
        transport: Transport,
        journal: Journal,
        clock: Callable[[], datetime],
        token: Callable[[], str | None] | None = None,
    ) -> None:
        super().__init__(transport)
        self.journal = journal
        self._clock = clock
        self._token = token

    # -- making offers ----------------------------------------------------------------------------------------------

    def offer_transfer(
        self,
        *,
        receiver: str,
        amount: Decimal | int,
        description: str,
        expires_at: datetime | None = None,
        expires_in: timedelta | None = None,
        tracking_id: str | None = None,
    ) -> TransferOffer:
        """Offer a direct transfer, exactly once.

        The offer is in the journal before the first request. Another call with the same tracking id and terms, in this
        process or another one, resumes the same offer and never makes a second one (docs/facts.md#tracking-id-rules).

        Parameters
        ----------
        receiver : str
            Party id of the receiver.
        amount : Decimal or int
            In coin, above zero, at most ten decimal places.
        description : str
            Text for the receiver, fewer than 280 characters.
        expires_at : datetime, optional
            With a time zone; compared with ledger time, which may differ from wall-clock time.
        expires_in : timedelta, optional
            Instead of expires_at, from the first call.
        tracking_id : str, optional
            Fewer than 280 characters, a new id for each offer; by default a random id.

        Returns
        -------
        TransferOffer
            An offer that exists.

        Raises
        ------
        TypeError
            If the amount is a float.
        UsageError
            If an argument is invalid, or the tracking id was used with other terms; nothing is sent.
        OfferUnresolvedError
            If the offer was not made or its outcome is unknown, with the tracking id and the call that resumes it.
        """
        tracking_id = require_tracking_id(str(uuid.uuid4()) if tracking_id is None else tracking_id)
        now, user = self._clock(), self._user()
        terms = parse_terms(receiver, amount, description, expires_at, expires_in, now)
        offer = self.journal.find(tracking_id)
        if offer is None:
            require_future(terms, now)
            offer = self.journal.add(tracking_id, terms, self._address, user, now)
        differences = terms.differences(offer.terms)
        if differences:
            raise UsageError(
                f"tracking_id={tracking_id!r} was used for an offer with another {' and '.join(differences)}. "
                "Use a new tracking id for a new offer, or the first terms to resume that one."
            )
        return self._resolve(offer, user)

    def resume(self, tracking_id: str) -> TransferOffer:
        """Resume an offer of the journal until it exists.

        Raises
        ------
        UsageError
            If the journal does not have the offer, or it belongs to another wallet.
        OfferUnresolvedError
            If the offer was not made or its outcome is unknown.
        """
        return self._resolve(self.journal.get(tracking_id), self._user())

    def resume_all(self) -> list[TransferOffer]:
        """Resume all pending offers of this wallet.

        Returns
        -------
        list of TransferOffer
            The offers that were pending, with their current status.

        Raises
        ------
        OfferUnresolvedError
            If some are still unresolved after all were tried.
        """
        pending = [offer.tracking_id for offer in self._own() if offer.status == "pending"]
        failures: dict[str, OfferUnresolvedError] = {}
        for tracking_id in pending:
            try:
                self.resume(tracking_id)
            except OfferUnresolvedError as error:
                logger.warning("offer_unresolved tracking_id=%s outcome=%s status=%d", tracking_id, error.outcome, error.status)
                failures[tracking_id] = error
        offers = [self.journal.get(tracking_id) for tracking_id in pending]
        unresolved = [failures[offer.tracking_id] for offer in offers if offer.status == "pending"]
        if unresolved:
            first = unresolved[0]
            raise OfferUnresolvedError(
                f"{len(unresolved)} of {len(pending)} offers are still unresolved, the first {first.tracking_id}. "
                "Call net.wallet.resume_all() after fixing the cause.",
                tracking_id=first.tracking_id,
                outcome=first.outcome,
                status=first.status,
                next_call="net.wallet.resume_all()",
            ) from first
        return offers

    def refresh(self) -> list[TransferOffer]:
        """Fetch the status of every unfinished offer of this wallet, without making any offer.

        An offer stays pending if the status may be that of another call's offer with the same tracking id.

        Returns
        -------
        list of TransferOffer
            All offers of the journal, the oldest first.
        """
        for offer in self._own():
            if not offer.finished and offer.attempt_count:
                try:
                    status = fetch_if_known(partial(self.offer_status, offer.tracking_id))
                    if status is None:
                        self.journal.record_absence(offer.tracking_id, self._clock())
                    else:
                        Submission(self, self.journal, self._clock, offer).record(status)
                except OfferUnresolvedError as error:  # the status may be that of another call's offer
                    logger.warning("offer_unresolved tracking_id=%s outcome=%s", offer.tracking_id, error.outcome)
        return self.journal.offers()

    # -- ownership ------------------------------------------------------------------------------------------------------

    def _resolve(self, offer: TransferOffer, user: str | None) -> TransferOffer:
        if not self._is_own(offer, user):  # sent to both wallets, the offer would be made twice
            owner = f" of user {offer.wallet_user}" if offer.wallet_user else ""
            raise UsageError(
                f"Offer {offer.tracking_id} belongs to another wallet, {offer.wallet}{owner}. "
                "Connect with wallet_url= and the token of that wallet."
            )
        return offer if offer.exists else Submission(self, self.journal, self._clock, offer).resolve()

    def _own(self) -> list[TransferOffer]:
        user = self._user()
        return [offer for offer in self.journal.offers() if self._is_own(offer, user)]

    def _is_own(self, offer: TransferOffer, user: str | None) -> bool:
        return offer.wallet == self._address and (None in (offer.wallet_user, user) or offer.wallet_user == user)

    @property
    def _address(self) -> str:
        return self.transport.urls[0]

    def _user(self) -> str | None:
        return token_subject(self._token() if self._token else None)
