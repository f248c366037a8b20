"""Reading files of a table: a few rows at a time, and what is said of a file that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location

BATCH_ROWS = 8_192  # rows with payloads are large
GONE = "It was pruned or lost: load again; if that fails too, `ledgerframes store verify --repair`."


def batches(rows: ds.Dataset, columns: Sequence[str], expression: pc.Expression | None) -> Iterator[pa.RecordBatch]:
    """The rows that an expression lets pass, in order, one row group after the other.

    A scan of the whole dataset would read up to 1 GB ahead of a slow consumer; it does not read past the end of a fragment.
    """
    for fragment in rows.get_fragments(expression):
        for part in _row_groups(fragment, expression):
            yield from part.to_batches(schema=rows.schema, columns=list(columns), filter=expression, batch_size=BATCH_ROWS)


def _row_groups(fragment: ds.Fragment, expression: pc.Expression | None) -> Sequence[ds.Fragment]:
    """The parts of a file that can have such rows."""
    return fragment.split_by_row_group(expression) if isinstance(fragment, ds.ParquetFileFragment) else [fragment]


@contextmanager
def damage_named(table: str, place: Location | None) -> Iterator[None]:
    """A damaged file is the store's fault, with a next step; a bucket that does not answer is not damage."""
    try:
        with place.asking() if place else nullcontext():
            yield
    except FileNotFoundError as error:
        raise StoreError(f"A file of table {table} is gone ({error}). {GONE}") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise damaged(table, error) from error


def damaged(table: str, reason: object) -> StoreError:
    """The error for a file of a table that cannot be read."""
    step = "`ledgerframes store verify --repair` fetches its range again."
    return StoreError(f"A file of table {table} is damaged ({reason}). {step}")
