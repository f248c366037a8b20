"""The ledger API of one participant.

See docs/facts.md#update-pages and docs/facts.md#ledger-operations and docs/facts.md#ledger-errors.
"""

from __future__ import annotations

from flask import Blueprint, Response

from . import commands, contracts, packages, parties, updates, users
from .service import LedgerService

__all__ = ["LedgerService", "ledger_api"]


def ledger_api(service: LedgerService) -> Blueprint:
    """Return the routes of the ledger API.

    Parameters
    ----------
    service
        The ledger and everything around it.
    """
    api = Blueprint("ledger", __name__)
    for family in (updates, contracts, commands, packages, parties, users):
        part = Blueprint(family.__name__.rpartition(".")[2], __name__)
        family.add_routes(part, service)
        api.register_blueprint(part)

    @api.get("/livez")
    def livez() -> Response:
        return Response(b"", 200, content_type="text/plain; charset=UTF-8")

    @api.get("/readyz")
    def readyz() -> Response:
        return Response("ledger ok (sandbox)", 200, content_type="text/plain; charset=UTF-8")

    return api
