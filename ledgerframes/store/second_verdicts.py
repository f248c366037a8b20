"""Events of requests that have an earlier one, as the catalog keeps them.

They are found when a segment is committed (docs/facts.md#second-verdicts). An event stays a second verdict if the segment of
the first is dropped. Only a segment that covers the time of the first but does not contain it shows that the event was not a
second verdict.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ledgerframes.datasets.bookkeeping import EVENT_POSITIONS
from ledgerframes.datasets.dataset import Dataset
from ledgerframes.errors import StoreError
from ledgerframes.store.footers import paths_to_open
from ledgerframes.store.location import Location
from ledgerframes.store.positions import (
    EVENT,
    NO_EVENTS,
    NO_POSITIONS,
    Hashes,
    Positions,
    distinct,
    from_table,
    hashes_of,
    moved_hashes,
    positions_of,
    repeated_hashes,
    with_hashes,
)
from ledgerframes.store.scan import damage_as_store_error
from ledgerframes.store.segments import SegmentFile
from ledgerframes.values.extents import TIME, Extent, IdSet, MigrationWindow

logger = logging.getLogger("ledgerframes")

MAX_CACHED_ROWS = 5_000_000  # 24 bytes each
BATCH_ROWS = 2_000_000  # of segments that an earlier version has written, and that are compared together
Position = tuple[int, int]  # migration and record time
Files = Mapping[str, SegmentFile]  # of one segment, by table

IN_FAMILY = "dataset IN (SELECT value FROM json_each(?))"
IS_WITHIN = "{0}migration_id = ? AND {0}record_time >= ? AND {0}record_time < ?"


# -- the relation ---------------------------------------------------------------------------------------------------


def second_verdicts(connection: sqlite3.Connection, dataset: Dataset) -> pa.Table:
    """Return the position and id of each second verdict of a dataset, in order."""
    if not _is_compared(dataset):
        return NO_EVENTS
    query = "SELECT migration_id, record_time, update_id FROM second_verdicts WHERE family = ? ORDER BY 1, 2, 3"
    rows = connection.execute(query, [dataset.family]).fetchall()
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    return pa.table(columns, NO_EVENTS.schema.names).cast(NO_EVENTS.schema)


def _is_compared(dataset: Dataset) -> bool:
    """Return whether the events of a dataset can be second verdicts.

    A lookup by id returns one event, which is the answer to the question for it.
    """
    return bool(dataset.event_tables) and dataset.extent_type is not IdSet


def uncompared_segments(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, int]:
    """Return the segments of these datasets that were never compared, with their rows."""
    rows = "(SELECT coalesce(max(rows), 0) FROM files WHERE files.segment_id = segments.segment_id)"
    query = f"SELECT segment_id, {rows} FROM segments WHERE compared = 0 AND {IN_FAMILY} ORDER BY segment_id"  # noqa: S608
    return dict(map(tuple, connection.execute(query, [json.dumps(names)])))


# -- finding them ---------------------------------------------------------------------------------------------------


def find_second_verdicts(
    connection: sqlite3.Connection,
    location: Location,
    datasets: Sequence[Dataset],
    new: Collection[str],
    extents: Sequence[Extent] = (),
) -> None:
    """Find the second verdicts that new segments have, or have the first of.

    Parameters
    ----------
    connection : Connection
        In a transaction that has added the segments.
    location : Location
    datasets : sequence of Dataset
        The datasets of one family.
    new : collection of str
        Ids of the new segments.
    extents : sequence of Extent
        What they cover, where an event that they do not have is gone.
    """
    events = _StoredEvents(connection, location, datasets)
    own = distinct([events.positions(segment_id) for segment_id in new])
    others = [segment_id for segment_id in events.files if segment_id not in new] if len(own) else []
    suspects = [repeated_hashes(own), *(moved_hashes(own, events.positions(each)) for each in others)]
    suspects.append(hashes_of(_ids_within(connection, datasets[0].family, extents)))
    hashes = np.unique(np.concatenate(suspects))
    if len(hashes):
        _save(connection, datasets[0].family, events.by_id(hashes), extents)


def compare_older_segments(connection: sqlite3.Connection, location: Location, datasets: Sequence[Dataset]) -> None:
    """Compare the segments of each family that never were, in batches that fit into memory."""
    for name in dict.fromkeys(dataset.family for dataset in datasets):
        family = [dataset for dataset in datasets if dataset.family == name]
        for batch in _batches(uncompared_segments(connection, [dataset.name for dataset in family])):
            connection.executemany("UPDATE segments SET compared = 1 WHERE segment_id = ?", [(each,) for each in batch])
            find_second_verdicts(connection, location, family, batch)


def _batches(rows: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield ids of segments with about as many rows together as a batch may have."""
    batch: list[str] = []
    size = 0
    for segment_id, count in rows.items():
        if batch and size + count > BATCH_ROWS:
            yield batch
            batch, size = [], 0
        batch.append(segment_id)
        size += count
    if batch:
        yield batch


def _ids_within(connection: sqlite3.Connection, family: str, extents: Iterable[Extent]) -> pa.ChunkedArray:
    """Return the ids of known second verdicts with an event in one of these windows."""
    is_within = f"({IS_WITHIN.format('')}) OR ({IS_WITHIN.format('first_')})"
    query = f"SELECT update_id FROM second_verdicts WHERE family = ? AND ({is_within})"  # noqa: S608  (constant text)
    ids: set[str] = set()
    for extent in extents:
        if isinstance(extent, MigrationWindow):
            bounds = [extent.migration_id, extent.start, extent.stop]
            ids.update(update_id for (update_id,) in connection.execute(query, [family, *bounds, *bounds]))
    return pa.chunked_array([sorted(ids)], pa.string())


def _save(connection: sqlite3.Connection, family: str, events: Mapping[str, set[Position]], extents: Sequence[Extent]) -> None:
    """Save all events of these ids but the first."""
    known = {update_id: set(positions) for update_id, positions in events.items()}
    for update_id, first in _known_firsts(connection, family, list(events)):
        if not any(_covers(extent, first) for extent in extents):
            known[update_id].add(first)
    connection.executemany(
        "DELETE FROM second_verdicts WHERE family = ? AND update_id = ?", [(family, update_id) for update_id in events]
    )
    rows = [
        (family, *position, update_id, *min(known[update_id]))
        for update_id, positions in events.items()
        for position in positions
        if position > min(known[update_id])
    ]
    connection.executemany("INSERT INTO second_verdicts VALUES (?, ?, ?, ?, ?, ?)", sorted(rows))


def _known_firsts(connection: sqlite3.Connection, family: str, update_ids: Sequence[str]) -> list[tuple[str, Position]]:
    query = (
        "SELECT DISTINCT update_id, first_migration_id, first_record_time FROM second_verdicts "
        "WHERE family = ? AND update_id IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(query, [family, json.dumps(list(update_ids))])
    return [(update_id, (migration_id, record_time)) for update_id, migration_id, record_time in rows]


def _covers(extent: Extent, position: Position) -> bool:
    """Return whether a segment has all events at a position."""
    if not isinstance(extent, MigrationWindow):
        return False
    return extent.migration_id == position[0] and extent.start <= position[1] < extent.stop


# -- events in segments ---------------------------------------------------------------------------------------------


class _StoredEvents:
    """The events of one family of datasets, as one transaction sees them."""

    def __init__(self, connection: sqlite3.Connection, location: Location, datasets: Sequence[Dataset]) -> None:
        self._connection, self._location = connection, location
        self._tables = [table.name for table in datasets[0].event_tables]
        self.files: dict[str, dict[str, SegmentFile]] = defaultdict(dict)
        columns = "segment_id, table_name, path, rows, bytes, sha256, footer"
        is_needed = f"{IN_FAMILY} AND table_name IN (SELECT value FROM json_each(?))"  # noqa: S608  (constant text)
        query = f"SELECT {columns} FROM files JOIN segments USING (segment_id) WHERE {is_needed} ORDER BY segment_id"  # noqa: S608
        names = json.dumps([dataset.name for dataset in datasets]), json.dumps([*self._tables, EVENT_POSITIONS.name])
        for segment_id, *file in connection.execute(query, names):
            self.files[segment_id][file[0]] = SegmentFile(*file)

    def positions(self, segment_id: str) -> Positions:
        """Return the positions of the events of a segment, none if a file is damaged."""
        positions = _CACHE.get(segment_id)
        if positions is None:
            try:
                positions = self._read_positions(self.files.get(segment_id, {}))
            except StoreError as error:
                self._note_damage(segment_id, error)
                return NO_POSITIONS
            _CACHE.add(segment_id, positions)
        return positions

    def _read_positions(self, files: Files) -> Positions:
        if EVENT_POSITIONS.name in files:
            try:
                return from_table(self._read(files[EVENT_POSITIONS.name], EVENT_POSITIONS.column_names))
            except StoreError as error:
                logger.warning("positions_read_from_rows error=%s", error)
        # An earlier version has written the segment, or the file is damaged.
        return distinct([positions_of(self._read(files[name], EVENT)) for name in self._tables if name in files])

    def by_id(self, hashes: Hashes) -> dict[str, set[Position]]:
        """Return the positions of the events by update id, for ids with these hashes."""
        events: dict[str, set[Position]] = defaultdict(set)
        for segment_id in self.files:
            positions = with_hashes(self.positions(segment_id), hashes)
            for rows in self._rows_at(segment_id, positions) if len(positions) else []:
                suspects = rows.filter(pa.array(np.isin(hashes_of(rows["update_id"]), hashes)))
                times = suspects.set_column(1, "record_time", suspects["record_time"].cast(pa.int64()))
                for migration_id, record_time, update_id in zip(*(times[name].to_pylist() for name in EVENT), strict=True):
                    events[update_id].add((migration_id, record_time))
        return events

    def _rows_at(self, segment_id: str, positions: Positions) -> list[pa.Table]:
        """Return the events of a segment at the record times of these positions."""
        times = pa.array(np.unique(positions["record_time"])).cast(TIME)
        is_near = (pc.field("record_time") >= times[0]) & (pc.field("record_time") <= times[-1])
        at_times = is_near & pc.field("record_time").isin(times)
        files = self.files[segment_id]
        try:
            return [self._read(files[name], EVENT, at_times) for name in self._tables if name in files]
        except StoreError as error:
            self._note_damage(segment_id, error)
            return []

    def _read(self, file: SegmentFile, columns: Sequence[str], rows: pc.Expression | None = None) -> pa.Table:
        location = self._location
        with damage_as_store_error(file.table, location):
            [path] = paths_to_open(location, [file], allow_damage=False) if location.local_path else [file.path]
            return pq.read_table(
                path, filesystem=location.filesystem, columns=list(columns), filters=rows, page_checksum_verification=True
            )

    def _note_damage(self, segment_id: str, error: StoreError) -> None:
        """Compare the segment later, when it can be read."""
        logger.warning("segment_not_compared segment=%s error=%s", segment_id, error)
        UNREADABLE.add(segment_id)
        self._connection.execute("UPDATE segments SET compared = 0 WHERE segment_id = ?", [segment_id])


class _PositionCache:
    """Positions of the events of segments, which never change."""

    def __init__(self) -> None:
        self._positions: dict[str, Positions] = {}
        self._rows = 0

    def get(self, segment_id: str) -> Positions | None:
        """Return the positions of a segment, or None if they are not in memory."""
        return self._positions.get(segment_id)

    def add(self, segment_id: str, positions: Positions) -> None:
        """Keep the positions of a segment, instead of all others if these are too many."""
        if self._rows + len(positions) > MAX_CACHED_ROWS:
            self.clear()
        self._positions[segment_id] = positions
        self._rows += len(positions)

    def clear(self) -> None:
        """Forget all."""
        self._positions, self._rows = {}, 0


_CACHE = _PositionCache()
UNREADABLE: set[str] = set()  # segments that this process could not compare
