"""Errors of the ledger API, chosen by code, then by category, then by status.

See docs/facts.md#ledger-errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import NOT_IMPLEMENTED, PERMANENT, ErrorFactory, error_factory, retry_after
from ledgerframes.api.tokens import TokenSource, token_problem
from ledgerframes.errors import (
    AuthenticationError,
    BadRequestError,
    BusyError,
    ConflictError,
    InternalServerError,
    NotFoundError,
    OffsetAfterEndError,
    PermissionDeniedError,
    PrunedOffsetError,
    ServiceError,
    ServiceUnavailableError,
)

__all__ = ["has_too_many_elements", "is_invalid_page_token", "is_invalid_request", "ledger_error_factory"]


@dataclass(frozen=True)
class Kind:
    """A kind of error, with its class and its next step."""

    error: type[ServiceError]
    next_step: str


PRUNED_OFFSET = Kind(PrunedOffsetError, "Request a range after the offset that latest_pruned_offsets() returns.")
OFFSET_AFTER_END = Kind(OffsetAfterEndError, "Request offsets up to ledger_end(), or follow without an end.")
INVALID_OFFSET = Kind(BadRequestError, "Use offsets from 1, or after=0 for the start of the ledger.")
INVALID_PAGE_TOKEN = Kind(
    BadRequestError, "Start again without a token, and keep everything else the same on all pages, maxPageSize included."
)
INVALID_REQUEST = Kind(BadRequestError, "Check the arguments of the call.")
INVALID_STATE = Kind(BadRequestError, "Check the state of the ledger before you retry.")
TOO_MANY_ELEMENTS = Kind(
    BadRequestError,
    "List operations return 200 elements unless the operator raised the limit: use get_updates_page or "
    "active_contracts_page, a narrower filter, or limit=.",
)
UPDATE_NOT_FOUND = Kind(
    NotFoundError, "Check the id or offset, and that the token's user may read as a party that sees the update."
)
CONTRACT_NOT_FOUND = Kind(
    NotFoundError, "Check the id and the parties of the filter, and whether the contract was archived and pruned."
)
UNKNOWN_TEMPLATE = Kind(NotFoundError, "Check that the names are package-name:Module:Entity, and that the package is uploaded.")
NOT_FOUND = Kind(NotFoundError, "Check the id, and that the token's user may see it.")
CONFLICT = Kind(ConflictError, "Check what exists before you retry.")
OVERLOADED = Kind(BusyError, "Lower requests_per_second= or max_concurrency=, or try again later.")
NOT_AUTHENTICATED = Kind(AuthenticationError, "Check token=, token_file= or token_env= of the profile.")
PERMISSION_DENIED = Kind(
    PermissionDeniedError,
    "Ask the operator for CanReadAs on each party of the filter, or CanReadAsAnyParty for all parties and their "
    "topology, for the user of token=, token_file= or token_env=.",
)
UNAVAILABLE = Kind(ServiceUnavailableError, "Try again later.")
INTERNAL = Kind(InternalServerError, "Ask the operator, or try again later.")

BY_CODE = {
    "PARTICIPANT_PRUNED_DATA_ACCESSED": PRUNED_OFFSET,
    "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END": OFFSET_AFTER_END,
    "OFFSET_AFTER_LEDGER_END": OFFSET_AFTER_END,
    "INVALID_UPDATES_PAGE_TOKEN": INVALID_PAGE_TOKEN,
    "INVALID_ACS_PAGE_TOKEN": INVALID_PAGE_TOKEN,
    "INVALID_CONTINUATION_TOKEN": INVALID_PAGE_TOKEN,
    "NEGATIVE_OFFSET": INVALID_OFFSET,
    "NON_POSITIVE_OFFSET": INVALID_OFFSET,
    "UPDATE_NOT_FOUND": UPDATE_NOT_FOUND,
    "TRANSACTION_NOT_FOUND": UPDATE_NOT_FOUND,  # the code up to 3.4
    "CONTRACT_EVENTS_NOT_FOUND": CONTRACT_NOT_FOUND,
    "CONTRACT_PAYLOAD_NOT_FOUND": CONTRACT_NOT_FOUND,
    "TEMPLATES_OR_INTERFACES_NOT_FOUND": UNKNOWN_TEMPLATE,
    "PACKAGE_NAMES_NOT_FOUND": UNKNOWN_TEMPLATE,
    "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED": TOO_MANY_ELEMENTS,
    "ACCESS_TOKEN_EXPIRED": NOT_AUTHENTICATED,
    "STALE_STREAM_AUTHORIZATION": NOT_AUTHENTICATED,
}

BY_CATEGORY = {
    1: UNAVAILABLE,
    2: OVERLOADED,
    3: UNAVAILABLE,
    4: INTERNAL,
    5: INVALID_REQUEST,
    6: NOT_AUTHENTICATED,
    7: PERMISSION_DENIED,
    8: INVALID_REQUEST,
    9: INVALID_STATE,
    10: CONFLICT,
    11: NOT_FOUND,
    12: OFFSET_AFTER_END,
    14: INTERNAL,
}

BY_STATUS = {
    400: INVALID_REQUEST,
    401: NOT_AUTHENTICATED,
    403: PERMISSION_DENIED,
    404: NOT_FOUND,
    408: UNAVAILABLE,
    409: CONFLICT,
    413: TOO_MANY_ELEMENTS,
    429: OVERLOADED,
    499: UNAVAILABLE,
    502: UNAVAILABLE,
    503: UNAVAILABLE,
    504: UNAVAILABLE,
}

# Deadline exceeded (3) leaves the outcome open. Only operations that read are retried, for which that does not matter.
RETRYABLE = {1, 2, 3, 12}
NEVER_RETRYABLE = (TOO_MANY_ELEMENTS, NOT_AUTHENTICATED)
ABORTED = 10

UNITS = {"m": 0.001, "s": 1.0, "min": 60.0}


def ledger_error_factory(token: TokenSource) -> ErrorFactory:
    """Return the error factory of a transport, which checks the expiry of the token on a 401.

    Errors of the participant itself have its code, or the text of a 400. A proxy's have neither.
    """
    of_any_service = error_factory({}, token)

    def make(response: Response) -> ServiceError:
        try:
            content = json.loads(response.text)
        except (ValueError, RecursionError):
            content = response.text
        if isinstance(content, dict) and isinstance(content.get("code"), str):
            return _ledger_error(content, response, token_problem(token) if response.status == 401 else "")
        if response.status == 400 and isinstance(content, str) and not content.lstrip().startswith("<"):  # no page of a proxy
            return _text_error(response)
        error = of_any_service(response)
        error.is_from_api = False
        return error

    return make


def is_invalid_page_token(error: Exception) -> bool:
    """Return whether the page token is of another request, page size, participant or version."""
    return _kind_of(error) is INVALID_PAGE_TOKEN


def has_too_many_elements(error: Exception) -> bool:
    """Return whether a list has more elements than the participant returns at once."""
    return _kind_of(error) is TOO_MANY_ELEMENTS


def is_invalid_request(error: Exception) -> bool:
    """Return whether the participant refuses the request in any state of the ledger."""
    return _kind_of(error) in (INVALID_REQUEST, INVALID_OFFSET, INVALID_PAGE_TOKEN)


def _kind_of(error: Exception) -> Kind | None:
    """Return the kind of an error that the participant itself returned, else None."""
    if isinstance(error, ServiceError) and (error.code or error.cause):
        return _kind(error.code, error.category, error.grpc_code_value, error.status)
    return None


def _kind(code: str, category: int, grpc: int | None, status: int) -> Kind:
    if code in BY_CODE:
        return BY_CODE[code]
    if category in BY_CATEGORY:
        return BY_CATEGORY[category]
    if status == 409 and grpc == ABORTED:
        return OVERLOADED
    return BY_STATUS.get(status, INTERNAL if status >= 500 else INVALID_REQUEST)


def _ledger_error(content: dict[str, Any], response: Response, token_step: str) -> ServiceError:
    host, status, endpoint = response.host, response.status, response.endpoint
    code, cause = content["code"], _one_line(content.get("cause"))
    category = content["errorCategory"] if isinstance(content.get("errorCategory"), int) else -1
    details = content.get("context")
    context = {str(name): str(value) for name, value in details.items()} if isinstance(details, dict) else {}
    grpc = content["grpcCodeValue"] if isinstance(content.get("grpcCodeValue"), int) else None
    kind = _kind(code, category, grpc, status)
    reasons = ["details withheld (code NA)" if code == "NA" else f"{code}: {cause}"]
    if kind is NOT_AUTHENTICATED and (reason := context.get("ledger_api_error", "")):
        reasons.append(reason.rstrip("."))
    trace_id = _text(content.get("traceId"))
    if (code == "NA" or status >= 500) and trace_id:
        reasons.append(f"trace id {trace_id} in the participant's log")
    step = token_step or (NOT_IMPLEMENTED if status == 501 else _next_step(kind, context))
    message = f"{host} returned {status} for {endpoint}: {', '.join(reasons)}. {step}"
    error = kind.error(message, endpoint=endpoint, host=host, status=status, detail=cause)
    error.is_from_api = True
    error.code, error.category, error.grpc_code_value, error.context = code, category, grpc, context
    error.cause = " ".join(str(content.get("cause") or "").split())
    if isinstance(error, PrunedOffsetError) and (earliest := context.get("earliest_offset", "")).isdecimal():
        error.earliest_offset = int(earliest)
    error.resources = _pairs(content.get("resources"))
    error.correlation_id, error.trace_id = _text(content.get("correlationId")), trace_id
    error.retry_info = _text(content.get("retryInfo"))
    error.definite_answer = _definite(content.get("definiteAnswer"), context)
    error.retry_after = retry_after(response.headers)
    if error.retry_after is None:
        error.retry_after = _seconds(error.retry_info)
    if category != -1:
        error.retryable = category in RETRYABLE and kind not in NEVER_RETRYABLE
    elif status in PERMANENT:
        error.retryable = False
    return error


def _next_step(kind: Kind, context: Mapping[str, str]) -> str:
    earliest = context.get("earliest_offset", "")
    if kind is PRUNED_OFFSET and earliest.isdecimal():
        return f"Pass after={earliest} or later."
    return kind.next_step


def _text_error(response: Response) -> BadRequestError:
    """Return the error for a 400 as plain text, of a body that the participant cannot read.

    The complete text is the error's cause (docs/facts.md#ledger-errors).
    """
    host, endpoint, detail = response.host, response.endpoint, _one_line(response.text)
    reason = f": {detail[:500]}" if detail else ""
    message = f"{host} returned 400 for {endpoint}{reason}. Check the arguments of the call and the members of the body."
    error = BadRequestError(message, endpoint=endpoint, host=host, status=400, detail=detail)
    error.is_from_api, error.cause = True, " ".join(response.text.split())
    return error


def _definite(value: object, context: Mapping[str, str]) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(context.get("definite_answer", ""))


def _seconds(text: str | None) -> float | None:
    """Return the seconds of a text such as ``1 second`` or ``500 milliseconds``."""
    match = re.match(r"\s*(\d+(?:\.\d+)?)\s*(min|m|s)", text or "")
    return float(match[1]) * UNITS[match[2]] if match else None


def _one_line(value: object) -> str:
    return " ".join(str(value or "").split()).rstrip(".")


def _text(value: object) -> str | None:
    return str(value) if value else None


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    rows = value if isinstance(value, list) else []
    return tuple((str(row[0]), str(row[1])) for row in rows if isinstance(row, list) and len(row) == 2)
