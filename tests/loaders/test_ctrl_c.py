from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from equality import assert_equal, every_table
from interrupts import HISTORY, LEDGER, WHOLE

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS


def pressed(what: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__).with_name("interrupts.py")), what, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.exhaustive
def test_following_the_tail_loses_and_doubles_nothing(tmp_path: Path) -> None:
    done = pressed("follow", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    followed = lf.open_frames(tmp_path / "followed")
    at_once = lf.load_updates(lf.connect("sandbox", **LEDGER, store=tmp_path / "other"))
    assert_equal(every_table(followed), every_table(at_once))


@pytest.mark.exhaustive
def test_an_interrupt_ends_following_a_busy_ledger(tmp_path: Path) -> None:
    done = pressed("follow_busy", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    at_once = lf.load_updates(lf.connect("sandbox", **LEDGER, store=tmp_path / "other"))
    assert_equal(every_table(lf.open_frames(tmp_path / "followed")), every_table(at_once))


@pytest.mark.exhaustive
def test_an_interrupt_ends_lookups_at_a_busy_host(tmp_path: Path) -> None:
    done = pressed("lookup_busy", tmp_path)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_an_interrupt_before_following_has_begun_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = ThreadPoolExecutor.submit

    def interrupted(pool: ThreadPoolExecutor, function: Any, *arguments: Any) -> Any:
        submitted = submit(pool, function, *arguments)
        if function.__name__ == "follow":
            raise KeyboardInterrupt
        return submitted

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lf.load_updates(lf.connect("sandbox", **LEDGER, store=tmp_path), follow=True, poll_seconds=0.01)


def test_an_interrupt_stops_between_pages_and_keeps_what_is_committed(tmp_path: Path) -> None:
    done = pressed("load", tmp_path)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")
    whole = every_table(lf.load_events(lf.connect("sandbox", **HISTORY, store=tmp_path / "whole"), **WHOLE))
    net = lf.connect("sandbox", **HISTORY, store=tmp_path / "store")
    kept = sum(segment.rows for segment in net.store.segments(EVENTS))
    assert 0 < kept < sum(len(frame) for frame in whole.values())
    assert_equal(every_table(lf.load_events(net, **WHOLE)), whole)
