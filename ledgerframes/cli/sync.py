"""``ledgerframes sync``: fetch what the store lacks."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.executors import DASK, WORKERS, executor_of
from ledgerframes.cli.options import Call, During, Since, Until, command
from ledgerframes.errors import CoverageError, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from ledgerframes.frames import Frames
    from ledgerframes.network import Network

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Fetch what the store lacks."""


@app.command("events")
@command
def events(
    call: Call,
    since: Since = None,
    until: Until = None,
    during: During = None,
    update_ids: Annotated[
        Path | None, typer.Option("--update-ids", metavar="FILE", help="Look up the ids in this file, one a line; - is stdin.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Fetch nothing; show what would be fetched.")] = False,
    workers: WORKERS = None,
    dask: DASK = None,
) -> None:
    """Fetch history events into the store, by range or by id.

    What is in the store already is not asked for again; what is committed stays when a sync is stopped.
    """
    from ledgerframes.loaders.events import load_events

    ids = _ids(update_ids) if update_ids else None
    net = call.connect()
    began = time.monotonic()
    if dry_run:
        plan = load_events(net, since=since, until=until, during=during, update_ids=ids, plan=True)
        call.show(plan_document(net, plan), lambda: plan_text(net, plan))
        return
    with executor_of(workers, dask) as executor:
        frames = load_events(
            net, since=since, until=until, during=during, update_ids=ids, executor=executor, progress=call.progress
        )
    document = document_of(net, frames, time.monotonic() - began)
    _require_known(net, frames.unknown_ids, 0 if ids is None else len(ids))
    call.tell(document, text_of(document, workers=executor is not None))


@app.command("updates")
@command
def updates(
    call: Call,
    after: Annotated[int | None, typer.Option(help="Offset before the first one wanted; the whole ledger by default.")] = None,
    through: Annotated[int | None, typer.Option(help="Last offset wanted; the ledger's end now by default.")] = None,
    party: Annotated[
        list[str] | None, typer.Option(metavar="PARTY", help="A party whose view is wanted; may be repeated.")
    ] = None,
    template: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this template, as package:Module:Entity; may be repeated.")
    ] = None,
    interface: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this interface, as package:Module:Entity; may be repeated.")
    ] = None,
    trees: Annotated[
        bool, typer.Option("--trees", help="All creates and exercises with their tree, not only the ACS delta.")
    ] = False,
    descending: Annotated[bool, typer.Option("--descending", help="Read from the end; the store is the same.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="After that, keep reading what the ledger adds, until Ctrl-C.")
    ] = False,
    poll_seconds: Annotated[
        float, typer.Option(min=0.1, help="Seconds to wait, when following, while there is nothing new.")
    ] = 5.0,
) -> None:
    """Fetch a participant's ledger into the store, by offset.

    What is in the store already is not asked for again: the next run goes on where this one stopped.
    """
    from ledgerframes.loaders.updates import load_updates

    net = call.connect()
    began = time.monotonic()
    frames = load_updates(
        net,
        after=after,
        through=through,
        parties=party,
        templates=template or (),
        interfaces=interface or (),
        shape="ledger_effects" if trees else "acs_delta",
        descending=descending,
        follow=follow,
        poll_seconds=poll_seconds,
        progress=call.progress,
    )
    document = document_of(net, frames, time.monotonic() - began)
    call.tell(document, text_of(document))


@app.command("votes")
@command
def votes(call: Call) -> None:
    """Keep a snapshot of the votes on the coin price: only the latest are served, so their history is what was kept."""
    from ledgerframes.loaders.reference import load_price_votes

    net = call.connect()
    _tell_snapshots(call, net, load_price_votes(net))


@app.command("name-rules")
@command
def name_rules(call: Call) -> None:
    """Keep a snapshot of the rules of the name service."""
    from ledgerframes.loaders.reference import load_name_rules

    net = call.connect()
    _tell_snapshots(call, net, load_name_rules(net))


def _tell_snapshots(call: Call, net: Network, kept: pd.DataFrame) -> None:
    moments = kept["observed_at"].drop_duplicates()
    document: dict[str, Any] = {
        "network": net.name,
        "snapshots": len(moments),
        "latest": None if moments.empty else moments.iloc[-1].to_pydatetime(),
        "rows": len(kept),
        "requests": net.request_count,
    }
    latest = "none" if moments.empty else f"{output.time(document['latest'])} UTC"
    facts = [("network", net.name), ("snapshots", f"{len(moments):,}"), ("latest", latest), ("rows", f"{len(kept):,}")]
    call.tell(document, output.facts(facts))


def _ids(file: Path) -> list[str]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--update-ids {file} cannot be read ({error}). Give a text file with one id a line.") from error
    ids = [line.strip() for line in text.splitlines() if line.strip()]
    if not ids:
        raise UsageError(f"--update-ids {file} holds no ids. Give a text file with one id a line.")
    return ids


def _require_known(net: Network, unknown: tuple[str, ...], asked: int) -> None:
    if unknown:
        some = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
        raise CoverageError(
            f"{net.name} does not know {len(unknown)} of {output.counted(asked, 'id')} ({some}); the others are in the store. "
            "Check the ids, and that they are of this network.",
            missing=unknown,
        )


def plan_document(net: Network, plan: pd.DataFrame) -> dict[str, Any]:
    """What would be fetched, as plain values."""
    rows = [{name: _value(value) for name, value in row.items()} for row in plan.to_dict("records")]
    return {"network": net.name, "fetch": rows}


def plan_text(net: Network, plan: pd.DataFrame) -> str:
    """What would be fetched, as lines."""
    if plan.empty:
        return f"Nothing to fetch: {net.name} is complete in the store."
    if "object_key" in plan:
        return "\n".join(
            [f"Would read {output.counted(len(plan), 'bulk object')} of {net.name}:", *map(output.plain, plan["object_key"])]
        )
    if "update_id" in plan:
        return "\n".join(
            [f"Would look up {output.counted(len(plan), 'id')} at {net.name}:", *map(output.plain, plan["update_id"])]
        )
    parts = plan_document(net, plan)["fetch"]
    rows = [
        (
            "not known yet" if part["migration_id"] is None else part["migration_id"],
            output.time(part["since"]),
            output.time(part["until"]),
        )
        for part in parts
    ]
    return f"Would fetch from {net.name}:\n" + output.columns(("migration", "since (UTC)", "until (UTC)"), rows)


def _value(value: Any) -> Any:
    """A cell as a plain Python value; a missing one is None."""
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value if isinstance(value, str | int) else None


def document_of(net: Network, frames: Frames, seconds: float) -> dict[str, Any]:
    """What a sync has done, as plain values."""
    covered = frames.coverage
    return {
        "network": net.name,
        "since": frames.window.since if frames.window else None,
        "until": frames.window.until if frames.window else None,
        "after": frames.offset_range[0] if frames.offset_range else None,
        "through": frames.offset_range[1] if frames.offset_range else None,
        "rows": {table: frames.count_rows(table) for table in frames.tables},
        "provisional_rows": int(covered.loc[covered["status"] == "provisional", "rows"].sum()),
        "unknown_ids": frames.unknown_ids,
        "failed": list(frames.failed_objects),
        "requests": net.request_count,
        "seconds": round(seconds, 2),
        "store": str(net.store.location),
    }


def text_of(document: dict[str, Any], *, files: bool = False, workers: bool = False) -> str:
    """What a sync has done, as lines.

    Parameters
    ----------
    document : dict
    files : bool
        What was read is on the disk.
    workers : bool
        Others may have asked, too; their requests are not counted.
    """
    provisional = document["provisional_rows"]
    snapshot, objects_until = document.get("snapshot"), document.get("objects_until")
    asked = "by name" if "bulk_objects" in document["rows"] else "by id"
    if snapshot:
        asked = f"snapshot of {output.time(snapshot)} UTC"
    if document["since"]:
        asked = f"{output.time(document['since'])} to {output.time(document['until'])} UTC"
    elif document["through"] is not None:
        asked = f"offsets after {document['after']} through {document['through']}"
    lines = [
        ("network", document["network"]),
        ("range", asked),
        ("requests", _requests_text(document, files, workers)),
        ("store", document["store"]),
        *((table, output.counted(rows, "row")) for table, rows in document["rows"].items()),
    ]
    if provisional:
        lines.append(("provisional", f"{output.counted(provisional, 'row')} may still change, and are asked for again next time"))
    if objects_until and objects_until < document["until"]:
        lines.append(("not there", f"{output.time(objects_until)} to {output.time(document['until'])} UTC: no bulk objects"))
    if document["failed"]:
        lines.append(("not read", f"{output.counted(len(document['failed']), 'bulk object')}, named on stderr"))
    return output.facts(lines)


def _requests_text(document: dict[str, Any], files: bool, workers: bool) -> str:
    if document["requests"]:
        return f"{document['requests']:,}{', and those of the workers,' if workers else ''} in {document['seconds']:.1f} s"
    return "none: what was asked for is on the disk" if files else "none: all of it was in the store"
