"""A damaged file of a table that an analysis scans is an error that names the repair, not one of Arrow or of the system."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ledgerframes as lf
from ledgerframes.analysis.grant._requests import app_query, require_known_names
from ledgerframes.engine import Query, run
from ledgerframes.errors import StoreError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window, instant

APP = {"packages": ["splice-coin"], "templates": [], "parties": []}
NODES = "tree_events"
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


def requests_of_app(frames: Frames) -> Query:
    window = Window(instant(DAY["since"], "since"), instant(DAY["until"], "until"))
    return app_query(frames, APP, set(), window, "FROM app_requests", by_confirmer=False, base=None)


# A table, and what scans it.
SCANS: dict[str, tuple[str, Callable[[lf.Network, Frames], object]]] = {
    "activity.recompute": (NODES, lambda net, frames: lf.activity.recompute(frames)),
    "contracts.active_at": (NODES, lambda net, frames: lf.contracts.active_at(frames, "2026-11-09")),
    "cost.anatomy": ("traffic", lambda net, frames: lf.cost.anatomy(frames, frames.verdicts["update_id"].iloc[0])),
    "economy.flows": (NODES, lambda net, frames: lf.economy.flows(frames)),
    "ids of an app": (NODES, lambda net, frames: run(frames, requests_of_app(frames))),
    "names of an app": (NODES, lambda net, frames: require_known_names(frames, APP)),
    "reconcile.bulk": (NODES, lambda net, frames: lf.reconcile.bulk(lf.load_events(net, **DAY), lf.load_bulk(net, **DAY))),
    "state.config": (NODES, lambda net, frames: lf.state.config(frames)),
    "trees.children": (NODES, lambda net, frames: lf.trees.children(frames, "an event")),
    "where": ("verdicts", lambda net, frames: frames.between("2026-11-08", "2026-11-08T12:00Z").where("verdicts", party="x")),
}


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    net = lf.connect("sandbox", events=300, days=1, store=tmp_path_factory.mktemp("store"))
    lf.load_events(net, since="0001-01-01", until="2026-11-09")
    lf.load_bulk(net, **DAY)
    return net


@pytest.mark.parametrize("name", SCANS)
def test_a_footer_that_is_not_the_one_in_the_catalog_is_an_error_of_the_store(name: str, net: lf.Network) -> None:
    frames = lf.load_events(net, since="0001-01-01", until="2026-11-09")
    table, scan = SCANS[name]
    assert net.store.location.local_path
    [path] = (net.store.location.local_path / table).glob("m4_*")
    content = path.read_bytes()
    path.write_bytes(content[:-40] + bytes([content[-40] ^ 4]) + content[-39:])
    try:
        with pytest.raises(StoreError, match=r"--repair"):
            scan(net, frames)
    finally:
        path.write_bytes(content)
