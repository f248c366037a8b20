"""Unknown members of rows that are made of several objects, and of objects without a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa

from ledgerframes.datasets.schema import TEXT
from ledgerframes.datasets.structs import Wire, raw_text

Around: TypeAlias = Wire | Mapping[str, Wire] | None  # an object around a row, or several by name


def encode_extras(rows: Sequence[Wire], **around: Sequence[Around]) -> pa.Array:
    """Return the unknown members of rows, and those of their parts under the parts' names.

    `around` has the objects around each row, by the name under which their unknown members are to be found. Each row gets a JSON
    object, or is missing.
    """
    if not any(struct.is_extended for each in (rows, *around.values()) for struct in _structs(each)):
        return pa.nulls(len(rows), TEXT)
    extras = []
    for position, row in enumerate(rows):
        extra = _collect(row, row)
        extra |= {name: inner for name, objects in around.items() if (inner := _collect(objects[position], row))}
        extras.append(msgspec.json.encode(extra).decode() if extra else None)
    return pa.array(extras, TEXT)


def unknown_members(content: object, *, but: object = (), path: str = "") -> dict[str, str]:
    """Return the unknown members of an object and its parts as JSON, the first of each path.

    The part `but` is omitted, or all parts of that type.
    """
    if content is but or (isinstance(but, type) and isinstance(content, but)):
        return {}
    if isinstance(content, list):
        return _merge(unknown_members(item, but=but, path=f"{path}[...]") for item in content)
    if not isinstance(content, Wire) or not content.is_extended:
        return {}
    before = f"{path}." if path else ""
    own = {f"{before}{name}": raw_text(value) for name, value in _own_members(content).items()}
    members = ((name, member) for name, member in _members_of_fields(content) if name not in content.extra_members)
    parts = (unknown_members(getattr(content, name), but=but, path=f"{before}{member}") for name, member in members)
    return _merge([own, *parts])


def _merge(parts: Iterable[dict[str, str]]) -> dict[str, str]:
    members: dict[str, str] = {}
    for part in parts:
        members = {**part, **members}
    return members


def _structs(objects: Iterable[Around]) -> Iterator[Wire]:
    for each in objects:
        if isinstance(each, Mapping):
            yield from each.values()
        elif each is not None:
            yield each


def _collect(struct: Around, row: Wire) -> dict[str, Any]:
    """Return the unknown members of an object and its parts, except those of its row."""
    if struct is None:
        return {}
    if isinstance(struct, Mapping):
        return {name: inner for name, each in struct.items() if (inner := _collect(each, row))}
    extra: dict[str, Any] = {**_own_members(struct)}
    for name, member in _members_of_fields(struct):
        part = getattr(struct, name)
        if isinstance(part, Wire) and part is not row and (inner := _collect(part, row)):
            extra[member] = inner
    return extra


def _members_of_fields(struct: Wire) -> Iterator[tuple[str, str]]:
    """Return each field of a struct with its member of the wire.

    `msgspec.structs.fields` reads the types, too, which would take longer than to decode the object.
    """
    return zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True)


def _own_members(struct: Wire) -> dict[str, msgspec.Raw]:
    return msgspec.json.decode(struct.extra, type=dict[str, msgspec.Raw]) if struct.extra else {}
