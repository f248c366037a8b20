"""SQL over the store.

DuckDB reads committed segments through Arrow, so that every value stays exact.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets import Column, Table
from ledgerframes.datasets.registry import DATASETS, STORED_TABLES
from ledgerframes.datasets.schema import TEXT
from ledgerframes.engine.connection import directory_error, open_database, temporary_dir
from ledgerframes.engine.failures import failure_of
from ledgerframes.engine.relation import Relation, in_order, tables_of
from ledgerframes.engine.results import to_library_type
from ledgerframes.engine.views import RELATIONS
from ledgerframes.engine.waiting import run_with_progress
from ledgerframes.errors import UsageError
from ledgerframes.frames.row_filters import RowFilter, record_times_in
from ledgerframes.frames.stored_time import missing_note, missing_times
from ledgerframes.store import Segment, Store, StoreSnapshot
from ledgerframes.store.scan import LittleAhead
from ledgerframes.store.sources import START_OF_TIME
from ledgerframes.store.table_source import ResolvedTable, choose_dataset, resolve_in_store, snapshots_by_dataset
from ledgerframes.values.extents import MigrationWindow
from ledgerframes.values.windows import Time, Window, window

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation, Statement

    from ledgerframes.network import Network
    from ledgerframes.settings import EngineSettings

__all__ = ["sql"]

NULLS = "if the query returns null"
ALLOWED_STATEMENTS = ("SELECT", "EXPLAIN", "MULTI")  # DuckDB parses a PIVOT as several statements
# Types that Arrow does not have, or that lose precision in the conversion.
INEXACT = re.compile(r"\b(UHUGEINT|BIGNUM|INTERVAL|BIT|TIMESTAMP_NS|TIME_NS|TIME WITH TIME ZONE|UNION|VARIANT|GEOMETRY)\b")
UNKNOWN_TABLE = re.compile(r'Table with name "?([\w.]+)"? does not exist')
# The query is not parsed, only searched for names outside texts, comments and quoted aliases. A table whose name is not found
# has no view, so that no rows count without a check.
NOT_A_NAME = re.compile(r"""("\w+")|"(?:[^"]|"")*"|'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/""", re.DOTALL)
NAME = re.compile(r'(?:"?\b(\w+)\b"?\s*\.\s*)?"?\b(\w+)\b"?(?!\s*\.)')
UNREADABLE = re.compile("[\0\ud800-\udfff]")  # the end of a text in C, and characters that UTF-8 cannot encode
SETTING_ADVICE = re.compile(r",? or SET \w+ ?=.*", re.DOTALL)  # of DuckDB, but a query cannot change a setting
BARE_OFFSET = re.compile(r'(?<!")\boffset\b(?!")', re.IGNORECASE)


def sql(
    net: Network, query: str, *, during: str | None = None, since: Time | None = None, until: Time | None = None
) -> pd.DataFrame:
    """Query stored tables with SQL, without fetching anything.

    Every stored table is a SQL view, and so is every relation that analyses share, such as ``requests``. A table of several
    datasets is read from the first that has rows, in the order ``events``, ``events_by_id``, ``bulk``, ``bulk_by_key``,
    ``bulk_acs``, ``bulk_acs_by_key``, ``contracts``, ``ledger``, and then reference data. ``bulk.updates`` names the dataset.
    All SQL views show the store as of one moment.

    Parameters
    ----------
    net : Network
    query : str
        One query in DuckDB's SQL. Times are UTC.
    during : str, optional
        Only rows in the time of this date word, such as ``last-week``, in all tables with a ``record_time``.
    since, until : str, date or datetime, optional
        The same, as a half-open window of record times, UTC (default: from the first row until now).

    Returns
    -------
    DataFrame
        One row per row of the result; sorted as the query says. The dtypes are those of loaders: integers stay integers, and
        amounts stay decimals, of any size.

    Raises
    ------
    UsageError
        If `net` is not a network, DuckDB rejects the query, a column of the result has no exact dtype, or a participant's
        ledger is stored through several filters, which would count its rows more than once.
    StoreError
        If a file of the store is damaged.

    Notes
    -----
    Provisional rows are included, as they are by loaders. DuckDB divides and averages in floating point; sums, counts, minima
    and maxima are exact.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> total = lf.sql(net, "select sum(total_traffic_cost) as bytes from traffic", during="2026-11-08")
    >>> int(total["bytes"][0]) == int(frames.traffic["total_traffic_cost"].sum())
    True
    """
    return run_query(net, query, during=during, since=since, until=until).frame


@dataclass(frozen=True)
class QueryResult:
    """The result of a query, and notes on the rows from which it was computed."""

    frame: pd.DataFrame
    notes: tuple[str, ...]


def run_query(
    net: Network, query: str, *, during: str | None = None, since: Time | None = None, until: Time | None = None
) -> QueryResult:
    """Run :func:`sql`, with notes on rows that are provisional or not in the result."""
    if not hasattr(net, "settings"):
        raise UsageError(f"net= must be a network from lf.connect, got {type(net).__name__}. Limit the rows with during=.")
    if not isinstance(query, str) or UNREADABLE.search(query):
        raise UsageError(f"query= must be text that DuckDB can read, got {query!r}.")
    if since is None and during is None and until is not None:
        since = START_OF_TIME
    time_window = None if (during, since, until) == (None, None, None) else window(net.now(), since, until, during)
    settings = net.settings.engine
    with temporary_dir(settings) as directory:
        try:
            store = net.store.freeze(Path(directory) / "catalog.sqlite")
        except OSError as error:
            raise directory_error(settings, error) from error
        with closing(_connect(settings, directory)) as connection:
            relations = _relations(query)
            names = list(dict.fromkeys([*_table_names(query), *tables_of(relations)]))
            return _Views(connection, store, names, relations, time_window).run(query, settings)


def _connect(settings: EngineSettings, directory: str) -> DuckDBPyConnection:
    """Open a new database, whose settings will be locked. Rows keep their order."""
    connection = open_database(settings, directory)
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    return connection


def _table_names(query: str) -> list[str]:
    """Return the names of stored tables in a query, such as ``updates`` or ``bulk.updates``."""
    known = {*STORED_TABLES, *(f"{dataset.name}.{table.name}" for dataset in DATASETS.values() for table in dataset.tables)}
    return [name for name in _names(query) if name in known]


def _relations(query: str) -> list[Relation]:
    """Return the relations in a query, such as ``requests``, and those that they need."""
    return in_order(RELATIONS[name] for name in _names(query) if name in RELATIONS)


def _names(query: str) -> list[str]:
    """Return all names in a query, each once."""
    matches = [match.groups() for match in NAME.finditer(_without_texts(query.lower()))]
    return list(dict.fromkeys(name if schema in (None, "main") else f"{schema}.{name}" for schema, name in matches))


def _without_texts(query: str) -> str:
    """Return a query without texts, comments and quoted aliases that are no word."""
    return NOT_A_NAME.sub(r"\1 ", query)


class _Views:
    """Tables of a store as SQL views of one connection."""

    def __init__(
        self,
        connection: DuckDBPyConnection,
        store: Store,
        names: Sequence[str],
        relations: Sequence[Relation],
        time_window: Window | None,
    ) -> None:
        self._store = store
        self._connection, self._relations = connection, relations if names else in_order(RELATIONS.values())
        self._window = time_window
        tables = dict.fromkeys(name.rpartition(".")[2] for name in names or STORED_TABLES)
        self._tables = [STORED_TABLES[name] for name in tables]
        snapshots = snapshots_by_dataset(store, self._tables)
        self._resolved = [resolve_in_store(store, name, snapshots) for name in names]
        for resolved in self._resolved:
            resolved.require_one_filter()
        if not names:  # such as SHOW TABLES, which lists all stored tables that can be queried
            self._tables = [each for each in self._tables if resolve_in_store(store, each.name, snapshots).filter_count < 2]
        self._create(store, snapshots)

    def _create(self, store: Store, snapshots: dict[str, StoreSnapshot]) -> None:
        for name, snapshot in snapshots.items():
            self._connection.execute(f'CREATE SCHEMA "{name}"; SET schema = \'"{name}"\'')
            for table in store.datasets[name].tables:
                if table in self._tables:
                    self._view(snapshot, table).create_view(table.name)
        self._connection.execute("SET schema = 'main'; SET lock_configuration = true")
        for table in self._tables:
            dataset = choose_dataset(store, table, snapshots)
            self._connection.execute(f'CREATE VIEW "{table.name}" AS FROM "{dataset.name}"."{table.name}"')
        for relation in self._relations:
            if relation.name in RELATIONS:
                parts = [each.definition for each in in_order([relation]) if each.name not in RELATIONS]
                head = f"WITH {', '.join(parts)}\n" if parts else ""
                self._connection.execute(f'CREATE VIEW "{relation.name}" AS {head}{dedent(relation.query)}')

    def _view(self, snapshot: StoreSnapshot, table: Table) -> DuckDBPyRelation:
        each_once = RowFilter(second_verdicts=snapshot.second_verdicts)
        rows = LittleAhead(snapshot.scan(table.name, with_dictionaries=True))
        relation = self._connection.from_arrow(each_once.narrow(rows, table))
        if self._window is None or "record_time" not in table.column_names:
            return relation
        return relation.filter(record_times_in(self._window))

    def run(self, query: str, settings: EngineSettings) -> QueryResult:
        """Run one query, and distinguish errors in the query from those of a file."""
        import duckdb

        try:
            relation = self._connection.sql(self._statement(query))
            _require_exact(relation)
            rows = run_with_progress(self._connection, relation.to_arrow_table)
        except duckdb.Error as error:
            failure = failure_of(error, (table.name for table in self._tables), settings)
            raise failure or _query_error(query, error) from error
        notes = (*_iter_notes(self._resolved, self._window), *_iter_missing(self._store, self._resolved, self._window))
        return QueryResult(_to_frame(rows, _declared_columns(self._tables)), notes)

    def _statement(self, query: str) -> Statement:
        statements = self._connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type.name not in ALLOWED_STATEMENTS:
            raise UsageError("lf.sql runs a single read-only SELECT.")
        return statements[0]


def _query_error(query: str, error: Exception) -> UsageError:
    """Return DuckDB's reason with a next step."""
    reason, unknown = str(error).partition("\n\n")[0], UNKNOWN_TABLE.search(str(error))
    if unknown:
        reason = reason.partition("\n")[0].rstrip("!.")  # DuckDB may suggest one of its system tables
        name = unknown[1].rpartition(".")[2].lower()
        close = difflib.get_close_matches(name, [*STORED_TABLES, *RELATIONS], 1)
        choices = f"{', '.join(sorted(STORED_TABLES))}, and the relations {', '.join(sorted(RELATIONS))}"
        step = (f"Did you mean {close[0]}? " if close else "") + f"Choose from {choices}."
        if name in STORED_TABLES or name in RELATIONS:
            step = f"Write FROM {name}, without a schema, and with the name outside of texts and functions."
    elif "Parser Error" in reason and BARE_OFFSET.search(_without_texts(query)):
        step = 'Write the column offset in quotes: "offset".'
    else:
        reason = SETTING_ADVICE.sub("", reason)
        is_about_columns = reason.startswith("Binder Error")
        step = "Change the query" + (", or run `describe TABLE` to see the columns of a table." if is_about_columns else ".")
    return UsageError(f"{' '.join(reason.split())} (DuckDB). {step}")


def _iter_notes(tables: Sequence[ResolvedTable], time_window: Window | None) -> Iterator[str]:
    for table in tables:
        if not table.is_stored:
            yield table.not_stored_message
        if table.other_datasets_note:
            yield f"{table.other_datasets_note}."
    provisional = [
        each.name for each in tables if any(_is_provisional(segment, each, time_window) for segment in each.snapshot.segments)
    ]
    if provisional:
        yield f"Rows of {', '.join(provisional)} are provisional (the next sync fetches them again)."


def _iter_missing(store: Store, tables: Sequence[ResolvedTable], time_window: Window | None) -> Iterator[str]:
    """Yield notes on rows that the window does not have or does not limit."""
    if time_window is None:
        return
    with_rows = [each for each in tables if each.is_stored]
    for resolved in with_rows:
        if "record_time" not in resolved.table.column_names:
            yield f"Table {resolved.name} has no record_time, so the window does not limit its rows."
    if time_window.since == START_OF_TIME:
        return
    for resolved in {each.dataset.name: each for each in with_rows if "record_time" in each.table.column_names}.values():
        missing = missing_times(store, resolved.snapshot, resolved.dataset.name, time_window)
        if note := missing_note(resolved, time_window, missing):
            yield note


def _is_provisional(segment: Segment, resolved: ResolvedTable, time_window: Window | None) -> bool:
    """Return whether a segment has provisional rows of a table that can be inside the window."""
    if segment.final or resolved.table.name not in segment.files:
        return False
    extent = segment.extent
    if time_window is None or not isinstance(extent, MigrationWindow):
        return True
    return extent.overlaps(MigrationWindow.of(extent.migration_id, time_window))


def _declared_columns(tables: Sequence[Table]) -> dict[str, Column]:
    """Return the columns that have the same declaration in all of these tables."""
    declarations: dict[str, set[Column]] = {}
    for table in tables:
        for column in table.columns:
            plain = replace(column, meaning="", reference="", unit="", missing=NULLS if column.nullable else "")
            declarations.setdefault(column.name, set()).add(plain)
    return {name: columns.pop() for name, columns in declarations.items() if len(columns) == 1}


def _require_exact(relation: DuckDBPyRelation) -> None:
    """Raise a UsageError for a repeated name, or a type that would lose precision."""
    names = relation.columns
    for name, duckdb_type in zip(names, map(str, relation.types), strict=True):
        if names.count(name) > 1:
            raise UsageError(f"The result has two columns named {name}. Alias one of them with AS.")
        if INEXACT.search(duckdb_type):
            step = f"Cast it, or leave it out with EXCLUDE ({name})."
            if "INTERVAL" in duckdb_type:
                step = "Use epoch_us(later) - epoch_us(earlier) for microseconds."
            raise UsageError(f"Column {name} has type {duckdb_type}, which has no exact dtype. {step}")


def _to_frame(rows: pa.Table, declared: dict[str, Column]) -> pd.DataFrame:
    """Convert the columns of a result to the types of this library."""
    names = rows.column_names
    values = [_to_exact_type(rows.column(name)) for name in names]
    columns = [_declare(name, each, declared.get(name)) for name, each in zip(names, values, strict=True)]
    arrays = [each.cast(column.type) for each, column in zip(values, columns, strict=True)]
    result = Table("result", "row of the result", "sql", tuple(columns), (), ())
    return result.to_pandas(pa.table(arrays, names=names))


def _to_exact_type(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cast values to the type of this library, times without a zone to no zone."""
    is_local = pa.types.is_timestamp(values.type) and values.type.tz is None
    return values.cast(pa.timestamp("us")) if is_local else to_library_type(values)


def _declare(name: str, values: pa.ChunkedArray, declared: Column | None) -> Column:
    """Return the tables' declaration of a result column if name and type match, or a new one."""
    arrow_type = values.type
    if declared is None or arrow_type != (TEXT if pa.types.is_dictionary(declared.type) else declared.type):
        return Column(name, arrow_type, "", "", missing=NULLS)
    return replace(declared, missing=declared.missing or (NULLS if values.null_count else ""))
