"""The public names: complete, sorted, documented; and what importing them costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import pydoc
import re
import subprocess
import sys
import tomllib
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

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


def test_the_names_are_complete_and_sorted() -> None:
    names = [*lf._IMPORTED_AT_FIRST_USE]
    assert names == sorted(names)
    submodules = {name.rpartition(".")[2] for name in MODULES}
    helpers = {"Any", "TYPE_CHECKING", "logging", "resolve_name"}
    assert {name for name in vars(lf) if not name.startswith("_")} - helpers - submodules <= set(dir(lf))


def test_type_checkers_see_the_names_that_are_imported_at_first_use() -> None:
    tree = ast.parse(Path(lf.__file__).read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: f"{node.module}:{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "ledgerframes.errors"
        for alias in node.names
    }
    assert seen.keys() == lf._IMPORTED_AT_FIRST_USE.keys()
    [names] = [node.value for node in block.body if isinstance(node, ast.Assign)]
    assert set(ast.literal_eval(names)) == set(lf._IMPORTED_AT_FIRST_USE)
    for name, path in lf._IMPORTED_AT_FIRST_USE.items():
        assert resolve_name(path) is resolve_name(seen[name]) is getattr(lf, name)


def test_there_are_at_most_150_names_to_learn() -> None:
    """Errors are read where they are raised, so their classes are not among them."""
    modules = [value for name in dir(lf) if isinstance(value := getattr(lf, name), ModuleType)]
    assert len(dir(lf)) + sum(len(module.__all__) for module in modules if module is not errors) <= 150


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_a_public_name_of_the_module_errors(name: str) -> None:
    assert getattr(lf, name) is getattr(errors, name)  # as it was before they had a module
    assert name not in dir(lf)
    assert name in errors.__all__
    assert name.endswith("Error")


def test_dir_shows_the_public_names_only() -> None:
    assert set(dir(lf)) == {*lf._IMPORTED_AT_FIRST_USE, "__version__", "errors"}


def test_help_of_the_package_fits_on_two_screens_and_names_everything() -> None:
    shown = pydoc.plain(pydoc.render_doc(lf))
    assert len(shown.splitlines()) <= 100
    described = (lf.__doc__ or "").partition("Networks\n")[2].partition(">>>")[0]
    assert set(re.findall(r"\w+", described)) >= set(dir(lf)) - {"__version__"}


def test_the_version_is_that_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert lf.__version__ == version
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text().splitlines()
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        _ = lf.versoin


@pytest.mark.parametrize(
    ("earlier", "successor"),
    [
        ("activity.rounds", "lf.activity.rewards"),
        ("activity.reconcile_summary", "lf.activity.reconcile_totals"),
        ("cost.runway_summary", "lf.cost.runway_end"),
        ("cost.problems", "lf.cost.invalid_values"),
        ("economy.rounds", "lf.economy.flows"),
        ("state.problems", "lf.state.ignored_contracts"),
        ("decimals.totals", "lf.decimals.total"),
        ("reconcile.RewardProof", "lf.reconcile.reward_proof"),
        ("reconcile.RewardTree", "lf.reconcile.reward_tree"),
        ("Anatomy", "lf.anatomy"),
    ],
)
def test_an_earlier_name_says_what_to_write(earlier: str, successor: str) -> None:
    with pytest.raises(AttributeError, match=rf"^lf\.{re.escape(earlier)} was removed\. Write {re.escape(successor)}\b"):
        attrgetter(earlier)(lf)
    assert callable(attrgetter(successor.removeprefix("lf."))(lf))
    changes = (ROOT / "CHANGELOG.md").read_text().partition("## Unreleased")[2].partition("## 0.1.0")[0]
    assert f"`{earlier}`" in changes or f"`lf.{earlier}`" in changes
    module, _, name = earlier.rpartition(".")
    with pytest.raises(AttributeError, match=rf"^lf{re.escape('.' * bool(module) + module)} has no attribute '{name}x'$"):
        attrgetter(f"{earlier}x")(lf)


def test_successors_are_told_in_the_changelog_and_tested() -> None:
    modules = [value for name in dir(lf) if inspect.ismodule(value := getattr(lf, name)) and name != "errors"]
    told = {name for module in modules for name in getattr(module, "EARLIER_NAMES", {})}
    assert told == {"rounds", "problems", "totals", "RewardProof", "RewardTree", "reconcile_summary", "runway_summary"}


@pytest.mark.parametrize("name", dir(lf))
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


def test_the_changelog_begins_with_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == ("Unreleased" if version.endswith(".dev0") else version)


def test_lock_names_no_registry() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    assert all(name in lock for name in ("pandas==3.", "pyarrow==", "--hash=sha256:"))
