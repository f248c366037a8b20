"""The page of reliability is that of a run: it names its parameters, and claims no more than its counts."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
LEAST_KILLS = 200
ATTACKS = (
    "faults injected into responses",
    "loads with a fault",
    "kills survived",
    "bodies tried",
    "files damaged",
    "bytes damaged",
)


def count(name: str) -> int:
    found = re.search(rf"^\| {re.escape(name)} \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert found, name
    return int(found[1].replace(",", ""))


def test_the_page_names_its_run() -> None:
    run = re.search(
        r"`python tools/soak\.py --minutes ([\d.]+)`, (\d+) minutes on (\d+) cores, Python\s+3\.\d+\.\d+, \w+\.", PAGE
    )
    assert run
    assert float(run[1]) > 0 and 0 < int(run[2]) <= 60


def test_every_attack_was_tried_and_no_row_was_lost() -> None:
    assert all(count(name) > 0 for name in ATTACKS)
    assert count("kills survived") >= LEAST_KILLS
    assert count("rows lost, rows doubled or other values without an error") == 0


def test_a_run_with_a_foreign_exception_does_not_claim_to_have_passed() -> None:
    passed = "All tests passed." in PAGE
    assert passed != ("Some tests failed" in PAGE)
    assert passed == (count("exceptions that are no `LedgerframesError`") == 0)


def test_every_fault_met_every_loader() -> None:
    table = PAGE.partition("## Faults and loaders")[2]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    head, *rows = lines
    assert len(head) == 18 and len(rows) > 60
    assert all(len(row) == len(head) and set("".join(row[1:])) <= set("=E· ") for row in rows)
    assert all(any("E" in cell or "=" in cell for cell in row[1:]) for row in rows), "each fault reached a loader"


def test_the_makefile_runs_the_attacks_for_at_most_an_hour() -> None:
    assert "tools/soak.py --minutes 60" in (ROOT / "Makefile").read_text(encoding="utf-8")
