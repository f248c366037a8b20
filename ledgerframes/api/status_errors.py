"""Errors for bad HTTP statuses, each with the next step."""

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
    AuthenticationError: "Check token=, token_file= or token_env= of the profile.",
    PermissionDeniedError: "Ask the operator for the right that the call needs.",
    NotFoundError: "Check the id, and that the network has this operation.",
    ConflictError: "Check the current state before you retry.",
    BusyError: "Lower requests_per_second= or max_concurrency=, or try again later.",
    ServiceUnavailableError: "Try again later, or add a second host to the profile.",
    InternalServerError: "Try again later, or add a second host to the profile.",
}


def service_error(status: int, body: bytes, headers: Mapping[str, str], endpoint: str, host: str) -> ServiceError:
    """Return the error for a bad status."""
    kind = BY_STATUS.get(status, InternalServerError if status >= 500 else BadRequestError)
    detail = _detail(body)
    message = f"{host} returned {status} for {endpoint}{f': {detail}' if detail else ''}. {NEXT_STEP[kind]}"
    error = kind(message, endpoint=endpoint, host=host, status=status, detail=detail)
    error.retry_after = retry_after(headers)
    return error


def _detail(body: bytes) -> str:
    """Return the service's reason in one short line."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = body.decode("utf-8", "replace").strip()
        if content[:1] == "<":
            return "a web page instead of JSON"
    if isinstance(content, dict):
        content = content.get("error") or content.get("cause") or content
    return " ".join(str(content).split())[:200].rstrip(".")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of the Retry-After header, or None for a date or no header."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None
