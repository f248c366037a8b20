"""An argument of the wrong type is an error of this library that names it, never one of Python, pandas or the engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.figures import ANALYSES
from ledgerframes.errors import LedgerframesError

CALLABLES: dict[str, Callable[..., Any]] = {
    **{figure.name: analysis for analysis, figure in ANALYSES.items() if figure.name != "grant.verify"},  # which takes a path
    "cost.assert_budget": lf.cost.assert_budget,
    "labels.short": lf.labels.short,
    "plot": lf.plot,
}
# What is not iterable, what has no hash, and others.
WRONG = every_nth([object(), ["x"], -1, {}, b"x"], 5)
NAMES = [
    (name, parameter.name)
    for name, analysis in sorted(CALLABLES.items())
    for parameter in inspect.signature(analysis).parameters.values()
    if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
]


@pytest.fixture(scope="module")
def arguments() -> dict[str, Any]:
    """An argument for each parameter that has no default."""
    net = lf.connect("sandbox", events=400, days=1)
    day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    given = {"votes": lf.load_price_votes(net), "price": lf.TrafficPrice("60", "USD/MB"), "result": lf.cost.spend(day)}
    return {"day": day, **given}


def test_every_figure_is_tried() -> None:
    assert {name for name, _ in NAMES} >= {*FIGURES} - {"grant.verify"} and len(NAMES) > 200


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("name", "wrong"), NAMES)
def test_it_is_refused_or_accepted(name: str, wrong: str, value: object, arguments: dict[str, Any]) -> None:
    required = {
        parameter.name: arguments.get(parameter.name, arguments["day"])
        for parameter in inspect.signature(CALLABLES[name]).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }
    with suppress(LedgerframesError):
        CALLABLES[name](**{**required, wrong: value})
