"""The client of the wallet API, with a method per operation."""

from __future__ import annotations

from typing import Any

from ledgerframes.api.base_urls import WALLET_PATH
from ledgerframes.api.host_rates import is_retryable, retry
from ledgerframes.api.operation import Client, Request, operation
from ledgerframes.datasets.offers.wire import Balance, OfferContract, OfferStatus

__all__ = ["Wallet"]


class Wallet(Client):
    """Client of the wallet of one user, the subject of the token.

    Operations with an effect are sent once, to the first host. After a TransportError or InternalServerError their
    outcome is unknown.

    Notes
    -----
    Operations: docs/facts.md#wallet-api.
    """

    api = "wallet"
    common_path = WALLET_PATH

    # -- reading ------------------------------------------------------------------------------------------------------

    def offer_status(self, tracking_id: str) -> OfferStatus:
        """Return the status of a transfer offer.

        Raises
        ------
        NotFoundError
            If the wallet does not know the offer. Right after its creation, it may not know it yet
            (docs/facts.md#offer-status-lag).
        """
        limits, waits = self.transport.limits, self.transport.waits
        return retry(
            lambda: self.offer_status_once(tracking_id), limits.retries + 1, is_retryable, waits, limits.max_wait_seconds
        )

    @operation("POST /v0/wallet/transfer-offers/{tracking_id}/status", name="offer_status", returns=OfferStatus, read_only=True)
    def offer_status_once(self, tracking_id: str) -> Request:
        """Return the status of a transfer offer, as :meth:`offer_status`, with a single request.

        Notes
        -----
        ``POST /v0/wallet/transfer-offers/{tracking_id}/status``.
        """
        # Offers are sent to the first host, and another one may lag behind, so there is no failover.
        return Request(path={"tracking_id": tracking_id}, retry=False)

    @operation("GET /v0/wallet/transfer-offers", returns=list[OfferContract], member="offers")
    def offers(self) -> Any:
        """List the open transfer offers, both sent and received.

        Notes
        -----
        ``GET /v0/wallet/transfer-offers``.
        """

    @operation("GET /v0/wallet/accepted-transfer-offers", returns=list[OfferContract], member="accepted_offers")
    def accepted_offers(self) -> Any:
        """List the accepted offers whose transfer is not complete.

        Notes
        -----
        ``GET /v0/wallet/accepted-transfer-offers``.
        """

    @operation("GET /v0/wallet/balance", returns=Balance)
    def balance(self) -> Any:
        """Return the balance of the wallet in coin, as of a round.

        Notes
        -----
        ``GET /v0/wallet/balance``.
        """

    # -- writing ------------------------------------------------------------------------------------------------------

    @operation("POST /v0/wallet/transfer-offers/{contract_id}/accept", returns=str, member="accepted_offer_contract_id")
    def accept(self, contract_id: str) -> Any:
        """Accept a received offer, and return the contract id of the accepted offer.

        Notes
        -----
        ``POST /v0/wallet/transfer-offers/{contract_id}/accept``.
        """

    @operation("POST /v0/wallet/transfer-offers/{contract_id}/reject", returns=None)
    def reject(self, contract_id: str) -> Any:
        """Reject a received offer.

        Notes
        -----
        ``POST /v0/wallet/transfer-offers/{contract_id}/reject``.
        """

    @operation("POST /v0/wallet/transfer-offers/{contract_id}/withdraw", returns=None)
    def withdraw(self, contract_id: str) -> Any:
        """Withdraw a sent offer.

        Notes
        -----
        ``POST /v0/wallet/transfer-offers/{contract_id}/withdraw``.
        """

    @operation("POST /v0/wallet/transfer-offers", name="offer_transfer", returns=str, member="offer_contract_id")
    def create_offer(
        self, *, receiver_party_id: str, amount: str, description: str, expires_at: int, tracking_id: str
    ) -> Request:
        """Offer a party a transfer of coin.

        This method sends one request without a journal and returns the contract id. Call ``offer_transfer`` instead, which
        records the offer and resolves an unknown outcome.

        Parameters
        ----------
        receiver_party_id, description, tracking_id : str
        amount : str
            Amount of coin, as on the wire.
        expires_at : int
            Microseconds since 1970.

        Raises
        ------
        BusyError
            429: an offer with this tracking id is being processed, or there are too many requests.
        ConflictError
            409: an offer with this tracking id exists.
        TransportError, InternalServerError, ServiceUnavailableError, DecodeError
            If it is unknown whether the offer was made (docs/facts.md#transfer-offers).

        Notes
        -----
        ``POST /v0/wallet/transfer-offers``.
        """
        return Request(
            body={
                "receiver_party_id": receiver_party_id,
                "amount": amount,
                "description": description,
                "expires_at": expires_at,
                "tracking_id": tracking_id,
            }
        )
