"""``ledgerframes verify`` checks a directory that somebody else wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, option
from ledgerframes.texts.control_characters import escape_control


def verify(
    context: CommandContext,
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="Directory of lf.grant.evidence or lf.save_frames.")],
    inputs: Annotated[bool, option("--inputs", "Compare the input files with those of the store, too.")] = False,
) -> None:
    """Check all files of a directory against its manifest.

    Files of frames that are not in the manifest are named, because they cannot be checked.

    For evidence, the sums are also checked. Compare the digest of the manifest with the one that its author published.
    """
    from ledgerframes.frames.files import MANIFEST, open_frames
    from ledgerframes.store.location import digest_of

    if _kind(directory / MANIFEST) == "grant.evidence":
        from ledgerframes.analysis.grant import verify as verify_evidence

        # which refuses a file that is not in the manifest
        checks, others = len(verify_evidence(directory, net=context.connect() if inputs else None)), []
    else:
        open_frames(directory)
        names = _file_names(directory / MANIFEST)
        checks, others = len(names), sorted({path.name for path in directory.iterdir()} - names - {MANIFEST})
    document = {
        "directory": directory,
        "manifest_sha256": digest_of(directory / MANIFEST),
        "checks": checks,
        "failed": 0,
        "not_in_manifest": others,
    }
    context.print_result(document, _format)


def _file_names(manifest: Path) -> set[str]:
    """Return the names of the files in a manifest of frames, which names their tables."""
    tables = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    return {f"{table}.parquet" for table in tables}


def _kind(manifest: Path) -> str:
    """Return what a directory contains, or empty if it has no readable manifest."""
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8")).get("kind", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _format(document: dict[str, Any]) -> str:
    pairs = [
        ("directory", document["directory"]),
        ("manifest", document["manifest_sha256"]),
        ("checks", f"{document['checks']:,}, none failed"),
    ]
    others = ", ".join(document["not_in_manifest"])
    return escape_control(output.format_pairs([*pairs, ("not checked", others)] if others else pairs))
