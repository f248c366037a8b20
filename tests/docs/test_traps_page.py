"""The page of traps is complete, and names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "traps.md").read_text(encoding="utf-8")


def test_all_fourteen_traps_are_there_once() -> None:
    assert [int(number) for number in re.findall(r"^\*\*T(\d+)\.\*\*", PAGE, re.MULTILINE)] == list(range(1, 15))


def test_every_trap_has_a_guard_and_tests_that_exist() -> None:
    for section in PAGE.split("\n### ")[1:]:
        name, text = section.split("\n", 1)
        assert "Guard: " in text, name
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
        assert tests, name
        for path, test in tests:
            assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), test
