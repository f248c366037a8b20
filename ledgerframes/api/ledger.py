"""The ledger API of a participant: one method per operation of the order, and a way to call every other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ledgerframes.api.ledger_inventory import LedgerInventory
from ledgerframes.api.ledger_reads import LedgerReads, UpdateFilter
from ledgerframes.api.ledger_writes import LedgerWrites
from ledgerframes.api.operations import OPERATIONS

__all__ = ["Ledger"]


class Ledger(LedgerReads, LedgerInventory, LedgerWrites):
    """Client of one participant's ledger API.

    Every method asks the service; loaders are what remembers. Reads are tried again when that may help, writes never. Several
    hosts must be replicas of one participant: offsets and page tokens mean nothing to another
    (docs/facts.md#page-token-binding and docs/facts.md#offsets-per-participant). Operations
    that have no method of their own here are called by name with :meth:`call`; ``ledgerframes.operations()`` lists all.

    Parameters
    ----------
    transport : Transport
        With the token, and :func:`ledgerframes.api.ledger_refusals.ledger_refusal` for bad statuses.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """An operation without a method of its own, as :meth:`call` makes it."""
        if any(each.api == "ledger" and each.name == name for each in OPERATIONS):
            return functools.partial(self.call, name)
        raise AttributeError(f"The ledger API has no operation {name!r}; ledgerframes.operations() lists all.")

    # -- deprecated forms ---------------------------------------------------------------------------------------------

    def flat_updates(self, request: Mapping[str, Any]) -> Any:
        """List flat transactions (beginExclusive, endInclusive, filter, verbose); deprecated for :meth:`updates`."""
        return self.call("flat_updates", body=request)

    def tree_updates(self, request: Mapping[str, Any]) -> Any:
        """List transaction trees (beginExclusive, endInclusive, filter, verbose); deprecated for :meth:`updates`."""
        return self.call("tree_updates", body=request)

    def active_contracts_page_by_get(self, request: Mapping[str, Any]) -> Any:
        """A page of active contracts by GET with a body; deprecated for :meth:`active_contracts_page`."""
        return self.call("active_contracts_page_by_get", body=request)

    def vetted_packages_page_by_get(self, request: Mapping[str, Any] | None = None) -> Any:
        """A page of vetted packages by GET with a body; deprecated for :meth:`vetted_packages_page`."""
        return self.call("vetted_packages_page_by_get", body=request or {})

    def transaction_by_id(self, update_id: str, transaction_format: UpdateFilter) -> Any:
        """Look one transaction up by its id; deprecated for :meth:`update_by_id`."""
        return self.call("transaction_by_id", body={"updateId": update_id, "transactionFormat": transaction_format})

    def transaction_by_offset(self, offset: int, transaction_format: UpdateFilter) -> Any:
        """Look one transaction up by its offset; deprecated for :meth:`update_by_offset`."""
        return self.call("transaction_by_offset", body={"offset": offset, "transactionFormat": transaction_format})
