"""``ledgerframes sql`` queries the store."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, During, StoredSince, Until, command
from ledgerframes.windows import iso

if TYPE_CHECKING:
    import pandas as pd


@command
def sql(
    context: CommandContext,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT over the stored tables.")],
    since: StoredSince = None,
    until: Until = None,
    during: During = None,
) -> None:
    """Query stored tables with SQL.

    Makes no HTTP requests. Every row is shown, so use LIMIT for large results. With --json, amounts are text, so that no digit
    is lost.
    """
    from pandas.api.types import is_numeric_dtype

    from ledgerframes.sql import run_query

    result = run_query(context.connect(), query, since=since, until=until, during=during)
    frame, notes = result.frame, result.notes
    columns = [str(name) for name in frame.columns]
    cells = zip(*(_plain_values(frame[name]) for name in columns), strict=True)
    document = {"columns": columns, "rows": [dict(zip(columns, row, strict=True)) for row in cells]}
    numeric = [name for name in columns if is_numeric_dtype(frame[name])]
    context.print_result(document, lambda document: _format(document, numeric))
    for note in notes:
        output.write_error(note)


def _plain_values(column: pd.Series) -> list[Any]:
    """Return a column as plain Python values, with None for missing ones."""
    return [None if missing else _plain(value) for value, missing in zip(column.tolist(), column.isna(), strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    return iso(value) if isinstance(value, datetime) else value


def _format(document: dict[str, Any], numeric: list[str]) -> str:
    rows = [["" if value is None else value for value in row.values()] for row in document["rows"]]
    return output.format_table(document["columns"], rows, right=numeric)
