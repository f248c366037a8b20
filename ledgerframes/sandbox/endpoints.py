"""Declarations of endpoints, and the parsing and refusals that all APIs share."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import flask
import msgspec
from flask import Blueprint, Response

from .times import micros

if TYPE_CHECKING:
    from .bulk import BulkStorage
    from .clock import Clock
    from .faults import Faults
    from .ledger_api.service import Version
    from .participant import ParticipantLedger
    from .participant.filters import Registry
    from .users import Users
    from .vocabulary import Vocabulary
    from .wallet import OfferBook
    from .world import World

Json = dict[str, Any]
Handler = TypeVar("Handler", bound=Callable[..., Any])
PLAIN_TEXT = "text/plain; charset=UTF-8"
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
    """Error response of the history and the wallet API (docs/facts.md#history-errors).

    Parameters
    ----------
    status
        HTTP status.
    message
        Reason.
    plain
        Whether the body is bare text instead of ``{"error": …}``.
    """

    def __init__(self, status: int, message: str, plain: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.plain = status, message, plain

    def response(self) -> Response:
        """Return the response."""
        if self.plain:
            return text_response(self.message, self.status)
        return json_response({"error": self.message}, self.status)


class Write(NamedTuple):
    """A write that the sandbox accepted."""

    api: str  # "ledger" or "wallet"
    operation: str  # method and path
    body: Any


class Endpoint(NamedTuple):
    """Declaration of one route, of which a handler may have several."""

    method: str
    path: str
    request: type[msgspec.Struct] | None = None  # model of the body
    since: int = 0  # minor version of the ledger 3.x that added the route
    public: bool = False  # whether no token is needed
    empty_body: bytes = b""  # body that an empty one stands for


def endpoint(method: str, path: str, request: type[msgspec.Struct] | None = None, **options: Any) -> Callable[[Handler], Handler]:
    """Declare a method of an `Api` as a handler, with the options of `Endpoint`."""

    def declare(handler: Handler) -> Handler:
        vars(handler).setdefault("endpoints", []).append(Endpoint(method, path, request, **options))
        return handler

    return declare


class Services(NamedTuple):
    """Parts of a sandbox that its APIs show or change."""

    world: World
    vocabulary: Vocabulary
    clock: Clock
    ledger: ParticipantLedger
    version: Version  # of the ledger
    max_page_size: int  # of ledger updates
    registry: Registry
    users: Users
    wallet: OfferBook
    bulk: BulkStorage
    writes: list[Write]  # accepted writes
    faults: Faults


class Api:
    """A group of endpoints.

    A subclass declares them with `endpoint`. A handler gets the parts of the path and, if its endpoint has a request
    model, the decoded body as `request`. It returns a Flask response, JSON text as bytes, or a value that msgspec encodes.

    Parameters
    ----------
    services
        Parts of the sandbox.
    """

    path_root: ClassVar[str] = "/v0/"  # start of the paths that `record` shortens

    def __init__(self, services: Services) -> None:
        self.services = services
        self._draws = count()

    def strikes(self, fault: str) -> bool:
        """Return whether a fault strikes now, in a new draw."""
        return self.services.faults.strikes(fault, next(self._draws))

    def record(self, api: str, body: Any) -> None:
        """Record an accepted write."""
        operation = flask.request.path.partition(self.path_root)[2]
        self.services.writes.append(Write(api, f"{flask.request.method} {operation}", body))

    def json_value(self, value: Any) -> Any:
        """Return a handler's result as the response shows it."""
        return value

    def admit(self, declared: Endpoint) -> None:
        """Refuse a caller who may not use an endpoint, before the body is read."""

    def malformed(self, error: msgspec.MsgspecError) -> HttpError:
        """Return the refusal of a body that does not fit its model."""
        return malformed(describe(error))

    def blueprint(self) -> Blueprint:
        """Return the routes. Threads must not call this at once, because it compiles decoders."""
        routes = Blueprint(type(self).__name__, __name__)
        for name in dir(type(self)):
            for number, declared in enumerate(getattr(getattr(type(self), name), "endpoints", ())):
                view = self._view(declared, getattr(self, name))
                route_name = f"{name.strip('_')}{number or ''}"
                path = declared.path.replace("{coin}", self.services.vocabulary.coin)
                routes.add_url_rule(path, route_name, view, methods=[declared.method])
        return routes

    def _view(self, declared: Endpoint, handler: Callable[..., Any]) -> Callable[..., Response]:
        decode = msgspec.json.Decoder(declared.request).decode if declared.request else None

        def view(**arguments: Any) -> Response:
            self.admit(declared)
            if decode:
                try:
                    arguments["request"] = decode(flask.request.get_data() or declared.empty_body)
                except msgspec.MsgspecError as error:
                    raise self.malformed(error) from error
            return json_response(self.json_value(handler(**arguments)))

        return view


def json_response(value: Any, status: int = 200) -> Response:
    """Return a response with a JSON body, where bytes are JSON and a response stays."""
    if isinstance(value, Response):
        return value
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return Response(body, status, content_type="application/json")


def text_response(text: str = "", status: int = 200) -> Response:
    """Return a response of plain text."""
    return Response(text, status, content_type=PLAIN_TEXT)


def malformed(reason: str) -> HttpError:
    """Return the refusal of a body that cannot be decoded."""
    return HttpError(400, f"The request content was malformed:\n{reason}", plain=True)


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
