"""The version, the users and their rights."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response

from ..users import User
from .service import LedgerService, answer


def add_routes(api: Blueprint, service: LedgerService) -> None:
    """Add the routes to the API."""

    @api.get("/v2/version")
    def version() -> Response:
        return answer({"version": service.version.text, "features": _features(service)})

    @api.get("/v2/authenticated-user")
    def authenticated() -> Response:
        return answer({"user": _shown(service.user())})

    @api.get("/v2/users")
    def users() -> Response:
        service.user()
        return answer({"users": [_shown(user) for user in service.users.all.values()], "nextPageToken": ""})

    @api.get("/v2/users/<name>")
    def one(name: str) -> Response:
        service.user()
        return answer({"user": _shown(service.users.known(name))})

    @api.get("/v2/users/<name>/rights")
    def rights(name: str) -> Response:
        service.user()
        return answer({"rights": service.users.known(name).rights()})


def _features(service: LedgerService) -> dict[str, Any]:
    features: dict[str, Any] = {
        "experimental": {
            "staticTime": {"supported": False},
        },
        "userManagement": {"supported": True, "maxRightsPerUser": 1000, "maxUsersPageSize": 1000},
        "partyManagement": {"maxPartiesPageSize": 10_000},
        "offsetCheckpoint": {"maxOffsetCheckpointEmissionDelay": {"seconds": 60, "nanos": 0, "unknownFields": {"fields": {}}}},
    }
    if service.version.has(5):
        features["packageFeature"] = {"maxVettedPackagesPageSize": 100}
    return features


def _shown(user: User) -> dict[str, Any]:
    return {
        "id": user.name,
        "primaryParty": user.party,
        "isDeactivated": False,
        "identityProviderId": "",
        "metadata": {"resourceVersion": "0", "annotations": {}},
    }
