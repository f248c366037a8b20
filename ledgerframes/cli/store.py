"""``ledgerframes store``: what is stored."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, command

if TYPE_CHECKING:
    from ledgerframes.network import Network
    from ledgerframes.store import Segment, Store

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Look at what is stored."""


@app.command("info")
@command
def info(call: Call) -> None:
    """Show what the store holds of a network: coverage, rows and sizes.

    A range that is provisional is asked for again next time. Ranges that lie side by side are shown as one.
    """
    net = call.connect()
    document = describe(net)
    call.show(document, lambda: _text(document))


def describe(net: Network) -> dict[str, Any]:
    """What the store holds of a network, as plain values."""
    from ledgerframes.store import EVENTS, EVENTS_BY_ID, LEDGER, STREAMS
    from ledgerframes.tables import TABLES

    by_stream = {name: net.store.segments(stream) for name, stream in STREAMS.items()}
    listed, looked_up = by_stream[EVENTS.name], by_stream[EVENTS_BY_ID.name]
    every = [segment for segments in by_stream.values() for segment in segments]
    files = [file for segment in every for file in segment.files.values()]
    rows: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for file in files:
        rows[file.table] += file.rows
        sizes[file.table] += file.bytes
    return {
        "network": net.name,
        "folder": net.store.folder,
        "exists": net.store.folder.is_dir(),
        "bytes": sum(sizes.values()),
        "segments": len(every),
        "migrations": [migration.migration_id for migration in net.store.migrations()],
        "ranges": _ranges(listed),
        "ids": _ids(looked_up),
        "participant_id": net.store.participant(),
        "highest_offset": net.store.highest(LEDGER) or None,
        "tables": {name: {"rows": rows[name], "bytes": sizes[name]} for name in TABLES if rows[name]},
        "other_networks": _others(net.store),
    }


def _ranges(segments: list[Segment]) -> list[dict[str, Any]]:
    """Coverage, with neighbours of one migration and status put together; segments come in order."""
    from ledgerframes.store import Span

    ranges: list[dict[str, Any]] = []
    for segment in segments:
        assert isinstance(segment.extent, Span)
        window, status = segment.extent.window, "final" if segment.final else "provisional"
        last = ranges[-1] if ranges else {}
        if (last.get("migration_id"), last.get("status"), last.get("until")) == (
            segment.extent.migration_id,
            status,
            window.since,
        ):
            last["until"] = window.until
            last["rows"] += segment.rows
        else:
            ranges.append(
                {
                    "migration_id": segment.extent.migration_id,
                    "since": window.since,
                    "until": window.until,
                    "status": status,
                    "rows": segment.rows,
                }
            )
    return ranges


def _ids(segments: list[Segment]) -> dict[str, int]:
    from ledgerframes.store import Ids

    counts = {"final": 0, "provisional": 0}
    for segment in segments:
        assert isinstance(segment.extent, Ids)
        counts["final" if segment.final else "provisional"] += len(segment.extent.update_ids)
    return counts


def _others(store: Store) -> list[str]:
    """Other networks kept in the same root."""
    root = store.folder.parent
    folders = root.iterdir() if root.is_dir() else ()
    return sorted(folder.name for folder in folders if folder != store.folder and (folder / "catalog.sqlite").is_file())


def _text(document: dict[str, Any]) -> str:
    segments = output.counted(document["segments"], "segment")
    head = [("network", document["network"]), ("folder", document["folder"])]
    if document["segments"]:
        head.append(("size", f"{output.size(document['bytes'])} in {segments}"))
    if any(document["ids"].values()):
        head.append(("by id", f"{document['ids']['final']:,} events final, {document['ids']['provisional']:,} provisional"))
    if document["highest_offset"]:
        head.append(("ledger", f"through offset {document['highest_offset']:,} of {document['participant_id']}"))
    if document["other_networks"]:
        head.append(("other networks", ", ".join(document["other_networks"])))
    parts = [output.facts(head)]
    if not document["segments"]:
        parts.append("Nothing is stored yet. `ledgerframes sync events --during yesterday` fetches a day.")
    if document["ranges"]:
        rows = [
            (each["migration_id"], output.time(each["since"]), output.time(each["until"]), f"{each['rows']:,}", each["status"])
            for each in document["ranges"]
        ]
        parts.append(output.columns(("migration", "since (UTC)", "until (UTC)", "rows", "status"), rows, right=("rows",)))
    if document["segments"]:
        sizes = [(name, f"{each['rows']:,}", output.size(each["bytes"])) for name, each in document["tables"].items()]
        parts.append(output.columns(("table", "rows", "size"), sizes, right=("rows", "size")))
    return "\n\n".join(parts)
