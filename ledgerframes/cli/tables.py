"""``ledgerframes tables``: what tables there are, and what their columns mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, command

if TYPE_CHECKING:
    from ledgerframes.datasets import Column, Table


@command
def tables(
    call: Call, name: Annotated[str | None, typer.Argument(help="A table, to see its columns.", metavar="NAME")] = None
) -> None:
    """List the tables; with NAME, its columns.

    Each column has a type, a unit, a meaning, and a source: where in the specification the fact comes from.
    """
    from ledgerframes.datasets import TABLES, table

    if name is None:
        everything = list(TABLES.values())
        call.show([_document(each) for each in everything], lambda: _listed(everything))
    else:
        one = table(name)
        call.show(_document(one), lambda: _described(one))


def _listed(everything: list[Table]) -> str:
    rows = [(each.name, len(each.columns), each.row_description) for each in everything]
    return output.columns(("table", "columns", "one row per"), rows, right=("columns",))


def _described(table: Table) -> str:
    head = [
        ("table", table.name),
        ("one row per", table.row_description),
        ("key", ", ".join(table.key)),
        ("sorted by", ", ".join(table.sort)),
    ]
    rows = [(column.name, column.pandas_dtype, "may be" if column.nullable else "", _meaning(column)) for column in table.columns]
    titles = ("column", "type", "missing", "meaning [unit] (source)")
    return f"{output.facts(head)}\n\n{output.columns(titles, rows)}"


def _meaning(column: Column) -> str:
    unit = f" [{column.unit}]" if column.unit else ""
    return f"{column.description}{unit} ({column.reference})"


def _document(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "row": table.row_description,
        "family": table.family,
        "key": table.key,
        "sort": table.sort,
        "columns": [
            {
                "name": column.name,
                "type": column.pandas_dtype,
                "arrow_type": str(column.type),
                "unit": column.unit,
                "nullable": column.nullable,
                "meaning": column.description,
                "source": column.reference,
                "values": column.values,
            }
            for column in table.columns
        ],
    }
