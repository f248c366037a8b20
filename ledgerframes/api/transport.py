"""The one transport: time-outs, retries, a gentle pace, several hosts, and errors that say what to do next."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from ledgerframes.api.refusals import service_error
from ledgerframes.errors import (
    HostUnreachableError,
    LedgerframesError,
    PermissionDeniedError,
    RequestTimeoutError,
    ServiceError,
    TransportError,
    UsageError,
)
from ledgerframes.version import installed_version

if TYPE_CHECKING:
    import ssl

    import httpx
    from httpx import BaseTransport

    from ledgerframes.settings import Limits

T = TypeVar("T")

logger = logging.getLogger("ledgerframes")

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
FIRST_PAUSE = 0.4  # seconds; doubles at each try, as the clients of the public network do (docs/facts.md#rate-limits)
LONGEST_PAUSE = 30.0

Refusal = Callable[[int, bytes, Mapping[str, str], str, str], ServiceError]


def in_process(app: Any) -> BaseTransport:
    """A transport that calls a WSGI app instead of the network."""
    import httpx  # here and below only when it is needed: it takes as long to import as half of pandas

    return httpx.WSGITransport(app=app)


@dataclass(frozen=True)
class Answer:
    """A successful answer: its body, and the host that gave it."""

    body: bytes
    host: str


@dataclass(frozen=True)
class Probe:
    """What one host answered, good or bad: its status, its body, and the time it says it has."""

    status: int
    body: bytes
    date: str


class _Came(NamedTuple):
    """What came: a response, read to its end."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Transport:
    """Sends requests to the hosts of one API.

    Parameters
    ----------
    urls : tuple of str
        Base URLs, tried in this order.
    limits : Limits
        Time-out, retries, pace and concurrency.
    transport : httpx.BaseTransport, optional
        Where requests go instead of the network: the sandbox in the process, or a test.
    token : callable, optional
        Gives the bearer token of the moment, or None; asked before each request.
    refusal : callable
        Turns a bad status into an error: (status, body, headers, endpoint, host) → ServiceError.
    """

    def __init__(
        self,
        urls: tuple[str, ...],
        limits: Limits,
        transport: BaseTransport | None = None,
        *,
        token: Callable[[], str | None] | None = None,
        refusal: Refusal = service_error,
    ) -> None:
        self.urls = urls
        self._limits = limits
        self._token = token
        self._refusal = refusal
        self._pace = Pace(limits.requests_per_second)
        self._places = threading.BoundedSemaphore(limits.max_concurrency)
        self._client = _client(limits, transport)
        self.requests = 0

    @property
    def retries(self) -> int:
        """Tries after the first, on each host."""
        return self._limits.retries

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Answer:
        """GET a path below the base URL, with retries."""
        return self._send("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """POST a JSON body that only reads, with retries."""
        return self._send("POST", path, json=body)

    def write(self, method: str, path: str, **content: Any) -> Answer:
        """Send what may have an effect: once, to the first host; an error leaves open whether it was done.

        Parameters
        ----------
        method, path : str
        **content
            ``json=``, ``content=`` (bytes) and ``params=``.
        """
        return self._answer(self.urls[0], method, path, content)

    @contextmanager
    def stream(self, url: str, path: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Ask one host once for a body that is too large to hold; the caller reads it in pieces, and asks again if it breaks off.

        Raises
        ------
        RequestTimeoutError, HostUnreachableError, UsageError
            Also for what happens while the body is read.
        ServiceError
            If the status is not success.
        """
        with self._asked(url, "GET", path, headers=headers) as response:
            if not response.is_success:
                said = self._without_token(response.read())
                raise self._refusal(response.status_code, said, response.headers, f"GET {path}", host_of(url))
            yield response

    def probe(self, url: str, path: str) -> int:
        """The status that one host answers a GET with, asked once."""
        return self.look(url, path).status

    def look(self, url: str, path: str) -> Probe:
        """What one host answers a GET with, asked once, whatever the status."""
        came = self._once(url, "GET", path, {})
        return Probe(came.status, came.body, came.headers.get("Date", ""))

    def in_turn(self, ask: Callable[[str], T]) -> T:
        """Ask the hosts in turn, by their URLs; the next one only when the one before gave no usable answer."""
        failure: LedgerframesError | None = None
        for url in self.urls:
            try:
                return ask(url)
            except (TransportError, ServiceError) as error:
                if isinstance(error, ServiceError) and not (error.retryable or isinstance(error, PermissionDeniedError)):
                    raise  # only another operator may permit what this one does not (docs/facts.md#authentication)
                logger.warning("%s; %s", error, "trying the next host" if url != self.urls[-1] else "no host is left")
                failure = error
        assert failure is not None
        raise failure

    def _send(self, method: str, path: str, **content: Any) -> Answer:
        return self.in_turn(lambda url: self._with_retries(url, method, path, content))

    def _with_retries(self, url: str, method: str, path: str, content: dict[str, Any]) -> Answer:
        for attempt in tries(self._limits.retries + 1, pause_before_retry):
            with attempt:
                return self._answer(url, method, path, content)
        raise AssertionError("retry_context returns or raises")

    def _answer(self, url: str, method: str, path: str, content: dict[str, Any]) -> Answer:
        came = self._once(url, method, path, content)
        if came.status // 100 != 2:
            said = self._without_token(came.body)
            raise self._refusal(came.status, said, came.headers, f"{method} {path}", host_of(url))
        return Answer(came.body, host_of(url))

    def _once(self, url: str, method: str, path: str, content: dict[str, Any]) -> _Came:
        with self._asked(url, method, path, **content) as response:
            return _Came(response.status_code, _body(response), response.headers)

    @contextmanager
    def _asked(
        self, url: str, method: str, path: str, headers: Mapping[str, str] = MappingProxyType({}), **content: Any
    ) -> Iterator[httpx.Response]:
        """Ask one host once; the caller reads the body."""
        with self._places, self._failures_named(f"{method} {path}", host_of(url)):
            self._pace.wait()
            self.requests += 1
            sent = {**self._authorization(), **headers}
            with self._client.stream(method, url + path, headers=sent, **content) as response:
                yield response

    @contextmanager
    def _failures_named(self, endpoint: str, host: str) -> Iterator[None]:
        """Failures of the connection as errors of this library."""
        import httpx

        try:
            yield
        except httpx.TimeoutException as error:
            raise RequestTimeoutError(
                f"{host} did not answer {endpoint} within {self._limits.timeout:g} s. "
                "Raise timeout, lower page_size, or try later.",
                endpoint=endpoint,
                host=host,
            ) from error
        except (httpx.HTTPError, OSError) as error:
            raise HostUnreachableError(
                f"{host} gave no whole answer to {endpoint} ({_in_one_line(error)}). "
                "Check the URL and the connection, or name a second host.",
                endpoint=endpoint,
                host=host,
            ) from error

    def _without_token(self, body: bytes) -> bytes:
        """What a service says, less the token it may quote."""
        token = self._token() if self._token else None
        return body.replace(token.encode(), b"[token]") if token else body

    def _authorization(self) -> dict[str, str]:
        token = self._token() if self._token else None
        return {"Authorization": f"Bearer {token}"} if token else {}


def _client(limits: Limits, transport: BaseTransport | None) -> httpx.Client:
    """The connections; certificates and proxies are those that the environment names.

    Raises
    ------
    UsageError
        If it names some that cannot be used.
    """
    import httpx

    verify = True if transport else _trusted(*map(os.environ.get, CERTIFICATES))
    try:
        return httpx.Client(
            transport=transport,
            verify=verify,
            timeout=httpx.Timeout(limits.timeout),
            headers={"User-Agent": f"ledgerframes/{installed_version()}", "Accept": "application/json, */*;q=0.5"},
            limits=httpx.Limits(max_connections=limits.max_concurrency, max_keepalive_connections=limits.max_concurrency),
            follow_redirects=False,
        )
    except (ValueError, httpx.InvalidURL):
        # Nothing of what httpx says: it quotes parts of the address, which may be the password.
        raise UsageError(f"A proxy that this environment names has no usable address. Look at {', '.join(PROXIES)}.") from None
    except ImportError as error:
        raise UsageError(
            f"The proxy that this environment names needs another package: {_in_one_line(error)} Look at {', '.join(PROXIES)}."
        ) from None


@functools.cache
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The certificates to trust, read once for what the environment says: reading takes longer than a request."""
    import httpx

    try:
        if folder and not file and not any(map(os.path.isdir, folder.split(os.pathsep))):
            raise NotADirectoryError(f"{folder} is no folder")  # OpenSSL would trust nobody, and say so at each request
        return httpx.create_ssl_context()
    except OSError as error:
        raise UsageError(
            f"The certificates that this environment names cannot be read ({_in_one_line(error)}). "
            f"Look at {' and '.join(CERTIFICATES)}."
        ) from error


def tries(most: int, on: Callable[[Exception], bool | float]) -> Iterable[AbstractContextManager[object]]:
    """So many tries at most, with pauses that double and vary: the one policy of all that is asked again.

    Parameters
    ----------
    most : int
    on : callable
        Whether an error may pass, or after how many seconds.
    """
    import stamina  # not with every import of the library

    return stamina.retry_context(
        on=on, attempts=most, timeout=None, wait_initial=FIRST_PAUSE, wait_max=LONGEST_PAUSE, wait_jitter=FIRST_PAUSE
    )


class Pace:
    """Lets callers pass at most so many times a second, over all threads."""

    def __init__(self, per_second: float) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Return when it is this caller's turn."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._gap
        if turn > now:
            time.sleep(turn - now)


def host_of(url: str) -> str:
    """The host of a URL, with its port: all of it that may be shown."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _body(response: httpx.Response) -> bytes:
    """All bytes of the body; that it is as long as it promised is checked here, because not every transport does."""
    encoded = "Content-Encoding" in response.headers
    if response.is_stream_consumed:
        body = response.content
    else:  # read() takes half as long again, and keeps the body in a cycle
        body = b"".join(response.iter_bytes() if encoded else response.iter_raw())
    promised = response.headers.get("Content-Length", "")
    if not encoded and promised.isdecimal() and len(body) < int(promised):
        import httpx

        raise httpx.RemoteProtocolError(f"{len(body)} of {promised} bytes came", request=response.request)
    return body


def pause_before_retry(error: Exception) -> bool | float:
    """Whether to try again, or after how many seconds if the service says so."""
    if isinstance(error, ServiceError):
        return min(error.retry_after, LONGEST_PAUSE) if error.retryable and error.retry_after is not None else error.retryable
    return isinstance(error, TransportError)


def _in_one_line(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())[:200]


def path_segment(text: str, refusal: str) -> str:
    """Text as one segment of a path, whatever it holds.

    Raises
    ------
    UsageError
        With the refusal, if no path can have it.
    """
    if not text or text in (".", ".."):
        raise UsageError(refusal)
    return quote(text, safe="")
