"""Make a store with the code of an earlier commit, and write its rows down.

``PYTHONPATH=<checkout of the commit> python make.py <commit>`` writes ``<commit>.zip``. The sandbox of the commit invents all
data.
"""

from __future__ import annotations

import inspect
import json
import shutil
import sys
import tempfile
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd

import ledgerframes as lf

WORLD: Any = {"seed": 5, "events": 500, "days": 1}
DOWNLOADS = "keep" if "keep" in inspect.signature(lf.load_bulk).parameters else "download_dir"
Tables = dict[str, dict[str, pd.DataFrame]]  # by dataset and table


def loads(net: lf.Network, objects: Path) -> Tables:
    """Load some of every dataset."""
    updates, contracts = downloads(objects)
    end = net.now()
    noon = end - timedelta(hours=12)
    other = lf.connect("sandbox", **WORLD, store=objects / "other")
    update_ids = lf.load_verdicts(other, since=end - timedelta(hours=5), until=end - timedelta(hours=4))["update_id"][:4]
    unnamed = shutil.copy(updates[1], objects / "unnamed.zstd")
    frames = {
        "events": lf.load_events(net, since=noon, until=noon + timedelta(hours=1)),
        "events_by_id": lf.load_events(net, update_ids=list(update_ids)),
        "ledger": lf.load_updates(net, through=40),
        "ledger_effects": lf.load_updates(net, after=20, through=60, shape="ledger_effects"),
        "bulk_by_key": lf.load_bulk(net, paths=[updates[0], unnamed]),
        "bulk_acs_by_key": lf.load_bulk(net, paths=contracts[:1], kind="acs"),
    }
    tables = {name: {table: each.read(table) for table in each.tables} for name, each in frames.items()}
    for minutes in range(3):
        net._clock = lambda passed=minutes: end + timedelta(minutes=passed)
        tables["price_votes"] = {"price_votes": lf.load_price_votes(net)}
        tables["name_rules"] = {"name_rules": lf.load_name_rules(net)}
    return tables


def downloads(objects: Path) -> tuple[list[Path], list[Path]]:
    """Return files of bulk objects with updates and with contracts, the smallest first."""
    other = lf.connect("sandbox", **WORLD, store=objects / "other")
    end = other.now()
    lf.load_bulk(other, since=end - timedelta(hours=12), until=end, **{DOWNLOADS: objects / "updates"})
    lf.load_bulk(other, kind="acs", **{DOWNLOADS: objects / "acs"})
    updates, contracts = (
        sorted((path for path in (objects / name).rglob("*") if path.is_file()), key=lambda path: (path.stat().st_size, path))
        for name in ("updates", "acs")
    )
    return updates, contracts


def as_text(frame: pd.DataFrame) -> list[dict[str, str | None]]:
    """Return rows as texts, which no format can round."""
    return [{name: _text(value) for name, value in row.items()} for row in frame.astype(object).to_dict("records")]


def _text(value: Any) -> str | None:
    if hasattr(value, "tolist"):  # a list of values
        return str(value.tolist())
    return None if pd.isna(value) else str(value)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        net = lf.connect("sandbox", **WORLD, store=root / "store")
        tables = loads(net, root / "objects")
        rows = {name: {table: as_text(frame) for table, frame in each.items()} for name, each in tables.items()}
        with zipfile.ZipFile(f"{sys.argv[1]}.zip", "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("rows.json", json.dumps({"network": net.name, "rows": rows}))
            for path in sorted((root / "store").rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(root))


if __name__ == "__main__":
    main()
