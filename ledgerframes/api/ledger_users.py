"""The ledger API's operations on users, their rights, and identity providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerframes.api.ledger_client import LedgerClient
from ledgerframes.api.operation import Request, operation
from ledgerframes.datasets.state.wire import UserRights

__all__ = ["LedgerUsers"]

Json = Mapping[str, Any]


class LedgerUsers(LedgerClient):
    """Operations on users, their rights, and identity providers.

    Bodies are those of the ledger API's reference, and responses are decoded JSON.
    """

    @operation("GET /v2/authenticated-user")
    def authenticated_user(self) -> Request:
        """Return the user of the token."""
        return Request()

    @operation("GET /v2/users")
    def users(self, query: Json | None = None) -> Request:
        """List users, with pageSize and pageToken as optional query."""
        return Request(query=query or {})

    @operation("POST /v2/users")
    def create_user(self, request: Json) -> Request:
        """Create a user."""
        return Request(body=request)

    @operation("GET /v2/users/{user-id}")
    def user(self, user_id: str) -> Request:
        """Return a user."""
        return Request(path={"user_id": user_id})

    @operation("PATCH /v2/users/{user-id}")
    def update_user(self, user_id: str, request: Json) -> Request:
        """Change a user."""
        return Request(path={"user_id": user_id}, body=request)

    @operation("DELETE /v2/users/{user-id}")
    def delete_user(self, user_id: str) -> Request:
        """Delete a user."""
        return Request(path={"user_id": user_id})

    @operation("GET /v2/users/{user-id}/rights", returns=UserRights, unwrap=lambda rights: rights.to_rights("user rights"))
    def user_rights(self, user_id: str) -> Request:
        """List the rights of a user, such as CanReadAs with its party.

        Raises
        ------
        LedgerNotFoundError
            If there is no such user.
        """
        return Request(path={"user_id": user_id})

    @operation("POST /v2/users/{user-id}/rights")
    def grant_rights(self, user_id: str, request: Json) -> Request:
        """Grant rights to a user."""
        return Request(path={"user_id": user_id}, body=request)

    @operation("PATCH /v2/users/{user-id}/rights")
    def revoke_rights(self, user_id: str, request: Json) -> Request:
        """Revoke rights of a user."""
        return Request(path={"user_id": user_id}, body=request)

    @operation("PATCH /v2/users/{user-id}/identity-provider-id")
    def update_user_identity_provider(self, user_id: str, request: Json) -> Request:
        """Move a user to another identity provider."""
        return Request(path={"user_id": user_id}, body=request)

    @operation("GET /v2/idps")
    def identity_providers(self) -> Request:
        """List identity providers."""
        return Request()

    @operation("POST /v2/idps")
    def create_identity_provider(self, request: Json) -> Request:
        """Create an identity provider."""
        return Request(body=request)

    @operation("GET /v2/idps/{idp-id}")
    def identity_provider(self, idp_id: str) -> Request:
        """Return an identity provider."""
        return Request(path={"idp_id": idp_id})

    @operation("PATCH /v2/idps/{idp-id}")
    def update_identity_provider(self, idp_id: str, request: Json) -> Request:
        """Change an identity provider."""
        return Request(path={"idp_id": idp_id}, body=request)

    @operation("DELETE /v2/idps/{idp-id}")
    def delete_identity_provider(self, idp_id: str) -> Request:
        """Delete an identity provider."""
        return Request(path={"idp_id": idp_id})
