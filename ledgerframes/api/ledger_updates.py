"""The ledger API's operations on updates and completions, which only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ledgerframes.api.ledger_checks import (
    list_query,
    require_filter,
    require_page_request,
    require_text,
    require_texts,
)
from ledgerframes.api.ledger_state import LedgerState
from ledgerframes.api.operation import Request, members, operation
from ledgerframes.api.response import Response
from ledgerframes.api.update_format import EventFormat, UpdateFormat
from ledgerframes.datasets.ledger.wire import OffsetCheckpoint
from ledgerframes.datasets.state.wire import (
    Completion,
    CompletionItem,
    CompletionsByHash,
    items_without_content,
)
from ledgerframes.errors import UnsupportedOperationError
from ledgerframes.values.checks import require_integer

__all__ = ["LedgerUpdates"]

EventFilter = EventFormat | Mapping[str, Any]
UpdateFilter = UpdateFormat | Mapping[str, Any]


def _completions(items: list[CompletionItem]) -> list[Completion | OffsetCheckpoint]:
    contents = (item.content("command completions") for item in items)
    return [content for content in contents if content is not None]


class LedgerUpdates(LedgerState):
    """Operations on updates and completions."""

    # -- updates ------------------------------------------------------------------------------------------------------

    @operation("POST /v2/updates/get-updates-page", returns=Response, since="3.5", read_only=True)
    def get_updates_page(self, request: Mapping[str, Any]) -> Request:
        """Fetch a page of updates without decoding it.

        See docs/facts.md#update-pages.

        Parameters
        ----------
        request : mapping
            ``updateFormat`` (an UpdateFormat or its JSON), beginOffsetExclusive, endOffsetInclusive, maxPageSize,
            descendingOrder, pageToken.

        Raises
        ------
        UsageError
            If the request has no filter, invalid offsets or members that are unknown to a participant that is not newer than
            this release; nothing is sent.
        BadRequestError
            With a code such as ``INVALID_UPDATES_PAGE_TOKEN``, if anything but the token differs from the request before
            (docs/facts.md#page-token-binding).
        PrunedOffsetError, OffsetAfterEndError
            If the offset range is outside the participant's ledger.

        Notes
        -----
        ``POST /v2/updates/get-updates-page``, since 3.5.
        """
        return Request(body=require_page_request(request, self.newer_version))

    @operation("POST /v2/updates", returns=Response, read_only=True)
    def updates(
        self,
        update_format: UpdateFilter,
        *,
        after: int = 0,
        through: int | None = None,
        descending: bool = False,
        limit: int | None = None,
        idle_ms: int | None = None,
    ) -> Request:
        """List updates without decoding them, up to the participant's list limit.

        Parameters
        ----------
        update_format : UpdateFormat or mapping
        after, through : int
            ``after < offset <= through``.
        descending : bool
            Needs ``through=``.
        limit : int, optional
            Maximum number of updates.
        idle_ms : int, optional
            Milliseconds without an update after which the list ends; 500 unless the operator changed it.

        Raises
        ------
        BadRequestError
            If there are more than the list limit, 200 by default (docs/facts.md#list-limit). :meth:`get_updates_page`
            has no limit.

        Notes
        -----
        ``POST /v2/updates``.
        """
        body = members(
            beginExclusive=require_integer("after", after, 0),
            updateFormat=self._update_filter(update_format),
            endInclusive=None if through is None else require_integer("through", through, 0),
            descendingOrder=descending or None,
        )
        return Request(query=list_query(limit, idle_ms), body=body)

    @operation("POST /v2/updates/update-by-id", returns=Response, read_only=True)
    def update_by_id(self, update_id: str, update_format: UpdateFilter) -> Request:
        """Look up one update by its id, without decoding it.

        Raises
        ------
        NotFoundError
            If no update has this id, or none that the parties of the filter see.

        Notes
        -----
        ``POST /v2/updates/update-by-id``.
        """
        body = {"updateId": require_text(update_id, "update_id"), "updateFormat": self._update_filter(update_format)}
        return Request(body=body)

    @operation("POST /v2/updates/update-by-offset", returns=Response, read_only=True)
    def update_by_offset(self, offset: int, update_format: UpdateFilter) -> Request:
        """Look up one update by its offset, without decoding it.

        Notes
        -----
        ``POST /v2/updates/update-by-offset``.
        """
        body = {"offset": require_integer("offset", offset, 1), "updateFormat": self._update_filter(update_format)}
        return Request(body=body)

    @operation("POST /v2/updates/update-by-hash", returns=Response, since="3.6", read_only=True)
    def update_by_hash(self, transaction_hash: str, update_format: UpdateFilter) -> Request:
        """Look up one update by the hash of its transaction, without decoding it.

        Only transactions that were signed outside the participant have a hash (docs/facts.md#lookups-by-hash).

        Parameters
        ----------
        transaction_hash : str
            As in ``transaction_hash`` of an update or a completion.
        update_format : UpdateFormat or mapping

        Raises
        ------
        NotFoundError
            If no update has this hash, or none that the parties of the filter see.

        Notes
        -----
        ``POST /v2/updates/update-by-hash``, since 3.6.
        """
        body = {
            "transactionHash": require_text(transaction_hash, "transaction_hash"),
            "updateFormat": self._update_filter(update_format),
        }
        return Request(body=body)

    # -- forms of updates that were removed ---------------------------------------------------------------------------

    @operation("POST /v2/updates/flats", until="3.6", read_only=True, deprecated="updates")
    def flat_updates(self, request: Mapping[str, Any]) -> Any:
        """List flat transactions (beginExclusive, endInclusive, filter, verbose).

        Notes
        -----
        ``POST /v2/updates/flats``, removed in 3.6, deprecated.
        """

    @operation("POST /v2/updates/trees", until="3.6", read_only=True, deprecated="updates")
    def tree_updates(self, request: Mapping[str, Any]) -> Any:
        """List transaction trees (beginExclusive, endInclusive, filter, verbose).

        Notes
        -----
        ``POST /v2/updates/trees``, removed in 3.6, deprecated.
        """

    @operation("POST /v2/updates/transaction-by-offset", until="3.6", read_only=True, deprecated="update_by_offset")
    def transaction_by_offset(self, offset: int, transaction_format: UpdateFilter) -> Request:
        """Look up one transaction by its offset.

        Notes
        -----
        ``POST /v2/updates/transaction-by-offset``, removed in 3.6, deprecated.
        """
        return Request(body={"offset": require_integer("offset", offset, 1), "transactionFormat": transaction_format})

    @operation("POST /v2/updates/transaction-by-id", until="3.6", read_only=True, deprecated="update_by_id")
    def transaction_by_id(self, update_id: str, transaction_format: UpdateFilter) -> Request:
        """Look up one transaction by its id.

        Notes
        -----
        ``POST /v2/updates/transaction-by-id``, removed in 3.6, deprecated.
        """
        return Request(body={"updateId": update_id, "transactionFormat": transaction_format})

    @operation("GET /v2/updates/transaction-tree-by-offset/{offset}", until="3.6", deprecated="update_by_offset")
    def transaction_tree_by_offset(self, offset: int, *, parties: str | Sequence[str] = ()) -> Request:
        """Look up one transaction tree by its offset, as parties see it.

        Notes
        -----
        ``GET /v2/updates/transaction-tree-by-offset/{offset}``, removed in 3.6, deprecated.
        """
        return Request(path={"offset": str(require_integer("offset", offset, 1))}, query={"parties": parties})

    @operation("GET /v2/updates/transaction-tree-by-id/{update-id}", until="3.6", deprecated="update_by_id")
    def transaction_tree_by_id(self, update_id: str, *, parties: str | Sequence[str] = ()) -> Request:
        """Look up one transaction tree by its id, as parties see it.

        Notes
        -----
        ``GET /v2/updates/transaction-tree-by-id/{update-id}``, removed in 3.6, deprecated.
        """
        return Request(path={"update_id": update_id}, query={"parties": parties})

    # -- completions --------------------------------------------------------------------------------------------------

    @operation(
        "POST /v2/commands/command-completions",
        returns=list[CompletionItem],
        unwrap=_completions,
        around=items_without_content,
        since="3.5",
        read_only=True,
    )
    def command_completions(
        self, parties: Sequence[str] = (), *, after: int = 0, limit: int | None = None, idle_ms: int | None = None
    ) -> Request:
        """List command completions, and the checkpoints between them.

        :meth:`completions` also works before ledger API 3.5.

        Parameters
        ----------
        parties : sequence of str
            Parties that submitted.
        after : int
            Exclusive start offset.
        limit, idle_ms : int, optional
            As for :meth:`updates`.

        Notes
        -----
        ``POST /v2/commands/command-completions``, since 3.5.
        """
        body = {"parties": require_texts(parties, "parties"), "beginExclusive": require_integer("after", after, 0)}
        return Request(query=list_query(limit, idle_ms), body=body)

    @operation(
        "POST /v2/commands/completions",
        returns=list[CompletionItem],
        unwrap=_completions,
        around=items_without_content,
        read_only=True,
        deprecated="command_completions",
    )
    def user_completions(
        self,
        parties: Sequence[str],
        *,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
        idle_ms: int | None = None,
    ) -> Request:
        """List command completions of one user.

        Notes
        -----
        ``POST /v2/commands/completions``, deprecated.
        """
        parties, after = require_texts(parties, "parties"), require_integer("after", after, 0)
        body = members(parties=parties, beginExclusive=after, userId=user_id)
        return Request(query=list_query(limit, idle_ms), body=body)

    def completions(
        self,
        parties: Sequence[str] = (),
        *,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
        idle_ms: int | None = None,
    ) -> list[Completion | OffsetCheckpoint]:
        """List command completions with the operation that the participant supports.

        Parameters
        ----------
        parties : sequence of str
            Parties that submitted (default: all that the token may read as; before ledger API 3.5 those that it may act as).
        after, limit, idle_ms
            As for :meth:`command_completions`.
        user_id : str, optional
            For participants before ledger API 3.5, by default the token's user.

        Raises
        ------
        UsageError
            If there are no parties before ledger API 3.5, which needs them (docs/facts.md#ledger-operations), and those of
            :meth:`acting_parties` are unknown.
        """
        try:
            return self.command_completions(parties, after=after, limit=limit, idle_ms=idle_ms)
        except UnsupportedOperationError:
            self._warned.add("user_completions")  # the caller did not choose the deprecated operation
            parties = require_texts(parties, "parties") or self.acting_parties()
            return self.user_completions(parties, user_id=user_id, after=after, limit=limit, idle_ms=idle_ms)

    @operation("POST /v2/commands/completion-by-hash", returns=CompletionsByHash, since="3.6", read_only=True)
    def completion_by_hash(self, transaction_hash: str) -> Request:
        """Look up the accepted and the latest rejected completions of a transaction by its hash.

        Raises
        ------
        NotFoundError
            If no completion has this hash, or none that the token may read (docs/facts.md#lookups-by-hash).

        Notes
        -----
        ``POST /v2/commands/completion-by-hash``, since 3.6.
        """
        return Request(body={"transactionHash": require_text(transaction_hash, "transaction_hash")})

    # -- filters ------------------------------------------------------------------------------------------------------

    def _update_filter(self, update_format: UpdateFilter) -> UpdateFilter:
        return require_filter(update_format, "updateFormat", self.newer_version)
