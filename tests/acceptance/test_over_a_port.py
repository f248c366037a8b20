"""A sandbox that is served on a port gives the frames of the one in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from equality import assert_equal, every_table
from servers import served

import ledgerframes as lf
from ledgerframes.sandbox import Sandbox

WORLD: dict[str, Any] = {"events": 640, "days": 2}
WHOLE = {"since": "2026-11-07", "until": "2026-11-09T06:00:00Z"}


@pytest.fixture
def port() -> Iterator[int]:
    """A sandbox served on a loopback port."""
    with served(Sandbox(seed=1, **WORLD)) as port:
        yield port


@pytest.mark.loopback
def test_over_a_port_the_frames_are_those_of_the_embedded_network(tmp_path: Path, port: int) -> None:
    embedded = lf.load_events(lf.connect("sandbox", store=tmp_path / "embedded", **WORLD), **WHOLE)
    Path("ledgerframes.toml").write_text(f'[local]\nhistory_url = "http://127.0.0.1:{port}"\nrequests_per_second = 0\n')
    with lf.connect("local", store=tmp_path / "served") as net:
        frames = lf.load_events(net, **WHOLE)
    assert_equal(every_table(frames), every_table(embedded))
