"""``ledgerframes export``: one table of the store as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, During, SinceStored, Until, command


@command
def export(
    call: Call,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A table that the store keeps, such as traffic or bulk.updates.")],
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="Where to; .parquet, .csv or .jsonl says how.")],
    since: SinceStored = None,
    until: Until = None,
    during: During = None,
    columns: Annotated[str | None, typer.Option(metavar="A,B", help="Only these columns, in this order.")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Take what there is, even if that is not all of the range.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write one table of the store as Parquet, CSV or JSON lines; nothing is fetched.

    Memory stays bounded, and the file is there whole or not at all.
    """
    from ledgerframes.export import from_store, write_table
    from ledgerframes.store.table_source import resolve_in_store

    net = call.connect()
    frames = from_store(net, table, since=since, until=until, during=during, allow_partial=partial)
    wanted = [name.strip() for name in columns.split(",")] if columns is not None else None
    rows = write_table(frames, frames.tables[0], to, columns=wanted, overwrite=force)
    document: dict[str, Any] = {
        "network": net.name,
        "table": table,
        "file": to,
        "rows": rows,
        "bytes": to.stat().st_size,
        "provisional": "provisional" in set(frames.coverage["status"]),
    }
    call.tell(document, _text(document))
    choice = resolve_in_store(net.store, table).other_datasets_note
    if choice:
        output.write_error(f"{choice}.")


def _text(document: dict[str, Any]) -> str:
    facts = [
        ("network", document["network"]),
        ("file", document["file"]),
        (document["table"], f"{output.counted(document['rows'], 'row')}, {output.size(document['bytes'])}"),
    ]
    if document["provisional"]:
        facts.append(("provisional", "a part of it may still change"))
    return output.facts(facts)
