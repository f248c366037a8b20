"""One line of progress for loads that take longer than a second."""

from __future__ import annotations

import sys
import threading
from time import monotonic
from typing import TextIO

from ledgerframes.long_waits import NotebookLine, is_notebook
from ledgerframes.representation import pluralize

DELAY = 1  # seconds before the line appears
ROUNDING = 1 + 1e-9  # parts of a float can add up to a little more than the whole, of which tqdm warns


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
        Show the line anywhere, or nowhere; with None in terminals and notebooks only.
    """

    def __init__(self, subject: str, total: float | None, unit: str, visible: bool | None) -> None:
        from tqdm.std import tqdm  # not with every import of the library

        count = "{n:,.0f}" if total is None else "{n:,.0f} of {total:,.0f}"
        tail = "{elapsed}" if total is None else "|{bar}| {elapsed} < {remaining}"
        self._lock = threading.Lock()
        self._subject = subject
        self._start = monotonic()
        self._visible = (is_notebook() or sys.stderr.isatty()) if visible is None else visible
        self._output: NotebookLine | TextIO = NotebookLine() if is_notebook() else sys.stderr
        self._rows = self._chunks = 0
        self._bar = tqdm(
            total=total and total * ROUNDING,
            desc=f"Fetching {subject}",
            delay=DELAY,
            disable=not self._visible,
            leave=False,
            file=self._output,
            bar_format=f"{{desc}}: {count} {unit} {tail}",
        )

    def advance(self, amount: float) -> None:
        """Add an amount of completed work."""
        with self._lock:
            self._bar.update(amount)

    def count(self, *, rows: int = 0, chunks: int = 0) -> None:
        """Add to the numbers of the sentence at the end."""
        with self._lock:
            self._rows += rows
            self._chunks += chunks

    def show_wait(self, text: str) -> bool:
        """Show what requests wait for, or nothing, and return whether anybody sees it."""
        with self._lock:
            self._bar.set_description_str(f"Fetching {self._subject} {text}".rstrip())
        return self._visible

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        self._bar.close()
        seconds = monotonic() - self._start
        if self._visible and seconds >= DELAY:
            self._output.write(f"\r{self._summary(error_type is None, seconds)}\n")
            self._output.flush()

    def _summary(self, is_complete: bool, seconds: float) -> str:
        """Return what was fetched, in how many seconds."""
        verb = "Fetched" if is_complete else "Stopped fetching"
        chunks = f" in {pluralize(self._chunks, 'chunk')}" if self._chunks else ""
        return f"{verb} {self._subject}: {self._rows:,} rows{chunks}, {seconds:,.0f} s."
