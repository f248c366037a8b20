"""``load_events`` and its single tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from typing import Any, Literal, get_args

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.loaders.event_ids import EventIdLoader, parse_update_ids
from ledgerframes.loaders.event_windows import EventLoader
from ledgerframes.loaders.sync import Loader, load
from ledgerframes.network import Network
from ledgerframes.values.windows import Time, window

__all__ = ["load_activity", "load_events", "load_traffic", "load_verdicts"]

IdSource = Literal["user", "ledger", "bulk"]


def _event_loader(
    net: Network,
    *,
    since: Time | None,
    until: Time | None,
    during: str | None,
    update_ids: Iterable[str] | None,
    id_source: IdSource,
    on_bad_item: OnBadItem,
) -> Loader[Any]:
    """Return the load of a window, or of ids."""
    if update_ids is None:
        return EventLoader(net, window(net.now(), since, until, during), on_bad_item)
    if (since, until, during) != (None, None, None):
        raise UsageError("update_ids= cannot be combined with since=, until= or during=.")
    if id_source not in get_args(IdSource):
        raise UsageError(f"Unknown id_source {id_source!r}. Choose from {', '.join(get_args(IdSource))}.")
    return EventIdLoader(net, parse_update_ids(update_ids), id_source, on_bad_item)


@loader(_event_loader)
def load_events(
    net: Network,
    *,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    update_ids: Iterable[str] | None = None,
    id_source: IdSource = "user",
    on_bad_item: OnBadItem = "raise",
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Frames:
    """Load history events, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC (default for `until`: now).
    during : str, optional
        A date or a word instead, such as ``2026-11-03`` or ``last-week``, relative to ``net.now()``.
    update_ids : iterable of str, optional
        Look up these events by id, instead of a window.
    id_source : {"user", "ledger", "bulk"}
        Origin of the ids, for ``verdicts.id_source``. Ledger updates and bulk objects contain only committed updates
        (docs/facts.md#survivorship). If the store knows any of these ids from such a source, the frames count as committed,
        even with ``user``.
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded, once the other items of its page, or the other ids, are committed. The
        next load fetches it again, because its record time stays provisional, or its id is not in the store. ``quarantine``
        writes its bytes to a file below the store and continues (docs/facts.md#unknown-kinds).
    executor : concurrent.futures.Executor, optional
        Fetches the chunks, for example on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
        must reach the network and the store. Only the caller commits. Workers on one machine share the request
        rate of a host, but no other limits.
        By default threads of this process.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    Frames
        All tables of the events family, sorted by (migration_id, record_time). ``frames.unknown_ids`` lists the ids that the
        service does not know, and ``frames.population`` says which requests the frames contain.

    Raises
    ------
    UsageError
        If the window or the ids are invalid, or the network does not list events by range.
    CoverageError
        If the network is offline and the store does not cover the load.
    ServiceError, TransportError, DecodeError
        If the service fails. Committed data stay.

    Notes
    -----
    Source: docs/facts.md#history-paging, GET /v0/events/{update_id}. The newest events are provisional, so the next load
    fetches them again: traffic and activity arrive later than the update (docs/facts.md#traffic-arrives-later).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> frames.traffic["total_traffic_cost"].dtype
    dtype('int64')
    """
    events = _event_loader(
        net,
        since=since,
        until=until,
        during=during,
        update_ids=update_ids,
        id_source=id_source,
        on_bad_item=on_bad_item,
    )
    return load(events, executor=executor, progress=progress)


@loader(_event_loader)
def load_verdicts(
    net: Network,
    *,
    columns: Sequence[str] | None = None,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    update_ids: Iterable[str] | None = None,
    id_source: IdSource = "user",
    on_bad_item: OnBadItem = "raise",
    executor: Executor | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load verdicts, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC (default for `until`: now).
    during : str, optional
        A date or a word instead, such as ``2026-11-03`` or ``last-week``, relative to ``net.now()``.
    update_ids : iterable of str, optional
        Look up these events by id, instead of a window.
    id_source : {"user", "ledger", "bulk"}
        Origin of the ids, as for :func:`load_events`.
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    executor : concurrent.futures.Executor, optional
        Fetches the chunks, for example on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
        must reach the network and the store. Only the caller commits. Workers on one machine share the request
        rate of a host, but no other limits.
        By default threads of this process.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

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
    frames = load_events(
        net,
        since=since,
        until=until,
        during=during,
        update_ids=update_ids,
        id_source=id_source,
        on_bad_item=on_bad_item,
        executor=executor,
        progress=progress,
    )
    return frames.read("verdicts", columns)


@loader(_event_loader)
def load_traffic(
    net: Network,
    *,
    columns: Sequence[str] | None = None,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    update_ids: Iterable[str] | None = None,
    id_source: IdSource = "user",
    on_bad_item: OnBadItem = "raise",
    executor: Executor | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load traffic costs, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC (default for `until`: now).
    during : str, optional
        A date or a word instead, such as ``2026-11-03`` or ``last-week``, relative to ``net.now()``.
    update_ids : iterable of str, optional
        Look up these events by id, instead of a window.
    id_source : {"user", "ledger", "bulk"}
        Origin of the ids, as for :func:`load_events`.
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    executor : concurrent.futures.Executor, optional
        Fetches the chunks, for example on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
        must reach the network and the store. Only the caller commits. Workers on one machine share the request
        rate of a host, but no other limits.
        By default threads of this process.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per confirmation request with a known cost, in bytes, sorted by (migration_id, record_time).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> traffic = lf.load_traffic(lf.connect("sandbox", events=400, days=1), during="yesterday")
    >>> str(traffic["total_traffic_cost"].dtype)
    'int64'
    """
    frames = load_events(
        net,
        since=since,
        until=until,
        during=during,
        update_ids=update_ids,
        id_source=id_source,
        on_bad_item=on_bad_item,
        executor=executor,
        progress=progress,
    )
    return frames.read("traffic", columns)


@loader(_event_loader)
def load_activity(
    net: Network,
    *,
    columns: Sequence[str] | None = None,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    update_ids: Iterable[str] | None = None,
    id_source: IdSource = "user",
    on_bad_item: OnBadItem = "raise",
    executor: Executor | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load app activity records, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC (default for `until`: now).
    during : str, optional
        A date or a word instead, such as ``2026-11-03`` or ``last-week``, relative to ``net.now()``.
    update_ids : iterable of str, optional
        Look up these events by id, instead of a window.
    id_source : {"user", "ledger", "bulk"}
        Origin of the ids, as for :func:`load_events`.
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    executor : concurrent.futures.Executor, optional
        Fetches the chunks, for example on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
        must reach the network and the store. Only the caller commits. Workers on one machine share the request
        rate of a host, but no other limits.
        By default threads of this process.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per app provider of a request, with weights in bytes of traffic, sorted by (migration_id, record_time).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> activity = lf.load_activity(lf.connect("sandbox", events=400, days=1), during="yesterday")
    >>> str(activity["weight"].dtype)
    'int64'
    """
    frames = load_events(
        net,
        since=since,
        until=until,
        during=during,
        update_ids=update_ids,
        id_source=id_source,
        on_bad_item=on_bad_item,
        executor=executor,
        progress=progress,
    )
    return frames.read("activity_records", columns)
