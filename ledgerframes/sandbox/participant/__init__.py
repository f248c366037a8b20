"""One participant's ledger, with the updates that its parties see.

Read `participant` (the parties that it hosts), `projection` (one update), `ledger` (all updates),
`contracts` (active contracts), then `filters` and `rendering` (the form that a request gets).
"""

from .ledger import ParticipantLedger, PlantedMismatch

__all__ = ["ParticipantLedger", "PlantedMismatch"]
