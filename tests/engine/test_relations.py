"""Relations declare all that they read, and no name stands for two of them in one query."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ledgerframes
import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import FIGURES
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.relation import Parameter, in_order, parameters_of
from ledgerframes.engine.requests import CONFIRMERS_BY_VIEW, PARTY_LABELS, REQUESTS, REQUESTS_BY_LABEL
from ledgerframes.engine.views import RELATIONS


def all_relations() -> dict[tuple[str, str], Relation]:
    """Return the relations that modules and groupings declare, and all that they need."""
    declared = [*relations_of_modules(), *relations_of_groupings()]
    return {(each.name, each.query): each for one in declared for each in in_order([one])}


def relations_of_modules() -> Iterator[Relation]:
    for module in pkgutil.walk_packages(ledgerframes.__path__, "ledgerframes."):
        if not module.name.endswith("__main__"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Relation):
                    yield value
                if isinstance(value, Query):
                    yield from value.relations


def relations_of_groupings() -> Iterator[Relation]:
    for figure in FIGURES.values():
        for by in (None, *figure.by):
            yield figure.grouping(by).rows


@pytest.fixture
def parse() -> Iterator[Any]:
    """Parse a query with DuckDB."""
    with duckdb.connect() as connection:
        yield lambda query: json.loads(connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()[0][0])


def names_in(parsed: Any) -> set[str]:
    """Return the tables that a query reads."""
    read, defined = set(), set()

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE":
                read.add(node["table_name"])
            defined.update(each["key"] for each in node.get("cte_map", {"map": ()})["map"])
            visit(list(node.values()))
        elif isinstance(node, list):
            for each in node:
                visit(each)

    visit(parsed)
    return read - defined


def test_a_relation_declares_what_it_reads(parse: Any) -> None:
    relations = all_relations()
    declared = {
        key: {*each.tables, *(it.name for it in each.relations), *(it.name for it in each.parameters)}
        for key, each in relations.items()
    }
    assert len(declared) > 150
    assert {key: names_in(parse(each.query)) for key, each in relations.items()} == declared


@pytest.mark.usefixtures("copied_first_loads")
def test_every_view_of_sql_can_be_selected_whole(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    frames = lf.load_events(net, during="2026-11-08")
    rows = {name: lf.sql(net, f"select * from {name}") for name in RELATIONS}
    assert {name for name, each in rows.items() if each.empty or "update_id" not in each} == set()
    assert len(rows["requests_by_view"]) == len(frames.views)


def test_a_view_whose_quorums_have_no_parties_has_no_confirmers() -> None:
    head = {"update_id": "a", "quorum_index": 0}
    quorums = [{**head, "view_id": 0, "parties": []}, {**head, "view_id": 1, "parties": ["x", "y"]}]
    rows = run(testing.frames_of(quorums=quorums), Query("FROM confirmers_by_view ORDER BY view_id", (CONFIRMERS_BY_VIEW,)))
    assert rows[["view_id", "confirmers"]].values.tolist() == [[0, 0], [1, 2]]


def test_two_relations_of_one_name_are_refused() -> None:
    other = replace(REQUESTS, query="SELECT 1 AS update_id")
    with pytest.raises(ValueError, match="Two relations have the name 'requests'"):
        in_order([REQUESTS_BY_LABEL, other])
    assert in_order([REQUESTS_BY_LABEL, replace(REQUESTS)]) == in_order([REQUESTS_BY_LABEL])


def test_parameters_are_those_of_all_relations_below() -> None:
    above = Relation(
        "above", "One row.", "FROM requests_by_label", relations=(REQUESTS_BY_LABEL,), parameters=(Parameter("a", "A row."),)
    )
    assert set(parameters_of([above])) == {"a", "party_labels", "participant_labels"}
    assert parameters_of([above])["party_labels"] == PARTY_LABELS
