"""``ledgerframes sync bulk``: read bulk objects into the store."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ledgerframes.cli import output
from ledgerframes.cli.executors import DASK, WORKERS, executor_of
from ledgerframes.cli.options import Call, During, Since, Until, command
from ledgerframes.cli.sync import app as app
from ledgerframes.cli.sync import document_of, plan_document, plan_text, text_of

if TYPE_CHECKING:
    from ledgerframes.frames import Frames


@app.command("bulk")
@command
def bulk(
    call: Call,
    since: Since = None,
    until: Until = None,
    during: During = None,
    object_key: Annotated[
        list[str] | None, typer.Option("--object-key", metavar="KEY", help="Only this object; may be repeated.")
    ] = None,
    path: Annotated[
        list[Path] | None, typer.Option("--path", metavar="FILE", help="An object on this disk, or a folder; may be repeated.")
    ] = None,
    kind: Annotated[Literal["updates", "acs"], typer.Option(help="Updates, or the active contracts of a snapshot.")] = "updates",
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="For active contracts: the newest snapshot not after this; now by default.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the downloaded objects here; by default they go.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="ObjectSet that cannot be read are a warning, not an error.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read nothing; show which objects would be read.")] = False,
    workers: WORKERS = None,
    dask: DASK = None,
) -> None:
    """Read bulk objects into the store: the network's whole history, a day a folder.

    An object that was read is not read again. One that cannot be read does not stop the others: they are committed, and the
    command ends with a list of what failed.
    """
    from ledgerframes.loaders.bulk import load_bulk

    net = call.connect()
    began = time.monotonic()
    if dry_run:
        plan = load_bulk(
            net, since=since, until=until, during=during, object_keys=object_key, paths=path, kind=kind, at=at, plan=True
        )
        call.show(plan_document(net, plan), lambda: plan_text(net, plan))
        return
    with executor_of(workers, dask) as executor:
        frames = load_bulk(
            net,
            since=since,
            until=until,
            during=during,
            object_keys=object_key,
            paths=path,
            kind=kind,
            at=at,
            keep=keep,
            executor=executor,
            partial=partial,
            progress=call.progress,
        )
    for name, reason in frames.failed_objects.items():
        output.write_error(f"{output.plain(name)}: {reason}")
    document = {**document_of(net, frames, time.monotonic() - began), **_of_objects(frames, kind)}
    call.tell(document, text_of(document, files=bool(path), workers=not net.in_process or executor is not None))


def _of_objects(frames: Frames, kind: str) -> dict[str, datetime | None]:
    """Which snapshot it is, or through when the network has objects of the range, if all that it has were read."""
    if kind == "acs":
        days = frames.read("bulk_objects", ["since"])["since"]
        return {"snapshot": None if days.empty else days.max().to_pydatetime()}
    if frames.window is None or frames.failed_objects:
        return {}
    covered = frames.coverage["until"]  # also by days without updates
    return {"objects_until": frames.window.since if covered.empty else covered.max().to_pydatetime()}
