"""Days of bulk objects over a port, read by other processes: the same rows as the range listing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from equality import assert_table_equal, with_sorted_payloads
from servers import served

import ledgerframes as lf
from ledgerframes.sandbox import Sandbox

WORLD = {"events": 2200, "days": 10}
WHOLE = {"since": "2026-10-30", "until": "2026-11-09"}


@pytest.fixture
def port() -> Iterator[int]:
    """A sandbox of ten days across the end of a month, served on a loopback port."""
    with served(Sandbox(seed=3, **WORLD)) as port:
        yield port


def ledgerframes(*arguments: str, port: int, store: Path) -> Any:
    """One command in a process of its own; its document."""
    settings = {
        "LEDGERFRAMES_HISTORY_URL": f"http://127.0.0.1:{port}",
        "LEDGERFRAMES_STORE": str(store),
        "LEDGERFRAMES_REQUESTS_PER_SECOND": "0",
    }
    done = subprocess.run(
        [sys.executable, "-m", "ledgerframes", *arguments, "--json"],
        env=os.environ | settings, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.exhaustive
@pytest.mark.loopback
def test_objects_hold_what_the_listing_gives(tmp_path: Path, port: int) -> None:
    whole = [part for name, time in WHOLE.items() for part in (f"--{name}", time)]
    read = ledgerframes("sync", "bulk", *whole, "--workers", "2", port=port, store=tmp_path)
    assert read["rows"]["bulk_objects"] > 10
    ledgerframes("sync", "events", *whole, port=port, store=tmp_path)
    with lf.connect("sandbox", history_url="http://127.0.0.1:9", store=tmp_path, offline=True) as net:
        objects, listed = lf.load_bulk(net, **WHOLE), lf.load_events(net, **WHOLE)
        assert len(listed.updates) > 1500
        for name in ("updates", "tree_events", "reassignments"):
            assert_table_equal(with_sorted_payloads(objects.read(name)), with_sorted_payloads(listed.read(name)), name)
    assert ledgerframes("sync", "bulk", *whole, port=port, store=tmp_path)["requests"] == 0
