"""``load_events`` and its single tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from typing import Literal, TypedDict, Unpack, get_args, overload

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.arguments import check_arguments
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.loaders.event_ids import EventIdLoader, parse_update_ids
from ledgerframes.loaders.event_windows import EventLoader
from ledgerframes.loaders.sync import load
from ledgerframes.network import Network
from ledgerframes.values.windows import Time, window

__all__ = ["load_activity", "load_events", "load_traffic", "load_verdicts"]

IdSource = Literal["user", "ledger", "bulk"]


class EventOptions(TypedDict, total=False):
    """Keyword arguments of :func:`load_events`, except ``plan``."""

    since: Time | None
    until: Time | None
    during: str | None
    update_ids: Iterable[str] | None
    id_source: IdSource
    on_bad_item: OnBadItem
    executor: Executor | None
    progress: bool | None


@overload
def load_events(net: Network, *, plan: Literal[False] = ..., **options: Unpack[EventOptions]) -> Frames: ...
@overload
def load_events(net: Network, *, plan: Literal[True], **options: Unpack[EventOptions]) -> pd.DataFrame: ...
@overload
def load_events(net: Network, *, plan: bool, **options: Unpack[EventOptions]) -> Frames | pd.DataFrame: ...
@check_arguments(has_executor=True)
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
    plan: bool = False,
    progress: bool | None = None,
) -> Frames | pd.DataFrame:
    """Load history events, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC; until is now by default.
    during : str, optional
        A date word instead, such as ``last-week`` or ``2026-11-03``, relative to ``net.now()``.
    update_ids : iterable of str, optional
        Look up these events by id instead of by window.
    id_source : {"user", "ledger", "bulk"}
        Origin of the ids, for ``verdicts.id_source``. Ledger updates and bulk objects are committed updates only
        (docs/facts.md#survivorship). If the store knows one of the ids from them, so are the frames, also with ``user``.
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded, after the other items of its page, or the other ids, are committed.
        The next load fetches it again: its record time stays provisional, or its id is not in the store. ``quarantine`` keeps
        its bytes in a file below the store and continues (docs/facts.md#unknown-kinds).
    executor : concurrent.futures.Executor, optional
        Fetches the chunks, also on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
        must reach the network and the store; the caller commits. Those of one machine share the request
        rate of a host, and each has its own other limits.
        By default threads of this process.
    plan : bool, default False
        Fetch nothing, and return what a load would fetch, one row per extent, in the columns of table ``plan``.
    progress : bool, optional
        Show a progress bar anywhere, or nowhere; by default in terminals and notebooks.

    Returns
    -------
    Frames
        All tables of the events family, sorted by (migration_id, record_time). Ids that the service does not know are in
        ``frames.unknown_ids``, and ``frames.population`` tells which requests these are. With ``plan``, a DataFrame.

    Raises
    ------
    UsageError
        If the window or the ids are invalid, or the network does not list events by range.
    CoverageError
        If the network is offline and the store does not cover the load.
    ServiceError, TransportError, DecodeError
        If the service fails; what was committed before stays.

    Notes
    -----
    Source: docs/facts.md#history-paging, GET /v0/events/{update_id}. The newest events are provisional and the next load fetches
    them again, because traffic and activity arrive later than the update (docs/facts.md#traffic-arrives-later).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> frames.traffic["total_traffic_cost"].dtype
    dtype('int64')
    """
    if update_ids is None:
        by_window = EventLoader(net, window(net.now(), since, until, during), on_bad_item)
        return load(by_window, plan=plan, executor=executor, progress=progress)
    if (since, until, during) != (None, None, None):
        raise UsageError("update_ids= cannot be combined with since=, until= or during=.")
    if id_source not in get_args(IdSource):
        raise UsageError(f"Unknown id_source {id_source!r}. Choose from {', '.join(get_args(IdSource))}.")
    by_id = EventIdLoader(net, parse_update_ids(update_ids), id_source, on_bad_item)
    return load(by_id, plan=plan, executor=executor, progress=progress)


class TableOptions(EventOptions, total=False):
    """Keyword arguments of :func:`load_events`."""

    plan: bool


def load_verdicts(net: Network, *, columns: Sequence[str] | None = None, **options: Unpack[TableOptions]) -> pd.DataFrame:
    """Load verdicts, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    **options
        Keyword arguments of :func:`load_events`.

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
    return _load_table(net, "verdicts", columns, options)


def load_traffic(net: Network, *, columns: Sequence[str] | None = None, **options: Unpack[TableOptions]) -> pd.DataFrame:
    """Load traffic costs, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    **options
        Keyword arguments of :func:`load_events`.

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
    return _load_table(net, "traffic", columns, options)


def load_activity(net: Network, *, columns: Sequence[str] | None = None, **options: Unpack[TableOptions]) -> pd.DataFrame:
    """Load app activity records, fetching those not yet in the store.

    Parameters
    ----------
    net : Network
    columns : sequence of str, optional
        Only these columns.
    **options
        Keyword arguments of :func:`load_events`.

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
    return _load_table(net, "activity_records", columns, options)


def _load_table(net: Network, table: str, columns: Sequence[str] | None, options: TableOptions) -> pd.DataFrame:
    result = load_events(net, **{"plan": False, **options})  # type: ignore[call-overload]
    return result.read(table, columns) if isinstance(result, Frames) else result
