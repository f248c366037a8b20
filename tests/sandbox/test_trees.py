"""Transactions: the shape of their trees, and contracts that are used up once."""

from __future__ import annotations

import gc
import json
from collections import Counter
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.ledger import Contract, Template, arrange, create, exercise
from ledgerframes.sandbox.participant.projection import project

from .conftest import nodes_of
from .economy_reader import coin_of

CREATED = [
    "event_type", "event_id", "contract_id", "template_id", "package_name", "create_arguments", "created_at",
    "signatories", "observers",
]  # fmt: skip
EXERCISED = [
    "event_type", "event_id", "contract_id", "template_id", "package_name", "choice", "choice_argument",
    "child_event_ids", "exercise_result", "consuming", "acting_parties", "interface_id",
]  # fmt: skip


def preorder(update: dict[str, Any]) -> list[str]:
    found: list[str] = []

    def visit(event_id: str) -> None:
        found.append(event_id)
        for child in update["events_by_id"][event_id].get("child_event_ids", ()):
            visit(child)

    for root in update["root_event_ids"]:
        visit(root)
    return found


def test_nodes_are_numbered_densely_in_preorder(updates: list[dict[str, Any]]) -> None:
    for update in updates:
        expected = [f"{update['update_id']}:{index}" for index in range(len(update["events_by_id"]))]
        assert preorder(update) == expected
        assert [node["event_id"] for node in nodes_of(update)] == expected


def test_events_stand_in_string_order_of_their_keys(updates: list[dict[str, Any]]) -> None:
    for update in updates:
        assert list(update["events_by_id"]) == sorted(update["events_by_id"])
    assert any(len(update["events_by_id"]) > 10 for update in updates)


def test_trees_are_of_all_sizes(updates: list[dict[str, Any]]) -> None:
    sizes = [len(update["events_by_id"]) for update in updates]
    assert min(sizes) == 1
    assert 120 <= max(sizes) < 240  # the settlement of several rounds, with the rewards of each
    assert 9 < sum(sizes) / len(sizes) < 12
    roots = [len(update["root_event_ids"]) for update in updates]
    assert 0.5 < roots.count(1) / len(roots) < 1


def test_nodes_have_the_fields_of_the_wire(updates: list[dict[str, Any]]) -> None:
    for update in updates:
        for node in update["events_by_id"].values():
            assert list(node) == (CREATED if node["event_type"] == "created_event" else EXERCISED)
            for parties in ("signatories", "observers", "acting_parties"):
                assert node.get(parties, []) == sorted(node.get(parties, []))


def test_contracts_are_used_up_once_and_after_their_creation(items: list[dict[str, Any]]) -> None:
    alive: dict[str, str] = {}
    consumed = 0
    for item in items:
        update = item["update"] or {}
        if "created_event" in update.get("event", {}):
            node = update["event"]["created_event"]
            alive.setdefault(node["contract_id"], node["template_id"])
        for node in nodes_of(update) if "events_by_id" in update else ():
            if node["event_type"] == "created_event":
                assert node["contract_id"] not in alive
                alive[node["contract_id"]] = node["template_id"]
            elif node["consuming"]:
                assert alive.pop(node["contract_id"]) == node["template_id"]
                consumed += 1
    assert consumed > len(items)


def test_transfers_neither_make_nor_lose_coin(updates: list[dict[str, Any]]) -> None:
    amounts: dict[str, Decimal] = {}
    transfers = 0
    for update in updates:
        nodes = update["events_by_id"]
        for node in nodes.values():
            if coin := coin_of(node):
                amounts[node["contract_id"]] = coin["amount"]
        for node in nodes.values():
            if node.get("choice") == "CoinRules_Transfer":
                children = [nodes[child] for child in node["child_event_ids"]]
                summary = node["exercise_result"]["summary"]
                used = sum(amounts.get(child["contract_id"], Decimal(0)) for child in children if "choice" in child)
                assert used == Decimal(summary["inputCoinAmount"])
                used += sum(Decimal(summary[f"input{kind}RewardAmount"]) for kind in ("App", "Validator", "Sv"))
                made = sum(amounts[child["contract_id"]] for child in children if "choice" not in child)
                assert used == made > 0
                transfers += 1
    assert transfers > 500


def test_created_at_is_the_effective_time_without_trailing_zeros(updates: list[dict[str, Any]]) -> None:
    differently_written = 0
    for update in updates:
        effective_at = datetime.fromisoformat(update["effective_at"])
        for node in update["events_by_id"].values():
            if node["event_type"] == "created_event":
                assert datetime.fromisoformat(node["created_at"]) == effective_at
                assert not node["created_at"].endswith("0Z") or "." not in node["created_at"]
                differently_written += node["created_at"] != update["effective_at"]
    assert differently_written > 0


def test_effective_times_lie_on_both_sides_of_record_times(updates: list[dict[str, Any]]) -> None:
    ahead = [datetime.fromisoformat(update["effective_at"]) - datetime.fromisoformat(update["record_time"]) for update in updates]
    seconds = [difference.total_seconds() for difference in ahead]
    assert min(seconds) >= -1.501
    assert max(seconds) <= 4.3
    assert 0.15 < sum(value > 0 for value in seconds) / len(seconds) < 0.35


def test_results_are_of_every_json_type(updates: list[dict[str, Any]]) -> None:
    results = [
        type(node["exercise_result"]).__name__
        for update in updates
        for node in update["events_by_id"].values()
        if node["event_type"] == "exercised_event"
    ]
    assert {"dict", "str", "list", "NoneType"} == set(results)


def test_payloads_hold_the_awkward_values(updates: list[dict[str, Any]]) -> None:
    text = json.dumps(updates, ensure_ascii=False)
    for awkward in (
        '"0E-10"',
        '"0.5"',
        ".0000000000",
        "Überweisung",
        "会議費",
        '\\"in full\\"',
        "\\\\folder",
        '"tag": ',
    ):
        assert awkward in text, awkward
    interfaces = Counter(
        node["interface_id"] is None
        for update in updates
        for node in update["events_by_id"].values()
        if node["event_type"] == "exercised_event"
    )
    assert interfaces[True] > 5 * interfaces[False] > 0


def test_the_reassignments_halves_belong_together(items: list[dict[str, Any]], box: Sandbox) -> None:
    halves = [item["update"] for item in items if item["update"] and "event" in item["update"]]
    assert all(list(half) == ["update_id", "offset", "record_time", "event"] for half in halves)
    assert {half["offset"] for half in halves} == {"000000000000000001"}
    assert 0.004 < len(halves) / len(items) < 0.02
    kinds: dict[str, list[str]] = {}
    for half in halves:
        event = half["event"]
        kinds.setdefault(event["unassign_id"], []).append("in" if "created_event" in event else "out")
        assert {event["source_synchronizer"], event["target_synchronizer"]} == {
            box.world.parties.synchronizer,
            box.world.parties.app_synchronizer,
        }
    assert all(len(kind) == len(set(kind)) for kind in kinds.values())
    assert ["out", "in"] in kinds.values()


@pytest.mark.exhaustive
def test_the_assignment_sometimes_comes_first() -> None:
    first_halves: dict[str, bool] = {}
    for event in Sandbox(1, 6_000, 2).world.events():
        if b'"unassign_id"' in event.update:
            half = json.loads(event.update)["event"]
            first_halves.setdefault(half["unassign_id"], "created_event" in half)
    assert set(first_halves.values()) == {True, False}


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=60))
def test_any_tree_is_arranged_in_preorder(shape: list[Any]) -> None:
    contract = Contract("00ab", Template("p:M:T", "p"), ["a"])

    def node(children: list[Any]) -> dict[str, Any]:
        return exercise(contract, "C", {}, {}, ["a"], [node(child) for child in children]) if children else create(contract, {})

    roots, nodes = arrange("1220", [node(shape), node([])], 0)
    assert preorder({"root_event_ids": roots, "events_by_id": nodes}) == [f"1220:{n}" for n in range(len(nodes))]
    assert list(nodes) == sorted(nodes)


@pytest.mark.exhaustive
def test_no_tree_is_left_to_the_garbage_collector(box: Sandbox) -> None:
    event = next(event for event in box.world.events(encoding="ledger_json") if event.update.startswith(b'{"update_id"'))
    contract = Contract("00", Template("p:M:E", "p"), ["alice"])
    gc.collect()
    gc.freeze()  # the collector need not look through all worlds each time
    gc.disable()
    try:
        arrange("1220", [exercise(contract, "Do", {}, {}, ["alice"], [create(contract, {})])], 0)
        project(box.world, box.participant, box.ledger.parties, event, 1)
        assert gc.collect() == 0
        assert box.world.drafts(20)
        assert gc.collect() == 0
    finally:
        gc.enable()
