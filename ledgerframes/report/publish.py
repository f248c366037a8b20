"""Where reports lie: written aside, moved into place at once, and ``latest`` swapped only then.

::

    out/traffic-cost/KEY/index.html, run.json, tables/…     never changed once there
    out/traffic-cost/FAILED.txt                             only after a failed run
    out/latest/traffic-cost -> ../traffic-cost/KEY
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
from typing import Any

from ledgerframes.errors import ReportError, UsageError
from ledgerframes.report.coverage import words
from ledgerframes.windows import iso

logger = logging.getLogger("ledgerframes")

ASIDE = ".tmp-"
PAGE = "index.html"
RUN = "run.json"
FAILED = "FAILED.txt"
LEFT_BEHIND_SECONDS = 24 * 3600


class Shelf:
    """The place of one report in an output folder; several processes may use it at once.

    Parameters
    ----------
    out : Path
    report : str
    """

    def __init__(self, out: Path, report: str) -> None:
        self.report = report
        self.folder = out / report
        self.latest = out / "latest" / report

    def prepare(self) -> None:
        """Make the folders, and sweep what killed runs left behind.

        Raises
        ------
        UsageError
            If they cannot be written.
        """
        try:
            self.latest.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(exist_ok=True)
            for folder in (self.folder, self.latest.parent):
                _sweep(folder)
        except OSError as error:
            reason = f"Reports cannot be written to {self.folder} ({error.strerror})"
            raise UsageError(f"{reason}. Choose another folder with out.") from None

    @contextmanager
    def aside(self) -> Iterator[Path]:
        """A temporary folder beside the finished ones; gone afterwards, whatever happened."""
        folder = self.folder / f"{ASIDE}{uuid.uuid4().hex}"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def is_complete(self, key: str) -> bool:
        """Whether the report of this key is there."""
        return (self.folder / key / PAGE).is_file() and (self.folder / key / RUN).is_file()

    def read_run(self, key: str) -> dict[str, Any]:
        """What was written about the run that made a report."""
        run: dict[str, Any] = json.loads((self.folder / key / RUN).read_text(encoding="utf-8"))
        return run

    def publish(self, finished: Path, key: str) -> None:
        """Move a finished folder into place, and let ``latest`` show it."""
        target = self.folder / key
        if target.exists() and not self.is_complete(key):
            # Somebody has removed a part of it by hand.
            target.rename(finished.parent / "incomplete")
        try:
            finished.rename(target)
        except OSError as error:
            if not self.is_complete(key):
                raise ReportError(f"The report cannot be moved to {target} ({error.strerror}).") from error
            # Another process has made the same report meanwhile: theirs stays.
        self.show(key)

    def show(self, key: str) -> None:
        """Let ``latest`` be the report of this key: swapped at once, never absent; and forget an earlier failure."""
        target = Path(os.pardir, self.report, key)
        if not (self.latest.is_symlink() and self.latest.readlink() == target):
            link = self.latest.with_name(f"{ASIDE}{uuid.uuid4().hex}")
            link.symlink_to(target, target_is_directory=True)
            link.replace(self.latest)
        (self.folder / FAILED).unlink(missing_ok=True)

    def note_failure(self, error: Exception) -> None:
        """Leave a note that the last run failed, why, and how old the report is that ``latest`` still shows."""
        now = datetime.now(UTC).replace(microsecond=0)
        reason = " ".join(str(error).split()) or type(error).__name__
        text = f"The report {self.report} failed at {iso(now)}.\n\nReason: {reason}\n\n{self._what_latest_shows(now)}\n"
        aside = self.folder / f"{ASIDE}{uuid.uuid4().hex}"
        try:
            aside.write_text(text, encoding="utf-8")
            aside.replace(self.folder / FAILED)
        except OSError as problem:
            # The failure itself matters more, and is about to be raised.
            logger.warning("no note of the failure could be left in %s: %s", self.folder, problem.strerror)

    def _what_latest_shows(self, now: datetime) -> str:
        if not (self.latest / RUN).is_file():
            return "There is no earlier report."
        run = json.loads((self.latest / RUN).read_text(encoding="utf-8"))
        made = datetime.fromisoformat(run["made_at"])
        window = f"{run['window']['since']} … {run['window']['until']}"
        return f"latest still shows the report made at {iso(made)}, {words(now - made)} ago, for {window}."


def _sweep(folder: Path) -> None:
    """Remove what is temporary and more than a day old: no run takes so long."""
    for path in folder.glob(f"{ASIDE}*"):
        try:
            if time.time() - path.lstat().st_mtime > LEFT_BEHIND_SECONDS:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except FileNotFoundError:
            continue  # another run was faster
