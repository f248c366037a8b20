"""The wallet API: one method per operation, each sent as it is; making offers exactly once is `ledgerframes.wallet`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ledgerframes.api.refusals import service_error
from ledgerframes.api.tokens import hide_tokens
from ledgerframes.api.transport import LONGEST_PAUSE, Transport, path_segment, tries
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets.offers.wire import (
    AcceptedOffer,
    AcceptedOffersList,
    Balance,
    CreatedOffer,
    OfferContract,
    OffersList,
    OfferStatus,
)
from ledgerframes.errors import ServiceError, TransportError

if TYPE_CHECKING:
    from ledgerframes.settings import Limits

__all__ = ["Wallet", "retryable", "wallet_refusal"]

OFFERS = "/v0/wallet/transfer-offers"
ACCEPTED = "/v0/wallet/accepted-transfer-offers"


class Wallet:
    """Client of one wallet: that of the user who is the subject of the token.

    Parameters
    ----------
    transport : Transport
        With the token; writes go to its first host only.
    limits : Limits
        How often what only reads is tried again.

    Notes
    -----
    Source: docs/facts.md#wallet-api.
    """

    def __init__(self, transport: Transport, limits: Limits) -> None:
        self.transport = transport
        self.limits = limits

    # -- reading ----------------------------------------------------------------------------------------------------

    def offer_status(self, tracking_id: str) -> OfferStatus:
        """Ask how the offer with a tracking id fares.

        Parameters
        ----------
        tracking_id : str
            Any text; it is sent as one segment of the path.

        Raises
        ------
        NotFoundError
            If the wallet does not know the offer, or not yet: it may say so right after the creation
            (docs/facts.md#offer-status-lag).

        Notes
        -----
        Source: docs/facts.md#wallet-api, POST …/{tracking_id}/status without a body. It only reads, so it is tried again on
        what may pass;
        it asks the host that offers are sent to, because another one may lag behind.
        """
        for attempt in tries(self.limits.retries + 1, retryable):
            with attempt:
                return self.offer_status_once(tracking_id)
        raise AssertionError("retry_context returns or raises")

    def offer_status_once(self, tracking_id: str) -> OfferStatus:
        """Ask how an offer fares, in one request; see :meth:`offer_status`."""
        endpoint = f"{OFFERS}/{_segment(tracking_id, 'tracking_id')}/status"
        return decode(self.transport.write("POST", endpoint).body, OfferStatus, f"POST {endpoint}")

    def offers(self) -> list[OfferContract]:
        """List the open transfer offers, both sent and received (docs/facts.md#wallet-api)."""
        return decode(self.transport.get(OFFERS).body, OffersList, f"GET {OFFERS}").offers

    def accepted_offers(self) -> list[OfferContract]:
        """List the offers that were accepted and whose transfer has not been made yet (docs/facts.md#wallet-api)."""
        return decode(self.transport.get(ACCEPTED).body, AcceptedOffersList, f"GET {ACCEPTED}").accepted_offers

    def balance(self) -> Balance:
        """What the wallet holds, in coin, as of the round named (docs/facts.md#wallet-api, GET /v0/wallet/balance)."""
        endpoint = "/v0/wallet/balance"
        return decode(self.transport.get(endpoint).body, Balance, f"GET {endpoint}")

    # -- writing: each sent once, never repeated --------------------------------------------------------------------

    def accept(self, contract_id: str) -> str:
        """Accept an offer received; the contract id of the accepted offer comes back.

        Sent once. After a TransportError or an Internal it is not known whether it was done: look at :meth:`accepted_offers`.
        """
        endpoint = _offer(contract_id, "accept")
        return decode(self.transport.write("POST", endpoint).body, AcceptedOffer, f"POST {endpoint}").accepted_offer_contract_id

    def reject(self, contract_id: str) -> None:
        """Reject an offer received. Sent once; look at :meth:`offers` when it fails on the way."""
        self.transport.write("POST", _offer(contract_id, "reject"))

    def withdraw(self, contract_id: str) -> None:
        """Withdraw an offer made. Sent once; look at :meth:`offers` when it fails on the way."""
        self.transport.write("POST", _offer(contract_id, "withdraw"))

    def create_offer(self, *, receiver_party_id: str, amount: str, description: str, expires_at: int, tracking_id: str) -> str:
        """POST one transfer offer, once and unguarded; the offer's contract id comes back.

        Nothing is checked or remembered here, so use ``offer_transfer`` instead.

        Parameters
        ----------
        receiver_party_id, description, tracking_id : str
        amount : str
            Amount of coin, as it shall stand on the wire.
        expires_at : int
            Microseconds since 1970.

        Raises
        ------
        BusyError
            429: an offer with this tracking id is being processed, or there are too many requests.
        ConflictError
            409: an offer with this tracking id has been made.
        TransportError, InternalServerError, ServiceUnavailableError, DecodeError
            It is not known whether the offer was made.

        Notes
        -----
        Source: docs/facts.md#transfer-offers, POST /v0/wallet/transfer-offers.
        """
        body = {
            "receiver_party_id": receiver_party_id,
            "amount": amount,
            "description": description,
            "expires_at": expires_at,
            "tracking_id": tracking_id,
        }
        return decode(self.transport.write("POST", OFFERS, json=body).body, CreatedOffer, f"POST {OFFERS}").offer_contract_id


def wallet_refusal(status: int, body: bytes, headers: Mapping[str, str], endpoint: str, host: str) -> ServiceError:
    """The error for a bad status of the wallet, without the token that it may have been quoted."""
    return service_error(status, hide_tokens(body.decode("utf-8", "replace")).encode(), headers, endpoint, host)


def retryable(error: Exception) -> bool | float:
    """Whether the same request may succeed a little later, or after how many seconds if the service says so."""
    if isinstance(error, ServiceError) and error.retryable:
        return True if error.retry_after is None else min(error.retry_after, LONGEST_PAUSE)
    return isinstance(error, TransportError)


def _offer(contract_id: str, action: str) -> str:
    return f"{OFFERS}/{_segment(contract_id, 'contract_id')}/{action}"


def _segment(text: str, argument: str) -> str:
    return path_segment(text, f"{argument}={text!r} names no offer.")
