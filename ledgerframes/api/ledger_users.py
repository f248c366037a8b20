"""The ledger API's operations on users, their rights, and identity providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerframes.api.ledger_client import LedgerClient
from ledgerframes.api.operation import operation
from ledgerframes.datasets.state.wire import UserRights

__all__ = ["LedgerUsers"]

Json = Mapping[str, Any]


class LedgerUsers(LedgerClient):
    """Operations on users, their rights, and identity providers.

    Bodies are those of the ledger API's reference, and responses are decoded JSON.
    """

    @operation("GET /v2/authenticated-user")
    def authenticated_user(self) -> Any:
        """Return the user of the token."""

    @operation("GET /v2/users")
    def users(self, query: Json | None = None) -> Any:
        """List users, with pageSize and pageToken as optional query."""

    @operation("POST /v2/users")
    def create_user(self, request: Json) -> Any:
        """Create a user."""

    @operation("GET /v2/users/{user-id}")
    def user(self, user_id: str) -> Any:
        """Return a user."""

    @operation("PATCH /v2/users/{user-id}")
    def update_user(self, user_id: str, request: Json) -> Any:
        """Change a user."""

    @operation("DELETE /v2/users/{user-id}")
    def delete_user(self, user_id: str) -> Any:
        """Delete a user."""

    @operation("GET /v2/users/{user-id}/rights", returns=UserRights, unwrap=lambda rights: rights.to_rights("user rights"))
    def user_rights(self, user_id: str) -> Any:
        """List the rights of a user, such as CanReadAs with its party.

        Raises
        ------
        LedgerNotFoundError
            If there is no such user.
        """

    @operation("POST /v2/users/{user-id}/rights")
    def grant_rights(self, user_id: str, request: Json) -> Any:
        """Grant rights to a user."""

    @operation("PATCH /v2/users/{user-id}/rights")
    def revoke_rights(self, user_id: str, request: Json) -> Any:
        """Revoke rights of a user."""

    @operation("PATCH /v2/users/{user-id}/identity-provider-id")
    def update_user_identity_provider(self, user_id: str, request: Json) -> Any:
        """Move a user to another identity provider."""

    @operation("GET /v2/idps")
    def identity_providers(self) -> Any:
        """List identity providers."""

    @operation("POST /v2/idps")
    def create_identity_provider(self, request: Json) -> Any:
        """Create an identity provider."""

    @operation("GET /v2/idps/{idp-id}")
    def identity_provider(self, idp_id: str) -> Any:
        """Return an identity provider."""

    @operation("PATCH /v2/idps/{idp-id}")
    def update_identity_provider(self, idp_id: str, request: Json) -> Any:
        """Change an identity provider."""

    @operation("DELETE /v2/idps/{idp-id}")
    def delete_identity_provider(self, idp_id: str) -> Any:
        """Delete an identity provider."""
