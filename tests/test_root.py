"""The root of the repository holds what belongs there, and nothing that an example or a tool left behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {".ci", ".github", "benchmarks", "data", "docs", "ledgerframes", "notebooks", "tests", "tools"}


def test_no_other_folder_is_in_the_repository() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {name.partition("/")[0] for name in listed.split("\0") if "/" in name} == FOLDERS
