"""The page on architecture names the packages and layers that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def test_the_layers_are_those_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert "```text\n" + "\n".join(layers) + "\n```" in PAGE


def test_each_module_of_the_root_has_a_line() -> None:
    table = PAGE[PAGE.index("## Packages and modules") : PAGE.index("## Imports")]
    names = [
        name.rstrip("/") for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(.+?)`", row)
    ]
    package = ROOT / "ledgerframes"
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    assert sorted([*names, "__main__.py"]) == sorted(modules | packages)


def test_the_root_has_at_most_ten_modules() -> None:
    assert len(list((ROOT / "ledgerframes").glob("*.py"))) <= 11  # with the package's own
