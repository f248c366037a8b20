"""``ledgerframes sync`` fetches data into the store."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import ledgerframes as lf
from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, DryRun, During, Quarantine, Since, Until, group, option
from ledgerframes.cli.signals import SIGNALS
from ledgerframes.cli.sync_reference import observation_commands
from ledgerframes.cli.sync_summary import (
    describe_bulk,
    describe_sync,
    format_plan,
    format_sync,
)
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from ledgerframes.frames import Frames
    from ledgerframes.network import Network

UPDATE_ID = "update_id"  # the column of a CSV
CONNECT_TIMEOUT = "10s"  # for the scheduler of a cluster

Workers = Annotated[int | None, option("--workers N", "Number of local worker processes.", min=1)]
Dask = Annotated[str | None, option("--dask ADDRESS", "Scheduler of a Dask cluster, such as tcp://host:8786.")]


def events(
    context: CommandContext,
    since: Since = None,
    until: Until = None,
    during: During = None,
    update_ids: Annotated[
        Path | None, option("--update-ids FILE", "Look up the ids in this file, one per line or a CSV with update_id (-: stdin).")
    ] = None,
    quarantine: Quarantine = False,
    plan: DryRun = False,
    workers: Workers = None,
    dask: Dask = None,
) -> None:
    """Fetch history events by record time or by update id.

    If some ids are unknown, the events of the others are committed, and the exit code is 3. The exit code is also 3 if the
    window is before the first event or after the last one.
    """
    from ledgerframes.loaders.event_bounds import require_overlap
    from ledgerframes.loaders.events import load_events

    ids = _read_ids(update_ids) if update_ids else None
    net = context.connect()
    on_bad_item = "quarantine" if quarantine else "raise"
    options = {"since": since, "until": until, "during": during, "update_ids": ids, "on_bad_item": on_bad_item}
    frames, document = _fetch(context, net, load_events, options, workers, dask, plan=plan)
    _require_known_ids(net, frames.unknown_ids, 0 if ids is None else len(ids))
    if frames.window and not any(document["rows"].values()):
        require_overlap(net, frames.window)
    context.print_summary(document, partial(format_sync, with_workers=bool(workers or dask)))


def updates(
    context: CommandContext,
    since: Since = None,
    until: Until = None,
    during: During = None,
    after: Annotated[
        int | None, option("--after OFFSET", "Start of the offset range, exclusive (default: ledger start).")
    ] = None,
    through: Annotated[
        int | None, option("--through OFFSET", "End of the offset range, inclusive (default: ledger end).")
    ] = None,
    parties: Annotated[list[str] | None, option("--party PARTY", "Limit to updates that this party sees. Repeatable.")] = None,
    templates: Annotated[
        list[str] | None, option("--template NAME", "Limit to this template, as package:Module:Entity. Repeatable.")
    ] = None,
    interfaces: Annotated[
        list[str] | None, option("--interface NAME", "Limit to this interface, as package:Module:Entity. Repeatable.")
    ] = None,
    shape: Annotated[
        Literal["acs_delta", "ledger_effects"], option("--shape SHAPE", "acs_delta or ledger_effects (default: acs_delta).")
    ] = "acs_delta",
    descending: Annotated[bool, option("--descending", "Fetch the newest updates first.")] = False,
    follow: Annotated[bool, option("--follow", "Keep fetching new updates until Ctrl-C.")] = False,
    poll_seconds: Annotated[
        float, option("--poll-seconds SECONDS", "Wait between polls with --follow (default: 5).", min=0.1)
    ] = 5.0,
    quarantine: Quarantine = False,
    plan: DryRun = False,
    workers: Workers = None,
    dask: Dask = None,
) -> None:
    """Fetch updates of a participant's ledger by record time or by offset.

    The next run resumes at the last committed offset. The shape acs_delta has creates and archives of active contracts, and
    ledger_effects has the tree of all creates and exercises.
    """
    from ledgerframes.loaders.ledger import load_updates

    net = context.connect()
    options = {
        "since": since,
        "until": until,
        "during": during,
        "after": after,
        "through": through,
        "parties": parties,
        "templates": templates or (),
        "interfaces": interfaces or (),
        "shape": shape,
        "descending": descending,
        "on_bad_item": "quarantine" if quarantine else "raise",
        "follow": follow,
        "poll_seconds": poll_seconds,
    }
    if follow:
        SIGNALS.raise_only_once()
    _, document = _fetch(context, net, load_updates, options, workers, dask, plan=plan)
    context.print_summary(document, partial(format_sync, with_workers=bool(workers or dask)))


def bulk(
    context: CommandContext,
    since: Since = None,
    until: Until = None,
    during: During = None,
    object_keys: Annotated[list[str] | None, option("--object-key KEY", "Load the object with this key. Repeatable.")] = None,
    paths: Annotated[list[Path] | None, option("--path PATH", "Load a local object or directory. Repeatable.")] = None,
    kind: Annotated[
        Literal["updates", "acs"], option("--kind KIND", "updates, or acs for active contracts (default: updates).")
    ] = "updates",
    at: Annotated[
        str | None, option("--at TIME", "With --kind acs, load the newest snapshot up to this time (default: now).")
    ] = None,
    download_dir: Annotated[
        Path | None, option("--download-dir DIR", "Save downloaded objects here (default: delete them).")
    ] = None,
    allow_partial: Annotated[bool, option("--allow-partial", "Report failed objects as warnings, not as an error.")] = False,
    quarantine: Quarantine = False,
    plan: DryRun = False,
    workers: Workers = None,
    dask: Dask = None,
) -> None:
    """Load bulk objects, the network's whole history by day.

    Stored objects are not loaded again. A failed object does not stop the others, which are committed. The command then ends
    with a list of the failures.
    """
    from ledgerframes.loaders.bulk import load_bulk

    net = context.connect()
    options = {
        "since": since,
        "until": until,
        "during": during,
        "object_keys": object_keys,
        "paths": paths,
        "kind": kind,
        "at": at,
        "download_dir": download_dir,
        "allow_partial": allow_partial,
        "on_bad_item": "quarantine" if quarantine else "raise",
    }
    frames, document = _fetch(context, net, load_bulk, options, workers, dask, plan=plan)
    for key, reason in frames.failed_objects.items():
        output.write_error(f"{escape_control(key)}: {reason}")
    document |= describe_bulk(frames, kind)
    with_workers = bool(workers or dask) or not net.in_process
    context.print_summary(document, partial(format_sync, from_files=bool(paths), with_workers=with_workers))


def _fetch(
    context: CommandContext,
    net: Network,
    load: Callable[..., Frames],
    options: dict[str, Any],
    workers: int | None,
    dask: str | None,
    *,
    plan: bool,
) -> tuple[Frames, dict[str, Any]]:
    """Run a load and describe what it has fetched.

    A dry run shows the plan and ends the command.
    """
    if plan:
        rows = lf.plan(load, net, **options)
        of_objects = load is lf.load_bulk
        context.print_result({"network": net.name, "plan": output.plain_rows(rows)}, partial(format_plan, of_objects=of_objects))
        raise typer.Exit
    start = time.monotonic()
    with _open_executor(workers, dask) as executor:
        frames = load(net, **options, executor=executor, progress=context.progress)
    for name, reason in frames.unreadable.items():
        output.write_error(f"{escape_control(name)} cannot be read: {escape_control(reason)}.")
    return frames, describe_sync(net, frames, time.monotonic() - start)


@contextmanager
def _open_executor(workers: int | None, dask: str | None) -> Iterator[Executor | None]:
    """Open the executor that the options choose, or None for the loader's default."""
    if workers and dask:
        raise UsageError("--workers cannot be combined with --dask.")
    if dask:
        from distributed import Client

        try:
            client = Client(dask, timeout=CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"Cannot reach a Dask scheduler at {dask}: {error}. Start one with `dask scheduler`.") from error
        with client:
            yield client.get_executor()
    elif workers:
        from ledgerframes.loaders.executors import processes

        executor = processes(workers)
        try:
            yield executor
        finally:
            executor.shutdown(wait=True, kill_workers=True)
    else:
        yield None


def _read_ids(file: Path) -> list[str]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read --update-ids {file}: {error}. Pass a text file with one update id per line.") from error
    ids = _ids_of([line.strip() for line in text.splitlines() if line.strip()])
    if not ids:
        raise UsageError(f"--update-ids {file} has no ids. Pass a text file with one update id per line.")
    return ids


def _ids_of(lines: list[str]) -> list[str]:
    """Return the id on each line, or the column of update ids of a CSV with a header."""
    header = next(csv.reader(lines), [])
    if UPDATE_ID in header:
        return [row[UPDATE_ID] for row in csv.DictReader(lines) if row[UPDATE_ID]]
    return [line.strip('"') for line in lines]


def _require_known_ids(net: Network, unknown_ids: tuple[str, ...], count: int) -> None:
    if unknown_ids:
        examples = ", ".join(unknown_ids[:3]) + (", …" if len(unknown_ids) > 3 else "")
        raise CoverageError(
            f"{net.name} does not know {len(unknown_ids):,} of {pluralize(count, 'update id')} ({examples}). "
            "Check the ids and the profile.",
            missing=unknown_ids,
        )


app = group(
    "Fetch network data into the store.\n\n"
    "Data that is final in the store is never fetched again. If you stop a sync, committed data stays in the store.",
    {"events": events, "updates": updates, "bulk": bulk, **observation_commands()},
)
