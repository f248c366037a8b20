"""A command that waits for a host says so, once, where people and jobs look."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import served

from ledgerframes.sandbox import Faults, Sandbox

pytestmark = pytest.mark.loopback


@pytest.mark.parametrize(("option", "lines"), [(None, 1), ("--quiet", 0), ("--verbose", 0), ("--log-json", 0)])
def test_a_command_says_that_it_waits(option: str | None, lines: int, run: Callable[..., Any]) -> None:
    with served(Sandbox(events=400, days=1, faults=Faults(too_many_requests=1.0))) as port:
        Path("ledgerframes.toml").write_text(f'[live]\nhistory_url = "http://127.0.0.1:{port}"\nmax_wait_minutes = 9\n')
        result = run("--profile", "live", "sync", "events", "--since", "2026-11-08", *([option] if option else []))
    assert result.code == 4
    waits = [line for line in result.err.splitlines() if line.startswith("ledgerframes waits ")]
    assert len(waits) == lines, result.err
    assert all(f"127.0.0.1:{port} returned 429" in line and ", at most 9 minutes in all: " in line for line in waits)
    if option == "--log-json":
        *events, _ = [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]
        assert [event["level"] for event in events if event["event"] == "long_wait"] == ["warning"]
