"""A progress bar for loads that take longer than a second."""

from __future__ import annotations

import sys
import threading


class Progress:
    """A counter that any thread may advance, shown as a bar.

    Parameters
    ----------
    title : str
        Verb, dataset and network.
    total : float or None
        Amount of work; None if it is unknown.
    unit : str
    visible : bool or None
        Show the bar anywhere, or nowhere; with None in terminals and notebooks only.
    """

    def __init__(self, title: str, total: float | None, unit: str, visible: bool | None) -> None:
        from tqdm.std import tqdm  # not with every import of the library

        count = "{n:,.0f}" if total is None else "{n:,.0f} of {total:,.0f}"
        tail = "{elapsed}" if total is None else "|{bar}| {elapsed} < {remaining}"
        self._lock = threading.Lock()
        self._title = title
        self._bar = tqdm(
            total=total,
            desc=title,
            delay=1,
            disable=not (_is_interactive() if visible is None else visible),
            bar_format=f"{{desc}}: {count} {unit} {tail}",
        )

    def advance(self, amount: float) -> None:
        """Add an amount of completed work."""
        with self._lock:
            self._bar.update(amount)

    def show_wait(self, text: str) -> None:
        """Show what requests wait for, or nothing."""
        with self._lock:
            self._bar.set_description_str(f"{self._title} {text}".rstrip())

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def _is_interactive() -> bool:
    return sys.stderr.isatty() or _is_notebook()


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
