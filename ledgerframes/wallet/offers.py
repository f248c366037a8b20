"""Exactly once: an offer is journalled, sent, and asked about until its outcome is known."""

from __future__ import annotations

import base64
import json
import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from ledgerframes.api.transport import Transport
from ledgerframes.api.wallet import Wallet
from ledgerframes.errors import NotFoundError, OfferUnresolvedError, UsageError
from ledgerframes.wallet.contents import checked_contents, checked_tracking_id, require_future
from ledgerframes.wallet.journal import Journal, TransferOffer
from ledgerframes.wallet.submission import Submission

if TYPE_CHECKING:
    from ledgerframes.settings import Limits

__all__ = ["OffersWallet"]

logger = logging.getLogger("ledgerframes")


class OffersWallet(Wallet):
    """One wallet, with transfer offers that are made exactly once.

    Parameters
    ----------
    transport : Transport
    limits : Limits
    journal : Journal
        Where offers are written down before they are sent.
    clock : callable
        The present, with a time zone.
    token : callable
        Gives the bearer token of the moment; only its subject is looked at, to know whose wallet this is.
    """

    def __init__(
        self,
        transport: Transport,
        limits: Limits,
        journal: Journal,
        clock: Callable[[], datetime],
        token: Callable[[], str | None] | None = None,
    ) -> None:
        super().__init__(transport, limits)
        self.journal = journal
        self._clock = clock
        self._token = token

    # -- what people call -------------------------------------------------------------------------------------------

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

        The offer is written to the journal before the first request. Calling again with the same tracking id and contents,
        in this process or another one, goes on with the same offer and never makes a second one.

        Parameters
        ----------
        receiver : str
            Party id of the receiver.
        amount : Decimal or int
            In coin, above zero, at most ten decimal places.
        description : str
            What it is for; the receiver reads it. Fewer than 280 characters.
        expires_at : datetime, optional
            With a time zone; compared with ledger time, so it may skew from wall-clock time.
        expires_in : timedelta, optional
            Instead, counted from the first call.
        tracking_id : str, optional
            Fewer than 280 characters, a new one for each offer; by default a random one.

        Returns
        -------
        TransferOffer
            The offer exists when this returns.

        Raises
        ------
        TypeError
            If the amount is a float.
        UsageError
            If an argument makes no sense, or the tracking id was used for other contents; nothing was sent.
        OfferUnresolvedError
            If the offer was not made or that is not known; it names the tracking id and the call that goes on.

        Notes
        -----
        Source: docs/facts.md#tracking-id-rules.
        """
        tracking_id = checked_tracking_id(str(uuid.uuid4()) if tracking_id is None else tracking_id)
        now, user = self._clock(), self._user()
        contents = checked_contents(receiver, amount, description, expires_at, expires_in, now)
        earlier = self.journal.contents(tracking_id)
        if earlier is None:
            require_future(contents, now)
            earlier = self.journal.begin(tracking_id, contents, self._address, user, now)
        different = contents.differences(earlier)
        if different:
            raise UsageError(
                f"tracking_id={tracking_id!r} was used for an offer with another {' and '.join(different)}. "
                "Use a new tracking id for a new offer, or the first contents to go on with that one."
            )
        return self._settled(self.journal.get(tracking_id), user)

    def resume(self, tracking_id: str) -> TransferOffer:
        """Go on with an offer of the journal until it exists; one that is known to exist is returned as it is.

        Raises
        ------
        UsageError
            If the journal does not have it, or it was sent to another wallet.
        OfferUnresolvedError
            If the offer was not made or that is not known.
        """
        return self._settled(self.journal.get(tracking_id), self._user())

    def resume_all(self) -> list[TransferOffer]:
        """Go on with every offer of this wallet that is not known to exist, refused and lapsed ones excepted.

        Returns
        -------
        list of TransferOffer
            How each of them stands now.

        Raises
        ------
        OfferUnresolvedError
            When all have been tried and some are still unresolved; the rest are done.
        """
        waiting = [offer.tracking_id for offer in self._own() if offer.status == "pending"]
        failures: list[OfferUnresolvedError] = []
        for tracking_id in waiting:
            try:
                self.resume(tracking_id)
            except OfferUnresolvedError as error:
                logger.warning("%s", error)
                failures.append(error)
        offers = [self.journal.get(tracking_id) for tracking_id in waiting]
        unresolved = {offer.tracking_id for offer in offers if offer.status == "pending"}
        open_failures = [error for error in failures if error.tracking_id in unresolved]
        if open_failures:
            first = open_failures[0]
            raise OfferUnresolvedError(
                f"{len(open_failures)} of {len(waiting)} offers are still unresolved. The first: {first} "
                "Then go on with all: net.wallet.resume_all().",
                tracking_id=first.tracking_id,
                outcome=first.outcome,
                status=first.status,
                resume="net.wallet.resume_all()",
            ) from first
        return offers

    def refresh(self) -> list[TransferOffer]:
        """Ask the status of every offer of this wallet that is not finished, and write it down; nothing is ever sent.

        Returns
        -------
        list of TransferOffer
            The whole journal, the oldest first.
        """
        for offer in self._own():
            if not offer.finished and offer.attempt_count:
                try:
                    self.journal.found(offer.tracking_id, self.offer_status(offer.tracking_id), self._clock())
                except NotFoundError:
                    self.journal.not_found(offer.tracking_id, self._clock())
        return self.journal.offers()

    # -- whose offers they are ------------------------------------------------------------------------------------------

    def _settled(self, offer: TransferOffer, user: str | None) -> TransferOffer:
        if not self._is_own(offer, user):
            raise UsageError(
                f"Offer {offer.tracking_id} was sent to the wallet {offer.wallet}"
                f"{f' of user {offer.wallet_user}' if offer.wallet_user else ''}, and this is another one: "
                "sent to both, it would be made twice. Connect with that wallet_url and token to go on."
            )
        return offer if offer.exists else Submission(self, self.journal, self._clock).settle(offer)

    def _own(self) -> list[TransferOffer]:
        user = self._user()
        return [offer for offer in self.journal.offers() if self._is_own(offer, user)]

    def _is_own(self, offer: TransferOffer, user: str | None) -> bool:
        return offer.wallet == self._address and (None in (offer.wallet_user, user) or offer.wallet_user == user)

    @property
    def _address(self) -> str:
        return self.transport.urls[0]

    def _user(self) -> str | None:
        return subject_of(self._token() if self._token else None)


def subject_of(token: str | None) -> str | None:
    """The subject of a JWT: the user whose wallet it opens (docs/facts.md#authentication); None for any other token."""
    try:
        payload = (token or "").split(".")[1]
        subject = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"]
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    return subject if isinstance(subject, str) else None
