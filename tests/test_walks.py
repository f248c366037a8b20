"""Values of a user reach the place that uses them through few files, and return to none."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools")
    import walks

    return walks


def test_no_walk_returns_to_a_file(tool: ModuleType, tmp_path: Path) -> None:
    for name, call in tool.walks(str(tmp_path / "store")).items():
        files = tool.stays_of(name, call)
        assert 2 <= len(files) <= 3, files
        assert len(set(files)) == len(files), files
