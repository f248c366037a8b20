"""Docstrings are current, and every example in them runs on the embedded sandbox."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot

import ledgerframes as lf

ROOT = Path(__file__).parents[1]
mpl.use("Agg")
MODULES = sorted(
    found.name for found in pkgutil.walk_packages(lf.__path__, "ledgerframes.") if not found.name.endswith("__main__")
)


def examples(name: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(importlib.import_module(name), name)
    return [test for test in found if test.examples]


CASES = [test for name in MODULES for test in examples(name)]


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Examples draw; nobody looks."""
    yield
    pyplot.close("all")


@pytest.mark.usefixtures("copied_first_loads")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_example(case: doctest.DocTest) -> None:
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(case)
    assert results.failed == 0


def test_there_are_examples() -> None:
    assert len(CASES) > 20


def test_docstrings_are_current() -> None:
    """What declarations and signatures tell stands in the source, where editors read it."""
    command = [sys.executable, str(ROOT / "tools" / "docstrings.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
