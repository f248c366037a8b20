"""Duration of the steps of a run, with a line of progress while a step takes long."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from ledgerframes.errors import ReportError
from ledgerframes.long_waits import say, seconds_since_line
from ledgerframes.report.coverage import format_duration

logger = logging.getLogger("ledgerframes")

SECONDS_UNTIL_FIRST_LINE, SECONDS_BETWEEN_LINES = 2.0, 4.0
SENTENCES = {
    "load": "loads the data",
    "freeze": "freezes its inputs",
    "summary": "measures the window",
    "notebook": "runs its notebook",
    "page": "writes its page",
    "pdf": "prints its page",
}


class Timer:
    """Duration of each step in seconds, and the time that is left.

    Parameters
    ----------
    report : str
    timeout : timedelta or None
        Maximum time of all steps.
    progress : bool or None
        Whether to show lines: False for nowhere.
    """

    def __init__(self, report: str, timeout: timedelta | None, progress: bool | None) -> None:
        self.seconds: dict[str, float] = {}
        self._report = report
        self._timeout = timeout
        self._is_quiet = progress is False
        self._start = time.monotonic()
        self._step = "load", self._start

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure one step, and raise an error if the run has then taken too long."""
        start = time.monotonic()
        logger.info("report_step report=%s step=%s", self._report, name)
        self._step = name, start
        yield
        self.seconds[name] = round(time.monotonic() - start, 3)
        remaining = self.remaining_seconds()
        if remaining is not None and remaining <= 0:
            raise ReportError(
                f"The run took longer than the {format_duration(self._timeout or timedelta())} of timeout= and ended after the "
                f"step {name}. Raise timeout=, because what it loaded stays in the store."
            )

    def remaining_seconds(self) -> float | None:
        """Return the seconds until the timeout, None without one."""
        if self._timeout is None:
            return None
        return self._timeout.total_seconds() - (time.monotonic() - self._start)

    @contextmanager
    def lines(self) -> Iterator[None]:
        """Write a line every few seconds, unless another one was just written."""
        if self._is_quiet:
            yield
            return
        is_over = threading.Event()
        thread = threading.Thread(target=self._write_lines, args=(is_over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _write_lines(self, is_over: threading.Event) -> None:
        seconds = SECONDS_UNTIL_FIRST_LINE
        while not is_over.wait(seconds):
            name, start = self._step
            has_bar = name == "load" and sys.stderr is not None and sys.stderr.isatty()
            silence = seconds_since_line()
            if not has_bar and silence >= seconds / 2:
                say(f"Report {self._report} {SENTENCES[name]}: {time.monotonic() - start:,.0f} s.")
                silence = 0.0
            seconds = SECONDS_BETWEEN_LINES if has_bar else max(SECONDS_BETWEEN_LINES - silence, SECONDS_BETWEEN_LINES / 2)
