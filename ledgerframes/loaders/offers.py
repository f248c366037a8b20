"""Transfer offers created from this store, with the status that the wallet returns."""

from __future__ import annotations

import pandas as pd

from ledgerframes.datasets.offers.schema import TRANSFER_OFFERS
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.sync import plan_frame
from ledgerframes.network import Network
from ledgerframes.wallet import Journal

__all__ = ["load_transfer_offers"]


class OfferLoad:
    """The journal of transfer offers, with the status of those that are not finished."""

    def __init__(self, net: Network, refresh: bool) -> None:
        self.net, self.offers = net, Journal(net.local_dir).offers()
        self.refresh = refresh and not net.offline and any(not offer.finished for offer in self.offers)

    def plan(self) -> pd.DataFrame:
        """Return whether the status would be fetched, as one row or none."""
        return plan_frame(TRANSFER_OFFERS.name, [{}] if self.refresh else [])

    def load(self, progress: bool | None) -> pd.DataFrame:
        """Fetch the status, and return the table of the offers."""
        offers = self.offers
        if self.refresh:
            with Progress(f"transfer offers ({self.net.name})", 1, "journals", progress) as bar:
                offers = self.net.wallet.refresh()
                bar.advance(1)
                bar.count(rows=len(offers))
        rows = sorted(offers, key=lambda offer: (offer.recorded_at, offer.tracking_id))
        return TRANSFER_OFFERS.from_rows(
            [{name: getattr(offer, name) for name in TRANSFER_OFFERS.column_names} for offer in rows]
        )


@loader(OfferLoad)
def load_transfer_offers(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the journal of transfer offers created from this store, with their status.

    This never sends an offer. An unconfirmed offer stays pending until ``net.wallet.resume_all()``.

    Parameters
    ----------
    net : Network
    refresh : bool
        Fetch the status of offers that are not finished, unless the network is offline. Offers of other wallets than this
        network's are not refreshed.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per transfer offer created from this store, sorted by ``recorded_at``. Amounts are in coin.

    Raises
    ------
    UsageError
        If there are offers to refresh, but the profile has no wallet_url or no token.
    ServiceError, TransportError, DecodeError
        If the wallet fails.

    Notes
    -----
    Source: docs/facts.md#wallet-api, POST /v0/wallet/transfer-offers/{tracking_id}/status.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> len(lf.load_transfer_offers(lf.connect("sandbox", events=400, days=1)))
    0
    """
    return OfferLoad(net, refresh).load(progress)
