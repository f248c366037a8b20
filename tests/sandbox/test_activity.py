"""Activity weights: the public vectors, and what the world serves against what its own history says."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.activity import activity_records

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
        self.rights: list[tuple[datetime, str, str]] = []
        self.svs: tuple[datetime, set[str]] | None = None
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
            self.rights.append((time, arguments["provider"], arguments["activityWeight"] or "1"))
        elif template == "Splice.DsoRules:DsoRules" and node["event_type"] == "created_event":
            infos = [info for _, info in node["create_arguments"]["svs"]]
            self.svs = time, {info["participantId"].removeprefix("PAR::") for info in infos}

    def round_at(self, time: datetime) -> dict[str, Any] | None:
        active = [
            entry
            for entry in self.rounds.values()
            if entry["from"] <= time and (entry["to"] is None or time < entry["to"]) and entry["opens_at"] <= time
        ]
        return min(active, key=lambda entry: entry["number"], default=None)

    def records(self, item: dict[str, Any]) -> dict[str, Any] | None:
        found = self.round_at(datetime.fromisoformat(item["verdict"]["record_time"]))
        if found is None or self.svs is None or self.svs[0] > found["opens_at"]:
            return None
        featured = {party: weight for time, party, weight in self.rights if time <= found["opens_at"]}
        return activity_records(item["verdict"], item["traffic_summary"], found["number"], featured, self.svs[1])


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
    assert len(reader.rights) == 9
    assert (max(time for time, _, _ in reader.rights) - min(time for time, _, _ in reader.rights)).days >= 1
    assert {"1", "2.2000000000", "0.8000000000"} <= {weight for _, _, weight in reader.rights}


def test_svs_earn_nothing(items: list[dict[str, Any]], box: Sandbox) -> None:
    svs = {sv.participant for sv in box.world.people.svs}
    submitted = [item for item in items if item["verdict"] and item["verdict"]["submitting_participant_uid"] in svs]
    assert submitted
    assert not [item for item in submitted if item["app_activity_records"]]
