"""All operations of the three APIs, collected from their clients."""

from __future__ import annotations

from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.names import Api
from ledgerframes.api.operation import Client, Operation
from ledgerframes.api.wallet import Wallet

__all__ = ["CLIENTS", "OPERATIONS"]

CLIENTS: dict[Api, type[Client]] = {"ledger": Ledger, "wallet": Wallet, "history": History}
OPERATIONS: tuple[Operation, ...] = tuple(each for client in CLIENTS.values() for each in client.operations.values())
