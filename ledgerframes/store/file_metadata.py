"""Segments as the metadata of their files describe them, without a catalog."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ledgerframes.datasets.dataset import Dataset
from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.older_schemas import has_schema
from ledgerframes.store.scan import READ_ERRORS
from ledgerframes.store.segments import IDENTITY, IDENTITY_DIGEST, SegmentFile, open_parquet, read_footer_digest
from ledgerframes.store.verify import THREADS, UNREADABLE

NO_IDENTITY = "does not say what it covers"  # damaged, or written by 0.1.0
OTHER_SCHEMA = "of another schema"
OTHER_FOOTER = "footer differs from its rows"
INCOMPLETE = "of a segment that misses a file"


class _UnusableFileError(Exception):
    """A file that no segment can be read from, for the reason in the text."""


def read_segments(
    location: Location, datasets: Mapping[str, Dataset], paths: Sequence[str]
) -> tuple[list[tuple[int, Segment]], dict[str, str]]:
    """Return segments from intact files with the time of writing, and problems of other files."""
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(lambda path: _read_file(location, datasets, path), paths))
    problems: dict[str, str] = {}
    by_identity: dict[str, dict[str, SegmentFile]] = {}
    for path, result in zip(paths, results, strict=True):
        if isinstance(result, str):
            problems[path] = result
        else:
            by_identity.setdefault(result[0], {})[result[1].table] = result[1]
    segments = []
    for text, tables in by_identity.items():
        identity = json.loads(text)
        if tables.keys() == set(identity["tables"]):
            segments.append((identity["written_at"], _segment(datasets, identity, tables)))
        else:
            problems |= {file.path: INCOMPLETE for file in tables.values()}
    return segments, dict(sorted(problems.items()))


def _segment(datasets: Mapping[str, Dataset], identity: Mapping[str, Any], files: dict[str, SegmentFile]) -> Segment:
    catalog_range = None if identity["partition"] is None else (identity["partition"], identity["start"], identity["stop"])
    extent = datasets[identity["dataset"]].extent_type.from_catalog(catalog_range, frozenset(identity["keys"]))
    names = ("segment_id", "dataset", "status", "source", "fetched_at", "written_by", "fingerprint")
    return Segment(extent=extent, files=files, **{name: identity[name] for name in names})


def _read_file(location: Location, datasets: Mapping[str, Dataset], path: str) -> tuple[str, SegmentFile] | str:
    """Return what a file says about its segment with its own record, or what is wrong with it."""
    try:
        with location.translate_errors(), location.read(path) as source:
            size, digest = source.size(), hashlib.file_digest(source, "sha256").hexdigest()
            footer = read_footer_digest(source, size)
            parquet = open_parquet(source)
            identity = _read_identity(parquet)
            table = path.partition("/")[0]
            _require_table(datasets, json.loads(identity), table, parquet.schema_arrow)
            _check_rows(parquet)
            return identity, SegmentFile(table, path, parquet.metadata.num_rows, size, digest, footer)
    except _UnusableFileError as problem:
        return str(problem)
    except READ_ERRORS:
        return UNREADABLE


def _read_identity(parquet: pq.ParquetFile) -> str:
    metadata = parquet.metadata.metadata or {}
    text = metadata.get(IDENTITY.encode(), b"")
    if metadata.get(IDENTITY_DIGEST.encode(), b"").decode("ascii", "replace") != hashlib.sha256(text).hexdigest():
        raise _UnusableFileError(NO_IDENTITY)
    return str(text.decode())


def _require_table(datasets: Mapping[str, Dataset], identity: Mapping[str, Any], table: str, schema: pa.Schema) -> None:
    """Refuse a file of an unknown table, or without the schema that its segment has.

    A segment of another version stays in the catalog, whether or not this version can read it.
    """
    dataset = datasets.get(identity["dataset"])
    tables = {each.name: each for each in dataset.file_tables} if dataset else {}
    is_intact = table in tables and (schema.equals(tables[table].schema) or has_schema(identity["fingerprint"], schema))
    if not is_intact:
        raise _UnusableFileError(OTHER_SCHEMA)


def _check_rows(parquet: pq.ParquetFile) -> None:
    """Read every page, whose checksums Arrow compares, and compare the footer with the rows."""
    count = 0
    for number in range(parquet.num_row_groups):
        rows, group = parquet.read_row_group(number), parquet.metadata.row_group(number)
        count += rows.num_rows
        if rows.num_rows != group.num_rows or not all(_agrees(rows, group.column(each)) for each in range(group.num_columns)):
            raise _UnusableFileError(OTHER_FOOTER)
    if count != parquet.metadata.num_rows:
        raise _UnusableFileError(OTHER_FOOTER)


def _agrees(rows: pa.Table, column: pq.ColumnChunkMetaData) -> bool:
    """Return whether statistics, by which scans skip row groups, are those of the values."""
    statistics = column.statistics
    if statistics is None or column.path_in_schema not in rows.column_names:  # the values of a list have another path
        return True
    values = rows[column.path_in_schema]
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    bounds = pc.min_max(values).as_py() if statistics.has_min_max else None
    has_bounds = bounds is None or (bounds["min"], bounds["max"]) == (statistics.min, statistics.max)
    return has_bounds and (not statistics.has_null_count or statistics.null_count == values.null_count)
