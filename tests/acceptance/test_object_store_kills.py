"""Whole processes that write to a store in a bucket: killed at the worst moments, and two at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from equality import assert_equal, every_table
from object_stores import SERVERS, ObjectStore, served
from processes import begin, end

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.store import location, remote, segments

pytestmark = [pytest.mark.exhaustive, pytest.mark.loopback]
WORLD: dict[str, Any] = {"events": 400, "days": 1}
WHOLE = {"since": "2026-11-08", "until": "2026-11-09T06:00:00Z"}


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(owner: Any, name: str, turn: int, after: bool = False) -> None:
    """Replace a method by one that dies when it is called for the given time, before or after its work."""
    method, left = getattr(owner, name), [turn]

    def counted(*arguments: object) -> object:
        left[0] -= 1
        if left[0] == 0 and not after:
            die()
        result = method(*arguments)
        if left[0] == 0:
            die()
        return result

    setattr(owner, name, counted)


MOMENTS: dict[str, Callable[[], None]] = {
    "between files and commit": lambda: dying(remote.LocalCopy, "publish", 6),
    "in the middle of the upload": lambda: setattr(remote.shutil, "copyfileobj", die),
    "in the middle of a segment": lambda: dying(segments.SegmentWriter, "write", 4, after=True),
    "before the copy": lambda: dying(location.Location, "copy", 3),
    "after the copy": lambda: dying(location.Location, "copy", 1, after=True),
}


def sync(uri: str, moment: str | None = None) -> None:
    """Load with small segments, so that there are several commits, and die at a moment.

    A dead writer is known by its silence after a moment, and at once by a process that will die, too.
    """
    remote.LEASE_SECONDS, remote.ROUNDING = 1.0, 1.0
    if moment:
        remote.ROUNDING = -1000.0
        MOMENTS[moment]()
    lf.load_events(lf.connect("sandbox", store=uri, page_size=40, max_concurrency=2, segment_bytes=100_000, **WORLD), **WHOLE)


def tables_of(store: str | Path) -> dict[str, pd.DataFrame]:
    return every_table(lf.load_events(lf.connect("sandbox", store=store, offline=True, **WORLD), **WHOLE))


def committed(uri: str) -> int:
    """Rows that count now."""
    segments = lf.connect("sandbox", store=uri, offline=True, **WORLD).store.segments(EVENTS)
    return sum(segment.rows for segment in segments)


@pytest.fixture(scope="module", params=SERVERS)
def objects(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with served(request.param) as store:
        yield store


@pytest.fixture
def undisturbed(tmp_path: Path) -> dict[str, pd.DataFrame]:
    """Every table of a local store that nobody disturbed."""
    lf.load_events(lf.connect("sandbox", store=tmp_path / "undisturbed", **WORLD), **WHOLE)
    return tables_of(tmp_path / "undisturbed")


def test_killed_at_the_worst_moments_nothing_is_lost_or_doubled(
    objects: ObjectStore, undisturbed: dict[str, pd.DataFrame]
) -> None:
    uri, before = objects.uri("killed"), 0
    for moment in MOMENTS:
        assert end(begin(sync, uri, moment)) == -signal.SIGKILL, moment
        assert committed(uri) >= before, moment
        before = committed(uri)
    assert before > 0
    assert end(begin(sync, uri)) == 0
    assert_equal(tables_of(uri), undisturbed)


def test_two_processes_on_one_bucket_double_nothing(objects: ObjectStore, undisturbed: dict[str, pd.DataFrame]) -> None:
    uri = objects.uri("both")
    both = [begin(sync, uri), begin(sync, uri)]
    assert [end(process) for process in both] == [0, 0]
    assert_equal(tables_of(uri), undisturbed)
