"""One line of progress for loads that take longer than a second."""

from __future__ import annotations

import sys
import threading
from time import monotonic
from typing import Any, TextIO

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
        self._visible = (_is_notebook() or sys.stderr.isatty()) if visible is None else visible
        self._output: NotebookLine | TextIO = NotebookLine() if _is_notebook() else sys.stderr
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

    def show_wait(self, text: str) -> None:
        """Show what requests wait for, or nothing."""
        with self._lock:
            self._bar.set_description_str(f"Fetching {self._subject} {text}".rstrip())

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


class NotebookLine:
    """A line below a cell, which each text replaces."""

    encoding = "utf-8"  # of the characters that tqdm may draw a bar with

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str, /) -> None:
        """Show a text instead of the one before, unless it only clears the line."""
        line = text.strip()
        if not line:
            return
        if self._handle is None:
            from IPython.display import display

            self._handle = display({"text/plain": line}, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update({"text/plain": line}, raw=True)

    def flush(self) -> None:
        """Do nothing, because a text is shown at once."""


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
