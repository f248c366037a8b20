"""``ledgerframes store``: what is stored, and its upkeep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ledgerframes.cli import output, upkeep
from ledgerframes.cli.options import Call, command

if TYPE_CHECKING:
    from ledgerframes.network import Network
    from ledgerframes.store import Segment

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Look at what is stored, and keep it in order."""


@app.command("info")
@command
def info(call: Call) -> None:
    """Show what the store holds of a network: coverage, rows and sizes.

    A range that is provisional is asked for again next time. Ranges that lie side by side are shown as one. Tables have the names
    that `ledgerframes sql` and `ledgerframes export` take: a row that was read in two ways is in two of them.
    """
    net = call.connect()
    document = describe(net)
    call.show(document, lambda: _text(document))


app.command("compact")(upkeep.compact)
app.command("verify")(upkeep.verify)
app.command("prune")(upkeep.prune)


def describe(net: Network) -> dict[str, Any]:
    """What the store holds of a network, as plain values."""
    from ledgerframes.datasets.registry import (
        BULK,
        BULK_ACS,
        BULK_ACS_BY_KEY,
        BULK_BY_KEY,
        DATASETS,
        EVENTS,
        EVENTS_BY_ID,
        LEDGER,
    )

    by_dataset = {name: net.store.segments(dataset) for name, dataset in DATASETS.items()}
    listed, looked_up = by_dataset[EVENTS.name], by_dataset[EVENTS_BY_ID.name]
    every = [segment for segments in by_dataset.values() for segment in segments]
    tables = {f"{name}.{table.name}": {"rows": 0, "bytes": 0} for name, dataset in DATASETS.items() for table in dataset.tables}
    for segment in every:
        for file in segment.files.values():
            counts = tables[f"{segment.dataset}.{file.table}"]
            counts["rows"] += file.rows
            counts["bytes"] += file.bytes
    return {
        "network": net.name,
        "folder": str(net.store.location),
        "exists": net.store.exists(),
        "bytes": sum(counts["bytes"] for counts in tables.values()),
        "segments": len(every),
        "migrations": [migration.migration_id for migration in net.store.migrations()],
        "ranges": _ranges(listed),
        "ids": _ids(looked_up),
        "bulk_objects": _object_count(by_dataset[BULK.name] + by_dataset[BULK_BY_KEY.name]),
        "bulk_acs_objects": _object_count(by_dataset[BULK_ACS.name] + by_dataset[BULK_ACS_BY_KEY.name]),
        "participant_id": net.store.participant(),
        "highest_offset": net.store.max_position(LEDGER) or None,
        "tables": {name: counts for name, counts in tables.items() if counts["rows"]},
        "other_networks": net.store.other_networks(),
    }


def _ranges(segments: list[Segment]) -> list[dict[str, Any]]:
    """Coverage, with neighbours of one migration and status put together; segments come in order."""
    from ledgerframes.extents import MigrationWindow

    ranges: list[dict[str, Any]] = []
    for segment in segments:
        assert isinstance(segment.extent, MigrationWindow)
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


def _object_count(segments: list[Segment]) -> int:
    """How many objects were read."""
    from ledgerframes.datasets.bulk.extent import ObjectSet

    extents = [segment.extent for segment in segments if isinstance(segment.extent, ObjectSet)]
    return len({key for extent in extents if not extent.is_folder for key in extent.object_keys})


def _ids(segments: list[Segment]) -> dict[str, int]:
    from ledgerframes.extents import IdSet

    counts = {"final": 0, "provisional": 0}
    for segment in segments:
        assert isinstance(segment.extent, IdSet)
        counts["final" if segment.final else "provisional"] += len(segment.extent.update_ids)
    return counts


def _text(document: dict[str, Any]) -> str:
    segments = output.counted(document["segments"], "segment")
    head = [("network", document["network"]), ("folder", document["folder"])]
    if document["segments"]:
        head.append(("size", f"{output.size(document['bytes'])} in {segments}"))
    if any(document["ids"].values()):
        head.append(("by id", f"{document['ids']['final']:,} events final, {document['ids']['provisional']:,} provisional"))
    if document["bulk_objects"] or document["bulk_acs_objects"]:
        counts = (document["bulk_objects"], document["bulk_acs_objects"])
        head.append(("bulk objects", "{:,} of updates, {:,} of active contracts".format(*counts)))
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
