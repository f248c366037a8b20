"""Ctrl-C and other signals, handled after code that they must not interrupt.

If the start of a process were interrupted, nobody would know that it runs.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has fewer


@contextmanager
def signals_handled_afterwards() -> Iterator[None]:
    """Handle the signals of the block after it.

    Blocking them is not enough, because another thread of this process can receive them instead.
    """
    if threading.current_thread() is not threading.main_thread():  # which handles all signals
        yield
        return
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in ours:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for number in received:
            signal.raise_signal(number)
