"""New members of services are told once for each sync, and by the frames that have them."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.cli.sync_summary import describe_sync, format_sync
from ledgerframes.loaders.additions import Additions, additions_of
from ledgerframes.sandbox import Faults

WORLD = {"events": 400, "days": 1, "page_size": 50}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}
TIME = "2026-11-08T00:00:01.000000Z"


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("service_sends_new_members")]
    caplog.clear()
    return lines


def test_new_members_are_told_once_for_each_sync(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "ledgerframes")
    net = lf.connect("sandbox", store=tmp_path / "new", faults=Faults(unknown_members=1), **WORLD)
    frames = lf.load_events(net, **DAY)
    (line,) = told(caplog)
    members = sorted(additions_of(frames).members)
    assert any(name.startswith("verdicts.") for name in members)
    assert line.endswith(f"members={','.join(members)}")
    lf.load_events(net, **DAY)
    assert told(caplog) == [], "nothing was fetched"
    updates = lf.load_updates(net)
    (line,) = told(caplog)
    assert additions_of(updates).members and "ledger_updates." in line
    lf.load_events(lf.connect("sandbox", store=tmp_path / "again", faults=Faults(unknown_members=1), **WORLD), **DAY)
    assert len(told(caplog)) == 1, "also by a process that has met them before"


def test_the_summary_of_a_sync_names_new_members(tmp_path: Path) -> None:
    net = lf.connect("sandbox", store=tmp_path, faults=Faults(unknown_members=1), **WORLD)
    frames = lf.load_events(net, **DAY)
    document = describe_sync(net, frames, 1.0)
    assert document["extra_members"] == sorted(additions_of(frames).members)
    assert f"the service now sends {', '.join(document['extra_members'])}" in format_sync(document)


def test_known_members_are_not_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    frames = lf.load_events(lf.connect("sandbox", store=tmp_path, **WORLD), **DAY)
    assert additions_of(frames) == Additions()
    assert told(caplog) == []


def test_new_values_of_closed_sets_are_kinds(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A verdict result and an event type of a later release are in their columns, and told."""

    def handler(request: httpx.Request) -> httpx.Response:
        after = json.loads(request.content).get("after")
        return httpx.Response(200, json={"events": [] if after and after["after_record_time"] > TIME else [event, later]})

    event = {
        "update": None, "traffic_summary": None, "app_activity_records": None,
        "verdict": {
            "update_id": "one", "migration_id": 4, "domain_id": "d", "record_time": TIME, "finalization_time": TIME,
            "verdict_result": "VERDICT_RESULT_\x1b[31mPOSTPONED", "submitting_participant_uid": "p",
        },
    }  # fmt: skip
    later = {**event, "verdict": {**event["verdict"], "update_id": "later", "record_time": "2026-11-09T00:00:00.000000Z"}}
    transport = httpx.MockTransport(handler)
    net = lf.connect("sandbox", history_url="http://one.invalid", transport=transport, store=tmp_path, requests_per_second=0)
    frames = lf.load_events(net, **DAY)
    assert additions_of(frames).kinds == {"verdicts.verdict_result=VERDICT_RESULT_\x1b[31mPOSTPONED"}
    told = [line for line in caplog.messages if line.startswith("service_sends_new_kinds")]
    assert told == ["service_sends_new_kinds network=sandbox kinds=verdicts.verdict_result=VERDICT_RESULT_\\x1b[31mPOSTPONED"]
    document = describe_sync(net, frames, 1.0)
    assert document["new_kinds"] == ["verdicts.verdict_result=VERDICT_RESULT_\x1b[31mPOSTPONED"]
    assert "the service now sends verdicts.verdict_result=VERDICT_RESULT_" in format_sync(document)


def test_members_around_the_rows_of_a_response_are_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """No row is theirs, so a load names them; the structs that a client returns have them."""
    caplog.set_level(logging.WARNING, "ledgerframes")
    with lf.connect("sandbox", store=tmp_path, faults=Faults(unknown_members=1), **WORLD) as net:
        for load in (lf.load_parties, lf.load_packages, lf.load_synchronizers, lf.load_completions, lf.load_active_contracts):
            load(net)
        for load in (lf.load_updates, lf.load_price_votes, lf.load_name_rules):
            load(net)
        lf.load_events(net, **DAY)
        lines = [line for line in caplog.messages if line.startswith("responses_have_new_members")]
        told = {name for line in lines for name in line.partition("members=")[2].split(",")}
        assert told >= {
            f"{route}.sandbox_extension"
            for route in (
                "GET /v2/parties",
                "POST /v2/package-vetting/list",
                "GET /v2/packages",
                "GET /v2/state/connected-synchronizers",
                "POST /v2/state/active-contracts-page",
                "POST /v2/commands/command-completions",
                "POST /v2/updates/get-updates-page",
                "GET /v0/{coin}-price/votes",
                "POST /v0/ans-rules",
                "POST /v0/events",
            )
        }
        caplog.clear()
        net.history.events(page_size=5)
        assert net.ledger.ledger_end() == net.ledger.ledger_end_times().offset
        page = net.ledger.parties_page(page_size=1)
        assert "sandbox_extension" in json.loads(bytes(page.extra))
        assert not any("POST /v0/events." in line for line in caplog.messages)
