"""Misbehaviour on demand: a WSGI layer that spoils answers, reproducibly.

Whether a request is spoiled depends on the seed and on how many requests came before it, never on what it
asks; a client that tries again will get through in the end. Only bulk objects are spoiled for good: which of
them depends on the seed and their keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from itertools import count
from typing import Any

import msgspec

from . import distortions
from .canton import CantonError
from .randomness import number

StartResponse = Callable[..., Any]
WSGIApp = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]

BUSY = b"Too Many Requests: Server is busy, please try again later."
GATEWAY = b"<html><head><title>503 Service Temporarily Unavailable</title></head><body><hr>ingress</body></html>"
MAINTENANCE = b"<!DOCTYPE html><html><body><h1>We will be back soon</h1></body></html>"
NOT_READY = b'{"error":"History has not been replicated yet; try again later or ask another SV"}'
TEXT, HTML, JSON = "text/plain; charset=UTF-8", "text/html", "application/json"
RETRY_AFTER_SECONDS = "1"
DOWNLOAD = "/v0/history/bulk/download/"
PROBES = ("/readyz", "/livez", "/version", "/status")
LISTINGS = ("/v0/events", "/v2/updates")
LEDGER, WALLET = "/api/ledger/", "/api/validator/"
WRITES = (  # what changes something, by the path after the API's prefix
    "v2/commands/submit", "v2/commands/async/", "v2/parties", "v2/dars", "v2/packages",
    "v2/package-vetting/update", "v0/wallet/transfer-offers",
)  # fmt: skip


class Dropped(OSError):  # noqa: N818 - it says what happened
    """The connection ended without an answer; a served sandbox closes the socket."""


@dataclass(frozen=True)
class Faults:
    """What shall go wrong; every field is a probability from 0 to 1, True and False being 1 and 0.

    Parameters
    ----------
    too_many_requests
        429 with plain text and without Retry-After (docs/facts.md#rate-limits).
    retry_after
        Of those, how many do carry a Retry-After, of one second.
    unavailable_html
        503 with an HTML body, as an ingress answers.
    dropped_connections
        No answer: `Dropped` in the process, a closed socket on a port.
    truncated_bodies
        Half the body under the Content-Length of all of it.
    html_instead_of_json
        200 with HTML.
    not_an_event
        One item of a page is ``{"update": 5}``.
    unknown_members
        Members that no specification names, on several levels.
    string_integers
        Envelope integers as strings.
    old_service
        Parts that are null are left out, as old services do (docs/facts.md#null-parts).
    latency_seconds
        Seconds that every request takes longer.
    not_ready
        503 from /readyz and from the listings (docs/facts.md#history-paging).
    overload_409
        409 from the ledger API, its way of saying that it has too much to do (docs/facts.md#overload-is-409).
    dropped_after_write
        A write has its effect, but no answer: the connection ends as for `dropped_connections`.
    wallet_429
        A new offer is answered with 429; it is being processed for a few requests more.
    wallet_429_succeeds
        Of those, how many are offers in the end.
    wallet_500_before, wallet_500_after
        A new offer is answered with 500, before it was made or after.
    late_status
        The status of a new offer is not found at first (docs/facts.md#offer-status-lag).
    token_mismatch
        A page token is refused in the middle of a chain.
    pruning_overtakes
        The ledger is pruned up to its end while somebody pages.
    digest_of_nothing
        A bulk object's digest is that of empty bytes, as after a known race (docs/facts.md#digest-of-empty-bytes).
    no_ranges
        A download knows no Range: 200 and the whole object, whatever part is asked for.
    dropped_download
        Half of what a download promises in its Content-Length; the next try may get the rest.
    truncated_object
        A bulk object ends in the middle of a frame; its digest is that of the whole one.
    corrupt_object
        Some bytes in the middle of a bulk object are wrong; its digest is that of the right ones.
    foreign_object
        A bulk object holds JSON lines that are no updates; its digest is right.
    bomb_object
        A small bulk object is one line of four gigabytes that never ends; its digest is right.
    seed
        Seed of the faults themselves.
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
        """Refuse what is not a probability."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("seed", "latency_seconds") and not 0 <= value <= 1:
                raise ValueError(f"{field.name}={value!r} is not a probability from 0 to 1")

    def strike(self, name: str, request_number: int) -> bool:
        """Tell whether a fault strikes the request with this number."""
        probability = float(getattr(self, name))
        return probability > 0 and number(self.seed, name, request_number) < probability * 2**64

    def strike_object(self, name: str, key: str) -> bool:
        """Tell whether a fault strikes the bulk object with this key, today and always."""
        return self.strike(name, number(key))


class FaultyApp:
    """A WSGI app that is another one with faults.

    Parameters
    ----------
    app
        The well-behaved app.
    faults
        What shall go wrong.
    """

    def __init__(self, app: WSGIApp, faults: Faults) -> None:
        self._app = app
        self._faults = faults
        self._requests = count()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request, or fail to."""
        request_number = next(self._requests)
        if self._faults.latency_seconds:
            time.sleep(self._faults.latency_seconds)
        refused = self._refusal(environ["PATH_INFO"], request_number)
        if refused:
            status, content_type, body, headers = refused
            return _answer(start_response, status, [("Content-Type", content_type), *headers], body)
        if _is_probe(environ["PATH_INFO"]):
            return self._app(environ, start_response)
        return self._spoiled(environ, start_response, request_number)

    def _refusal(self, path: str, request_number: int) -> tuple[str, str, bytes, list[tuple[str, str]]] | None:
        """Return (status, content type, body, further headers) of an answer that the app never sees."""
        faults, unavailable = self._faults, "503 Service Unavailable"
        if path.endswith("/readyz") and faults.strike("not_ready", request_number):
            return unavailable, TEXT, b"", []
        if _is_probe(path):
            return None
        if faults.strike("dropped_connections", request_number):
            raise Dropped("connection dropped by the sandbox's faults")
        if faults.strike("too_many_requests", request_number):
            patient = faults.strike("retry_after", request_number)
            headers = [("Retry-After", RETRY_AFTER_SECONDS)] if patient else []
            return "429 Too Many Requests", TEXT, BUSY, headers
        if faults.strike("unavailable_html", request_number):
            return unavailable, HTML, GATEWAY, []
        if LEDGER not in path and path.endswith(LISTINGS) and faults.strike("not_ready", request_number):
            return unavailable, JSON, NOT_READY, []
        if faults.strike("html_instead_of_json", request_number):
            return "200 OK", HTML, MAINTENANCE, []
        if LEDGER in path and faults.strike("overload_409", request_number):
            error = CantonError("PARTICIPANT_BACKPRESSURE", "The participant is overloaded; try again later")
            return "409 Conflict", JSON, msgspec.json.encode(error.body()), []
        return None

    def _spoiled(self, environ: dict[str, Any], start_response: StartResponse, request_number: int) -> Iterable[bytes]:
        """Let the app answer, and change the body of a good answer."""
        status, headers, body = _collect(self._app, environ)
        if _writes(environ) and self._faults.strike("dropped_after_write", request_number):
            raise Dropped("connection dropped by the sandbox's faults, after the effect")
        if status.startswith("200") and ("Content-Type", JSON) in headers:
            for name, distortion in distortions.BODIES.items():
                if self._faults.strike(name, request_number):
                    body = distortion(body)
        length = len(body)
        if self._ends_early(environ["PATH_INFO"], status, request_number):
            body = body[: length // 2]
        kept = [header for header in headers if header[0].lower() != "content-length"]
        return _answer(start_response, status, kept, body, length)

    def _ends_early(self, path: str, status: str, request_number: int) -> bool:
        download = DOWNLOAD in path and status.startswith("20")
        dropped = download and self._faults.strike("dropped_download", request_number)
        return dropped or self._faults.strike("truncated_bodies", request_number)


def _is_probe(path: str) -> bool:
    # The ledger's version and the status of a package or an offer end alike, but are no probes.
    return path.endswith(PROBES) and "/v0/" not in path and "/v2/" not in path


def _writes(environ: dict[str, Any]) -> bool:
    """Tell whether a request may change something; asking for an offer's status does not."""
    path: str = environ["PATH_INFO"]
    _, _, rest = path.partition(LEDGER if LEDGER in path else WALLET)
    changes = environ["REQUEST_METHOD"] in ("POST", "PATCH") and rest.startswith(WRITES)
    return changes and not rest.endswith("/status")


def _collect(app: WSGIApp, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
    started: list[Any] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], Any]:
        started[:] = [status, headers]
        return lambda data: None

    chunks = app(environ, start)
    try:
        body = b"".join(chunks)
    finally:
        getattr(chunks, "close", lambda: None)()
    return started[0], started[1], body


def _answer(
    start_response: StartResponse,
    status: str,
    headers: list[tuple[str, str]],
    body: bytes,
    length: int | None = None,
) -> list[bytes]:
    start_response(status, [*headers, ("Content-Length", str(len(body) if length is None else length))])
    return [body]
