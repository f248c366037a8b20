"""The network's state from a filtered snapshot, beside the state from the whole history.

``python benchmarks/state_seconds.py`` loads both from a sandbox of 20,000 events in this process, each into a new store, and
prints the seconds and their ratio. The service has made its events and its index before, so that only the client is timed, and
what the service still does for each request. Both states are compared: they must be equal.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import ledgerframes as lf

EVENTS, DAYS = 20_000, 20
FUNCTIONS = ("rounds", "featured", "super_validators", "config")
OF_THE_HISTORY = ["from", "until", "known_until", "effective_until", "source"]
OF_THE_HISTORY += ["coverage", "coverage_time", "population", "network"]
State = dict[str, pd.DataFrame]


def state_of(source: lf.Frames | pd.DataFrame) -> State:
    """Return the four tables of a state."""
    return {name: getattr(lf.state, name)(source) for name in FUNCTIONS}


def from_snapshot(net: lf.Network) -> State:
    """Return the state from the contracts that the service filters."""
    return state_of(lf.load_contracts(net, at="2026-11-09"))


def from_history(net: lf.Network) -> State:
    """Return the state from all events of the network."""
    return state_of(lf.load_events(net, since="0001-01-01"))


def seconds(load: Callable[[lf.Network], State]) -> tuple[float, State]:
    """Return the seconds of a load into a new store, and its result."""
    with tempfile.TemporaryDirectory() as root:
        net = lf.connect("sandbox", events=EVENTS, days=DAYS, store=Path(root))
        began = time.perf_counter()
        state = load(net)
        return time.perf_counter() - began, state


def facts(table: pd.DataFrame) -> pd.DataFrame:
    """Return what both sources know, in one order."""
    keys = [name for name in ("contract_id", "party") if name in table]
    return table.drop(columns=OF_THE_HISTORY).sort_values(keys, ignore_index=True)


def main() -> None:
    """Measure and compare."""
    for load in (from_snapshot, from_history):  # the service makes what it serves
        seconds(load)
    short, of_snapshot = seconds(from_snapshot)
    long, of_history = seconds(from_history)
    for name, table in of_history.items():
        pd.testing.assert_frame_equal(facts(of_snapshot[name]), facts(lf.state.at(table, "2026-11-09")))
    sys.stdout.write(f"snapshot {short:.2f} s, history {long:.2f} s, ratio 1 to {long / short:.0f}\n")


if __name__ == "__main__":
    main()
