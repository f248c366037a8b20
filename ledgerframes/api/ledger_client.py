"""The base of the ledger API's client, with deprecation warnings and version checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ledgerframes.api.base_urls import wrong_url_error
from ledgerframes.api.operation import HealthClient, Operation, Request, operation
from ledgerframes.api.paging import PageChain
from ledgerframes.api.response import Response
from ledgerframes.api.transport import Transport
from ledgerframes.api.unsupported import unsupported_error
from ledgerframes.api.update_format import EventFormat, UpdateFormat
from ledgerframes.api.versions import PATHS, is_newer
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.state.wire import LedgerVersion, release_of
from ledgerframes.errors import LedgerframesError, NotFoundError, ServiceError, UnsupportedOperationError

__all__ = ["LedgerClient"]


class LedgerClient(HealthClient):
    """Base of the groups of ledger operations."""

    api = "ledger"

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self._version: LedgerVersion | None = None

    @operation("GET /v2/version", returns=LedgerVersion)
    def version(self) -> Any:
        """Return the version of the ledger API, such as 3.5.14, and its features.

        Notes
        -----
        ``GET /v2/version``.
        """

    def send(self, operation: Operation, request: Request) -> Response:
        """Send the request of an operation that this participant's version may not have."""
        try:
            return super().send(operation, replace(request, body=_with_json_filters(request.body)))
        except ServiceError as error:
            # The response to an unknown route is text (404), or names the method on a known path (405): no ledger code.
            if error.status not in (404, 405) or error.code or operation.name == "version":
                raise
            if self._cached_version() is None and isinstance(error, NotFoundError):
                wrong = wrong_url_error(self.transport, self.api, PATHS[self.api], error)
                raise wrong or self._unsupported(operation, error) from error
            raise self._unsupported(operation, error) from error

    def _iter_items(self, operation: str, field: str, **arguments: Any) -> Iterator[Any]:
        """Iterate over the items in a field of an operation's pages, which must make progress."""
        chain, token = PageChain(self.operations[operation].route), None
        while True:
            page = getattr(self, operation)(page_token=token, **arguments)
            self.note_around(self.operations[operation].route, unknown_members(page, but=list))
            items = getattr(page, field)
            token = chain.next_token(page.next_page_token, msgspec.json.encode(items))
            yield from items
            if token is None:
                return

    def _unsupported(self, operation: Operation, error: ServiceError) -> UnsupportedOperationError:
        version = self._cached_version()
        return unsupported_error(self.api, operation, version.version if version else "", error)

    def supports(self, name: str) -> bool:
        """Return whether this participant's version has an operation, or is unknown."""
        operation, release = self.operations[name], self._release()
        is_removed = bool(operation.until) and release >= release_of(operation.until)
        return not is_removed and not self.is_before(operation.since)

    def is_before(self, version: str) -> bool:
        """Return whether this participant's version is known and earlier than one such as 3.7."""
        return (0, 0) < self._release() < release_of(version)

    def newer_version(self) -> str:
        """Return the participant's version if it is newer than this release, or ""."""
        version = self._cached_version()
        return version.version if version and is_newer(self.api, version.version) else ""

    def _release(self) -> tuple[int, int]:
        """Return major and minor number of the version, or ``(0, 0)`` if it is unknown."""
        version = self._cached_version()
        return version.release if version else (0, 0)

    def _cached_version(self) -> LedgerVersion | None:
        """Return the participant's version, fetched once, or None if it cannot be fetched."""
        if self._version is None:
            try:
                self._version = self.version()
            except LedgerframesError:
                return None
        return self._version


def _with_json_filters(body: Any) -> Any:
    """Return a body in which filters are JSON."""
    if not isinstance(body, Mapping):
        return body
    return {name: value.as_json() if isinstance(value, UpdateFormat | EventFormat) else value for name, value in body.items()}
