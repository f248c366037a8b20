"""The public names: complete, sorted, documented; and what importing them costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

import ledgerframes as lf
from ledgerframes import errors

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    found.name for found in pkgutil.walk_packages(lf.__path__, "ledgerframes.") if not found.name.endswith("__main__")
)
HEAVY = ("matplotlib", "flask", "nbclient", "nbconvert", "IPython", "jupyterlab", "duckdb", "typer")


ERRORS = sorted(
    name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, lf.LedgerframesError)
)


def test_all_is_complete_and_sorted() -> None:
    # ruff sorts constants first, then classes, then functions.
    own = [name for name in lf.__all__ if name not in ERRORS]
    assert own == sorted(own, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    submodules = {name.rpartition(".")[2] for name in MODULES}
    helpers = {"Any", "TYPE_CHECKING", "installed_version", "logging", "resolve_name"}
    names = {name for name in vars(lf) if not name.startswith("_")} - helpers
    assert names - submodules <= set(lf.__all__) <= names | set(lf._IMPORTED_AT_FIRST_USE)


def test_type_checkers_see_the_names_that_are_imported_at_first_use() -> None:
    tree = ast.parse(Path(lf.__file__).read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: f"{node.module}:{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen.keys() == lf._IMPORTED_AT_FIRST_USE.keys()
    for name, path in lf._IMPORTED_AT_FIRST_USE.items():
        assert resolve_name(path) is resolve_name(seen[name]) is getattr(lf, name)


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_a_public_name(name: str) -> None:
    assert getattr(lf, name) is getattr(errors, name)
    assert name in lf.__all__
    assert name in errors.__all__
    assert name.endswith("Error")


def test_dir_shows_the_public_names_only() -> None:
    assert set(dir(lf)) == {*lf.__all__, "__version__", "errors"}


def test_the_version_is_that_of_the_project() -> None:
    assert lf.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        _ = lf.versoin


@pytest.mark.parametrize("name", lf.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert inspect.getdoc(getattr(lf, name))


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for(name: str) -> None:
    assert inspect.getdoc(importlib.import_module(name))


def test_no_file_has_two_jobs() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / "ledgerframes").rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert long == {}


def test_importing_is_light() -> None:
    """Plots, the sandbox and notebooks are imported when they are used."""
    code = f"import sys, ledgerframes; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_version_is_in_the_changelog() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_lock_names_no_registry() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    assert all(name in lock for name in ("pandas==3.", "pyarrow==", "--hash=sha256:"))
