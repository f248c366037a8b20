"""Responses and errors of all APIs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from flask import Response

from .randomness import digest
from .times import micros

Json = dict[str, Any]
PLAIN_TEXT = "text/plain; charset=UTF-8"
OWN_WRITES = "sandbox.own_writes"  # key in the environment of a request, of the writes that it makes
TYPE_ERRORS = {
    "object": "Got a value that is not an object",
    "int": "Int",
    "str": "String",
    "array": "Got a value that is not an array",
}
VALIDATION = re.compile(
    r"(?:Expected `(?P<type>\w+).*`, got .*?|Object missing required field `(?P<field>\w+)`)(?: - at `\$(?P<path>.*)`)?"
)
ERRORS = {  # of the ledger API, by code: category, gRPC status, HTTP status
    code: (category, grpc, status)
    for category, grpc, status, codes in (
        (2, 10, 409, "PARTICIPANT_BACKPRESSURE"),
        (2, 10, 413, "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"),
        (8, 3, 400, "INVALID_UPDATES_PAGE_TOKEN INVALID_ACS_PAGE_TOKEN INVALID_ARGUMENT INVALID_FIELD MISSING_FIELD"),
        (8, 3, 400, "NEGATIVE_OFFSET NON_POSITIVE_OFFSET DESCENDING_ORDER_MISSING_END"),
        (9, 9, 400, "PARTICIPANT_PRUNED_DATA_ACCESSED PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END"),
        (10, 6, 409, "DUPLICATE_COMMAND"),
        (11, 5, 404, "UPDATE_NOT_FOUND TRANSACTION_NOT_FOUND CONTRACT_EVENTS_NOT_FOUND CONTRACT_PAYLOAD_NOT_FOUND"),
        (11, 5, 404, "USER_NOT_FOUND TEMPLATES_OR_INTERFACES_NOT_FOUND PACKAGE_NAMES_NOT_FOUND PACKAGE_NOT_FOUND"),
        (11, 5, 404, "COMPLETION_NOT_FOUND"),
        (12, 11, 400, "OFFSET_AFTER_LEDGER_END"),
    )
    for code in codes.split()
}
REDACTED = {401: (-1, 16, 401), 403: (-1, 7, 403)}  # by HTTP status
RETRIED = (2, 12)  # categories
SECURITY = "A security-sensitive error has been received"


class HttpError(Exception):
    """Error response of the history and the wallet API (docs/facts.md#history-errors)."""

    def __init__(self, status: int, message: str, plain: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.plain = status, message, plain

    def response(self) -> Response:
        """Return the response."""
        if self.plain:
            return text_response(self.message, self.status)
        return json_response({"error": self.message}, self.status)


class LedgerApiError(Exception):
    """Error response of the ledger API (docs/facts.md#ledger-errors)."""

    def __init__(
        self,
        code: str,  # one of `ERRORS`, or "NA" for a redacted error
        cause: str,
        context: dict[str, str] | None = None,  # further entries
        resources: Sequence[tuple[str, str]] = (),  # kind and name of each resource that the error is about
        redacted: int = 0,  # HTTP status of a redacted error, 401 or 403
    ) -> None:
        super().__init__(f"{code}: {cause}")
        self.code, self.cause = code, cause
        self.context, self.resources, self.redacted = context or {}, resources, redacted
        self.category, self.grpc, self.status = REDACTED[redacted] if redacted else ERRORS[code]

    def body(self) -> dict[str, Any]:
        """Return the error as JSON values, with null for optional members."""
        trace = digest("trace", self.code, self.cause, size=16)
        context = {"participant": "participant", "definite_answer": "false", "tid": trace, "category": str(self.category)}
        return {
            "code": self.code,
            "cause": self.cause,
            "correlationId": None,
            "traceId": trace,
            "context": self.context if self.redacted else context | self.context,
            "resources": [[f"ErrorResource({kind})", name] for kind, name in self.resources],
            "errorCategory": self.category,
            "grpcCodeValue": self.grpc,
            "retryInfo": "1 second" if self.category in RETRIED else None,
            "definiteAnswer": None,
        }

    def response(self) -> Response:
        """Return the response."""
        return json_response(self.body(), self.status)


def missing(field: str) -> LedgerApiError:
    """Return the refusal of a request without a required field."""
    return LedgerApiError("MISSING_FIELD", f"The submitted request is missing a mandatory field: {field}")


def contract_object(template_id: str, identifier: str, payload: Json, created_at: str, blob: str) -> Json:
    """Return the five members of a contract (docs/facts.md#contract-object)."""
    return {
        "template_id": template_id,
        "contract_id": identifier,
        "payload": payload,
        "created_event_blob": blob,
        "created_at": created_at,
    }


def json_response(value: Any, status: int = 200) -> Response:
    """Return a response with a JSON body, where bytes are JSON and a response stays."""
    if isinstance(value, Response):
        return value
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return Response(body, status, content_type="application/json")


def text_response(text: str = "", status: int = 200) -> Response:
    """Return a response of plain text."""
    return Response(text, status, content_type=PLAIN_TEXT)


def describe(error: msgspec.MsgspecError) -> str:
    """Return the text of a decoding error in the words of the service."""
    match = VALIDATION.fullmatch(str(error))
    if match is None:
        return str(error)
    path = match["path"] or ""
    if match["field"]:
        return f"DecodingFailure at {path}.{match['field']}: Missing required field"
    reason = TYPE_ERRORS.get(match["type"], f"Got a value that is not an {match['type']}")
    return f"DecodingFailure at {path}: {reason}"


def parse_time(text: Any) -> int:
    """Return a time with a time zone as microseconds since 1970, or refuse it."""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise ValueError("no offset from UTC")
        return micros(time)
    except (TypeError, ValueError) as error:
        raise HttpError(400, f"Invalid timestamp: {text}: {error}") from error
