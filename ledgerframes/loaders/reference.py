"""Loading reference data, of which only the latest state is served: each load keeps a snapshot."""

from __future__ import annotations

from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa

from ledgerframes.api.transport import host_of
from ledgerframes.datasets.reference.build import name_rules_table, price_vote_table
from ledgerframes.datasets.reference.wire import Contract
from ledgerframes.datasets.registry import NAME_RULES, PRICE_VOTES, Dataset
from ledgerframes.extents import Observation
from ledgerframes.frames import Frames
from ledgerframes.network import Network

__all__ = ["load_name_rules", "load_price_votes"]


def load_price_votes(net: Network, *, refresh: bool = True) -> pd.DataFrame:
    """Load the votes on the coin price: a snapshot is taken now, and all snapshots kept so far are given.

    Parameters
    ----------
    net : Network
    refresh : bool
        Take a snapshot; not possible offline.

    Returns
    -------
    DataFrame
        One row per vote at a snapshot, prices as decimals in USD per coin, sorted by (observed_at, sv). A super validator that
        has not voted yet has a missing price.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes, GET /v0/coin-price/votes. Only the latest votes are served, so history
    is what was kept.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> votes["observed_at"].nunique()
    1
    """
    if refresh and not net.offline:
        now = net.now()
        rows = price_vote_table(net.history.price_votes(), now, net.settings.vocabulary.coin)
        _keep(net, PRICE_VOTES, Observation.at(now), {"price_votes": rows})
    return _all_snapshots(net, PRICE_VOTES, "price_votes")


def load_name_rules(net: Network, *, refresh: bool = True) -> pd.DataFrame:
    """Load the rules of the name service: a snapshot is taken now, and all snapshots kept so far are given.

    The service is told which contract is known already. When nothing has changed it answers without one; the contract of the
    snapshot before is then repeated, with ``cache_hit`` true.

    Parameters
    ----------
    net : Network
    refresh : bool
        Take a snapshot; not possible offline.

    Returns
    -------
    DataFrame
        One row per rules contract at a snapshot, durations in microseconds, sorted by observed_at.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes, POST /v0/ans-rules.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> rules = lf.load_name_rules(lf.connect("sandbox", events=400, days=1))
    >>> rules["cache_hit"].tolist()
    [False]
    """
    if refresh and not net.offline:
        _take_name_rules(net)
    return _all_snapshots(net, NAME_RULES, "name_rules")


def _take_name_rules(net: Network) -> None:
    now, known = net.now(), _all_snapshots(net, NAME_RULES, "name_rules").tail(1)
    last = None if known.empty else known.iloc[0]
    rules = net.history.name_rules(
        cached_contract_id=None if last is None else last["contract_id"],
        cached_domain_id=None if last is None or pd.isna(last["domain_id"]) else last["domain_id"],
    )
    contract = rules.contract or (None if last is None else _as_contract(last))
    tables: dict[str, pa.Table] = {}
    if contract is not None:
        tables["name_rules"] = name_rules_table(contract, rules.domain_id, now, cache_hit=rules.contract is None)
    _keep(net, NAME_RULES, Observation.at(now), tables)


def _as_contract(row: Any) -> Contract:
    """The contract of the snapshot before, as the service would have sent it."""
    blob = row["created_event_blob"]
    return Contract(
        template_id=row["template_id"],
        contract_id=row["contract_id"],
        payload=msgspec.Raw(row["payload"].encode()),
        created_at=row["created_at"].isoformat().replace("+00:00", "Z"),
        created_event_blob=None if pd.isna(blob) else blob,
    )


def _keep(net: Network, dataset: Dataset, moment: Observation, tables: dict[str, pa.Table]) -> None:
    net.store.commit(dataset, moment, tables, final=True, source=host_of(net.settings.history_url[0]))


def _all_snapshots(net: Network, dataset: Dataset, table: str) -> pd.DataFrame:
    return Frames(net.store.snapshot(dataset), [table]).read(table)
