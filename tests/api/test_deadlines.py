"""A response is bounded from its first byte to its last, whatever a host does between them."""

from __future__ import annotations

import itertools
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.errors import LedgerframesError, RequestTimeoutError, ResponseLimitError

pytestmark = pytest.mark.loopback
LIMIT = {"max_response_minutes": 0.3 / 60, "timeout": 5.0, "retries": 0, "requests_per_second": 0}
DRIPS = 60  # of a tenth of a second each, after which the response is complete
HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
END = b'Content-Length: 13\r\n\r\n{"offset": 7}'

# What a host sends at once, what it sends again and again, and what completes the response.
RESPONSES: dict[str, tuple[bytes, bytes, bytes]] = {
    "a status line": (b"HTTP/1.1 200 ", b"O", b"\r\n" + END),
    "a header": (HEAD + b"X: ", b"x", b"\r\n" + END),
    "headers": (HEAD, b"X: x\r\n", END),
    "a body": (HEAD + b"Content-Length: 74\r\n\r\n", b" ", b'{"offset": 7} '),
    "sizes of chunks": (CHUNKED, b"1\r\n \r\n", b'd\r\n{"offset": 7}\r\n0\r\n\r\n'),
    "the size of a chunk": (CHUNKED + b"d;x=", b"x", b'\r\n{"offset": 7}\r\n0\r\n\r\n'),
    "trailers": (CHUNKED + b'd\r\n{"offset": 7}\r\n0\r\n', b"X: x\r\n", b"\r\n"),
    "responses that say to wait": (b"", b"HTTP/1.1 102 Processing\r\n\r\n", HEAD + END),
    "early hints": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", HEAD + END),
    "a flood of early hints": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10_000, HEAD + END),
}


@contextmanager
def serving(handle: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    """Serve connections on loopback, and end them with the block."""
    ended = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                handle(self.request, ended)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            ended.set()
            server.shutdown()
            thread.join()


@contextmanager
def connected(
    handle: Callable[[socket.socket, threading.Event], None], scheme: str = "http", **limits: float
) -> Iterator[lf.Network]:
    """Connect to a host on loopback."""
    with serving(handle) as port:
        url = f"{scheme}://127.0.0.1:{port}"
        with lf.connect("sandbox", ledger_url=url, history_url=url, **{**LIMIT, **limits}) as net:
            yield net


def drip(parts: Iterable[bytes]) -> Callable[[socket.socket, threading.Event], None]:
    """Answer with parts, of which each comes in time."""

    def handle(connection: socket.socket, ended: threading.Event) -> None:
        connection.recv(65_536)
        for part in parts:
            connection.sendall(part)
            if ended.wait(0.1):
                return

    return handle


@pytest.mark.parametrize("place", RESPONSES)
def test_a_host_that_drips_is_given_up(place: str) -> None:
    start, again, end = RESPONSES[place]
    late = pytest.raises(ResponseLimitError, match=r"127\.0\.0\.1:\d+ did not complete its response within 0\.005 minutes")
    with connected(drip([start, *itertools.repeat(again, DRIPS), end])) as net, late as caught:
        net.ledger.ledger_end()
    assert caught.value.setting == "max_response_minutes"


@pytest.mark.parametrize("place", ["a header", "a body", "trailers"])
def test_a_response_in_time_is_read(place: str) -> None:
    start, again, end = RESPONSES[place]
    with connected(drip([start + again * DRIPS + end])) as net:
        assert net.ledger.ledger_end() == 7


def test_each_response_has_its_own_time() -> None:
    """Five responses over one connection, which together take longer than the limit of one."""

    def handle(connection: socket.socket, ended: threading.Event) -> None:
        while connection.recv(65_536):
            for part in (HEAD, END):
                ended.wait(0.04)  # a busy machine adds to it
                connection.sendall(part)

    with connected(handle) as net:
        assert [net.ledger.ledger_end() for _ in range(5)] == [7] * 5


def test_a_handshake_of_tls_has_an_end() -> None:
    record = b"\x16\x03\x03\x40\x00"  # a server's hello of 16 kB
    handshake = drip([record, *itertools.repeat(b"\x02", DRIPS)])
    with connected(handshake, "https") as net, pytest.raises(ResponseLimitError):
        net.ledger.ledger_end()


def test_a_proxy_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(drip([b"HTTP/1.1 200 ", *itertools.repeat(b"x", DRIPS), b"\r\n\r\n"])) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        with lf.connect("sandbox", ledger_url="https://far.invalid", **LIMIT) as net, pytest.raises(ResponseLimitError):
            net.ledger.ledger_end()


def test_a_host_that_reads_slowly_is_given_up() -> None:
    """It takes a request of several megabytes a little at a time, so that each part of it is sent in time."""

    def handle(connection: socket.socket, ended: threading.Event) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(DRIPS):
            connection.recv(20_000)
            if ended.wait(0.1):
                return
        while connection.recv(1 << 20):
            connection.settimeout(0.5)
        connection.sendall(HEAD + END)

    with connected(handle) as net, pytest.raises(ResponseLimitError):
        net.ledger.transport.request("POST", "/thing", body=bytes(20_000_000), retry=False)


KEY = "2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd"


@pytest.mark.parametrize(("place", "setting"), [("a header", "max_response_minutes"), ("a body", "max_download_minutes")])
def test_a_download_is_bounded_by_its_own_minutes_once_it_has_begun(place: str, setting: str, tmp_path: Path) -> None:
    start, again, end = RESPONSES[place]
    late = pytest.raises(ResponseLimitError, match=f"{setting}=")
    with connected(drip([start, *itertools.repeat(again, DRIPS), end]), max_download_minutes=0.6 / 60) as net, late:
        net.history.bulk_download(KEY, tmp_path / "object")


def test_a_download_may_take_longer_than_a_response(tmp_path: Path) -> None:
    start, again, end = RESPONSES["a body"]
    with connected(drip([start, *[again * 10] * 6, end])) as net:
        assert net.history.bulk_download(KEY, tmp_path / "object").bytes == 74


@pytest.fixture
def hanging_lookup(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A resolver that answers when the event is set."""
    answers, look_up = threading.Event(), socket.getaddrinfo

    def getaddrinfo(host: str, *args: Any, **kwargs: Any) -> Any:
        answers.wait(20)
        return look_up("127.0.0.1", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield answers
    answers.set()


@pytest.mark.parametrize(
    ("limits", "expected"),
    [({"timeout": 0.3}, RequestTimeoutError), ({"timeout": 9.0, "max_response_minutes": 0.3 / 60}, ResponseLimitError)],
)
def test_the_look_up_of_a_name_is_bounded(
    hanging_lookup: threading.Event, limits: dict[str, float], expected: type[LedgerframesError]
) -> None:
    options = {"max_response_minutes": 1, "retries": 0, "requests_per_second": 0, **limits}
    start = time.monotonic()
    with (
        lf.connect("sandbox", ledger_url="http://ledger.example", **options) as net,
        pytest.raises(expected, match=r"ledger\.example did not"),
    ):
        net.ledger.ledger_end()
    assert time.monotonic() - start < 5


def test_a_connection_that_comes_too_late_is_closed(hanging_lookup: threading.Event) -> None:
    ends: SimpleQueue[bytes] = SimpleQueue()
    with connected(lambda connection, ended: ends.put(connection.recv(1)), max_response_minutes=1, timeout=0.3) as net:
        with pytest.raises(RequestTimeoutError):
            net.ledger.ledger_end()
        hanging_lookup.set()
        assert ends.get(timeout=5) == b""
