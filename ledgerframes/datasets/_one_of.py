"""One-ofs, objects with exactly one of several kinds.

See docs/facts.md#unknown-kinds.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ledgerframes.datasets._structs import Wire
from ledgerframes.errors import DecodeError


class OneOf(Wire):
    """An object whose fields are the kinds that this version knows, of which one is present."""


def kind_of(one_of: OneOf | None, json_path: str, *, update_id: str = "") -> tuple[str, Any]:
    """Return the field of the kind that is present, and its content.

    Parameters
    ----------
    one_of : OneOf or None
    json_path : str
        Where it is, for the error.
    update_id : str
        Update that it belongs to, for the error.

    Raises
    ------
    DecodeError
        If it has no kind, a kind that this version does not know, or several kinds.
    """
    present = [] if one_of is None else [(name, value) for name in _kinds(type(one_of)) if (value := getattr(one_of, name))]
    unknown = [] if one_of is None or not one_of.extra else _unknown_kinds(one_of)
    if len(present) == 1 and not unknown:
        return present[0]
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


def _kinds(struct: type[OneOf]) -> tuple[str, ...]:
    return tuple(name for name in struct.__struct_fields__ if name not in struct.extra_members)


def _unknown_kinds(one_of: OneOf) -> list[str]:
    """Return the unknown members that are named like kinds, with a capital letter."""
    return [name for name in msgspec.json.decode(one_of.extra, type=dict[str, msgspec.Raw]) if name[:1].isupper()]
