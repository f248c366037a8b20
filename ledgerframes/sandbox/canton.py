"""The ledger API's errors (docs/facts.md#ledger-errors): a code, its category, and the statuses that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from flask import Response

from .randomness import digest

STATUSES = {  # category: (gRPC, HTTP)
    1: (14, 503), 2: (10, 409), 3: (4, 504), 4: (13, 500), 8: (3, 400), 9: (9, 400), 10: (6, 409),
    11: (5, 404), 12: (11, 400),
}  # fmt: skip
CODES = {
    "PARTICIPANT_PRUNED_DATA_ACCESSED": 9,
    "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END": 9,
    "OFFSET_AFTER_LEDGER_END": 12,
    "INVALID_UPDATES_PAGE_TOKEN": 8,
    "INVALID_ACS_PAGE_TOKEN": 8,
    "INVALID_ARGUMENT": 8,
    "INVALID_FIELD": 8,
    "MISSING_FIELD": 8,
    "NEGATIVE_OFFSET": 8,
    "NON_POSITIVE_OFFSET": 8,
    "DESCENDING_ORDER_MISSING_END": 8,
    "UPDATE_NOT_FOUND": 11,
    "TRANSACTION_NOT_FOUND": 11,
    "CONTRACT_EVENTS_NOT_FOUND": 11,
    "CONTRACT_PAYLOAD_NOT_FOUND": 11,
    "TEMPLATES_OR_INTERFACES_NOT_FOUND": 11,
    "PACKAGE_NAMES_NOT_FOUND": 11,
    "PACKAGE_NOT_FOUND": 11,
    "USER_NOT_FOUND": 11,
    "PARTY_ALREADY_EXISTS": 10,
    "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED": 2,
    "PARTICIPANT_BACKPRESSURE": 2,
}
OTHER_HTTP = {"JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED": 413}
RETRY = {1: "1 second", 2: "1 second", 12: "1 second"}
SECURITY = "A security-sensitive error has been received"


class CantonError(Exception):
    """A request that the ledger API answers with an error.

    Parameters
    ----------
    code
        One of `CODES`, which decides the category and the statuses; "NA" is a redacted one.
    cause
        What is wrong.
    context
        Further entries of the context.
    resources
        (kind, name) of what it is about.
    redacted
        HTTP status of a redacted error, 401 or 403.
    """

    def __init__(
        self,
        code: str,
        cause: str,
        context: dict[str, str] | None = None,
        resources: Sequence[tuple[str, str]] = (),
        redacted: int = 0,
    ) -> None:
        super().__init__(f"{code}: {cause}")
        self.code, self.cause = code, cause
        self.context, self.resources, self.redacted = context or {}, resources, redacted

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.redacted or OTHER_HTTP.get(self.code) or STATUSES[CODES[self.code]][1]

    def body(self) -> dict[str, Any]:
        """Return the error as it stands on the wire, optional members present as null."""
        trace = digest("trace", self.code, self.cause, size=16)
        category = -1 if self.redacted else CODES[self.code]
        grpc = {401: 16, 403: 7}[self.redacted] if self.redacted else STATUSES[category][0]
        context = {
            "participant": "participant",
            "definite_answer": "false",
            "tid": trace,
            "category": str(category),
        }
        return {
            "code": self.code,
            "cause": self.cause,
            "correlationId": None,
            "traceId": trace,
            "context": self.context if self.redacted else context | self.context,
            "resources": [[f"ErrorResource({kind})", name] for kind, name in self.resources],
            "errorCategory": category,
            "grpcCodeValue": grpc,
            "retryInfo": None if self.redacted else RETRY.get(category),
            "definiteAnswer": None,
        }

    def response(self) -> Response:
        """Return the answer."""
        body = msgspec.json.encode(self.body())
        return Response(body, self.status, content_type="application/json")


def unauthenticated(reason: str) -> CantonError:
    """Return the refusal of a missing or bad token, redacted."""
    return CantonError("NA", SECURITY, {"ledger_api_error": reason}, redacted=401)


def forbidden() -> CantonError:
    """Return the refusal of what the token gives no right to, redacted."""
    return CantonError("NA", SECURITY, redacted=403)
