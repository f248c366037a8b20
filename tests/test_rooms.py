"""Modules that other packages import have names without an underscore."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ledgerframes"


def module_of(path: Path) -> str:
    """Return the name of the module in a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> Iterator[str]:
    """Iterate over the modules that a file imports, and the names that it imports from them."""
    package = module_of(path.parent / "__init__.py").split(".")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_no_package_imports_a_private_module_of_another() -> None:
    paths = list(PACKAGE.rglob("*.py"))
    private = {module_of(path) for path in paths if path.stem.startswith("_") and not path.stem.startswith("__")}
    assert private
    imports = [(module_of(path.parent / "__init__.py"), name) for path in paths for name in imports_of(path)]
    foreign = {
        (importer, module)
        for importer, name in imports
        for module in (name, name.rpartition(".")[0])
        if module in private and not f"{importer}.".startswith(f"{module.rpartition('.')[0]}.")
    }
    assert foreign == set()
