"""`ledgerframes verify`, `state`, `sql --csv`, and logs that a machine reads."""

from __future__ import annotations

import csv
import io
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.json_logs import JsonFormatter

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("copied_first_loads")
DAY = ("--since", "2026-11-08", "--until", "2026-11-09")


@pytest.fixture
def day(run: Run) -> lf.Frames:
    net = lf.connect("sandbox", events=400, days=1)
    return lf.load_events(net, since="2026-11-08", until="2026-11-09")


def test_a_query_as_csv(run: Run, day: lf.Frames) -> None:
    query = "select '=1+1' as cell, count(*) as n, -0.5 as change, sum(total_traffic_cost) as bytes, null as none from traffic"
    (row,) = csv.DictReader(io.StringIO(run("sql", query, *DAY, "--csv").out))
    total = str(day.traffic["total_traffic_cost"].sum())
    assert row == {"cell": "'=1+1", "n": str(len(day.traffic)), "change": "-0.5", "bytes": total, "none": ""}
    assert run("sql", query, *DAY, "--csv", "--keep-formulas").out.splitlines()[1].startswith('"=1+1"')
    assert run("sql", query, *DAY, "--csv", "--json").code == 2


@pytest.mark.parametrize("table", ["active-contracts", "completions", "parties", "packages", "synchronizers", "transfer-offers"])
def test_the_state_of_a_participant(run: Run, table: str) -> None:
    loaded = getattr(lf, f"load_{table.replace('-', '_')}")(lf.connect("sandbox", events=400, days=1))
    rows = list(csv.DictReader(io.StringIO(run("state", table, "--csv").out)))
    assert len(rows) == len(loaded)
    assert run("state", table, "--json").document["columns"] == list(loaded.columns)


def test_an_unknown_state_is_refused(run: Run) -> None:
    assert "Choose from active-contracts" in run("state", "contracts").err


def test_the_state_of_a_participant_has_a_quarantine(run: Run) -> None:
    assert run("state", "parties", "--quarantine").out == run("state", "parties").out
    refused = run("state", "transfer-offers", "--quarantine")
    assert refused.code == 2 and "--quarantine does not apply" in refused.err


def test_verify_says_what_it_checked(run: Run, day: lf.Frames, tmp_path: Path) -> None:
    options: dict[str, Any] = {"since": "2026-11-08T02:00:00Z", "until": "2026-11-09", "min_coverage": 0.5}
    evidence, saved = tmp_path / "evidence", tmp_path / "saved"
    lf.grant.evidence(day, app={"packages": ["meadow-token"]}, exclude=[], directory=evidence, **options)
    lf.save_frames(day, saved)
    document = run("verify", evidence, "--inputs", "--json").document
    assert document["checks"] == len(lf.grant.verify(evidence, net=lf.connect("sandbox", events=400, days=1)))
    assert "none failed" in run("verify", saved).out
    (saved / "note.txt").write_text("by hand")
    assert run("verify", saved, "--json").document["not_in_manifest"] == ["note.txt"]
    assert "not checked" in run("verify", saved).out and "note.txt" in run("verify", saved).out
    for directory, name in ((evidence, "requests.csv"), (saved, "traffic.parquet")):
        with (directory / name).open("ab") as file:
            file.write(b"0")
        failed = run("verify", directory)
        assert failed.code == 1 and name in failed.err
    assert run("verify", tmp_path).code != 0


def record_of(message: str, *args: object) -> dict[str, Any]:
    record = logging.LogRecord("ledgerframes", logging.WARNING, "", 0, message, args, None)
    line = JsonFormatter().format(record)
    assert "\n" not in line and line.isascii()
    document: dict[str, Any] = json.loads(line)
    return document


def test_an_event_is_a_line_of_json_with_its_fields() -> None:
    document = record_of("offset_range_pruned network=%s after=%d through=%d", "main\n\u202e", 3, 9)
    assert document["time"].endswith("Z") and document["level"] == "warning"
    assert document["event"] == "offset_range_pruned"
    assert (document["network"], document["after"], document["through"]) == ("main\n\u202e", 3, 9)
    assert record_of("item_skipped event=%s", "x")["event"] == "item_skipped"
    assert record_of("Something else: %s", "x")["message"] == "Something else: x"


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_command_logs_json(run: Run, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if by == "environment":
        monkeypatch.setenv("LEDGERFRAMES_LOG_JSON", "1")
    run("sync", "events", *DAY, "--quiet", *(["--log-json"] if by == "option" else []))
    handlers = [handler for handler in logging.getLogger("ledgerframes").handlers if handler.formatter]
    assert [type(handler.formatter) for handler in handlers] == [JsonFormatter]
    assert isinstance(logging.getLogger("ledgerframes").handlers[0], logging.NullHandler)


def test_a_sync_logs_what_it_did(run: Run) -> None:
    hours = ("--since", "2026-11-08T01:00:00Z", "--until", "2026-11-08T07:30:00Z")
    for words in (["sync", "events", *hours], ["sync", "price-votes"]):
        events = [json.loads(line) for line in run(*words, "--quiet", "--log-json").err.splitlines()]
        committed = [event for event in events if event["event"] == "segment_committed"]
        assert committed and sum(event["rows"] for event in committed) > 0
        assert {event["network"] for event in committed} == {committed[0]["network"]}
    again = [json.loads(line) for line in run("sync", "events", *hours, "--quiet", "--log-json").err.splitlines()]
    assert [(event["event"], event["dataset"], event["chunks"]) for event in again] == [("load_finished", "events", 0)]
