"""``ledgerframes sync bulk``, and the executors of a sync."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.sandbox import Faults

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("copied_first_loads")
DAY = ("--since", "2026-11-08", "--until", "2026-11-09")


def test_a_day_of_objects_is_read_once(run: Run) -> None:
    first = run("sync", "bulk", *DAY, "--json")
    assert first.code == 0
    rows = first.document["rows"]
    assert rows["updates"] > 0 < rows["bulk_objects"]
    again = run("sync", "bulk", *DAY, "--json").document
    assert again["requests"] == 0
    assert again["rows"] == rows
    info = run("store", "info", "--json").document
    assert info["bulk_objects"] == rows["bulk_objects"]
    assert "bulk objects" in run("store", "info").out


def test_dry_run_lists_the_missing_objects(run: Run) -> None:
    shown = run("sync", "bulk", *DAY, "--dry-run")
    assert shown.code == 0
    assert shown.out.startswith("Would fetch ")
    assert shown.out.count(".zstd") == len(run("sync", "bulk", *DAY, "--dry-run", "--json").document["plan"])
    run("sync", "bulk", *DAY)
    assert run("sync", "bulk", *DAY, "--dry-run").out.startswith("Nothing to fetch")


def test_local_objects_and_objects_by_key(run: Run, tmp_path: Path) -> None:
    download_dir = tmp_path / "objects"
    rows = run("sync", "bulk", *DAY, "--download-dir", download_dir, "--json").document["rows"]
    from_disk = run("--store", tmp_path / "other", "--offline", "sync", "bulk", "--path", download_dir, "--json").document
    assert from_disk["rows"] == rows
    assert from_disk["requests"] == 0
    key = run("--store", tmp_path / "third", "sync", "bulk", *DAY, "--dry-run", "--json").document["plan"][0]["object_key"]
    one = run("--store", tmp_path / "third", "sync", "bulk", "--object-key", key, "--json").document
    assert one["rows"]["bulk_objects"] == 1


def test_active_contracts(run: Run) -> None:
    document = run("sync", "bulk", "--kind", "acs", "--at", "2026-11-09", "--json").document
    assert document["rows"]["active_contracts"] > 0


def test_time_without_objects_is_no_time_without_events(run: Run) -> None:
    unpublished = ("--since", "2026-11-09", "--until", "2026-11-10")
    plan = run("sync", "bulk", *unpublished, "--dry-run").out
    assert plan.startswith("Nothing to fetch: the store has all bulk objects that ") and "has published" in plan
    shown = run("sync", "bulk", *unpublished).out
    assert "no bulk objects" in shown and "no events" not in shown


def test_failures_are_listed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = lf.connect

    def faulty(*args: Any, **kwargs: Any) -> lf.Network:
        return connect(*args, **kwargs, faults=Faults(truncated_object=0.5))

    monkeypatch.setattr("ledgerframes.network.connect", faulty)
    failed = run("sync", "bulk", *DAY, "--json")
    assert failed.code == failed.document["exit_code"] == 1
    assert failed.document["error"] == "IntegrityError"
    names = list(failed.document["failures"])
    assert names
    assert all(name in failed.err for name in names)
    partial = run("sync", "bulk", *DAY, "--allow-partial", "--json")
    assert partial.code == 0
    assert len(names) + partial.document["rows"]["bulk_objects"] == len(
        json.loads(run("--store", "elsewhere", "sync", "bulk", *DAY, "--dry-run", "--json").out)["plan"]
    )


@pytest.mark.exhaustive
def test_local_processes(run: Run, tmp_path: Path) -> None:
    here = run("sync", "bulk", *DAY, "--json").document["rows"]
    assert "(without those of the workers)" in run("--store", tmp_path / "a", "sync", "bulk", *DAY, "--workers", 2).out
    assert run("--store", tmp_path / "a", "--offline", "sync", "bulk", *DAY, "--json").document["rows"] == here


@pytest.mark.loopback
def test_a_cluster_that_cannot_be_reached(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerframes.cli.sync.CONNECT_TIMEOUT", "0.5s")
    missing = run("sync", "bulk", *DAY, "--dask", "tcp://127.0.0.1:9", "--json")
    assert missing.code == 2
    assert "dask scheduler" in missing.document["message"]
    assert run("sync", "bulk", *DAY, "--dask", "tcp://127.0.0.1:9", "--workers", 2).code == 2


def test_days_without_bulk_objects_are_reported(run: Run) -> None:
    past_the_end = ("--since", DAY[1], "--until", "2026-11-12")
    assert "not available  2026-11-09 00:00:00 to 2026-11-12 00:00:00 UTC" in run("sync", "bulk", *past_the_end).out
    assert run("sync", "bulk", *past_the_end, "--json").document["objects_until"] == "2026-11-09T00:00:00Z"
    assert "not available" not in run("sync", "bulk", *DAY).out
    without_updates = ("--since", "2026-11-08T23:59:59.999999Z", "--until", DAY[-1])
    assert run("sync", "bulk", *without_updates, "--json").document["rows"]["updates"] == 0
    assert "not available" not in run("sync", "bulk", *without_updates).out
    assert "not available  2030-01-01" in run("sync", "bulk", "--during", "2030-01-01").out


def test_summary_has_snapshot_and_requests(run: Run, tmp_path: Path) -> None:
    assert "snapshot          2026-11-09 00:00:00 UTC" in run("sync", "bulk", "--kind", "acs").out
    run("--store", tmp_path / "a", "sync", "bulk", *DAY, "--download-dir", tmp_path / "objects")
    from_files = run("--store", tmp_path / "b", "sync", "bulk", "--path", tmp_path / "objects").out
    assert "HTTP requests  0 (read from local files)" in from_files


def test_a_damaged_file_is_named_once(run: Run, tmp_path: Path) -> None:
    run("sync", "bulk", *DAY, "--download-dir", tmp_path)
    bad = min(tmp_path.glob("*.zstd"))
    bad.write_bytes(bad.read_bytes()[:300])
    load = ("--store", tmp_path / "b", "sync", "bulk", "--path")
    (line,) = [line for line in run(*load, tmp_path, "--allow-partial").err.splitlines() if line]
    assert line.count(str(bad)) == 1
    assert run(*load, bad, "--allow-partial").code == 1, "nothing was loaded"
