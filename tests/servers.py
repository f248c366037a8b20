"""A sandbox on a port of this machine, for tests that go through a real connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Thread

from waitress.wasyncore import close_all

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.serve import make_server


@contextmanager
def served(box: Sandbox) -> Iterator[int]:
    """Serve a sandbox on a free port of loopback, which the block gets."""
    server = make_server(box, 0)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server.effective_port
    finally:
        # The workers end first. Then the thread that waits for the sockets closes them itself, because a socket that
        # another thread closes under it is an error.
        server.task_dispatcher.shutdown()
        server.trigger.pull_trigger(partial(close_all, server._map))
        thread.join(5)
        assert not thread.is_alive()
