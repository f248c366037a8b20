"""Members of responses that this release does not know, told once for each sync.

Their values are in the column ``extra`` of their tables (docs/architecture.md#tables).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.frames import Frames

__all__ = ["extra_members", "extra_members_of_tables"]

EXTRA = "extra"
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def extra_members(frames: Frames) -> list[str]:
    """Return the members in the column ``extra`` of frames, as sorted ``table.member``."""
    texts = {
        name: frames.scan(name).to_table(columns=[EXTRA], filter=ds.field(EXTRA).is_valid())
        for name in frames.tables
        if EXTRA in frames.scan(name).schema.names
    }
    return sorted(extra_members_of_tables(texts))


def extra_members_of_tables(tables: Mapping[str, pa.Table]) -> set[str]:
    """Return the members in the column ``extra`` of Arrow tables, as ``table.member``."""
    members = set()
    for name, table in tables.items():
        if EXTRA in table.column_names:
            members |= {f"{name}.{member}" for member in _members(table[EXTRA].drop_null().to_pylist())}
    return members


def _members(texts: Iterable[str]) -> set[str]:
    members: set[str] = set()
    for text in texts:
        members.update(_OBJECT.decode(text))
    return members
