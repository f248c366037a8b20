"""Bytes to structs: strict first, because that is fast; folding unknown members in only when there are any."""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Hashable
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from ledgerframes.datasets._structs import EXTRA, Wire
from ledgerframes.errors import DecodeError

T = TypeVar("T")

_making = threading.Lock()


@functools.cache
def decoder_of(kind: Hashable) -> msgspec.json.Decoder[Any]:
    """The decoder of a struct, made once."""
    # One at a time: threads that make the first decoder of a struct at once bring the interpreter down.
    # Not strict: some networks send every int64 as text (docs/facts.md#integers-as-text).
    with _making:
        return msgspec.json.Decoder[Any](kind, strict=False)


def decode(body: bytes | msgspec.Raw, kind: type[T], endpoint: str) -> T:
    """Decode one JSON document.

    Parameters
    ----------
    body : bytes
        What the service sent.
    kind : type
        Struct to decode into.
    endpoint : str
        For the error: what was asked, or the file read.

    Raises
    ------
    DecodeError
        If it is not JSON, or not what the API promises; with the JSON path.
    """
    try:
        return decode_or_fold(body, kind)
    except msgspec.ValidationError as error:
        reason, path = reason_and_path(error)
        raise DecodeError(
            f"{endpoint} answered something else than the API promises: {reason} at {path}. "
            "Ask the operator which version the service runs; `ledgerframes doctor` shows what it says of itself.",
            endpoint=endpoint,
            json_path=path,
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        begins = bytes(body[:60]).decode("utf-8", "replace")
        raise DecodeError(
            f"{endpoint} answered something that is not JSON ({error}). It begins with {begins!r}. "
            "Check that the URL is the API's own.",
            endpoint=endpoint,
            json_path="$",
        ) from error


def decode_or_fold(body: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode one JSON document, with msgspec's own errors; unknown members are folded in where there are any."""
    decoder: msgspec.json.Decoder[T] = decoder_of(kind)  # type: ignore[arg-type]
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        if "unknown field" not in str(error):
            raise
    return decoder.decode(fold_unknown(body, kind))


def reason_and_path(error: msgspec.ValidationError) -> tuple[str, str]:
    """What msgspec found wrong, and the JSON path of it."""
    reason, _, path = str(error).partition(" - at `")
    return reason[:1].lower() + reason[1:], path.rstrip("`") or "$"


# -- members that this version does not know ------------------------------------------------------------------------


def fold_unknown(body: bytes | msgspec.Raw, kind: Any) -> bytes | msgspec.Raw:
    """The same JSON with every unknown member of a known object moved into that object's extra member.

    Payloads are passed on as the bytes they are. What is not of the promised shape is left alone: decoding names it better.
    """
    kind = without_none(kind)
    if bytes(memoryview(body)[:4]) == b"null" or not _holds_structs(kind):
        return body
    try:
        if get_origin(kind) is list:
            return _fold_list(body, get_args(kind)[0])
        if get_origin(kind) is dict:
            return _fold_map(body, get_args(kind)[1])
        return _fold_object(body, kind)
    except msgspec.ValidationError:
        return body


def _fold_list(body: bytes | msgspec.Raw, item: Any) -> bytes:
    parts = decoder_of(list[msgspec.Raw]).decode(body)
    return msgspec.json.encode([msgspec.Raw(fold_unknown(part, item)) for part in parts])


def _fold_map(body: bytes | msgspec.Raw, item: Any) -> bytes:
    parts = decoder_of(dict[str, msgspec.Raw]).decode(body)
    return msgspec.json.encode({name: msgspec.Raw(fold_unknown(part, item)) for name, part in parts.items()})


def _fold_object(body: bytes | msgspec.Raw, kind: type[Wire]) -> bytes:
    known = _known_members(kind)
    members = decoder_of(dict[str, msgspec.Raw]).decode(body)
    folded = {name: msgspec.Raw(fold_unknown(part, known[name])) for name, part in members.items() if name in known}
    extra = {name: part for name, part in members.items() if name not in known}
    if extra:
        folded[EXTRA] = msgspec.Raw(msgspec.json.encode(extra))
    return msgspec.json.encode(folded)


@functools.cache
def _known_members(kind: type[Wire]) -> dict[str, Any]:
    """The wire's names of a struct's members, with their types."""
    return {field.encode_name: field.type for field in msgspec.structs.fields(kind) if field.encode_name != EXTRA}


def without_none(kind: Any) -> Any:
    """The type that a member has where it is not missing."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    return functools.reduce(operator.or_, [option for option in get_args(kind) if option is not type(None)])


def _holds_structs(kind: Any) -> bool:
    if get_origin(kind) in (list, dict):
        return _holds_structs(get_args(kind)[-1])
    return isinstance(kind, type) and issubclass(kind, Wire)
