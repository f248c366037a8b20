"""Transfer offers created from this store, with the status that the wallet returns."""

from __future__ import annotations

import pandas as pd

from ledgerframes.datasets.offers.schema import TRANSFER_OFFERS
from ledgerframes.loaders.arguments import check_arguments
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.sync import plan_frame
from ledgerframes.network import Network
from ledgerframes.wallet import Journal

__all__ = ["load_transfer_offers"]


@check_arguments()
def load_transfer_offers(net: Network, *, refresh: bool = True, plan: bool = False, progress: bool | None = None) -> pd.DataFrame:
    """Load the journal of transfer offers created from this store, with their status.

    This never sends an offer. An unconfirmed offer stays pending until ``net.wallet.resume_all()``.

    Parameters
    ----------
    net : Network
    refresh : bool
        Fetch the status of offers that are not finished, unless the network is offline. Offers of another wallet than this
        network's are not refreshed.
    plan : bool, default False
        Fetch nothing, and return what a load would fetch, one row per extent, in the columns of table ``plan``.
    progress : bool, optional
        Show a progress bar anywhere, or nowhere; by default in terminals and notebooks.

    Returns
    -------
    DataFrame
        One row per transfer offer created from this store, sorted by ``recorded_at``, amounts in coin.

    Raises
    ------
    UsageError
        If there are offers to refresh, and the profile has no wallet_url or no token.
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
    offers = Journal(net.local_dir).offers()
    refresh = refresh and not net.offline and any(not offer.finished for offer in offers)
    if plan:
        return plan_frame(TRANSFER_OFFERS.name, [{}] if refresh else [])
    if refresh:
        with Progress(f"transfer offers ({net.name})", 1, "journals", progress) as bar:
            offers = net.wallet.refresh()
            bar.advance(1)
            bar.count(rows=len(offers))
    offers.sort(key=lambda offer: (offer.recorded_at, offer.tracking_id))
    return TRANSFER_OFFERS.from_rows([{name: getattr(offer, name) for name in TRANSFER_OFFERS.column_names} for offer in offers])
