"""Unknown members of rows that are made of several objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa

from ledgerframes.datasets._schema import TEXT
from ledgerframes.datasets._structs import Wire


def encode_extras(rows: Sequence[Wire], own_rows: tuple[type[Wire], ...] = (), **around: Sequence[Wire | None]) -> pa.Array:
    """Return the unknown members of rows, and those of their parts under the parts' names.

    The unknown members of `own_rows` are those of other rows. `around` has the objects around
    each row, by the name under which their unknown members are to be found. Each row gets a JSON object, or is missing.
    """
    structs = [rows, *around.values()]
    if not any(struct.is_extended for each in structs for struct in each if struct is not None):
        return pa.nulls(len(rows), TEXT)
    columns = {name: [_collect(struct, own_rows) for struct in structs] for name, structs in around.items()}
    extras = []
    for position, row in enumerate(rows):
        extra = _collect(row, own_rows)
        extra |= {name: column[position] for name, column in columns.items() if column[position]}
        extras.append(msgspec.json.encode(extra).decode() if extra else None)
    return pa.array(extras, TEXT)


def _collect(struct: Wire | None, own_rows: tuple[type[Wire], ...]) -> dict[str, Any]:
    if struct is None:
        return {}
    extra: dict[str, Any] = msgspec.json.decode(struct.extra, type=dict[str, msgspec.Raw]) if struct.extra else {}
    for field in msgspec.structs.fields(struct):
        part = getattr(struct, field.name)
        if isinstance(part, Wire) and not isinstance(part, own_rows):
            inner = _collect(part, own_rows)
            if inner:
                extra[field.encode_name] = inner
    return extra
