"""The client of a participant's ledger API, with a method per operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerframes.api.ledger_commands import LedgerCommands
from ledgerframes.api.ledger_contracts import LedgerContracts
from ledgerframes.api.ledger_state import LedgerState
from ledgerframes.api.ledger_updates import LedgerUpdates
from ledgerframes.api.operation import Body, Request
from ledgerframes.errors import UsageError

__all__ = ["Ledger"]


class Ledger(LedgerUpdates, LedgerContracts, LedgerCommands, LedgerState):
    """Client of one participant's ledger API.

    Every call sends a request, and nothing is cached. Operations that only read are retried, on the next host too;
    operations with an effect are sent once. Several hosts must be replicas of one participant, because offsets and page
    tokens mean nothing to another (docs/facts.md#page-token-binding and docs/facts.md#offsets-per-participant).

    Notes
    -----
    Operations: docs/facts.md#ledger-operations.
    """

    def call(self, name: str, /, *, params: Mapping[str, Any] | None = None, body: Body = None, **path: str | int) -> Any:
        """Call an operation by name, with any query and body.

        Parameters
        ----------
        name : str
            Such as ``users``; see :func:`ledgerframes.operations`.
        params : mapping, optional
            Query parameters; those that are None are not sent.
        body : mapping or bytes, optional
            A mapping is sent as JSON, bytes as they are.
        **path
            Path parameters, with an underscore for a dash: ``user_id=`` for ``{user-id}``.

        Returns
        -------
        Decoded JSON, bytes for an operation that returns bytes, or None for an empty body.

        Raises
        ------
        UsageError
            If there is no such operation, or path parameters are missing.
        UnsupportedOperationError
            If this participant's version does not have the operation.
        """
        operation = self.operations.get(name)
        if operation is None:
            raise UsageError(f"Unknown ledger operation {name!r}. Choose from ledgerframes.operations().")
        texts = {key: str(value) if isinstance(value, int) else value for key, value in path.items()}
        if body is None and operation.read_only and operation.method == "POST":
            body = {}
        response = self.send(operation, Request(texts, params or {}, body))
        return response.body if operation.returns is bytes else response.json()
