"""What type checkers accept and refuse: the closed sets of arguments are those that the figures declare."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import ledgerframes as lf
from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.activity import _concentration, _what_if
from ledgerframes.analysis.cost import _statement, budgets
from ledgerframes.analysis.economy import _leaderboard

ROOT = Path(__file__).parents[1]
CALLS = """\
from pathlib import Path

import pandas as pd

import ledgerframes as lf
from ledgerframes.report import run_report

net = lf.connect("sandbox")
frames = lf.load_events(net, during="yesterday")
spend: pd.DataFrame = lf.cost.spend(frames, by="participant", every="1h")
updates: lf.Frames = lf.load_updates(net, since="2026-11-08", shape="acs_delta")
traffic: pd.DataFrame = lf.load_traffic(net, during="yesterday", columns=["update_id"])
plan: pd.DataFrame = lf.plan(lf.load_events, net, since="2026-11-08")
plan = lf.plan(lf.load_parties, net)
run = run_report("verdicts", net=net, out=Path("reports")).run
requests: int = run["coverage"]["requests"]
"""
MISTAKES = [
    'lf.cost.spend(frames, by="participnt")',
    'lf.verdict.outcomes(frames, by="template")',
    'lf.economy.leaderboard(frames, of="isued")',
    'lf.load_updates(net, shape="acs")',
    'lf.load_events(net, during="yesterday", on_bad_item="ignore")',
    "lf.load_evnts(net)",
    "lf.load_events(net, plan=True)",
    'lf.load_traffic(net, sinse="2026-11-08")',
    'lf.plan(lf.load_events, net, sinse="2026-11-08")',
    'lf.plan(lf.load_updates, net, shape="acs")',
    "lf.plan(lf.load_parties, frames)",
    "lf.plan(lf.cost.spend, net)",
    "lf.cost.spnd(frames)",
    "frames.trafic",
    'run["coverage"]["reqests"]',
    'share: int = run["coverage"]["final"]',
]
for name in (each.partition(".")[0] for each in FIGURES):
    getattr(lf, name)  # which declares its figures


@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if figure.by])
def test_by_has_the_groupings_that_the_figure_declares(name: str) -> None:
    module, function = name.split(".")
    figure = inspect.unwrap(getattr(getattr(lf, module), function))
    hints = get_type_hints(figure)["by"]
    literals = [hints, *get_args(hints)]
    [values] = [get_args(each) for each in literals if get_origin(each) is Literal]
    assert set(values) == set(FIGURES[name].by)
    # Their order is that of the source: typing keeps one object for all literals of the same choices, in the order of the first.
    source = ast.walk(ast.parse(inspect.signature(figure).parameters["by"].annotation))
    written = [each.value for each in source if isinstance(each, ast.Constant) and each.value is not None]
    assert written == list(FIGURES[name].by)
    assert (type(None) in get_args(hints)) is not FIGURES[name].is_grouped


@pytest.mark.parametrize(
    ("function", "argument", "values"),
    [
        (lf.activity.concentration, "of", _concentration.OF),
        (lf.activity.lorenz, "of", _concentration.OF),
        (lf.activity.what_if, "confirmers", _what_if.CONFIRMERS_BY_NAME),
        (lf.cost.budget, "statistic", budgets.STATISTICS),
        (lf.cost.assert_budget, "statistic", budgets.STATISTICS),
        (lf.cost.statement, "split", _statement.SPLITS),
        (lf.decimals.multiply, "rounding", lf.decimals.ROUNDINGS),
        (lf.decimals.divide, "rounding", lf.decimals.ROUNDINGS),
        (lf.economy.leaderboard, "of", _leaderboard.RANKINGS),
    ],
)
def test_other_closed_sets_are_those_that_are_checked(
    function: Callable[..., object], argument: str, values: Collection[str]
) -> None:
    hint = get_type_hints(inspect.unwrap(function))[argument]
    assert set(values) == {value for each in (hint, *get_args(hint)) if get_origin(each) is Literal for value in get_args(each)}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("types")
    (path / "calls.py").write_text(CALLS + "".join(f"{line}\n" for line in MISTAKES))
    (path / "functions.py").write_text(
        "import ledgerframes as lf\n" + "".join(f"reveal_type(lf.{name})\n" for name in public_functions())
    )
    return path


def test_mypy_refuses_each_mistake(directory: Path) -> None:
    """With the settings of this repository, whose types a run of mypy before this one has read."""
    command = [sys.executable, "-m", "mypy", "--output=json", str(directory / "calls.py")]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    errors = [json.loads(line) for line in shown.splitlines() if line.startswith("{")]
    assert {each["line"] for each in errors if each["severity"] == "error"} == lines_of_mistakes()
    assert '"Frames" has no attribute "trafic"; maybe "traffic"?' in {each["message"] for each in errors}


@pytest.fixture(scope="module")
def diagnostics(directory: Path) -> list[dict[str, Any]]:
    """What pyright says of both files, which it reads in one run."""
    (directory / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "--project",
        str(directory),
    ]
    shown = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    return list(shown["generalDiagnostics"])


@pytest.mark.exhaustive
def test_pyright_refuses_each_mistake(diagnostics: list[dict[str, Any]]) -> None:
    errors = [each for each in diagnostics if each["severity"] == "error" and Path(each["file"]).name == "calls.py"]
    assert {each["range"]["start"]["line"] + 1 for each in errors} == lines_of_mistakes()


@pytest.mark.exhaustive
def test_pyright_shows_all_parameters_and_the_result_of_every_public_function(diagnostics: list[dict[str, Any]]) -> None:
    of_functions = [each for each in diagnostics if Path(each["file"]).name == "functions.py"]
    seen = [each["message"] for each in of_functions if each["severity"] == "information"]
    for name, message in zip(public_functions(), seen, strict=True):
        parameters, _, result = message.partition(f'Type of "lf.{name}" is "(')[2].rpartition(") -> ")
        declared = inspect.signature(attrgetter(name)(lf)).parameters.values()
        written = [each.name for each in declared if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
        assert all(re.search(rf"\b{each}: ", parameters) for each in written), message
        assert result not in ("", 'Any"') and "Unknown" not in message


def public_functions() -> list[str]:
    values = {name: getattr(lf, name) for name in dir(lf)}
    modules = {name: value for name, value in values.items() if inspect.ismodule(value)}
    values |= {f"{name}.{each}": getattr(module, each) for name, module in modules.items() for each in module.__all__}
    return [name for name, value in values.items() if inspect.isfunction(value)]


def lines_of_mistakes() -> set[int]:
    first = len(CALLS.splitlines()) + 1
    return set(range(first, first + len(MISTAKES)))
