"""Declarations of operations, whose methods build requests and whose decorators send them.

An operation is declared once::

    class Ledger(Client):
        api = "ledger"

        @operation("GET /v2/state/ledger-end", returns=LedgerEnd, unwrap=lambda end: end.offset)
        def ledger_end(self) -> Any:
            \"\"\"Return the offset of the ledger's end, or 0 on an empty ledger.\"\"\"

``net.ledger.ledger_end()`` then sends the request and returns the offset. The same declaration is a row of
``lf.operations()`` and of the page of operations.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from string import Formatter
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    ParamSpec,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)
from urllib.parse import quote

import msgspec

from ledgerframes.api.base_urls import wrong_url_error
from ledgerframes.api.caller_warnings import warn_caller
from ledgerframes.api.extra_members import add_extra_members
from ledgerframes.api.names import Api
from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import is_unknown_id
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.structs import Wire
from ledgerframes.errors import NotFoundError, UsageError
from ledgerframes.texts.hidden_tokens import hide_tokens

if TYPE_CHECKING:
    from ledgerframes.api.transport import Transport

__all__ = ["Body", "Client", "HealthClient", "Operation", "Request", "declare", "members", "operation"]

Body = Mapping[str, Any] | bytes | None
SURROGATE = re.compile("[\ud800-\udfff]")  # which UTF-8 cannot encode
JSON: Any = object()  # the response is decoded as JSON of any shape

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
C = TypeVar("C", bound="Client")


@dataclass(frozen=True)
class Operation:
    """One operation of an API, named like the client's method."""

    name: str
    method: str
    path: str  # relative to the base URL, with parameters in braces
    purpose: str  # first line of the method's docstring
    api: Api = "ledger"
    since: str = ""  # first version of the API with the operation
    until: str = ""  # first version of the API without the operation
    changed: str = ""  # versions that changed it
    deprecated: str = ""  # successor of a deprecated or removed operation
    read_only: bool = False  # without an effect, so that it may be sent again
    internal: bool = False  # meant for the network's own nodes, so it may change or disappear
    varies_by_host: bool = False  # one host may know an id that another one does not
    returns: Any = JSON  # what the body becomes: a struct, Response, bytes, None for an empty body, or any JSON

    @property
    def route(self) -> str:
        """HTTP method and path, such as ``GET /v2/version``."""
        return f"{self.method} {self.path}"

    @property
    def path_names(self) -> tuple[str, ...]:
        """Names of the path parameters, as in the path."""
        return tuple(name for _, name, _, _ in Formatter().parse(self.path) if name)

    def fill_path(self, values: Mapping[str, object]) -> str:
        """Return the path with its parameters, whose names have an underscore for a dash."""
        names = {name.replace("-", "_"): name for name in self.path_names}
        if names.keys() != values.keys():
            needed = f"needs the path parameter {', '.join(names)}" if names else "has no path parameters"
            raise UsageError(f"Operation {self.name!r} {needed}, got {', '.join(values) or 'none'}.")
        return self.path.format_map({placeholder: _path_segment(values[name], name) for name, placeholder in names.items()})

    def decode(self, response: Response) -> Any:
        """Return the content of a response of this operation."""
        if self.returns in (Response, bytes, None):
            return {Response: response, bytes: response.body, None: None}[self.returns]
        return response.json() if self.returns is JSON else response.decode(self.returns)


@dataclass(frozen=True)
class Request:
    """The arguments of one call, as they are sent."""

    path: Mapping[str, object] = field(default_factory=dict)  # value by path parameter
    query: Mapping[str, Any] = field(default_factory=dict)  # parameters that are None are not sent
    body: Body = None  # a mapping is sent as JSON, bytes as they are
    retry: bool | None = None  # whether to send again and to the next host, by default if the operation only reads


def members(**values: Any) -> dict[str, Any]:
    """Return the members of a body that are not None, by their names on the wire."""
    return {name: value for name, value in values.items() if value is not None}


def list_of_texts(values: Sequence[str], argument: str) -> list[str]:
    """Return the texts of an argument as a list, or raise UsageError."""
    if isinstance(values, str) or not all(isinstance(value, str) and value for value in values):
        raise UsageError(f"{argument}= must be a list of texts, got {values!r}.")
    return list(values)


def _first_line(function: Callable[..., Any]) -> str:
    return inspect.cleandoc(function.__doc__ or "").partition("\n")[0]


class Facts(TypedDict, total=False):
    """Optional attributes of an :class:`Operation`."""

    name: str
    since: str
    until: str
    changed: str
    deprecated: str
    read_only: bool
    internal: bool
    varies_by_host: bool


def declare(route: str, *, returns: Any = JSON, **facts: Unpack[Facts]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Declare the operation of a method that sends its requests itself.

    The parameters are those of :func:`operation`.
    """
    method, path = route.split()
    facts.setdefault("read_only", method == "GET")

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        facts.setdefault("name", function.__name__)
        declared = Operation(method=method, path=path, purpose=_first_line(function), returns=returns, **facts)
        function.operation = declared  # type: ignore[attr-defined]
        return function

    return decorate


class Sends(Protocol[T_co]):
    """Turns a method that builds a request into one that returns the response's content."""

    def __call__(self, build: Callable[Concatenate[C, P], Request], /) -> Callable[Concatenate[C, P], T_co]:
        """Return the method."""


@overload
def operation(
    route: str, *, returns: type[S], unwrap: Callable[[S], T], around: Callable[[S], object] = ..., **facts: Unpack[Facts]
) -> Sends[T]: ...
@overload
def operation(route: str, *, returns: type[T], member: str = "", **facts: Unpack[Facts]) -> Sends[T]: ...
@overload
def operation(route: str, *, returns: None, **facts: Unpack[Facts]) -> Sends[None]: ...
@overload
def operation(route: str, **facts: Unpack[Facts]) -> Sends[Any]: ...
def operation(
    route: str,
    *,
    returns: Any = JSON,
    member: str = "",
    unwrap: Callable[[Any], Any] | None = None,
    around: Callable[[Any], object] | None = None,
    **facts: Unpack[Facts],
) -> Any:
    """Declare an operation, and send the request that the decorated method returns.

    A method that only has a docstring sends its arguments as they are: those named in the path fill it, `query` is the query, and
    any other is the body.

    `returns` is the type of the decoded response body (default: JSON of any shape), and `unwrap` converts it into the method's
    result. With `member`, the result is the only member of the body. The client keeps the unknown members of what `around`
    returns for the body (default: of everything except the result). By default, the operation has the method's name, and GET
    operations only read.
    """
    body = msgspec.defstruct("Body", [(member, returns)], bases=(Wire,)) if member else returns
    convert = attrgetter(member) if member else unwrap

    def decorate(build: Callable[..., Request | None]) -> Callable[..., Any]:
        signature = inspect.signature(build)

        @functools.wraps(build)
        def call(self: Client, *args: Any, **kwargs: Any) -> Any:
            request = build(self, *args, **kwargs) or _request_of(declared, signature.bind(self, *args, **kwargs))
            response = self.send(declared, request)
            with decode_boundary(declared.route):
                content = declared.decode(response)
                if convert is None:
                    return content
                result = convert(content)
                self.note_around(declared.route, unknown_members(around(content) if around else content, but=result))
                return result

        declare(route, returns=body, **facts)(call)
        declared: Operation = call.operation  # type: ignore[attr-defined]
        result = inspect.signature(unwrap).return_annotation if unwrap else Any if returns is JSON else returns
        call.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
        return call

    return decorate


def _request_of(declared: Operation, arguments: inspect.BoundArguments) -> Request:
    """Return the request that sends the arguments of a call as they are."""
    arguments.apply_defaults()
    _, *items = arguments.arguments.items()
    values = dict(items)
    path = {name: values.pop(name) for name in (each.replace("-", "_") for each in declared.path_names)}
    query = values.pop("query", None) or {}
    if not isinstance(query, Mapping):
        raise UsageError(f"query= must be a mapping of parameters, got {query!r}.")
    (body,) = values.values() or (None,)
    return Request(path, query, body)


class Client:
    """Base of the three API clients."""

    api: ClassVar[Api]
    operations: ClassVar[dict[str, Operation]] = {}  # by name
    common_path = ""  # of an operation that every version has, which identifies a base URL

    def __init_subclass__(cls) -> None:
        """Collect the operations that the class and its bases declare."""
        cls.operations = {}
        for base in cls.__mro__:
            for member in vars(base).values():
                declared = getattr(member, "operation", None)
                if isinstance(declared, Operation):
                    # The public method of that name describes better what the operation does.
                    purpose = _first_line(getattr(cls, declared.name, member)) or declared.purpose
                    api = getattr(cls, "api", declared.api)
                    cls.operations.setdefault(declared.name, replace(declared, api=api, purpose=purpose))

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._warned: set[str] = set()
        self.extra_members: dict[str, str] = {}  # see `Network.extra_members`

    def send(self, operation: Operation, request: Request) -> Response:
        """Send a request of an operation, with retries if the operation only reads."""
        self._warn_once(operation)
        query = {name: _query_value(value) for name, value in request.query.items() if value is not None}
        retry = operation.read_only and not isinstance(request.body, bytes) if request.retry is None else request.retry
        try:
            return self.transport.request(
                operation.method,
                operation.fill_path(request.path),
                query=query,
                body=request.body,
                retry=retry,
                endpoint=operation.route,
                is_json=operation.returns is not bytes,
                may_be_empty=operation.returns is None or operation.returns is JSON,
                varies_by_host=operation.varies_by_host,
            )
        except NotFoundError as error:
            # Operations with an effect send only their request, and an API that answers has the right URL.
            may_be_wrong = operation.read_only and not is_unknown_id(error)
            if may_be_wrong and (wrong := wrong_url_error(self.transport, self.api, self.common_path, error)):
                raise wrong from error
            raise

    def note_around(self, endpoint: str, members: Mapping[str, str]) -> None:
        """Keep the first value of each unknown member outside of results, and log its name."""
        texts = {hide_tokens(f"{endpoint}.{member}"): hide_tokens(text) for member, text in members.items()}
        add_extra_members(self.extra_members, texts)

    def _warn_once(self, operation: Operation) -> None:
        if operation.deprecated and operation.name not in self._warned:
            self._warned.add(operation.name)
            subject = f"{self.api.capitalize()} operation {operation.name} ({operation.route})"
            fate = f"is removed in {self.api} API {operation.until}" if operation.until else "is deprecated"
            warn_caller(f"{subject} {fate}. Use {operation.deprecated} instead.", DeprecationWarning)


class HealthClient(Client):
    """Base of the clients whose API has health checks."""

    @declare("GET /readyz", returns=None)
    def ready(self) -> dict[str, int]:
        """Return the HTTP status of the readiness check by host URL, 200 if the host is ready.

        Notes
        -----
        ``GET /readyz``.
        """
        return self._status_by_host("ready")

    @declare("GET /livez", returns=None)
    def live(self) -> dict[str, int]:
        """Return the HTTP status of the liveness check by host URL, 200 if the host is alive.

        Notes
        -----
        ``GET /livez``.
        """
        return self._status_by_host("live")

    def _status_by_host(self, name: str) -> dict[str, int]:
        return {url: self.transport.status(url, self.operations[name].path).status for url in self.transport.urls}


def _path_segment(value: object, name: str) -> str:
    if not isinstance(value, str) or value in ("", ".", "..") or SURROGATE.search(value):
        raise UsageError(f"{name}= must be text that a URL path can contain, got {value!r}.")
    # Servers list the keys of bulk objects with %7E for the tilde, although a path may contain it.
    return quote(value, safe="").replace("~", "%7E")


def _query_value(value: object) -> str | list[str]:
    if isinstance(value, list | tuple):
        return [str(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
