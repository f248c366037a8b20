"""HTTP requests with timeouts, retries, a request rate and failover to the next host."""

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
from urllib.parse import urlsplit

from ledgerframes.api.status_errors import service_error
from ledgerframes.datasets._decode import decode
from ledgerframes.errors import (
    HostUnreachableError,
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
    from httpx import BaseTransport as BaseTransport

    from ledgerframes.settings import Limits

T = TypeVar("T")

logger = logging.getLogger("ledgerframes")

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
FIRST_DELAY = 0.4  # seconds; doubles at each attempt, as in the clients of the public network (docs/facts.md#rate-limits)
MAX_DELAY = 30.0

ErrorFactory = Callable[[int, bytes, Mapping[str, str], str, str], ServiceError]


def in_process(app: Any) -> BaseTransport:
    """Return a transport that calls a WSGI app instead of the network."""
    import httpx  # here and below only when needed, because the import is half as slow as that of pandas

    return httpx.WSGITransport(app=app)


@dataclass(frozen=True)
class Response:
    """A successful response.

    Attributes
    ----------
    body : bytes
    host : str
        Host that sent the response.
    endpoint : str
        HTTP method and path of the operation.
    """

    body: bytes
    host: str
    endpoint: str = ""

    def decode(self, kind: type[T]) -> T:
        """Return the body as a struct.

        Raises
        ------
        DecodeError
            If the body is not what the API promises.
        """
        return decode(self.body, kind, self.endpoint)


@dataclass(frozen=True)
class HostStatus:
    """The response of one host to one request, with a good or a bad status."""

    status: int
    body: bytes
    date: str


class _RawResponse(NamedTuple):
    status: int
    body: bytes
    headers: Mapping[str, str]


class Transport:
    """Sends HTTP requests to the hosts of one API.

    Parameters
    ----------
    urls : tuple of str
        Base URLs, tried in this order.
    limits : Limits
        Timeout, retries, request rate and concurrency.
    transport : httpx.BaseTransport, optional
        Replacement of the network: the embedded sandbox, or a test.
    token : callable, optional
        Returns the current bearer token, or None; called before each request.
    error_factory : callable
        Makes the error for a bad status: (status, body, headers, endpoint, host) → ServiceError.

    Attributes
    ----------
    request_count : int
        Number of HTTP requests sent.
    """

    def __init__(
        self,
        urls: tuple[str, ...],
        limits: Limits,
        transport: BaseTransport | None = None,
        *,
        token: Callable[[], str | None] | None = None,
        error_factory: ErrorFactory = service_error,
    ) -> None:
        self.urls = urls
        self._limits = limits
        self._token = token
        self._error_factory = error_factory
        self._rate_limiter = RateLimiter(limits.requests_per_second)
        self._slots = threading.BoundedSemaphore(limits.max_concurrency)
        self._client = _client(limits, transport)
        self.request_count = 0

    @property
    def retries(self) -> int:
        """Number of attempts after the first, on each host."""
        return self._limits.retries

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | list[str]] | None = None,
        body: Mapping[str, Any] | bytes | None = None,
        retry: bool = True,
        endpoint: str = "",
    ) -> Response:
        """Send a request and return the response.

        Parameters
        ----------
        method, path : str
        query : mapping, optional
        body : mapping or bytes, optional
            A mapping is sent as JSON, bytes as they are.
        retry : bool
            Repeat after a transient failure, then try the next host. Without it, the request is sent once to the
            first host, and its outcome is unknown after an error.
        endpoint : str
            HTTP method and path of the operation, for errors; by default those of the request.

        Raises
        ------
        TransportError
            If no host sends a complete response.
        ServiceError
            If the status is not success.
        """
        content: dict[str, Any] = {"params": query} if query else {}
        if body is not None:
            content["content" if isinstance(body, bytes) else "json"] = body

        def send(url: str) -> Response:
            raw = self._send_once(url, method, path, content)
            if raw.status // 100 != 2:
                raise self._status_error(raw.status, raw.body, raw.headers, f"{method} {path}", url)
            return Response(raw.body, host_of(url), endpoint or f"{method} {path}")

        if not retry:
            return send(self.urls[0])
        return self.with_failover(lambda url: self._with_retries(lambda: send(url)))

    @contextmanager
    def stream(self, url: str, path: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Send one GET to one host and yield the response, whose body the caller reads in chunks.

        Raises
        ------
        RequestTimeoutError, HostUnreachableError, UsageError
            Also while the body is read.
        ServiceError
            If the status is not success.
        """
        with self._open(url, "GET", path, headers=headers) as response:
            if not response.is_success:
                raise self._status_error(response.status_code, response.read(), response.headers, f"GET {path}", url)
            yield response

    def status(self, url: str, path: str) -> HostStatus:
        """Send one GET to one host, and return the response with a good or a bad status."""
        raw = self._send_once(url, "GET", path, {})
        return HostStatus(raw.status, raw.body, raw.headers.get("Date", ""))

    def with_failover(self, call: Callable[[str], T]) -> T:
        """Call a function with the URL of each host in turn, until one returns."""
        for url, next_url in zip(self.urls, (*self.urls[1:], ""), strict=True):
            try:
                return call(url)
            except (TransportError, ServiceError) as error:
                # Only the host of another operator may permit what this one does not (docs/facts.md#authentication).
                if isinstance(error, ServiceError) and not (error.retryable or isinstance(error, PermissionDeniedError)):
                    raise
                kind, following = type(error).__name__, host_of(next_url) or "none"
                logger.warning(
                    "host_failed host=%s operation=%s error=%s next_host=%s", host_of(url), error.endpoint, kind, following
                )
                if not next_url:
                    raise
        raise UsageError("The API has no host. Set its URL in the profile.")

    def _with_retries(self, send: Callable[[], T]) -> T:
        for attempt in retry_policy(self._limits.retries + 1, retry_delay):
            with attempt:
                return send()
        raise AssertionError("retry_context returns or raises")

    def _send_once(self, url: str, method: str, path: str, content: dict[str, Any]) -> _RawResponse:
        with self._open(url, method, path, **content) as response:
            return _RawResponse(response.status_code, _body(response), response.headers)

    @contextmanager
    def _open(
        self, url: str, method: str, path: str, headers: Mapping[str, str] = MappingProxyType({}), **content: Any
    ) -> Iterator[httpx.Response]:
        """Send one request, whose response body the caller reads."""
        with self._slots, self._connection_errors(f"{method} {path}", host_of(url)):
            self._rate_limiter.acquire()
            self.request_count += 1
            token = self._token() if self._token else None
            authorization = {"Authorization": f"Bearer {token}"} if token else {}
            with self._client.stream(method, url + path, headers={**authorization, **headers}, **content) as response:
                yield response

    @contextmanager
    def _connection_errors(self, endpoint: str, host: str) -> Iterator[None]:
        """Raise failures of the connection as errors of this package."""
        import httpx

        try:
            yield
        except httpx.TimeoutException as error:
            raise RequestTimeoutError(
                f"{host} did not respond to {endpoint} within {self._limits.timeout:g} s. Raise timeout= or lower page_size=.",
                endpoint=endpoint,
                host=host,
            ) from error
        except (httpx.HTTPError, OSError) as error:
            raise HostUnreachableError(
                f"{host} did not complete {endpoint}: {_one_line(error)}. Check the URL and the network, or add a second host.",
                endpoint=endpoint,
                host=host,
            ) from error

    def _status_error(self, status: int, body: bytes, headers: Mapping[str, str], endpoint: str, url: str) -> ServiceError:
        token = self._token() if self._token else None  # services quote the token they refuse
        body = body.replace(token.encode(), b"[token]") if token else body
        return self._error_factory(status, body, headers, endpoint, host_of(url))


def _client(limits: Limits, transport: BaseTransport | None) -> httpx.Client:
    """Return the HTTP client, with the certificates and proxies of the environment.

    Raises
    ------
    UsageError
        If the environment names certificates or a proxy that cannot be used.
    """
    import httpx

    verify = True if transport else _ssl_context(*map(os.environ.get, CERTIFICATES))
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
        # The message of httpx is omitted, because it quotes parts of the address, which may be the password.
        raise UsageError(f"Cannot use the proxy of this environment: invalid address. Check {', '.join(PROXIES)}.") from None
    except ImportError as error:
        raise UsageError(f"Cannot use the proxy of this environment: {_one_line(error)} Check {', '.join(PROXIES)}.") from None


@functools.cache
def _ssl_context(file: str | None, directory: str | None) -> ssl.SSLContext:
    """Return the environment's certificates, cached because loading is slower than a request."""
    import httpx

    try:
        if directory and not file and not any(map(os.path.isdir, directory.split(os.pathsep))):
            raise NotADirectoryError(f"{directory} is not a directory")  # OpenSSL would trust nobody and fail at each request
        return httpx.create_ssl_context()
    except OSError as error:
        raise UsageError(
            f"Cannot read the certificates of this environment: {_one_line(error)}. Check {' and '.join(CERTIFICATES)}."
        ) from error


def retry_policy(attempts: int, on: Callable[[Exception], bool | float]) -> Iterable[AbstractContextManager[object]]:
    """Return the attempts of a request, with delays that double and vary between them.

    Parameters
    ----------
    attempts : int
        Maximum number of attempts.
    on : callable
        Returns whether an error is retried, or after how many seconds.
    """
    import stamina  # not with every import of the library

    return stamina.retry_context(
        on=on, attempts=attempts, timeout=None, wait_initial=FIRST_DELAY, wait_max=MAX_DELAY, wait_jitter=FIRST_DELAY
    )


def retry_delay(error: Exception) -> bool | float:
    """Return whether an error is retried, or after how many seconds if the service sets them."""
    if isinstance(error, ServiceError):
        return min(error.retry_after, MAX_DELAY) if error.retryable and error.retry_after is not None else error.retryable
    return isinstance(error, TransportError)


class RateLimiter:
    """Spaces calls of all threads evenly.

    Parameters
    ----------
    per_second : float
        Calls per second; 0 for no limit.
    """

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second if per_second else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def acquire(self) -> None:
        """Wait until the next call is allowed."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self._interval
        if start > now:
            time.sleep(start - now)


def host_of(url: str) -> str:
    """Return the host and port of a URL, the only parts that may be shown."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _body(response: httpx.Response) -> bytes:
    """Return the complete body, whose length not every transport checks."""
    is_encoded = "Content-Encoding" in response.headers
    if response.is_stream_consumed:
        body = response.content
    else:  # read() is slower by half, and keeps the body in a reference cycle
        body = b"".join(response.iter_bytes() if is_encoded else response.iter_raw())
    length = response.headers.get("Content-Length", "")
    if not is_encoded and length.isdecimal() and len(body) < int(length):
        import httpx

        raise httpx.RemoteProtocolError(f"received {len(body)} of {length} bytes", request=response.request)
    return body


def _one_line(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())[:200]
