"""Deadlines of responses, from the look-up of the host's name to the last byte.

The HTTP library has a timeout only for each read, so a host that sends a byte from time to time would never end, and none for
the look-up of a name. The backend and the streams of this module wait no longer than the current response may still take.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from ledgerframes.api.bodies import BodyLimits

__all__ = ["BoundedBackend", "enforce"]

T = TypeVar("T")

WRITE_BYTES = 16 * 1024  # sent at a time
_current = threading.local()  # a response is read by the thread that sent its request


@contextmanager
def enforce(limits: BodyLimits) -> Iterator[None]:
    """Make the connections of this thread wait no longer than these limits allow."""
    before = getattr(_current, "limits", None)
    _current.limits = limits
    try:
        yield
    finally:
        _current.limits = before


def _call(call: Callable[[float | None], T], timeout: float | None) -> T:
    """Call a function with the seconds that it may take, or raise ResponseLimitError."""
    limits: BodyLimits | None = getattr(_current, "limits", None)
    if limits is None:
        return call(timeout)
    left = limits.seconds_left()
    try:
        return call(left if timeout is None else min(timeout, left))
    except Exception:
        limits.seconds_left()  # an error that the end of the time causes is reported as such
        raise


def _in_time(connect: Callable[[], Any], seconds: float | None) -> Any:
    """Return the connection that a function opens within some seconds, or raise TimeoutError.

    The operating system looks up a name without a timeout, and tries each address for the full time. So another thread opens the
    connection, and a connection that comes too late is closed.
    """
    connection: Future[Any] = Future()

    def run() -> None:
        try:
            connection.set_result(connect())
        except BaseException as error:  # the thread that waits raises it
            connection.set_exception(error)

    threading.Thread(target=run, name="connect", daemon=True).start()
    try:
        return connection.result(seconds)
    except BaseException:  # also Ctrl-C
        connection.add_done_callback(lambda late: late.exception() or late.result().close())
        raise


class BoundedBackend:
    """A network backend of the HTTP library whose connections keep deadlines."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(self, *args: Any, timeout: float | None = None, **kwargs: Any) -> BoundedStream:
        """Open a connection."""

        def connect(left: float | None) -> Any:
            return _in_time(lambda: self._backend.connect_tcp(*args, timeout=left, **kwargs), left)

        return BoundedStream(_call(connect, timeout))

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._backend.sleep(seconds)


class BoundedStream:
    """A connection of the HTTP library that keeps deadlines."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes."""
        return _call(lambda left: bytes(self._stream.read(max_bytes, left)), timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes in pieces, because a timeout holds for what the host accepts at once."""
        for start in range(0, len(buffer), WRITE_BYTES):
            piece = buffer[start : start + WRITE_BYTES]
            _call(lambda left, piece=piece: self._stream.write(piece, left), timeout)  # type: ignore[misc]

    def start_tls(self, *args: Any, timeout: float | None = None, **kwargs: Any) -> BoundedStream:
        """Return the connection with TLS."""
        return BoundedStream(_call(lambda left: self._stream.start_tls(*args, timeout=left, **kwargs), timeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        """Return a fact about the connection, by its name in the HTTP library."""
        return self._stream.get_extra_info(info)
