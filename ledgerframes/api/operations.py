"""All operations of the three APIs, collected from their clients."""

from __future__ import annotations

from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.operation import Api, Client, Operation
from ledgerframes.api.wallet import Wallet
from ledgerframes.errors import UsageError

__all__ = ["CLIENTS", "OPERATIONS", "operation_of"]

CLIENTS: dict[Api, type[Client]] = {"ledger": Ledger, "wallet": Wallet, "history": History}
OPERATIONS: tuple[Operation, ...] = tuple(each for client in CLIENTS.values() for each in client.operations.values())


def operation_of(api: Api, name: str) -> Operation:
    """Return an operation by the name of its method.

    Raises
    ------
    UsageError
        If the API has no such operation.
    """
    operations = CLIENTS[api].operations
    if name not in operations:
        raise UsageError(f"Unknown {api} operation {name!r}. Choose from {', '.join(sorted(operations))}.")
    return operations[name]
