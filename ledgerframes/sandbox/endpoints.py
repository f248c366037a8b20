"""Declarations of endpoints, and what all APIs share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple, TypeVar

import flask
import msgspec
from flask import Response

from .network import SimulatedNetwork, Write
from .responses import OWN_WRITES, HttpError, describe, json_response

Handler = TypeVar("Handler", bound=Callable[..., Any])
View = Callable[..., Response]
WRITE_ROOTS = {"ledger": "/v2/", "wallet": "/v0/wallet/"}


class Endpoint(NamedTuple):
    """Declaration of one route. A handler may have several."""

    method: str
    path: str
    request: type[msgspec.Struct] | None = None  # model of the body
    since: int = 0  # minor version of the API (ledger 3.x, history 0.x) that added the route
    until: int | None = None  # minor version of the API that removed the route
    public: bool = False  # whether no token is needed
    empty_body: bytes = b""  # body that an empty one stands for

    def is_in(self, minor: int) -> bool:
        """Return whether a minor version of the API has the route."""
        return self.since <= minor and (self.until is None or minor < self.until)


def endpoint(method: str, path: str, request: type[msgspec.Struct] | None = None, **options: Any) -> Callable[[Handler], Handler]:
    """Declare a method of an `Api` as a handler, with the options of `Endpoint`."""

    def declare(handler: Handler) -> Handler:
        vars(handler).setdefault("endpoints", []).append(Endpoint(method, path, request, **options))
        return handler

    return declare


def require_argument(name: str) -> str:
    """Return an argument of the query, or refuse its absence."""
    text = flask.request.args.get(name)
    if text is None:
        raise HttpError(404, f"Request is missing required query parameter '{name}'", plain=True)
    return text


class Api:
    """A group of endpoints.

    A subclass declares them with `endpoint`. A handler gets the parts of the path and, if its endpoint has a request
    model, the decoded body as `request`. It returns a Flask response, JSON text as bytes, or a value that msgspec encodes.
    """

    def __init__(self, box: SimulatedNetwork) -> None:
        self.box, self.world, self.clock = box, box.world, box.clock
        self._draws = count()

    def strikes(self, fault: str) -> bool:
        """Return whether a fault strikes now, in a new draw."""
        return self.box.faults.strikes(fault, next(self._draws))

    def record(self, api: str, body: Any) -> None:
        """Record an accepted write."""
        operation = flask.request.path.partition(WRITE_ROOTS[api])[2]
        self.box.writes.append(Write(api, f"{flask.request.method} {operation}", body))
        flask.request.environ.get(OWN_WRITES, []).append(self.box.writes[-1])

    def json_value(self, value: Any) -> Any:
        """Return a handler's result as the response shows it."""
        return value

    def admit(self, declared: Endpoint) -> None:
        """Refuse a caller who may not use an endpoint, before the body is read."""

    def malformed(self, error: msgspec.MsgspecError) -> Exception:
        """Return the refusal of a body that does not fit its model."""
        return HttpError(400, f"The request content was malformed:\n{describe(error)}", plain=True)

    @classmethod
    def endpoints(cls) -> Iterator[tuple[str, str, Endpoint]]:
        """Iterate over (name of the endpoint, name of the handler, declaration)."""
        for handler in dir(cls):
            for number, declared in enumerate(getattr(getattr(cls, handler), "endpoints", ())):
                yield f"{cls.__name__} {handler.strip('_')}{number or ''}", handler, declared

    def views(self) -> dict[str, View]:
        """Return the view of each endpoint.

        Threads must not call this at once, because it compiles decoders.
        """
        return {name: self._view(declared, getattr(self, handler)) for name, handler, declared in self.endpoints()}

    def _view(self, declared: Endpoint, handler: Callable[..., Any]) -> View:
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
