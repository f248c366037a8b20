"""Peak memory of syncing ever longer ranges: bounded, and flat.

The sandbox is served by a process of its own, so that what is measured is the library. Each range is synced by a fresh
process into an empty store; its peak resident memory is the operating system's own figure.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import ledgerframes as lf
from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.serve import make_server
from ledgerframes.values.windows import instant, iso

EVENTS, DAYS = 104_000, 32
RANGES = (4, 8, 16, 32)  # days
UNTIL = instant("2026-11-09")
BOUND = 600  # MB


def serve() -> None:
    """In the serving process: say the port, then serve until killed."""
    server = make_server(Sandbox(events=EVENTS, days=DAYS), 0)
    print(server.effective_port, flush=True)
    server.run()


def sync(port: str, days: str) -> None:
    """In a syncing process: sync, then say what it took."""
    with tempfile.TemporaryDirectory() as store:
        bare = _peak()
        net = lf.connect("sandbox", history_url=f"http://127.0.0.1:{port}", store=store, requests_per_second=0)
        began = time.monotonic()
        frames = lf.load_events(net, since=iso(UNTIL - timedelta(days=float(days))), until=UNTIL)
        seconds, peak = time.monotonic() - began, _peak()
        events = len(
            set(frames.read("verdicts", ["update_id"])["update_id"]) | set(frames.read("updates", ["update_id"])["update_id"])
        )
        print(json.dumps({"events": events, "seconds": seconds, "bare": bare, "peak": peak}))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def sandbox_port() -> Iterator[str]:
    """A served sandbox, for as long as it is needed."""
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


def main() -> None:
    """Print one line a range."""
    print(f"peak memory of a sync, bound {BOUND} MB")
    print(f"{'days':>5} {'events':>9} {'events/s':>9} {'bare MB':>8} {'peak MB':>8}")
    peaks = []
    with sandbox_port() as port:
        for days in RANGES:
            result = subprocess.run(
                [sys.executable, __file__, "sync", port, str(days)], capture_output=True, text=True, check=True
            )
            facts = json.loads(result.stdout)
            peaks.append(facts["peak"])
            speed = facts["events"] / facts["seconds"]
            print(f"{days:>5} {facts['events']:>9,} {speed:>9,.0f} {facts['bare']:>8.0f} {facts['peak']:>8.0f}", flush=True)
    longer, larger = RANGES[-1] / RANGES[0], peaks[-1] / peaks[0]
    print(f"{longer:.0f} times the range: {larger:.2f} times the memory; largest peak {max(peaks):.0f} MB")


if __name__ == "__main__":
    role, *arguments = sys.argv[1:] or ["main"]
    roles: dict[str, Callable[..., None]] = {"serve": serve, "sync": sync, "main": main}
    roles[role](*arguments)
