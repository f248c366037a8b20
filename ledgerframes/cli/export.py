"""``ledgerframes export`` writes one stored table to a file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.frame_output import KeepFormulas
from ledgerframes.cli.options import CommandContext, During, Until, option
from ledgerframes.cli.sync_summary import gaps_of, has_provisional
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    import pandas as pd


def export(
    context: CommandContext,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A stored table, such as traffic or bulk.updates.")],
    to: Annotated[Path, option("--to FILE", "Target file ending in .parquet, .csv or .jsonl.")],
    since: Annotated[
        str | None, option("--since TIME", "Start of the window, which --until needs without --allow-partial.")
    ] = None,
    until: Until = None,
    during: During = None,
    columns: Annotated[str | None, option("--columns A,B", "Columns to write, in this order (default: all columns).")] = None,
    allow_partial: Annotated[
        bool, option("--allow-partial", "Export even if the store does not cover the whole window.")
    ] = False,
    overwrite: Annotated[bool, option("--overwrite", "Replace an existing file.")] = False,
    keep_formulas: KeepFormulas = False,
) -> None:
    """Write a stored table to a Parquet, CSV or JSON Lines file.

    Makes no HTTP requests. Memory stays bounded, and the file appears only when it is complete.
    """
    from ledgerframes.export import from_store, write_table
    from ledgerframes.frames.stored_time import missing_note, missing_times
    from ledgerframes.store.table_source import resolve_in_store

    net = context.connect()
    frames = from_store(net, table, since=since, until=until, during=during, allow_partial=allow_partial)
    names = [name.strip() for name in columns.split(",")] if columns is not None else None
    rows = write_table(frames, frames.tables[0], to, columns=names, overwrite=overwrite, escape_formulas=not keep_formulas)
    coverage, window = frames.coverage, frames.window
    resolved = resolve_in_store(net.store, table)
    missing = missing_times(net.store, resolved.snapshot, resolved.dataset.name, window) if window else ()
    document = {
        "network": net.name,
        "table": table,
        "file": to,
        "rows": rows,
        "bytes": to.stat().st_size,
        "provisional": has_provisional(coverage),  # with or without rows, because some may follow
        "final_until": _final_until(coverage),
        "gaps": gaps_of(coverage),
        "missing": None if missing is None else [str(each) for each in missing],
    }
    context.print_summary(document, _format)
    if window and (note := missing_note(resolved, window, missing)):
        output.write_error(note)
    if resolved.other_datasets_note:
        output.write_error(f"{resolved.other_datasets_note}.")


def _final_until(coverage: pd.DataFrame) -> datetime | None:
    """Return the end of the final time, or None if there is none or everything is final."""
    start = coverage.loc[coverage["status"] == "provisional", "since"].min()
    is_before = (coverage["status"] == "final") & (coverage["since"] < start)
    return start.to_pydatetime() if is_before.any() else None


def _format(document: dict[str, Any]) -> str:
    size = f"{pluralize(document['rows'], 'row')}, {output.format_bytes(document['bytes'])}"
    pairs = [("network", document["network"]), ("file", document["file"]), (document["table"], size)]
    if document["provisional"]:
        until = document["final_until"]
        final = f" (final until {output.format_time(until)} UTC)" if until else ""
        pairs.append(("provisional", f"some rows may still change or follow{final}"))
    if document["gaps"]:
        pairs.append(("pruned", output.format_gaps(document["gaps"])))
    return output.format_pairs(pairs)
