"""``ledgerframes store`` shows and maintains the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledgerframes.cli import output, store_maintenance, store_recovery
from ledgerframes.cli.options import CommandContext, group
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from ledgerframes.network import Network
    from ledgerframes.store import Segment
    from ledgerframes.store.older_schemas import UnreadableSegment


def info(context: CommandContext) -> None:
    """Show coverage, rows and sizes of a network's data.

    The next sync fetches provisional windows again. Adjacent windows are shown as one. Tables have the names that
    `ledgerframes sql` and `ledgerframes export` accept, such as events.updates and bulk.updates.
    """
    context.print_result(describe(context.connect()), _format)


def describe(net: Network) -> dict[str, Any]:
    """Return coverage, rows and sizes of a network's data as plain values."""
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
    segments = [segment for dataset in by_dataset.values() for segment in dataset]
    tables = {f"{name}.{table.name}": {"rows": 0, "bytes": 0} for name, dataset in DATASETS.items() for table in dataset.tables}
    for segment in segments:
        for file in segment.files.values():
            if totals := tables.get(f"{segment.dataset}.{file.table}"):  # files derived from rows are not tables of the dataset
                totals["rows"] += file.rows
                totals["bytes"] += file.bytes
    return {
        "network": net.name,
        "location": str(net.store.location),
        "exists": net.store.exists(),
        "bytes": sum(segment.bytes for segment in segments),
        "segments": len(segments),
        "migrations": [migration.migration_id for migration in net.store.migrations()],
        "coverage": _coverage(by_dataset[EVENTS.name]),
        "update_ids": _count_ids(by_dataset[EVENTS_BY_ID.name]),
        "bulk_objects": _count_objects(by_dataset[BULK.name] + by_dataset[BULK_BY_KEY.name]),
        "bulk_acs_objects": _count_objects(by_dataset[BULK_ACS.name] + by_dataset[BULK_ACS_BY_KEY.name]),
        "participant_id": net.store.participant(),
        "highest_offset": net.store.max_position(LEDGER) or None,
        "gaps": _gaps(by_dataset[LEDGER.name]),
        "unreadable": [_describe_unreadable(each) for dataset in DATASETS.values() for each in net.store.unreadable(dataset)],
        "tables": {name: totals for name, totals in tables.items() if totals["rows"]},
        "other_networks": net.store.other_networks(),
    }


def _coverage(segments: list[Segment]) -> list[dict[str, Any]]:
    """Return the windows of sorted segments, merged where migration and status agree."""
    from ledgerframes.values.extents import MigrationWindow

    windows: list[dict[str, Any]] = []
    for segment in segments:
        assert isinstance(segment.extent, MigrationWindow)
        window, migration_id = segment.extent.window, segment.extent.migration_id
        status = "final" if segment.final else "provisional"
        last = windows[-1] if windows else {}
        if (last.get("migration_id"), last.get("status"), last.get("until")) == (migration_id, status, window.since):
            last["until"] = window.until
            last["rows"] += segment.rows
        else:
            windows.append(
                {
                    "migration_id": migration_id,
                    "since": window.since,
                    "until": window.until,
                    "status": status,
                    "rows": segment.rows,
                }
            )
    return windows


def _gaps(segments: list[Segment]) -> list[dict[str, int]]:
    """Return the offset ranges that were pruned before they were fetched, through any filter."""
    from ledgerframes.values.extents import OffsetRange

    extents = [segment.extent for segment in segments if segment.status == "gap" and isinstance(segment.extent, OffsetRange)]
    return [{"after": after, "through": through} for after, through in sorted({(each.start, each.stop) for each in extents})]


def _describe_unreadable(each: UnreadableSegment) -> dict[str, Any]:
    segment = each.segment
    return {
        "dataset": segment.dataset,
        "extent": str(segment.extent),
        "rows": segment.rows,
        "written_by": segment.written_by,
        "reason": each.reason,
    }


def _count_objects(segments: list[Segment]) -> int:
    from ledgerframes.datasets.bulk.extent import ObjectSet

    extents = [segment.extent for segment in segments if isinstance(segment.extent, ObjectSet)]
    return len({key for extent in extents if not extent.is_folder for key in extent.keys})


def _count_ids(segments: list[Segment]) -> dict[str, int]:
    from ledgerframes.values.extents import IdSet

    counts = {"final": 0, "provisional": 0}
    for segment in segments:
        assert isinstance(segment.extent, IdSet)
        counts["final" if segment.final else "provisional"] += len(segment.extent.keys)
    return counts


def _format(document: dict[str, Any]) -> str:
    if not document["segments"] and not document["unreadable"]:
        hint = "The store has no data of this network. Run `ledgerframes sync events --during yesterday` to fetch a day."
        return f"{output.format_pairs(_pairs(document))}\n\n{hint}"
    parts = [output.format_pairs(_pairs(document))]
    if document["coverage"]:
        windows = [
            (
                window["migration_id"],
                output.format_time(window["since"]),
                output.format_time(window["until"]),
                f"{window['rows']:,}",
                window["status"],
            )
            for window in document["coverage"]
        ]
        titles = ("migration", "since (UTC)", "until (UTC)", "rows", "status")
        parts.append(output.format_table(titles, windows, right=("rows",)))
    sizes = [(name, f"{totals['rows']:,}", output.format_bytes(totals["bytes"])) for name, totals in document["tables"].items()]
    parts.append(output.format_table(("table", "rows", "size"), sizes, right=("rows", "size")))
    if document["unreadable"]:
        unreadable = [(each["dataset"], each["extent"], f"{each['rows']:,}", each["reason"]) for each in document["unreadable"]]
        parts.append(output.format_table(("not readable", "extent", "rows", "reason"), unreadable, right=("rows",)))
        parts.append("Another version wrote these segments in a schema that this one cannot read. Their rows are in no result.")
    return "\n\n".join(parts)


def _pairs(document: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = [("network", document["network"]), ("location", document["location"])]
    if document["segments"]:
        segments = pluralize(document["segments"], "segment")
        pairs.append(("size", f"{output.format_bytes(document['bytes'])} in {segments}"))
    ids = document["update_ids"]
    if any(ids.values()):
        pairs.append(("update ids", f"{ids['final']:,} final, {ids['provisional']:,} provisional"))
    if document["bulk_objects"] or document["bulk_acs_objects"]:
        counts = f"{document['bulk_objects']:,} of updates, {document['bulk_acs_objects']:,} of active contracts"
        pairs.append(("bulk objects", counts))
    if document["highest_offset"]:
        owner = f" of {document['participant_id']}" if document["participant_id"] else ""  # unknown after a rebuild
        pairs.append(("ledger", f"through offset {document['highest_offset']:,}{owner}"))
    if document["gaps"]:
        pairs.append(("pruned", output.format_gaps(document["gaps"])))
    if document["other_networks"]:
        pairs.append(("other networks", ", ".join(document["other_networks"])))
    return pairs


app = group(
    "Inspect and maintain the store.",
    {
        "info": info,
        "compact": store_maintenance.compact,
        "verify": store_maintenance.verify,
        "prune": store_maintenance.prune,
        "recheck": store_recovery.recheck,
        "rebuild": store_recovery.rebuild,
    },
)
