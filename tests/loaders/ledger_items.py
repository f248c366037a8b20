"""Updates as a participant sends them."""

from __future__ import annotations

from typing import Any


def update(offset: int, kind: str = "Transaction", **members: Any) -> dict[str, Any]:
    value = {
        "updateId": f"u{offset}", "offset": offset, "recordTime": "2026-11-01T00:00:00Z", "synchronizerId": "s", "events": [],
        "effectiveAt": "2026-11-01T00:00:00Z", **members,
    }  # fmt: skip
    return {"update": {kind: {"value": value}}}
