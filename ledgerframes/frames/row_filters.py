"""Filters of linked tables, in which each request counts once.

See docs/facts.md#second-verdicts.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets import Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import DROPPED_ROWS, PROBLEMS, SECOND_VERDICT
from ledgerframes.engine.file_scan import FileScan
from ledgerframes.store.positions import EVENT, NO_EVENTS
from ledgerframes.store.scan import LeftOut, LittleAhead, damage_as_store_error
from ledgerframes.store.sources import FrameSource
from ledgerframes.store.whole_files import LocalFiles
from ledgerframes.values.extents import record_time_filter
from ledgerframes.values.windows import Window, iso


def record_times_in(window: Window) -> str:
    """Return the condition of SQL for the rows of a window."""
    since, until = (f"TIMESTAMPTZ '{iso(time)}'" for time in (window.since, window.until))
    return f"record_time >= {since} AND record_time < {until}"


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
        Whether the source contains only rows of chosen update ids, as saved frames can.
    second_verdicts : Table
        Migration, record time and update id of events to exclude, because their request has an earlier event.
    """

    window: Window | None = None
    update_ids: pa.Array | None = None
    offsets: tuple[int, int] | None = None
    is_chosen: bool = False
    second_verdicts: pa.Table = field(default_factory=lambda: NO_EVENTS, repr=False)

    @property
    def has_chosen_ids(self) -> bool:
        """Whether the rows belong to chosen update ids."""
        return self.is_chosen or self.update_ids is not None

    def expression(self, table: Table) -> pc.Expression | None:
        """Return the filter of one table as an Arrow expression, or None if every row passes."""
        parts = self._parts(table)
        dropped = self._dropped(table)
        if dropped is not None:
            parts.append(~dropped)
        return functools.reduce(operator.and_, parts) if parts else None

    def narrow(self, rows: LittleAhead, table: Table) -> LittleAhead:
        """Return the rows of one table that pass."""
        for part in self._parts(table):
            rows = rows.filter(part)
        dropped = self._dropped(table)
        return rows if dropped is None else rows.without(LeftOut(self.second_verdicts_inside["record_time"], ~dropped))

    def _dropped(self, table: Table) -> pc.Expression | None:
        """Return the filter for the rows of second verdicts, or None if there are none."""
        events = self.second_verdicts_inside
        if not set(EVENT) <= set(table.column_names) or not events.num_rows:
            return None
        bounds = pc.min_max(events["record_time"])
        is_near = (pc.field("record_time") >= bounds["min"]) & (pc.field("record_time") <= bounds["max"])
        is_same = _keys(*map(pc.field, EVENT)).isin(_keys(*(events[name] for name in EVENT)).combine_chunks())
        return is_near & pc.field("update_id").isin(events["update_id"].unique()) & is_same

    @property
    def second_verdicts_inside(self) -> pa.Table:
        """The second verdicts in the window."""
        window, events = self.window, self.second_verdicts
        return events.filter(record_time_filter(window.since, window.until)) if window and events.num_rows else events

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

    def file_scan(self, table: Table, files: LocalFiles) -> FileScan:
        """Return the scan by DuckDB of the rows of one table in files."""
        has_ids = self.update_ids is not None and "update_id" in table.column_names
        has_second_verdicts = set(EVENT) <= set(table.column_names) and self.second_verdicts_inside.num_rows
        return FileScan(
            *files,
            conditions=tuple(self._sql_conditions(table)),
            update_ids=pa.table({"update_id": self.update_ids}) if has_ids else None,
            left_out=self.second_verdicts_inside.select(EVENT) if has_second_verdicts else None,
        )

    def _sql_conditions(self, table: Table) -> Iterator[str]:
        if self.window and "record_time" in table.column_names:
            yield record_times_in(self.window)
        if self.offsets:
            after, through = self.offsets
            yield f'"offset" > {after} AND "offset" <= {through}'

    def scans(self, source: FrameSource, table: Table) -> list[tuple[ds.Dataset, pc.Expression | None]]:
        """Return the scans of a table in order, each with the filter that it needs."""
        scans = []
        for part in source.iter_scans(table.name, self.window):
            needed = self if part.may_have_second_verdicts else replace(self, second_verdicts=NO_EVENTS)
            scans.append((part.rows, (replace(needed, window=None) if part.is_inside else needed).expression(table)))
        return scans

    def dropped_rows(self, source: FrameSource, tables: Sequence[str]) -> pa.Table:
        """Return the table ``dropped_rows`` of the events that the frames exclude."""
        tables = [name for name in tables if set(EVENT) <= set(table_spec(name).column_names)]
        if not tables:
            return DROPPED_ROWS.empty_arrow()
        later = [self._later_rows(source, table_spec(name)) for name in tables]
        return DROPPED_ROWS.sorted(pa.concat_tables([self._rows_of_same_time(source, tables), *later]).unify_dictionaries())

    def dropped_events(self, source: FrameSource, tables: Sequence[str]) -> pa.Table:
        """Return each event that the frames exclude once, without a count of its rows."""
        later = self.second_verdicts_inside
        if self.update_ids is not None:
            later = later.filter(pc.field("update_id").isin(self.update_ids))
        of_same_time = self._rows_of_same_time(source, tables)
        events = [rows.select(EVENT).cast(NO_EVENTS.schema) for rows in (of_same_time, later)]
        return pa.concat_tables(events).group_by(EVENT).aggregate([])

    def _rows_of_same_time(self, source: FrameSource, tables: Sequence[str]) -> pa.Table:
        """Return the rows that were dropped when their segment was written."""
        with damage_as_store_error(DROPPED_ROWS.name, source.location):
            limits = replace(self, second_verdicts=NO_EVENTS).expression(DROPPED_ROWS)
            rows = source.scan(DROPPED_ROWS.name).to_table(filter=limits)
        return rows.filter(pc.field("table").isin(tables))

    def _later_rows(self, source: FrameSource, table: Table) -> pa.Table:
        """Count the rows of a table that belong to each second verdict."""
        dropped = self._dropped(table)
        if dropped is None:
            return DROPPED_ROWS.empty_arrow()
        with damage_as_store_error(table.name, source.location):
            # With the times, the scan skips all other row groups.
            has_time = pc.field("record_time").isin(self.second_verdicts_inside["record_time"].unique())
            expression = functools.reduce(operator.and_, [*self._parts(table), has_time, dropped])
            rows = source.scan(table.name).to_table(columns=EVENT, filter=expression)
        counts = rows.group_by(EVENT).aggregate([([], "count_all")])
        columns = {name: counts[name] for name in EVENT}
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


def _keys(migration_id: Any, record_time: Any, update_id: Any) -> Any:
    """Return a text for each event, from arrays or expressions."""
    texts = migration_id.cast(pa.string()), record_time.cast(pa.int64()).cast(pa.string()), update_id
    return pc.binary_join_element_wise(*texts, "@")
