"""Docstrings are current, and every example in them runs on the embedded sandbox."""

from __future__ import annotations

import builtins
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from types import ModuleType, SimpleNamespace

import matplotlib as mpl
import pytest
from cases import only
from matplotlib import pyplot

import ledgerframes as lf
from ledgerframes.analysis import figures as declare

ROOT = Path(__file__).parents[1]
ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`([\w.]+)`")
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


# Each picture of a plot is drawn in `test_plot.py`, too. The others need weeks of a network.
LATER = (
    "ledgerframes.plots.",
    "ledgerframes.analysis.cost.runways.",
    "ledgerframes.report.summary.balance.describe_runway",
)
DEFAULT_CASES = only(lambda case: not case.name.startswith(LATER), CASES)


@pytest.mark.usefixtures("copied_first_loads")
@pytest.mark.parametrize("case", DEFAULT_CASES, ids=lambda case: case.name)
def test_example(case: doctest.DocTest) -> None:
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(case)
    assert results.failed == 0


def test_there_are_examples() -> None:
    assert len(CASES) > 20


def is_known(name: str, module: ModuleType) -> bool:
    """Whether a name is that of the package, or of a module that has it or a class with it."""
    package = importlib.import_module(module.__name__.rpartition(".")[0])
    owners = (lf, module, package, builtins, *filter(inspect.isclass, vars(module).values()))
    for owner in (lf,) if name.startswith("ledgerframes.") else owners:
        with suppress(AttributeError):
            attrgetter(name.removeprefix("ledgerframes."))(owner)
            return True
    return False


def test_every_role_names_something_that_exists() -> None:
    modules = [importlib.import_module(name) for name in MODULES]
    roles = {(name, module) for module in modules for name in ROLE.findall(inspect.getsource(module))}
    assert len(roles) > 100
    assert sorted(f"{module.__name__}: {name}" for name, module in roles if not is_known(name, module)) == []


@pytest.mark.exhaustive
def test_docstrings_are_current() -> None:
    """What declarations and signatures tell stands in the source, where editors read it."""
    command = [sys.executable, str(ROOT / "tools" / "docstrings.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    specification = importlib.util.spec_from_file_location("docstrings", ROOT / "tools" / "docstrings.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def cost(frames: lf.Frames, *, by: str | None = None, limit: int = 1) -> None:
    """Return costs.

    Parameters
    ----------
    limit : int, optional
        A limit of its own.

    Raises
    ------
    CoverageError
        If too little is known.

    Source: a fact.

    >>> len(lf.cost.sum(day))
    1
    """


def test_the_tool_adds_what_the_declaration_tells_and_keeps_the_rest(tool: ModuleType) -> None:
    grouping = declare.Grouping((declare.text("party", "Payer."),))
    figure = declare.Figure("cost.sum", "One row.", (declare.cost("total", "Sum."),), by={"party": grouping})
    docstring = tool.of_analysis(figure, cost)
    for part in (
        "Return costs.\n\nParameters\n----------\nframes : Frames\n    With the tables of",
        'by : {"party"}, optional\n    Grouping of the rows, with its columns below (default: None).\nlimit : int,',
        'Returns\n-------\nDataFrame\n    One row.\n\n    Columns:\n\n    - ``party`` (str, with by="party"): Payer.\n',
        "    - ``total`` (Int64, bytes): Sum.\n    - ``coverage`` (float64, share of 1): ",
        "Raises\n------\nUsageError\n    If `by` is not a grouping",
        "CoverageError\n    If too little is known.\n\nNotes\n-----\nSource: a fact.\n\nExamples\n--------\n>>> import",
        '>>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")\n>>> len(lf.cost.sum(day))\n1',
    ):
        assert part in docstring


def test_the_tool_changes_nothing_of_its_own_text(tool: ModuleType) -> None:
    figure = declare.Figure("cost.sum", "One row.", (declare.cost("total", "Sum."),))
    once = SimpleNamespace(__doc__=tool.of_analysis(figure, cost), __signature__=inspect.signature(cost))
    assert tool.joined(tool.sections_of(once)) == once.__doc__


def test_the_tool_names_what_only_a_person_can_write(tool: ModuleType) -> None:
    def total(frames: lf.Frames, *, tolerance: int) -> None:
        """Return a total."""

    with pytest.raises(tool.UndescribedError, match="the parameter tolerance"):
        tool.of_analysis(declare.Figure("cost.sum", "One row.", ()), total)
    total.__doc__ = None
    with pytest.raises(tool.UndescribedError, match="a summary"):
        tool.of_analysis(declare.Figure("cost.sum", "One row.", ()), total)
    total.__doc__ = "Return a total.\n\nSee Also\n--------\nothers"
    with pytest.raises(tool.UndescribedError, match="instead of See Also"):
        tool.of_analysis(declare.Figure("cost.sum", "One row.", ()), total)
