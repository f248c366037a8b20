"""Bad input: one line with the next step, the right exit code, no traceback, nothing lost."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]  # returns a Completed of conftest

DAY = ("--since", "2026-11-08", "--until", "2026-11-09")

USAGE = {
    "profile": (["store", "info", "--profile", "nowhere"], "Unknown profile 'nowhere'", "ledgerframes.toml"),
    "profile before": (["--profile", "nowhere", "store", "info"], "Unknown profile 'nowhere'", "ledgerframes.toml"),
    "table": (["tables", "nothing"], "Unknown table 'nothing'", "traffic"),
    "report": (["report", "run", "nothing", "--during", "yesterday"], "Unknown report 'nothing'", "traffic-cost"),
    "parameter": (
        ["report", "run", "verdicts", "--during", "yesterday", "--param", "colour=red"],
        "Unknown parameter 'colour'",
        "top",
    ),
    "parameter value": (
        ["report", "run", "verdicts", "--during", "yesterday", "--param", "top=many"],
        "top= of report verdicts must be a valid integer.",
        "integer",
    ),
    "parameter form": (["report", "run", "verdicts", "--during", "yesterday", "--param", "top"], "NAME=VALUE", "report list"),
    "since after until": (["sync", "events", "--since", "2026-11-09", "--until", "2026-11-08"], "must be before", "until"),
    "naive time": (["sync", "events", "--since", "2026-11-08T12:00:00"], "no time zone", "2026-11-08T12:00:00Z"),
    "unparsable time": (["sync", "events", "--since", "last tuesday"], "must be a time such as", "2026-11-01T12:00:00Z"),
    "date word": (["sync", "events", "--during", "recently"], "Unknown --during 'recently'", "last-week"),
    "before all time": (["sync", "events", "--since", "0001-01-01T00:00:00+14:00"], "must be in the years", "9999"),
    "after all time": (["sync", "events", "--during", "9999-12-31"], "Unknown --during '9999-12-31'", "last-week"),
    "ids and a range": (["sync", "events", "--update-ids", __file__, "--during", "today"], "cannot be combined", "--update-ids"),
    "no range": (["sync", "events"], "Pass --since and --until, or --during (", "last-week"),
    "two ranges": (
        ["sync", "events", "--during", "yesterday", "--since", "2026-11-08"],
        "--during cannot be combined with --since or --until.",
        "--since",
    ),
    "quoted argument": (["sync", "events", "--since", "until=1"], "--since must be a time", "got 'until=1'"),
    "two values": (
        ["report", "run", "verdicts", "--during", "yesterday", "--param", "top=1", "--param", "top=2"],
        "--param top is set twice",
        "Pass it once",
    ),
    "rule": (["report", "run", "verdicts", "--during", "today", "--fail-if", "x"], "--fail-if must be a figure", "got 'x'"),
    "speed": (["sandbox", "--port", "8976", "--speed", "-1"], "--speed must be above 0, got -1", "real time"),
    "shape of follow": (["sync", "updates", "--follow", "--dry-run"], "--follow cannot be combined with --dry-run", "--through"),
    "dataset alone": (["store", "prune", "--dataset", "events"], "--dataset needs --before", "leave --dataset out"),
    "age": (["report", "run", "verdicts", "--during", "yesterday", "--max-age", "old"], "must be a duration", "36h"),
    "endless age": (
        ["report", "run", "verdicts", "--during", "yesterday", "--max-age", "999999999999999w"],
        "must be at most 36,525 days",
        "999999999999999w",
    ),
    "share": (["report", "run", "verdicts", "--during", "yesterday", "--min-coverage", "95"], "--min-coverage", "--help"),
    "ids missing": (["sync", "events", "--update-ids", "no-such-file"], "Cannot read", "one update id per line"),
    "command": (["fetch"], "No such command 'fetch'", "--help"),
    "command by half": (["sync", "event"], "Did you mean 'events'? Run", "--help"),
    "no command": (["sync"], "Missing command", "--help"),
    "option": (["sync", "events", "--sinse", "2026"], "--sinse", "--help"),
    "fault": (
        ["sandbox", "--port", "8080", "--fault", "bad_mood=1"],
        "ledgerframes: Unknown fault 'bad_mood'",
        "too_many_requests",
    ),
    "fault value": (["sandbox", "--port", "8080", "--fault", "old_service=much"], "must be a number", "old_service=0.1"),
    "fault seed": (["sandbox", "--port", "8080", "--fault", "seed=x"], "seed must be an integer, got 'x'", "'seed=1'"),
    "fault without a value": (
        ["sandbox", "--port", "8080", "--fault", "retry_after"],
        "must be a number, got ''",
        "retry_after=0.1",
    ),
    "fault size": (["sandbox", "--port", "8080", "--fault", "old_service=7"], "not a probability", "0 to 1"),
    "vocabulary": (
        ["sandbox", "--port", "8080", "--vocabulary", "latin"],
        "--vocabulary must be neutral, canton or a table",
        "got 'latin'",
    ),
    "port": (["sandbox"], "--port", "--help"),
}


def assert_fails(result: Any, code: int, *words: str) -> None:
    """Assert one line on stderr with these words, and nothing on stdout."""
    assert result.code == code, result.err
    assert result.out == ""
    assert result.err.startswith("ledgerframes: ")
    assert result.err.count("\n") == 1, result.err
    assert result.err.endswith(".\n")
    assert "Traceback" not in result.err
    assert "geheim" not in result.err
    for word in words:
        assert word in result.err


@pytest.mark.parametrize("case", USAGE)
def test_usage(run: Run, case: str) -> None:
    arguments, *words = USAGE[case]
    assert_fails(run(*arguments), 2, *words)


@pytest.mark.parametrize("case", USAGE)
def test_usage_as_json(run: Run, case: str) -> None:
    result = run(*USAGE[case][0], "--json")
    assert result.document["error"] == "UsageError"
    assert result.document["exit_code"] == result.code == 2
    assert result.document["message"] in result.err


def test_no_ids(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("\n \n")
    assert_fails(run("sync", "events", "--update-ids", "ids"), 2, "has no ids")


def test_ids_that_are_not_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ids").write_bytes(b"\xff\xfe\x00")
    assert_fails(run("sync", "events", "--update-ids", "ids"), 2, "Cannot read", "one update id per line")


# -- the store ----------------------------------------------------------------------------------------------------


def test_unwritable_store(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert_fails(run("sync", "events", *DAY, "--store", tmp_path / "file"), 1, "cannot be written", "LEDGERFRAMES_STORE")


def test_store_of_a_newer_schema(run: Run, tmp_path: Path) -> None:
    run("sync", "events", *DAY)
    [catalog] = (tmp_path / "store").glob("*/catalog.sqlite")
    with closing(sqlite3.connect(catalog)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    before = catalog.read_bytes()
    for arguments in (["sync", "events", *DAY], ["store", "info"], ["sync", "events", *DAY, "--offline"]):
        assert_fails(run(*arguments), 1, "schema 99", "Upgrade ledgerframes")
    assert catalog.read_bytes() == before


def test_a_file_that_is_not_a_catalog(run: Run, tmp_path: Path) -> None:
    run("sync", "events", *DAY)
    [catalog] = (tmp_path / "store").glob("*/catalog.sqlite")
    catalog.write_bytes(b"this is not a database, but somebody's letter to a friend" * 20)
    assert_fails(run("store", "info"), 1, "Cannot read the catalog", "store rebuild")


@pytest.mark.parametrize("command", [("store", "verify"), ("store", "info"), ("store", "prune"), ("sql", "FROM verdicts")])
def test_a_store_that_is_a_file(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "ledgerframes.toml"
    file.write_text("", encoding="utf-8")
    assert_fails(run("--store", str(file), *command), 1, "is a file", "writable directory")


# -- the data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["y", "maybe"])
def test_a_variable_that_is_neither_on_nor_off_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """It would be taken for off, and requests would be sent."""
    monkeypatch.setenv("LEDGERFRAMES_OFFLINE", value)
    result = run("sync", "events", "--during", "2026-11-08")
    assert result.code == 2
    assert f"LEDGERFRAMES_OFFLINE must be 1 or 0, got '{value}'. Set it to 1, or unset it." in result.err


def test_offline_without_data(run: Run) -> None:
    assert_fails(run("sync", "events", *DAY, "--offline"), 3, "offline", "Reconnect without --offline")


def test_the_advice_names_what_made_the_network_offline(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERFRAMES_OFFLINE", "1")
    assert_fails(run("sync", "events", *DAY), 3, "offline", "Reconnect without LEDGERFRAMES_OFFLINE to fetch")
    monkeypatch.delenv("LEDGERFRAMES_OFFLINE")
    store = ("--store", tmp_path / "store")
    run(*store, "sync", "events", "--since", "2026-11-08", "--until", "2026-11-08T01:00:00Z")
    (catalog,) = tmp_path.rglob("catalog.sqlite")
    monkeypatch.setenv("LEDGERFRAMES_SNAPSHOT", str(catalog))
    assert_fails(run(*store, "sync", "events", *DAY), 3, "offline", "Reconnect without LEDGERFRAMES_SNAPSHOT to fetch")


@pytest.mark.parametrize("arguments", [("sync", "updates", "--shape", "nope"), ("sync", "bulk", "--kind", "nope")])
def test_a_value_that_is_none_of_the_choices(run: Run, arguments: tuple[str, ...]) -> None:
    option, value = arguments[-2:]
    assert_fails(run(*arguments), 2, f"Invalid value for '{option}': '{value}' is not one of '")


def test_a_mistyped_directory_is_a_wrong_argument(run: Run) -> None:
    assert_fails(run("verify", "mistyped"), 2, "mistyped has no manifest.json")


def test_an_id_with_a_slash(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("a/b\n../c?d#e\n")
    assert_fails(
        run("sync", "events", "--update-ids", "ids"), 3, "does not know 2 of 2 update ids (a/b, ../c?d#e)", "Check the ids"
    )


def test_events_of_known_ids_are_committed_despite_unknown_ones(run: Run, tmp_path: Path, host: Any) -> None:
    known = next(iter(host.box.world.events())).update_id
    (tmp_path / "ids").write_text(f"{known}\na/b\n")
    result = run("sync", "events", "--update-ids", "ids", "--json")
    assert (result.code, result.document["missing"]) == (3, ["a/b"])
    assert sum(run("store", "info", "--json").document["update_ids"].values()) == 1


# -- a host -------------------------------------------------------------------------------------------------------

HOSTS = {
    "gateway": (4, "returned 503 for POST /v0/events: a web page instead of JSON", "second host"),
    "html": (4, "not JSON", "Check that the URL"),
    "half": (4, "did not complete", "Check the URL"),
    "silent": (4, "did not respond", "Raise timeout"),
    "no_event": (4, "$.events[0].update", "doctor"),
    "rude": (4, "400", "Check the arguments"),
}


@pytest.mark.loopback
def test_host(run: Run, host: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--profile", "live", "sync", "events", *DAY).code == 0
    before = run("--profile", "live", "store", "info", "--json").document
    assert before["segments"] > 0
    for mode, (code, *words) in HOSTS.items():
        host.mode = mode
        with monkeypatch.context() as patch:
            if mode == "silent":
                patch.setenv("LEDGERFRAMES_TIMEOUT", "0.2")
            failed = run("--profile", "live", "sync", "events", "--since", "2026-11-08", "--until", "2026-11-10")
        assert_fails(failed, code, *words)
        assert run("--profile", "live", "store", "info", "--json").document == before


@pytest.mark.loopback
def test_host_that_is_down(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ledgerframes.toml").write_text('[live]\nhistory_url = "http://127.0.0.1:9"\nretries = 0\n')
    assert_fails(run("--profile", "live", "sync", "events", *DAY), 4, "127.0.0.1:9", "Check the URL")


@pytest.mark.loopback
def test_errors_of_a_service_have_status_and_endpoint(run: Run, host: Any) -> None:
    host.mode = "gateway"
    document = run("--profile", "live", "sync", "events", *DAY, "--json").document
    assert (document["error"], document["status"], document["endpoint"]) == ("ServiceUnavailableError", 503, "POST /v0/events")


@pytest.mark.loopback
def test_control_characters_of_a_host_never_reach_the_terminal(run: Run, host: Any) -> None:
    host.mode = "rude"
    for arguments in (["sync", "events", *DAY], ["sync", "events", *DAY, "--json", "--verbose"], ["doctor"]):
        result = run("--profile", "live", *arguments)
        shown = result.out + result.err
        assert "[bold]no[/bold]" in shown
        assert not set("\x1b\x07\x9b\u202e") & set(shown)


# -- the machine --------------------------------------------------------------------------------------------------


@pytest.mark.loopback
def test_port_in_use(run: Run, host: Any) -> None:
    assert_fails(run("sandbox", "--port", host.server.server_port), 2, "Cannot listen on", "another --port")


def test_lab_without_jupyterlab(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert_fails(run("lab"), 2, "requires jupyterlab", "ledgerframes[lab]")


def test_an_unexpected_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: 1 / 0)
    assert_fails(run("store", "info"), 1, "Unexpected ZeroDivisionError: division by zero", "LEDGERFRAMES_TRACEBACK=1")
    monkeypatch.setenv("LEDGERFRAMES_TRACEBACK", "1")
    assert "Traceback" in run("store", "info").err
