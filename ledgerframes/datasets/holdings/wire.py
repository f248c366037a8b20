"""Structs of the views of the token standard's interfaces (docs/facts.md#token-standard).

A member that a registry does not send is missing. The whole view stays JSON text.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ledgerframes.datasets.structs import ABSENT


class View(msgspec.Struct, rename="camel", frozen=True):
    """A part of a view. Members that it does not name are in the JSON text."""


class Instrument(View, frozen=True):
    """A kind of token, by its administrator and its name there."""

    admin: str | None = None
    id: str | None = None


class Lock(View, frozen=True):
    """A lock that stops transfers of a holding."""

    holders: list[str] | None = None
    expires_at: str | None = None


class Holding(View, frozen=True):
    """Tokens that a party owns."""

    owner: str | None = None
    instrument_id: Instrument | None = None
    amount: str | None = None
    lock: Lock | None = None


class Transfer(View, frozen=True):
    """Tokens that one party sends to another."""

    sender: str | None = None
    receiver: str | None = None
    amount: str | None = None
    instrument_id: Instrument | None = None
    requested_at: str | None = None
    execute_before: str | None = None


class TransferInstruction(View, frozen=True):
    """A transfer that is not complete."""

    transfer: Transfer = Transfer()
    status: Any = None


class Settlement(View, frozen=True):
    """When and by whom an allocation is settled."""

    executor: str | None = None
    requested_at: str | None = None
    allocate_before: str | None = None
    settle_before: str | None = None


class Specification(View, frozen=True):
    """The transfer of a settlement for which tokens are reserved."""

    settlement: Settlement = Settlement()
    transfer_leg_id: str | None = None
    transfer_leg: Transfer = Transfer()


class Allocation(View, frozen=True):
    """Tokens that are reserved for a settlement."""

    allocation: Specification = Specification()


class ViewStatus(View, frozen=True):
    """Whether a participant could compute a view."""

    code: int | None = None
    message: str | None = None


class InterfaceView(View, frozen=True):
    """A view of a contract through an interface."""

    interface_id: str
    view_status: ViewStatus | None = None
    view_value: msgspec.Raw = ABSENT
