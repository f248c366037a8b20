"""Reports are published whole, and `latest` only ever points to a complete one."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from ledgerframes.errors import CoverageError, ReportError
from ledgerframes.report.publish import FAILED, ReportDir, lock_pages, replace_text

RUN = {"created_at": "2026-11-08T00:00:00Z", "window": {"since": "2026-11-01T00:00:00Z", "until": "2026-11-02T00:00:00Z"}}


@pytest.fixture
def report_dir(tmp_path: Path) -> ReportDir:
    report_dir = ReportDir(tmp_path / "out", "r")
    report_dir.prepare()
    return report_dir


def published(report_dir: ReportDir, key: str, words: str = "page", run: dict[str, Any] = RUN) -> None:
    with report_dir.staging_dir() as staging_dir:
        directory = staging_dir / "report"
        directory.mkdir()
        (directory / "index.html").write_text(words)
        (directory / "run.json").write_text(json.dumps(run))
        report_dir.publish(directory, key)


def test_latest_shows_the_newest(report_dir: ReportDir) -> None:
    published(report_dir, "a", "first")
    published(report_dir, "b", "second")
    assert (report_dir.latest / "index.html").read_text() == "second"
    assert report_dir.latest.readlink() == Path("../r/b")
    assert sorted(path.name for path in report_dir.path.iterdir()) == ["a", "b"]


def test_latest_never_moves_back(report_dir: ReportDir) -> None:
    older = {**RUN, "window": {"since": "2026-10-25T00:00:00Z", "until": "2026-10-26T00:00:00Z"}}
    published(report_dir, "a")
    published(report_dir, "b", run=older)
    assert report_dir.latest.readlink() == Path("../r/a")
    assert report_dir.is_complete("b")


def test_a_window_in_the_future_is_as_new_as_its_run(report_dir: ReportDir) -> None:
    """Latest would show it until its end otherwise."""
    published(report_dir, "future", run={**RUN, "window": {**RUN["window"], "until": "2027-06-01T00:00:00Z"}})
    day = {"created_at": "2026-11-09T01:00:00Z", "window": {"since": "2026-11-08T00:00:00Z", "until": "2026-11-09T00:00:00Z"}}
    published(report_dir, "day", run=day)
    assert report_dir.latest.readlink() == Path("../r/day")


def test_runs_of_another_network_are_kept(report_dir: ReportDir) -> None:
    for day, (key, network) in enumerate({"a": "x", "b": "y", "c": "x", "d": "x"}.items(), start=1):
        window = {"since": f"2026-11-0{day}T00:00:00Z", "until": f"2026-11-0{day + 1}T00:00:00Z"}
        published(report_dir, key, run={**RUN, "window": window, "network": network})
    assert report_dir.delete_old(1, "d") == ["a", "c"]


def test_a_copy_that_followed_links_has_its_links_again(report_dir: ReportDir, tmp_path: Path) -> None:
    published(report_dir, "a")
    shutil.copytree(tmp_path / "out", tmp_path / "copy", symlinks=False)
    copy = ReportDir(tmp_path / "copy", "r")
    assert copy.latest.is_dir() and not copy.latest.is_symlink()
    published(copy, "b")
    assert copy.latest.readlink() == Path("../r/b")
    assert [path.name for path in copy.latest.parent.iterdir()] == ["r"]


@pytest.mark.parametrize("text", ["", '{"window": {"since"', "[]", '{"created_at": "2026-11-08T00:00:00Z"}', '{"window": {}}'])
def test_a_damaged_run_is_none_and_is_made_again(report_dir: ReportDir, text: str, caplog: pytest.LogCaptureFixture) -> None:
    published(report_dir, "a")
    published(report_dir, "b")
    (report_dir.path / "b" / "run.json").write_text(text)
    assert list(report_dir.published_runs()) == ["a"] and report_dir.latest_key() is None
    assert "run_not_readable" in caplog.text and "b/run.json" in caplog.text
    published(report_dir, "b", "again")
    assert (report_dir.latest / "index.html").read_text() == "again"


def test_the_current_run_is_kept_however_old_its_window(report_dir: ReportDir) -> None:
    for day, key in enumerate("abc", start=1):
        window = {"since": f"2026-11-0{day}T00:00:00Z", "until": f"2026-11-0{day + 1}T00:00:00Z"}
        published(report_dir, key, run={**RUN, "window": window})
    assert report_dir.delete_old(1, "a") == ["b"]
    assert list(report_dir.published_runs()) == ["a", "c"]


def test_a_text_that_cannot_be_written_leaves_no_part(tmp_path: Path) -> None:
    (tmp_path / "index.html").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_text(tmp_path / "index.html", "page")
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_the_whole_directory_can_be_moved(report_dir: ReportDir, tmp_path: Path) -> None:
    published(report_dir, "a")
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "latest" / "r" / "index.html").is_file()


def test_two_runs_of_one_key_are_one_report(report_dir: ReportDir) -> None:
    published(report_dir, "a", "theirs")
    published(report_dir, "a", "ours")
    assert (report_dir.latest / "index.html").read_text() == "theirs"


def test_an_incomplete_report_is_replaced(report_dir: ReportDir) -> None:
    published(report_dir, "a", "old")
    (report_dir.path / "a" / "run.json").unlink()
    assert not report_dir.is_complete("a")
    published(report_dir, "a", "new")
    assert (report_dir.latest / "index.html").read_text() == "new"


def test_a_failure_leaves_latest_and_a_note(report_dir: ReportDir) -> None:
    published(report_dir, "a")
    report_dir.write_failure_note(CoverageError("Only 3% is final.\nNext step."), RUN["window"])
    note = (report_dir.path / FAILED).read_text()
    assert "Reason: Only 3% is final. Next step." in note
    assert "latest still shows the report created at 2026-11-08T00:00:00Z" in note
    assert report_dir.latest.readlink() == Path("../r/a")
    published(report_dir, "b")
    assert not (report_dir.path / FAILED).exists()


def test_an_older_window_deletes_the_note_on_its_own_failure_only(report_dir: ReportDir) -> None:
    first, second = ({"since": f"2026-10-{day}T00:00:00Z", "until": f"2026-10-{day + 1}T00:00:00Z"} for day in (25, 26))
    published(report_dir, "a")
    report_dir.write_failure_note(CoverageError("No."), first)
    published(report_dir, "b", run={**RUN, "window": second})
    assert "2026-10-25T00:00:00Z … 2026-10-26T00:00:00Z failed at" in (report_dir.path / FAILED).read_text()
    published(report_dir, "c", run={**RUN, "window": first})
    assert not (report_dir.path / FAILED).exists()
    assert report_dir.latest.readlink() == Path("../r/a")


def test_a_first_failure_says_that_there_is_nothing(report_dir: ReportDir) -> None:
    report_dir.write_failure_note(CoverageError("No."), RUN["window"])
    assert "No earlier report exists." in (report_dir.path / FAILED).read_text()


def test_what_killed_runs_left_is_swept_after_a_day(report_dir: ReportDir) -> None:
    left, fresh = report_dir.path / ".tmp-left", report_dir.path / ".tmp-fresh"
    for directory in (left, fresh):
        (directory / "report").mkdir(parents=True)
    link = report_dir.latest.parent / ".tmp-link"
    link.symlink_to("nowhere")
    yesterday = time.time() - 25 * 3600
    os.utime(left, (yesterday, yesterday))
    os.utime(link, (yesterday, yesterday), follow_symlinks=False)
    report_dir.prepare()
    assert left.exists(), "it may belong to an active run"
    with report_dir.lock():
        assert not left.exists() and fresh.exists() and not link.is_symlink()


def test_the_directory_of_an_active_run_stays(report_dir: ReportDir) -> None:
    with report_dir.lock(), report_dir.staging_dir() as staging_dir:
        os.utime(staging_dir, (0, 0))
        report_dir.prepare()
        with pytest.raises(ReportError), report_dir.lock():
            pass
        assert staging_dir.is_dir()


def test_a_run_that_is_being_deleted_is_not_published(report_dir: ReportDir) -> None:
    published(report_dir, "a")
    (report_dir.path / "a").rename(report_dir.path / ".tmp-a")
    assert report_dir.published_runs() == {}


def test_no_report_holds_the_lock_of_the_pages(tmp_path: Path) -> None:
    directory = ReportDir(tmp_path, "pages")
    directory.prepare()
    with directory.lock(), lock_pages(tmp_path):
        assert len([*tmp_path.glob(".*.lock")]) == 2
