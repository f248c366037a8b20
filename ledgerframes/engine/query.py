"""Queries over stored tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pandas as pd
import pyarrow as pa

from ledgerframes.engine.connection import connected
from ledgerframes.engine.failures import failure_of
from ledgerframes.engine.file_scan import FileScan
from ledgerframes.engine.relation import Relation, in_order, tables_of
from ledgerframes.engine.results import to_pandas
from ledgerframes.engine.tables import Tables, max_rows_of, table_rows
from ledgerframes.engine.waiting import run_with_progress

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH_ROWS = 100_000
OTHER = "other_"
NO_PARAMETERS: Mapping[str, pa.Table] = {}


Source = tuple[Tables, str]  # where a table comes from, and its name there
NO_SOURCES: Mapping[str, Source] = {}


@dataclass(frozen=True)
class Query:
    """A query of one result.

    Attributes
    ----------
    select : str
        The ``SELECT``, which names relations and parameters.
    relations : tuple of Relation
        Relations that it names.
    parameters : mapping of str to Table
        Small tables that the caller passed, such as labels, by the names that relations use.
    sources : mapping of str to Source
        Tables of other frames, such as the second frames of a comparison, by the names that relations use.
    """

    select: str
    relations: tuple[Relation, ...]
    parameters: Mapping[str, pa.Table] = field(default_factory=lambda: NO_PARAMETERS)
    sources: Mapping[str, Source] = field(default_factory=lambda: NO_SOURCES)

    def source(self, tables: Tables, name: str) -> Source:
        """Return where a table comes from."""
        return self.sources.get(name, (tables, name))

    @property
    def tables(self) -> list[str]:
        """Stored tables that the query reads."""
        return [name for name in tables_of(self.relations) if name not in self.parameters]

    @property
    def text(self) -> str:
        """The statement, which reads tables by their names."""
        return self.text_without(())

    def text_without(self, names: Collection[str]) -> str:
        """Return the statement without the definitions of relations that are already tables."""
        definitions = ",\n\n".join(each.definition for each in in_order(self.relations, without=names))
        return f"WITH\n{definitions}\n\n{self.select}" if definitions else self.select


def of_other(relation: Relation) -> Relation:
    """Return the same relation over the second frames of a comparison.

    The names of tables of these frames start with ``other_``.
    """
    tables = tables_of([relation])
    renamed = [Relation(name, f"Table {name} of the other side.", f"FROM {OTHER}{name}") for name in tables]
    definitions = ",\n".join(each.definition for each in [*renamed, *in_order([relation])])
    query = f"WITH\n{definitions}\nFROM {relation.name}"
    return Relation(f"{OTHER}{relation.name}", relation.rows, query, tuple(f"{OTHER}{name}" for name in tables))


def other_sources(tables: Iterable[str], other: Tables) -> dict[str, Source]:
    """Return where the tables of the other side of a comparison come from."""
    return {f"{OTHER}{name}": (other, name) for name in tables}


def run(tables: Tables, query: Query) -> pd.DataFrame:
    """Run a query over stored tables.

    Raises
    ------
    UsageError
        If a table does not exist, an integer is beyond 64 bits, or the query needs more memory than its settings allow.
    StoreError
        If a file of the store is damaged.
    """
    return to_pandas(run_arrow(tables, query))


def run_arrow(tables: Tables, query: Query) -> pa.Table:
    """Run a query, and return the result as an Arrow table."""
    return _run(tables, query, _shared_tables(tables, query))


def run_batches(tables: Tables, query: Query) -> Iterator[pa.RecordBatch]:
    """Run a query whose result is large, and yield it in parts.

    The first part has the columns but no rows.
    """
    with _running(tables, query, {}) as connection:
        reader = run_with_progress(connection, lambda: connection.sql(query.text).to_arrow_reader(BATCH_ROWS))
        yield pa.RecordBatch.from_pylist([], reader.schema)
        while (batch := run_with_progress(connection, lambda: next(reader, None))) is not None:
            yield batch


def _run(tables: Tables, query: Query, shared: Mapping[str, pa.Table]) -> pa.Table:
    """Run a query over stored tables, and over relations whose rows are known."""
    with _running(tables, query, shared) as connection:
        return run_with_progress(connection, connection.sql(query.text_without(shared)).to_arrow_table)


@contextmanager
def _running(tables: Tables, query: Query, shared: Mapping[str, pa.Table]) -> Iterator[DuckDBPyConnection]:
    """Open a connection with the tables of a query, and raise failures as our errors."""
    names = [name for name in tables_of(query.relations, without=shared) if name not in query.parameters]
    rows_of = {name: table_rows(*query.source(tables, name)) for name in names}
    directories = frozenset(rows.directory for rows in rows_of.values() if isinstance(rows, FileScan))
    with connected(tables.engine, directories) as connection:
        import duckdb

        try:
            for name, rows in {**rows_of, **shared, **query.parameters}.items():
                if isinstance(rows, FileScan):
                    rows.create_view(connection, name)
                else:
                    connection.register(name, rows)
            yield connection
        except duckdb.Error as error:
            failure = failure_of(error, names, tables.engine)
            if failure is None:
                raise
            raise failure from error


# -- shared rows --------------------------------------------------------------------------------------------------------

# To join the requests and to find their first nodes takes most of the time of a query over few requests. Half a million requests
# take about 70 MB, and the first nodes of as many updates about 110 MB.
MAX_SHARED_ROWS = 500_000
_shared: WeakKeyDictionary[Tables, dict[str, pa.Table | None]] = WeakKeyDictionary()


def _shared_tables(tables: Tables, query: Query) -> dict[str, pa.Table]:
    """Return the rows of shared relations that are few and come only from stored tables."""
    passed = {*query.parameters, *query.sources}
    relations = [each for each in in_order(query.relations) if each.is_shared and passed.isdisjoint(tables_of([each]))]
    shared = {each.name: shared_rows(tables, each) for each in relations}
    return {name: rows for name, rows in shared.items() if rows is not None}


def shared_rows(tables: Tables, relation: Relation) -> pa.Table | None:
    """Return the rows of a relation, or None if they may be many.

    They are read once, and live as long as the tables.
    """
    known = _shared.setdefault(tables, {})
    if relation.name not in known:
        is_small = sum(max_rows_of(tables, name) for name in relation.bounded_by or tables_of([relation])) <= MAX_SHARED_ROWS
        known[relation.name] = _run(tables, Query(f"FROM {relation.name}", (relation,)), {}) if is_small else None
    return known[relation.name]
