"""`import ledgerframes` brings only what everybody needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHOW = "import {}; import json, sys; print(json.dumps(list(sys.modules)))"


def modules_after(name: str) -> set[str]:
    shown = subprocess.run([sys.executable, "-c", SHOW.format(name)], capture_output=True, text=True, check=True)
    return set(json.loads(shown.stdout))


@pytest.fixture(scope="module")
def imported() -> set[str]:
    return modules_after("ledgerframes")


@pytest.mark.parametrize("name", ["matplotlib", "duckdb", "jupyter_core", "jupyter_client", "IPython", "nbformat", "jinja2"])
def test_what_draws_asks_and_reports_comes_later(imported: set[str], name: str) -> None:
    assert name not in imported


@pytest.mark.parametrize("name", ["loky", "distributed", "dask", "flask", "waitress", "ledgerframes.sandbox"])
def test_what_computes_elsewhere_and_the_sandbox_come_later(imported: set[str], name: str) -> None:
    assert name not in imported


@pytest.mark.parametrize("name", ["httpx", "tqdm", "pydantic", "ledgerframes.settings"])
def test_what_a_network_needs_comes_with_the_first_connection(imported: set[str], name: str) -> None:
    assert name not in imported


def test_figures_come_at_first_use(imported: set[str]) -> None:
    later = {f"ledgerframes.{name}" for name in ("analysis", "anatomies", "plots", "statistics")}
    assert not imported & later
    used = modules_after("ledgerframes as lf; lf.anatomy, lf.plot, lf.cost, lf.verdict")
    assert later <= used
    assert "matplotlib" not in used  # until something is drawn


def test_the_names_are_those_of_modules() -> None:
    assert {"httpx", "matplotlib"} <= modules_after("httpx, matplotlib")


@pytest.mark.exhaustive
def test_it_works_without_docstrings(tmp_path: Path) -> None:
    """Python removes docstrings with -OO, which analyses, plots and loaders complete."""
    lines = [
        "import ledgerframes as lf",
        f"net = lf.connect('sandbox', events=400, days=1, store={str(tmp_path)!r})",
        "day = lf.load_events(net, since='2026-11-08', until='2026-11-09')",
        "lf.plot(lf.cost.spend(day, by='participant'))",
    ]
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, "-OO", "-c", "\n".join(lines)], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("before", ["", "lf.cost; "], ids=["at first", "after an analysis"])
def test_statistics_say_where_their_results_are(before: str) -> None:
    code = f"import ledgerframes as lf; {before}lf.statistics.wilson"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    message = done.stderr.strip().splitlines()[-1]
    assert "is private" in message and "lf.verdict have its results" in message and "lf.cost.runway" in message
