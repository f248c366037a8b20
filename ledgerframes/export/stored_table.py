"""Frames of one table of the store."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.committed_ids import committed_ids
from ledgerframes.frames.stored_time import absent_time, missing_times, unrecorded_time
from ledgerframes.store import Store
from ledgerframes.store.sources import START_OF_TIME
from ledgerframes.store.table_source import ResolvedTable, resolve_in_store, snapshots_by_dataset
from ledgerframes.values.extents import IdSet, MigrationWindow
from ledgerframes.values.windows import Time, Window, window

if TYPE_CHECKING:
    from ledgerframes.network import Network


def from_store(
    net: Network,
    table: str,
    *,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    allow_partial: bool = False,
) -> Frames:
    """Read one table from the store as Frames, without fetching anything.

    Parameters
    ----------
    net : Network
    table : str
        A stored table, such as ``updates``. A table of several datasets is read from the first that has rows, in the order of
        :func:`ledgerframes.sql`; ``bulk.updates`` names the dataset.
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC; `until` is now by default. `until` alone needs
        `allow_partial`. Without a window, all rows.
    during : str, optional
        A date word instead, such as ``last-week``.
    allow_partial : bool, default False
        Read the rows even if the store does not cover the whole window. Figures count what is missing as not covered.

    Returns
    -------
    Frames
        With this one table.

    Raises
    ------
    UsageError
        If there is no such stored table, a window is passed for a table without record times, or a participant's ledger is
        stored through several filters.
    CoverageError
        If the store does not cover the table, or not the whole window.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes import export
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> export.from_store(net, "traffic", during="2026-11-08").traffic.equals(frames.traffic)
    True
    """
    if since is None and until is not None and during is None:
        if not allow_partial:
            raise UsageError(
                "until= needs since=, because the store must cover the whole window. Pass since=, or allow_partial=True."
            )
        since = START_OF_TIME
    time_window = None if (since, until, during) == (None, None, None) else window(net.now(), since, until, during)
    with net.store.one_state():
        return _read_from_store(net, table, time_window, allow_partial)


def _read_from_store(net: Network, table: str, time_window: Window | None, allow_partial: bool) -> Frames:
    resolved = resolve_in_store(net.store, table)
    if time_window and "record_time" not in resolved.table.column_names:
        raise UsageError(f"Table {resolved.name} has no record_time. Leave since=, until= and during= out.")
    resolved.require_one_filter()
    snapshot, dataset = resolved.snapshot, resolved.dataset
    missing = missing_times(net.store, snapshot, dataset.name, time_window) if time_window else ()
    if not allow_partial:
        _require_coverage(net.store, resolved, time_window, missing)
    if time_window and dataset.extent_type is MigrationWindow:
        snapshot = net.store.snapshot(dataset, time_window)  # which knows what is missing before the window
    holes = tuple(each.window if isinstance(each, MigrationWindow) else each for each in missing or ())
    known_to_updates = functools.partial(committed_ids, net.store)
    ids = {key for segment in snapshot.segments if isinstance(segment.extent, IdSet) for key in segment.extent.keys}
    is_committed = bool(ids) and bool(known_to_updates(pa.array(sorted(ids), pa.string())))
    return Frames(
        replace(snapshot, missing_windows=holes),
        [resolved.table.name],
        window=time_window,
        population="committed" if is_committed else dataset.population,
        committed_ids=known_to_updates,
        engine=net.settings.engine,
    )


def _require_coverage(
    store: Store, resolved: ResolvedTable, time_window: Window | None, missing: tuple[MigrationWindow | Window, ...] | None
) -> None:
    if not resolved.is_stored:
        raise CoverageError(resolved.not_stored_message, missing=(str(time_window) if time_window else resolved.name,))
    if time_window is None or missing == ():
        return
    covering = _covering_tables(store, resolved, time_window)
    step = f"Read {' or '.join(covering)}, which covers it, or pass" if covering else "Pass"
    step += " allow_partial=True"
    if missing is None:
        raise CoverageError(
            f"{unrecorded_time(resolved, time_window)}. {step}.",
            missing=(str(time_window),),
        )
    raise CoverageError(
        f"{absent_time(missing)}. {step}, or fetch it with `ledgerframes sync {resolved.dataset.name}`.",
        missing=tuple(map(str, missing)),
    )


def _covering_tables(store: Store, resolved: ResolvedTable, time_window: Window) -> list[str]:
    """Return the same table of the datasets that cover the whole window."""
    return [
        f"{name}.{resolved.table.name}"
        for name, snapshot in snapshots_by_dataset(store, [resolved.table]).items()
        if snapshot.segments and missing_times(store, snapshot, name, time_window) == ()
    ]
