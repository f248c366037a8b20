"""``ledgerframes store compact``, ``verify`` and ``prune``: keeping a store small, fast and whole."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, command
from ledgerframes.errors import CoverageError, IntegrityError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledgerframes.loaders.repair import Repair
    from ledgerframes.network import Network
    from ledgerframes.store.compact import CompactionResult
    from ledgerframes.store.location import FileInfo
    from ledgerframes.store.prune import PruneResult
    from ledgerframes.store.verify import DamagedFile

SHOWN = 20  # rows of what may be thousands
LONGEST_HOURS = 87_600  # ten years

Streams = Annotated[
    list[str] | None, typer.Option("--dataset", metavar="NAME", help="Only this dataset, such as ledger; may be repeated.")
]


# -- compact --------------------------------------------------------------------------------------------------------


@command
def compact(
    call: Call,
    target_bytes: Annotated[
        int, typer.Option(min=1, metavar="BYTES", help="Size that the largest file of a merged segment stays below.")
    ] = 128_000_000,
    datasets: Streams = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; show what would be merged.")] = False,
) -> None:
    """Merge small segments into larger ones; every reader sees the same rows as before.

    Segments of one day, one source and one dataset are merged where they touch, and bulk objects where they are neighbours in a
    folder. The old files stay on the disk, for readers that hold an older snapshot, until `ledgerframes store prune`.
    """
    from ledgerframes.store.compact import compact as compacted

    net = call.connect()
    done = compacted(net.store, target_bytes=target_bytes, datasets=datasets, dry_run=dry_run)
    document = {"network": net.name, "dry_run": dry_run, "datasets": [vars(each) for each in done]}
    show = call.show if dry_run else call.tell
    show(document, _compact_text(net, done, dry_run))


def _compact_text(net: Network, done: Sequence[CompactionResult], dry_run: bool) -> str:
    merged = [each for each in done if each.segments_after < each.segments_before]
    if not merged:
        return f"Nothing to merge: no segments of {net.name} belong together. ObjectSet named by key or file stay apart."
    rows = [
        (
            each.dataset,
            f"{each.segments_before:,} → {each.segments_after:,}",
            f"{each.files_before:,} → {each.files_after:,}",
            output.size(each.bytes_before) + ("" if each.bytes_after is None else f" → {output.size(each.bytes_after)}"),
        )
        for each in merged
    ]
    table = output.columns(("dataset", "segments", "files", "size"), rows)
    after = "Nothing was written." if dry_run else "The old files stay until `ledgerframes store prune`."
    return f"{table}\n\n{after}"


# -- verify ---------------------------------------------------------------------------------------------------------


@command
def verify(
    call: Call,
    quick: Annotated[
        bool, typer.Option("--quick", help="Read no whole file: only whether it is there, its size and its row count.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Move damaged segments to quarantine, and fetch their ranges again.")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="With --repair: take out also what cannot be fetched again.")] = False,
) -> None:
    """Compare every file with the size, the digest and the row count that the catalog promises.

    Ends with exit code 1 while anything is damaged. What cannot be fetched again, such as an old snapshot of votes, stays in the
    catalog and is shown each time, until it is forgotten.
    """
    from ledgerframes.store.prune import orphan_files
    from ledgerframes.store.verify import verify as verified

    if forget and not repair:
        raise UsageError("--forget is a part of repairing: add --repair.")
    net = call.connect()
    if repair and net.offline:
        raise CoverageError(
            f"{net.name} is offline, so nothing can be fetched again, and nothing was moved. Run without --offline."
        )
    findings = verified(net.store, quick=quick)
    loose = [] if net.store.is_frozen else orphan_files(net.store)
    if findings and not repair:
        _refuse(call, findings)
    repairs = _repaired(net, findings, forget)
    files = sum(len(segment.files) for segment in net.store.all_segments())
    document = {
        "network": net.name,
        "quick": quick,
        "files": files,
        "left_over": {"files": len(loose), "bytes": sum(stored.bytes for stored in loose)},
        "damaged": [_as_row(finding) for finding in findings],
        "repairs": [_as_document(each) for each in repairs],
    }
    undone = [each for each in repairs if each.outcome not in ("fetched again", "forgotten")]
    if not (undone and call.as_json):  # the error is the one document then
        call.tell(document, _verify_text(document, loose))
    if undone:
        raise IntegrityError(
            f"{output.counted(len(undone), 'segment')} of {len(repairs):,} could not be repaired: {_reason(undone[0])}. "
            "What a service did not give now, the next load or repair asks for; --forget also takes out what cannot be fetched "
            "again.",
            # A person has seen them all in the table above.
            failed=tuple((str(each.segment.extent), _reason(each)) for each in undone) if call.as_json or call.quiet else (),
        )


def _repaired(net: Network, findings: list[DamagedFile], forget: bool) -> list[Repair]:
    if not findings:
        return []
    from ledgerframes.loaders.repair import repair

    return repair(net, findings, forget=forget)


def _refuse(call: Call, findings: list[DamagedFile]) -> None:
    if not call.as_json:
        rows = [(finding.problem, finding.path) for finding in findings[:SHOWN]]
        output.write(output.columns(("problem", "file"), rows))
        _say_more(len(findings))
    first = findings[0]
    raise IntegrityError(
        f"{output.counted(len(findings), 'damaged file')} in the store, the first {first.path} ({first.problem}). "
        "`ledgerframes store verify --repair` fetches again what was in them.",
        path=first.path,
        failed=tuple((finding.path, finding.problem) for finding in findings) if call.as_json else (),
    )


def _say_more(count: int) -> None:
    if count > SHOWN:
        output.write(f"… and {count - SHOWN:,} more; --json names all.")


def _as_row(finding: DamagedFile) -> dict[str, Any]:
    return {
        "segment": finding.segment.segment_id,
        "dataset": finding.segment.dataset,
        "table": finding.table,
        "path": finding.path,
        "problem": finding.problem,
    }


def _as_document(each: Repair) -> dict[str, Any]:
    return {"dataset": each.segment.dataset, "extent": str(each.segment.extent), "outcome": each.outcome, "note": each.note}


def _reason(each: Repair) -> str:
    return f"{each.segment.dataset}, {each.segment.extent}: {each.outcome}" + (f" ({each.note.rstrip('.')})" if each.note else "")


def _verify_text(document: dict[str, Any], loose: Sequence[FileInfo]) -> str:
    lines = [("network", document["network"]), ("files", f"{document['files']:,}"), ("damaged", f"{len(document['damaged']):,}")]
    if loose:
        size = output.size(document["left_over"]["bytes"])
        lines.append(("left over", f"{output.counted(len(loose), 'file')}, {size}: `ledgerframes store prune` deletes them"))
    text = output.facts(lines)
    if document["repairs"]:
        rows = [(each["dataset"], each["extent"], each["outcome"], each["note"]) for each in document["repairs"]]
        text += "\n\n" + output.columns(("dataset", "range", "outcome", "note"), rows)
    return text


# -- prune ----------------------------------------------------------------------------------------------------------


@command
def prune(
    call: Call,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="Drop ranges that end at this time or earlier, such as 2026-10-01.")
    ] = None,
    datasets: Streams = None,
    older_than: Annotated[
        float, typer.Option("--older-than", metavar="HOURS", help="Delete only files that were written before that.")
    ] = 1.0,
    quarantine: Annotated[bool, typer.Option("--quarantine", help="Delete also what a repair has put aside.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Delete nothing; show what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before ranges are dropped.")] = False,
) -> None:
    """Delete files that no longer count; with --before, drop old ranges.

    Files stay on the disk when segments are replaced, merged or dropped. Frozen snapshots and programs that are reading may still
    need them: prune when none does. Ranges that were dropped are fetched again when they are asked for.
    """
    from ledgerframes.store.prune import prune as pruned

    if not 0 <= older_than <= LONGEST_HOURS:
        raise UsageError(f"--older-than {older_than:g} is no number of hours from 0 to {LONGEST_HOURS:,}.")
    net = call.connect()
    asked: dict[str, Any] = {
        "before": before,
        "datasets": datasets,
        "min_age": timedelta(hours=older_than),
        "include_quarantine": quarantine,
    }
    if before and not (dry_run or yes):
        _confirm(net, pruned(net.store, **asked, dry_run=True), before)
    done = pruned(net.store, **asked, dry_run=dry_run)
    show = call.show if dry_run else call.tell
    show(_prune_document(net, done, dry_run), _prune_text(net, done, dry_run, older_than))


def _confirm(net: Network, plan: PruneResult, before: str) -> None:
    if not plan.dropped_segments:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            f"--before {before} drops {_dropped(plan)}, and nobody can be asked here. Add --yes, or look with --dry-run."
        )
    if not typer.confirm(output.plain(f"Drop {_dropped(plan)} of {net.name}?"), err=True):
        raise UsageError("Nothing was dropped or deleted, as you said.")


def _dropped(plan: PruneResult) -> str:
    rows = sum(segment.rows for segment in plan.dropped_segments)
    by_dataset = Counter(segment.dataset for segment in plan.dropped_segments)
    return f"{output.counted(rows, 'row')} in {output.counted(len(plan.dropped_segments), 'segment')} ({', '.join(by_dataset)})"


def _prune_document(net: Network, done: PruneResult, dry_run: bool) -> dict[str, Any]:
    return {
        "network": net.name,
        "dry_run": dry_run,
        "dropped": [{"dataset": each.dataset, "extent": str(each.extent), "rows": each.rows} for each in done.dropped_segments],
        "removed": {"files": len(done.deleted_files), "bytes": sum(stored.bytes for stored in done.deleted_files)},
        "kept": {"files": len(done.retained_files), "bytes": sum(stored.bytes for stored in done.retained_files)},
    }


def _prune_text(net: Network, done: PruneResult, dry_run: bool, older_than: float) -> str:
    would = "would be " if dry_run else ""
    lines = [("network", net.name)]
    if done.dropped_segments:
        lines.append((f"{would}dropped", _dropped(done)))
    lines.append((f"{would}deleted", _sized(done.deleted_files)))
    if done.retained_files:
        step = "when no program writes or reads here, --older-than 0 deletes them"
        lines.append((f"{would}kept", f"{_sized(done.retained_files)}, written less than {older_than:g} h ago: {step}"))
    return output.facts(lines)


def _sized(files: Sequence[FileInfo]) -> str:
    return f"{output.counted(len(files), 'file')}, {output.size(sum(stored.bytes for stored in files))}"
