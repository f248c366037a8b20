"""Runs in a process of its own, and presses Ctrl-C there: `python interrupts.py NAME FOLDER`.

A pytest worker is no place to press it: what is pressed once too often ends the worker.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pandas as pd

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.datasets.registry import LEDGER as PAGES
from ledgerframes.sandbox import Sandbox

LEDGER = {"events": 600, "days": 1}
HISTORY = {"events": 400, "days": 1}
WHOLE = {"since": "2026-11-08", "until": "2026-11-09"}


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def follow(folder: Path) -> None:
    """Follow a growing ledger, press Ctrl-C when it has stopped growing, and save what came."""
    box = Sandbox(**LEDGER)
    end, time_now = box.now, pd.Timestamp("2026-11-08T20:00:00Z")
    box.at(time_now.to_pydatetime())
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    limits = {"requests_per_second": 0, "page_size": 20, "store": folder / "store"}
    net = lf.connect("sandbox", transport=in_process(box.app), **urls, **limits)

    def grow() -> None:
        for step in range(1, 11):
            time.sleep(0.02)
            box.at((time_now + (pd.Timestamp(end) - time_now) * step / 10).to_pydatetime())
        while net.store.max_position(PAGES) < net.ledger.ledger_end():  # however slow the machine is
            time.sleep(0.05)
        press()

    threading.Thread(target=grow, daemon=True).start()
    lf.save_frames(lf.load_updates(net, follow=True, poll_seconds=0.01), folder / "followed")


def load(folder: Path) -> None:
    """Load the history in small segments, and press Ctrl-C while the first is being committed."""
    net = lf.connect("sandbox", **HISTORY, page_size=20, max_concurrency=2, segment_bytes=1, store=folder / "store")
    add, once = net.store.add_segment, iter([1])

    def interrupting(*arguments: Any) -> None:
        add(*arguments)
        for _ in once:
            press()
            time.sleep(2)  # this range waits for its commit, and the caller has time to notice

    net.store.add_segment = interrupting  # type: ignore[method-assign]
    lf.load_events(net, **WHOLE)


class Busy(httpx.BaseTransport):
    """A network that is too busy for one operation, and presses Ctrl-C a second after its first request."""

    def __init__(self, app: Any, path_end: str) -> None:
        self.app, self.path_end, self.timer = in_process(app), path_end, threading.Timer(1, press)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith(self.path_end):
            return self.app.handle_request(request)
        if not self.timer.ident:
            self.timer.start()
        return httpx.Response(429, headers={"Retry-After": "600"})


def busy(folder: Path, path_end: str) -> lf.Network:
    box = Sandbox(**LEDGER)
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    return lf.connect("sandbox", transport=Busy(box.app, path_end), **urls, requests_per_second=0, store=folder / "store")


def follow_busy(folder: Path) -> None:
    """Follow a ledger that is busy after its end was read, and save what came before Ctrl-C."""
    lf.load_updates(busy(folder, "no such operation"))
    lf.save_frames(lf.load_updates(busy(folder, "get-updates-page"), follow=True), folder / "followed")


def lookup_busy(folder: Path) -> None:
    """Look up the event of an id, and press Ctrl-C while the host is busy."""
    lf.load_events(busy(folder, "1220aa"), update_ids=["1220aa"])


if __name__ == "__main__":
    signal.siginterrupt(signal.SIGINT, False)  # as event loops leave it: a wait without end then never hears of it
    scenarios = {each.__name__: each for each in (follow, load, follow_busy, lookup_busy)}
    scenarios[sys.argv[1]](Path(sys.argv[2]))
