"""The set-up of a clone is never silent for long, and fails as pip does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def install() -> ModuleType:
    """The tool, whose own commands run pip."""
    spec = importlib.util.spec_from_file_location("install", ROOT / "tools" / "install.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert 0 < module.SECONDS < 10
    return module


def test_it_says_that_it_goes_on(install: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert install.run_all([[sys.executable, "-c", "import time; time.sleep(1)"], [sys.executable, "-c", "pass"]], 0.2) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert lines[0] == "Installing packages, 0 s."


def test_a_step_that_fails_is_the_last(install: ModuleType, tmp_path: Path) -> None:
    after = tmp_path / "after"
    failing, next_one = "raise SystemExit(3)", f"open({str(after)!r}, 'w')"
    assert install.run_all([[sys.executable, "-c", failing], [sys.executable, "-c", next_one]]) == 3
    assert not after.exists()
