"""One participant's ledger: what its parties see of the world, under its own offsets.

A newcomer reads `offsets` (where an update stands), `projection` (what the participant sees of it), `ledger`
(all of it, with random access), `formats` and `rendering` (what a request asks for, and how it is written),
`paging`, and `contracts` (what is active).
"""

from .ledger import ParticipantLedger, PlantedMismatch

__all__ = ["ParticipantLedger", "PlantedMismatch"]
