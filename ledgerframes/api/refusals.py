"""Bad statuses turned into errors that say what to do next."""

from __future__ import annotations

import json
from collections.abc import Mapping

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
)

BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: BadRequestError,
    429: BusyError,
    502: ServiceUnavailableError,
    503: ServiceUnavailableError,
    504: ServiceUnavailableError,
}

NEXT_STEP: dict[type[ServiceError], str] = {
    BadRequestError: "Check the arguments of the call.",
    AuthenticationError: "Check the profile's token, token_file or token_env.",
    PermissionDeniedError: "Ask the operator for the right that the call needs.",
    NotFoundError: "Check the id, and that the network has this operation.",
    ConflictError: "Look at the state of the thing first.",
    BusyError: "Lower requests_per_second or parallel, or try later.",
    ServiceUnavailableError: "Try later, or name a second host in the profile.",
    InternalServerError: "Try later, or name a second host in the profile.",
}


def service_error(status: int, body: bytes, headers: Mapping[str, str], endpoint: str, host: str) -> ServiceError:
    """The error for a bad status, by what the caller can do about it."""
    kind = kind_of(status)
    detail = detail_of(body)
    message = f"{host} answered {endpoint} with {status}{f': {detail}' if detail else ''}. {NEXT_STEP[kind]}"
    error = kind(message, endpoint=endpoint, host=host, status=status, detail=detail)
    error.retry_after = retry_after(headers)
    return error


def kind_of(status: int) -> type[ServiceError]:
    """The class of error for a status."""
    return BY_STATUS.get(status, InternalServerError if status >= 500 else BadRequestError)


def detail_of(body: bytes) -> str:
    """What the service says is wrong, in one short line; a page of HTML says nothing."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = body.decode("utf-8", "replace").strip()
        if content[:1] == "<":
            return "a web page instead of an answer"
    if isinstance(content, dict):
        content = content.get("error") or content.get("cause") or content
    return " ".join(str(content).split())[:200].rstrip(".")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds named by the Retry-After header; dates are left to our own back-off."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None
