"""Frames for all analyses, made by hand and of a sandbox."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from events_by_hand import SANDBOX_DAYS, SANDBOX_EVENTS, Event, frames_of
from first_loads import FirstLoads

import ledgerframes as lf
from ledgerframes.frames import Frames


@pytest.fixture(scope="session")
def build() -> Callable[..., Frames]:
    return frames_of


@pytest.fixture(scope="session")
def event() -> type[Event]:
    return Event


@pytest.fixture(scope="session")
def sandbox_net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    """A sandbox of two days, for all figures that are computed again by other code."""
    return lf.connect("sandbox", events=SANDBOX_EVENTS, days=SANDBOX_DAYS, store=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="session")
def sandbox_history(sandbox_net: lf.Network, first_loads: FirstLoads) -> Frames:
    """Its history from the first event to the last, loaded once for all processes of the tests."""
    with first_loads.copied():
        return lf.load_events(sandbox_net, since="0001-01-01", until=sandbox_net.now())


@pytest.fixture(scope="session")
def sample() -> Frames:
    """Six requests worked out by hand in the tests.

    a, b: accepted by val-a; c: rejected at once; d: rejected by time-out, cost unknown; e: accepted but private; f: old,
    no verdict.
    """
    iou: list[tuple[int, str, str | None]] = [(0, "Main:Iou", None)]
    views = [(["alice", "bank"], [(1, ["bank"]), (1, ["bank", "alice"])]), (["alice"], [(1, ["alice"])])]
    return frames_of(
        [
            Event(
                "a",
                0.1,
                5155,
                views=views,
                envelopes=[(1444, []), (146, []), (3565, [1, 0])],
                activity=[("bank", 11), ("app", 0)],
            ),
            Event(
                "b",
                0.2,
                1000,
                parties=["bob", "alice"],
                envelopes=[(400, []), (600, [0])],
                views=views[:1],
                nodes=iou,
            ),
            Event("c", 0.3, 845, "REJECTED", seconds=0.2, envelopes=[(845, [])], parties=["bob"]),
            Event("d", 2.5, None, "REJECTED", seconds=30.000001, participant="val-b"),
            Event(
                "e",
                2.6,
                3000,
                visible=False,
                participant="val-b",
                parties=None,
                envelopes=[(1000, []), (2000, [0])],
                views=views[1:],
            ),
            Event("f", 3.0, None, None),
        ]
    )
