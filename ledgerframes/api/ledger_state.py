"""The ledger API's operations on a participant's state, parties and users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgerframes.api.ledger_checks import require_page_size
from ledgerframes.api.ledger_client import LedgerClient
from ledgerframes.api.operation import Request, operation
from ledgerframes.datasets.state.wire import (
    AuthenticatedUser,
    LedgerEnd,
    PartiesPage,
    PartyDetails,
    PrunedOffsets,
    Synchronizer,
    UserRights,
)
from ledgerframes.errors import BadRequestError, NotFoundError, PermissionDeniedError, UsageError, WrongUrlError

__all__ = ["LedgerState"]

Json = Mapping[str, Any]


class LedgerState(LedgerClient):
    """Operations on the state of a participant, its parties, users and identity providers.

    Bodies are those of the ledger API's reference.
    """

    @operation("GET /v2/state/ledger-end", returns=LedgerEnd, unwrap=lambda end: end.offset)
    def ledger_end(self) -> Any:
        """Return the offset of the ledger's end, or 0 on an empty ledger.

        Notes
        -----
        ``GET /v2/state/ledger-end``.
        """

    def ledger_end_times(self) -> LedgerEnd:
        """Return the ledger's end with the record time of each synchronizer, since 3.6."""
        return self.send(self.operations["ledger_end"], Request()).decode(LedgerEnd)

    @operation("GET /v2/state/latest-pruned-offsets", returns=PrunedOffsets)
    def latest_pruned_offsets(self) -> Any:
        """Return the offsets through which the ledger is pruned, or 0 if it never was.

        Notes
        -----
        ``GET /v2/state/latest-pruned-offsets``.
        """

    @operation("GET /v2/parties/participant-id", returns=str, member="participantId")
    def participant_id(self) -> Any:
        """Return the id of the participant.

        All its replicas have the same, and offsets belong to one participant (docs/facts.md#offsets-per-participant).

        Notes
        -----
        ``GET /v2/parties/participant-id``.
        """

    @operation("GET /v2/state/connected-synchronizers", returns=list[Synchronizer], member="connectedSynchronizers")
    def connected_synchronizers(
        self, *, party: str | None = None, participant_id: str | None = None, identity_provider_id: str | None = None
    ) -> Request:
        """List the synchronizers that the participant is connected to.

        Parameters
        ----------
        party : str, optional
            Only synchronizers that host this party, with the party's permission there.
        participant_id, identity_provider_id : str, optional

        Notes
        -----
        ``GET /v2/state/connected-synchronizers``.
        """
        query = {"party": party, "participantId": participant_id, "identityProviderId": identity_provider_id}
        return Request(query=query)

    # -- parties ------------------------------------------------------------------------------------------------------

    @operation("GET /v2/parties", returns=PartiesPage)
    def parties_page(
        self,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        filter_party: str | None = None,
        identity_provider_id: str | None = None,
    ) -> Request:
        """Return a page of the parties that the participant knows.

        Parameters
        ----------
        page_token : str, optional
            From the page before.
        page_size : int, optional
        filter_party : str, optional
            Prefix of party ids.
        identity_provider_id : str, optional

        Notes
        -----
        ``GET /v2/parties``.
        """
        return Request(
            query={
                "pageToken": page_token,
                "pageSize": require_page_size(page_size, "page_size"),
                "filter-party": filter_party,
                "identity-provider-id": identity_provider_id,
            }
        )

    def parties(
        self, *, page_size: int | None = None, filter_party: str | None = None, identity_provider_id: str | None = None
    ) -> Iterator[PartyDetails]:
        """Iterate over all parties that the participant knows, as in :meth:`parties_page`."""
        filters = {"filter_party": filter_party, "identity_provider_id": identity_provider_id}
        return self._iter_items("parties_page", "party_details", page_size=page_size, **filters)

    @operation("GET /v2/parties/{party}", returns=PartiesPage, unwrap=lambda page: page.party_details)
    def party(self, party: str) -> Any:
        """Return the details of a party, or an empty list if the party is unknown.

        Notes
        -----
        ``GET /v2/parties/{party}``.
        """

    @operation("POST /v2/parties")
    def allocate_party(self, request: Json) -> Any:
        """Allocate a party on this participant.

        Notes
        -----
        ``POST /v2/parties``.
        """

    @operation("PATCH /v2/parties/{party}")
    def update_party(self, party: str, request: Json) -> Any:
        """Change the participant-local attributes of a party.

        Notes
        -----
        ``PATCH /v2/parties/{party}``.
        """

    @operation("POST /v2/parties/external/generate-topology", read_only=True)
    def external_party_topology(self, request: Json) -> Any:
        """Generate the topology transactions that an external party signs, without any effect.

        Notes
        -----
        ``POST /v2/parties/external/generate-topology``.
        """

    @operation("POST /v2/parties/external/allocate")
    def allocate_external_party(self, request: Json) -> Any:
        """Allocate an external party, with its signed topology transactions.

        Notes
        -----
        ``POST /v2/parties/external/allocate``.
        """

    # -- users --------------------------------------------------------------------------------------------------------

    @operation("GET /v2/authenticated-user")
    def authenticated_user(self) -> Any:
        """Return the user of the token.

        Notes
        -----
        ``GET /v2/authenticated-user``.
        """

    def acting_parties(self) -> list[str]:
        """List the parties that the user of the token may act as, by rights of the kind CanActAs.

        Raises
        ------
        UsageError
            If the rights name none, or the participant does not say which.
        """
        try:
            response = self.send(self.operations["authenticated_user"], Request())
            rights = self.user_rights(response.decode(AuthenticatedUser).user.id)
        except WrongUrlError:
            raise
        except (BadRequestError, NotFoundError, PermissionDeniedError) as error:
            reason = f"{error.host} does not say which parties the user of the token may act as"
            raise UsageError(f"{reason}. Pass parties=.") from error
        parties = [right.party for right in rights if right.kind == "CanActAs" and right.party]
        if not parties:
            may_act_as_any = any(right.kind == "CanActAsAnyParty" for right in rights)
            raise UsageError(f"The user of the token may act as {'any' if may_act_as_any else 'no'} party. Pass parties=.")
        return parties

    @operation("GET /v2/users")
    def users(self, query: Json | None = None) -> Any:
        """List users, with pageSize and pageToken as optional query.

        Notes
        -----
        ``GET /v2/users``.
        """

    @operation("POST /v2/users")
    def create_user(self, request: Json) -> Any:
        """Create a user.

        Notes
        -----
        ``POST /v2/users``.
        """

    @operation("GET /v2/users/{user-id}")
    def user(self, user_id: str) -> Any:
        """Return a user.

        Notes
        -----
        ``GET /v2/users/{user-id}``.
        """

    @operation("PATCH /v2/users/{user-id}")
    def update_user(self, user_id: str, request: Json) -> Any:
        """Change a user.

        Notes
        -----
        ``PATCH /v2/users/{user-id}``.
        """

    @operation("DELETE /v2/users/{user-id}")
    def delete_user(self, user_id: str) -> Any:
        """Delete a user.

        Notes
        -----
        ``DELETE /v2/users/{user-id}``.
        """

    @operation("GET /v2/users/{user-id}/rights", returns=UserRights, unwrap=lambda rights: rights.to_rights("user rights"))
    def user_rights(self, user_id: str) -> Any:
        """List the rights of a user, such as CanReadAs with its party.

        Raises
        ------
        NotFoundError
            If there is no such user.

        Notes
        -----
        ``GET /v2/users/{user-id}/rights``.
        """

    @operation("POST /v2/users/{user-id}/rights")
    def grant_rights(self, user_id: str, request: Json) -> Any:
        """Grant rights to a user.

        Notes
        -----
        ``POST /v2/users/{user-id}/rights``.
        """

    @operation("PATCH /v2/users/{user-id}/rights")
    def revoke_rights(self, user_id: str, request: Json) -> Any:
        """Revoke rights of a user.

        Notes
        -----
        ``PATCH /v2/users/{user-id}/rights``.
        """

    @operation("PATCH /v2/users/{user-id}/identity-provider-id")
    def update_user_identity_provider(self, user_id: str, request: Json) -> Any:
        """Move a user to another identity provider.

        Notes
        -----
        ``PATCH /v2/users/{user-id}/identity-provider-id``.
        """

    # -- identity providers -------------------------------------------------------------------------------------------

    @operation("GET /v2/idps")
    def identity_providers(self) -> Any:
        """List identity providers.

        Notes
        -----
        ``GET /v2/idps``.
        """

    @operation("POST /v2/idps")
    def create_identity_provider(self, request: Json) -> Any:
        """Create an identity provider.

        Notes
        -----
        ``POST /v2/idps``.
        """

    @operation("GET /v2/idps/{idp-id}")
    def identity_provider(self, idp_id: str) -> Any:
        """Return an identity provider.

        Notes
        -----
        ``GET /v2/idps/{idp-id}``.
        """

    @operation("PATCH /v2/idps/{idp-id}")
    def update_identity_provider(self, idp_id: str, request: Json) -> Any:
        """Change an identity provider.

        Notes
        -----
        ``PATCH /v2/idps/{idp-id}``.
        """

    @operation("DELETE /v2/idps/{idp-id}")
    def delete_identity_provider(self, idp_id: str) -> Any:
        """Delete an identity provider.

        Notes
        -----
        ``DELETE /v2/idps/{idp-id}``.
        """
