"""What every route of the ledger API needs: the ledger, who asks, and how bodies are read and written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import count, islice
from typing import Any, TypeVar

import msgspec
from flask import Response, request

from ..canton import CantonError
from ..decoders import decoder_of
from ..faults import Faults
from ..participant.contracts import Contracts
from ..participant.formats import EventFormat, Filters, Selection, TransactionFormat, UpdateFormat
from ..participant.ledger import ParticipantLedger
from ..participant.paging import LARGEST_SIZE
from ..participant.registry import Registry
from ..participant.rendering import Renderer, Version
from ..participant.state import StateView
from ..requests import Refusal, json_response
from ..users import User, Users, check_rights
from ..writes import Write

T = TypeVar("T")
LONGEST_LIST = 200
UNKNOWN_ROUTE = "The requested resource could not be found."


class LedgerService:
    """The ledger API's parts.

    Parameters
    ----------
    ledger
        The participant's ledger.
    registry
        The known templates.
    users
        Who may read what.
    version
        Version of the ledger, such as "3.5.14".
    writes
        Where accepted writes are noted.
    largest_page
        The largest page of updates.
    faults
        What shall go wrong.
    """

    def __init__(
        self,
        ledger: ParticipantLedger,
        registry: Registry,
        users: Users,
        version: str,
        writes: list[Write],
        largest_page: int = LARGEST_SIZE,
        faults: Faults | None = None,
    ) -> None:
        self.ledger, self.registry, self.users, self.writes = ledger, registry, users, writes
        self.version = Version.of(version)
        self.contracts = Contracts(ledger)
        self.state = StateView(ledger, self.contracts, registry, self.version)
        self.largest_page = largest_page
        self.new_parties: dict[str, dict[str, Any]] = {}  # allocated through the API
        self.new_packages: dict[str, bytes] = {}  # uploaded through the API
        self.vetted: list[dict[str, Any]] = []  # changed through the API
        self._faults = faults or Faults()
        self._requests = count()

    def strikes(self, fault: str) -> bool:
        """Tell whether a fault strikes this request."""
        return self._faults.strike(fault, next(self._requests))

    def since(self, minor: int) -> None:
        """Answer as for an unknown route when the ledger is older than 3.<minor>."""
        if not self.version.has(minor):
            raise Refusal(404, UNKNOWN_ROUTE, plain=True)

    def user(self) -> User:
        """Return who asks."""
        return self.users.authenticated(request.headers.get("Authorization"))

    def body(self, kind: type[T]) -> T:
        """Return the request's body as a structure; what does not fit is refused in plain text."""
        try:
            decoder: msgspec.json.Decoder[T] = decoder_of(kind)  # type: ignore[arg-type]
            return decoder.decode(request.get_data())
        except msgspec.MsgspecError as error:
            raise malformed(str(error)) from error

    def selection(self, asked: UpdateFormat | None) -> tuple[Selection, Renderer]:
        """Return what an update format selects and how it is written, for who asks."""
        user = self.user()
        selection = Selection(asked, self.registry)
        check_rights(user, *selection.parties())
        return selection, Renderer(selection, self.version)

    def readable(self, asked: EventFormat) -> EventFormat:
        """Return an event format when who asks may read its parties."""
        anybody = asked.filters_for_any_party is not None
        check_rights(self.user(), asked.filters_by_party, anybody)
        return asked

    def written(self, body: Any) -> None:
        """Note an accepted write."""
        self.writes.append(Write("ledger", f"{request.method} {request.path.partition('/v2/')[2]}", body))


class LegacyFilter(msgspec.Struct, rename="camel"):
    """The filter of the deprecated list operations."""

    filters_by_party: dict[str, Filters] = {}
    filters_for_any_party: Filters | None = None

    def format(self, verbose: bool) -> EventFormat:
        """Return it as an event format."""
        return EventFormat(self.filters_by_party, self.filters_for_any_party, verbose)


def as_updates(events: EventFormat, shape: Any) -> UpdateFormat:
    """Return an update format of nothing but transactions."""
    return UpdateFormat(TransactionFormat(events, shape))


def malformed(reason: str) -> Refusal:
    """Return the refusal of a body that cannot be decoded."""
    return Refusal(400, f"Invalid value for: body ({reason})", plain=True)


def missing(field: str) -> CantonError:
    """Return the refusal of a request without a field."""
    return CantonError("MISSING_FIELD", f"The submitted request is missing a mandatory field: {field}")


def answer(value: Any, status: int = 200) -> Response:
    """Return an answer with a JSON body."""
    return json_response(msgspec.json.encode(value), status)


def listed(items: Iterable[Any]) -> Response:
    """Return a list, cut at the query's limit, or the refusal of one that is too long."""
    limit = request.args.get("limit", type=int)
    most = LONGEST_LIST if limit is None else min(limit, LONGEST_LIST)
    found = list(islice(items, most + 1))
    if len(found) > most and (limit is None or limit > LONGEST_LIST):
        raise CantonError(
            "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED",
            f"The number of matching elements is greater than the node limit of {LONGEST_LIST}",
        )
    return answer(found[:most])


def token_after(position: int, bound: Any) -> str:
    """Return an opaque token for going on at a position of a request."""
    return f"{position}.{_checksum(bound)}".encode().hex()


def position_of(token: str | None, bound: Any, code: str = "INVALID_ARGUMENT") -> int:
    """Return the position that a token stands for; refuse one of another request."""
    if not token:
        return 0
    try:
        position, _, checksum = bytes.fromhex(token).decode().partition(".")
        if checksum != _checksum(bound):
            raise ValueError("it was given for another request")
        return int(position)
    except ValueError as error:
        raise CantonError(code, f"the page token is not valid: {error}") from error


def _checksum(bound: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(bound, order="sorted")).hexdigest()[:16]
