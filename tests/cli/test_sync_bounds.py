"""`sync events` of a window in which the network has nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from completed import Completed

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.cli.sync_summary import describe_sync, format_plan, format_sync
from ledgerframes.sandbox import Sandbox

DAY_START = datetime(2026, 11, 8, tzinfo=UTC)

Run = Callable[..., Completed]
DAY = ("--since", "2026-11-08", "--until", "2026-11-09")


@pytest.mark.parametrize(("since", "until"), [("2020-01-01", "2020-01-02"), ("2027-01-01", "2027-01-02")])
def test_a_window_beside_the_history_exits_3_and_says_where_the_history_is(
    run: Run, tmp_path: Path, since: str, until: str
) -> None:
    result = run("sync", "events", "--since", since, "--until", until, "--store", tmp_path, "--json")
    assert (result.code, result.document["error"]) == (3, "CoverageError")
    assert f"has no events in {since}T00:00:00Z" in result.document["message"]
    assert "its events begin at 2026-11-08T0" in result.document["message"]
    assert "end at 2026-11-09T0" in result.document["message"]


def test_a_quiet_moment_exits_0_and_says_so(run: Run, tmp_path: Path) -> None:
    window = ("--since", "2026-11-08T12:00:00Z", "--until", "2026-11-08T12:00:00.000001Z")
    result = run("sync", "events", *window, "--store", tmp_path)
    assert result.code == 0
    assert "the network has none in this window" in result.out + result.err


def test_a_window_to_come_is_not_said_to_be_quiet(run: Run, tmp_path: Path) -> None:
    later = ("--since", "2027-01-01", "--until", "2027-01-02", "--store", tmp_path)
    run("sync", "events", *later)
    shown = run("sync", "events", *later, "--offline").out
    assert "none so far (the next sync fetches this window again)" in shown and "the network has none" not in shown


def test_an_update_that_a_filter_does_not_show_is_not_missing_on_the_network(run: Run, tmp_path: Path) -> None:
    shown = run("sync", "updates", *DAY, "--party", "nobody::1220ab", "--store", tmp_path).out
    assert "the participant shows none of this selection in this window" in shown and "the network has none" not in shown


def test_what_was_pruned_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box, store = Sandbox(events=400, days=1, pruned_through=0.5), tmp_path / "store"
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    net = lf.connect("sandbox", transport=in_process(box.app), network="pruned", requests_per_second=0, store=store, **urls)
    frames = lf.load_updates(net, since="2026-11-08T01:00:00Z", until="2026-11-08T06:00:00Z")
    through = net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    for name, value in {"NETWORK": "pruned", "STORE": str(store), "HISTORY_URL": box.history_url}.items():
        monkeypatch.setenv(f"LEDGERFRAMES_{name}", value)
    gaps, line = [{"after": 0, "through": through}], f"offsets after 0 through {through:,} (not in the store)"
    document = describe_sync(net, frames, 1.0)
    assert document["gaps"] == gaps and line in format_sync(document) and "no updates" not in format_sync(document)
    commands = (("store", "info"), ("export", "ledger_updates", "--to", tmp_path / "x.csv", "--overwrite"))
    for command in commands:
        assert run(*command, "--offline", "--json").document["gaps"] == gaps
        assert line in run(*command, "--offline").out


def test_a_window_before_the_history_exits_3_offline_too(run: Run, tmp_path: Path) -> None:
    store = ("--store", tmp_path)
    run("sync", "events", "--since", "2026-11-08T12:00:00Z", "--until", "2026-11-08T13:00:00Z", *store)
    result = run("sync", "events", "--since", "2020-01-01", "--until", "2020-01-02", *store, "--offline")
    assert result.code == 3
    assert "its history begins at 2026-11-08T0" in result.err and "Choose a later window." in result.err
    inside = run(
        "sync", "events", "--since", "2026-11-08T12:00:00Z", "--until", "2026-11-08T12:00:00.000001Z", *store, "--offline"
    )
    assert inside.code == 0


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (None, "About 3 requests, 1,500 rows, 2.0 MB, by the density of what is in the store."),
        (
            1,
            (
                "About 3 requests, 1,500 rows, 2.0 MB, at most 2 minutes, "
                "by the density of what is in the store and 5 requests a second."
            ),
        ),
    ],
)
def test_a_plan_adds_up_what_its_parts_need(minutes: int | None, text: str) -> None:
    part = {"migration_id": 4, "since": DAY_START, "until": DAY_START + timedelta(days=1)}
    part |= dict.fromkeys(("object_key", "update_id", "through"))
    costs = [{"requests": n, "rows": 500 * n, "bytes": 10**6, "minutes": minutes} for n in (1, 2)]
    rows = [{**part, **each, "request_rate": "5 requests a second"} for each in costs]
    assert format_plan({"network": "mainnet", "plan": rows}).splitlines()[-1] == text
