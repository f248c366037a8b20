"""The base of every struct of the wire.

A struct declares the members that this version knows and refuses others. That costs
nothing, and `decode` notices a new member as soon as a service sends one. It then extends
the struct by that member, so nothing fails and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

import msgspec

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
    return bytes(value).decode("utf-8", "replace") if isinstance(value, msgspec.Raw) else repr(value)
