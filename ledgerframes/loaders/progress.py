"""One line of progress for loads that take longer than a second."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import TextIO

from ledgerframes.long_waits import NotebookLine, is_bar_seen, is_notebook, say
from ledgerframes.texts.representation import pluralize
from ledgerframes.texts.short_names import without_middle

DELAY = 1  # seconds before the line appears
SECONDS_BETWEEN_LINES = 4.0  # where no line can be replaced, such as in the log of a job
BAR_WIDTH, TIMES_WIDTH = 12, 20  # columns of a terminal
MIN_SUBJECT, SUBJECT_END = 24, 10  # characters
ROUNDING = 1 + 1e-9  # parts of a float can add up to slightly more than the whole, about which tqdm warns


class Progress:
    """A counter that any thread may advance, shown as a line that ends as a short sentence.

    Parameters
    ----------
    subject : str
        Dataset and network.
    total : float or None
        Amount of work; None if it is unknown.
    unit : str
    visible : bool or None
        True shows the line anywhere and False nowhere. None shows it in terminals and notebooks only.
    """

    def __init__(self, subject: str, total: float | None, unit: str, visible: bool | None) -> None:
        from tqdm.std import tqdm  # not with every import of the library

        count = "{n:,.0f}" if total is None else "{n:,.0f} of {total:,.0f}"
        tail = "{elapsed}" if total is None else "|{bar}| {elapsed} < {remaining}"
        self._lock = threading.Lock()
        self._subject = subject
        numbers = len(f": {total or 0:,.0f} of {total or 0:,.0f} {unit} ")
        self._columns = _columns()
        self._max_length = self._columns - numbers - BAR_WIDTH - TIMES_WIDTH
        self._bar_format = f"{{desc}}: {count} {unit} {tail}"
        self._has_lines = visible is None
        self._last_line = time.monotonic()
        self._start = time.monotonic()
        self._visible = is_bar_seen() if visible is None else visible
        self._output: NotebookLine | TextIO = NotebookLine() if is_notebook() else sys.stderr
        self._rows = self._chunks = 0
        self._total, self._unit, self._amount = total, unit, 0.0
        self._bar = tqdm(
            total=total and total * ROUNDING,
            desc=_shorten(f"Fetching {subject}", self._max_length),
            delay=DELAY,
            disable=not self._visible,
            leave=False,
            file=self._output,
            bar_format=self._bar_format,
        )

    def advance(self, amount: float) -> None:
        """Add an amount of completed work."""
        with self._lock:
            self._bar.update(amount)
            self._amount += amount
        self._write_line()

    def count(self, *, rows: int = 0, chunks: int = 0) -> None:
        """Add to the numbers of the sentence at the end."""
        with self._lock:
            self._rows += rows
            self._chunks += chunks

    def show_wait(self, text: str) -> bool:
        """Show what requests wait for, or nothing, and return whether anyone can see it."""
        with self._lock:
            self._bar.bar_format = "{desc}" if text else self._bar_format
            length = self._columns if text else self._max_length
            self._bar.set_description_str(_shorten(f"Fetching {self._subject} {text}".rstrip(), length))
        return self._visible

    def _write_line(self) -> None:
        """Write a line now and then where no bar is visible."""
        if self._visible or not self._has_lines or time.monotonic() - self._last_line < SECONDS_BETWEEN_LINES:
            return
        self._last_line = time.monotonic()
        whole = f" of {self._total:,.0f}" if self._total else ""
        say(f"Fetching {self._subject}: {self._amount:,.0f}{whole} {self._unit}, {time.monotonic() - self._start:,.0f} s.")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        self._bar.close()
        seconds = time.monotonic() - self._start
        if self._visible and seconds >= DELAY:
            self._output.write(f"\r{self._summary(error_type is None, seconds)}\n")
            self._output.flush()

    def _summary(self, is_complete: bool, seconds: float) -> str:
        """Return what was fetched, and in how many seconds."""
        verb = "Fetched" if is_complete else "Stopped fetching"
        chunks = f" in {pluralize(self._chunks, 'chunk')}" if self._chunks else ""
        return f"{verb} {self._subject}: {pluralize(self._rows, 'row')}{chunks}, {seconds:,.0f} s."


def _columns() -> int:
    """Return the width of the terminal, which a notebook does not have."""
    return 100 if is_notebook() else shutil.get_terminal_size().columns


def _shorten(text: str, max_length: int) -> str:
    """Return a text without its middle, so that a bar has room next to it.

    >>> _shorten("Fetching events (the-network-of-a-long-name-for-tests)", 34)
    'Fetching events (the-ne…for-tests)'
    >>> _shorten("Fetching events (mainnet)", 34)
    'Fetching events (mainnet)'
    """
    return without_middle(text, max(max_length, MIN_SUBJECT), SUBJECT_END)
