"""The part of the history API that serves ACS snapshots and holdings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ledgerframes.api.operation import Client, Request, list_of_texts, members, operation
from ledgerframes.api.paging import MAX_PAGE_SIZE, HostChangedError, PageChain, expect_same_host, require_same_host
from ledgerframes.api.transport import Transport, host_of
from ledgerframes.api.update_format import require_package_name
from ledgerframes.api.versions import met_version
from ledgerframes.datasets.bulk.wire import ActiveContract, ContractsPage, HoldingsSummaries
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.state.wire import release_of
from ledgerframes.errors import DecodeError, UnsupportedOperationError, UsageError
from ledgerframes.values.checks import require_integer
from ledgerframes.values.windows import instant, iso

__all__ = ["HostChangedError", "SnapshotClient", "parse_record_time"]

NEWER_SINCE = "0.8.0"  # first version whose page tokens are opaque
Token = str | int | None


class SnapshotClient(Client):
    """Operations of the history API on snapshots (docs/facts.md#contracts-at-snapshot).

    A newer service has the same listings with opaque page tokens, as other operations. :meth:`contract_pages` and
    :meth:`holding_pages` choose by the version of the service.
    """

    api = "history"

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self._versions: dict[str, str] = {}  # by URL

    @operation("GET /v0/state/acs/snapshot-timestamp", returns=str, member="record_time")
    def snapshot_time(self, before: datetime, migration_id: int) -> Request:
        """Return the time of the newest snapshot of a migration before a time, as text.

        Raises
        ------
        NotFoundError
            If there is none.

        Notes
        -----
        ``GET /v0/state/acs/snapshot-timestamp``.
        """
        return Request(query={"before": _time(before, "before"), **_migration(migration_id)})

    @operation("GET /v0/state/acs/snapshot-timestamp-after", returns=str, member="record_time")
    def next_snapshot_time(self, after: datetime, migration_id: int) -> Request:
        """Return the time of the first snapshot after a time, in a migration or later, as text.

        Raises
        ------
        NotFoundError
            If there is none.

        Notes
        -----
        ``GET /v0/state/acs/snapshot-timestamp-after``.
        """
        return Request(query={"after": _time(after, "after"), **_migration(migration_id)})

    # -- contracts ----------------------------------------------------------------------------------------------------

    @operation("POST /v2/state/acs", returns=ContractsPage, since=NEWER_SINCE, read_only=True)
    def contracts_page(
        self,
        migration_id: int,
        record_time: datetime,
        *,
        templates: Sequence[str] = (),
        parties: Sequence[str] = (),
        after: Token = None,
        page_size: int = MAX_PAGE_SIZE,
    ) -> Request:
        """Return a page of the contracts at the time of a snapshot, by creation.

        Parameters
        ----------
        migration_id : int
        record_time : datetime
            From :meth:`snapshot_time`.
        templates : sequence of str
            Only contracts of these, as ``package-name:Module:Entity``, with or without a leading ``#``.
        parties : sequence of str
            Only contracts with one of these as a signatory or an observer.
        after : str or int, optional
            ``next_page_token`` of the page before, from the same host.
        page_size : int
            1 to 1000.

        Notes
        -----
        ``POST /v2/state/acs``, since 0.8.0.
        """
        return _page_request(migration_id, record_time, _contract_filters(templates, parties), after, page_size)

    @operation("POST /v1/state/acs", returns=ContractsPage, until="0.9.0", read_only=True, deprecated="contracts_page")
    def contracts_page_v1(
        self,
        migration_id: int,
        record_time: datetime,
        *,
        templates: Sequence[str] = (),
        parties: Sequence[str] = (),
        after: Token = None,
        page_size: int = MAX_PAGE_SIZE,
    ) -> Request:
        """Return a page of the contracts at a snapshot from an older service.

        Its page tokens are numbers. Parameters are those of :meth:`contracts_page`.

        Notes
        -----
        ``POST /v1/state/acs``, removed in 0.9.0, deprecated.
        """
        return _page_request(migration_id, record_time, _contract_filters(templates, parties), after, page_size)

    def contract_pages(
        self,
        migration_id: int,
        record_time: datetime,
        *,
        templates: Sequence[str] = (),
        parties: Sequence[str] = (),
        page_size: int = MAX_PAGE_SIZE,
    ) -> Iterator[list[ActiveContract]]:
        """Iterate over the pages of the contracts at a snapshot.

        The service may have any version. Parameters are those of :meth:`contracts_page`.

        Raises
        ------
        HostChangedError
            If another host got a page token of the first one.
        """
        filters: dict[str, Any] = {"templates": templates, "parties": parties, "page_size": page_size}
        return self._iter_pages("contracts_page", migration_id, record_time, filters)

    # -- holdings -----------------------------------------------------------------------------------------------------

    @operation("POST /v2/holdings/state", returns=ContractsPage, since=NEWER_SINCE, read_only=True)
    def holdings_page(
        self,
        migration_id: int,
        record_time: datetime,
        *,
        owners: Sequence[str],
        after: Token = None,
        page_size: int = MAX_PAGE_SIZE,
    ) -> Request:
        """Return a page of the coins of parties, also locked ones, at the time of a snapshot.

        Parameters
        ----------
        migration_id : int
        record_time : datetime
            From :meth:`snapshot_time`.
        owners : sequence of str
            At least one party.
        after : str or int, optional
            ``next_page_token`` of the page before, from the same host.
        page_size : int
            1 to 1000.

        Notes
        -----
        ``POST /v2/holdings/state``, since 0.8.0.
        """
        return _page_request(migration_id, record_time, _owners(owners), after, page_size)

    @operation("POST /v1/holdings/state", returns=ContractsPage, read_only=True)
    def holdings_page_v1(
        self,
        migration_id: int,
        record_time: datetime,
        *,
        owners: Sequence[str],
        after: Token = None,
        page_size: int = MAX_PAGE_SIZE,
    ) -> Request:
        """Return a page of the coins of parties from an older service.

        Its page tokens are numbers. Parameters are those of :meth:`holdings_page`.

        Notes
        -----
        ``POST /v1/holdings/state``.
        """
        return _page_request(migration_id, record_time, _owners(owners), after, page_size)

    def holding_pages(
        self, migration_id: int, record_time: datetime, *, owners: Sequence[str], page_size: int = MAX_PAGE_SIZE
    ) -> Iterator[list[ActiveContract]]:
        """Iterate over the pages of the coins of parties at a snapshot.

        The service may have any version. Parameters are those of :meth:`holdings_page`.

        Raises
        ------
        HostChangedError
            If another host got a page token of the first one.
        """
        filters: dict[str, Any] = {"owners": owners, "page_size": page_size}
        return self._iter_pages("holdings_page", migration_id, record_time, filters)

    @operation("POST /v1/holdings/summary", returns=HoldingsSummaries, unwrap=lambda response: response.summaries, read_only=True)
    def holdings_summary(self, migration_id: int, record_time: datetime, *, owners: Sequence[str]) -> Request:
        """Return the sums of the coins of parties at a snapshot, without holding fees.

        Parameters are those of :meth:`holdings_page`. A party without coins has no sum.

        Notes
        -----
        ``POST /v1/holdings/summary``.
        """
        return Request(body=_position(migration_id, record_time) | _owners(owners))

    # -- pages of either version --------------------------------------------------------------------------------------

    def _iter_pages(
        self, name: str, migration_id: int, record_time: datetime, filters: dict[str, Any]
    ) -> Iterator[list[ActiveContract]]:
        """Iterate over the pages of a listing, in the version that the service has."""
        older = f"{name}_v1"
        self._warned.add(older)  # the caller did not choose it
        names = [name, older] if self._is_newer() else [older, name]
        try:
            page = self._first_page(names[0], migration_id, record_time, filters)
        except UnsupportedOperationError:
            names.reverse()
            page = self._first_page(names[0], migration_id, record_time, filters)
        route, host = self.operations[names[0]].route, self.transport.last_host
        chain = PageChain(route)
        while True:
            self._require_page(page, migration_id, record_time, route, host)
            self.note_around(route, unknown_members(page, but=list))
            token = page.next_page_token
            content = msgspec.json.encode([contract.contract_id for contract in page.created_events])
            is_last = chain.next_token(None if token is None else str(token), content) is None
            yield page.created_events
            if is_last:
                return
            with expect_same_host(host, route):
                page = getattr(self, names[0])(migration_id, record_time, after=token, **filters)

    def _first_page(self, name: str, migration_id: int, record_time: datetime, filters: dict[str, Any]) -> ContractsPage:
        page: ContractsPage = getattr(self, name)(migration_id, record_time, **filters)
        return page

    def _require_page(self, page: ContractsPage, migration_id: int, record_time: datetime, route: str, host: str) -> None:
        """Refuse a page of another host than the first one, or of another snapshot."""
        require_same_host(host, self.transport.last_host, route)
        if parse_record_time(page.record_time) != record_time or page.migration_id != migration_id:
            raise DecodeError(
                f"{host} returned the snapshot of migration {page.migration_id} at {page.record_time}, not that at "
                f"{iso(record_time)}. Check the service's version.",
                endpoint=route,
                json_path="$.record_time",
            )

    def _is_newer(self) -> bool:
        """Return whether the service says that it has the newer listings."""
        return release_of(self.version_of(self.transport.urls[0])) >= release_of(NEWER_SINCE)

    def version_of(self, url: str) -> str:
        """Return the version of the service at a URL, fetched once, or "" if it does not say."""
        if url not in self._versions:
            self._versions[url] = met_version(self.transport, url, "history")
        return self._versions[url]

    def _version_of_host(self, host: str) -> str:
        return next((self.version_of(url) for url in self.transport.urls if host_of(url) == host), "")


def parse_record_time(text: str) -> datetime:
    """Return the time of a snapshot that a service sent."""
    try:
        return instant(text)
    except UsageError as error:
        raise DecodeError(f"The time of a snapshot is {text!r}, which is no time.", json_path="$.record_time") from error


# -- requests -----------------------------------------------------------------------------------------------------------


def _position(migration_id: int, record_time: datetime) -> dict[str, Any]:
    return {**_migration(migration_id), "record_time": _time(record_time, "record_time")}


def _page(after: Token, page_size: int) -> dict[str, Any]:
    return {"page_size": require_integer("page_size", page_size, 1, MAX_PAGE_SIZE), **members(after=after)}


def _page_request(migration_id: int, record_time: datetime, filters: dict[str, Any], after: Token, page_size: int) -> Request:
    return Request(body=_position(migration_id, record_time) | filters | _page(after, page_size))


def _contract_filters(templates: Sequence[str], parties: Sequence[str]) -> dict[str, Any]:
    return members(templates=_template_names(templates), party_ids=list_of_texts(parties, "parties") or None)


def _owners(owners: Sequence[str]) -> dict[str, Any]:
    texts = list_of_texts(owners, "owners")
    if not texts:
        raise UsageError("owners= must have at least one party, got none.")
    return {"owner_party_ids": texts}


def _template_names(templates: Sequence[str]) -> list[str] | None:
    """Return template names as they are sent. For others, the service returns no contract."""
    return [require_package_name(text, "templates") for text in list_of_texts(templates, "templates")] or None


def _migration(migration_id: int) -> dict[str, int]:
    return {"migration_id": require_integer("migration_id", migration_id, 0)}


def _time(value: datetime, argument: str) -> str:
    return iso(instant(value, argument))
