"""``ledgerframes sql`` queries the store."""

from __future__ import annotations

import io
import sys
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, During, StoredSince, Until, command
from ledgerframes.control_characters import escape_control
from ledgerframes.errors import UsageError
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
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV to stdout, with the cells of `ledgerframes export`.")] = False,
    keep_formulas: Annotated[
        bool, typer.Option("--keep-formulas", help="Write CSV cells that begin like a formula without an apostrophe.")
    ] = False,
) -> None:
    """Query stored tables with SQL.

    Makes no HTTP requests. Every row is shown, so use LIMIT for large results. With --json, amounts are text, so that no digit
    is lost.
    """
    from pandas.api.types import is_numeric_dtype

    from ledgerframes.sql import run_query

    if as_csv and context.as_json:
        raise UsageError("--csv cannot be combined with --json.")
    result = run_query(context.connect(), query, since=since, until=until, during=during)
    frame, notes = result.frame, result.notes
    if as_csv:
        _write_csv(frame, escape_formulas=not keep_formulas)
        for note in notes:
            output.write_error(note)
        return
    columns = [str(name) for name in frame.columns]
    cells = zip(*(_plain_values(frame[name]) for name in columns), strict=True)
    document = {"columns": columns, "rows": [dict(zip(columns, row, strict=True)) for row in cells]}
    numeric = [name for name in columns if is_numeric_dtype(frame[name])]
    context.print_result(document, lambda document: _format(document, numeric))
    for note in notes:
        output.write_error(note)


def _write_csv(frame: pd.DataFrame, *, escape_formulas: bool) -> None:
    """Write the result to stdout. A terminal shows control characters escaped."""
    from ledgerframes.export import write_csv

    file = io.BytesIO()
    write_csv(frame, file, escape_formulas=escape_formulas)
    text = file.getvalue().decode().removesuffix("\n")
    output.write("\n".join(map(escape_control, text.split("\n"))) if sys.stdout.isatty() else text)


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
