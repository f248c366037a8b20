"""Runs and their changes fit into a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ledgerframes.cli.report import _format_changes, _format_status

COLUMNS = 80
FIRST, SECOND = "20261107T000000Z_20261108T000000Z_46e7115dd68b", "20261108T000000Z_20261109T000000Z_9c9b4fcd225f"
AGAIN, WEEK = "20261108T000000Z_20261109T000000Z_9c9c4fcd225f", "20261108T000000Z_20261115T000000Z_9c9b4fcd225f"


def status_of(*keys: tuple[str, str]) -> list[str]:
    fields = {"network": "devnet", "created_at": "2026-11-09T02:30:41Z", "final": 0.999, "requests": 123_456, "is_latest": True}
    runs = [{**fields, "report": report, "key": key} for report, key in keys]
    return _format_status({"runs": runs, "failures": {}}).splitlines()


def test_runs_have_the_shortest_key_that_names_one() -> None:
    _, *lines = status_of(("traffic-cost", FIRST), ("traffic-cost", SECOND), ("weekly", WEEK))
    assert [line.split()[1] for line in lines] == ["20261107T000000Z", "20261108T000000Z", "20261108T000000Z"]
    assert max(map(len, lines)) <= COLUMNS and all("2026-11-09 02:30 " in line for line in lines)
    _, *lines = status_of(("weekly", SECOND), ("weekly", AGAIN), ("weekly", WEEK))
    assert [line.split()[1] for line in lines] == [SECOND[:38], AGAIN[:38], WEEK[:33]]
    assert status_of(("weekly", SECOND), ("weekly", SECOND[:-1] + "e"))[1].split()[1] == SECOND


def test_the_keys_of_a_comparison_are_above_its_table() -> None:
    row = {"item": "rejection_rate", "before": "1.46 %", "after": "2.48 %", "change": "+1.02 points", "note": ""}
    keys = {"item": "key", "before": FIRST, "after": SECOND, "change": "", "note": ""}
    lines = _format_changes([keys, row]).splitlines()
    assert [line.split() for line in lines[:3]] == [["before", FIRST], ["after", SECOND], []]
    assert lines[4].split()[0] == "rejection_rate" and max(map(len, lines)) <= COLUMNS
    assert _format_changes([row]).splitlines() == lines[3:]


def test_a_failure_names_options_of_the_run(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "reports" / "weekly").mkdir(parents=True)
    (tmp_path / "reports" / "weekly" / "FAILED.txt").write_text("Reason: The data are old. Wait, or raise max_age=.")
    result = run("report", "status", "--out", str(tmp_path / "reports"))
    assert "Wait, or raise --max-age." in result.out
