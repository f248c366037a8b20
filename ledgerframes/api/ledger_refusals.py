"""Bad statuses of the ledger API turned into errors: by its code first, then its category, then the status.

See docs/facts.md#ledger-errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ledgerframes.api.refusals import retry_after, service_error
from ledgerframes.api.tokens import TokenSource, hide_tokens, token_expiry
from ledgerframes.api.transport import Refusal
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

__all__ = ["ledger_refusal"]

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
    "TRANSACTION_NOT_FOUND": UpdateNotFoundError,  # its name up to 3.4
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
    409: AlreadyExistsError,
    413: TooManyElementsError,
    429: OverloadedError,
    499: LedgerUnavailableError,
    502: LedgerUnavailableError,
    503: LedgerUnavailableError,
    504: LedgerUnavailableError,
}

# Deadline exceeded leaves the outcome open; only reads are asked again at all, and for them that does not matter.
MAY_PASS = {1, 2, 3, 12}
NEVER_PASS = (TooManyElementsError, LedgerAuthenticationError)
ABORTED = 10

NEXT_STEP: dict[type[LedgerError], str] = {
    PrunedOffsetError: "Ask for a later range; latest_pruned_offsets says from where the ledger can be read.",
    OffsetAfterEndError: "Ask up to ledger_end at most, or give no end and follow.",
    InvalidOffsetError: "Offsets count from 1; after=0 is the beginning of the ledger.",
    InvalidPageTokenError: (
        "Begin again without a token: all requests of a chain are the same but for it, maxPageSize included, and go to the "
        "same participant."
    ),
    InvalidRequestError: "Check the arguments of the call.",
    InvalidLedgerStateError: "Look at the state of the ledger first.",
    TooManyElementsError: (
        "A list endpoint answers with 200 elements at most unless the operator raised that. Use the page endpoint "
        "(get_updates_page, active_contracts_page), a narrower filter, or limit."
    ),
    UpdateNotFoundError: "Check the id or offset, and that the token's user may read as a party that sees the update.",
    ContractNotFoundError: "Check the id, and the parties of the filter; an archived contract may have been pruned.",
    UnknownTemplateError: "Check the template and interface names, package-name:Module:Entity, and that the package is uploaded.",
    LedgerNotFoundError: "Check the id, and that the token's user may see it.",
    AlreadyExistsError: "It is there already; look at it first.",
    OverloadedError: "Lower requests_per_second or parallel, or try later.",
    LedgerAuthenticationError: "Check the profile's token, token_file or token_env.",
    LedgerPermissionDeniedError: (
        "Ask the operator for the right: CanReadAs for each party of the filter, CanReadAsAnyParty for any party and for the "
        "topology of all parties; token, token_file and token_env say whose rights count."
    ),
    LedgerUnavailableError: "Try later.",
    LedgerInternalError: "Ask the operator, or try later.",
}

UNITS = {"m": 0.001, "s": 1.0, "min": 60.0}


def ledger_refusal(token: TokenSource) -> Refusal:
    """What a transport of the ledger API calls on a bad status.

    Parameters
    ----------
    token : callable
        The token of the moment: looked at to say that it has expired, and never shown.

    Returns
    -------
    callable
        (status, body, headers, endpoint, host) → ServiceError: a LedgerError where the participant itself answers.
    """

    def refusal(status: int, body: bytes, headers: Mapping[str, str], endpoint: str, host: str) -> ServiceError:
        text = hide_tokens(body.decode("utf-8", "replace"))
        note = _token_note(token) if status == 401 else ""
        if (fault := _fault(text)) is not None:
            return _ledger_error(fault, status, headers, endpoint, host, note)
        if status == 400 and not _is_json_or_html(text):
            return _text_error(text, endpoint, host)
        error = service_error(status, text.encode(), headers, endpoint, host)
        return _with_note(error, note) if note else error

    return refusal


def _fault(text: str) -> dict[str, Any] | None:
    """The body as a JsCantonError, if it is one."""
    try:
        content = json.loads(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) and isinstance(content.get("code"), str) else None


def _is_json_or_html(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return text.lstrip()[:1] == "<"
    return True


def _kind(code: str, category: int, grpc: object, status: int) -> type[LedgerError]:
    if code in BY_CODE:
        return BY_CODE[code]
    if category in BY_CATEGORY:
        return BY_CATEGORY[category]
    if status == 409 and grpc == ABORTED:
        return OverloadedError
    return BY_STATUS.get(status, LedgerInternalError if status >= 500 else InvalidRequestError)


def _ledger_error(
    fault: dict[str, Any], status: int, headers: Mapping[str, str], endpoint: str, host: str, note: str
) -> LedgerError:
    code, cause = fault["code"], _in_one_line(fault.get("cause"))
    category = fault["errorCategory"] if isinstance(fault.get("errorCategory"), int) else -1
    context = {str(name): str(value) for name, value in _mapping(fault.get("context")).items()}
    kind = _kind(code, category, fault.get("grpcCodeValue"), status)
    hidden = code == "NA"
    said = "it tells no more on purpose (code NA)" if hidden else f"{code}: {cause}"
    parts = [f"{host} answered {endpoint} with {status}: {said}.", *_hints(kind, context, note), _next_step(kind, context)]
    error = kind(" ".join(parts), endpoint=endpoint, host=host, status=status, detail=cause)
    error.code, error.category, error.context = code, category, context
    error.cause = str(fault.get("cause") or "")
    if isinstance(error, PrunedOffsetError) and (earliest := context.get("earliest_offset", "")).isdecimal():
        error.earliest_offset = int(earliest)
    error.resources = _pairs(fault.get("resources"))
    error.correlation_id, error.trace_id = _text(fault.get("correlationId")), _text(fault.get("traceId"))
    error.retry_info = _text(fault.get("retryInfo"))
    error.definite_answer = _definite(fault.get("definiteAnswer"), context)
    error.retry_after = retry_after(headers)
    if error.retry_after is None:
        error.retry_after = _seconds(error.retry_info)
    if category != -1:
        error.retryable = category in MAY_PASS and not issubclass(kind, NEVER_PASS)
    if (hidden or status >= 500) and error.trace_id:
        error.args = (f"{error.args[0]} The operator finds it in the participant's log by trace id {error.trace_id}.",)
    return error


def _hints(kind: type[LedgerError], context: Mapping[str, str], note: str) -> list[str]:
    said = context.get("ledger_api_error", "")
    hint = f"It says: {said.rstrip('.')}." if said and issubclass(kind, LedgerAuthenticationError) else ""
    return [part for part in (hint, note) if part]


def _next_step(kind: type[LedgerError], context: Mapping[str, str]) -> str:
    earliest = context.get("earliest_offset", "")
    if issubclass(kind, PrunedOffsetError) and earliest.isdecimal():
        return f"The ledger can be read after offset {earliest}: ask with after={earliest} or later."
    return NEXT_STEP[kind]


def _text_error(text: str, endpoint: str, host: str) -> InvalidRequestError:
    """A 400 as plain text: the participant could not read the body (docs/facts.md#ledger-errors).

    The text is kept whole as the cause.
    """
    said = _in_one_line(text)
    shown = f": {said[:500]}" if said else ""
    message = f"{host} answered {endpoint} with 400{shown}. Check the arguments of the call, and the members of the body."
    error = InvalidRequestError(message, endpoint=endpoint, host=host, status=400, detail=said)
    error.cause = text.strip()
    return error


def _with_note(error: ServiceError, note: str) -> ServiceError:
    error.args = (f"{error.args[0]} {note}",)
    return error


def _token_note(token: TokenSource) -> str:
    """What is plainly wrong with the token, as far as it can be seen from here."""
    try:
        value = token()
    except UsageError:
        return ""
    if value is None:
        return "No token was sent."
    expiry = token_expiry(value)
    if expiry is not None and expiry <= datetime.now(UTC):
        return f"The token expired at {expiry:%Y-%m-%d %H:%M:%S} UTC; get a new one."
    return ""


def _definite(value: object, context: Mapping[str, str]) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(context.get("definite_answer", ""))


def _seconds(text: str | None) -> float | None:
    """Seconds in words such as ``1 second`` or ``500 milliseconds``."""
    found = re.match(r"\s*(\d+(?:\.\d+)?)\s*(min|m|s)", text or "")
    return float(found[1]) * UNITS[found[2]] if found else None


def _in_one_line(value: object) -> str:
    return " ".join(str(value or "").split()).rstrip(".")


def _text(value: object) -> str | None:
    return str(value) if value else None


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    rows = value if isinstance(value, list) else []
    return tuple((str(row[0]), str(row[1])) for row in rows if isinstance(row, list) and len(row) == 2)
