"""`sync events` of a window in which the network has nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from completed import Completed

Run = Callable[..., Completed]


@pytest.mark.parametrize(("since", "until"), [("2020-01-01", "2020-01-02"), ("2027-01-01", "2027-01-02")])
def test_a_window_beside_the_history_exits_3_and_says_where_the_history_is(
    run: Run, tmp_path: Path, since: str, until: str
) -> None:
    result = run("sync", "events", "--since", since, "--until", until, "--store", tmp_path, "--json")
    assert (result.code, result.document["error"]) == (3, "CoverageError")
    assert f"has no events in {since}T00:00:00Z" in result.document["message"]
    assert "its events begin at 2026-11-08T0" in result.document["message"]
    assert "end at 2026-11-09T0" in result.document["message"]


def test_a_quiet_moment_exits_0_and_says_so(run: Run, tmp_path: Path) -> None:
    window = ("--since", "2026-11-08T12:00:00Z", "--until", "2026-11-08T12:00:00.000001Z")
    result = run("sync", "events", *window, "--store", tmp_path)
    assert result.code == 0
    assert "the network has none in this window" in result.out + result.err


def test_a_window_before_the_history_exits_3_offline_too(run: Run, tmp_path: Path) -> None:
    store = ("--store", tmp_path)
    run("sync", "events", "--since", "2026-11-08T12:00:00Z", "--until", "2026-11-08T13:00:00Z", *store)
    result = run("sync", "events", "--since", "2020-01-01", "--until", "2020-01-02", *store, "--offline")
    assert result.code == 3
    assert "its history begins at 2026-11-08T0" in result.err and "Choose a later window." in result.err
    inside = run(
        "sync", "events", "--since", "2026-11-08T12:00:00Z", "--until", "2026-11-08T12:00:00.000001Z", *store, "--offline"
    )
    assert inside.code == 0
