"""Batches of a table's files, and the errors for files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets._older_schemas import UnmappableError
from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.older_rows import OlderRows, Rows

# Errors of a damaged file. A wrong size in it needs too much memory, and a wrong encoding is not implemented.
READ_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)
BATCH_ROWS = 8_192  # rows with payloads are large
# A dataset would read up to 64 row groups before a query takes them, outside the limit of the query's memory.
FILES_AHEAD, BATCHES_AHEAD, BATCH_ROWS_AHEAD = 2, 2, 32_768
DAMAGED_SUFFIX = " (damaged)"  # of the path of a damaged file, which does not exist, so that only scans fail that open it
LOST_FILE_STEP = "Load again, or run `ledgerframes store verify --repair`."


def iter_batches(rows: Rows, columns: Sequence[str], expression: pc.Expression | None) -> Iterator[pa.RecordBatch]:
    """Iterate over the rows that match an expression, in order, one row group after the other.

    A scan of the whole dataset would read up to 1 GB ahead of a slow consumer; this one reads one fragment at a time.
    """
    if isinstance(rows, OlderRows):
        for batch in iter_batches(rows.files, rows.mapping.stored_columns(columns), expression):
            yield rows.mapping.apply(batch, columns)
        return
    for fragment in rows.get_fragments(expression):
        parts = fragment.split_by_row_group(expression) if isinstance(fragment, ds.ParquetFileFragment) else [fragment]
        for part in parts:
            selected = with_witness(rows.schema, columns)
            for batch in part.to_batches(schema=rows.schema, columns=selected, filter=expression, batch_size=BATCH_ROWS):
                yield batch.select(list(columns))


class LittleAhead(ds.UnionDataset):  # type: ignore[misc]
    """Rows of a dataset, of which a scan reads few before its consumer takes them."""

    def __init__(self, rows: ds.Dataset) -> None:
        super().__init__(rows.schema, [rows])

    def scanner(self, **options: Any) -> ds.Scanner:
        """Return a scan, which takes the options of a dataset."""
        ahead = {"fragment_readahead": FILES_AHEAD, "batch_readahead": BATCHES_AHEAD, "batch_size": BATCH_ROWS_AHEAD}
        return super().scanner(**ahead | options)


def read_rows(rows: Rows, columns: Sequence[str], expression: pc.Expression | None) -> pa.Table:
    """Read columns of the rows that match an expression, in order."""
    return rows.to_table(columns=with_witness(rows.schema, columns), filter=expression).select(list(columns))


def count_rows(rows: Rows, expression: pc.Expression | None) -> int:
    """Count the rows that match an expression, without reading any if there is none."""
    if expression is None:
        return int(rows.count_rows())
    return sum(batch.num_rows for batch in rows.to_batches(columns=rows.schema.names[:2], filter=expression))


def with_witness(schema: pa.Schema, columns: Sequence[str]) -> list[str]:
    """Return the columns to read, with a second one next to a single column.

    A damaged page header can change the number of values of its column. Arrow notices this by comparing columns.
    """
    return [*columns, next(name for name in schema.names if name not in columns)] if len(columns) == 1 else list(columns)


@contextmanager
def damage_as_store_error(table: str, location: Location | None) -> Iterator[None]:
    """Raise errors of reading a table as StoreError, and those of an object store as its own."""
    source = f"{table} of {location}" if location else table
    try:
        with location.translate_errors() if location else nullcontext():
            yield
    except FileNotFoundError as error:
        before, suffix, _ = str(error).partition(DAMAGED_SUFFIX)
        if suffix:
            path = before.rpartition("'")[2]
            raise damaged_file_error(source, f"{path} is not the file in the catalog") from error
        raise StoreError(f"A file of table {source} was pruned or lost: {error}. {LOST_FILE_STEP}") from error
    except UnmappableError as error:
        step = "Read it with the version of ledgerframes that wrote it."
        raise StoreError(f"A file of table {source} has a schema that this version cannot read: {error}. {step}") from error
    except READ_ERRORS as error:
        raise damaged_file_error(source, error) from error


def damaged_file_error(table: str, reason: object) -> StoreError:
    """Return the error for a file of a table that cannot be read."""
    return StoreError(
        f"A file of table {table} is damaged ({reason}). Run `ledgerframes store verify --repair` to fetch it again."
    )
