"""Positions of events, each with a hash of its update id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets.bookkeeping import EVENT_POSITIONS
from ledgerframes.values.extents import TIME

Positions = npt.NDArray[np.void]  # of this type, and after `distinct` sorted by it
POSITION = np.dtype([("update_hash", np.uint64), ("migration_id", np.int64), ("record_time", np.int64)])
NO_POSITIONS: Positions = np.empty(0, POSITION)
Hashes = npt.NDArray[np.uint64]

EVENT = ["migration_id", "record_time", "update_id"]
NO_EVENTS = pa.schema(list(zip(EVENT, [pa.int64(), TIME, pa.string()], strict=True))).empty_table()
HASHED_BYTES = 16
FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)  # odd, so that no bit of the id is lost


def positions_of(events: pa.Table) -> Positions:
    """Return the position of each row, in their order."""
    positions = np.empty(events.num_rows, POSITION)
    positions["update_hash"] = hashes_of(events["update_id"])
    positions["migration_id"] = events["migration_id"].to_numpy()
    positions["record_time"] = events["record_time"].cast(pa.int64()).to_numpy()
    return positions


def hashes_of(update_ids: pa.ChunkedArray) -> Hashes:
    """Return hashes of the last bytes of ids, which are as random as the ids."""
    return np.concatenate([np.empty(0, np.uint64), *map(_hashes, update_ids.chunks)])


def _hashes(update_ids: pa.Array) -> Hashes:
    if not len(update_ids):
        return np.empty(0, np.uint64)
    if pc.min(pc.binary_length(update_ids)).as_py() < HASHED_BYTES:
        update_ids = pc.utf8_lpad(update_ids, HASHED_BYTES)
    _, offsets, text = update_ids.buffers()
    ends = np.frombuffer(offsets, np.int32)[update_ids.offset + 1 : update_ids.offset + len(update_ids) + 1]
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(text, np.uint8), HASHED_BYTES)
    hashes: Hashes = (windows[ends - HASHED_BYTES].view(np.uint64) * FACTORS).sum(axis=1, dtype=np.uint64)
    return hashes


def distinct(parts: Sequence[Positions]) -> Positions:
    """Return the positions of all parts once, sorted by hash, migration and record time."""
    positions = np.concatenate([NO_POSITIONS, *parts])
    positions = _without_repeats(positions[np.argsort(np.ascontiguousarray(positions["update_hash"]))])
    is_tie = np.isin(positions["update_hash"], repeated_hashes(positions))
    if not is_tie.any():  # sorting by all three takes ten times longer
        return positions
    ties = positions[is_tie]
    positions[is_tie] = ties[np.lexsort([ties["record_time"], ties["migration_id"], ties["update_hash"]])]
    return _without_repeats(positions)


def _without_repeats(positions: Positions) -> Positions:
    """Return positions without those that equal the one before."""
    is_new = np.ones(len(positions), bool)
    is_new[1:] = _differ(positions[1:], positions[:-1])
    return positions[is_new]


def _differ(some: Positions, others: Positions) -> npt.NDArray[np.bool_]:
    """Return whether positions differ, which NumPy compares faster by field."""
    differs = [some[name] != others[name] for name in ("update_hash", "migration_id", "record_time")]
    any_differs: npt.NDArray[np.bool_] = np.logical_or.reduce(differs)
    return any_differs


def repeated_hashes(positions: Positions) -> Hashes:
    """Return the hashes of ids with several positions, among sorted ones."""
    hashes = positions["update_hash"]
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def moved_hashes(positions: Positions, others: Positions) -> Hashes:
    """Return the hashes of ids that others have at another position, where both are sorted."""
    if not len(positions) or not len(others):
        return np.empty(0, np.uint64)
    hashes = np.ascontiguousarray(others["update_hash"])
    match = np.searchsorted(hashes, positions["update_hash"])
    match[match == len(hashes)] = 0
    is_common = hashes[match] == positions["update_hash"]
    moved = is_common & _differ(others[match], positions)
    return np.unique(positions["update_hash"][moved])


def with_hashes(positions: Positions, hashes: Hashes) -> Positions:
    """Return the positions of ids with these hashes."""
    return positions[np.isin(positions["update_hash"], hashes)]


def to_table(positions: Positions) -> pa.Table:
    """Return positions as the table ``event_positions``."""
    columns = {name: np.ascontiguousarray(positions[name]) for name in POSITION.names or ()}
    return EVENT_POSITIONS.from_arrays({**columns, "update_hash": columns["update_hash"].view(np.int64)})


def from_table(rows: pa.Table) -> Positions:
    """Return the rows of the table ``event_positions``."""
    positions = np.empty(rows.num_rows, POSITION)
    positions["update_hash"] = rows["update_hash"].to_numpy().view(np.uint64)
    positions["migration_id"] = rows["migration_id"].to_numpy()
    positions["record_time"] = rows["record_time"].cast(pa.int64()).to_numpy()
    return positions


def later_events(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the events of tables whose update id has an earlier event, in order."""
    hashes = repeated_hashes(distinct([positions_of(rows) for rows in tables]))
    if not len(hashes):
        return NO_EVENTS
    parts = [rows.filter(pa.array(np.isin(hashes_of(rows["update_id"]), hashes))) for rows in tables]
    events = pa.concat_tables(parts).group_by(EVENT).aggregate([]).sort_by([(name, "ascending") for name in EVENT])
    return events.filter(pa.array(events["update_id"].to_pandas().duplicated().to_numpy()))
