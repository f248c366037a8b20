"""Loading history events: by range where the network lists them, by id everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from typing import Literal, get_args, overload

import pandas as pd

from ledgerframes.datasets import EVENT_TABLES
from ledgerframes.datasets.registry import EVENTS, EVENTS_BY_ID
from ledgerframes.errors import UsageError
from ledgerframes.extents import IdSet
from ledgerframes.frames import Frames
from ledgerframes.loaders import by_id, by_range
from ledgerframes.network import Network
from ledgerframes.windows import Time, Window, window

__all__ = ["load_activity", "load_events", "load_traffic", "load_verdicts"]

TABLE_NAMES = tuple(table.name for table in EVENT_TABLES)
IdSource = Literal["user", "ledger", "bulk"]


@overload
def load_events(
    net: Network,
    *,
    since: Time | None = ...,
    until: Time | None = ...,
    during: str | None = ...,
    update_ids: Iterable[str] | None = ...,
    id_source: IdSource = ...,
    executor: Executor | None = ...,
    plan: Literal[False] = ...,
    progress: bool | None = ...,
) -> Frames: ...
@overload
def load_events(
    net: Network,
    *,
    since: Time | None = ...,
    until: Time | None = ...,
    during: str | None = ...,
    update_ids: Iterable[str] | None = ...,
    id_source: IdSource = ...,
    executor: Executor | None = ...,
    plan: Literal[True],
    progress: bool | None = ...,
) -> pd.DataFrame: ...
def load_events(
    net: Network,
    *,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    update_ids: Iterable[str] | None = None,
    id_source: IdSource = "user",
    executor: Executor | None = None,
    plan: bool = False,
    progress: bool | None = None,
) -> Frames | pd.DataFrame:
    """Load history events: what the store lacks is fetched and kept, then everything is read from the store.

    Parameters
    ----------
    net : Network
    since, until : str, date or datetime, optional
        Half-open range of record times, UTC; until is now by default.
    during : str, optional
        A date word instead, such as ``last-week`` or ``2026-11-03``, read against ``net.now()``.
    update_ids : iterable of str, optional
        Look these events up by id instead of by range.
    id_source : {"user", "ledger", "bulk"}
        Where the ids come from. Those of ledger pages and bulk objects were all accepted, so no rate of acceptance can be made
        from them: say so here, and the analyses refuse to (docs/facts.md#survivorship).
    executor : Executor, optional
        Who reads a range: any ``concurrent.futures.Executor``, also ``dask.distributed.Client(…).get_executor()``. Workers must
        reach the network, each within its own limits, and the store's root. By default threads of this process.
    plan : bool
        Fetch nothing; say what would be fetched.
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.

    Returns
    -------
    Frames
        All tables of the events family, sorted by (migration_id, record_time). IdSet that the service does not know are in
        ``frames.unknown_ids``. With ``plan``, a DataFrame: one row per range or id that would be fetched.

    Raises
    ------
    UsageError
        If the range or the ids make no sense, or the network does not list events by range.
    CoverageError
        If the network is offline and the store does not hold all of it.
    ServiceError, TransportError, DecodeError
        If the service fails; what was committed before stays.

    Notes
    -----
    Source: docs/facts.md#history-paging, GET /v0/events/{update_id}. The newest events stay provisional and are asked
    again next time, because traffic and activity come later than the update (docs/facts.md#traffic-arrives-later).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> list(frames.traffic.columns)
    ['migration_id', 'record_time', 'update_id', 'total_traffic_cost', 'envelope_count', 'extra']
    """
    if update_ids is None:
        return _load_range(net, window(net.now(), since, until, during), plan, progress, executor)
    if (since, until, during) != (None, None, None):
        raise UsageError("Give either update_ids, or a range, not both.")
    return _load_ids(net, by_id.checked(update_ids), _known_source(id_source), plan, progress)


def _known_source(id_source: IdSource) -> IdSource:
    if id_source not in get_args(IdSource):
        raise UsageError(f"id_source={id_source!r} is not known. Use {', '.join(get_args(IdSource))}.")
    return id_source


def _load_range(
    net: Network, asked: Window, plan: bool, progress: bool | None, executor: Executor | None
) -> Frames | pd.DataFrame:
    if plan:
        return by_range.plan(net, asked)
    if net.offline:
        by_range.require_stored(net, asked)
    else:
        by_range.sync(net, asked, progress, executor)
    return Frames(net.store.snapshot(EVENTS, asked), TABLE_NAMES, window=asked)


def _load_ids(
    net: Network, update_ids: list[str], id_source: IdSource, plan: bool, progress: bool | None
) -> Frames | pd.DataFrame:
    if plan:
        return by_id.plan(net, update_ids)
    if net.offline:
        by_id.require_stored(net, update_ids)
    unknown = [] if net.offline else by_id.sync(net, update_ids, id_source, progress)
    known = [update_id for update_id in update_ids if update_id not in set(unknown)]
    snapshot = net.store.snapshot(EVENTS_BY_ID, IdSet(frozenset(known)))
    return Frames(snapshot, TABLE_NAMES, update_ids=known, unknown_ids=unknown)


def load_verdicts(net: Network, *, columns: Sequence[str] | None = None, **asked: object) -> pd.DataFrame:
    """Load verdicts; takes what :func:`load_events` takes.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    **asked
        ``since``, ``until``, ``during`` or ``update_ids``; ``progress``.

    Returns
    -------
    DataFrame
        One row per verdict on a confirmation request, sorted by (migration_id, record_time).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> verdicts = lf.load_verdicts(net, during="yesterday", columns=["update_id", "verdict_result"])
    >>> str(verdicts["verdict_result"].dtype)
    'category'
    """
    return _load_table(net, "verdicts", columns, asked)


def load_traffic(net: Network, *, columns: Sequence[str] | None = None, **asked: object) -> pd.DataFrame:
    """Load traffic costs; takes what :func:`load_events` takes.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    **asked
        ``since``, ``until``, ``during`` or ``update_ids``; ``progress``.

    Returns
    -------
    DataFrame
        One row per confirmation request whose traffic is known, costs in bytes, sorted by (migration_id, record_time).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> traffic = lf.load_traffic(lf.connect("sandbox", events=400, days=1), during="yesterday")
    >>> str(traffic["total_traffic_cost"].dtype)
    'int64'
    """
    return _load_table(net, "traffic", columns, asked)


def load_activity(net: Network, *, columns: Sequence[str] | None = None, **asked: object) -> pd.DataFrame:
    """Load app activity records; takes what :func:`load_events` takes.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    **asked
        ``since``, ``until``, ``during`` or ``update_ids``; ``progress``.

    Returns
    -------
    DataFrame
        One row per app provider of a request, weights in bytes of traffic, sorted by (migration_id, record_time).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> activity = lf.load_activity(lf.connect("sandbox", events=400, days=1), during="yesterday")
    >>> str(activity["weight"].dtype)
    'int64'
    """
    return _load_table(net, "activity_records", columns, asked)


def _load_table(net: Network, table: str, columns: Sequence[str] | None, asked: dict[str, object]) -> pd.DataFrame:
    frames: Frames = load_events(net, **asked)  # type: ignore[call-overload]
    return frames.read(table, columns)
