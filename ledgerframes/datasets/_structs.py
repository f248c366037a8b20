"""What every struct of the wire has in common.

A struct names all members it knows and refuses others: that costs nothing, and lets `decode` notice a new member the moment
the network sends one. Such members are then folded into `extra`, so that nothing fails and nothing vanishes.
"""

from __future__ import annotations

import msgspec

ABSENT = msgspec.Raw(b"")
EXTRA = "$extra"


class Wire(msgspec.Struct, gc=False, forbid_unknown_fields=True, kw_only=True):
    """A JSON object of the wire."""

    extra: msgspec.Raw = msgspec.field(default=ABSENT, name=EXTRA)

    def __repr__(self) -> str:
        shown = ((name, getattr(self, name)) for name in self.__struct_fields__)
        texts = (
            (name, bytes(value).decode("utf-8", "replace") if isinstance(value, msgspec.Raw) else repr(value))
            for name, value in shown
        )
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in texts if text)})"
