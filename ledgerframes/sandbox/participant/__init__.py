"""One participant's ledger, the updates that its parties see of the world under its own offsets.

Read `projection` (one update), `topology`, `ledger` (all updates), `contracts` (active contracts), then `filters` and
`rendering` (the form that a request gets).
"""

from .ledger import ParticipantLedger, PlantedMismatch

__all__ = ["ParticipantLedger", "PlantedMismatch"]
