"""Traffic of members, and the serial of the synchronizer (docs/facts.md#history-operations)."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox

from .conftest import DAYS, EVENTS, client_of, nodes_of

BURST, WINDOW = 400_000, 20 * 60 * 1_000_000  # bytes, and microseconds
MICROSECOND = timedelta(microseconds=1)


def status_of(client: httpx.Client, box: Sandbox, participant: str) -> dict[str, Any]:
    path = f"/v0/domains/{box.world.parties.synchronizer}/members/PAR::{participant}/traffic-status"
    answer = client.get(path).raise_for_status().json()
    assert set(answer) == {"traffic_status"}
    status: dict[str, Any] = answer["traffic_status"]
    assert {name: set(part) for name, part in status.items()} == {
        "actual": {"total_consumed", "total_limit"},
        "target": {"total_purchased"},
    }
    assert all(type(value) is int for part in status.values() for value in part.values())
    return status


def bought(updates: list[dict[str, Any]]) -> dict[str, int]:
    """Return the bytes of the contracts that purchases create, without those of merges."""
    results: dict[str, int] = defaultdict(int)
    for update in updates:
        nodes = nodes_of(update)
        if not any("MergeMemberTraffic" in node.get("choice", "") for node in nodes):
            for node in nodes:
                if node["template_id"].endswith(":MemberTraffic") and "created_at" in node:
                    results[node["create_arguments"]["memberId"]] += int(node["create_arguments"]["totalPurchased"])
    return results


def used(items: list[dict[str, Any]], participant: str) -> int:
    """Return the bytes beyond the base rate, each request once and in the order of record times."""
    requests: dict[str, tuple[datetime, int]] = {}
    for item in items:
        if item["verdict"] and item["traffic_summary"] and item["verdict"]["submitting_participant_uid"] == participant:
            time = datetime.fromisoformat(item["verdict"]["record_time"])
            requests.setdefault(item["verdict"]["update_id"], (time, item["traffic_summary"]["total_traffic_cost"]))
    free, total, before = BURST, 0, datetime.min
    for time, cost in sorted(requests.values()):
        if before != datetime.min:
            free = min(BURST, free + (time - before) // MICROSECOND * BURST // WINDOW)
        before = time
        total += max(0, cost - free)
        free = max(0, free - cost)
    return total


def test_every_validator_has_what_the_history_says(client: httpx.Client, box: Sandbox, items: Any, updates: Any) -> None:
    purchases = bought(updates)
    consumed = 0
    for validator in box.world.parties.validators:
        status = status_of(client, box, validator.participant)
        assert status["target"]["total_purchased"] == purchases.get(f"PAR::{validator.participant}", 0)
        assert status["actual"]["total_consumed"] == used(items, validator.participant)
        consumed += status["actual"]["total_consumed"]
    assert sum(purchases.values()) > 0
    assert consumed > 0


def test_totals_grow_with_the_clock_and_a_purchase_takes_a_minute(box: Sandbox) -> None:
    moving = Sandbox(1, EVENTS, DAYS)
    client, validator = client_of(moving), moving.world.parties.validators[9]
    recurring = moving.world.schedule.purchases[9]
    first = moving.start + timedelta(microseconds=recurring.time(0) - moving.world.timeline.start)
    before = status_of(client, moving.at(first), validator.participant)
    after = status_of(client, moving.at(first + timedelta(seconds=1)), validator.participant)
    later = status_of(client, moving.at(first + timedelta(seconds=61)), validator.participant)
    assert before["target"]["total_purchased"] == before["actual"]["total_limit"] == after["actual"]["total_limit"] == 0
    assert after["target"]["total_purchased"] == later["target"]["total_purchased"] == later["actual"]["total_limit"] > 0
    assert status_of(client, moving.at(moving.start), validator.participant)["actual"]["total_consumed"] == 0


@pytest.mark.usefixtures("own_worlds")
def test_balances_are_found_without_writing_the_history() -> None:
    box = Sandbox(1, 1_200, 1)
    status_of(client_of(box), box, box.participant)
    assert box.world.generated == 0


@pytest.mark.parametrize("member", ["PAR", "nobody", "PAR::nobody", "XYZ::a::1220ab", "PAR::a b::1220ab", "PAR::a::zz"])
def test_a_member_id_that_is_none(client: httpx.Client, box: Sandbox, member: str) -> None:
    answer = client.get(f"/v0/domains/{box.world.parties.synchronizer}/members/{member}/traffic-status")
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


def test_an_unknown_member_or_synchronizer(client: httpx.Client, box: Sandbox) -> None:
    known = box.world.parties.validators[0].participant
    for synchronizer, member in (
        (box.world.parties.synchronizer, "PAR::nobody::1220ab"),
        (box.world.parties.synchronizer, f"MED::{known}"),
        (box.world.parties.app_synchronizer, f"PAR::{known}"),
        ("nowhere", f"PAR::{known}"),
    ):
        answer = client.get(f"/v0/domains/{synchronizer}/members/{member}/traffic-status")
        assert (answer.status_code, list(answer.json())) == (404, ["error"])


def test_the_serial_of_the_synchronizer(client: httpx.Client) -> None:
    assert client.get("/v0/active-synchronizer-serial").json() == {"serial": 0}
