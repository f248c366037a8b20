"""What is killed: functions that a process of its own runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
from equality import every_table

import ledgerframes as lf
from ledgerframes.report import run_report
from ledgerframes.store.compact import compact

WORLD: dict[str, Any] = {"events": 300, "days": 1}
WINDOW: dict[str, Any] = {"since": "2026-11-08", "until": "2026-11-09"}
REPORT_WINDOW: dict[str, Any] = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T12:00:00Z"}
OFFERS = 6
Frames = dict[str, pd.DataFrame]


def network(store: Path, **settings: Any) -> lf.Network:
    """A network whose segments are like its pages, so that there are many moments to be killed at."""
    return lf.connect("sandbox", store=store, page_size=20, max_concurrency=2, segment_bytes=20_000, **WORLD, **settings)


def sync_events(store: Path) -> Frames:
    return every_table(lf.load_events(network(store), **WINDOW))


def sync_updates(store: Path) -> Frames:
    return every_table(lf.load_updates(network(store), page_size=10))


def sync_bulk(store: Path) -> Frames:
    with ThreadPoolExecutor(1) as pool:
        frames = every_table(lf.load_bulk(network(store), during="2026-11-08", executor=pool))
    frames["bulk_objects"] = frames["bulk_objects"].drop(columns="fetched_at")
    return frames


def compact_and_read(store: Path) -> Frames:
    """Merge what is there in two steps; a store without segments is filled first."""
    frames = sync_events(store)
    for target in (60_000, 128_000_000):
        compact(network(store).store, target_bytes=target)
    return frames


def report(store: Path) -> Frames:
    result = run_report("verdicts", net=network(store), out=store / "reports", **REPORT_WINDOW)
    assert result.page_path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return {"run": pd.DataFrame({"key": [result.key], "tables": [result.run["tables"]]})}


def make_offers(store: Path, url: str, token: str) -> None:
    """Make the same offers however often this runs."""
    settings: dict[str, Any] = {
        "history_url": url,
        "wallet_url": f"{url}/api/validator",
        "token": token,
        "requests_per_second": 0,
    }
    with lf.connect("sandbox", store=store, **settings) as net:
        for number in range(OFFERS):
            net.wallet.offer_transfer(
                receiver="bob::1220bb", amount=Decimal("1.5"), description=f"offer {number}",
                expires_at=datetime(2100, 1, 1, tzinfo=UTC), tracking_id=f"t-{number:03}",
            )  # fmt: skip
        net.wallet.resume_all()


VICTIMS: dict[str, Callable[[Path], Frames]] = {
    "sync events": sync_events,
    "sync updates": sync_updates,
    "sync bulk": sync_bulk,
    "compact": compact_and_read,
}
