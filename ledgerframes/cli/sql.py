"""``ledgerframes sql``: a question to the store."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, During, SinceStored, Until, command
from ledgerframes.windows import iso

if TYPE_CHECKING:
    import pandas as pd


@command
def sql(
    call: Call,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT over the tables that the store keeps.")],
    since: SinceStored = None,
    until: Until = None,
    during: During = None,
) -> None:
    """Ask a question in SQL of what the store holds; nothing is fetched.

    The answer is shown whole: use LIMIT. With --json amounts are text, so that no digit is lost.
    """
    from ledgerframes.sql import run_query

    result = run_query(call.connect(), query, since=since, until=until, during=during)
    answer = result.frame
    names = list(answer.columns)
    rows = list(zip(*(_cells(answer[name]) for name in names), strict=True))
    document = {"columns": names, "rows": [dict(zip(names, row, strict=True)) for row in rows]}
    call.show(document, lambda: _text(answer, rows))
    for note in result.notes:
        output.write_error(note)


def _cells(column: pd.Series) -> list[Any]:
    """A column as plain values; a missing one is None."""
    return [None if missing else _plain(value) for value, missing in zip(column.tolist(), column.isna(), strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    return iso(value) if isinstance(value, datetime) else value


def _text(answer: pd.DataFrame, rows: list[tuple[Any, ...]]) -> str:
    from pandas.api.types import is_numeric_dtype

    numbers = [str(name) for name in answer if is_numeric_dtype(answer[name])]
    cells = [["" if value is None else value for value in row] for row in rows]
    return output.columns(list(answer.columns), cells, right=numbers)
