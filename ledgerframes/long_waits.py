"""Long waits, each reported once to the log and to the user."""

from __future__ import annotations

import logging
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ledgerframes.texts.control_characters import escape_control

__all__ = ["MIN_SECONDS", "NotebookLine", "is_bar_seen", "is_notebook", "say", "shown_by", "tell"]

MIN_SECONDS = 5.0  # shorter waits are not worth a line

logger = logging.getLogger("ledgerframes")
_last_line = float("-inf")  # when it was shown


def tell(seconds: float, reason: str, *, at_most: float = 0.0, is_shown: bool = False) -> None:
    """Report a wait to the log, and to the user unless a progress bar shows it.

    With `at_most`, other waits for the same reason may follow, which take this many seconds together.
    """
    logger.warning("long_wait seconds=%d reason=%s", round(seconds), reason)
    if not is_shown:
        _show(f"ledgerframes waits {seconds:,.0f} s{f', at most {_span(at_most)} in all' if at_most else ''}: {reason}.")


def _span(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} minutes"


def say(text: str) -> None:
    """Show a line about work that takes a long time."""
    global _last_line
    _last_line = monotonic()
    _show(text)


def seconds_since_line() -> float:
    """Return the time since the last such line."""
    return monotonic() - _last_line


def _show_to_people(text: str) -> None:
    """Write a line below the cell of a notebook, or to a terminal.

    Workers leave this to the process that started them.
    """
    if is_notebook():
        NotebookLine().write(text)
    elif multiprocessing.parent_process() is None and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"{escape_control(text)}\n")


_show: Callable[[str], None] = _show_to_people
_has_bars = True


@contextmanager
def shown_by(show: Callable[[str], None], *, has_bars: bool = True) -> Iterator[None]:
    """Show long waits with a function, and show or hide bars.

    The function may also write to a place that nobody sees.
    """
    global _show, _has_bars
    before = _show, _has_bars
    _show, _has_bars = show, has_bars
    try:
        yield
    finally:
        _show, _has_bars = before


def is_bar_seen() -> bool:
    """Return whether somebody can see a bar, and wants one."""
    return _has_bars and (is_notebook() or (sys.stderr is not None and sys.stderr.isatty()))


class NotebookLine:
    """A line below a cell, in which each text replaces the one before."""

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

    def clear(self) -> None:
        """Show nothing any more."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)

    def flush(self) -> None:
        """Do nothing, because a text is shown at once."""


def is_notebook() -> bool:
    """Return whether this process runs the cells of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
