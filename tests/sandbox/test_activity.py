"""Activity weights: the public vectors, and what the world serves against what its own history says."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.formulas import activity_records
from ledgerframes.sandbox.script import BY_SV, EARNS, FLOAT_FACTOR, FLOAT_TOTAL, NOT_FEATURED, SCRIPT

from .conftest import nodes_of

VECTORS = Path(__file__).parents[1] / "data" / "activity_vectors.json"


def vectors() -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]
    return content


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["id"])
def test_vectors(vector: dict[str, Any]) -> None:
    verdict = {
        "verdict_result": vector["verdict_result"],
        "submitting_participant_uid": vector["submitting_participant_uid"],
        "transaction_views": {"views": vector["views"], "root_views": [0]},
    }
    found = activity_records(
        verdict,
        vector["traffic_summary"],
        vector["round_number"],
        vector["featured"],
        vector["sv_participants"],
    )
    assert found == vector["expected"]


class Reader:
    """A reader who knows nothing but the updates, and rebuilds rounds, rights and SVs from them."""

    def __init__(self, updates: list[dict[str, Any]]) -> None:
        self.rounds: dict[str, dict[str, Any]] = {}
        self.rights: dict[str, dict[str, Any]] = {}
        self.svs: list[tuple[datetime, set[str]]] = []
        for update in updates:
            time = datetime.fromisoformat(update["record_time"])
            for node in nodes_of(update):
                self._see(time, node)

    def _see(self, time: datetime, node: dict[str, Any]) -> None:
        template = node["template_id"].partition(":")[2]
        if template == "Splice.Round:OpenMiningRound":
            if node["event_type"] == "created_event":
                arguments = node["create_arguments"]
                self.rounds[node["contract_id"]] = {
                    "number": int(arguments["round"]["number"]),
                    "opens_at": datetime.fromisoformat(arguments["opensAt"]),
                    "from": time,
                    "to": None,
                }
            elif node["consuming"]:
                self.rounds[node["contract_id"]]["to"] = time
        elif template == "Splice.Coin:FeaturedAppRight" and node["event_type"] == "created_event":
            arguments = node["create_arguments"]
            if arguments["dso"] in node["signatories"]:  # anybody may upload a template of this name
                names = {"provider": arguments["provider"], "weight": arguments["activityWeight"] or "1"}
                self.rights[node["contract_id"]] = {"from": time, "to": None, **names}
        elif template == "Splice.Coin:FeaturedAppRight" and node["consuming"]:
            self.rights[node["contract_id"]]["to"] = time
        elif template == "Splice.DsoRules:DsoRules" and node["event_type"] == "created_event":
            infos = [info for _, info in node["create_arguments"]["svs"]]
            self.svs.append((time, {info["participantId"].removeprefix("PAR::") for info in infos}))

    def round_at(self, time: datetime) -> dict[str, Any] | None:
        active = [
            entry
            for entry in self.rounds.values()
            if entry["from"] <= time and (entry["to"] is None or time < entry["to"]) and entry["opens_at"] <= time
        ]
        return min(active, key=lambda entry: entry["number"], default=None)

    def records(self, item: dict[str, Any]) -> dict[str, Any] | None:
        found = self.round_at(datetime.fromisoformat(item["verdict"]["record_time"]))
        svs = [participants for time, participants in self.svs if found and time <= found["opens_at"]]
        if found is None or not svs:
            return None
        alive = [(right["from"], key) for key, right in self.rights.items() if is_alive(right, found["opens_at"])]
        rights = [self.rights[key] for _, key in sorted(alive)]  # of two of one party the last counts
        featured = {right["provider"]: right["weight"] for right in rights}
        return activity_records(item["verdict"], item["traffic_summary"], found["number"], featured, svs[-1])


def is_alive(lifetime: dict[str, Any], time: datetime) -> bool:
    return lifetime["from"] <= time and (lifetime["to"] is None or time < lifetime["to"])


def test_the_updates_alone_explain_every_record(items: list[dict[str, Any]], updates: list[dict[str, Any]], box: Sandbox) -> None:
    reader = Reader(updates)
    newest = reader.round_at(box.now)
    assert newest is not None
    served = missing = 0
    for item in items:
        if item["verdict"] is None:
            continue
        expected = reader.records(item)
        if expected and expected["round_number"] > newest["number"] - 2:
            missing += 1
            expected = None  # the newest two rounds are not complete yet
        assert item["app_activity_records"] == expected
        served += expected is not None
    assert served > 1000
    assert missing > 0


def test_rounds_overlap_as_on_the_network(updates: list[dict[str, Any]], box: Sandbox) -> None:
    reader = Reader(updates)
    assert len(reader.rounds) > (box.now - box.start).total_seconds() // 600
    middle = box.start + (box.now - box.start) / 2
    open_now = [
        entry for entry in reader.rounds.values() if entry["from"] <= middle and (not entry["to"] or middle < entry["to"])
    ]
    assert len(open_now) == 3
    assert any(entry["opens_at"] > middle for entry in open_now)


def test_a_provider_becomes_featured_on_the_way(updates: list[dict[str, Any]]) -> None:
    reader = Reader(updates)
    lasting = [right for right in reader.rights.values() if right["to"] is None]
    assert len(lasting) == 9
    assert (max(right["from"] for right in lasting) - min(right["from"] for right in lasting)).days >= 1
    assert {"1", "2.2000000000", "0.8000000000"} <= {right["weight"] for right in lasting}


def test_each_planted_case_earns_what_the_key_says(items: list[dict[str, Any]], box: Sandbox) -> None:
    by_id = {(item["update"] or item["verdict"])["update_id"]: item for item in items}
    cases = box.planted_cases()
    assert len(cases) == len(SCRIPT)
    for case in cases:
        records = (by_id[case.update_id]["app_activity_records"] or {}).get("records", [])
        weights = {record["party"]: record["weight"] for record in records}
        assert by_id[case.update_id]["update"], case
        assert weights.get(case.party) == case.weight, case
        assert (case.expected == EARNS) == (case.weight is not None)


def test_the_script_has_every_trap(box: Sandbox) -> None:
    assert {case.expected for case in box.planted_cases()} == {"", EARNS, "boundary", NOT_FEATURED, BY_SV}
    assert int(FLOAT_TOTAL * float(FLOAT_FACTOR)) != 5_700  # the exact product
    assert Sandbox(1, 900, 3).planted_cases() == []


def test_svs_earn_nothing(items: list[dict[str, Any]], box: Sandbox) -> None:
    svs = {sv.participant for sv in box.world.parties.svs}
    submitted = [item for item in items if item["verdict"] and item["verdict"]["submitting_participant_uid"] in svs]
    assert submitted
    assert not [item for item in submitted if item["app_activity_records"]]
