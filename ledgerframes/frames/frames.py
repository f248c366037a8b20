"""Frames, linked tables that are read lazily and filtered together."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.datasets import Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.population import Population, keeps_all_requests, narrow_population
from ledgerframes.engine import DEFAULT_SETTINGS
from ledgerframes.engine.file_scan import FileScan
from ledgerframes.errors import UsageError
from ledgerframes.frames.conditions import Condition, Offsets, Predicate, missing_table, require_list
from ledgerframes.frames.facts import clip_coverage, frame_facts
from ledgerframes.frames.row_filters import RowFilter
from ledgerframes.settings import EngineSettings
from ledgerframes.store.scan import LittleAhead, count_rows, damage_as_store_error, iter_batches, read_rows
from ledgerframes.store.sources import FrameSource, first_event_time
from ledgerframes.texts.representation import as_html, as_text
from ledgerframes.values.windows import Time, Window, instant

if TYPE_CHECKING:
    # Jedi, which completes names in notebooks, offers none if it reads a property's annotation as Literal.
    from ledgerframes.datasets.population import Population as StaticPopulation

CommittedIds = Callable[[pa.Array], Collection[str]]


class Frames:
    """Linked tables of one load, each read as a plain DataFrame on first use.

    ``frames.traffic`` is a DataFrame, as is every other table in :attr:`tables`. The methods :meth:`between` and :meth:`where`
    return new Frames with all tables filtered together.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> len(frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED").updates)
    0
    """

    # For type checkers and editors. No attribute exists at run time, so __getattr__ reads the table.
    updates: pd.DataFrame
    tree_events: pd.DataFrame
    reassignments: pd.DataFrame
    verdicts: pd.DataFrame
    views: pd.DataFrame
    quorums: pd.DataFrame
    traffic: pd.DataFrame
    envelopes: pd.DataFrame
    activity_records: pd.DataFrame
    ledger_updates: pd.DataFrame
    ledger_events: pd.DataFrame
    ledger_reassignments: pd.DataFrame
    ledger_topology: pd.DataFrame
    active_contracts: pd.DataFrame
    bulk_objects: pd.DataFrame

    def __init__(
        self,
        source: FrameSource,
        tables: Sequence[str],
        *,
        window: Window | None = None,
        update_ids: Sequence[str] | None = None,
        offsets: Offsets | None = None,
        unknown_ids: Sequence[str] = (),
        failed: Mapping[str, str] = MappingProxyType({}),
        population: Population = "chosen",
        committed_ids: CommittedIds | None = None,
        is_chosen: bool = False,
        engine: EngineSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._source, self._tables, self.engine = source, tuple(tables), engine
        self._unknown_ids, self._failed = tuple(unknown_ids), dict(failed)
        self._population, self._committed_ids = population, committed_ids
        ids = None if update_ids is None else pa.array(update_ids, pa.string())
        self._filter = RowFilter(window, ids, offsets, is_chosen, source.second_verdicts)
        self._read: dict[str, pd.DataFrame] = {}

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the linked tables."""
        return self._tables

    @property
    def network(self) -> str:
        """Name of the network."""
        return self._source.network

    @property
    def window(self) -> Window | None:
        """The half-open window of record times, or None if they have none."""
        return self._filter.window

    @property
    def offset_range(self) -> Offsets | None:
        """The offsets ``after < offset <= through``, or None if not loaded by offset."""
        return self._filter.offsets

    @property
    def is_filtered(self) -> bool:
        """Whether :meth:`where` has removed updates of the window."""
        return self._filter.window is not None and self._filter.has_chosen_ids

    @property
    def population(self) -> StaticPopulation:
        """Population of the requests, as far as rejections are concerned.

        ``all``: all requests of a window. ``committed``: committed updates, which have no rejected requests. ``chosen``:
        requests chosen by id or by outcome. Narrowing never makes it ``all`` again (docs/facts.md#survivorship).
        """
        return self._population

    @property
    def unknown_ids(self) -> tuple[str, ...]:
        """Ids that the service does not know."""
        return self._unknown_ids

    @property
    def failed_objects(self) -> dict[str, str]:
        """Bulk objects that could not be read, with the reasons."""
        return dict(self._failed)

    @property
    def unreadable(self) -> dict[str, str]:
        """Segments of other versions that this one cannot read, with the reasons."""
        return dict(self._source.unreadable)

    @property
    def history_start(self) -> datetime | None:
        """The time of the network's first event, or None unless the coverage starts before it."""
        return first_event_time(self._source)

    @property
    def coverage(self) -> pd.DataFrame:
        """The segments of the rows, sorted by migration and time, as the table ``coverage``."""
        covered = self._source.coverage()
        return covered if self.window is None or covered.empty else clip_coverage(covered, self.window)

    @property
    def missing_before(self) -> tuple[Window, ...]:
        """Time before the window that is not in the store and can contain first verdicts."""
        return tuple(each.window for each in self._source.missing_before)

    @property
    def problems(self) -> pd.DataFrame:
        """The rows that these frames exclude, counted by problem and table.

        Columns: ``problem``, ``table``, ``rows`` and an example, ``update_id`` (docs/facts.md#second-verdicts).
        """
        return self._filter.problems(self._source, self._tables)

    @property
    def file_digests(self) -> dict[str, str]:
        """The SHA-256 of each file with rows, by its path. Tables in memory have none."""
        return self._source.file_digests()

    # -- reading ----------------------------------------------------------------------------------------------------

    def scan(self, table: str, *, with_dictionaries: bool = False) -> ds.Dataset:
        """Return one table as a ``pyarrow.dataset``, for Polars, DuckDB, Dask or Spark.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.
        with_dictionaries : bool, optional
            Keep repeated texts in the dictionaries of the files, which some engines read faster (default: False).

        Raises
        ------
        UsageError
            If these frames have no such table.
        """
        spec = self._required(table)
        return self._filter.narrow(LittleAhead(self._source.scan(table, with_dictionaries=with_dictionaries)), spec)

    def _file_scan(self, table: str) -> FileScan | None:
        """Return the scan of one table by DuckDB, or None if it must be read through Arrow."""
        spec = self._required(table)
        with damage_as_store_error(table, self._source.location):
            files = self._source.whole_files(table, self.window)
        return self._filter.file_scan(spec, files) if files else None

    @contextmanager
    def _scanning(self, table: str) -> Iterator[ds.Dataset]:
        """Scan one table, and raise the errors of its files as StoreError."""
        with damage_as_store_error(table, self._source.location):
            yield self.scan(table)

    def read(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read one table, or some of its columns.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.
        columns : sequence of str, optional
            Only these columns, in this order. Payload columns contain most of the bytes.

        Returns
        -------
        DataFrame
            Rows in the order that ``ledgerframes tables TABLE`` documents.

        Raises
        ------
        UsageError
            If there is no such table or column, or a column is repeated.
        """
        spec = self._required(table)
        require_list(columns)
        selection = spec.select(columns)
        if columns is None and table in self._read:
            return self._read[table].copy(deep=False)
        with damage_as_store_error(table, self._source.location):
            return spec.to_pandas(self._rows(spec, selection))

    def iter_batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read one table as Arrow record batches of bounded size.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.
        columns : sequence of str, optional
            Only these columns, in this order.

        Yields
        ------
        RecordBatch
            Sorted as documented, except that events by id are in the order of their segments.

        Raises
        ------
        UsageError
            If there is no such table or column.
        StoreError
            If a file of the table is damaged.
        """
        spec = self._required(table)
        require_list(columns)
        with damage_as_store_error(table, self._source.location):
            for rows, expression in self._filter.scans(self._source, spec):
                yield from iter_batches(rows, spec.select(columns), expression)

    def count_rows(self, table: str, *, at_most: bool = False) -> int:
        """Count the rows of a table without reading them.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.
        at_most : bool, optional
            Whether a number that the rows do not exceed is enough, which takes less time (default: False).

        Raises
        ------
        StoreError
            If a file of the table is missing or damaged.
        """
        spec = self._required(table)
        with damage_as_store_error(table, self._source.location):
            if at_most:
                return self._source.max_rows(table, self.window, self._filter.expression(spec))
            return sum(count_rows(rows, expression) for rows, expression in self._filter.scans(self._source, spec))

    def _required(self, table: str) -> Table:
        if table not in self._tables:
            raise missing_table(table, self._tables)
        return table_spec(table)

    def _ids(self, table: str) -> pa.ChunkedArray:
        return self._rows(table_spec(table), ["update_id"])["update_id"]

    def _rows(self, spec: Table, columns: list[str]) -> pa.Table:
        # Without columns, the number of rows is unknown, so one column is always read.
        is_sorted = self._source.is_sorted and spec.is_presorted
        needed = columns if columns and is_sorted else list(dict.fromkeys([*columns, *spec.sort]))
        read = [read_rows(rows, needed, expression) for rows, expression in self._filter.scans(self._source, spec)]
        rows = pa.concat_tables(read or [spec.empty_arrow().select(needed)])
        return (rows if is_sorted else spec.sorted(rows)).select(columns)

    if not TYPE_CHECKING:  # otherwise a misspelled table would pass the type checker

        def __getattr__(self, name: str) -> pd.DataFrame:
            if name.startswith("_") or name not in self._tables:
                tables = ", ".join(self.__dict__.get("_tables", ()))
                raise AttributeError(f"Frames have no table or attribute {name!r}. Choose from {tables}.")
            self._read[name] = self.read(name)
            return self.read(name)  # copied on write, so that changes do not affect other users of these frames

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._tables]

    # -- filtering --------------------------------------------------------------------------------------------------

    def between(self, since: Time, until: Time) -> Frames:
        """Limit every table to a half-open window of record times.

        Parameters
        ----------
        since, until : str, date or datetime
            ``since <= record_time < until``, UTC.

        Raises
        ------
        UsageError
            If the window is empty, or not entirely inside that of these frames.
        """
        window = Window(instant(since, "since"), instant(until, "until"))
        if self.window and window.intersect(self.window) != window:
            raise UsageError(f"since= and until= must lie in {self.window}, the window of these frames, got {window}.")
        return self._filtered(replace(self._filter, window=window))

    def where(
        self, table: str, predicate: Predicate | None = None, *, columns: Sequence[str] | None = None, **equal: Any
    ) -> Frames:
        """Limit every table to the updates that have a matching row in one table.

        Parameters
        ----------
        table : str
            Name of the table with the matching rows.
        predicate : callable, optional
            Function from the table's DataFrame to a boolean Series.
        columns : sequence of str, optional
            The only columns that the predicate gets (default: all).
        **equal
            Column = value, or column = list of values. A matching row meets all conditions. A list column matches if it
            contains one of the values. On ``verdicts``, ``participant`` and ``party`` are the submitting ones, as in the
            analyses.

        Raises
        ------
        UsageError
            If there is no such table or column, the table has no updates, a value has the wrong type, the party or
            participant is not in the loaded rows, or the predicate is not a function that returns a boolean Series.

        Notes
        -----
        The population ``all`` stays ``all`` if the condition uses only columns that every request has, such as party and
        time, or the cost if all costs are known. Otherwise :attr:`population` changes (docs/facts.md#survivorship).

        Examples
        --------
        >>> import ledgerframes as lf
        >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
        >>> large = frames.where("traffic", lambda rows: rows["total_traffic_cost"] > 10_000, columns=["total_traffic_cost"])
        >>> bool((large.traffic["total_traffic_cost"] > 10_000).all()), large.population
        (True, 'chosen')
        >>> frames.where("tree_events", event_type="created_event").population
        'committed'
        """
        condition = Condition.of(self._required(table), predicate, columns, equal)
        rows = self.read(table, condition.columns_to_read)
        update_ids = condition.matching_ids(rows)
        with damage_as_store_error(table, self._source.location):
            condition.require_known(rows, lambda column: read_rows(self._source.scan(table), [column], None)[column])
        frames = self._filtered(replace(self._filter, update_ids=update_ids))
        frames._population = self._narrowed_population(condition, update_ids)
        return frames

    def _narrowed_population(self, condition: Condition, update_ids: pa.Array) -> Population:
        columns = condition.deciding_columns
        population = narrow_population(self._population, condition.table.name, columns)
        if population == "all" and not keeps_all_requests(condition.table.name, self._ids):
            return "chosen"
        has_chosen_ids = columns is None or "update_id" in columns
        if population != "chosen" or not has_chosen_ids or self._committed_ids is None:
            return population
        needed = len(update_ids) if columns is None else 1  # one id of a ledger is enough, but a predicate may not have read ids
        return "committed" if 0 < needed <= len(self._committed_ids(update_ids)) else "chosen"

    def _filtered(self, row_filter: RowFilter) -> Frames:
        frames = copy.copy(self)
        frames._filter, frames._read = row_filter, {}
        return frames

    # -- representation ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return as_text("Frames", frame_facts(self, self._source.bytes, self._filter.has_chosen_ids), 18)

    def _repr_html_(self) -> str:
        return as_html("Frames", frame_facts(self, self._source.bytes, self._filter.has_chosen_ids))
