"""Segments of other schemas, and the mappings by which their rows are read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import pyarrow as pa

from ledgerframes.datasets import Table
from ledgerframes.datasets.dataset import Dataset
from ledgerframes.datasets.older_schemas import SchemaMapping, UnmappableError
from ledgerframes.datasets.schema import fingerprint as fingerprint_of
from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.scan import READ_ERRORS
from ledgerframes.store.segments import open_parquet
from ledgerframes.values.extents import Extent
from ledgerframes.values.windows import Window

Result = TypeVar("Result")
DIGITS = 6  # of the fingerprint of a table, in that of its dataset


@dataclass(frozen=True)
class UnreadableSegment:
    """A segment whose rows another version has written in a schema that this one cannot read.

    Attributes
    ----------
    segment : Segment
    reason : str
    """

    segment: Segment
    reason: str

    @property
    def name(self) -> str:
        """Dataset and extent."""
        return f"{self.segment.dataset} {self.segment.extent}"


class Schemas(NamedTuple):
    """Fingerprints of schemas that this version can read, and of others with the reason."""

    readable: records.Fingerprints
    unreadable: Mapping[str, str]


# Results of this process, by location, fingerprint and table. Files never change.
_MAPPINGS: dict[tuple[Location, str, str], SchemaMapping | UnmappableError] = {}
_REASONS: dict[tuple[Location, str, str], str] = {}  # by location, dataset and fingerprint, empty for readable segments


def is_schema_of(fingerprint: str, table: Table) -> bool:
    """Return whether segments with a fingerprint have a table in the schema of this version.

    No fingerprint covers the side tables, which Arrow reads by itself.
    """
    return table.family == "bookkeeping" or table.fingerprint[:DIGITS] in fingerprint


def has_schema(fingerprint: str, schema: pa.Schema) -> bool:
    """Return whether segments with a fingerprint have a table of this schema."""
    return fingerprint_of(schema)[:DIGITS] in fingerprint


def mapping_of(location: Location, table: Table, fingerprint: str, paths: Iterable[str]) -> SchemaMapping:
    """Return the mapping by which the files of a table are read, for one fingerprint.

    Raises
    ------
    UnmappableError
        If they cannot be.
    OSError, ArrowException
        If no file is intact.
    """
    key = (location, fingerprint, table.name)
    if key not in _MAPPINGS:
        schema = _read_schema(location, paths)
        try:
            _MAPPINGS[key] = SchemaMapping.of(table, schema)
        except UnmappableError as error:
            _MAPPINGS[key] = error
    mapping = _MAPPINGS[key]
    if isinstance(mapping, UnmappableError):
        raise mapping
    return mapping


def _read_schema(location: Location, paths: Iterable[str]) -> pa.Schema:
    """Return the schema in the first file that is intact."""
    failure: Exception = FileNotFoundError("no file")
    for path in paths:
        try:
            with location.translate_errors(), location.read(path) as source:
                return open_parquet(source).schema_arrow
        except READ_ERRORS as error:
            failure = error
    raise failure


def find_schemas(connection: sqlite3.Connection, location: Location, dataset: Dataset) -> Schemas:
    """Return the schemas of the segments of a dataset, and that of this version."""
    others = [each for each in all_fingerprints(connection, dataset) if each != dataset.schema_fingerprint]
    reasons = {fingerprint: _reason(connection, location, dataset, fingerprint) for fingerprint in others}
    readable = [fingerprint for fingerprint, reason in reasons.items() if not reason]
    return Schemas((dataset.schema_fingerprint, *readable), {each: reason for each, reason in reasons.items() if reason})


def with_schemas(
    connection: sqlite3.Connection, location: Location, dataset: Dataset, query: Callable[..., Result], *arguments: object
) -> Result:
    """Return the result of a query about the segments that this version can read."""
    return query(connection, dataset, find_schemas(connection, location, dataset).readable, *arguments)


def find_segments(
    connection: sqlite3.Connection, location: Location, dataset: Dataset, overlapping: Window | Extent | None
) -> tuple[tuple[Segment, ...], tuple[UnreadableSegment, ...]]:
    """Return the segments that this version can read, and those that it cannot, in order."""
    schemas = find_schemas(connection, location, dataset)
    others = tuple(schemas.unreadable)
    unreadable = records.segments(connection, dataset, others, overlapping) if others else ()
    return (
        records.segments(connection, dataset, schemas.readable, overlapping),
        tuple(UnreadableSegment(segment, schemas.unreadable[segment.fingerprint]) for segment in unreadable),
    )


def _reason(connection: sqlite3.Connection, location: Location, dataset: Dataset, fingerprint: str) -> str:
    """Return why segments with a fingerprint cannot be read, empty if they can."""
    key = (location, dataset.name, fingerprint)
    if key not in _REASONS:
        try:
            _require_readable(connection, location, dataset, fingerprint)
        except UnmappableError as reason:
            _REASONS[key] = str(reason)
        except READ_ERRORS:
            return ""  # a load that needs them fails at the damaged file, as it does for segments of this schema
        else:
            _REASONS[key] = ""
    return _REASONS[key]


def _require_readable(connection: sqlite3.Connection, location: Location, dataset: Dataset, fingerprint: str) -> None:
    count, tables = len(fingerprint.split("-")), {table.name: table for table in dataset.file_tables}
    if count != len(dataset.tables):  # so that no table looks empty that did not exist
        raise UnmappableError(f"dataset {dataset.name} had {count} tables, and has {len(dataset.tables)}")
    for name in _table_names(connection, dataset, fingerprint):
        if name not in tables:
            raise UnmappableError(f"table {name} is unknown to this version")
        mapping_of(location, tables[name], fingerprint, _iter_paths(connection, dataset, fingerprint, name))


# -- queries of the catalog ------------------------------------------------------------------------------------------


def all_fingerprints(connection: sqlite3.Connection, dataset: Dataset) -> records.Fingerprints:
    """Return the fingerprints of the segments of a dataset, by a look into the index for each."""
    query = "SELECT min(fingerprint) FROM segments WHERE dataset = ? AND fingerprint > ?"
    fingerprints = [""]
    while (row := connection.execute(query, [dataset.name, fingerprints[-1]]).fetchone()) and row[0] is not None:
        fingerprints.append(str(row[0]))
    return tuple(fingerprints[1:])


def _table_names(connection: sqlite3.Connection, dataset: Dataset, fingerprint: str) -> list[str]:
    """Return the tables of which segments with a fingerprint have files."""
    query = f"SELECT DISTINCT table_name FROM files JOIN segments USING (segment_id) WHERE {records.OF_DATASET}"  # noqa: S608
    return sorted(name for (name,) in connection.execute(query, [dataset.name, json.dumps([fingerprint])]))


def _iter_paths(connection: sqlite3.Connection, dataset: Dataset, fingerprint: str, table: str) -> Iterator[str]:
    """Yield the paths of the files of a table that segments with a fingerprint have."""
    query = f"SELECT path FROM files JOIN segments USING (segment_id) WHERE {records.OF_DATASET} AND table_name = ?"  # noqa: S608
    yield from (path for (path,) in connection.execute(query, [dataset.name, json.dumps([fingerprint]), table]))
