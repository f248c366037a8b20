"""Struct types that grow by the members a service adds, so that decoding stays fast.

Decoding an object whose members are not all known fails. Its unknown members are then learned
once per process: an extended subclass of the struct has a field for each, and every later
object is decoded in one pass. Members that cannot be learned, because a struct has too many or
their names cannot be those of a field, are moved into one member whose name no service knows.
"""

from __future__ import annotations

import functools
import operator
import re
import secrets
import threading
from collections.abc import Mapping
from types import MappingProxyType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import msgspec

from ledgerframes.datasets.structs import ABSENT, Wire

MAX_NAMES = 32  # each name takes time for every object; more than these are data rather than new members
REST = f"$extra-{secrets.token_hex(8)}"
FIELD_NAME = re.compile(r'[^"\\\x00-\x1f]{1,200}')  # other names msgspec refuses

T = TypeVar("T")
UnknownNames = dict[type[Wire], dict[str, None]]

_lock = threading.Lock()


class Extensions:
    """The members learned so far, with the struct types and decoders for them.

    An object of this class never changes except for its caches.
    """

    def __init__(self, names: Mapping[type[Wire], tuple[str, ...]] = MappingProxyType({})) -> None:
        self._names = names
        self._structs: dict[type[Wire], type[Wire]] = {}
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}

    def names(self, struct: type[Wire]) -> tuple[str, ...]:
        """Return the members learned for a struct."""
        return self._names.get(struct, ())

    def decoder(self, kind: type[T]) -> msgspec.json.Decoder[T]:
        """Return the decoder of a type, made at the first call."""
        decoder = self._decoders.get(kind)
        if decoder is None:
            # One thread at a time: threads that make the first decoder of a struct at once crash the interpreter.
            # Not strict: some networks send every int64 as text (docs/facts.md#integers-as-text).
            with _lock:
                decoder = self._decoders[kind] = msgspec.json.Decoder(self._extend(kind), strict=False)
        return decoder

    def with_names(self, unknown: UnknownNames) -> Extensions:
        """Return extensions with these names, or this object if none of them is new."""
        names = dict(self._names)
        for struct, members in unknown.items():
            for member in members:
                names[struct] = _with_name(names.get(struct, ()), member)
        return self if names == self._names else Extensions(names)

    def _extend(self, kind: Any) -> Any:
        """Return a type with every struct in it extended."""
        if isinstance(kind, type) and issubclass(kind, Wire):
            return self._extend_struct(kind)
        arguments = get_args(kind)
        extended = tuple(self._extend(argument) for argument in arguments)
        if all(map(operator.is_, arguments, extended)):
            return kind
        origin = get_origin(kind)
        return functools.reduce(operator.or_, extended) if origin in (Union, UnionType) else origin[extended]

    def _extend_struct(self, struct: type[Wire]) -> type[Wire]:
        if struct not in self._structs:
            fields = msgspec.structs.fields(struct)
            types = {field.name: self._extend(field.type) for field in fields}
            is_changed = any(types[field.name] is not field.type for field in fields)
            names = self.names(struct)
            self._structs[struct] = _subclass(struct, types, names) if names or is_changed else struct
        return self._structs[struct]


def _with_name(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    if name in names:
        return names
    if len(names) < MAX_NAMES and FIELD_NAME.fullmatch(name):
        return (*names, name)
    return names if REST in names else (*names, REST)


def _subclass(struct: type[Wire], types: dict[str, Any], names: tuple[str, ...]) -> type[Wire]:
    """Return a subclass with all fields in their order, in which decoding expects members."""
    declare: Any = msgspec.field
    fields: list[tuple[str, Any, Any]] = [
        (
            field.name,
            types[field.name],
            declare(default=field.default, default_factory=field.default_factory, name=field.encode_name),
        )
        for field in msgspec.structs.fields(struct)
    ]
    members = {f"extra_{position}": name for position, name in enumerate(names)}
    fields += [(field, msgspec.Raw, declare(default=ABSENT, name=name)) for field, name in members.items()]
    namespace: dict[str, Any] = {"is_extended": True}
    if members:
        namespace |= {"extra_members": members, "extra": property(_encode_extra)}
    extended: Any = msgspec.defstruct(
        struct.__name__, fields, bases=(struct,), namespace=namespace, module=struct.__module__, kw_only=True
    )
    return cast("type[Wire]", extended)


def _encode_extra(struct: Wire) -> msgspec.Raw:
    members = {name: bytes(getattr(struct, field)) for field, name in struct.extra_members.items()}
    parts = [member_prefix(name).encode() + (value[1:-1] if name == REST else value) for name, value in members.items() if value]
    return msgspec.Raw(b"{%s}" % b",".join(parts)) if parts else ABSENT


def member_prefix(name: str) -> str:
    """Return the JSON text before a member's value, which is empty for `REST`."""
    return "" if name == REST else msgspec.json.encode(name).decode() + ":"


# -- what this process has learned ----------------------------------------------------------------------------------

_learned = Extensions()


def extensions() -> Extensions:
    """Return the extensions that this process has learned so far."""
    return _learned


def learn(unknown: UnknownNames) -> Extensions:
    """Learn the names of unknown members, and return the extensions with them."""
    global _learned
    with _lock:
        _learned = _learned.with_names(unknown)
        return _learned
