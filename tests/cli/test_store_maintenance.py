"""The commands that maintain the store: texts, documents and exit codes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.network import Network
from ledgerframes.sandbox.builder import Event

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("copied_first_loads")
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture
def net(run: Run) -> Iterator[Network]:
    """A store of several segments."""
    with lf.connect("sandbox", page_size=20, segment_bytes=30_000, min_merged_segments=1_000) as net:
        lf.load_events(net, **DAY)
        yield net


def parquet(net: Network) -> list[Path]:
    assert net.store.location.local_path
    return sorted(net.store.location.local_path.rglob("*.parquet"))


def damage(net: Network, table: str = "traffic") -> Path:
    path = next(path for path in parquet(net) if path.parent.name == table)
    path.write_bytes(path.read_bytes()[:-1])
    return path


def age(net: Network) -> None:
    then = time.time() - 7200
    for path in parquet(net):
        os.utime(path, (then, then))


# -- compact --------------------------------------------------------------------------------------------------------


def test_compact_merges(run: Run, net: Network) -> None:
    planned = run("store", "compact", "--dry-run", "--json").document["datasets"][0]
    assert planned["segments_after"] < planned["segments_before"]
    assert "Nothing was written." in run("store", "compact", "--dry-run").out
    done = run("store", "compact")
    assert (done.code, done.err) == (0, "")
    assert f"{planned['segments_before']} → {planned['segments_after']}" in done.out
    assert "Nothing to merge" in run("store", "compact").out
    assert run("store", "compact", "--quiet").out == ""
    assert run("store", "verify").code == 0


def test_compact_of_one_dataset_and_a_size(run: Run, net: Network) -> None:
    assert run("store", "compact", "--dataset", "ledger", "--json").document["datasets"] == []
    run("store", "compact", "--target-bytes", "1")  # segments without rows
    assert "Nothing to merge" in run("store", "compact", "--target-bytes", "1").out
    result = run("store", "compact", "--dataset", "event")
    assert (result.code, result.out) == (2, "")
    assert "Unknown dataset 'event'" in result.err


def test_compact_names_a_damaged_file(run: Run, net: Network) -> None:
    path = damage(net)
    result = run("store", "compact", "--json")
    assert (result.code, result.document["error"], result.document["path"]) == (1, "IntegrityError", str(path))


# -- verify ---------------------------------------------------------------------------------------------------------


def test_verify_without_damage(run: Run, net: Network) -> None:
    result = run("store", "verify")
    assert (result.code, result.err) == (0, "")
    assert "damaged  0" in result.out
    document = run("store", "verify", "--quick", "--json").document
    assert (document["files"], document["damaged_files"], document["repairs"]) == (len(parquet(net)), [], [])
    assert document["orphan_files"] == {"files": 0, "bytes": 0}


@pytest.mark.parametrize("command", ["verify", "recheck", "rebuild", "compact"])
def test_a_store_that_does_not_exist_has_not_passed(run: Run, command: str) -> None:
    """A mistyped path or a disk that is not mounted would be green for ever."""
    missing = run("--store", "mistyped", "store", command)
    assert missing.code == 3 and "There is no store of" in missing.err and "Check --store and --profile" in missing.err


def test_damage_is_an_error_until_it_is_repaired(run: Run, net: Network) -> None:
    path = damage(net)
    result = run("store", "verify")
    assert result.code == 1
    assert f"size differs  traffic/{path.name}" in result.out
    assert "1 damaged file in the store" in result.err
    assert result.err.count("\n") == 1, "what the table shows is not shown again"
    assert "verify --repair" in result.err
    document = run("store", "verify", "--quick", "--json").document
    assert (document["error"], document["exit_code"]) == ("IntegrityError", 1)
    assert document["failures"] == {f"traffic/{path.name}": "size differs"}
    repaired = run("store", "verify", "--repair", "--json")
    assert repaired.code == 0
    assert [each["outcome"] for each in repaired.document["repairs"]] == ["fetched again"]
    assert [each["path"] for each in repaired.document["damaged_files"]] == [f"traffic/{path.name}"]
    assert run("store", "verify").code == 0


def test_a_repair_as_text(run: Run, net: Network) -> None:
    damage(net)
    result = run("store", "verify", "--repair")
    assert (result.code, result.err) == (0, "")
    assert "fetched again" in result.out


def test_many_damaged_files_are_not_all_shown(run: Run, net: Network) -> None:
    files = parquet(net)
    for path in files:
        path.unlink()
    result = run("store", "verify")
    assert result.out.count("missing") == 20
    assert f"… and {len(files) - 20} more. Add --json to list all." in result.out


def test_an_unrecoverable_segment_is_an_error_until_it_is_dropped(run: Run, net: Network) -> None:
    lf.load_price_votes(net)
    damage(net, "price_votes")
    for _ in range(2):
        result = run("store", "verify", "--repair")
        assert result.code == 1
        assert "price_votes" in result.out
        assert "cannot be fetched again (only the latest state is served)" in result.err
        assert result.err.count("\n") == 1, "what the table shows is not shown again"
    document = run("store", "verify", "--repair", "--json").document
    assert (document["error"], len(document["failures"])) == ("IntegrityError", 1)
    assert run("store", "verify", "--drop-unrecoverable").code == 2
    dropped = run("store", "verify", "--repair", "--drop-unrecoverable", "--json")
    assert (dropped.code, dropped.document["repairs"][0]["outcome"]) == (0, "dropped")
    assert run("store", "verify").code == 0


def test_repairing_offline_is_refused_before_anything_is_moved(run: Run, net: Network) -> None:
    path = damage(net)
    result = run("store", "verify", "--repair", "--offline")
    assert result.code == 3
    assert "nothing was repaired" in result.err
    assert path.exists()
    assert run("store", "verify", "--offline").code == 1


# -- prune ----------------------------------------------------------------------------------------------------------


def test_prune_deletes_the_old_files_of_a_compaction(run: Run, net: Network) -> None:
    run("store", "compact")
    orphans = run("store", "verify", "--json").document["orphan_files"]
    assert orphans["files"] > 0
    assert "unused" in run("store", "verify").out
    for arguments, label in (((), "retained"), (("--dry-run",), "would be retained")):
        text = " ".join(run("store", "prune", *arguments).out.split())
        assert f"{label} {orphans['files']} files" in text
        assert "written less than 1h ago (delete them with --older-than 0h when the store is not in use)" in text
    age(net)
    planned = run("store", "prune", "--dry-run", "--json").document
    assert planned["deleted_files"] == orphans
    assert "would be deleted" in run("store", "prune", "--dry-run").out
    assert run("store", "prune", "--json").document == {**planned, "dry_run": False}
    assert run("store", "verify", "--json").document["orphan_files"]["files"] == 0
    assert run("store", "prune", "--quiet", "--older-than", "0h", "--include-quarantine").out == ""


def test_segments_are_dropped_only_after_confirmation(run: Run, net: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ("store", "prune", "--before", "2026-11-08T18:00:00Z")
    planned = run(*before, "--dry-run", "--json").document["dropped_segments"]
    assert planned
    refused = run(*before)
    assert (refused.code, refused.out) == (2, "")
    assert "Pass --yes" in refused.err
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    for is_confirmed, code in ((False, 2), (True, 0)):
        prompts: list[str] = []
        monkeypatch.setattr("typer.confirm", lambda text, err, reply=is_confirmed, prompts=prompts: prompts.append(text) or reply)
        result = run(*before, "--json")
        assert result.code == code
        assert prompts[0].startswith("Drop ")
    assert result.document["dropped_segments"] == planned
    assert run(*before, "--yes", "--json").document["dropped_segments"] == []
    assert len(lf.plan(lf.load_events, net, **DAY)) > 0


def test_nothing_to_drop_needs_no_confirmation(run: Run, net: Network) -> None:
    assert run("store", "prune", "--before", "2020-01-01").code == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--before", "soon", "--yes"),
        ("--dataset", "events"),
        ("--older-than", "-1"),
        ("--older-than", "nan"),
        ("--older-than", "1"),
        ("--older-than", "9999999w"),
        ("--older-than", "1e300"),
        ("--before", "2026-01-01", "--dataset", "x"),
    ],
)
def test_invalid_options_are_refused(run: Run, options: tuple[str, ...]) -> None:
    assert run("store", "prune", *options).code == 2


@pytest.mark.parametrize("command", ["compact", "verify", "prune"])
def test_a_frozen_snapshot_can_be_verified_and_nothing_else(
    run: Run, net: Network, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net.store.freeze(tmp_path / "frozen.sqlite")
    monkeypatch.setenv("LEDGERFRAMES_SNAPSHOT", str(tmp_path / "frozen.sqlite"))
    assert run("store", command).code == (0 if command == "verify" else 2)


# -- rebuild and recheck --------------------------------------------------------------------------------------------


def test_rebuild_restores_a_lost_catalog(run: Run, net: Network) -> None:
    assert "is intact" in run("store", "rebuild").out
    net.store.catalog.path.unlink()
    lost = run("store", "verify")
    assert lost.code == 1 and "catalog.sqlite is lost" in lost.err and "store rebuild" in lost.err
    assert "failed  catalog" in run("doctor").out
    planned = run("store", "rebuild", "--dry-run")
    assert "Nothing was written." in planned.out and not net.store.exists()
    document = run("store", "rebuild", "--json").document
    assert document["from_files"] > 1 and document["problems"] == {}
    assert run("store", "verify").code == 0


def test_info_after_a_rebuild_names_no_participant(run: Run, net: Network) -> None:
    run("sync", "updates", "--through", "300")
    assert "through offset 300 of " in run("store", "info").out
    net.store.catalog.path.unlink()
    run("store", "rebuild")
    assert run("store", "info").out.count("through offset 300") == 1 and "None" not in run("store", "info").out


def test_rebuild_names_files_that_it_cannot_use(run: Run, net: Network) -> None:
    path = damage(net)
    net.store.catalog.path.unlink()
    done = run("store", "rebuild")
    assert done.code == 0
    assert path.name in done.out and "unreadable" in done.out and "The next load fetches what is missing." in done.out


def test_recheck_names_what_changed_upstream(run: Run, net: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    same = run("store", "recheck", "--sample", 2, "--seed", 1)
    assert same.code == 0 and "2 extents" in same.out
    item = Event.item
    monkeypatch.setattr(Event, "item", lambda event: item(replace(event, app_activity_records=b"null")))
    changed = run("store", "recheck", "--sample", 3, "--seed", 1)
    assert changed.code == 1
    assert "changed upstream" in changed.err and "activity_records (rows removed: " in changed.err and "--replace" in changed.err
    document = run("store", "recheck", "--sample", 3, "--seed", 1, "--json")
    assert document.code == 1 and document.document["error"]
    replaced = run("store", "recheck", "--sample", 3, "--seed", 1, "--replace")
    assert replaced.code == 1 and "The segments were fetched again." in replaced.err and "fetched again" in replaced.out
