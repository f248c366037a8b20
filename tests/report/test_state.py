"""The network's state for a report, from what the store has."""

from __future__ import annotations

from pathlib import Path

import ledgerframes as lf
from ledgerframes.network import Network
from ledgerframes.report import load_state

from .conftest import SINCE, UNTIL


def small_net(store: Path, *, offline: bool = False) -> Network:
    return lf.connect("sandbox", events=600, days=2, store=store, provisional_minutes=0, offline=offline)


def test_the_state_is_that_of_the_history_or_of_a_snapshot(tmp_path: Path) -> None:
    net = small_net(tmp_path)
    day = lf.load_events(net, since=SINCE, until=UNTIL)
    assert load_state(small_net(tmp_path, offline=True), day) is None
    lf.load_bulk(net, kind="acs", at=SINCE)
    snapshot = load_state(small_net(tmp_path, offline=True), day)
    history = load_state(net, day)  # the embedded sandbox loads it
    assert snapshot is not None and history is not None
    burned = [lf.activity.weights(day, every=None, **state)["burn_bytes"] for state in (snapshot, history)]
    assert burned[0].notna().all() and burned[0].equals(burned[1])
    assert load_state(small_net(tmp_path, offline=True), day) is not None
