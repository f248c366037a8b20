"""operations(): every operation of the three APIs as a frame."""

from __future__ import annotations

import pandas as pd

from ledgerframes.api.operations import OPERATIONS
from ledgerframes.datasets._schema import CHOICE, FLAG, TEXT, Column, Table

__all__ = ["operations"]

ORDER = "docs/facts.md#operations"
FACTS = "docs/facts.md#versions"

LISTED = Table(
    name="operations",
    row_description="operation: a method and a path of one API",
    family="operations",
    columns=(
        Column("name", TEXT, "What net.ledger, net.wallet or net.history calls it.", "ledgerframes"),
        Column("api", CHOICE, "Which API has it.", ORDER, values=("ledger", "wallet", "history")),
        Column("method", CHOICE, "HTTP method.", ORDER, values=("GET", "POST", "PATCH", "DELETE")),
        Column("path", TEXT, "Path below the API's base URL, with the neutral words.", ORDER),
        Column("since", TEXT, "First version of the API that has it.", FACTS, nullable=True),
        Column("changed", TEXT, "Versions of the API that changed it.", FACTS, nullable=True),
        Column("deprecated", TEXT, "What takes its place, if it is deprecated.", FACTS, nullable=True),
        Column("purpose", TEXT, "What it does.", ORDER),
        Column("safe", FLAG, "Whether it only reads, so that it may be sent again.", FACTS),
    ),
    key=("api", "name"),
    sort=("api",),
)


def operations() -> pd.DataFrame:
    """Every operation of the ledger, the wallet and the history API.

    Returns
    -------
    DataFrame
        One row per operation, in the order of the APIs; where nobody says since when, what changed or that it is deprecated, the
        value is missing.

    Examples
    --------
    >>> from ledgerframes.loaders.operations import operations
    >>> operations().query("name == 'get_updates_page'")[["method", "path", "since"]].values.tolist()
    [['POST', '/v2/updates/get-updates-page', '3.5']]
    """
    return LISTED.from_rows(
        [
            (o.name, o.api, o.method, o.path, o.since or None, o.changed or None, o.deprecated or None, o.purpose, o.safe)
            for o in OPERATIONS
        ]
    )
