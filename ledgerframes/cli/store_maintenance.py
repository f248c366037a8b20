"""``ledgerframes store compact``, ``verify`` and ``prune`` maintain the store."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, DryRun, option
from ledgerframes.errors import CoverageError, IntegrityError, UsageError
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import parse_duration

if TYPE_CHECKING:
    from ledgerframes.loaders.repair import Repair
    from ledgerframes.network import Network
    from ledgerframes.store.location import FileInfo
    from ledgerframes.store.prune import PruneResult
    from ledgerframes.store.verify import DamagedFile

MAX_LINES = 20  # rows shown of a list that may have thousands
REPAIRED = ("fetched again", "written again", "dropped")  # outcomes after which nothing is damaged

Datasets = Annotated[list[str] | None, option("--dataset NAME", "Limit to this dataset, such as ledger. Repeatable.")]


# -- compact --------------------------------------------------------------------------------------------------------


def compact(
    context: CommandContext,
    target_bytes: Annotated[
        int, option("--target-bytes BYTES", "Maximum size of a merged file (default: 128000000).", min=1)
    ] = 128_000_000,
    datasets: Datasets = None,
    dry_run: DryRun = False,
) -> None:
    """Merge small segments into larger ones.

    Readers see the same rows as before. Adjacent segments of one day, source and dataset are merged, and adjacent bulk objects
    of one folder. The old files stay for readers with an older snapshot until you run `ledgerframes store prune`.
    """
    from ledgerframes.store.compact import compact as compact_store

    net = context.connect()
    require_store(net)
    results = compact_store(net.store, target_bytes=target_bytes, datasets=datasets, dry_run=dry_run)
    document = {"network": net.name, "dry_run": dry_run, "datasets": [vars(result) for result in results]}
    context.print_summary(document, _format_compaction, dry_run=dry_run)


def _format_compaction(document: dict[str, Any]) -> str:
    merges = [each for each in document["datasets"] if each["segments_after"] < each["segments_before"]]
    if not merges:
        return f"Nothing to merge in {document['network']}."
    rows = [
        (
            each["dataset"],
            f"{each['segments_before']:,} → {each['segments_after']:,}",
            f"{each['files_before']:,} → {each['files_after']:,}",
            output.format_bytes(each["bytes_before"])
            + ("" if each["bytes_after"] is None else f" → {output.format_bytes(each['bytes_after'])}"),
        )
        for each in merges
    ]
    last = "Nothing was written." if document["dry_run"] else "Run `ledgerframes store prune` to delete the old files."
    return f"{output.format_table(('dataset', 'segments', 'files', 'size'), rows)}\n\n{last}"


# -- verify ---------------------------------------------------------------------------------------------------------


def verify(
    context: CommandContext,
    quick: Annotated[bool, option("--quick", "Check existence, size, footer and row count, but read no whole file.")] = False,
    repair: Annotated[bool, option("--repair", "Move damaged segments to quarantine and fetch their rows again.")] = False,
    drop_unrecoverable: Annotated[
        bool, option("--drop-unrecoverable", "With --repair, also drop segments that cannot be fetched again.")
    ] = False,
) -> None:
    """Compare every stored file with the catalog, and check catalog and journal.

    Size, SHA-256 digest and row count must match. The exit code is 1 while any file is damaged. A segment that cannot be fetched
    again, such as an old observation of price votes, stays in the catalog and is reported until you drop it.
    """
    from ledgerframes.store.prune import orphan_files
    from ledgerframes.store.verify import verify as verify_store

    if drop_unrecoverable and not repair:
        raise UsageError("--drop-unrecoverable requires --repair.")
    net = context.connect()
    require_store(net)
    if repair and net.offline:
        raise CoverageError(f"{net.name} is offline, so nothing was repaired. Run `ledgerframes store verify` without --offline.")
    _require_intact_databases(net)
    damage = verify_store(net.store, quick=quick)
    if damage and not repair:
        _refuse(context, damage)
    orphans = [] if net.store.is_frozen else orphan_files(net.store)
    repairs: list[Repair] = []
    if damage:
        from ledgerframes.loaders.repair import repair as repair_store

        repairs = repair_store(net, damage, drop_unrecoverable=drop_unrecoverable)
    outcomes = [describe_repair(each) for each in repairs]
    document: dict[str, Any] = {
        "network": net.name,
        "quick": quick,
        "files": sum(len(segment.files) for segment in net.store.all_segments()),
        "orphan_files": _totals(orphans),
        "damaged_files": [_describe_damage(file) for file in damage],
        "repairs": outcomes,
    }
    failures = [each for each in outcomes if each["outcome"] not in REPAIRED]
    if not (failures and context.as_json):  # otherwise the error is the one document
        context.print_summary(document, _format_verification)
    if failures:
        reasons = {f"{each['dataset']} {each['extent']}": _reason(each) for each in failures}
        first = ": ".join(next(iter(reasons.items())))
        raise IntegrityError(
            f"{len(failures):,} of {pluralize(len(repairs), 'segment')} not repaired, the first is "
            f"{first}. Repair again later, or add --drop-unrecoverable to drop what cannot be fetched.",
            failures=reasons if context.as_json or context.quiet else {},  # the table above has them, too
        )


def require_store(net: Network) -> None:
    """Raise a CoverageError if there is no store, which would look like an undamaged one."""
    if not (net.store.is_frozen or net.store.exists() or net.store.table_files()):
        raise CoverageError(
            f"There is no store of {net.name} at {net.store.location}. Check --store and --profile, or load data first."
        )


def _require_intact_databases(net: Network) -> None:
    """Raise IntegrityError if the catalog or the journal of offers is damaged."""
    from ledgerframes.wallet import Journal

    journal = Journal(net.local_dir)
    if problems := net.store.catalog.problems():
        raise net.store.catalog.database.damage_error("; ".join(problems))
    if problems := journal.problems():
        raise IntegrityError(
            f"The journal of offers {journal.path} is damaged: {'; '.join(problems)}. Restore the file from a backup.",
            path=str(journal.path),
        )


def _refuse(context: CommandContext, damage: list[DamagedFile]) -> None:
    from ledgerframes.store.scan import REPAIR_STEP

    if not context.as_json:
        output.write(output.format_table(("problem", "file"), [(file.problem, file.path) for file in damage[:MAX_LINES]]))
        if len(damage) > MAX_LINES:
            output.write(f"… and {len(damage) - MAX_LINES:,} more. Add --json to list all.")
    first = damage[0]
    raise IntegrityError(
        f"{pluralize(len(damage), 'damaged file')} in the store, the first is {first.path} ({first.problem}). {REPAIR_STEP}",
        path=first.path,
        failures={file.path: file.problem for file in damage} if context.as_json else {},
    )


def _describe_damage(file: DamagedFile) -> dict[str, Any]:
    return {
        "segment": file.segment.segment_id,
        "dataset": file.segment.dataset,
        "table": file.table,
        "path": file.path,
        "problem": file.problem,
    }


def describe_repair(repair: Repair) -> dict[str, Any]:
    """Return the outcome for a segment as plain values."""
    segment = repair.segment
    return {"dataset": segment.dataset, "extent": str(segment.extent), "outcome": repair.outcome, "note": repair.note}


def format_repairs(repairs: list[dict[str, Any]]) -> str:
    """Return the outcomes as a table below other text, empty without any."""
    rows = [tuple(each.values()) for each in repairs]
    return "\n\n" + output.format_table(("dataset", "extent", "outcome", "note"), rows) if rows else ""


def _reason(repair: dict[str, Any]) -> str:
    note = f" ({repair['note'].rstrip('.')})" if repair["note"] else ""
    return f"{repair['outcome']}{note}"


def _format_verification(document: dict[str, Any]) -> str:
    orphans = document["orphan_files"]
    pairs = [
        ("network", document["network"]),
        ("files", f"{document['files']:,}"),
        ("damaged", f"{len(document['damaged_files']):,}"),
    ]
    if orphans["files"]:
        pairs.append(("unused", f"{_format_totals(orphans)} (run `ledgerframes store prune` to delete them)"))
    return output.format_pairs(pairs) + format_repairs(document["repairs"])


# -- prune ----------------------------------------------------------------------------------------------------------


def prune(
    context: CommandContext,
    before: Annotated[str | None, option("--before TIME", "Also drop segments that end at or before this time.")] = None,
    datasets: Datasets = None,
    min_age: Annotated[str, option("--older-than DURATION", "Minimum age of a deleted file, such as 24h (default: 1h).")] = "1h",
    include_quarantine: Annotated[bool, option("--include-quarantine", "Also delete the files in quarantine.")] = False,
    dry_run: DryRun = False,
    yes: Annotated[bool, option("--yes -y", "Drop segments without a confirmation prompt.")] = False,
) -> None:
    """Delete unused files, and old data with --before.

    Files stay on disk after their segments are replaced, merged or dropped. Frozen snapshots and running programs may still need
    them, so prune when none do. Loaders fetch dropped data again when you load its window.
    """
    from ledgerframes.store.prune import prune as prune_store

    options: dict[str, Any] = {
        "before": before,
        "datasets": datasets,
        "min_age": parse_duration("min_age=", min_age),
        "include_quarantine": include_quarantine,
    }
    net = context.connect()
    if before and not (dry_run or yes):
        preview = _describe_pruning(net.name, prune_store(net.store, **options, dry_run=True), dry_run=True, min_age=min_age)
        _confirm(preview, before)
    result = prune_store(net.store, **options, dry_run=dry_run)
    document = _describe_pruning(net.name, result, dry_run=dry_run, min_age=min_age)
    context.print_summary(document, _format_pruning, dry_run=dry_run)


def _describe_pruning(network: str, result: PruneResult, *, dry_run: bool, min_age: str) -> dict[str, Any]:
    return {
        "network": network,
        "dry_run": dry_run,
        "older_than": min_age,
        "dropped_segments": [
            {"dataset": segment.dataset, "extent": str(segment.extent), "rows": segment.rows}
            for segment in result.dropped_segments
        ],
        "deleted_files": _totals(result.deleted_files),
        "retained_files": _totals(result.retained_files),
    }


def _confirm(preview: dict[str, Any], before: str) -> None:
    if not preview["dropped_segments"]:
        return
    data = _format_segments(preview["dropped_segments"])
    if not sys.stdin.isatty():
        raise UsageError(
            f"--before {before} would drop {data}, which needs confirmation in a terminal. Pass --yes, or preview with --dry-run."
        )
    if not typer.confirm(escape_control(f"Drop {data} of {preview['network']}?"), err=True):
        raise UsageError("Nothing was dropped or deleted, because you declined. Pass --yes to skip the prompt.")


def _format_pruning(document: dict[str, Any]) -> str:
    prefix = "would be " if document["dry_run"] else ""
    pairs = [("network", document["network"])]
    if document["dropped_segments"]:
        pairs.append((f"{prefix}dropped", _format_segments(document["dropped_segments"])))
    pairs.append((f"{prefix}deleted", _format_totals(document["deleted_files"])))
    if document["retained_files"]["files"]:
        reason = f"written less than {document['older_than']} ago (delete them with --older-than 0h when the store is not in use)"
        pairs.append((f"{prefix}retained", f"{_format_totals(document['retained_files'])}, {reason}"))
    return output.format_pairs(pairs)


def _format_segments(segments: list[dict[str, Any]]) -> str:
    rows = pluralize(sum(segment["rows"] for segment in segments), "row")
    datasets = ", ".join(dict.fromkeys(segment["dataset"] for segment in segments))
    return f"{rows} in {pluralize(len(segments), 'segment')} ({datasets})"


def _totals(files: Iterable[FileInfo]) -> dict[str, int]:
    sizes = [file.bytes for file in files]
    return {"files": len(sizes), "bytes": sum(sizes)}


def _format_totals(totals: dict[str, int]) -> str:
    return f"{pluralize(totals['files'], 'file')}, {output.format_bytes(totals['bytes'])}"
