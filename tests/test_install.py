"""The set-up of a clone is never silent for long, and fails as pip does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool, with Python instead of pip."""
    spec = importlib.util.spec_from_file_location("install", ROOT / "tools" / "install.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert 0 < module.SECONDS < 10
    monkeypatch.setattr(module, "PIP", (sys.executable, "-c"))
    return module


def test_it_says_that_it_goes_on(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "SECONDS", 0.2)
    monkeypatch.setattr(install, "STEPS", (("import time; time.sleep(1)",), ("pass",)))
    assert install.main() == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert lines[0] == "Installing packages, 0 s."


def test_a_step_that_fails_is_the_last(install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    after = tmp_path / "after"
    monkeypatch.setattr(install, "STEPS", (("raise SystemExit(3)",), (f"open({str(after)!r}, 'w')",)))
    assert install.main() == 3
    assert not after.exists()
