"""What clients wrote: every write that was accepted, in its order."""

from __future__ import annotations

from typing import Any, NamedTuple


class Write(NamedTuple):
    """A write that the sandbox accepted."""

    api: str  # "ledger" or "wallet"
    operation: str  # method and path
    body: Any
