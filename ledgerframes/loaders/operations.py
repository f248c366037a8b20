"""The operations of the three APIs as a frame."""

from __future__ import annotations

import pandas as pd

from ledgerframes.api.operations import OPERATIONS
from ledgerframes.datasets.schema import CHOICE, FLAG, TEXT, Column, Table

__all__ = ["operations"]

ORDER = "docs/facts.md#operations"
FACTS = "docs/facts.md#versions"

LISTED = Table(
    name="operations",
    row_description="operation: a method and a path of one API",
    family="operations",
    columns=(
        Column("name", TEXT, "Name of the method of net.ledger, net.wallet or net.history.", "ledgerframes"),
        Column("api", CHOICE, "API of the operation.", ORDER, values=("ledger", "wallet", "history")),
        Column("method", CHOICE, "HTTP method.", ORDER, values=("GET", "POST", "PATCH", "DELETE")),
        Column("path", TEXT, "Path below the API's base URL, with {coin} for the network's own word.", ORDER),
        Column("since", TEXT, "First version of the API with the operation.", FACTS, missing="if unknown"),
        Column(
            "until", TEXT, "First version of the API without the operation.", FACTS, missing="if the operation is not removed"
        ),
        Column("changed", TEXT, "Versions of the API that changed the operation.", FACTS, missing="if unknown"),
        Column("deprecated", TEXT, "Successor.", FACTS, missing="if the operation is neither deprecated nor removed"),
        Column("purpose", TEXT, "Purpose, in one sentence.", ORDER),
        Column("read_only", FLAG, "Whether the operation has no effect, so that it may be sent again.", FACTS),
    ),
    key=("api", "name"),
    sort=("api",),
)


def operations() -> pd.DataFrame:
    """Return every operation of the ledger, the wallet and the history API.

    Returns
    -------
    DataFrame
        One row per operation, in the order of the APIs.

    Examples
    --------
    >>> from ledgerframes.loaders.operations import operations
    >>> operations().query("name == 'get_updates_page'")[["method", "path", "since"]].values.tolist()
    [['POST', '/v2/updates/get-updates-page', '3.5']]
    """
    return LISTED.from_rows(
        [{name: value for name in LISTED.column_names if (value := getattr(operation, name)) != ""} for operation in OPERATIONS]
    )
