"""The lines of bulk objects: those of updates are `ledgerframes.datasets.events.wire.Update`, those of snapshots are here."""

from __future__ import annotations

import msgspec

from ledgerframes.datasets._structs import ABSENT, Wire

__all__ = ["ActiveContract"]


class ActiveContract(Wire):
    """A contract that is active on the network at a snapshot (docs/facts.md#contracts-at-snapshot).

    The newer form says which update created it. The older one has the event's id and type instead, which say the same.
    """

    contract_id: str
    template_id: str
    created_at: str
    signatories: list[str]
    observers: list[str]
    package_name: str | None = None
    create_arguments: msgspec.Raw = ABSENT
    created_in_update_id: str | None = None
    event_id: str | None = None
    event_type: str | None = None

    @property
    def created_in(self) -> str | None:
        """The update that created it; none for a contract imported from an earlier migration."""
        if self.created_in_update_id or not self.event_id:
            return self.created_in_update_id or None
        return self.event_id.lstrip("#").rpartition(":")[0] or None
