"""Frames: linked tables, read lazily, narrowed together."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets import Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.errors import UsageError
from ledgerframes.store.scan import damage_as_store_error, iter_batches
from ledgerframes.store.sources import FrameSource, MemoryFrameSource
from ledgerframes.windows import Time, Window, instant

__all__ = ["FrameSource", "Frames", "MemoryFrameSource"]

Offsets = tuple[int, int]
Predicate = Callable[[pd.DataFrame], "pd.Series[bool]"]


@dataclass(frozen=True)
class _Filter:
    """What a Frames object has been narrowed to."""

    window: Window | None = None
    update_ids: pa.Array | None = None
    offsets: Offsets | None = None

    def expression(self, table: Table) -> pc.Expression | None:
        """The filter of one table as an Arrow expression, or None when everything passes."""
        parts: list[pc.Expression] = []
        if self.window and (in_window := table.filter_window(self.window)) is not None:
            parts.append(in_window)
        if self.update_ids is not None and "update_id" in table.column_names:
            parts.append(pc.field("update_id").isin(self.update_ids))
        if self.offsets:
            after, through = self.offsets
            parts.append((pc.field("offset") > after) & (pc.field("offset") <= through))
        return functools.reduce(operator.and_, parts) if parts else None


def _require_possible(column: pd.Series, wanted: list[Any]) -> None:
    """A value outside a closed set is a slip, not an empty answer."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = column.dtype.categories
        strange = [value for value in wanted if value not in known]
        if strange:
            raise UsageError(f"Column {column.name} is never {strange[0]!r}. Values: {', '.join(known)}.")


class Frames:
    """Linked tables over one range of one network; each is a plain DataFrame, read when first touched.

    ``frames.traffic`` is a DataFrame, as is every other table in :attr:`tables`. Narrowing (:meth:`between`, :meth:`where`)
    gives new Frames and narrows all tables together.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> rejected = frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED")
    >>> len(rejected.updates)
    0
    """

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
    ) -> None:
        self._source = source
        self._tables = tuple(tables)
        self._unknown_ids = tuple(unknown_ids)
        self._failed = dict(failed)
        self._filter = _Filter(window, None if update_ids is None else pa.array(update_ids, pa.string()), offsets)
        self._read: dict[str, pd.DataFrame] = {}

    # -- what is here -----------------------------------------------------------------------------------------------

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the linked tables."""
        return self._tables

    @property
    def network(self) -> str:
        """Name of the network that the rows came from."""
        return self._source.network

    @property
    def window(self) -> Window | None:
        """The half-open range of record times asked for, or None when loaded by id."""
        return self._filter.window

    @property
    def offset_range(self) -> Offsets | None:
        """The offsets asked for, ``after < offset <= through``, or None when not of a participant's ledger."""
        return self._filter.offsets

    @property
    def is_filtered(self) -> bool:
        """Whether :meth:`where` has taken updates away, so that what is left is not all of the range."""
        return self._filter.window is not None and self._filter.update_ids is not None

    @property
    def unknown_ids(self) -> tuple[str, ...]:
        """Ids asked for that the service does not know; nothing is stored for them."""
        return self._unknown_ids

    @property
    def failed_objects(self) -> dict[str, str]:
        """Bulk objects asked for that could not be read, and why; only when told that a part is enough."""
        return dict(self._failed)

    @property
    def coverage(self) -> pd.DataFrame:
        """Where the rows came from.

        Returns
        -------
        DataFrame
            One row per part of the range, sorted by migration and time: ``migration_id``, ``since``, ``until``, ``status``
            (``final`` or ``provisional``), ``rows`` of all tables together, ``source`` host and ``fetched_at``.
        """
        covered = self._source.coverage()
        window = self.window
        if window is None or covered.empty:
            return covered
        overlap = (covered["since"] < window.until) & (covered["until"] > window.since)
        clipped = covered[overlap].reset_index(drop=True)
        clipped["since"] = clipped["since"].where(clipped["since"] >= window.since, pd.Timestamp(window.since))
        clipped["until"] = clipped["until"].where(clipped["until"] <= window.until, pd.Timestamp(window.until))
        return clipped

    # -- reading ----------------------------------------------------------------------------------------------------

    def scan(self, table: str) -> ds.Dataset:
        """The rows of one table as a ``pyarrow.dataset``, for Polars, DuckDB, Dask or Spark.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.

        Raises
        ------
        UsageError
            If these frames have no such table.
        """
        expression = self._filter.expression(self._required(table))
        dataset = self._source.scan(table)
        return dataset if expression is None else dataset.filter(expression)

    def read(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read one table, or some of its columns.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.
        columns : sequence of str, optional
            Only these columns, in this order: payload columns are most of the bytes.

        Returns
        -------
        DataFrame
            One row per what ``ledgerframes tables TABLE`` says, sorted as it says.

        Raises
        ------
        UsageError
            If there is no such table or column, or a column is named twice.
        """
        spec = self._required(table)
        chosen = spec.select(columns)
        if columns is None and table in self._read:
            return self._read[table].copy(deep=False)
        return spec.to_pandas(self._rows(spec, chosen))

    def iter_batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read one table as Arrow record batches, one row group of the files after the other: memory stays bounded.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.
        columns : sequence of str, optional
            Only these columns, in this order.

        Yields
        ------
        RecordBatch
            Sorted as declared; rows that were looked up by id come in the order of asking.

        Raises
        ------
        UsageError
            If there is no such table or column.
        StoreError
            If a file of the table is damaged.
        """
        spec = self._required(table)
        with damage_as_store_error(table, self._source.location):
            for rows, expression in self._parts(spec):
                yield from iter_batches(rows, spec.select(columns), expression)

    def count_rows(self, table: str) -> int:
        """How many rows a table has, without reading them.

        Parameters
        ----------
        table : str
            Name of a table in :attr:`tables`.

        Raises
        ------
        StoreError
            If a file of the table is lost, or does not say how many rows it has.
        """
        spec = self._required(table)
        with damage_as_store_error(table, self._source.location):
            return sum(int(rows.count_rows(filter=expression)) for rows, expression in self._parts(spec))

    def _required(self, table: str) -> Table:
        if table not in self._tables:
            raise UsageError(f"These frames have no table {table!r}. Tables: {', '.join(self._tables)}.")
        return table_spec(table)

    def _rows(self, spec: Table, columns: list[str]) -> pa.Table:
        with damage_as_store_error(spec.name, self._source.location):
            if self._source.is_sorted and spec.is_presorted:
                return self._unsorted(spec, columns or list(spec.sort)).select(columns)  # rows of no columns have no number
            rows = self._unsorted(spec, list(dict.fromkeys([*columns, *spec.sort])))
            return spec.sorted(rows).select(columns)

    def _unsorted(self, spec: Table, columns: list[str]) -> pa.Table:
        read = [rows.to_table(columns=columns, filter=expression) for rows, expression in self._parts(spec)]
        return pa.concat_tables(read or [spec.empty_arrow().select(columns)])

    def _parts(self, spec: Table) -> list[tuple[ds.Dataset, pc.Expression | None]]:
        """What to read of a table, in order, and which rows: those known to lie in the window need not be compared with it."""
        window, beyond = self._filter.window, replace(self._filter, window=None)
        parts = self._source.iter_scans(spec.name, window) if window else [(self._source.scan(spec.name), False)]
        return [(rows, (beyond if inside else self._filter).expression(spec)) for rows, inside in parts]

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name.startswith("_") or name not in self._tables:
            raise AttributeError(
                f"Frames have no table or attribute {name!r}. Tables: {', '.join(self.__dict__.get('_tables', ()))}."
            )
        self._read[name] = self.read(name)
        return self.read(name)  # a copy on write: what a user changes is the user's

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._tables]

    # -- narrowing --------------------------------------------------------------------------------------------------

    def between(self, since: Time, until: Time) -> Frames:
        """Narrow every table to a half-open range of record times.

        Parameters
        ----------
        since, until : str, date or datetime
            ``since <= record_time < until``, UTC.

        Raises
        ------
        UsageError
            If the range is empty or lies outside these frames.
        """
        asked = Window(instant(since, "since"), instant(until, "until"))
        kept = asked.intersect(self.window) if self.window else asked
        if kept is None:
            raise UsageError(f"{asked} lies outside these frames, which hold {self.window}.")
        return self._narrowed(replace(self._filter, window=kept))

    def where(self, table: str, predicate: Predicate | None = None, **equal: Any) -> Frames:
        """Narrow every table to the updates that have a matching row in one table.

        Parameters
        ----------
        table : str
            Table that decides.
        predicate : callable, optional
            Takes the table's DataFrame, gives a boolean Series.
        **equal
            Column = value, or column = list of values; all must hold.

        Raises
        ------
        UsageError
            If there is no such table or column.

        Examples
        --------
        >>> import ledgerframes as lf
        >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
        >>> large = frames.where("traffic", lambda traffic: traffic["total_traffic_cost"] > 10_000)
        >>> bool((large.traffic["total_traffic_cost"] > 10_000).all())
        True
        """
        columns = None if predicate else list(dict.fromkeys(["update_id", *equal]))
        rows = self.read(table, columns)
        keep = pd.Series(True, index=rows.index) if predicate is None else predicate(rows).fillna(False).astype(bool)
        for name, value in equal.items():
            if name not in rows:
                raise UsageError(f"Table {table} has no column {name!r}. Columns: {', '.join(rows.columns)}.")
            wanted = list(value) if isinstance(value, list | tuple | set) else [value]
            _require_possible(rows[name], wanted)
            keep &= rows[name].isin(wanted)
        update_ids = pa.array(rows.loc[keep, "update_id"].unique(), pa.string())
        return self._narrowed(replace(self._filter, update_ids=update_ids))

    def _narrowed(self, narrowed: _Filter) -> Frames:
        frames = Frames(self._source, self._tables, unknown_ids=self._unknown_ids, failed=self._failed)
        frames._filter = narrowed
        return frames

    # -- saying what it is ------------------------------------------------------------------------------------------

    def _range(self) -> str:
        if self.offset_range:
            return f"offsets after {self.offset_range[0]} through {self.offset_range[1]}"
        return str(self.window) if self.window else "by id"

    def _facts(self) -> list[tuple[str, str]]:
        covered = self.coverage
        provisional = int(covered.loc[covered["status"] == "provisional", "rows"].sum())
        rows = {table: self.count_rows(table) for table in self._tables}
        facts = [("network", self.network), ("range", self._range())]
        facts += [(table, f"{count:,} rows") for table, count in rows.items()]
        if provisional:
            facts.append(("provisional", f"{provisional:,} rows may still change"))
        facts.append(("on disk", f"{self._source.bytes / 1e6:,.1f} MB"))
        if self._unknown_ids:
            facts.append(("unknown ids", f"{len(self._unknown_ids):,}"))
        if self._failed:
            facts.append(("not read", f"{len(self._failed):,} bulk objects"))
        return facts

    def __repr__(self) -> str:
        return "Frames\n" + "\n".join(f"  {name:<18} {value}" for name, value in self._facts())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self._facts()
        )
        return f"<table><caption>Frames</caption>{rows}</table>"
