"""Loading bulk objects: the fast way to a whole history, one object a segment."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import Literal, get_args, overload

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.bulk_reading import BulkKind, BulkReading
from ledgerframes.network import Network
from ledgerframes.windows import Time, instant, window

__all__ = ["load_bulk"]


@overload
def load_bulk(
    net: Network,
    *,
    since: Time | None = ...,
    until: Time | None = ...,
    during: str | None = ...,
    object_keys: Iterable[str] | None = ...,
    paths: Iterable[str | Path] | str | Path | None = ...,
    kind: BulkKind = ...,
    at: Time | None = ...,
    keep: str | Path | None = ...,
    executor: Executor | None = ...,
    partial: bool = ...,
    plan: Literal[False] = ...,
    progress: bool | None = ...,
) -> Frames: ...
@overload
def load_bulk(
    net: Network,
    *,
    since: Time | None = ...,
    until: Time | None = ...,
    during: str | None = ...,
    object_keys: Iterable[str] | None = ...,
    paths: Iterable[str | Path] | str | Path | None = ...,
    kind: BulkKind = ...,
    at: Time | None = ...,
    keep: str | Path | None = ...,
    executor: Executor | None = ...,
    partial: bool = ...,
    plan: Literal[True],
    progress: bool | None = ...,
) -> pd.DataFrame: ...
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
    keep: str | Path | None = None,
    executor: Executor | None = None,
    partial: bool = False,
    plan: bool = False,
    progress: bool | None = None,
) -> Frames | pd.DataFrame:
    """Load bulk objects: the network's whole history, a day a folder; an object that was read is never read again.

    Parameters
    ----------
    net : Network
    since, until : str, date or datetime, optional
        Half-open range of record times, UTC; until is now by default. Objects hold whole days: other lines are stored, too, but
        are not in these frames.
    during : str, optional
        A date word instead, such as ``last-week`` or ``2026-11-03``, read against ``net.now()``.
    object_keys : iterable of str, optional
        These objects instead, listed or not; also those with ``protobuf_json`` payloads.
    paths : path or iterable of path, optional
        ObjectSet on this disk instead, or folders of them. No request is made.
    kind : {"updates", "acs"}
        Updates, or the contracts that were active at a snapshot.
    at : str, date or datetime, optional
        For active contracts: the newest snapshot that is not after this; now by default.
    keep : path, optional
        Folder in which downloaded objects are kept; by default they go when they were read.
    executor : Executor, optional
        Who reads the objects: any ``concurrent.futures.Executor``, also ``dask.distributed.Client(…).get_executor()``. Workers
        must reach the network and the store's root. By default a process for each core of this machine.
    partial : bool
        Give frames of what could be read when some objects could not, with a warning.
    plan : bool
        Read nothing; say what would be read.
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.

    Returns
    -------
    Frames
        ``updates``, ``tree_events`` and ``reassignments``, or ``active_contracts``; sorted as these tables declare. And
        ``bulk_objects``: one row per object. With ``plan``, a DataFrame: one row per object that would be read.

    Raises
    ------
    IntegrityError
        After everything else was committed, if an object was cut off, damaged, too large or not what was listed; all of them are
        in its ``failed``.
    UsageError
        If the range makes no sense, a key is none, or this network lists no bulk objects.
    CoverageError
        If the network is offline and the store does not hold all of it.
    ServiceError, TransportError
        If the service fails; what was committed before stays.
    WorkerError
        If workers keep dying.

    Notes
    -----
    Source: docs/facts.md#bulk-storage, GET /v0/history/bulk/download/{object_key}. Objects hold updates only: no verdicts,
    no traffic.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_bulk(net, since="2026-11-08", until="2026-11-09")
    >>> len(frames.updates) == int(frames.bulk_objects["lines"].sum())
    True
    """
    ways = [object_keys is not None, paths is not None, (since, until, during, at) != (None, None, None, None)]
    if sum(ways) > 1:
        raise UsageError("Give a range, or object_keys, or paths: one of them.")
    _require_fitting(kind, since or until or during, at)
    reading = BulkReading(net, kind, any(ways[:2]), None if keep is None else str(keep), executor, partial, progress)
    if paths is not None:
        return reading.files(paths, plan)
    if object_keys is not None:
        return reading.named(object_keys, plan)
    if kind == "acs":
        return reading.snapshot(net.now() if at is None else instant(at, "at"), plan)
    return reading.window(window(net.now(), since, until, during), plan)


def _require_fitting(kind: str, asked: Time | None, at: Time | None) -> None:
    if kind not in get_args(BulkKind):
        raise UsageError(f"kind={kind!r} is not known. Use {' or '.join(get_args(BulkKind))}.")
    if kind == "acs" and asked is not None:
        raise UsageError("Active contracts are those at one time: give at=, not a range.")
    if kind == "updates" and at is not None:
        raise UsageError("at= is for kind='acs'. Updates have a range: give since and until, or during.")
