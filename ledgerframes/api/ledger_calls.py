"""How one operation of the ledger API is asked: its route, its retries, its deprecation, and a version that lacks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from ledgerframes.api.deprecation import warn_deprecated
from ledgerframes.api.operations import Operation, operation
from ledgerframes.api.transport import Answer, Transport
from ledgerframes.api.update_format import EventFormat, UpdateFormat
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets.state.wire import LedgerVersion, release_of
from ledgerframes.errors import DecodeError, LedgerError, LedgerframesError, ServiceError, UnsupportedOperationError, UsageError

T = TypeVar("T")
Body = Mapping[str, Any] | bytes | None

__all__ = ["LedgerCalls"]


class LedgerCalls:
    """What all operations of the ledger API have in common.

    Parameters
    ----------
    transport : Transport
        With the token, and :func:`ledger_refusal` for bad statuses.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._warned: set[str] = set()
        self._version: LedgerVersion | None = None

    def call(self, name: str, /, *, params: Mapping[str, Any] | None = None, body: Body = None, **in_path: str | int) -> Any:
        """Call any operation by its name in :func:`ledgerframes.operations`.

        Parameters
        ----------
        name : str
            Such as ``users``.
        params : mapping, optional
            The query; what is None is left out.
        body : mapping or bytes, optional
            Sent as it is: a mapping as JSON, bytes as they are.
        **in_path
            What the path's names stand for, with an underscore for a dash: ``user_id=`` for ``{user-id}``.

        Returns
        -------
        The decoded JSON; bytes for an operation that answers with bytes; None for an empty answer.

        Raises
        ------
        UsageError
            If there is no such operation, or the path's names are not all given; before anything is sent.
        UnsupportedOperationError
            If this participant's version does not have the operation.

        Notes
        -----
        Only what :func:`ledgerframes.operations` calls safe is ever sent a second time.
        """
        entry = operation("ledger", name)
        answer = self._ask(entry, params=params, body=body, **in_path)
        return answer.body if entry.reply == "bytes" else _json(answer.body, f"{entry.method} {entry.path}")

    def _send(self, name: str, *, params: Mapping[str, Any] | None = None, body: Body = None, **in_path: str | int) -> Answer:
        """Ask an operation by name, for the bytes that come."""
        return self._ask(operation("ledger", name), params=params, body=body, **in_path)

    def _read(
        self, name: str, kind: type[T], *, params: Mapping[str, Any] | None = None, body: Body = None, **in_path: str | int
    ) -> T:
        """Ask an operation by name, for a struct."""
        entry = operation("ledger", name)
        return decode(self._ask(entry, params=params, body=body, **in_path).body, kind, f"{entry.method} {entry.path}")

    def _ask(self, entry: Operation, *, params: Mapping[str, Any] | None, body: Body, **in_path: str | int) -> Answer:
        path = _path(entry, in_path)
        self._warn_once(entry)
        query = {name: _in_query(value) for name, value in (params or {}).items() if value is not None}
        try:
            return self._transported(entry, path, query, _plain(body))
        except ServiceError as error:
            # An unknown route is answered in text (404), or as a wrong method on a known path (405): neither has a code.
            has_code = isinstance(error, LedgerError) and bool(error.code)
            if error.status not in (404, 405) or has_code or entry.name == "version":
                raise
            raise self._not_offered(entry, error) from error

    def _transported(self, entry: Operation, path: str, query: Mapping[str, str], body: Any) -> Answer:
        """With retries where the operation only reads and the transport can repeat it; otherwise once."""
        if entry.safe and entry.method == "GET" and body is None:
            return self.transport.get(path, query or None)
        if entry.safe and entry.method == "POST" and not isinstance(body, bytes):
            return self.transport.post(f"{path}?{urlencode(query)}" if query else path, {} if body is None else body)
        content: dict[str, Any] = {"params": query} if query else {}
        if isinstance(body, bytes):
            content["content"] = body
        elif body is not None:
            content["json"] = body
        return self.transport.write(entry.method, path, **content)

    def _warn_once(self, entry: Operation) -> None:
        if entry.deprecated and entry.name not in self._warned:
            self._warned.add(entry.name)
            route = f"{entry.method} {entry.path}"
            warn_deprecated(f"The ledger operation {entry.name} ({route}) is deprecated: use {entry.deprecated}.")

    # -- a version that lacks the operation ---------------------------------------------------------------------------

    def _known_version(self) -> LedgerVersion | None:
        """The participant's version, asked once; None if it does not say."""
        if self._version is None:
            try:
                self._version = self._read("version", LedgerVersion)
            except LedgerframesError:
                return None
        return self._version

    def _not_offered(self, entry: Operation, error: ServiceError) -> UnsupportedOperationError:
        found = self._known_version()
        runs, named = found.version if found else "", f"{entry.name} ({entry.method} {entry.path})"
        if found is None:
            message = (
                f"{error.host} knows neither {named} nor /v2/version, so it is no ledger API. "
                "Check ledger_url, with the path prefix that the operator may have set."
            )
        elif entry.since and release_of(found.version) < release_of(entry.since):
            message = (
                f"{named} needs ledger API {entry.since}, this participant runs {runs}. "
                "Ask the operator for an upgrade, or use an operation that it has; ledgerframes.operations() lists them."
            )
        else:
            message = f"{error.host} does not have {named}, though it runs {runs}. Ask the operator what stands before it."
        said = UnsupportedOperationError(
            message, endpoint=error.endpoint, host=error.host, status=error.status, detail=error.detail
        )
        said.needs, said.runs = entry.since, runs
        return said


def _path(entry: Operation, given: Mapping[str, str | int]) -> str:
    """The path with its names filled in, each as one segment."""
    names = {name.replace("-", "_"): name for name in entry.path_names}
    if names.keys() != given.keys():
        wanted = ", ".join(names) or "none"
        raise UsageError(f"{entry.name} takes these names of the path: {wanted}. Given: {', '.join(given) or 'none'}.")
    path = entry.path
    for name, in_path in names.items():
        path = path.replace("{" + in_path + "}", segment(given[name], name))
    return path


def segment(value: str | int, name: str) -> str:
    """A text or a number as one segment of a path, whatever it holds."""
    text = str(value)
    if text in ("", ".", ".."):
        raise UsageError(f"{name}={text!r} cannot stand in a path.")
    return quote(text, safe="")


def _in_query(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(body: Body) -> Any:
    """The body with filters as JSON; otherwise as it is."""
    if not isinstance(body, Mapping):
        return body
    return {name: value.as_json() if isinstance(value, UpdateFormat | EventFormat) else value for name, value in body.items()}


def _json(body: bytes, endpoint: str) -> Any:
    if not body.strip():
        return None
    try:
        return json.loads(body)
    except ValueError as error:
        raise DecodeError(
            f"{endpoint} answered something that is not JSON. Check that ledger_url is the API's own.",
            endpoint=endpoint,
            json_path="$",
        ) from error
