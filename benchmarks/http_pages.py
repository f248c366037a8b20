"""Pages over HTTP to committed segments: against transfer and building alone, and four ranges at once against one.

The pages come from memory, from a server in a process of its own on loopback.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from figures import Figure
from measuring import Row, empty_store, environment, interleaved, sampled, say
from page_server import DAYS, SERVER_SECONDS
from rounds import busy, middle, ratio

import ledgerframes as lf
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import EventsPage
from ledgerframes.gc_pause import pause_gc
from ledgerframes.network import Network
from ledgerframes.values.windows import instant

UNTIL = instant("2026-11-09")
SINCE = UNTIL - timedelta(days=DAYS)
# Four working days, so that four ranges are equal; small pages, so that it is the server that takes its time.
WORKING_DAYS = {"since": instant("2026-11-02"), "until": instant("2026-11-06")}
RANGES, SMALL_PAGE = 4, 60


def http_pages(events: int, rounds: int) -> list[Row]:
    """Measure both against one server."""
    say(f"making pages of {events:,} events")
    with served(events) as url:
        return [committed_pages(url, rounds), ranges_at_once(url, min(3, rounds))]


@contextmanager
def served(events: int) -> Iterator[str]:
    """The server, for as long as it is needed."""
    command = [sys.executable, "page_server.py", str(events)]
    folder = Path(__file__).parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment()) as server:
        assert server.stdout is not None
        try:
            port = server.stdout.readline().strip()
            if not port:
                raise SystemExit("The server of pages did not start: see its error above.")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def synced(url: str, since: datetime = SINCE, until: datetime = UNTIL, **overrides: Any) -> int:
    """Load a range into an empty store; how many requests it took."""
    with empty_store(history_url=url, requests_per_second=0, **overrides) as made, _settled(made) as net:
        lf.load_events(net, since=since, until=until, progress=False)
        return net.request_count


def _settled(net: Network) -> Network:
    """The same at the sandbox's time, whatever day it is: otherwise young events would be provisional."""
    return Network(net.settings, clock=lambda: UNTIL + timedelta(days=1))


# -- pages to committed segments ------------------------------------------------------------------------------------


def committed_pages(url: str, rounds: int) -> Row:
    """One range, against the larger of transfer alone and building alone, of the same pages."""
    httpx.get(f"{url}/asked")
    requests = synced(url, max_concurrency=1)
    asked = httpx.get(f"{url}/asked").json()
    assert len(asked) == requests
    bodies = [httpx.post(f"{url}/v0/events", json=body).content for body in asked]
    megabytes = sum(map(len, bodies)) / 1e6

    def transfer() -> None:
        with httpx.Client() as client:
            for body in asked:
                _read_raw(client, f"{url}/v0/events", body)

    def build() -> None:
        for body in bodies:
            with pause_gc():
                event_tables(decode(body, EventsPage, "benchmark").events, "listing")

    loads = {"committed": lambda: synced(url, max_concurrency=1), "four": lambda: synced(url, max_concurrency=RANGES)}
    taken = interleaved(rounds, {**loads, "transfer": transfer, "build": build})
    larger = "transfer" if middle(taken, "transfer") > middle(taken, "build") else "build"
    note = f"{len(asked)} pages, {megabytes:,.0f} MB at {megabytes / middle(taken, 'committed'):.0f} MB/s; "
    note += f"transfer {megabytes / middle(taken, 'transfer'):.0f}, building {megabytes / middle(taken, 'build'):.0f} MB/s"
    note += f"; with four ranges {ratio(taken, 'four', 'committed'):.2f} times as long; {busy(taken)}"
    return Row.of(
        Figure(
            "pages over HTTP to committed, to transfer or building",
            ratio(taken, "committed", larger),
            1.2,
            1.4,
            higher_is_better=False,
            note=note,
        ),
        "`load_events` with `max_concurrency=1`, into an empty store, from a server that answers at once: ranges side by side "
        "are for those that take their time. Against the larger of reading the same pages raw with httpx, one after the other, "
        "and decoding and building them from memory on one core.",
        lambda: sampled(lambda: synced(url, max_concurrency=1)),
    )


def _read_raw(client: httpx.Client, url: str, body: Any) -> None:
    """Read a response without decoding it."""
    with client.stream("POST", url, json=body) as answer:
        for _ in answer.iter_raw():
            pass


# -- several ranges at once -----------------------------------------------------------------------------------------


def ranges_at_once(url: str, rounds: int) -> Row:
    """The same range read as four and as one, from a server that takes its time."""

    def at_once(ranges: int) -> int:
        return synced(f"{url}/slow", **WORKING_DAYS, max_concurrency=ranges, page_size=SMALL_PAGE)

    requests = at_once(RANGES)
    taken = interleaved(rounds, {"one": lambda: at_once(1), "four": lambda: at_once(RANGES)}, warm=False)
    note = f"{requests} requests of {SERVER_SECONDS * 1000:.0f} ms at least; "
    note += f"{middle(taken, 'one'):.1f} s and {middle(taken, 'four'):.1f} s; {busy(taken)}"
    return Row.of(
        Figure("four ranges at once at 150 ms a request, to one", ratio(taken, "one", "four"), 3.6, 2.8, note=note),
        "`load_events` with `max_concurrency=4` and `max_concurrency=1`, and pages of 60 events, from a server that waits 150 ms "
        "before each answer. The next page of each range is under way while one is built, in both.",
        lambda: sampled(lambda: at_once(RANGES)),
    )
