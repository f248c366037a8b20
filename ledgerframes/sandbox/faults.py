"""Misbehavior on demand, by a WSGI middleware that spoils responses reproducibly.

Whether a fault strikes depends on the seed and a count, never on the contents of a request, so that a client that retries
succeeds in the end. The count is of all requests, or for a fault of an endpoint of the draws of its API. Only bulk
objects are spoiled for good, by the seed and their keys.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from werkzeug.wrappers import Response

from .randomness import number
from .response_faults import RESPONSE_FAULTS
from .responses import OWN_WRITES, PLAIN_TEXT, LedgerApiError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

NUMBERS = ("seed", "latency_seconds", "limit_requests", "limit_seconds")  # the others are probabilities
HTML, JSON = "text/html", "application/json"
DOWNLOAD = "/v0/history/bulk/download/"
PROBES = ("/readyz", "/livez", "/version", "/status")
LISTINGS = ("/v0/events", "/v2/updates")
LEDGER = "/api/ledger/"


class Replacement(NamedTuple):
    """A response instead of the app's."""

    fault: str
    status: int
    content_type: str
    body: bytes
    applies: Callable[[str], bool] = lambda path: True  # by path


LIMITED = b"local_rate_limited"
OVERLOADED = LedgerApiError("PARTICIPANT_BACKPRESSURE", "The participant is overloaded; try again later")
REPLACEMENTS = (  # the first that strikes counts
    Replacement(
        "too_many_requests", 429, PLAIN_TEXT, b"Too Many Requests: Server is busy, please try again later.",
    ),
    Replacement(
        "unavailable_html", 503, HTML,
        b"<html><head><title>503 Service Temporarily Unavailable</title></head><body><hr>ingress</body></html>",
    ),
    Replacement(
        "not_ready", 503, JSON, b'{"error":"History has not been replicated yet; try again later or ask another SV"}',
        lambda path: LEDGER not in path and path.endswith(LISTINGS),
    ),
    Replacement(
        "html_instead_of_json", 200, HTML, b"<!DOCTYPE html><html><body><h1>We will be back soon</h1></body></html>",
    ),
    Replacement("overload_409", 409, JSON, msgspec.json.encode(OVERLOADED.body()), lambda path: LEDGER in path),
)  # fmt: skip


class Dropped(OSError):  # noqa: N818 - a name that users know
    """End of a connection without a response, for which a served sandbox closes the socket."""


@dataclass(frozen=True)
class Faults:
    """Faults of a sandbox, each a probability from 0 to 1, where True is 1 and False is 0.

    Parameters
    ----------
    too_many_requests
        429 with plain text and without Retry-After (docs/facts.md#rate-limits).
    retry_after
        Share of them with a Retry-After of one second, or of the rest of the window.
    unavailable_html
        503 with an HTML body, as from an ingress.
    dropped_connections
        No response: `Dropped` in the process, a closed socket on a port.
    truncated_bodies
        Half of the body, with the Content-Length of the whole.
    html_instead_of_json
        200 with HTML.
    not_an_event
        ``{"update": 5}`` as one item of a page.
    unknown_members
        Members that no specification names, on several levels.
    string_integers
        Envelope integers as strings.
    old_service
        Without the parts that are null, as old services respond (docs/facts.md#null-parts).
    latency_seconds
        Additional seconds for every request.
    limit_requests
        Requests of all APIs in a window of `limit_seconds`, after which 429 (docs/facts.md#rate-limits); 0 for no limit.
    limit_seconds
        Length of the window, which starts with its first request.
    not_ready
        503 from /readyz and from the listings (docs/facts.md#history-paging).
    overload_409
        409 from the ledger API when it is overloaded (docs/facts.md#overload-is-409).
    dropped_after_write
        No response to a write after its effect, as for `dropped_connections`.
    wallet_429
        429 to a new offer, which is processed for a few more requests.
    wallet_429_succeeds
        Share of them that become offers in the end.
    wallet_500_before, wallet_500_after
        500 to a new offer, before or after it was created.
    late_status
        404 to the first requests for the status of a new offer (docs/facts.md#offer-status-lag).
    token_mismatch
        Refusal of a page token in the middle of a chain.
    pruning_overtakes
        Pruning of the whole ledger between two pages.
    digest_of_nothing
        Digest of empty bytes for a bulk object, as after a known race (docs/facts.md#digest-of-empty-bytes).
    no_ranges
        200 and the whole object for a download with a Range.
    dropped_download
        Half of a download's Content-Length; a retry may get the rest.
    truncated_object
        Bulk object that ends in the middle of a frame, with the digest of the whole one.
    corrupt_object
        Bulk object with wrong bytes in the middle, with the digest of the right ones.
    foreign_object
        Bulk object of JSON lines that are not updates, with its own digest.
    bomb_object
        Small bulk object of one endless line of four gigabytes, with its own digest.
    seed
        Seed of the faults.
    """

    too_many_requests: float = 0
    retry_after: float = 0
    unavailable_html: float = 0
    dropped_connections: float = 0
    truncated_bodies: float = 0
    html_instead_of_json: float = 0
    not_an_event: float = 0
    unknown_members: float = 0
    string_integers: float = 0
    old_service: float = 0
    latency_seconds: float = 0
    limit_requests: float = 0
    limit_seconds: float = 60
    not_ready: float = 0
    overload_409: float = 0
    dropped_after_write: float = 0
    wallet_429: float = 0
    wallet_429_succeeds: float = 0.5
    wallet_500_before: float = 0
    wallet_500_after: float = 0
    late_status: float = 0
    token_mismatch: float = 0
    pruning_overtakes: float = 0
    digest_of_nothing: float = 0
    no_ranges: float = 0
    dropped_download: float = 0
    truncated_object: float = 0
    corrupt_object: float = 0
    foreign_object: float = 0
    bomb_object: float = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a value that is not a probability."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in NUMBERS and not 0 <= value <= 1:
                raise ValueError(f"{field.name}={value!r} is not a probability from 0 to 1.")

    def strikes(self, name: str, draw: int) -> bool:
        """Return whether a fault strikes in a draw, such as the number of a request."""
        probability = float(getattr(self, name))
        return probability > 0 and number(self.seed, name, draw) < probability * 2**64

    def strikes_object(self, name: str, key: str) -> bool:
        """Return whether a fault strikes the bulk object with a key, for good."""
        return self.strikes(name, number(key))


class FaultMiddleware:
    """A WSGI app with faults around another one."""

    def __init__(self, app: WSGIApplication, faults: Faults) -> None:
        self._app, self._faults = app, faults
        self._requests = count()
        self._lock = threading.Lock()
        self._window_start, self._window_requests = -math.inf, 0

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Respond to a request, or fail."""
        return self._response(environ, next(self._requests))(environ, start_response)

    def _response(self, environ: WSGIEnvironment, request_number: int) -> WSGIApplication:
        path = environ["PATH_INFO"]
        if self._faults.latency_seconds:
            time.sleep(self._faults.latency_seconds)
        if _is_probe(path):
            not_ready = path.endswith("/readyz") and self._faults.strikes("not_ready", request_number)
            return Response(b"", 503, content_type=PLAIN_TEXT) if not_ready else self._app
        self._drop("dropped_connections", request_number)
        if (rest := self._refusal_seconds()) > 0:
            return self._too_many(LIMITED, math.ceil(rest), request_number)
        for fault, status, content_type, body, applies in REPLACEMENTS:
            if applies(path) and self._faults.strikes(fault, request_number):
                if fault == "too_many_requests":
                    return self._too_many(body, 1, request_number)
                return Response(body, status, content_type=content_type)
        return self._spoiled(environ, request_number)

    def _too_many(self, body: bytes, seconds: int, request_number: int) -> Response:
        headers = {"Retry-After": str(seconds)} if self._faults.strikes("retry_after", request_number) else {}
        return Response(body, 429, headers, content_type=PLAIN_TEXT)

    def _refusal_seconds(self) -> float:
        """Count a request, and return the rest of the window if it has too many."""
        if not self._faults.limit_requests:
            return 0
        with self._lock:
            now = time.monotonic()
            if now >= self._window_start + self._faults.limit_seconds:
                self._window_start, self._window_requests = now, 0
            self._window_requests += 1
            is_refused = self._window_requests > self._faults.limit_requests
            return self._window_start + self._faults.limit_seconds - now if is_refused else 0

    def _drop(self, fault: str, request_number: int) -> None:
        if self._faults.strikes(fault, request_number):
            after = ", after the effect" if fault == "dropped_after_write" else ""
            raise Dropped(f"connection dropped by the sandbox's faults{after}")

    def _spoiled(self, environ: WSGIEnvironment, request_number: int) -> Response:
        """Return the app's response, with changes to the body of a good one."""
        writes: list[object] = environ.setdefault(OWN_WRITES, [])
        response = Response.from_app(self._app, environ, buffered=True)
        if writes:
            self._drop("dropped_after_write", request_number)
        if response.status_code == 200 and response.content_type == JSON:
            changes = [change for name, change in RESPONSE_FAULTS.items() if self._faults.strikes(name, request_number)]
            if changes:
                value = msgspec.json.decode(response.data)
                for change in changes:
                    change(value)
                response.data = msgspec.json.encode(value)
        cuts = ["truncated_bodies"]
        if DOWNLOAD in environ["PATH_INFO"] and response.status_code in (200, 206):
            cuts.append("dropped_download")
        if any(self._faults.strikes(name, request_number) for name in cuts):
            body = response.data
            response.data = body[: len(body) // 2]
            response.content_length = len(body)
        return response


def _is_probe(path: str) -> bool:
    # The ledger's version and the status of a package or an offer end alike, but are no probes.
    return path.endswith(PROBES) and "/v0/" not in path and "/v2/" not in path
