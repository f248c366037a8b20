"""The picture of the imports has floors, and shows that nothing imports in a circle."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def picture(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools")
    import import_picture

    return import_picture


def test_floors_and_circles_of_an_example(picture: ModuleType) -> None:
    imports = {"top": {"left", "right"}, "left": {"right", "base"}, "right": {"left"}, "base": set()}
    assert picture.circles_of(imports) == [{"left", "right"}]
    assert picture.floors_of(imports) == {"base": 0, "left": 1, "right": 1, "top": 2}


def test_no_module_imports_in_a_circle(picture: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = picture.grimp.build_graph("ledgerframes", cache_dir=None)
    assert picture.circles_of(picture.imports_between_modules(graph)) == []
    parts = picture.imports_between_parts(graph)
    assert "datasets" in parts["store"]
    assert "store" not in parts["datasets"]
    assert "parts in circles: 0, modules in circles: 0" in picture.describe(graph)
    picture.draw(parts, "", tmp_path / "imports.png")
    assert (tmp_path / "imports.png").stat().st_size > 50_000
