"""Loading the transfer offers made here: the journal, with the status that the wallet gives them."""

from __future__ import annotations

import pandas as pd

from ledgerframes.datasets.offers.schema import TRANSFER_OFFERS
from ledgerframes.network import Network
from ledgerframes.wallet import Journal

__all__ = ["load_transfer_offers"]


def load_transfer_offers(net: Network, *, refresh: bool = True) -> pd.DataFrame:
    """Load the journal of transfer offers made from this store, with their status.

    Nothing is ever sent by this: an offer that is not known to exist stays pending until ``net.wallet.resume_all()``.

    Parameters
    ----------
    net : Network
    refresh : bool
        Ask the status of the offers that are not finished. Not done when the network is offline; offers of another wallet
        than this network's are not asked about.

    Returns
    -------
    DataFrame
        One row per transfer offer made here, sorted by the time it was written down; amounts in coin.

    Raises
    ------
    UsageError
        If there are offers to ask about, and the profile has no wallet_url or no token.
    ServiceError, TransportError, DecodeError
        If the wallet fails.

    Notes
    -----
    Source: docs/facts.md#wallet-api, POST /v0/wallet/transfer-offers/{tracking_id}/status.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.loaders.transfer_offers import load_transfer_offers
    >>> len(load_transfer_offers(lf.connect("sandbox", events=400, days=1)))
    0
    """
    journal = Journal(net.local_dir)
    offers = journal.offers()
    if refresh and not net.offline and any(not offer.finished for offer in offers):
        offers = net.wallet.refresh()
    offers.sort(key=lambda offer: (offer.recorded_at, offer.tracking_id))
    return TRANSFER_OFFERS.from_rows([[getattr(offer, name) for name in TRANSFER_OFFERS.column_names] for offer in offers])
