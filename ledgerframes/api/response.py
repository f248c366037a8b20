"""Responses of the APIs, with the host that sent them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from ledgerframes.datasets.boundary import decode_error
from ledgerframes.datasets.decode import decode
from ledgerframes.errors import DecodeError

__all__ = ["Response"]

T = TypeVar("T")

JSON_STARTS = b'{["-0123456789tfn'
MAX_ERROR_BYTES = 10_000  # of a body that is only an error


class _ErrorBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of an error of the history and wallet APIs.

    Those of proxies have other members.
    """

    error: str


@dataclass(frozen=True)
class Response:
    """A response, with a good or a bad status."""

    body: bytes = field(repr=False)
    host: str  # that sent the response
    endpoint: str = ""  # HTTP method and path, of the operation or of the request
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """The body as text, for errors."""
        return self.body.decode("utf-8", "replace")

    @property
    def is_api_error(self) -> bool:
        """Whether the body is an error as the history and wallet APIs return it.

        See docs/facts.md#history-errors.
        """
        try:
            msgspec.json.decode(self.body, type=_ErrorBody)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return False
        return True

    def decode(self, kind: type[T]) -> T:
        """Return the body as a struct, or raise DecodeError."""
        return decode(self.body, kind, self.endpoint)

    def json(self) -> Any:
        """Return the body as JSON of any shape, or None if it is empty, or raise DecodeError."""
        if not self.body.strip():
            return None
        try:
            return json.loads(self.body)
        except RecursionError as error:
            raise decode_error(error, self.endpoint) from error
        except ValueError as error:
            raise DecodeError(
                f"Unexpected response from {self.endpoint}: not JSON. Check that the URL of the profile is the API's base.",
                endpoint=self.endpoint,
                json_path="$",
            ) from error

    def require_api(self) -> None:
        """Raise DecodeError for a web page, an empty body, or one that is only an error.

        See docs/facts.md#errors-with-status-200.
        """
        start = self.body[:200].lstrip()
        if start and start[0] in JSON_STARTS and not self._is_error():
            return
        text = start[:60].decode("utf-8", "replace")
        reason = f"not JSON of the API, and starts with {text!r}" if start else "empty"
        raise DecodeError(
            f"The response of {self.host} to {self.endpoint} is {reason}. Check that the URL is the API's own.",
            endpoint=self.endpoint,
            json_path="$",
        )

    def _is_error(self) -> bool:
        if len(self.body) > MAX_ERROR_BYTES or b'"error"' not in self.body[:200]:
            return False
        try:
            return msgspec.json.decode(self.body, type=dict[str, msgspec.Raw]).keys() == {"error"}
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return False
