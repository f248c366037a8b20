"""The bases of the structs of the wire.

A struct declares the members that this version knows, and refuses others. That takes no
time, and `decode` notices a new member as soon as a service sends one. It then extends
the struct by that member, so nothing fails and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import msgspec

from ledgerframes.errors import DecodeError

ABSENT = msgspec.Raw(b"")
Offset = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # position in a ledger, which the API limits to 64 bits


class Wire(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A JSON object of the wire.

    Attributes
    ----------
    extra : Raw
        Members that this version does not know, as a JSON object, or no bytes at all.
    extra_members : mapping of str to str
        Fields of an extended struct, with the member that each of them contains.
    is_extended : bool
        Whether this struct, or one in it, is extended. If not, none of them has `extra`.
    """

    extra: ClassVar[msgspec.Raw] = ABSENT
    extra_members: ClassVar[Mapping[str, str]] = MappingProxyType({})
    is_extended: ClassVar[bool] = False

    def __repr__(self) -> str:
        values = {name: getattr(self, name) for name in self.__struct_fields__ if name not in self.extra_members}
        texts = {name: _to_text(value) for name, value in {**values, "extra": self.extra}.items()}
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in texts.items() if text)})"


def _to_text(value: object) -> str:
    return raw_text(value) if isinstance(value, msgspec.Raw) else repr(value)


def raw_text(value: msgspec.Raw) -> str:
    """Return JSON as text, with a replacement character for bytes that are not UTF-8."""
    return bytes(value).decode("utf-8", "replace")


# -- one-ofs --------------------------------------------------------------------------------------------------------


class OneOf(Wire):
    """An object whose fields are the known kinds, one of which is present.

    See docs/facts.md#unknown-kinds.
    """


def is_empty(one_of: OneOf | None) -> bool:
    """Return whether an optional one-of is absent, or has no member that is named like a kind."""
    if one_of is None:
        return True
    return not any(getattr(one_of, name) for name in _kinds(type(one_of))) and not (one_of.extra and _unknown_kinds(one_of))


def require_no_kind(wrapper: Wire, json_path: str, *, update_id: str = "") -> None:
    """Raise a DecodeError if an object without its one-of has a kind itself."""
    unknown = _unknown_kinds(wrapper) if wrapper.extra else []
    if unknown:
        of_update = f" of update {update_id}" if update_id else ""
        raise DecodeError(
            f"An object at {json_path}{of_update} has the kind {unknown[0]!r} itself, not in a one-of. "
            "Upgrade ledgerframes if the service is newer.",
            json_path=json_path,
            update_id=update_id,
            kind=unknown[0],
        )


def kind_of(one_of: OneOf | None, json_path: str, *, update_id: str = "") -> tuple[str, Any]:
    """Return the field of the kind that is present, and its content.

    Some contents are in a wrapper, ``value``.

    Raises
    ------
    DecodeError
        If it has no kind, a kind that this version does not know, or several kinds.
    """
    present = [] if one_of is None else [(name, value) for name in _kinds(type(one_of)) if (value := getattr(one_of, name))]
    unknown = [] if one_of is None or not one_of.extra else _unknown_kinds(one_of)
    if len(present) == 1 and not unknown:
        name, content = present[0]
        return name, getattr(content, "value", None) or content
    names = [*(name for name, _ in present), *unknown]
    if len(names) > 1:
        reason = f"has several kinds ({', '.join(names)})"
    else:
        reason = f"is of the kind {unknown[0]!r}, which this version does not know" if unknown else "has no kind"
    of_update = f" of update {update_id}" if update_id else ""
    raise DecodeError(
        f"A one-of at {json_path}{of_update} {reason}. Upgrade ledgerframes if the service is newer.",
        json_path=json_path,
        update_id=update_id,
        kind=unknown[0] if len(names) == 1 and unknown else "",
    )


def join_members(wrapper: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a content and its wrapper, both of those with the same name."""
    return {**{f"wrapper.{name}" if name in content else name: value for name, value in wrapper.items()}, **content}


def _kinds(struct: type[OneOf]) -> tuple[str, ...]:
    return tuple(name for name in struct.__struct_fields__ if name not in struct.extra_members)


def _unknown_kinds(one_of: Wire) -> list[str]:
    """Return the unknown members that are named like kinds, with a capital letter."""
    return [name for name in msgspec.json.decode(one_of.extra, type=dict[str, msgspec.Raw]) if name[:1].isupper()]
