"""The ledger API's operations that say what a participant is and has: its state, parties, packages and users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgerframes.api.ledger_calls import LedgerCalls
from ledgerframes.api.ledger_checks import checked_page_size
from ledgerframes.datasets.state.wire import (
    ConnectedSynchronizers,
    LedgerEnd,
    LedgerVersion,
    PackageIds,
    PackageStatus,
    ParticipantId,
    PartiesPage,
    PartyDetails,
    PrunedOffsets,
    Right,
    Synchronizer,
    UserRights,
    VettedPackages,
    VettedPackagesPage,
)
from ledgerframes.errors import DecodeError

__all__ = ["LedgerInventory"]


class LedgerInventory(LedgerCalls):
    """Operations on the state of a participant; they only read, and are tried again when that may help."""

    def version(self) -> LedgerVersion:
        """Read the version of the ledger API, such as ``3.5.14``, and its features.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/version.
        """
        return self._read("version", LedgerVersion)

    def ledger_end(self) -> int:
        """Read the offset of the ledger's end; 0 on an empty ledger.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/state/ledger-end.
        """
        return self._read("ledger_end", LedgerEnd).offset

    def latest_pruned_offsets(self) -> PrunedOffsets:
        """Read up to which offset the ledger is pruned; 0 if it never was.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/state/latest-pruned-offsets.
        """
        return self._read("latest_pruned_offsets", PrunedOffsets)

    def participant_id(self) -> str:
        """Read the participant's id: what its offsets belong to (docs/facts.md#offsets-per-participant).

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/parties/participant-id.
        """
        return self._read("participant_id", ParticipantId).participant_id

    def connected_synchronizers(
        self, *, party: str | None = None, participant_id: str | None = None, identity_provider_id: str | None = None
    ) -> list[Synchronizer]:
        """List the synchronizers that the participant is connected to now.

        Parameters
        ----------
        party : str, optional
            Only those that this party is hosted on, with what it may do there.
        participant_id, identity_provider_id : str, optional

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/state/connected-synchronizers.
        """
        params = {"party": party, "participantId": participant_id, "identityProviderId": identity_provider_id}
        return self._read("connected_synchronizers", ConnectedSynchronizers, params=params).connected_synchronizers or []

    def ready(self) -> dict[str, int]:
        """The status each host answers ``/readyz`` with, at the root of the ledger API (docs/facts.md#ledger-operations)."""
        return {url: self.transport.probe(url, "/readyz") for url in self.transport.urls}

    def live(self) -> dict[str, int]:
        """The status each host answers ``/livez`` with."""
        return {url: self.transport.probe(url, "/livez") for url in self.transport.urls}

    # -- parties and users --------------------------------------------------------------------------------------------

    def parties_page(
        self,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        filter_party: str | None = None,
        identity_provider_id: str | None = None,
    ) -> PartiesPage:
        """Read a page of the parties that the participant knows; :meth:`parties` reads them all.

        Parameters
        ----------
        page_token : str, optional
            Of the page before.
        page_size : int, optional
        filter_party : str, optional
            What party ids begin with.
        identity_provider_id : str, optional

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/parties.
        """
        checked_page_size(page_size, "page_size")
        params = {
            "pageToken": page_token,
            "pageSize": page_size,
            "filter-party": filter_party,
            "identity-provider-id": identity_provider_id,
        }
        return self._read("parties_page", PartiesPage, params=params)

    def parties(
        self, *, page_size: int | None = None, filter_party: str | None = None, identity_provider_id: str | None = None
    ) -> Iterator[PartyDetails]:
        """All parties that the participant knows, page after page as they are taken; see :meth:`parties_page`."""
        token: str | None = None
        while True:
            page = self.parties_page(
                page_token=token, page_size=page_size, filter_party=filter_party, identity_provider_id=identity_provider_id
            )
            yield from page.party_details or []
            if not (token := _next(page.next_page_token, token, "GET /v2/parties")):
                return

    def party(self, party: str) -> list[PartyDetails]:
        """Read the details of a party; an empty list if the participant does not know it.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/parties/{party}.
        """
        return self._read("party", PartiesPage, party=party).party_details or []

    def user_rights(self, user_id: str) -> list[Right]:
        """List the rights of a user, such as ``CanReadAs`` with the party that it is about.

        Raises
        ------
        LedgerNotFoundError
            If there is no such user.

        Notes
        -----
        Source: docs/facts.md#authentication, GET /v2/users/{user-id}/rights.
        """
        return self._read("user_rights", UserRights, user_id=user_id).to_rights("GET /v2/users/{user-id}/rights")

    def authenticated_user(self) -> Any:
        """Read the user whom the token stands for, as the JSON that came.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/authenticated-user.
        """
        return self.call("authenticated_user")

    # -- packages -----------------------------------------------------------------------------------------------------

    def packages(self) -> list[str]:
        """List the ids of all packages that the participant supports.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/packages.
        """
        return self._read("packages", PackageIds).package_ids or []

    def package(self, package_id: str) -> bytes:
        """Download one package.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/packages/{package-id}.
        """
        return self._send("package", package_id=package_id).body

    def package_status(self, package_id: str) -> str:
        """Ask for the status of a package: ``PACKAGE_STATUS_REGISTERED``, or ``PACKAGE_STATUS_UNSPECIFIED``.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, GET /v2/packages/{package-id}/status.
        """
        return self._read("package_status", PackageStatus, package_id=package_id).package_status

    def vetted_packages_page(
        self,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        package_filter: Mapping[str, Any] | None = None,
        topology_filter: Mapping[str, Any] | None = None,
    ) -> VettedPackagesPage:
        """Read a page of which participant vetted which packages on which synchronizer.

        Parameters
        ----------
        page_token : str, optional
            Of the page before.
        page_size : int, optional
        package_filter, topology_filter : mapping, optional
            ``packageMetadataFilter`` and ``topologyStateFilter``, passed on as they are.

        Notes
        -----
        Source: docs/facts.md#ledger-operations, POST /v2/package-vetting/list. Any authenticated user may call it.
        """
        checked_page_size(page_size, "page_size")
        body = {
            "packageMetadataFilter": package_filter,
            "topologyStateFilter": topology_filter,
            "pageToken": page_token,
            "pageSize": page_size,
        }
        given = {name: value for name, value in body.items() if value is not None}
        return self._read("vetted_packages_page", VettedPackagesPage, body=given)

    def vetted_packages(
        self,
        *,
        page_size: int | None = None,
        package_filter: Mapping[str, Any] | None = None,
        topology_filter: Mapping[str, Any] | None = None,
    ) -> Iterator[VettedPackages]:
        """All vetted packages, page after page as they are taken; see :meth:`vetted_packages_page`."""
        token: str | None = None
        while True:
            page = self.vetted_packages_page(
                page_token=token, page_size=page_size, package_filter=package_filter, topology_filter=topology_filter
            )
            yield from page.vetted_packages or []
            if not (token := _next(page.next_page_token, token, "POST /v2/package-vetting/list")):
                return


def _next(token: str | None, before: str | None, endpoint: str) -> str | None:
    """The next token; one that stays the same would never end."""
    if token and token == before:
        raise DecodeError(
            f"{endpoint} answered with the page token it was asked with.", endpoint=endpoint, json_path="$.nextPageToken"
        )
    return token
