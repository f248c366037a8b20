"""Reading what a client sends, with the refusals of the real service (docs/facts.md#history-errors)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from flask import Request, Response

from .times import micros
from .values import ENCODINGS

LARGEST_PAGE = 1000


class Refusal(Exception):  # noqa: N818 - it says what happened
    """A request that is answered with an error.

    Parameters
    ----------
    status
        HTTP status.
    message
        What is wrong.
    plain
        Whether the answer is bare text instead of ``{"error": …}``.
    """

    def __init__(self, status: int, message: str, plain: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.plain = plain

    def response(self) -> Response:
        """Return the answer."""
        if self.plain:
            return Response(self.message, self.status, content_type="text/plain; charset=UTF-8")
        return json_response(msgspec.json.encode({"error": self.message}), self.status)


def json_response(body: bytes, status: int = 200) -> Response:
    """Return an answer whose body is JSON already."""
    return Response(body, status, content_type="application/json")


def malformed(reason: str) -> Refusal:
    """Return the refusal of a body that cannot be decoded."""
    return Refusal(400, f"The request content was malformed:\n{reason}", plain=True)


def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body; refuse anything else as undecodable."""
    try:
        body = msgspec.json.decode(request.get_data() or b"null")
    except msgspec.DecodeError as error:
        raise malformed(str(error)) from error
    if not isinstance(body, dict):
        raise malformed("DecodingFailure at : Got a value that is not an object")
    return body


def encoding_of(request: Request, body: dict[str, Any] | None, lang: str) -> str:
    """Return the value encoding that a request asks for, in its query or, for a page, in its body.

    Parameters
    ----------
    request
        The request.
    body
        Its decoded body, when it has one.
    lang
        The network's word for its contract language; the key is named by it.
    """
    key = f"{lang}_value_encoding"
    asked = request.args.get(key) if body is None else body.get(key)
    if asked is None:
        return "compact_json"
    if asked not in ENCODINGS:
        raise Refusal(400, f"{asked!r} is not a value of {key}: use one of {', '.join(ENCODINGS)}")
    return str(asked)


def page_size_of(body: dict[str, Any]) -> int:
    """Return the page size, 1 to 1000."""
    size = body.get("page_size")
    if size is None:
        raise malformed("DecodingFailure at .page_size: Missing required field")
    if type(size) is not int:
        raise malformed("DecodingFailure at .page_size: Int")
    if not 1 <= size <= LARGEST_PAGE:
        raise Refusal(400, f"Invalid page size: {size}; it must be between 1 and {LARGEST_PAGE}")
    return size


def cursor_of(body: dict[str, Any]) -> tuple[int, int]:
    """Return the place to go on from, (migration_id, microseconds); before everything when not given."""
    after = body.get("after")
    if after is None:
        return -1, 0
    if not isinstance(after, dict):
        raise malformed("DecodingFailure at .after: Got a value that is not an object")
    for key in ("after_migration_id", "after_record_time"):
        if key not in after:
            raise malformed(f"DecodingFailure at .after.{key}: Missing required field")
    if type(after["after_migration_id"]) is not int:
        raise malformed("DecodingFailure at .after.after_migration_id: Long")
    return after["after_migration_id"], time_of(after["after_record_time"])


def time_of(text: Any) -> int:
    """Return a time with a time zone, as microseconds since 1970, or refuse."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("no offset from UTC")
        return micros(moment)
    except (TypeError, ValueError) as error:
        raise Refusal(400, f"Invalid timestamp: {text}: {error}") from error
