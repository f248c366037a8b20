"""Every loader of the library over one small network, as frames that can be compared."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from equality import every_table

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.network import Network
from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.settings import load_settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

WORLD: dict[str, Any] = {"events": 300, "days": 1}
WINDOW: dict[str, Any] = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T09:00:00Z"}
DAY = "2026-11-08"
RECEIVER = "receiver::1220" + "ab" * 32
Frames = dict[str, pd.DataFrame]


def network(
    store: Path,
    *,
    around: Callable[[WSGIApplication], WSGIApplication] | None = None,
    faults: Faults | None = None,
    **settings: Any,
) -> Network:
    """A network in this process, with something around its services."""
    box = Sandbox(**WORLD, faults=faults, require_token=True)
    app = around(box.app) if around else box.app
    values = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url, "token": box.token}
    limits = {"page_size": 15, "requests_per_second": 0, "retries": 2, "max_concurrency": 1, "max_wait_minutes": 1}
    merged = load_settings("sandbox", {**values, **limits, "store": store, "network": box.name, **settings})
    return Network(merged, transport=in_process(app), clock=lambda: box.now)


def events(net: Network) -> Frames:
    return every_table(lf.load_events(net, **WINDOW))


def events_by_id(net: Network) -> Frames:
    box = Sandbox(**WORLD)
    items = [event.update_id for event in list(box.world.events())[40:46]]
    return every_table(lf.load_events(net, update_ids=items))


def updates(net: Network) -> Frames:
    return every_table(lf.load_updates(net, page_size=30))


def updates_as_trees(net: Network) -> Frames:
    return every_table(lf.load_updates(net, shape="ledger_effects", page_size=30, descending=True))


def bulk(net: Network) -> Frames:
    with ThreadPoolExecutor(1) as pool:
        return every_table(lf.load_bulk(net, during=DAY, executor=pool))


def bulk_snapshot(net: Network) -> Frames:
    with ThreadPoolExecutor(1) as pool:
        return every_table(lf.load_bulk(net, kind="acs", at="2026-11-09", executor=pool))


def one(loader: Callable[..., pd.DataFrame], **options: Any) -> Callable[[Network], Frames]:
    """A loader of one table."""
    return lambda net: {"frame": loader(net, **options)}


def transfer_offers(net: Network) -> Frames:
    """One offer, made once however often this is called, and the journal."""
    net.wallet.offer_transfer(
        receiver=RECEIVER, amount=Decimal("1.5"), description="soak", expires_at=net.now().replace(year=2100), tracking_id="t-1"
    )
    columns = ["tracking_id", "receiver_party_id", "amount", "description", "expires_at"]
    return {"frame": lf.load_transfer_offers(net)[columns]}


LOADS: dict[str, Callable[[Network], Frames]] = {
    "load_events": events,
    "load_events (ids)": events_by_id,
    "load_verdicts": one(lf.load_verdicts, **WINDOW),
    "load_traffic": one(lf.load_traffic, **WINDOW),
    "load_activity": one(lf.load_activity, **WINDOW),
    "load_updates": updates,
    "load_updates (trees)": updates_as_trees,
    "load_bulk": bulk,
    "load_bulk (acs)": bulk_snapshot,
    "load_active_contracts": one(lf.load_active_contracts),
    "load_contracts": one(lf.load_contracts, at=DAY + "T12:00:00Z"),
    "load_completions": one(lf.load_completions),
    "load_parties": one(lf.load_parties),
    "load_packages": one(lf.load_packages),
    "load_token_allocations": one(lf.load_token_allocations),
    "load_token_holdings": one(lf.load_token_holdings),
    "load_token_transfers": one(lf.load_token_transfers),
    "load_synchronizers": one(lf.load_synchronizers),
    "load_price_votes": one(lf.load_price_votes),
    "load_name_rules": one(lf.load_name_rules),
    "load_featured_apps": one(lf.load_featured_apps),
    "load_mining_rounds": one(lf.load_mining_rounds),
    "load_name_entries": one(lf.load_name_entries),
    "load_network_rules": one(lf.load_network_rules),
    "load_reward_accounting": one(lf.load_reward_accounting),
    "load_scans": one(lf.load_scans),
    "load_holdings_summary": one(lf.load_holdings_summary),
    "load_synchronizer_status": one(lf.load_synchronizer_status),
    "load_traffic_status": one(lf.load_traffic_status),
    "load_validator_faucets": one(lf.load_validator_faucets),
    "load_validator_licenses": one(lf.load_validator_licenses),
    "load_transfer_offers": transfer_offers,
}
