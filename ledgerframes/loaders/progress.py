"""A progress bar for what takes longer than a second: in terminals and notebooks, elsewhere only when asked for."""

from __future__ import annotations

import sys
import threading


class Progress:
    """Counts what has been done, from any thread.

    Parameters
    ----------
    title : str
    total : float
        How much there is to do.
    asked : bool or None
        True shows the bar anywhere, False nowhere, None in terminals and notebooks.
    """

    def __init__(self, title: str, total: float, asked: bool | None) -> None:
        from tqdm.std import tqdm  # not with every import of the library

        self._lock = threading.Lock()
        hidden = not (_watched() if asked is None else asked)
        self._bar = tqdm(
            total=total,
            desc=title,
            delay=1,
            disable=hidden,
            bar_format="{desc} {percentage:3.0f} %|{bar}| {elapsed} < {remaining}",
        )

    def advance(self, amount: float) -> None:
        """Say that so much more is done."""
        with self._lock:
            self._bar.update(amount)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def _watched() -> bool:
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
