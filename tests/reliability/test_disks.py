"""Disks that are full or read-only, and an object store that fails: a named error, and afterwards an exact load."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.fs as fs
import pytest
from campaign import Effort, tell
from equality import assert_equal, every_table
from object_stores import SERVERS, ObjectStore, end_writers, served

import ledgerframes as lf
from ledgerframes.errors import StoreError
from ledgerframes.store import remote
from ledgerframes.store.location import Location

WORLD: dict[str, Any] = {"events": 300, "days": 1}
WINDOW: dict[str, Any] = {"since": "2026-11-08", "until": "2026-11-09"}

# In a mount namespace, so that the disk is the process's alone. Sizes in kilobytes: the catalog alone, some segments, most.
DISK = f"""
import subprocess, sys
import pandas as pd
import ledgerframes as lf
from ledgerframes.errors import LedgerframesError, StoreError
mount, mode, reference = sys.argv[1:]
def run(*words): subprocess.run(words, check=True)
def load(store, **options):
    net = lf.connect("sandbox", store=store, page_size=20, segment_bytes=20_000, **{WORLD!r}, **options)
    frames = lf.load_events(net, **{WINDOW!r})
    return {{name: frames.read(name) for name in frames.tables}}
expected = load(reference)
refused = 0
def attempt(work):
    global refused
    try:
        work()
    except StoreError as error:
        refused += 1
        assert str(error)
if mode == "full":
    for size in (16, 100, 300):
        run("mount", "-t", "tmpfs", "-o", f"size={{size}}k", "none", mount)
        attempt(lambda: load(mount))
        attempt(lambda: load(mount))
        run("mount", "-o", "remount,size=200m", mount)
        for name, frame in load(mount).items():
            pd.testing.assert_frame_equal(frame, expected[name])
        run("umount", mount)
    assert refused >= 4, refused
else:
    lf.load_events(lf.connect("sandbox", store=mount, **{WORLD!r}), since="2026-11-08", until="2026-11-08T12:00:00Z")
    run("mount", "--bind", mount, mount)
    run("mount", "-o", "remount,bind,ro", mount)
    attempt(lambda: load(mount))
    assert refused == 1
    offline = lf.connect("sandbox", store=mount, offline=True, **{WORLD!r})
    half = lf.load_events(offline, since="2026-11-08", until="2026-11-08T12:00:00Z")
    noon = pd.Timestamp("2026-11-08T12:00Z")
    verdicts = expected["verdicts"]
    pd.testing.assert_frame_equal(half.verdicts, verdicts[verdicts["record_time"] < noon])
    run("mount", "-o", "remount,bind,rw", mount)
    for name, frame in load(mount).items():
        pd.testing.assert_frame_equal(frame, expected[name])
print("refused", refused)
"""


def mounts_are_allowed() -> bool:
    unshare = shutil.which("unshare")
    return (
        bool(unshare)
        and subprocess.run([str(unshare), "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["full", "read-only"])
def test_a_disk_that_cannot_be_written(mode: str, tmp_path: Path) -> None:
    if not mounts_are_allowed():
        pytest.skip("this machine allows no mounts in a namespace of the test")
    mount = tmp_path / "mount"
    mount.mkdir()
    words = ["unshare", "-Urm", sys.executable, "-c", DISK, str(mount), mode, str(tmp_path / "reference")]
    process = subprocess.run(words, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-3000:]
    tell("disks", mode=mode, refused=int(process.stdout.split()[-1]))


# -- an object store that fails ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SERVERS)
def objects(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with served(request.param) as store:
        yield store


def connect(store: str | Path, **settings: Any) -> lf.Network:
    """Two threads, because each segment costs an object store many requests."""
    return lf.connect("sandbox", store=store, max_concurrency=2, **WORLD, **settings)


def failing(monkeypatch: pytest.MonkeyPatch, name: str, turn: int) -> None:
    """The call with this number fails, as if the object store were away."""
    calls = [0]

    class Failing(fs.SubTreeFileSystem):  # type: ignore[misc]
        pass

    def sometimes(self: fs.SubTreeFileSystem, *given: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == turn:
            raise OSError("the object store is away")
        return getattr(fs.SubTreeFileSystem, name)(self, *given, **named)

    setattr(Failing, name, sometimes)
    original = Location.filesystem.fget

    def filesystem(location: Location) -> fs.SubTreeFileSystem:
        inner = original(location)
        return Failing(inner.base_path, inner.base_fs)

    monkeypatch.setattr(Location, "filesystem", property(filesystem))


@pytest.mark.exhaustive
@pytest.mark.loopback
@pytest.mark.parametrize("call", ["open_output_stream", "copy_file", "open_input_file", "get_file_info"])
def test_an_object_store_that_fails_between_file_and_commit(
    call: str, objects: ObjectStore, tmp_path: Path, effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "LEASE_SECONDS", 4.0)  # long enough for a machine that is busy
    monkeypatch.setattr(remote, "ROUNDING", 1.0)
    expected = every_table(lf.load_events(connect(tmp_path), **WINDOW))
    failures = 0
    for turn in range(1, 1 + effort.count(2, 12)):
        uri = objects.uri(f"{call}{turn}")
        with monkeypatch.context() as patch:
            failing(patch, call, turn)
            try:
                found = every_table(lf.load_events(connect(uri, page_size=80, segment_bytes=80_000), **WINDOW))
            except StoreError:
                failures += 1
            else:  # what failed was not needed, such as the removal of a lease
                assert_equal(found, expected)
        with monkeypatch.context() as patch:
            end_writers(patch)  # also the one that failed
            assert_equal(every_table(lf.load_events(connect(uri), **WINDOW)), expected)
    assert failures
    tell("disks", mode=f"{objects.name}: {call}", refused=failures)
