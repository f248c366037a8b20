"""HTTP requests with timeouts, retries, a request rate and failover to the next host."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ledgerframes.api import host_rates
from ledgerframes.api.bodies import BodyLimits, read_body
from ledgerframes.api.certificates import CertificateFiles, ssl_context
from ledgerframes.api.deadlines import BoundedBackend, enforce
from ledgerframes.api.host_rates import HostRate, HostRates, Waits, end_of_retries, is_pushback, is_retryable, pause, retry_delay
from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import ErrorFactory, is_unknown_id, may_be_elsewhere, service_error
from ledgerframes.errors import (
    DecodeError,
    HostUnreachableError,
    RequestTimeoutError,
    ServiceError,
    TransportError,
    UsageError,
)
from ledgerframes.installation import installed_version
from ledgerframes.texts.hidden_tokens import hide_in_record, remember_token

if TYPE_CHECKING:
    import httpx
    from httpx import BaseTransport as BaseTransport

    from ledgerframes.settings import Limits

T = TypeVar("T")

logger = logging.getLogger("ledgerframes")
# Among these, the loggers of the HTTP library also write what a service sent.
LOGGERS = ("ledgerframes", "ledgerframes.retries", "httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy")

HEALTH_CHECKS = ("/readyz", "/livez")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
MAX_DETOUR = 10.0  # seconds to wait for a host while another one may respond
AVOIDANCES = (60.0, 120.0, 240.0, 480.0, 600.0)  # seconds for which a host comes last after failures in a row


def in_process(app: Any) -> BaseTransport:
    """Return a transport that calls a WSGI app instead of the network."""
    import httpx  # here and below only when needed, because this import takes half as long as that of pandas

    def call(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        # WSGI wants the bytes of the path as Latin-1, but httpx passes its characters.
        environ["PATH_INFO"] = environ["PATH_INFO"].encode().decode("latin-1")
        return app(environ, start_response)

    return httpx.WSGITransport(app=call)


class Transport:
    """Sends HTTP requests to the hosts of one API, whose URLs are tried in order.

    Other transports share the request rates of the hosts. The embedded sandbox and tests replace the network by a `transport`.
    """

    def __init__(
        self,
        urls: tuple[str, ...],
        limits: Limits,
        transport: BaseTransport | None = None,
        *,
        token: Callable[[], str | None] | None = None,  # called before each request
        error_factory: ErrorFactory = service_error,
        rates: HostRates | None = None,
        waits: Waits | None = None,
        certificates: CertificateFiles | None = None,
    ) -> None:
        self.urls = urls
        self.limits = limits
        self._token = token
        self.error_factory = error_factory
        self._rates = rates or HostRates()
        self.waits = waits or Waits()
        self._slots = threading.BoundedSemaphore(limits.max_concurrency)
        self._client = _client(limits, transport, certificates or CertificateFiles())
        for name in LOGGERS:
            logging.getLogger(name).addFilter(hide_in_record)
        self._failures: dict[str, _Failures] = {}  # of hosts that have not responded since
        self._latest = threading.local()
        self.request_count = 0
        self.hosts: set[str] = set()  # that sent a response
        self.base_urls: set[str] = set()  # that are known to be the base of the API

    @property
    def last_host(self) -> str:
        """Host of the latest response to this thread."""
        return getattr(self._latest, "host", "")

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
        is_json: bool = True,
        may_be_empty: bool = False,
        varies_by_host: bool = False,
    ) -> Response:
        """Send a request and return the response.

        With `retry`, a transient failure is retried, then the next host is tried. Without it, the request is sent once to the
        first host, and its outcome is unknown after an error. The response has the `endpoint` of the operation, by default that
        of the request. With `is_json`, a response that is not JSON is a failure of the host, and so is an empty one unless it
        `may_be_empty`. With `varies_by_host`, an id that one host does not know is looked up on the next one.
        """
        options: dict[str, Any] = {"params": query} if query else {}
        if isinstance(body, bytes):
            options |= {"content": body, "headers": {"Content-Type": "application/octet-stream"}}
        elif body is not None:
            options["json"] = body

        def send(url: str) -> Response:
            response = self._send_once(url, method, path, options)
            if response.status // 100 != 2:
                raise self.error_factory(response)
            response = replace(response, endpoint=endpoint or response.endpoint)
            if is_json and (response.body.strip() or not may_be_empty):
                response.require_api()
            self._latest.host = response.host
            self.hosts.add(response.host)
            return response

        if not retry:
            return self._noting_refusals(self.urls[0], lambda: send(self.urls[0]))
        return self.with_failover(
            lambda url, is_last: self.retry_on_host(url, lambda: send(url), is_last=is_last), varies_by_host=varies_by_host
        )

    @contextmanager
    def stream(self, url: str, path: str, headers: Mapping[str, str], limits: BodyLimits) -> Iterator[httpx.Response]:
        """Send one GET to one host and yield the response, whose body the caller reads in chunks.

        The limits are those of the body. An error of the connection is also raised while the body is read.
        """
        with self._open(url, "GET", path, headers=headers) as (response, response_limits):
            if not response.is_success:
                raise self.error_factory(self._read(response, f"GET {path}", url, response_limits))
            with enforce(limits):
                yield response

    def status(self, url: str, path: str) -> Response:
        """Send one GET to one host, and return the response with a good or a bad status."""
        return self._send_once(url, "GET", path, {})

    def with_failover(self, call: Callable[[str, bool], T], *, varies_by_host: bool = False) -> T:
        """Call a function with each URL, and whether it is the last, until a call returns.

        Hosts with a longer wait come last, as do those that failed a moment ago. With `varies_by_host`, an unknown id is the
        error if any host reports it, because a failure of another host then says less.
        """
        urls = sorted(self.urls, key=self._is_avoided)
        unknown: Exception | None = None
        for number, url in enumerate(urls, start=1):
            is_last, earlier = number == len(urls), self._failures.get(url)
            try:
                result = call(url, is_last)
                self._failures.pop(url, None)
                return result
            except (TransportError, ServiceError, DecodeError) as error:
                if varies_by_host and is_unknown_id(error):
                    unknown = error
                    continue
                is_elsewhere = may_be_elsewhere(error)
                # A refusal that is not the API's own, as of a host that is gone, says nothing about other hosts.
                if isinstance(error, ServiceError) and error.is_from_api and not (error.retryable or is_elsewhere):
                    raise
                # Of requests that are under way at the same time, only the first failure counts.
                latest = self._failures.get(url)
                if not (is_elsewhere or is_pushback(error)) and latest in (None, earlier):
                    self._failures[url] = _Failures.after(latest)
                next_host = "none" if is_last else host_of(urls[number])
                facts = (host_of(url), error.endpoint, type(error).__name__, next_host)
                logger.warning("host_failed host=%s operation=%s error=%s next_host=%s", *facts)
                if is_last and not unknown:
                    raise
        raise unknown or UsageError("The API has no host. Set its URL in the profile.")

    def _is_avoided(self, url: str) -> bool:
        now, failures = host_rates.clock.now(), self._failures.get(url)
        return self._rate(url).open_at > now + MAX_DETOUR or (failures is not None and failures.until > now)

    def retry_on_host(
        self, url: str, call: Callable[[], T], *, is_last: bool, also: Callable[[Exception], bool] = lambda error: False
    ) -> T:
        """Call a function that sends requests to one host, until it returns.

        The call waits for a host that pushes back, as long as it says and within max_wait_minutes. Other failures, and errors for
        which `also` is true, are retried a number of times, unless the host failed before and another one is left, or sets a
        longer wait. If none is left, the call waits longer.
        """
        retries = self.limits.retries if is_last or url not in self._failures else 0
        failures = refusals = 0
        failed_since = math.inf
        while True:
            try:
                return self._noting_refusals(url, call)
            except (TransportError, ServiceError) as error:
                failed_since = min(failed_since, host_rates.clock.now())
                if is_pushback(error) and self._is_waited_for(url, refusals, failed_since, is_last):
                    refusals += 1
                    seconds = max(0.0, self._rate(url).open_at - host_rates.clock.now())
                    pause(seconds, error, self.waits, failed_since, failed_since + self._max_wait)
                    continue
                failures += 1
                max_delay = failed_since + self._max_wait - host_rates.clock.now() if is_last else MAX_DETOUR
                delay = retry_delay(error, failures, max_delay)
                if delay is None or is_pushback(error) or failures > retries or not (is_retryable(error) or also(error)):
                    raise
                pause(delay, error, self.waits, failed_since, end_of_retries(retries - failures))

    def _is_waited_for(self, url: str, refusals: int, refused_since: float, is_last: bool) -> bool:
        """Return whether to wait for a host that pushes back."""
        rate, now = self._rate(url), host_rates.clock.now()
        if not self.limits.retries or self.waits.is_stopped:
            return False
        if not is_last:
            return refusals < self.limits.retries and rate.open_at - now <= MAX_DETOUR
        # Earlier refusals, of other calls or processes, do not shorten the time that the user sets.
        return rate.open_at - max(refused_since, rate.refused_since) <= self._max_wait

    @property
    def _max_wait(self) -> float:
        """Seconds for which a host that refuses every request is waited for."""
        return self.limits.max_wait_seconds if self.limits.retries else 0.0

    def _noting_refusals(self, url: str, call: Callable[[], T]) -> T:
        """Call a function that sends a request, and tell the outcome to the host's rate."""
        rate, sent_at = self._rate(url), host_rates.clock.now()
        try:
            result = call()
        except ServiceError as error:
            if is_pushback(error):
                rate.refuse(sent_at, error.retry_after, f"{host_of(url)} returned {error.status}")
            raise
        rate.accept()
        return result

    def _rate(self, url: str) -> HostRate:
        return self._rates.of(host_of(url), self.limits.requests_per_second)

    def _send_once(self, url: str, method: str, path: str, options: dict[str, Any]) -> Response:
        with self._open(url, method, path, **options) as (response, limits):
            return self._read(response, f"{method} {path}", url, limits)

    def _read(self, response: httpx.Response, endpoint: str, url: str, limits: BodyLimits) -> Response:
        body = read_body(response, limits)
        return Response(body, host_of(url), endpoint, response.status_code, response.headers)

    @contextmanager
    def _open(
        self, url: str, method: str, path: str, headers: Mapping[str, str] = MappingProxyType({}), **content: Any
    ) -> Iterator[tuple[httpx.Response, BodyLimits]]:
        """Send one request, whose response body the caller reads within the limits."""
        with self._slots, self._connection_errors(f"{method} {path}", url):
            self._rate(url).acquire(self.waits, self._max_wait)
            self.request_count += 1
            request = self._build(method, url, path, headers=headers, **content)
            self._authorize(request)
            limits = BodyLimits(self.limits, f"{method} {path}", host_of(url))  # from the connection on
            with enforce(limits), closing(self._client.send(request, stream=True)) as response:
                yield response, limits

    def _authorize(self, request: httpx.Request) -> None:
        """Add the token to a request.

        No stack frame in a traceback of the response keeps it in a variable.
        """
        if self._token and (token := self._token()):
            remember_token(token)
            request.headers["Authorization"] = f"Bearer {token}"

    def _build(self, method: str, url: str, path: str, **content: Any) -> httpx.Request:
        """Return a request, or refuse arguments that it cannot contain."""
        try:
            return self._client.build_request(method, url + path, **content)
        except (TypeError, ValueError) as error:  # JSON has no Decimal and no time, and UTF-8 no half of a surrogate pair
            raise UsageError(
                f"Cannot send {method} {path[:80]} to {host_of(url)}: {_one_line(error)}. "
                "Pass JSON values, with amounts and times as text."
            ) from error

    @contextmanager
    def _connection_errors(self, endpoint: str, url: str) -> Iterator[None]:
        """Raise failures of the connection as errors of this package."""
        import httpx

        host = host_of(url)
        try:
            yield
        except (httpx.TimeoutException, TimeoutError) as error:
            raise RequestTimeoutError(
                f"{host} did not respond to {endpoint} within {self.limits.timeout:g} s{self._proxy_of(url)}. "
                + _step_after_timeout(endpoint),
                endpoint=endpoint,
                host=host,
            ) from error
        except httpx.InvalidURL as error:  # of an id or a page token
            raise UsageError(f"Cannot send {endpoint[:80]} to {host}: {error}. Pass a shorter text.") from error
        except (httpx.HTTPError, OSError) as error:
            raise HostUnreachableError(
                f"{host} did not complete {endpoint}{self._proxy_of(url)}: {_one_line(error)}. "
                "Check the URL and the network, or add a second host.",
                endpoint=endpoint,
                host=host,
            ) from error

    def _proxy_of(self, url: str) -> str:
        """Return the proxy for a URL as a part of a message, without its password."""
        import httpx

        pool = getattr(self._client._transport_for_url(httpx.URL(url)), "_pool", None)
        proxy = getattr(pool, "_proxy_url", None)
        if proxy is None:
            return ""
        port = f":{proxy.port}" if proxy.port else ""
        return f" through the proxy {proxy.host.decode()}{port} of the environment"


@dataclass(frozen=True)
class _Failures:
    """The failures of a host in a row, after which it is avoided until a time of the clock."""

    count: int
    until: float

    @classmethod
    def after(cls, earlier: _Failures | None) -> _Failures:
        """Return the failures with one more."""
        count = earlier.count + 1 if earlier else 1
        return cls(count, host_rates.clock.now() + AVOIDANCES[min(count, len(AVOIDANCES)) - 1])


def _client(limits: Limits, transport: BaseTransport | None, certificates: CertificateFiles) -> httpx.Client:
    """Return the HTTP client, with certificates and proxies."""
    import httpx

    verify = True if transport else ssl_context(httpx.create_ssl_context, certificates)
    try:
        client = httpx.Client(
            transport=transport,
            verify=verify,
            timeout=httpx.Timeout(limits.timeout),
            headers={
                "User-Agent": f"ledgerframes/{installed_version()}",
                "Accept": "application/json, */*;q=0.5",
                "Accept-Encoding": "gzip",
            },
            limits=httpx.Limits(max_connections=limits.max_concurrency, max_keepalive_connections=limits.max_concurrency),
            follow_redirects=False,
        )
        # The connection pool takes a network backend, for which the client has no argument.
        for each in {client._transport, *client._mounts.values()}:
            if isinstance(each, httpx.HTTPTransport):
                each._pool._network_backend = BoundedBackend(each._pool._network_backend)  # type: ignore[assignment]
    except (ValueError, httpx.InvalidURL):
        # The message of httpx is omitted, because it quotes parts of the address, which may be the password.
        raise UsageError(f"Cannot use the proxy of this environment: invalid address. Check {', '.join(PROXIES)}.") from None
    except ImportError as error:
        raise UsageError(f"Cannot use the proxy of this environment: {_one_line(error)} Check {', '.join(PROXIES)}.") from None
    return client


def host_of(url: str) -> str:
    """Return the host and port of a URL, the only parts that may be shown."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _one_line(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())[:200]


def _step_after_timeout(endpoint: str) -> str:
    """Return what to change after a timeout."""
    if endpoint.endswith(HEALTH_CHECKS):  # a body so small that neither time nor size is the problem
        return "Check the scheme and the port of the URL, or try again later."
    return "Raise timeout= or lower page_size=."
