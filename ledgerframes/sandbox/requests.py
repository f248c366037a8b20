"""Checks of requests to the ledger API, declared by the models of bodies.

A model says what the published description demands: a member without default must be sent and not be empty, a `PartyId` or
`TemplateId` has a syntax, `EXACTLY_ONE` names members that exclude each other, and a `OneOf` has exactly one member. Unknown
members are ignored, except in a `OneOf`. See docs/facts.md#request-checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar, get_args, get_type_hints

import msgspec

from .responses import LedgerApiError, missing

T = TypeVar("T")

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Syntax(NamedTuple):
    """Syntax of a text, and the error code of a text without it."""

    noun: str
    pattern: re.Pattern[str]
    code: str = "INVALID_FIELD"

    def check(self, text: str) -> str:
        """Return a text, or refuse it."""
        if self.pattern.fullmatch(text):
            return text
        raise LedgerApiError(self.code, f"The submitted request has an invalid {self.noun}: '{text}'")


_NAMES = r"[A-Za-z$_][A-Za-z0-9$_]*(?:\.[A-Za-z$_][A-Za-z0-9$_]*)*"
PARTY = Syntax("party id", re.compile(r"[A-Za-z0-9:_ -]{1,255}"), "INVALID_ARGUMENT")
TEMPLATE = Syntax("identifier (package:module:entity)", re.compile(rf"#?[A-Za-z0-9_ -]{{1,255}}:{_NAMES}:{_NAMES}"))
CONTRACT = Syntax("contract id", re.compile(r"(?:[0-9A-Fa-f]{2})+"))
LEDGER_STRING = Syntax("ledger string", re.compile(r"[A-Za-z0-9._:#/ -]{1,255}"))
USER = Syntax("user id", re.compile(r"[A-Za-z0-9@^$.!`#+'~_|:()-]{1,128}"))

PartyId = Annotated[str, PARTY]
TemplateId = Annotated[str, TEMPLATE]
ContractId = Annotated[str, CONTRACT]
LedgerString = Annotated[str, LEDGER_STRING]
UserId = Annotated[str, USER]


class Request(msgspec.Struct, rename="camel"):
    """Body of a request, or an object in it."""

    EXACTLY_ONE: ClassVar[tuple[str, ...]] = ()  # the last is named if none is sent

    def __post_init__(self) -> None:
        """Refuse what is not as declared."""
        for name in _required(type(self)):
            if getattr(self, name) in ("", []):
                raise missing(name)
        for name, syntax in _syntaxes(type(self)).items():
            for text in _texts(getattr(self, name)):
                syntax.check(text)
        names = [name for name in self.EXACTLY_ONE if getattr(self, name)]
        if self.EXACTLY_ONE and not names:
            raise missing(self.EXACTLY_ONE[-1])
        if len(names) > 1:
            raise LedgerApiError("INVALID_ARGUMENT", f"{' and '.join(names)} cannot both be set")


class OneOf(msgspec.Struct, rename="pascal", forbid_unknown_fields=True):
    """Object with exactly one member, whose name says the kind of its content."""

    def __post_init__(self) -> None:
        """Refuse no member, and several."""
        if sum(value is not None for value in msgspec.structs.astuple(self)) != 1:
            names = ", ".join(field.encode_name for field in msgspec.structs.fields(self))
            raise ValueError(f"Expected exactly one of {names}")

    def content(self) -> Any:
        """Return the only member."""
        return next(value for value in msgspec.structs.astuple(self) if value is not None)


class Wrapped(msgspec.Struct, Generic[T]):
    """Content below the member value."""

    value: T


@cache
def _required(model: type[Request]) -> list[str]:
    """Return the members of a model that must be sent, except values of any type."""
    return [field.name for field in msgspec.structs.fields(model) if field.required and field.type is not Any]


@cache
def _syntaxes(model: type[Request]) -> dict[str, Syntax]:
    """Return the syntax of each member of a model that has one."""
    hints = get_type_hints(model, include_extras=True)
    return {name: syntax for name, hint in hints.items() if (syntax := _syntax_in(hint))}


def _syntax_in(hint: object) -> Syntax | None:
    """Return the syntax in a type, which may be that of list items or of keys."""
    parts = (part if isinstance(part, Syntax) else _syntax_in(part) for part in get_args(hint))
    return next(filter(None, parts), None)


def _texts(value: str | Iterable[str] | None) -> Iterable[str]:
    """Return the texts of a member, none for one that is absent or empty."""
    return [value] if isinstance(value, str) and value else value or ()
