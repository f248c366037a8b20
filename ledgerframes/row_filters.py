"""Filters of linked tables, in which each request counts once.

See docs/facts.md#second-verdicts.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets import Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import DROPPED_ROWS, PROBLEMS, SECOND_VERDICT
from ledgerframes.datasets.events.schema import HEADER, UPDATES, VERDICTS
from ledgerframes.store.scan import count_rows, damage_as_store_error, with_witness
from ledgerframes.store.sources import FrameSource
from ledgerframes.windows import Window

__all__ = ["FrameSource", "RowFilter", "SecondVerdicts"]

Hashes = npt.NDArray[np.uint64]
HASH_BYTES = 8
POSITION = [column.name for column in HEADER]
MAX_CACHED = 64


@dataclass(frozen=True)
class RowFilter:
    """The rows that linked tables are limited to.

    Attributes
    ----------
    window : Window or None
    update_ids : Array or None
    offsets : tuple of int or None
        Half-open range, ``after < offset <= through``.
    is_chosen : bool
        Whether the source itself has the rows of chosen update ids only, as saved frames can.
    second_verdicts : SecondVerdicts or None
        Events to exclude.
    """

    window: Window | None = None
    update_ids: pa.Array | None = None
    offsets: tuple[int, int] | None = None
    is_chosen: bool = False
    second_verdicts: SecondVerdicts | None = None

    @property
    def has_chosen_ids(self) -> bool:
        """Whether the rows are those of chosen update ids."""
        return self.is_chosen or self.update_ids is not None

    def expression(self, table: Table) -> pc.Expression | None:
        """Return the filter of one table as an Arrow expression, or None if every row passes."""
        parts = self._parts(table)
        if self.second_verdicts and (dropped := self.second_verdicts.expression(table)) is not None:
            parts.append(~dropped)
        return functools.reduce(operator.and_, parts) if parts else None

    def _parts(self, table: Table) -> list[pc.Expression]:
        parts: list[pc.Expression] = []
        if self.window and (in_window := table.filter_window(self.window)) is not None:
            parts.append(in_window)
        if self.update_ids is not None and "update_id" in table.column_names:
            parts.append(pc.field("update_id").isin(self.update_ids))
        if self.offsets:
            after, through = self.offsets
            parts.append((pc.field("offset") > after) & (pc.field("offset") <= through))
        return parts

    def scans(self, source: FrameSource, table: Table) -> list[tuple[ds.Dataset, pc.Expression | None]]:
        """Return the scans of a table in order, each with the filter that it still needs."""
        beyond = replace(self, window=None)
        parts = source.iter_scans(table.name, self.window)
        return [(rows, (beyond if is_inside else self).expression(table)) for rows, is_inside in parts]

    def dropped_rows(self, source: FrameSource, tables: Sequence[str]) -> pa.Table:
        """Return the table ``dropped_rows`` of the events that the frames exclude."""
        tables = [name for name in tables if set(POSITION) <= set(table_spec(name).column_names)]
        if not tables:
            return DROPPED_ROWS.empty_arrow()
        with damage_as_store_error(DROPPED_ROWS.name, source.location):
            limits = replace(self, second_verdicts=None).expression(DROPPED_ROWS)
            same_time = source.scan(DROPPED_ROWS.name).to_table(filter=limits)
        later = [self._later_rows(source, table_spec(name)) for name in tables]
        rows = pa.concat_tables([same_time, *later]).unify_dictionaries()
        return DROPPED_ROWS.sorted(rows.filter(pc.field("table").isin(tables)))

    def _later_rows(self, source: FrameSource, table: Table) -> pa.Table:
        """Count the rows of a table that belong to each second verdict."""
        dropped = self.second_verdicts and self.second_verdicts.expression(table)
        if dropped is None:
            return DROPPED_ROWS.empty_arrow()
        with damage_as_store_error(table.name, source.location):
            expression = functools.reduce(operator.and_, [*self._parts(table), dropped])
            rows = source.scan(table.name).to_table(columns=POSITION, filter=expression)
        counts = rows.group_by(POSITION).aggregate([([], "count_all")])
        columns = {name: counts[name] for name in POSITION}
        return DROPPED_ROWS.from_arrays({**columns, "problem": SECOND_VERDICT, "table": table.name, "rows": counts["count_all"]})

    def problems(self, source: FrameSource, tables: Sequence[str]) -> pd.DataFrame:
        """Return what the frames exclude, as the table ``problems``."""
        dropped = self.dropped_rows(source, tables)
        parts = {name: dropped.filter(pc.field("table") == name) for name in tables}
        return PROBLEMS.from_rows(
            [
                {
                    "problem": SECOND_VERDICT,
                    "table": name,
                    "rows": pc.sum(rows["rows"]).as_py(),
                    "update_id": rows["update_id"][0].as_py(),
                }
                for name, rows in parts.items()
                if rows.num_rows
            ]
        )


@dataclass(frozen=True)
class SecondVerdicts:
    """Events of one load whose request has an earlier event.

    The event with the lowest migration and record time counts. They are determined once, when a table is first read.

    Attributes
    ----------
    source : FrameSource
    limits : RowFilter
        The rows of the load, among which the first event counts.
    """

    source: FrameSource = field(repr=False)
    limits: RowFilter

    @functools.cached_property
    def events(self) -> pa.Table:
        """Migration, record time and update id of the events."""
        identity = None if self.limits.update_ids is not None else self.source.identity
        if identity is None:
            return self._find()
        key = (identity, self.limits.window, self.limits.offsets)
        if key not in _CACHE:
            for oldest in list(_CACHE)[: len(_CACHE) + 1 - MAX_CACHED]:
                _CACHE.pop(oldest, None)
            _CACHE[key] = self._find()
        return _CACHE[key]

    def expression(self, table: Table) -> pc.Expression | None:
        """Return the filter for the rows of these events, or None if there are none."""
        if not set(POSITION) <= set(table.column_names) or not self.events.num_rows:
            return None
        keys = _keys(*(self.events[name] for name in POSITION)).combine_chunks()
        return pc.field("update_id").isin(self.events["update_id"].unique()) & _keys(*map(pc.field, POSITION)).isin(keys)

    def _find(self) -> pa.Table:
        tables, hashes = self._tables_and_hashes()
        ordered = np.concatenate([NO_HASHES, *hashes])
        ordered.sort()
        repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        if not len(repeated):
            return NO_EVENTS
        candidates = [
            batch.filter(pa.array(np.isin(_hashes(batch["update_id"]), repeated)))
            for table in tables
            for batch in self._batches(table, POSITION)
        ]
        return _without_first(pa.Table.from_batches(candidates))

    def _tables_and_hashes(self) -> tuple[list[Table], list[Hashes]]:
        """Return the tables with a row for each event, and hashes of their update ids."""
        hashes, visible = [], 0
        for batch in self._batches(VERDICTS, ["update_id", "update_visible"]):
            hashes.append(_hashes(batch["update_id"]))
            visible += batch["update_visible"].true_count
        with damage_as_store_error(UPDATES.name, self.source.location):
            updates = sum(count_rows(rows, expression) for rows, expression in self.limits.scans(self.source, UPDATES))
        if visible == updates:  # unless an update of old history has no verdict
            return [VERDICTS], hashes
        visible_hashes = [_hashes(batch["update_id"]) for batch in self._batches(UPDATES, ["update_id"])]
        return [VERDICTS, UPDATES], [*hashes, *visible_hashes]

    def _batches(self, table: Table, columns: list[str]) -> Iterator[pa.RecordBatch]:
        with damage_as_store_error(table.name, self.source.location):
            for rows, expression in self.limits.scans(self.source, table):
                yield from rows.to_batches(columns=with_witness(rows.schema, columns), filter=expression)


_CACHE: dict[Hashable, pa.Table] = {}  # of snapshots, which never change
NO_HASHES: Hashes = np.empty(0, np.uint64)
NO_EVENTS = pa.schema([column.arrow_field for column in HEADER]).empty_table()


def _hashes(update_ids: pa.Array) -> Hashes:
    """Return the last bytes of ids as numbers, which are as random as the ids."""
    if (pc.min(pc.binary_length(update_ids)).as_py() or 0) < HASH_BYTES:
        update_ids = pc.utf8_lpad(update_ids, HASH_BYTES)
    _, offsets, text = update_ids.buffers()
    if not len(update_ids):
        return NO_HASHES
    ends = np.frombuffer(offsets, np.int32)[update_ids.offset + 1 : update_ids.offset + len(update_ids) + 1]
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(text, np.uint8), HASH_BYTES)
    return windows[ends - HASH_BYTES].view(np.uint64).ravel()


def _without_first(events: pa.Table) -> pa.Table:
    """Return distinct events without the first of each update id."""
    distinct = events.group_by(POSITION).aggregate([]).sort_by([(name, "ascending") for name in POSITION])
    return distinct.filter(pa.array(distinct["update_id"].to_pandas().duplicated().to_numpy()))


def _keys(migration_id: Any, record_time: Any, update_id: Any) -> Any:
    """Return a text for each event, from arrays or expressions."""
    texts = migration_id.cast(pa.string()), record_time.cast(pa.int64()).cast(pa.string()), update_id
    return pc.binary_join_element_wise(*texts, "@")
