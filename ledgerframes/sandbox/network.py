"""The network behind the APIs of the sandbox."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from .bulk import BulkStorage
from .faults import Faults
from .participant.contracts import Contracts
from .participant.hashes import TransactionHashes
from .participant.ledger import ParticipantLedger
from .times import Clock
from .users import Users
from .wallet import OfferBook
from .world import World


class Write(NamedTuple):
    """A write that the sandbox accepted."""

    api: str  # "ledger" or "wallet"
    operation: str  # method, and path below the API's root
    body: Any


class SimulatedNetwork(Protocol):
    """The world, and what was done to it since. A `Sandbox` is one."""

    world: World
    clock: Clock
    faults: Faults
    ledger: ParticipantLedger
    users: Users
    wallet: OfferBook
    bulk: BulkStorage
    contracts: Contracts
    hashes: TransactionHashes
    writes: list[Write]
    ledger_version: str
    history_version: str
    max_page_size: int
