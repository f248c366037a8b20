"""What every function says to a snapshot that is none."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf

END = "2026-11-09"


def functions_with_a_base() -> Iterator[tuple[str, Callable[..., object]]]:
    for module in (lf.contracts, lf.economy, lf.reconcile, lf.state):
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and "base" in inspect.signature(function).parameters:
                yield f"{module.__name__.rpartition('.')[2]}.{name}", function


FUNCTIONS = dict(functions_with_a_base())
OTHER_ARGUMENTS: dict[str, dict[str, Any]] = {"contracts.active_at": {"time": END}, "reconcile.supply": {"until": END}}


@pytest.fixture(scope="session")
def snapshot(sandbox_net: lf.Network) -> pd.DataFrame:
    return lf.load_bulk(sandbox_net, kind="acs", at="2026-11-08").active_contracts


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_base_that_is_not_one_snapshot_is_refused(name: str, sandbox_history: lf.Frames, snapshot: pd.DataFrame) -> None:
    arguments = {"snapshot": snapshot} if name == "reconcile.contracts" else OTHER_ARGUMENTS.get(name, {})
    figure = partial(FUNCTIONS[name], sandbox_history, **arguments)
    later = snapshot.assign(snapshot_time=snapshot["snapshot_time"] + pd.Timedelta(hours=6))
    for wrong, message in [
        ("2026-11-08", "Frames or rows of table active_contracts, got str"),
        (pd.DataFrame({"party": ["A"]}), "got a DataFrame without column 'snapshot_time'"),
        (snapshot.drop(columns="signatories"), "got a DataFrame without column 'signatories'"),
        (pd.concat([snapshot, later]), "one snapshot, got snapshot_time: 2026-11-08 00:00:00.00:00, 2026-11-08 06:00"),
        (snapshot.iloc[:0], "one snapshot, got snapshot_time: none"),
    ]:
        with pytest.raises(lf.UsageError, match=f"^base= .*{message}"):
            figure(base=wrong)


def test_there_are_functions_with_a_base() -> None:
    assert {"contracts.active_at", "reconcile.supply", "economy.flows", "state.featured"} <= set(FUNCTIONS)
