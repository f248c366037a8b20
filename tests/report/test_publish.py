"""Where reports lie: all or nothing, `latest` only ever shows a finished one."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from ledgerframes.errors import CoverageError
from ledgerframes.report.publish import FAILED, Shelf

RUN = {"made_at": "2026-11-08T00:00:00Z", "window": {"since": "2026-11-01T00:00:00Z", "until": "2026-11-02T00:00:00Z"}}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path / "out", "r")
    shelf.prepare()
    return shelf


def published(shelf: Shelf, key: str, words: str = "page") -> None:
    with shelf.aside() as aside:
        folder = aside / "report"
        folder.mkdir()
        (folder / "index.html").write_text(words)
        (folder / "run.json").write_text(json.dumps(RUN))
        shelf.publish(folder, key)


def test_latest_shows_the_newest(shelf: Shelf) -> None:
    published(shelf, "a", "first")
    published(shelf, "b", "second")
    assert (shelf.latest / "index.html").read_text() == "second"
    assert shelf.latest.readlink() == Path("../r/b")
    assert sorted(path.name for path in shelf.folder.iterdir()) == ["a", "b"]


def test_the_whole_folder_can_be_moved(shelf: Shelf, tmp_path: Path) -> None:
    published(shelf, "a")
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "latest" / "r" / "index.html").is_file()


def test_two_runs_of_one_key_are_one_report(shelf: Shelf) -> None:
    published(shelf, "a", "theirs")
    published(shelf, "a", "ours")
    assert (shelf.latest / "index.html").read_text() == "theirs"


def test_an_incomplete_report_is_replaced(shelf: Shelf) -> None:
    published(shelf, "a", "old")
    (shelf.folder / "a" / "run.json").unlink()
    assert not shelf.is_complete("a")
    published(shelf, "a", "new")
    assert (shelf.latest / "index.html").read_text() == "new"


def test_a_failure_leaves_latest_and_a_note(shelf: Shelf) -> None:
    published(shelf, "a")
    shelf.note_failure(CoverageError("Only 3 % is final.\nNext step."))
    note = (shelf.folder / FAILED).read_text()
    assert "Reason: Only 3 % is final. Next step." in note
    assert "latest still shows the report made at 2026-11-08T00:00:00Z" in note
    assert shelf.latest.readlink() == Path("../r/a")
    published(shelf, "b")
    assert not (shelf.folder / FAILED).exists()


def test_a_first_failure_says_that_there_is_nothing(shelf: Shelf) -> None:
    shelf.note_failure(CoverageError("No."))
    assert "There is no earlier report." in (shelf.folder / FAILED).read_text()


def test_what_killed_runs_left_is_swept_after_a_day(shelf: Shelf) -> None:
    left, fresh = shelf.folder / ".tmp-left", shelf.folder / ".tmp-fresh"
    for folder in (left, fresh):
        (folder / "report").mkdir(parents=True)
    link = shelf.latest.parent / ".tmp-link"
    link.symlink_to("nowhere")
    yesterday = time.time() - 25 * 3600
    os.utime(left, (yesterday, yesterday))
    os.utime(link, (yesterday, yesterday), follow_symlinks=False)
    shelf.prepare()
    assert not left.exists() and fresh.exists() and not link.is_symlink()
