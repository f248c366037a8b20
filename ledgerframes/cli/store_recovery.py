"""``ledgerframes store recheck`` and ``rebuild`` find and undo changes of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, DryRun, option
from ledgerframes.cli.store_maintenance import MAX_LINES, Datasets, describe_repair, format_repairs, require_store
from ledgerframes.errors import IntegrityError
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from ledgerframes.loaders.recheck import RecheckResult

LOST_FACTS = (
    "Segments without rows, gaps, complete folders of bulk objects, the bounds of migrations and the participant of the ledger "
    "are in no file. The next load fetches what is missing."
)


# -- recheck --------------------------------------------------------------------------------------------------------


def recheck(
    context: CommandContext,
    sample: Annotated[int, option("--sample COUNT", "Number of final segments (default: 20).", min=1)] = 20,
    seed: Annotated[int | None, option("--seed NUMBER", "Seed of the random choice, to repeat it.")] = None,
    datasets: Datasets = None,
    replace: Annotated[bool, option("--replace", "Move segments that differ to quarantine and fetch them again.")] = False,
) -> None:
    """Fetch a sample of final rows again and compare them.

    A new release of a service can change rows that were final. An hour of a window, 1,000 offsets, 20 ids or the objects of
    each chosen segment are fetched into an empty directory, and all values are compared. The exit code is 1 if anything
    differs. Nothing in the store changes without --replace.
    """
    from ledgerframes.loaders.recheck import recheck as recheck_store

    net = context.connect()
    require_store(net)
    result = recheck_store(net, sample=sample, seed=seed, datasets=datasets, replace=replace)
    changes = output.plain_rows(result.changes)
    document = {
        "network": net.name,
        "segments": result.segments,
        "changes": changes,
        "skipped": result.skipped,
        "repairs": [describe_repair(each) for each in result.repairs],
    }
    if not (changes and context.as_json):  # otherwise the error is the one document
        context.print_summary(document, _format_recheck)
    if changes:
        raise _changed_error(result)


def _changed_error(result: RecheckResult) -> IntegrityError:
    changes = {
        f"{row.dataset} {row.extent}, {row.table}{'' if row.change != 'values changed' else f'.{row.column}'}": (
            f"{row.change}: {row.rows:,}"
        )
        for row in result.changes.itertuples()
    }
    extents = len(result.changes[["dataset", "extent"]].drop_duplicates())
    first, change = next(iter(changes.items()))
    step = "The segments were fetched again." if result.repairs else "Fetch the segments again with --replace."
    return IntegrityError(
        f"{extents:,} of {pluralize(result.segments, 'extent')} changed upstream, the first is {first} ({change}). {step}",
        failures=changes,
    )


def _format_recheck(document: dict[str, Any]) -> str:
    pairs = [
        ("network", document["network"]),
        ("fetched again", pluralize(document["segments"], "extent")),
        ("differ", f"{len({(row['dataset'], row['extent']) for row in document['changes']}):,}"),
    ]
    text = output.format_pairs(pairs)
    if document["skipped"]:
        text += "\n\n" + output.format_table(("not fetched again", "reason"), list(document["skipped"].items())[:MAX_LINES])
    return text + format_repairs(document["repairs"])


# -- rebuild --------------------------------------------------------------------------------------------------------


def rebuild(context: CommandContext, dry_run: DryRun = False) -> None:
    """Rebuild a damaged or lost catalog from the segments.

    Intact records of the old catalog are kept. Other segments are read from the metadata of their files. The old catalog
    moves to quarantine. An intact catalog is left as it is. Run this while nothing else uses the store.
    """
    from ledgerframes.store.rebuild import rebuild as rebuild_store

    net = context.connect()
    require_store(net)
    result = rebuild_store(net.store, dry_run=dry_run)
    document = {"network": net.name, "dry_run": dry_run, **vars(result)}
    context.print_summary(document, _format_rebuild, dry_run=dry_run)


def _format_rebuild(document: dict[str, Any]) -> str:
    if not document["is_needed"]:
        return f"The catalog of {document['network']} is intact."
    text = output.format_pairs(
        [
            ("network", document["network"]),
            ("from the catalog", pluralize(document["from_catalog"], "segment")),
            ("from files", pluralize(document["from_files"], "segment")),
            ("not usable", pluralize(len(document["problems"]), "file")),
        ]
    )
    if document["problems"]:
        text += "\n\n" + output.format_table(("file", "problem"), list(document["problems"].items())[:MAX_LINES])
    return f"{text}\n\n{'Nothing was written.' if document['dry_run'] else LOST_FACTS}"
