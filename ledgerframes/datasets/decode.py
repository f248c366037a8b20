"""Decoding of bytes to structs, including members that this version does not know."""

from __future__ import annotations

import functools
import operator
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from ledgerframes.datasets._extensions import REST, Extensions, UnknownNames, extensions, learn
from ledgerframes.datasets.boundary import DATA_ERRORS, decode_error
from ledgerframes.datasets.structs import Wire

T = TypeVar("T")

_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def decode(body: bytes | msgspec.Raw, kind: type[T], endpoint: str) -> T:
    """Decode one JSON document of an operation or a file.

    Raises
    ------
    DecodeError
        If it is not JSON, or not what the API promises, with the JSON path.
    """
    try:
        return decode_with_extras(body, kind)
    except DATA_ERRORS as error:
        raise decode_error(error, endpoint, body=bytes(body)) from error


def decode_with_extras(body: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode one JSON document and learn its unknown members.

    Errors are those of msgspec.
    """
    known = extensions()
    while True:
        try:
            return known.decoder(kind).decode(body)
        except msgspec.ValidationError as error:
            if "unknown field" not in str(error):
                raise
        unknown: UnknownNames = {}
        moved = move_extras(body, kind, known, unknown)
        learned = learn(unknown)
        if learned is known:  # nothing more can be learned
            return known.decoder(kind).decode(moved)
        known = learned


def without_none(kind: Any) -> Any:
    """Return the type of a member that is neither absent nor null."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    return functools.reduce(operator.or_, [option for option in get_args(kind) if option is not type(None)])


# -- members that cannot be learned ---------------------------------------------------------------------------------


def move_extras(body: bytes | msgspec.Raw, kind: Any, known: Extensions, unknown: UnknownNames) -> bytes | msgspec.Raw:
    """Return the same JSON with the unknown members of each object in one member, `REST`.

    Payloads stay as they are. A value of another shape is not changed, because the decoder describes it better. `unknown` gets
    the names of the unknown members of each struct.
    """
    kind = without_none(kind)
    if bytes(memoryview(body)[:4]) == b"null" or not _contains_structs(kind):
        return body
    try:
        if get_origin(kind) is list:
            parts = _LIST.decode(body)
            return msgspec.json.encode([msgspec.Raw(move_extras(part, get_args(kind)[0], known, unknown)) for part in parts])
        members = _OBJECT.decode(body)
    except msgspec.ValidationError:
        return body
    if get_origin(kind) is dict:
        types = dict.fromkeys(members, get_args(kind)[1])
    else:
        types = {**_member_types(kind), **dict.fromkeys(known.names(kind), msgspec.Raw)}
    moved = {name: msgspec.Raw(move_extras(part, types[name], known, unknown)) for name, part in members.items() if name in types}
    rest = {name: part for name, part in members.items() if name not in types}
    if rest:
        unknown.setdefault(kind, {}).update(dict.fromkeys(rest))
        moved[REST] = msgspec.Raw(msgspec.json.encode(rest))
    return msgspec.json.encode(moved)


@functools.cache
def _member_types(struct: type[Wire]) -> dict[str, Any]:
    """Return the members of a struct by their names on the wire, with their types."""
    return {field.encode_name: field.type for field in msgspec.structs.fields(struct)}


def _contains_structs(kind: Any) -> bool:
    if get_origin(kind) in (list, dict):
        return _contains_structs(get_args(kind)[-1])
    return isinstance(kind, type) and issubclass(kind, Wire)
