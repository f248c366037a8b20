"""New members of services are told once for each sync, and by the frames that have them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.cli.sync_summary import describe_sync, format_sync
from ledgerframes.loaders.extra_members import extra_members
from ledgerframes.sandbox import Faults

WORLD = {"events": 400, "days": 1, "page_size": 50}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("service_sends_new_members")]
    caplog.clear()
    return lines


def test_new_members_are_told_once_for_each_sync(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "ledgerframes")
    net = lf.connect("sandbox", store=tmp_path / "new", faults=Faults(unknown_members=1), **WORLD)
    frames = lf.load_events(net, **DAY)
    (line,) = told(caplog)
    members = extra_members(frames)
    assert members == sorted(members) and any(name.startswith("verdicts.") for name in members)
    assert line.endswith(f"members={','.join(members)}")
    lf.load_events(net, **DAY)
    assert told(caplog) == [], "nothing was fetched"
    updates = lf.load_updates(net)
    (line,) = told(caplog)
    assert extra_members(updates) and "ledger_updates." in line
    lf.load_events(lf.connect("sandbox", store=tmp_path / "again", faults=Faults(unknown_members=1), **WORLD), **DAY)
    assert len(told(caplog)) == 1, "also by a process that has met them before"


def test_the_summary_of_a_sync_names_new_members(tmp_path: Path) -> None:
    net = lf.connect("sandbox", store=tmp_path, faults=Faults(unknown_members=1), **WORLD)
    frames = lf.load_events(net, **DAY)
    document = describe_sync(net, frames, 1.0)
    assert document["extra_members"] == extra_members(frames)
    assert f"the service now sends {', '.join(document['extra_members'])}" in format_sync(document)


def test_known_members_are_not_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    frames = lf.load_events(lf.connect("sandbox", store=tmp_path, **WORLD), **DAY)
    assert extra_members(frames) == []
    assert told(caplog) == []
