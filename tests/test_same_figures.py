"""The comparison with an earlier commit calls the figures, and names each column that differs."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.frames import Frames

ROOT = Path(__file__).parents[1]


@pytest.fixture
def same(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools")
    import same_figures

    return same_figures


@pytest.fixture(scope="module")
def frames() -> Frames:
    return lf.open_frames(ROOT / "data" / "sample")


def test_the_main_figures_are_compared(same: ModuleType, frames: Frames) -> None:
    calls = [(name, same.columns_of(function, frames, options)) for name, function, options in same.calls(frames) if not options]
    computed = {name for name, columns in calls if "error" not in columns}
    assert {"cost.spend", "verdict.latency", "activity.weights", "economy.burn_mint"} <= computed


def test_the_tables_of_the_sandbox_are_compared(same: ModuleType) -> None:
    tables = same.sandbox_tables()
    assert len(tables["table verdicts of the sandbox"]["update_id"]) > 300
    assert not any("error" in columns for columns in tables.values())


def test_a_value_that_differs_in_its_last_digit_is_named(same: ModuleType, frames: Frames) -> None:
    spend = lf.cost.spend(frames)
    before = {"cost.spend": same.columns_of(lf.cost.spend, frames, {})}
    changed = spend.assign(total_traffic_cost=spend["total_traffic_cost"] + 1)
    after = {"cost.spend": {str(name): same.texts_of(changed[name]) for name in changed}}
    assert [*same.compare(before, before)] == []
    total = int(spend["total_traffic_cost"].iloc[0])
    assert [*same.compare(before, after)] == [f"cost.spend: total_traffic_cost has {total + 1} instead of {total}"]


def test_types_rows_and_columns_that_differ_are_named(same: ModuleType) -> None:
    texts = {dtype: same.texts_of(pd.Series([1, 2], dtype=dtype)) for dtype in ("int64", "Int64")}
    before = {"figure": {"count": texts["int64"], "rows": texts["int64"], "old": texts["int64"]}}
    after = {"figure": {"count": texts["Int64"], "rows": texts["int64"][:2], "new": texts["int64"]}}
    assert [*same.compare(before, after)] == [
        "figure: only before old",
        "figure: only now new",
        "figure: count has Int64 instead of int64",
        "figure: rows has 1 rows instead of 2",
    ]
