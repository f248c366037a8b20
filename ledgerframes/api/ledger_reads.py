"""The ledger API's operations on updates, completions and contracts; they only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ledgerframes.api.ledger_calls import LedgerCalls
from ledgerframes.api.ledger_checks import checked_filter, checked_offset, checked_page_request, checked_page_size, checked_text
from ledgerframes.api.transport import Answer
from ledgerframes.api.update_format import EventFormat, UpdateFormat
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets.ledger.wire import OffsetCheckpoint
from ledgerframes.datasets.state.wire import ActiveContractsPage, Completion, CompletionItem, ContractEvents
from ledgerframes.errors import UnsupportedOperationError

Filter = EventFormat | Mapping[str, Any]
UpdateFilter = UpdateFormat | Mapping[str, Any]

__all__ = ["LedgerReads"]


class LedgerReads(LedgerCalls):
    """Operations that only read: tried again, on the next host too, when that may help."""

    # -- updates ------------------------------------------------------------------------------------------------------

    def get_updates_page(self, request: Mapping[str, Any]) -> Answer:
        """Fetch a page of updates as the bytes that came.

        Parameters
        ----------
        request : mapping
            GetUpdatesPageRequest: updateFormat (an UpdateFormat, or JSON), beginOffsetExclusive, endOffsetInclusive, maxPageSize,
            descendingOrder, pageToken.

        Raises
        ------
        UsageError
            If the request has unknown members, no filter, or offsets that make no sense; before anything is sent.
        InvalidPageTokenError
            If anything but the token changed since the page before, the page size included (docs/facts.md#page-token-binding).
        PrunedOffsetError, OffsetAfterEndError
            If the range lies outside what the participant has.

        Notes
        -----
        Source: POST /v2/updates/get-updates-page; docs/facts.md#update-pages. Since ledger API 3.5.
        """
        return self._send("get_updates_page", body=checked_page_request(request))

    def updates(
        self,
        update_format: UpdateFilter,
        *,
        after: int = 0,
        through: int | None = None,
        descending: bool = False,
        limit: int | None = None,
        idle_ms: int | None = None,
    ) -> Answer:
        """List updates as the bytes that came; the page operation is for anything large.

        Parameters
        ----------
        update_format : UpdateFormat or mapping
        after, through : int
            ``after < offset <= through``.
        descending : bool
            Needs ``through``.
        limit : int, optional
            Updates at most.
        idle_ms : int, optional
            Milliseconds without an update after which the list ends; 500 unless the operator changed it.

        Raises
        ------
        TooManyElementsError
            If there are more than the participant's list limit, 200 by default (docs/facts.md#list-limit).

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/updates.
        """
        body: dict[str, Any] = {
            "beginExclusive": checked_offset(after, "after"),
            "updateFormat": checked_filter(update_format, "updateFormat"),
        }
        if through is not None:
            body["endInclusive"] = checked_offset(through, "through")
        if descending:
            body["descendingOrder"] = True
        return self._send("updates", params=_list_limits(limit, idle_ms), body=body)

    def update_by_id(self, update_id: str, update_format: UpdateFilter) -> Answer:
        """Look one update up by its id, as the bytes that came.

        Raises
        ------
        UpdateNotFoundError
            If there is no such update, or none that the filter's parties see.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/updates/update-by-id.
        """
        body = {"updateId": checked_text(update_id, "update_id"), "updateFormat": checked_filter(update_format, "updateFormat")}
        return self._send("update_by_id", body=body)

    def update_by_offset(self, offset: int, update_format: UpdateFilter) -> Answer:
        """Look one update up by its offset, as the bytes that came; see :meth:`update_by_id`."""
        body = {
            "offset": checked_offset(offset, "offset", least=1),
            "updateFormat": checked_filter(update_format, "updateFormat"),
        }
        return self._send("update_by_offset", body=body)

    # -- completions --------------------------------------------------------------------------------------------------

    def command_completions(
        self, parties: Sequence[str] = (), *, after: int = 0, limit: int | None = None, idle_ms: int | None = None
    ) -> list[Completion | OffsetCheckpoint]:
        """List command completions, and the checkpoints between them.

        Parameters
        ----------
        parties : sequence of str
            Those who submitted.
        after : int
            The offset after which to begin.
        limit, idle_ms : int, optional
            As for :meth:`updates`.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/commands/command-completions. Since ledger API 3.5;
        :meth:`completions` goes
        back further.
        """
        body = {"parties": list(parties), "beginExclusive": checked_offset(after, "after")}
        return self._completions("command_completions", body, _list_limits(limit, idle_ms))

    def user_completions(
        self,
        parties: Sequence[str],
        *,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
        idle_ms: int | None = None,
    ) -> list[Completion | OffsetCheckpoint]:
        """List command completions of one user; deprecated for :meth:`command_completions`.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/commands/completions.
        """
        body: dict[str, Any] = {"parties": list(parties), "beginExclusive": checked_offset(after, "after")}
        if user_id is not None:
            body["userId"] = user_id
        return self._completions("user_completions", body, _list_limits(limit, idle_ms))

    def completions(
        self,
        parties: Sequence[str] = (),
        *,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
        idle_ms: int | None = None,
    ) -> list[Completion | OffsetCheckpoint]:
        """List command completions by whichever operation the participant has.

        Parameters
        ----------
        parties, after, limit, idle_ms
            As for :meth:`command_completions`.
        user_id : str, optional
            For the older operation only; by default the token's user.

        Notes
        -----
        :meth:`command_completions` first; before ledger API 3.5 :meth:`user_completions`, without its warning.
        """
        try:
            return self.command_completions(parties, after=after, limit=limit, idle_ms=idle_ms)
        except UnsupportedOperationError:
            self._warned.add("user_completions")  # the caller asked for no deprecated operation
            return self.user_completions(parties, user_id=user_id, after=after, limit=limit, idle_ms=idle_ms)

    def _completions(self, name: str, body: Mapping[str, Any], params: Mapping[str, Any]) -> list[Completion | OffsetCheckpoint]:
        items = self._read(name, list[CompletionItem], params=params, body=body)
        contents = (item.content(name) for item in items)
        return [content for content in contents if content is not None]

    # -- contracts ----------------------------------------------------------------------------------------------------

    def active_contracts_page(
        self,
        event_format: Filter,
        *,
        active_at_offset: int | None = None,
        max_page_size: int | None = None,
        page_token: str | None = None,
    ) -> Answer:
        """Fetch a page of the contracts active at an offset, as the bytes that came.

        Parameters
        ----------
        event_format : EventFormat or mapping
        active_at_offset : int, optional
            The ledger's end by default; the page says which it was.
        max_page_size : int, optional
            2000 by default, 10000 at most, unless the operator changed that.
        page_token : str, optional
            Of the page before; everything else stays the same.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/state/active-contracts-page. Since ledger API 3.5.
        :meth:`decode_active_contracts` reads
        the head of the page.
        """
        checked_page_size(max_page_size, "max_page_size")
        body: dict[str, Any] = {
            "eventFormat": checked_filter(event_format, "eventFormat"),
            "maxPageSize": max_page_size,
            "pageToken": page_token,
        }
        if active_at_offset is not None:
            body["activeAtOffset"] = checked_offset(active_at_offset, "active_at_offset")
        return self._send("active_contracts_page", body={name: value for name, value in body.items() if value is not None})

    @staticmethod
    def decode_active_contracts(answer: Answer) -> ActiveContractsPage:
        """The head of a page: its offset and the next token; the contracts stay a JSON array."""
        return decode(answer.body, ActiveContractsPage, "POST /v2/state/active-contracts-page")

    def active_contracts(
        self, event_format: Filter, *, active_at_offset: int, limit: int | None = None, idle_ms: int | None = None
    ) -> Answer:
        """List the contracts active at an offset, a JSON array as the bytes that came: for ledger APIs before 3.5.

        Raises
        ------
        TooManyElementsError
            If there are more than the participant's list limit, 200 by default. The list cannot be continued: use
            :meth:`active_contracts_page`, or a narrower filter.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/state/active-contracts.
        """
        body = {
            "activeAtOffset": checked_offset(active_at_offset, "active_at_offset"),
            "eventFormat": checked_filter(event_format, "eventFormat"),
        }
        return self._send("active_contracts", params=_list_limits(limit, idle_ms), body=body)

    def events_by_contract_id(self, contract_id: str, event_format: Filter) -> Answer:
        """Look up the create and, if there was one, the consuming exercise of a contract, as the bytes that came.

        Raises
        ------
        ContractNotFoundError
            If there is no such contract, none that the filter's parties see, or it was pruned after its archival.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/events/events-by-contract-id. :meth:`decode_contract_events` tells
        the two apart.
        """
        body = {
            "contractId": checked_text(contract_id, "contract_id"),
            "eventFormat": checked_filter(event_format, "eventFormat"),
        }
        return self._send("events_by_contract_id", body=body)

    @staticmethod
    def decode_contract_events(answer: Answer) -> ContractEvents:
        """The create and the consuming exercise of :meth:`events_by_contract_id`, each None if it is not there."""
        return decode(answer.body, ContractEvents, "POST /v2/events/events-by-contract-id")

    def contract_by_id(self, contract_id: str, *, querying_parties: Sequence[str] = ()) -> Answer:
        """Look up the create of a contract, as the bytes that came.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/contracts/contract-by-id.
        """
        body: dict[str, Any] = {"contractId": checked_text(contract_id, "contract_id")}
        if querying_parties:
            body["queryingParties"] = list(querying_parties)
        return self._send("contract_by_id", body=body)


def _list_limits(limit: int | None, idle_ms: int | None) -> dict[str, Any]:
    """The query of the operations that list (docs/facts.md#ledger-operations)."""
    checked_page_size(limit, "limit")
    return {"limit": limit, "stream_idle_timeout_ms": idle_ms}
