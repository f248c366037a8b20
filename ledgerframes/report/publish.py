"""Directories of reports.

A report is built in a staging directory, published in one step, and only then shown by ``latest``.

::

    out/traffic-cost/KEY/index.html, run.json, tables/…     never changed once published, but for the page's links to others
    out/traffic-cost/FAILED.txt                             only after a failed run
    out/latest/traffic-cost -> ../traffic-cost/KEY
    out/index.html                                          all runs of all reports

Only one run of a report is active at a time. ``latest`` only moves forward: a run over an older window is published, but
``latest`` does not change.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from ledgerframes.errors import ReportError, UsageError
from ledgerframes.report.run_content import RunContent
from ledgerframes.values.windows import Bounds, iso

logger = logging.getLogger("ledgerframes")

STAGING_PREFIX = ".tmp-"
PAGE = "index.html"
RUN = "run.json"
FAILED = "FAILED.txt"
STALE_SECONDS = 24 * 3600


class ReportDir:
    """The directory of one report, which several processes can use at once."""

    def __init__(self, out: Path, report: str) -> None:
        self.report = report
        self.path = out / report
        self.latest = out / "latest" / report

    def prepare(self) -> None:
        """Create the directories."""
        try:
            self.latest.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise UsageError(f"Cannot write {self.path}: {error.strerror}. Choose another directory with out=.") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Prevent other runs of this report in this directory, and clean up after killed runs."""
        from filelock import FileLock, Timeout  # the operating system releases the lock of a killed run

        try:
            with FileLock(self.path.with_name(f".{self.report}.lock"), timeout=0):
                for directory in (self.path, self.latest.parent):
                    _remove_stale(directory)  # only now, because another active run can be older than a day
                yield
        except Timeout:
            advice = "Wait until it ends, or choose another out=."
            raise ReportError(f"Another run of report {self.report} is active in {self.path}. {advice}") from None

    @contextmanager
    def disk_errors(self) -> Iterator[None]:
        """Raise errors of the disk, such as a full one, as ReportError."""
        try:
            yield
        except OSError as error:
            path = error.filename or self.path
            advice = "Free space there, or choose another directory with out=."
            raise ReportError(f"Cannot write {path}: {error.strerror}. {advice}") from error

    @contextmanager
    def staging_dir(self) -> Iterator[Path]:
        """Yield a temporary directory next to the published ones, and delete it afterwards."""
        with TemporaryDirectory(prefix=STAGING_PREFIX, dir=self.path, ignore_cleanup_errors=True) as path:
            yield Path(path)

    def is_complete(self, key: str) -> bool:
        """Return whether the report with this key is published and can be read."""
        return self._find_run(key) is not None

    def _find_run(self, key: str) -> RunContent | None:
        """Return the ``run.json`` of a published report, or None.

        A full disk or a copy can damage the file. The report then counts as not published.
        """
        if not (self.path / key / PAGE).is_file():
            return None
        try:
            run = self.read_run(key)
            _order_of(run, key)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            logger.warning("run_not_readable path=%s error=%s", self.path / key / RUN, type(error).__name__)
            return None
        return run

    def read_run(self, key: str) -> RunContent:
        """Return the ``run.json`` of a published report."""
        return cast("RunContent", json.loads((self.path / key / RUN).read_text(encoding="utf-8")))

    def keys_of(self, start: str) -> list[str]:
        """Return the keys of the published reports that begin with a text, in order."""
        names = sorted(path.name for path in self.path.glob(f"{start}*"))
        return [name for name in names if self.is_complete(name)]

    def published_runs(self) -> dict[str, RunContent]:
        """Return the ``run.json`` of each published run by key, the newest window last."""
        names = [path.name for path in self.path.iterdir()] if self.path.is_dir() else []
        names = [name for name in names if not name.startswith(STAGING_PREFIX)]  # one may be a run that is being deleted
        runs = {name: run for name in names if (run := self._find_run(name)) is not None}
        return dict(sorted(runs.items(), key=lambda item: _order_of(item[1], item[0])))

    def latest_key(self) -> str | None:
        """Return the key of the run that ``latest`` shows, or None."""
        key = self.latest.readlink().name if self.latest.is_symlink() else None
        return key if key and self.is_complete(key) else None

    def delete_old(self, keep: int, current: str = "") -> list[str]:
        """Delete older runs but the current one and that of ``latest``, and return their keys.

        Runs of other networks than the current one stay.
        """
        stay, runs = {current, self.latest_key()}, self.published_runs()
        of_network = [key for key, run in runs.items() if current not in runs or _is_same_network(run, runs[current])]
        old = [key for key in of_network[:-keep] if key not in stay]
        for key in old:
            discarded = _staging_path(self.path)
            (self.path / key).rename(discarded)  # a run is there or not, never in parts
            shutil.rmtree(discarded, ignore_errors=True)
        return old

    def publish(self, staged: Path, key: str) -> bool:
        """Move a staged directory to its place, and return whether ``latest`` now points to it."""
        target = self.path / key
        if target.exists() and not self.is_complete(key):
            # A user deleted a part of it.
            target.rename(staged.parent / "incomplete")
        try:
            staged.rename(target)
        except OSError as error:
            if not self.is_complete(key):
                raise ReportError(f"Cannot move the report to {target}: {error.strerror}.") from error
            # Another process published the same report at the same time, which stays.
        return self.set_latest(key)

    def set_latest(self, key: str) -> bool:
        """Point ``latest`` to a run in one step, unless it shows a newer window.

        The note of an earlier failure is deleted, but if ``latest`` shows a newer window, only a note about the window of the
        run. Returns whether ``latest`` points to the run.
        """
        current, run = self.latest_key(), self.read_run(key)
        if current and _window_end(self.read_run(current)) > _window_end(run):
            self._delete_failure_note(_describe_window(run["window"]))
            return False
        target = Path(os.pardir, self.report, key)
        if not (self.latest.is_symlink() and self.latest.readlink() == target):
            if self.latest.is_dir() and not self.latest.is_symlink():  # of a copy that followed links
                discarded = _staging_path(self.latest.parent)
                self.latest.rename(discarded)
                shutil.rmtree(discarded, ignore_errors=True)
            link = _staging_path(self.latest.parent)
            link.symlink_to(target, target_is_directory=True)
            link.replace(self.latest)
        self._delete_failure_note()
        return True

    def _delete_failure_note(self, of_window: str = "") -> None:
        """Delete the note of an earlier failure, if it is on that window."""
        note = self.path / FAILED
        # Its first line. The last one names the window that ``latest`` shows.
        if note.is_file() and of_window in note.read_text(encoding="utf-8", errors="replace").partition("\n")[0]:
            note.unlink(missing_ok=True)

    def write_failure_note(self, error: BaseException, window: Bounds) -> None:
        """Write a note on the failure of a window, with the report that is still the latest."""
        now = datetime.now(UTC).replace(microsecond=0)
        reason = "It was interrupted." if isinstance(error, KeyboardInterrupt) else " ".join(str(error).split())
        reason = reason or type(error).__name__
        failure = f"The report {self.report} of the window {_describe_window(window)} failed at {iso(now)}."
        text = f"{failure}\n\nReason: {reason}\n\n{self._describe_latest()}\n"
        try:
            replace_text(self.path / FAILED, text)
        except OSError as problem:
            # The failure itself matters more, and is raised next.
            logger.warning("failure_note_not_written path=%s error=%s", self.path, problem.strerror)

    def _describe_latest(self) -> str:
        key = self.latest_key()
        if key is None:
            return "No earlier report exists."
        run = self.read_run(key)
        created_at = datetime.fromisoformat(run["created_at"])
        return f"latest still shows the report created at {iso(created_at)}, for {_describe_window(run['window'])}."


@contextmanager
def lock_pages(out: Path) -> Iterator[None]:
    """Let one process at a time write the pages that cover all runs."""
    from filelock import FileLock

    with FileLock(out / ".all_pages.lock"):  # no report has a name with an underscore
        yield


def replace_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    staged = _staging_path(path.parent)
    try:
        staged.write_text(text, encoding="utf-8")
        staged.replace(path)
    except OSError:
        staged.unlink(missing_ok=True)
        raise


def _staging_path(directory: Path) -> Path:
    return directory / f"{STAGING_PREFIX}{uuid.uuid4().hex}"


def _window_end(run: RunContent) -> datetime:
    """Return the end of the window, or of the time that a run can have data of.

    Otherwise, a window that ends in the future would remain the newest one until then.
    """
    end, created_at = datetime.fromisoformat(run["window"]["until"]), datetime.fromisoformat(run["created_at"])
    return min(end, created_at)


def _is_same_network(run: RunContent, other: RunContent) -> bool:
    return run.get("network") == other.get("network")


def _describe_window(window: Bounds) -> str:
    return f"{window['since']} … {window['until']}"


def _order_of(run: RunContent, key: str) -> tuple[datetime, str, str]:
    """Return what sorts runs, the newest window last."""
    return _window_end(run), run["created_at"], key


def _remove_stale(directory: Path) -> None:
    """Remove staged files that are older than a day."""
    for path in directory.glob(f"{STAGING_PREFIX}*"):
        try:
            if time.time() - path.lstat().st_mtime > STALE_SECONDS:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except FileNotFoundError:
            continue  # another run removed it
        except OSError as problem:
            logger.warning("stale_file_not_removed path=%s error=%s", path, problem.strerror)
