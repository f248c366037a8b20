"""Errors for bad HTTP statuses, each with the next step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import urlsplit

from ledgerframes.api.response import Response
from ledgerframes.api.tokens import TokenSource, token_problem
from ledgerframes.errors import (
    AuthenticationError,
    BadRequestError,
    BusyError,
    ConflictError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
    UnsupportedOperationError,
)

T = TypeVar("T")

ErrorFactory = Callable[[Response], ServiceError]  # makes the error for a bad status
Steps = Mapping[type[ServiceError], str]  # what to do after an error of a class

WEB_PAGE = "a web page instead of JSON"  # from a proxy, not from the API
UNKNOWN_ROUTE = "The requested resource could not be found"  # as the servers of the APIs say it
UNIMPLEMENTED = ("UNIMPLEMENTED", "is not configured")  # in a 400 (docs/facts.md#unimplemented-is-400)
MAX_ADDRESS = 200  # characters of the target of a redirect
MAX_DIGITS = 10  # of seconds to wait; a larger number is not plausible

BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    408: ServiceUnavailableError,
    409: ConflictError,
    413: BadRequestError,
    429: BusyError,
    499: ServiceUnavailableError,
    502: ServiceUnavailableError,
    503: ServiceUnavailableError,
    504: ServiceUnavailableError,
}

# Not implemented, not this version of HTTP, or a login page of the local network: the next attempt would fail, too.
PERMANENT = frozenset({501, 505, 511})

NOT_IMPLEMENTED = "This host does not have the operation: try another host, or ask the operator."
NEXT_STEP: Steps = {
    BadRequestError: "Check the arguments of the call.",
    AuthenticationError: "Check token=, token_file= or token_env= of the profile.",
    PermissionDeniedError: "Ask the operator for the right that the call needs.",
    NotFoundError: "Check the id or the time of the call.",
    UnsupportedOperationError: "Check the URL and vocabulary= of the profile, and that the network has this operation.",
    ConflictError: "Check the current state before you retry.",
    BusyError: "Lower requests_per_second=, raise max_wait_minutes=, or try again later.",
    ServiceUnavailableError: "Try again later, or add a second host to the profile.",
    InternalServerError: "Try again later, or add a second host to the profile.",
}
ADMISSION = "The history API takes no token: ask the operator to admit this address, or add another host to history_url=."
HISTORY_STEPS: Steps = {AuthenticationError: ADMISSION, PermissionDeniedError: ADMISSION}
WALLET_STEPS: Steps = {
    NotFoundError: "Check whose token= it is: this user has no wallet here, or the wallet does not know the id.",
    UnsupportedOperationError: "Check wallet_url= of the profile, and that no proxy blocks the operation.",
}


def error_factory(steps: Steps, token: TokenSource | None = None) -> ErrorFactory:
    """Return the error factory of a transport, with the next steps of its API.

    On a 401, the next step is what is wrong with the token, as far as this client can tell.
    """

    def make(response: Response) -> ServiceError:
        problem = token_problem(token) if token and response.status == 401 else ""
        return service_error(response, {**steps, AuthenticationError: problem} if problem else steps)

    return make


def service_error(response: Response, steps: Steps = MappingProxyType({})) -> ServiceError:
    """Return the error for a bad status.

    The steps replace those of all services.
    """
    if response.status // 100 == 3:
        return _redirect_error(response)
    host, status, endpoint = response.host, response.status, response.endpoint
    kind = BY_STATUS.get(status, InternalServerError if status >= 500 else BadRequestError)
    detail = _detail(response.text)
    # A body that the API cannot read is refused as text (docs/facts.md#history-errors).
    is_from_api = response.is_api_error or (status == 400 and detail not in ("", WEB_PAGE))
    is_unknown_route = kind is NotFoundError and not is_from_api
    next_step = {**NEXT_STEP, **steps}[UnsupportedOperationError if is_unknown_route else kind]
    step = NOT_IMPLEMENTED if status == 501 else next_step
    message = f"{host} returned {status} for {endpoint}{f': {detail}' if detail else ''}. {step}"
    error = kind(message, endpoint=endpoint, host=host, status=status, detail=detail)
    error.retry_after = retry_after(response.headers)
    error.retryable = kind.retryable and status not in PERMANENT
    error.is_from_api = is_from_api
    return error


def _redirect_error(response: Response) -> ServiceError:
    """Return the error for a redirect.

    It is not followed, because the token is only for the host of the profile.
    """
    host, status, endpoint = response.host, response.status, response.endpoint
    target = urlsplit(response.headers.get("Location", ""))
    path = endpoint.partition(" ")[2]
    # The credentials and the query of an address may be secrets.
    address = target._replace(netloc=target.netloc.rpartition("@")[2], query="", fragment="").geturl()[:MAX_ADDRESS]
    detail = f"a redirect to {address}" if address else "a redirect"
    base = address.removesuffix(path)
    url = base if target.netloc and base != address else "one that does not redirect"
    message = f"{host} returned {status} for {endpoint}: {detail}. Set the URL of this API in the profile to {url}"
    return ServiceError(f"{message}.", endpoint=endpoint, host=host, status=status, detail=detail)


def is_unknown_id(error: Exception) -> bool:
    """Return whether the API itself says that it does not have the object.

    Any other 404 is that of an unknown route, of a proxy, or of a host that does not serve the API.
    """
    return isinstance(error, NotFoundError) and error.is_from_api


def fetch_if_known(call: Callable[[], T]) -> T | None:
    """Return what a function fetches, or None if the API itself says that it does not have it."""
    try:
        return call()
    except NotFoundError as error:
        if is_unknown_id(error):
            return None
        raise


def may_be_elsewhere(error: Exception) -> bool:
    """Return whether a host works, and another one may permit or have what it does not.

    See docs/facts.md#authentication.
    """
    return isinstance(error, AuthenticationError | PermissionDeniedError) or is_absent_operation(error)


def is_absent_operation(error: Exception) -> bool:
    """Return whether a host says that it does not have the operation."""
    if not isinstance(error, ServiceError):
        return False
    if error.status == 400:
        return any(text in error.detail for text in UNIMPLEMENTED)
    return error.status in (405, 501) or (error.status == 404 and UNKNOWN_ROUTE in error.detail)


def _detail(text: str) -> str:
    """Return the service's reason in one short line."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = text.strip()
        if content[:1] == "<":
            return WEB_PAGE
    if isinstance(content, dict):
        content = content.get("error") or content.get("cause") or content
    return " ".join(str(content).split())[:200].rstrip(".")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in a Retry-After header (seconds or a date), or None without one."""
    text = headers.get("Retry-After", "").strip()
    if text.isdecimal() and len(text) < MAX_DIGITS:
        return float(text)
    until, now = _http_date(text), _http_date(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds()) if until else None


def _http_date(text: str) -> datetime | None:
    try:
        time = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
