"""Errors of the ledger API, chosen by code, then by category, then by status.

See docs/facts.md#ledger-errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import NOT_IMPLEMENTED, PERMANENT, retry_after, service_error
from ledgerframes.api.tokens import TokenSource, token_expiry
from ledgerframes.api.transport import ErrorFactory
from ledgerframes.errors import (
    AlreadyExistsError,
    ContractNotFoundError,
    InvalidLedgerStateError,
    InvalidOffsetError,
    InvalidPageTokenError,
    InvalidRequestError,
    LedgerAuthenticationError,
    LedgerError,
    LedgerInternalError,
    LedgerNotFoundError,
    LedgerPermissionDeniedError,
    LedgerUnavailableError,
    OffsetAfterEndError,
    OverloadedError,
    PrunedOffsetError,
    ServiceError,
    TooManyElementsError,
    UnknownTemplateError,
    UpdateNotFoundError,
    UsageError,
)

__all__ = ["ledger_error_factory"]

BY_CODE: dict[str, type[LedgerError]] = {
    "PARTICIPANT_PRUNED_DATA_ACCESSED": PrunedOffsetError,
    "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END": OffsetAfterEndError,
    "OFFSET_AFTER_LEDGER_END": OffsetAfterEndError,
    "INVALID_UPDATES_PAGE_TOKEN": InvalidPageTokenError,
    "INVALID_ACS_PAGE_TOKEN": InvalidPageTokenError,
    "INVALID_CONTINUATION_TOKEN": InvalidPageTokenError,
    "NEGATIVE_OFFSET": InvalidOffsetError,
    "NON_POSITIVE_OFFSET": InvalidOffsetError,
    "UPDATE_NOT_FOUND": UpdateNotFoundError,
    "TRANSACTION_NOT_FOUND": UpdateNotFoundError,  # the code up to 3.4
    "CONTRACT_EVENTS_NOT_FOUND": ContractNotFoundError,
    "CONTRACT_PAYLOAD_NOT_FOUND": ContractNotFoundError,
    "TEMPLATES_OR_INTERFACES_NOT_FOUND": UnknownTemplateError,
    "PACKAGE_NAMES_NOT_FOUND": UnknownTemplateError,
    "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED": TooManyElementsError,
    "ACCESS_TOKEN_EXPIRED": LedgerAuthenticationError,
    "STALE_STREAM_AUTHORIZATION": LedgerAuthenticationError,
}

BY_CATEGORY: dict[int, type[LedgerError]] = {
    1: LedgerUnavailableError,
    2: OverloadedError,
    3: LedgerUnavailableError,
    4: LedgerInternalError,
    5: InvalidRequestError,
    6: LedgerAuthenticationError,
    7: LedgerPermissionDeniedError,
    8: InvalidRequestError,
    9: InvalidLedgerStateError,
    10: AlreadyExistsError,
    11: LedgerNotFoundError,
    12: OffsetAfterEndError,
    14: LedgerInternalError,
}

BY_STATUS: dict[int, type[LedgerError]] = {
    400: InvalidRequestError,
    401: LedgerAuthenticationError,
    403: LedgerPermissionDeniedError,
    404: LedgerNotFoundError,
    408: LedgerUnavailableError,
    409: AlreadyExistsError,
    413: TooManyElementsError,
    429: OverloadedError,
    499: LedgerUnavailableError,
    502: LedgerUnavailableError,
    503: LedgerUnavailableError,
    504: LedgerUnavailableError,
}

# Deadline exceeded (3) leaves the outcome open. Only operations that read are retried, for which that does not matter.
RETRYABLE = {1, 2, 3, 12}
NEVER_RETRYABLE = (TooManyElementsError, LedgerAuthenticationError)
ABORTED = 10

NEXT_STEP: dict[type[LedgerError], str] = {
    PrunedOffsetError: "Request a range after the offset that latest_pruned_offsets() returns.",
    OffsetAfterEndError: "Request offsets up to ledger_end(), or follow without an end.",
    InvalidOffsetError: "Use offsets from 1, or after=0 for the start of the ledger.",
    InvalidPageTokenError: "Start again without a token, and keep everything else the same on all pages, maxPageSize included.",
    InvalidRequestError: "Check the arguments of the call.",
    InvalidLedgerStateError: "Check the state of the ledger before you retry.",
    TooManyElementsError: (
        "List operations return 200 elements unless the operator raised the limit: use get_updates_page or "
        "active_contracts_page, a narrower filter, or limit=."
    ),
    UpdateNotFoundError: "Check the id or offset, and that the token's user may read as a party that sees the update.",
    ContractNotFoundError: "Check the id and the parties of the filter, and whether the contract was archived and pruned.",
    UnknownTemplateError: "Check that the names are package-name:Module:Entity, and that the package is uploaded.",
    LedgerNotFoundError: "Check the id, and that the token's user may see it.",
    AlreadyExistsError: "Check what exists before you retry.",
    OverloadedError: "Lower requests_per_second= or max_concurrency=, or try again later.",
    LedgerAuthenticationError: "Check token=, token_file= or token_env= of the profile.",
    LedgerPermissionDeniedError: (
        "Ask the operator for CanReadAs on each party of the filter, or CanReadAsAnyParty for all parties and their "
        "topology, for the user of token=, token_file= or token_env=."
    ),
    LedgerUnavailableError: "Try again later.",
    LedgerInternalError: "Ask the operator, or try again later.",
}

UNITS = {"m": 0.001, "s": 1.0, "min": 60.0}


def ledger_error_factory(token: TokenSource) -> ErrorFactory:
    """Return the error factory of a transport, which checks the expiry of the token on a 401.

    The factory makes a LedgerError if the participant itself responded.
    """

    def make(response: Response) -> ServiceError:
        token_problem = _token_problem(token) if response.status == 401 else ""
        try:
            content = json.loads(response.text)
        except (ValueError, RecursionError):
            content = response.text
        if isinstance(content, dict) and isinstance(content.get("code"), str):
            return _ledger_error(content, response, token_problem)
        if response.status == 400 and isinstance(content, str) and not content.lstrip().startswith("<"):  # no page of a proxy
            return _text_error(response)
        error = service_error(response)
        if token_problem:
            error.args = (f"{response.host} returned {response.status} for {response.endpoint}. {token_problem}",)
        return error

    return make


def _error_class(code: str, category: int, grpc: int | None, status: int) -> type[LedgerError]:
    if code in BY_CODE:
        return BY_CODE[code]
    if category in BY_CATEGORY:
        return BY_CATEGORY[category]
    if status == 409 and grpc == ABORTED:
        return OverloadedError
    return BY_STATUS.get(status, LedgerInternalError if status >= 500 else InvalidRequestError)


def _ledger_error(content: dict[str, Any], response: Response, token_problem: str) -> LedgerError:
    host, status, endpoint = response.host, response.status, response.endpoint
    code, cause = content["code"], _one_line(content.get("cause"))
    category = content["errorCategory"] if isinstance(content.get("errorCategory"), int) else -1
    details = content.get("context")
    context = {str(name): str(value) for name, value in details.items()} if isinstance(details, dict) else {}
    grpc = content["grpcCodeValue"] if isinstance(content.get("grpcCodeValue"), int) else None
    kind = _error_class(code, category, grpc, status)
    reasons = ["details withheld (code NA)" if code == "NA" else f"{code}: {cause}"]
    if issubclass(kind, LedgerAuthenticationError) and (reason := context.get("ledger_api_error", "")):
        reasons.append(reason.rstrip("."))
    trace_id = _text(content.get("traceId"))
    if (code == "NA" or status >= 500) and trace_id:
        reasons.append(f"trace id {trace_id} in the participant's log")
    step = token_problem or (NOT_IMPLEMENTED if status == 501 else _next_step(kind, context))
    message = f"{host} returned {status} for {endpoint}: {', '.join(reasons)}. {step}"
    error = kind(message, endpoint=endpoint, host=host, status=status, detail=cause)
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
        error.retryable = category in RETRYABLE and not issubclass(kind, NEVER_RETRYABLE)
    elif status in PERMANENT:
        error.retryable = False
    return error


def _next_step(kind: type[LedgerError], context: Mapping[str, str]) -> str:
    earliest = context.get("earliest_offset", "")
    if issubclass(kind, PrunedOffsetError) and earliest.isdecimal():
        return f"Pass after={earliest} or later."
    return NEXT_STEP[kind]


def _text_error(response: Response) -> InvalidRequestError:
    """Return the error for a 400 as plain text, of a body that the participant cannot read.

    The complete text is the error's cause (docs/facts.md#ledger-errors).
    """
    host, endpoint, detail = response.host, response.endpoint, _one_line(response.text)
    reason = f": {detail[:500]}" if detail else ""
    message = f"{host} returned 400 for {endpoint}{reason}. Check the arguments of the call and the members of the body."
    error = InvalidRequestError(message, endpoint=endpoint, host=host, status=400, detail=detail)
    error.cause = " ".join(response.text.split())
    return error


def _token_problem(token: TokenSource) -> str:
    """Return what is wrong with the token, as far as this client can tell."""
    try:
        value = token()
    except UsageError:
        return ""
    if value is None:
        return "No token was sent: set token=, token_file= or token_env= in the profile."
    expiry = token_expiry(value)
    if expiry is not None and expiry <= datetime.now(UTC):
        return f"The token expired at {expiry:%Y-%m-%d %H:%M:%S} UTC: get a new one."
    return ""


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
