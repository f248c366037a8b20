"""Errors of the ledger API (docs/facts.md#ledger-errors)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response

from .randomness import digest
from .responses import json_response

STATUSES = {  # category: (gRPC, HTTP)
    1: (14, 503), 2: (10, 409), 3: (4, 504), 4: (13, 500), 8: (3, 400), 9: (9, 400), 10: (6, 409),
    11: (5, 404), 12: (11, 400),
}  # fmt: skip
CODES = {
    code: category
    for category, codes in {
        2: "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED PARTICIPANT_BACKPRESSURE",
        8: "INVALID_UPDATES_PAGE_TOKEN INVALID_ACS_PAGE_TOKEN INVALID_ARGUMENT INVALID_FIELD MISSING_FIELD NEGATIVE_OFFSET "
        "NON_POSITIVE_OFFSET DESCENDING_ORDER_MISSING_END",
        9: "PARTICIPANT_PRUNED_DATA_ACCESSED PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END",
        10: "PARTY_ALREADY_EXISTS",
        11: "UPDATE_NOT_FOUND TRANSACTION_NOT_FOUND CONTRACT_EVENTS_NOT_FOUND CONTRACT_PAYLOAD_NOT_FOUND USER_NOT_FOUND "
        "TEMPLATES_OR_INTERFACES_NOT_FOUND PACKAGE_NAMES_NOT_FOUND PACKAGE_NOT_FOUND",
        12: "OFFSET_AFTER_LEDGER_END",
    }.items()
    for code in codes.split()
}
OTHER_HTTP = {"JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED": 413}
RETRY = {1: "1 second", 2: "1 second", 12: "1 second"}
SECURITY = "A security-sensitive error has been received"


class LedgerApiError(Exception):
    """Error response of the ledger API."""

    def __init__(
        self,
        code: str,  # one of `CODES`, or "NA" for a redacted error
        cause: str,
        context: dict[str, str] | None = None,  # further entries
        resources: Sequence[tuple[str, str]] = (),  # kind and name of each resource that the error is about
        redacted: int = 0,  # HTTP status of a redacted error, 401 or 403
    ) -> None:
        super().__init__(f"{code}: {cause}")
        self.code, self.cause = code, cause
        self.context, self.resources, self.redacted = context or {}, resources, redacted

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.redacted or OTHER_HTTP.get(self.code) or STATUSES[CODES[self.code]][1]

    def body(self) -> dict[str, Any]:
        """Return the error as JSON values, with null for optional members."""
        trace = digest("trace", self.code, self.cause, size=16)
        category = -1 if self.redacted else CODES[self.code]
        grpc = {401: 16, 403: 7}[self.redacted] if self.redacted else STATUSES[category][0]
        context = {"participant": "participant", "definite_answer": "false", "tid": trace, "category": str(category)}
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
        """Return the response."""
        return json_response(self.body(), self.status)


def missing(field: str) -> LedgerApiError:
    """Return the refusal of a request without a required field."""
    return LedgerApiError("MISSING_FIELD", f"The submitted request is missing a mandatory field: {field}")
