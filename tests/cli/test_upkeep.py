"""``ledgerframes store compact``, ``verify`` and ``prune``: what they say and how they end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.loaders import by_range
from ledgerframes.network import Network

Run = Callable[..., Any]

DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture
def net(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    """A store of several segments."""
    monkeypatch.setattr(by_range, "SEGMENT_BYTES", 30_000)
    with lf.connect("sandbox", page_size=20) as net:
        lf.load_events(net, **DAY)
        yield net


def parquet(net: Network) -> list[Path]:
    assert net.store.location.local_path
    return sorted(net.store.location.local_path.rglob("*.parquet"))


def damaged(net: Network, table: str = "traffic") -> Path:
    path = next(path for path in parquet(net) if path.parent.name == table)
    path.write_bytes(path.read_bytes()[:-1])
    return path


def aged(net: Network) -> None:
    then = time.time() - 7200
    for path in parquet(net):
        os.utime(path, (then, then))


# -- compact --------------------------------------------------------------------------------------------------------


def test_compact_merges_and_says_what(run: Run, net: Network) -> None:
    planned = run("store", "compact", "--dry-run", "--json").document["datasets"][0]
    assert planned["segments_after"] < planned["segments_before"]
    assert "Nothing was written." in run("store", "compact", "--dry-run").out
    done = run("store", "compact")
    assert (done.code, done.err) == (0, "")
    assert f"{planned['segments_before']} → {planned['segments_after']}" in done.out
    assert "Nothing to merge" in run("store", "compact").out
    assert run("store", "compact", "--quiet").out == ""
    assert run("store", "verify").code == 0


def test_compact_of_one_stream_and_a_size(run: Run, net: Network) -> None:
    assert run("store", "compact", "--dataset", "ledger", "--json").document["datasets"] == []
    assert "Nothing to merge" in run("store", "compact", "--target-bytes", "1").out
    ran = run("store", "compact", "--dataset", "event")
    assert (ran.code, ran.out) == (2, "")
    assert "Unknown dataset 'event'" in ran.err


def test_compact_names_a_damaged_file(run: Run, net: Network) -> None:
    path = damaged(net)
    ran = run("store", "compact", "--json")
    assert (ran.code, ran.document["error"], ran.document["path"]) == (1, "IntegrityError", str(path))


# -- verify ---------------------------------------------------------------------------------------------------------


def test_verify_when_all_is_well(run: Run, net: Network) -> None:
    ran = run("store", "verify")
    assert (ran.code, ran.err) == (0, "")
    assert "damaged  0" in ran.out
    document = run("store", "verify", "--quick", "--json").document
    assert (document["files"], document["damaged"], document["repairs"]) == (len(parquet(net)), [], [])
    assert document["left_over"] == {"files": 0, "bytes": 0}


def test_verify_of_nothing(run: Run) -> None:
    assert run("store", "verify", "--json").document["files"] == 0


def test_damage_is_an_error_until_it_is_repaired(run: Run, net: Network) -> None:
    path = damaged(net)
    ran = run("store", "verify")
    assert ran.code == 1
    assert f"size differs  traffic/{path.name}" in ran.out
    assert "1 damaged file in the store" in ran.err
    assert ran.err.count("\n") == 1, "what the table shows is not shown again"
    assert "verify --repair" in ran.err
    document = run("store", "verify", "--quick", "--json").document
    assert (document["error"], document["exit_code"]) == ("IntegrityError", 1)
    assert document["failed"] == [[f"traffic/{path.name}", "size differs"]]
    repaired = run("store", "verify", "--repair", "--json")
    assert repaired.code == 0
    assert [each["outcome"] for each in repaired.document["repairs"]] == ["fetched again"]
    assert [each["path"] for each in repaired.document["damaged"]] == [f"traffic/{path.name}"]
    assert run("store", "verify").code == 0


def test_a_repair_as_text(run: Run, net: Network) -> None:
    damaged(net)
    ran = run("store", "verify", "--repair")
    assert (ran.code, ran.err) == (0, "")
    assert "fetched again" in ran.out


def test_many_damaged_files_are_not_all_shown(run: Run, net: Network) -> None:
    files = parquet(net)
    for path in files:
        path.unlink()
    ran = run("store", "verify")
    assert ran.out.count("missing") == 20
    assert f"… and {len(files) - 20} more; --json names all." in ran.out


def test_what_cannot_be_fetched_again_stays_an_error_until_it_is_forgotten(run: Run, net: Network) -> None:
    lf.load_price_votes(net)
    damaged(net, "price_votes")
    for _ in range(2):
        ran = run("store", "verify", "--repair")
        assert ran.code == 1
        assert "price_votes" in ran.out
        assert "cannot be fetched again (only the latest state is served)" in ran.err
        assert ran.err.count("\n") == 1, "what the table shows is not shown again"
    document = run("store", "verify", "--repair", "--json").document
    assert (document["error"], len(document["failed"])) == ("IntegrityError", 1)
    assert run("store", "verify", "--forget").code == 2
    forgotten = run("store", "verify", "--repair", "--forget", "--json")
    assert (forgotten.code, forgotten.document["repairs"][0]["outcome"]) == (0, "forgotten")
    assert run("store", "verify").code == 0


def test_repairing_offline_is_refused_before_anything_is_moved(run: Run, net: Network) -> None:
    path = damaged(net)
    ran = run("store", "verify", "--repair", "--offline")
    assert ran.code == 3
    assert "nothing was moved" in ran.err
    assert path.exists()
    assert run("store", "verify", "--offline").code == 1


# -- prune ----------------------------------------------------------------------------------------------------------


def test_prune_deletes_what_compaction_left(run: Run, net: Network) -> None:
    run("store", "compact")
    left = run("store", "verify", "--json").document["left_over"]
    assert left["files"] > 0
    assert "left over" in run("store", "verify").out
    for arguments, label in (((), "kept"), (("--dry-run",), "would be kept")):
        text = " ".join(run("store", "prune", *arguments).out.split())
        assert f"{label} {left['files']} files" in text
        assert "written less than 1 h ago: when no program writes or reads here, --older-than 0 deletes them" in text
    aged(net)
    planned = run("store", "prune", "--dry-run", "--json").document
    assert planned["removed"] == left
    assert "would be deleted" in run("store", "prune", "--dry-run").out
    assert run("store", "prune", "--json").document == {**planned, "dry_run": False}
    assert run("store", "verify", "--json").document["left_over"]["files"] == 0
    assert run("store", "prune", "--quiet", "--older-than", "0", "--quarantine").out == ""


def test_ranges_are_dropped_only_by_who_says_yes(run: Run, net: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ("store", "prune", "--before", "2026-11-08T18:00:00Z")
    planned = run(*before, "--dry-run", "--json").document["dropped"]
    assert planned
    nobody = run(*before)
    assert (nobody.code, nobody.out) == (2, "")
    assert "Add --yes" in nobody.err
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    for answer, code in ((False, 2), (True, 0)):
        asked: list[str] = []
        monkeypatch.setattr("typer.confirm", lambda question, err, answer=answer, asked=asked: asked.append(question) or answer)
        ran = run(*before, "--json")
        assert ran.code == code
        assert asked[0].startswith("Drop ")
    assert ran.document["dropped"] == planned
    assert run(*before, "--yes", "--json").document["dropped"] == []
    assert len(lf.load_events(net, **DAY, plan=True)) > 0


def test_nothing_to_drop_asks_nobody(run: Run, net: Network) -> None:
    assert run("store", "prune", "--before", "2020-01-01").code == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ("--before", "soon", "--yes"),
        ("--dataset", "events"),
        ("--older-than", "-1"),
        ("--older-than", "nan"),
        ("--older-than", "1e300"),
        ("--before", "2026-01-01", "--dataset", "x"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, net: Network, wrong: tuple[str, ...]) -> None:
    assert run("store", "prune", *wrong).code == 2


@pytest.mark.parametrize("command", ["compact", "verify", "prune"])
def test_a_frozen_snapshot_can_be_verified_and_nothing_else(
    run: Run, net: Network, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net.store.freeze(tmp_path / "frozen.sqlite")
    monkeypatch.setenv("LEDGERFRAMES_SNAPSHOT", str(tmp_path / "frozen.sqlite"))
    assert run("store", command).code == (0 if command == "verify" else 2)
