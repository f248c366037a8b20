"""``ledgerframes tables`` describes the tables and their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext

if TYPE_CHECKING:
    from ledgerframes.datasets import Table


def tables(
    context: CommandContext,
    name: Annotated[str | None, typer.Argument(help="Table whose columns to list.", metavar="NAME")] = None,
) -> None:
    """List the tables, or the columns of one table.

    Each column has a type, a unit, a description and a reference to the fact that it rests on.
    """
    from ledgerframes.datasets import TABLES, table

    if name is None:
        context.print_result([_describe(each) for each in TABLES.values()], _format_tables)
    else:
        context.print_result(_describe(table(name)), _format_columns)


def _describe(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "row_description": table.row_description,
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
                "description": column.description,
                "reference": column.reference,
                "values": column.values,
            }
            for column in table.columns
        ],
    }


def _format_tables(tables: list[dict[str, Any]]) -> str:
    rows = [(table["name"], len(table["columns"]), table["row_description"]) for table in tables]
    return output.format_table(("table", "columns", "one row per"), rows, right=("columns",))


def _format_columns(table: dict[str, Any]) -> str:
    head = [
        ("table", table["name"]),
        ("one row per", table["row_description"]),
        ("key", ", ".join(table["key"])),
        ("sorted by", ", ".join(table["sort"])),
    ]
    rows = [
        (column["name"], column["type"], "yes" if column["nullable"] else "", _description(column)) for column in table["columns"]
    ]
    titles = ("column", "type", "nullable", "description [unit] (reference)")
    return f"{output.format_pairs(head)}\n\n{output.format_table(titles, rows)}"


def _description(column: dict[str, Any]) -> str:
    unit = f" [{column['unit']}]" if column["unit"] else ""
    return f"{column['description']}{unit} ({column['reference']})"
