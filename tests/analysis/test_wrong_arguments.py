"""An argument of the wrong type is an error of this library that names it, never one of Python, pandas or the engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.figures import ANALYSES
from ledgerframes.errors import LedgerframesError
from ledgerframes.frames import Frames

CALLABLES: dict[str, Callable[..., Any]] = {
    **{figure.name: analysis for analysis, figure in ANALYSES.items() if figure.name != "grant.verify"},  # which takes a path
    "cost.assert_budget": lf.cost.assert_budget,
    "labels.short": lf.labels.short,
    "plot": lf.plot,
}
# What is not iterable, what has no hash, and others.
WRONG = [object(), ["x"], *(pytest.param(value, marks=pytest.mark.exhaustive) for value in (-1, {}, b"x"))]
NAMES = [
    (name, parameter.name)
    for name, analysis in sorted(CALLABLES.items())
    for parameter in inspect.signature(analysis).parameters.values()
    if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
]


@pytest.fixture(scope="module")
def frames() -> Frames:
    return lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01", until="2026-11-09")


@pytest.fixture(scope="module")
def arguments(frames: Frames) -> dict[str, dict[str, Any]]:
    """Right arguments of each function, so that it reads the wrong one. Without a name, frames are right."""
    net = lf.connect("sandbox", events=400, days=1)
    day = {"since": "2026-11-08", "until": "2026-11-09"}
    bulk, ledger = lf.load_bulk(net, **day), lf.load_updates(net)
    price, balance = lf.TrafficPrice("60", "USD/MB"), lf.TrafficBalance(1_000_000, "2026-11-09")
    billing = {"price": price, "accept_price": True, "accept_survivorship": True, "min_coverage": 0, "split": "equal"}
    accounts = dict.fromkeys(("traffic", "wasted"), ("costs", "balance"))
    app = {"packages": frames.tree_events["package_name"].head(1).tolist(), "templates": [], "parties": []}
    evidence = {"app": app, "exclude": [], "min_coverage": 0, **day}
    estimates = frames.updates[["update_id"]].head(5).assign(request_bytes=5_000)
    payer = frames.verdicts["submitting_participant_uid"].iloc[0]
    return {
        "activity.what_if": {"merge_views": "same confirmers"},
        "cost.assert_budget": {"budgets": {"a": 1}, "network": frames.network},
        "cost.budget": {"budgets": {"a": 1}, "network": frames.network},
        "cost.estimate": {"estimates": estimates},
        "cost.journal": {"statement": lf.cost.statement(frames, **billing), "accounts": accounts, "accept_partial": True},
        "cost.runway": {"participant": payer, "balance": balance},
        "cost.runway_end": {"participant": payer, "balance": balance},
        "cost.statement": billing,
        "grant.evidence": evidence,
        "grant.evidence_totals": evidence,
        "plot": {"result": lf.cost.spend(frames)},
        "reconcile.bounds": {"ledger": ledger},
        "reconcile.bulk": {"bulk": bulk},
        "reconcile.bulk_totals": {"bulk": bulk, "listing": frames.between(**day)},
        "reconcile.contracts": {"snapshot": lf.load_bulk(net, kind="acs", at="2026-11-09")},
        "reconcile.digests": {"objects_by_node": {"a": bulk.bulk_objects, "b": bulk.bulk_objects}},
        "reconcile.paid_traffic": {"ledger": ledger},
        "reconcile.paid_traffic_totals": {"ledger": ledger},
        "reconcile.supply": {"base": None, "until": lf.load_active_contracts(net)},
        "votes.price": {"votes": lf.load_price_votes(net)},
        "votes.stale": {"votes": lf.load_price_votes(net)},
    }


def test_every_figure_is_tried() -> None:
    assert {name for name, _ in NAMES} >= {*FIGURES} - {"grant.verify"} and len(NAMES) > 200


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("name", "wrong"), every_nth(NAMES, 3))
def test_it_is_accepted_or_refused_by_its_name(
    name: str, wrong: str, value: object, frames: Frames, arguments: dict[str, dict[str, Any]]
) -> None:
    right = {
        parameter.name: frames
        for parameter in inspect.signature(CALLABLES[name]).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    } | arguments.get(name, {})
    try:
        CALLABLES[name](**{**right, wrong: value})
    except LedgerframesError as error:
        assert wrong in str(error) or str(error).startswith(("Pass Frames to ", "Pass the result of ", "Unknown ")), str(error)
