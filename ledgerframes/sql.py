"""SQL over what the store holds: DuckDB reads the committed segments through Arrow, so that every value stays exact."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets import Column, Table
from ledgerframes.datasets._schema import INTEGER, SMALL, TEXT, TIME
from ledgerframes.datasets.registry import DATASETS, STORED_TABLES
from ledgerframes.errors import UsageError
from ledgerframes.extents import MigrationWindow
from ledgerframes.store import Segment, Store, StoreSnapshot
from ledgerframes.store.reading import damaged
from ledgerframes.store.table_source import ResolvedTable, choose_dataset, resolve_table, snapshots_by_dataset
from ledgerframes.windows import Time, Window, iso, window

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation, Statement

    from ledgerframes.network import Network

__all__ = ["sql"]

# Nothing but the views can be read: no file, no network, no variable of the caller.
CLOSED = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}
QUESTIONS = ("SELECT", "EXPLAIN", "MULTI")  # a PIVOT is several steps to DuckDB
# Types that Arrow lacks, or that lose something on the way.
INEXACT = re.compile(r"\b(UHUGEINT|BIGNUM|INTERVAL|BIT|TIMESTAMP_NS|TIME_NS|TIME WITH TIME ZONE|UNION|VARIANT|GEOMETRY)\b")
LOST = re.compile(r"reading the Arrow source failed: (.*)", re.DOTALL)
UNKNOWN = re.compile(r'Table with name "?([\w.]+)"? does not exist')
# A query is not parsed here, only looked through for names: what is in quotes or a comment is none.
NO_NAMES = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
NAME = re.compile(r'(?:"?\b(\w+)\b"?\s*\.\s*)?"?\b(\w+)\b"?(?!\s*\.)')
BARE_OFFSET = re.compile(r'(?<!")\boffset\b(?!")', re.IGNORECASE)


def sql(
    net: Network, query: str, *, during: str | None = None, since: Time | None = None, until: Time | None = None
) -> pd.DataFrame:
    """Ask a question in SQL of what the store holds; nothing is fetched.

    Every table that the store keeps is a view. Where several kinds of reading fill a table, it is taken from the first of them
    that holds rows, in the order ``events``, ``events_by_id``, ``bulk``, ``bulk_by_key``, ``bulk_acs``,
    ``bulk_acs_by_key``, ``ledger``; rows of the others are not among them. ``bulk.updates`` names the kind. All views show
    one moment of the store.

    Parameters
    ----------
    net : Network
    query : str
        One query in DuckDB's SQL. Times are UTC.
    during : str, optional
        Only rows of this date word, such as ``last-week``, in all tables that have a ``record_time``.
    since, until : str, date or datetime, optional
        The same as a half-open range of record times, UTC; until is now by default.

    Returns
    -------
    DataFrame
        One row per row of the answer, sorted as the query says, with the dtypes that loaders give: integers stay integers and
        amounts decimals, whatever their size.

    Raises
    ------
    UsageError
        If DuckDB does not accept the query, a column of the answer has no exact dtype, or a participant's ledger is held through
        several filters, so that its rows would be counted once for each.
    StoreError
        If a file of the store is damaged.

    Notes
    -----
    Source: design, The store. What is provisional is among the rows, as it is for loaders. DuckDB divides and averages in
    floating point: sums, counts, minima and maxima are exact.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> total = lf.sql(net, "select sum(total_traffic_cost) as bytes from traffic", during="2026-11-08")
    >>> int(total["bytes"][0]) == int(frames.traffic["total_traffic_cost"].sum())
    True
    """
    return answered(net, query, during=during, since=since, until=until).frame


@dataclass(frozen=True)
class Answered:
    """An answer, and what is to be said of the rows that it was made from."""

    frame: pd.DataFrame
    remarks: tuple[str, ...]


def answered(
    net: Network, query: str, *, during: str | None = None, since: Time | None = None, until: Time | None = None
) -> Answered:
    """As :func:`sql`, with remarks: what the store lacks, what is provisional, which kinds of reading are not among the rows."""
    asked = None if (during, since, until) == (None, None, None) else window(net.now(), since, until, during)
    with TemporaryDirectory() as folder:
        catalog = Path(folder) / "catalog.sqlite"
        net.store.freeze(catalog)
        store = Store(net.settings.store, net.settings.network, DATASETS, catalog)
        with closing(_connection(folder)) as connection:
            return _Views(connection, store, _named(query), asked).answer(query)


def _connection(folder: str) -> DuckDBPyConnection:
    """An engine of its own that can see nothing yet; what does not fit into memory goes into the folder."""
    import duckdb

    connection = duckdb.connect(":memory:", config={**CLOSED, "temp_directory": folder})
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
    return connection


def _named(query: str) -> list[str]:
    """The tables that a query names, such as ``updates`` or ``bulk.updates``: no other file is looked at."""
    found = [match.groups() for match in NAME.finditer(NO_NAMES.sub(" ", query.lower()))]
    names = [table if dataset in (None, "main") else f"{dataset}.{table}" for dataset, table in found]
    kept = {*STORED_TABLES, *(f"{dataset.name}.{table.name}" for dataset in DATASETS.values() for table in dataset.tables)}
    return [name for name in dict.fromkeys(names) if name in kept]


class _Views:
    """Tables of a store as views of one connection."""

    def __init__(self, connection: DuckDBPyConnection, store: Store, names: Sequence[str], asked: Window | None) -> None:
        self._connection = connection
        self._asked = asked
        # All tables that are kept, if a query names none, as SHOW TABLES does.
        self._wanted = list(
            {name.rpartition(".")[2]: STORED_TABLES[name.rpartition(".")[2]] for name in names or STORED_TABLES}.values()
        )
        snapshots = snapshots_by_dataset(store, self._wanted)
        self._readings = [resolve_table(DATASETS, name, snapshots) for name in names]
        for reading in self._readings:
            reading.require_one_filter()
        self._create(snapshots)

    def _create(self, snapshots: dict[str, StoreSnapshot]) -> None:
        for name, snapshot in snapshots.items():
            self._connection.execute(f'CREATE SCHEMA "{name}"; SET schema = \'"{name}"\'')
            for table in DATASETS[name].tables:
                if table in self._wanted:
                    self._view(snapshot, table).create_view(table.name)
        self._connection.execute("SET schema = 'main'; SET lock_configuration = true")
        for table in self._wanted:
            dataset = choose_dataset(DATASETS, table, snapshots)
            self._connection.execute(f'CREATE VIEW "{table.name}" AS FROM "{dataset.name}"."{table.name}"')

    def _view(self, snapshot: StoreSnapshot, table: Table) -> DuckDBPyRelation:
        rows = self._connection.from_arrow(snapshot.scan(table.name))
        return rows.filter(_inside(self._asked)) if self._asked and "record_time" in table.column_names else rows

    def answer(self, query: str) -> Answered:
        """Run one query; what DuckDB says of it is the caller's, what it says of a file is the store's."""
        import duckdb

        try:
            relation = self._connection.sql(self._question(query))
            frame = _Answer.of(relation, _declared(self._wanted)).frame()
        except duckdb.Error as error:
            lost = LOST.search(str(error))
            if lost:
                raise damaged(" or ".join(table.name for table in self._wanted), lost[1]) from error
            raise _refused(query, error) from error
        return Answered(frame, tuple(_remarks(self._readings, self._asked)))

    def _question(self, query: str) -> Statement:
        statements = self._connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type.name not in QUESTIONS:
            raise UsageError("lf.sql answers one question and changes nothing. Give one SELECT.")
        return statements[0]


def _refused(query: str, error: Exception) -> UsageError:
    """What DuckDB says of a query, and what to write instead."""
    reason, unknown = str(error).partition("\n\n")[0], UNKNOWN.search(str(error))
    if unknown:
        reason = reason.partition("\n")[0].rstrip("!.")  # what DuckDB suggests may be a table of its own
        close = difflib.get_close_matches(unknown[1].rpartition(".")[2].lower(), STORED_TABLES, 1)
        step = (f"Did you mean {close[0]}? " if close else "") + f"Tables: {', '.join(sorted(STORED_TABLES))}."
    elif "Parser Error" in reason and BARE_OFFSET.search(NO_NAMES.sub(" ", query)):
        step = 'Where offset is meant as a column, write it in quotes: "offset".'
    else:
        step = "Change the query; `describe TABLE` shows the columns of a table."
    return UsageError(f"{' '.join(reason.split())} (DuckDB). {step}")


def _remarks(readings: Sequence[ResolvedTable], asked: Window | None) -> Iterator[str]:
    for reading in readings:
        if not reading.is_stored:
            yield reading.not_stored_message
        if reading.other_datasets_note:
            yield f"{reading.other_datasets_note}."
    unsettled = [each.name for each in readings if any(_may_change(segment, each, asked) for segment in each.snapshot.segments)]
    if unsettled:
        yield f"Rows of {', '.join(unsettled)} are provisional and may still change: the next sync asks for them again."


def _may_change(segment: Segment, reading: ResolvedTable, asked: Window | None) -> bool:
    """Whether a segment has provisional rows of a table, and these can be among those asked for."""
    if segment.final or reading.table.name not in segment.files:
        return False
    span = segment.extent
    return asked is None or not isinstance(span, MigrationWindow) or span.overlaps(MigrationWindow.of(span.migration_id, asked))


def _inside(asked: Window) -> str:
    since, until = (f"TIMESTAMPTZ '{iso(time)}'" for time in (asked.since, asked.until))
    return f"record_time >= {since} AND record_time < {until}"


def _declared(tables: Sequence[Table]) -> dict[str, Column]:
    """The columns of the tables that a query names, where these tables declare them alike."""
    found: dict[str, set[Column]] = {}
    for table in tables:
        for column in table.columns:
            found.setdefault(column.name, set()).add(replace(column, description="", reference="", unit=""))
    return {name: columns.pop() for name, columns in found.items() if len(columns) == 1}


@dataclass(frozen=True)
class _Answer:
    """What DuckDB answered, as Arrow columns with a declaration each."""

    columns: tuple[Column, ...]
    rows: pa.Table

    @classmethod
    def of(cls, relation: DuckDBPyRelation, declared: dict[str, Column]) -> _Answer:
        """Run the query, and bring its columns to the types of this library."""
        names = relation.columns
        for name, kind in zip(names, map(str, relation.types), strict=True):
            if names.count(name) > 1:
                raise UsageError(f"Two columns of the answer are called {name}. Name them apart with AS.")
            if INEXACT.search(kind):
                times = " The difference of two times is epoch_us(later) - epoch_us(earlier), in microseconds."
                raise UsageError(
                    f"Column {name} is {kind}, for which there is no exact dtype. Make it another one."
                    + (times if "INTERVAL" in kind else "")
                )
        rows = relation.to_arrow_table()
        values = [_plain(rows.column(name)) for name in names]
        columns = [_column(name, each, declared.get(name)) for name, each in zip(names, values, strict=True)]
        arrays = [each.cast(column.type) for each, column in zip(values, columns, strict=True)]
        return cls(tuple(columns), pa.table(arrays, names=names))

    def frame(self) -> pd.DataFrame:
        """The DataFrame, through the one mapping of this library."""
        return Table("answer", "row of the answer", "sql", self.columns, (), ()).to_pandas(self.rows)


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values in the type that this library has for them; what is larger than an int64 stays a decimal."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return values.cast(TEXT)
    if pa.types.is_timestamp(kind):
        return values.cast(TIME)  # one without a zone is UTC
    if pa.types.is_integer(kind) and kind.bit_width < 32:
        return values.cast(SMALL)
    if pa.types.is_unsigned_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        try:
            return values.cast(INTEGER)
        except pa.ArrowInvalid:
            return values.cast(pa.decimal128(38, 0))
    return values


def _column(name: str, values: pa.ChunkedArray, declared: Column | None) -> Column:
    """The declaration of a column of the answer: the tables' own where name and type agree."""
    kind = values.type
    if declared is None or kind != (TEXT if pa.types.is_dictionary(declared.type) else declared.type):
        return Column(name, kind, "", "", nullable=True)
    return replace(declared, nullable=declared.nullable or values.null_count > 0)
