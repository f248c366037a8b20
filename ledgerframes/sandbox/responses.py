"""Responses and refusals that all APIs share."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec
from flask import Response

from .times import micros

Json = dict[str, Any]
PLAIN_TEXT = "text/plain; charset=UTF-8"
OWN_WRITES = "sandbox.own_writes"  # key in the environment of a request, of the writes that it makes
UNKNOWN_ROUTE = "The requested resource could not be found."
TYPE_ERRORS = {
    "object": "Got a value that is not an object",
    "int": "Int",
    "str": "String",
    "array": "Got a value that is not an array",
}
VALIDATION = re.compile(
    r"(?:Expected `(?P<type>\w+).*`, got .*?|Object missing required field `(?P<field>\w+)`)(?: - at `\$(?P<path>.*)`)?"
)


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
