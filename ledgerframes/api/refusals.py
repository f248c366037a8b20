"""Bad statuses turned into errors that say what to do next."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ledgerframes.errors import (
    BadRequest,
    Busy,
    Conflict,
    Internal,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    ServiceError,
    Unavailable,
)

BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequest,
    401: NotAuthenticated,
    403: NotPermitted,
    404: NotFound,
    409: Conflict,
    413: BadRequest,
    429: Busy,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}

NEXT_STEP: dict[type[ServiceError], str] = {
    BadRequest: "Check the arguments of the call.",
    NotAuthenticated: "Check the profile's token, token_file or token_env.",
    NotPermitted: "Ask the operator for the right that the call needs.",
    NotFound: "Check the id, and that the network has this operation.",
    Conflict: "Look at the state of the thing first.",
    Busy: "Lower requests_per_second or parallel, or try later.",
    Unavailable: "Try later, or name a second host in the profile.",
    Internal: "Try later, or name a second host in the profile.",
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
    return BY_STATUS.get(status, Internal if status >= 500 else BadRequest)


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
