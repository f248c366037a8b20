"""The ledger API's operations on contracts, which only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ledgerframes.api.ledger_checks import (
    list_query,
    require_filter,
    require_page_size,
    require_text,
    require_texts,
)
from ledgerframes.api.ledger_client import LedgerClient
from ledgerframes.api.operation import Request, members, operation
from ledgerframes.api.response import Response
from ledgerframes.api.update_format import EventFormat
from ledgerframes.datasets.state.wire import (
    ActiveContractsPage,
    ContractEvents,
)
from ledgerframes.values.checks import require_integer

__all__ = ["LedgerContracts"]

EventFilter = EventFormat | Mapping[str, Any]


class LedgerContracts(LedgerClient):
    """Operations on contracts."""

    @operation("POST /v2/state/active-contracts-page", returns=Response, since="3.5", read_only=True)
    def active_contracts_page(
        self,
        event_format: EventFilter,
        *,
        active_at_offset: int | None = None,
        max_page_size: int | None = None,
        page_token: str | None = None,
    ) -> Request:
        """Fetch a page of the contracts active at an offset.

        :meth:`decode_active_contracts` decodes the response.

        Parameters
        ----------
        event_format : EventFormat or mapping
        active_at_offset : int, optional
            By default the ledger's end, which the page contains.
        max_page_size : int, optional
            2000 by default, 10000 at most, unless the operator changed that.
        page_token : str, optional
            From the page before; everything else stays the same.

        Notes
        -----
        ``POST /v2/state/active-contracts-page``, since 3.5.
        """
        body = members(
            eventFormat=self._event_filter(event_format),
            activeAtOffset=None if active_at_offset is None else require_integer("active_at_offset", active_at_offset, 0),
            maxPageSize=require_page_size(max_page_size, "max_page_size"),
            pageToken=page_token,
        )
        return Request(body=body)

    @staticmethod
    def decode_active_contracts(response: Response) -> ActiveContractsPage:
        """Return the offset, the next token and the contracts (as JSON) of a page."""
        return response.decode(ActiveContractsPage)

    @operation("GET /v2/state/active-contracts-page", since="3.5", deprecated="active_contracts_page")
    def active_contracts_page_by_get(self, request: Mapping[str, Any]) -> Any:
        """Fetch a page of active contracts by GET with a body.

        Notes
        -----
        ``GET /v2/state/active-contracts-page``, since 3.5, deprecated.
        """

    @operation("POST /v2/state/active-contracts", returns=Response, read_only=True)
    def active_contracts(
        self, event_format: EventFilter, *, active_at_offset: int, limit: int | None = None, idle_ms: int | None = None
    ) -> Request:
        """List the contracts active at an offset, for ledger APIs before 3.5.

        Raises
        ------
        BadRequestError
            If there are more than the participant's list limit, 200 by default. The list cannot be continued: use
            :meth:`active_contracts_page`, or a narrower filter.

        Notes
        -----
        ``POST /v2/state/active-contracts``.
        """
        offset = require_integer("active_at_offset", active_at_offset, 0)
        body = {"activeAtOffset": offset, "eventFormat": self._event_filter(event_format)}
        return Request(query=list_query(limit, idle_ms), body=body)

    @operation("POST /v2/events/events-by-contract-id", returns=Response, since="3.4", changed="3.5", read_only=True)
    def events_by_contract_id(self, contract_id: str, event_format: EventFilter) -> Request:
        """Look up the create and the consuming exercise of a contract.

        :meth:`decode_contract_events` decodes the response.

        Raises
        ------
        NotFoundError
            If no contract has this id, none that the parties of the filter see, or it was pruned after its archival.

        Notes
        -----
        ``POST /v2/events/events-by-contract-id``, since 3.4.
        """
        body = {"contractId": require_text(contract_id, "contract_id"), "eventFormat": self._event_filter(event_format)}
        return Request(body=body)

    @staticmethod
    def decode_contract_events(response: Response) -> ContractEvents:
        """Return the create and the consuming exercise, each None if it does not exist."""
        return response.decode(ContractEvents)

    @operation("POST /v2/contracts/contract-by-id", returns=Response, read_only=True)
    def contract_by_id(self, contract_id: str, *, querying_parties: Sequence[str] = ()) -> Request:
        """Look up the create of a contract, without decoding it.

        Notes
        -----
        ``POST /v2/contracts/contract-by-id``.
        """
        parties = require_texts(querying_parties, "querying_parties") if querying_parties else None
        return Request(body=members(contractId=require_text(contract_id, "contract_id"), queryingParties=parties))

    def _event_filter(self, event_format: EventFilter) -> EventFilter:
        return require_filter(event_format, "eventFormat", self.newer_version)
