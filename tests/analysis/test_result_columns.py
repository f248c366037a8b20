"""Every result has the declared columns and dtypes, also when there is nothing to tell; the docstrings name the same columns."""

from __future__ import annotations

import re

import pytest

from ledgerframes.analysis import cost, verdict

COST = [name for name in cost.COLUMNS if name != "anatomy"]
BY = [("outcomes", by) for by in verdict.OUTCOMES_BY] + [("latency", by) for by in verdict.LATENCY_BY]


def assert_declared(frame, columns):
    assert list(frame.columns) == [column.name for column in columns]
    assert [str(dtype) for dtype in frame.dtypes] == [column.dtype for column in columns]
    assert frame.index.equals(frame.reset_index(drop=True).index)


@pytest.fixture(params=["sample", "empty", "empty by id"])
def frames(request, build, sample):
    return {"sample": sample, "empty": build([]), "empty by id": build([], window=None)}[request.param]


@pytest.mark.parametrize("name", COST)
def test_cost(frames, name):
    assert_declared(getattr(cost, name)(frames), cost.COLUMNS[name])


@pytest.mark.parametrize("update_id", ["a", "c", "d", "f"])
def test_anatomy(sample, update_id):
    assert_declared(cost.anatomy(sample, update_id), cost.COLUMNS["anatomy"])


@pytest.mark.parametrize(("name", "by"), BY)
def test_verdict_by(frames, name, by):
    keys = {"outcomes": verdict.OUTCOMES_BY, "latency": verdict.LATENCY_BY}[name][by]
    assert_declared(getattr(verdict, name)(frames, by), (*keys, *verdict.COLUMNS[name]))


@pytest.mark.parametrize("name", ["rejections", "quorums"])
def test_verdict(frames, name):
    assert_declared(getattr(verdict, name)(frames), verdict.COLUMNS[name])


@pytest.mark.parametrize(
    ("module", "name"), [(cost, name) for name in cost.COLUMNS] + [(verdict, name) for name in verdict.COLUMNS]
)
def test_docstrings_name_every_column_in_order(module, name):
    returns = re.search(r"Returns\n\s+-------\n(.*?)\n\n\s+(Raises|Notes)\n", getattr(module, name).__doc__, re.DOTALL)[1]
    named = re.findall(r"``([\w ]+)``", returns)
    positions = [named.index(column.name) for column in module.COLUMNS[name]]
    assert positions == sorted(positions)


@pytest.mark.parametrize("module", [cost, verdict])
def test_every_column_has_a_meaning(module):
    assert all(column.description.endswith(".") for columns in module.COLUMNS.values() for column in columns)
    assert all("coverage" in [column.name for column in columns] for columns in module.COLUMNS.values())
