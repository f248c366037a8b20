"""Final rows compared with what the service returns now, after a release changed them."""

from __future__ import annotations

import dataclasses
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from ledgerframes.api.update_format import UpdateFormat
from ledgerframes.datasets.bookkeeping import ADDED, CHANGED, REMOVED, UPSTREAM_CHANGES
from ledgerframes.datasets.bulk.extent import ObjectSet
from ledgerframes.datasets.registry import DATASETS
from ledgerframes.datasets.schema import Column, Table
from ledgerframes.errors import CoverageError
from ledgerframes.loaders.bulk_loader import BulkKeyLoader
from ledgerframes.loaders.bulk_object import FILE
from ledgerframes.loaders.repair import VERDICTS, Repair, UnrecoverableError, object_options, recovery_loaders, repair
from ledgerframes.loaders.sync import Loader, sync
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.store.compact import choose_datasets, require_live
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.store.verify import DamagedFile
from ledgerframes.values.checks import require_integer
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR, Extent, ExtentRange, IdSet

__all__ = ["RecheckResult", "recheck"]

OFFSETS, IDS = 1_000, 20  # maximum of an extent that is fetched again
# Columns about the fetch, or of one operator (docs/facts.md#finalization-time-differs). The digest is compared: objects with the
# same bytes have the same one.
OWN_COLUMNS = frozenset({"fetched_at", "id_source", "source", "digest_status", "finalization_time"})
UPSTREAM = "changed upstream"

Change = dict[str, object]  # a row of table upstream_changes


@dataclass(frozen=True)
class RecheckResult:
    """Differences between a sample of final segments and the service.

    Attributes
    ----------
    segments : int
        Number of segments from which a part was fetched again.
    changes : DataFrame
        Table ``upstream_changes``, with one row per extent, table, change and column. Empty if nothing differs.
    skipped : dict of str to str
        Reason by extent, for parts that cannot be fetched again.
    repairs : list of Repair
        One per segment that differs, with ``replace``.
    """

    segments: int
    changes: pd.DataFrame
    skipped: dict[str, str] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)


def recheck(
    net: Network,
    *,
    sample: int = 20,
    seed: int | None = None,
    datasets: Sequence[str] | None = None,
    replace: bool = False,
    update_formats: Sequence[UpdateFormat] = (),
) -> RecheckResult:
    """Fetch a sample of final rows again, and compare them with the store.

    A release of a service can change rows that were final, for example by removing their activity. The same loaders fetch an
    hour of a window, 1,000 offsets, 20 ids or the objects of each chosen segment into an empty directory. Rows are matched by
    the key of their table, and all their values are compared, except finalization times, which differ between operators.

    Parameters
    ----------
    net : Network
    sample : int, default 20
        Number of final segments to choose at random.
    seed : int, optional
        Seed of the random choice, to repeat it.
    datasets : sequence of str, optional
        Names of datasets, such as ``events`` (default: all).
    replace : bool, default False
        Move segments that differ to quarantine, and fetch them again as a whole. Otherwise nothing in the store changes.
    update_formats : sequence of UpdateFormat
        Filters of stored offsets, in addition to the default ones of both shapes.

    Returns
    -------
    RecheckResult

    Raises
    ------
    UsageError
        If `sample` is less than 1, a dataset is unknown, or the store is a frozen snapshot.
    CoverageError
        If the network is offline.
    StoreError
        If the store cannot be read, or is damaged.
    TransportError, ServiceError
        If a service fails.

    Notes
    -----
    Source: docs/store.md#recheck. Observations, gaps, and objects from files cannot be fetched again and are never chosen.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.loaders.recheck import recheck
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> recheck(net, sample=1, seed=7).changes.empty
    True
    """
    sample = require_integer("sample", sample, 1)
    require_live(net.store)
    if net.offline:
        raise CoverageError(f"{net.name} is offline, so nothing was fetched again. Reconnect without {net.offline_setting}.")
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    segments = [segment for dataset in choose_datasets(net.store, datasets) for segment in net.store.segments(dataset)]
    served = [segment for segment in segments if _is_served(segment)]
    selection = chance.sample(served, min(sample, len(served)))
    changes: list[Change] = []
    changed: list[Segment] = []
    skipped: dict[str, str] = {}
    for segment in selection:
        part = _part(segment.extent, chance)
        try:
            segment_changes = _changes(net, segment, part, update_formats)
        except UnrecoverableError as reason:
            skipped[f"{segment.dataset} {part}"] = str(reason)
            continue
        changes += segment_changes
        changed += [segment] if segment_changes else []
    damage = [DamagedFile(segment, "", "", UPSTREAM) for segment in changed if replace]
    repairs = repair(net, damage, update_formats=update_formats)
    return RecheckResult(len(selection) - len(skipped), UPSTREAM_CHANGES.from_rows(changes), skipped, repairs)


def _is_served(segment: Segment) -> bool:
    """Return whether the service has returned a segment, and can do so again."""
    extent = segment.extent
    is_object = not isinstance(extent, ObjectSet) or not (extent.is_folder or segment.source == FILE)
    return segment.status == "final" and extent.refetchable and is_object


def _part(extent: Extent, chance: random.Random) -> Extent:
    """Return a part of an extent that takes few requests. Objects cannot be divided."""
    if isinstance(extent, IdSet):
        return IdSet(frozenset(chance.sample(sorted(extent.keys), min(IDS, len(extent.keys)))))
    if isinstance(extent, ExtentRange):
        length = MICROSECONDS_PER_HOUR if extent.has_times else OFFSETS
        return chance.choice(extent.split(-((extent.start - extent.stop) // length)))
    return extent


def _changes(net: Network, segment: Segment, part: Extent, update_formats: Sequence[UpdateFormat]) -> list[Change]:
    """Fetch a part of a segment into an empty store, and return how its tables differ."""
    with tempfile.TemporaryDirectory() as directory, net.with_store(Path(directory)) as scratch:
        if participant_id := net.store.participant():
            scratch.store.bind_participant(participant_id)
        loaders = _loaders(scratch, dataclasses.replace(segment, extent=part), update_formats)
        for loader in loaders:
            sync(loader, progress=False)
            loader.frames()  # raises the error of a bulk object
        now = scratch.store.snapshot(loaders[0].dataset)
        before = net.store.snapshot_of([segment])
        return [
            {"dataset": segment.dataset, "extent": str(part), "table": table.name, **change}
            for table in DATASETS[segment.dataset].tables
            for change in _table_changes(
                table, _rows(before, table, part), _rows(now, table, part), OWN_COLUMNS | before.absent_columns(table.name)
            )
        ]


def _loaders(net: Network, segment: Segment, update_formats: Sequence[UpdateFormat]) -> list[Loader[Any]]:
    """Return the loaders that fetch the rows of a segment into an empty store."""
    if isinstance(segment.extent, ObjectSet):
        options = dataclasses.replace(object_options(segment), by_key=True)
        return [BulkKeyLoader(net, options, segment.extent.keys)]
    return recovery_loaders(net, segment, {VERDICTS}, update_formats)


def _rows(snapshot: StoreSnapshot, table: Table, part: Extent) -> list[dict[str, Any]]:
    """Return the rows of a table inside an extent, in the order of the segments."""
    expression = None if isinstance(part, ObjectSet) else part.filter()
    rows: list[dict[str, Any]] = snapshot.read(table.name, table.column_names, expression).to_pylist()
    return rows


def _table_changes(
    table: Table, before: list[dict[str, Any]], now: list[dict[str, Any]], without: frozenset[str]
) -> Iterator[Change]:
    """Yield kind, column and number of rows of each difference, without some columns."""
    old, new = _by_key(table, before), _by_key(table, now)
    for change, count in ((REMOVED, len(old.keys() - new.keys())), (ADDED, len(new.keys() - old.keys()))):
        if count:
            yield {"change": change, "rows": count}
    common = old.keys() & new.keys()
    for column in table.columns:
        count = 0 if column.name in without else sum(_differ(column, old[key], new[key]) for key in common)
        if count:
            yield {"change": CHANGED, "column": column.name, "rows": count}


def _differ(column: Column, *rows: dict[str, Any]) -> bool:
    """Return whether two rows have different values.

    JSON may have other spaces and another order of members.
    """
    before, now = (row[column.name] for row in rows)
    if before != now and column.is_json and before and now:
        return _sorted_json(before) != _sorted_json(now)
    return bool(before != now)


def _sorted_json(text: str) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(text), order="sorted")


def _by_key(table: Table, rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return rows by key. Rows with the same key are numbered."""
    numbers = Counter[tuple[Any, ...]]()
    by_key = {}
    for row in rows:
        key = tuple(row[name] for name in table.key)
        by_key[*key, numbers[key]] = row
        numbers[key] += 1
    return by_key
