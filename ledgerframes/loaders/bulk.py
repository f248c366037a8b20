"""``load_bulk``, the fast way to load a whole history."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import get_args

from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.loaders.bulk_loader import BulkFileLoader, BulkKeyLoader, BulkLoader, BulkSnapshotLoader, BulkWindowLoader
from ledgerframes.loaders.bulk_object import BulkKind, ObjectOptions
from ledgerframes.loaders.sync import load
from ledgerframes.network import Network
from ledgerframes.values.windows import Time, instant, window

__all__ = ["load_bulk"]


def _bulk_loader(
    net: Network,
    *,
    since: Time | None,
    until: Time | None,
    during: str | None,
    object_keys: Iterable[str] | None,
    paths: Iterable[str | Path] | str | Path | None,
    kind: BulkKind,
    at: Time | None,
    download_dir: str | Path | None,
    allow_partial: bool,
    on_bad_item: OnBadItem,
) -> BulkLoader:
    """Return the load of files, keys, a snapshot or a window."""
    _require_compatible(kind, (since, until, during), at, object_keys, paths)
    directory = None if download_dir is None else str(download_dir)
    by_key = paths is not None or object_keys is not None
    options = ObjectOptions(kind, by_key, directory, allow_partial, on_bad_item)
    if paths is not None:
        return BulkFileLoader(net, options, paths)
    if object_keys is not None:
        return BulkKeyLoader(net, options, object_keys)
    if kind == "acs":
        return BulkSnapshotLoader(net, options, net.now() if at is None else instant(at, "at"))
    return BulkWindowLoader(net, options, window(net.now(), since, until, during))


def _require_compatible(
    kind: str, times: tuple[Time | None, Time | None, str | None], at: Time | None, object_keys: object, paths: object
) -> None:
    has_window = times != (None, None, None)
    if sum([object_keys is not None, paths is not None, has_window or at is not None]) > 1:
        raise UsageError("A window, object_keys= and paths= cannot be combined. Pass one of them.")
    if kind not in get_args(BulkKind):
        raise UsageError(f"Unknown kind {kind!r}. Choose from {', '.join(get_args(BulkKind))}.")
    if kind == "acs" and has_window:
        raise UsageError("kind='acs' cannot be combined with since=, until= or during=. Pass at= instead.")
    if kind == "updates" and at is not None:
        raise UsageError("at= cannot be combined with kind='updates'. Pass since= and until=, or during=.")


@loader(_bulk_loader)
def load_bulk(
    net: Network,
    *,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    object_keys: Iterable[str] | None = None,
    paths: Iterable[str | Path] | str | Path | None = None,
    kind: BulkKind = "updates",
    at: Time | None = None,
    download_dir: str | Path | None = None,
    allow_partial: bool = False,
    on_bad_item: OnBadItem = "raise",
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Frames:
    """Load bulk objects, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC (default for `until`: now). Objects contain whole days: their other lines are
        also stored, but are not in these frames.
    during : str, optional
        A date word instead, such as ``last-week`` or ``2026-11-03``, relative to ``net.now()``.
    object_keys : iterable of str, optional
        Load these objects instead, listed or not, including those with ``protobuf_json`` payloads.
    paths : path or iterable of path, optional
        Load objects on this machine instead, or directories of objects, without an HTTP request.
    kind : {"updates", "acs"}
        Updates, or the active contracts of an ACS snapshot.
    at : str, date or datetime, optional
        For active contracts, load the newest snapshot at or before this time (default: now).
    download_dir : path, optional
        Directory for downloaded objects (default: delete them).
    allow_partial : bool
        Return frames even if some objects could not be read. ``frames.failed_objects`` lists these.
    on_bad_item : {"raise", "quarantine"}
        What to do with a line that cannot be decoded. ``quarantine`` writes its bytes to a file below the store. The other
        lines of the object are then provisional, so the next load reads the object again (docs/facts.md#unknown-kinds).
    executor : concurrent.futures.Executor, optional
        Fetches the chunks, for example on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
        must reach the network and the store. Only the caller commits. Workers on one machine share the request
        rate of a host, but no other limits.
        By default, one process per core, or this process for the embedded sandbox and for a single object.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    Frames
        ``updates``, ``tree_events`` and ``reassignments``, or ``active_contracts``, sorted as these tables declare, and
        ``bulk_objects`` with one row per object.

    Raises
    ------
    IntegrityError
        If objects are truncated, damaged, too large or not as listed. The others have been committed by then, and the error's
        ``failures`` lists all failures.
    UsageError
        If the window or a key is invalid, the network lists no bulk objects, or two keys or files, or one and an object of the
        store, have the same lines in two encodings.
    CoverageError
        If the network is offline and the store does not cover the load.
    ServiceError, TransportError
        If the service fails. Committed data stay.
    WorkerError
        If workers keep dying.

    Notes
    -----
    Source: docs/facts.md#bulk-storage, GET /v0/history/bulk/download/{object_key}. Objects contain updates only, without
    verdicts and traffic.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_bulk(net, since="2026-11-08", until="2026-11-09")
    >>> len(frames.updates) == int(frames.bulk_objects["lines"].sum())
    True
    """
    bulk = _bulk_loader(
        net,
        since=since,
        until=until,
        during=during,
        object_keys=object_keys,
        paths=paths,
        kind=kind,
        at=at,
        download_dir=download_dir,
        allow_partial=allow_partial,
        on_bad_item=on_bad_item,
    )
    return load(bulk, executor=executor, progress=progress)
