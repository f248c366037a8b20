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
