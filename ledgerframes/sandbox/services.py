"""The parts of a sandbox that its APIs share."""

from __future__ import annotations

from typing import Any, NamedTuple

from .bulk import BulkStorage
from .clock import Clock
from .faults import Faults
from .ledger_version import Version
from .offer_book import OfferBook
from .participant import ParticipantLedger
from .participant.filters import Registry
from .users import Users
from .vocabulary import Vocabulary
from .world import World


class Write(NamedTuple):
    """A write that the sandbox accepted."""

    api: str  # "ledger" or "wallet"
    operation: str  # method and path
    body: Any


class Services(NamedTuple):
    """Parts of a sandbox that its APIs show or change."""

    world: World
    vocabulary: Vocabulary
    clock: Clock
    ledger: ParticipantLedger
    version: Version  # of the ledger
    max_page_size: int  # of ledger updates
    registry: Registry
    users: Users
    wallet: OfferBook
    bulk: BulkStorage
    writes: list[Write]  # accepted writes
    faults: Faults
