"""Batches of a table's files, and the errors for files that cannot be read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets.older_schemas import UnmappableError
from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.older_rows import OlderRows, Rows

# Errors of a damaged file. A wrong size in it needs too much memory, and a wrong encoding is not implemented.
READ_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)
BATCH_ROWS = 8_192  # rows with payloads are large
AHEAD = 2  # row groups that a scan reads before its consumer needs them, each in a thread
DAMAGED_SUFFIX = " (damaged)"  # suffix of the path of a damaged file, which does not exist, so that only scans that open it fail
REPAIR_STEP = "Run `ledgerframes store verify --repair` to fetch again what a service still has."
LOST_FILE_STEP = "Load again: another process may have pruned it. If the error stays, run `ledgerframes store verify --repair`."


def iter_batches(rows: Rows, columns: Sequence[str], expression: pc.Expression | None) -> Iterator[pa.RecordBatch]:
    """Iterate over the rows that match an expression, in order, one row group after the other.

    A scan of the whole dataset would read up to 1 GB ahead of a slow consumer. This one reads one fragment at a time.
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
    """Rows of a dataset, of which a scan reads a few row groups ahead of its consumer.

    Other scans read up to 1 GB ahead of a slow query, and the query's memory limit does not count that.
    """

    def __init__(self, rows: ds.Dataset) -> None:
        super().__init__(rows.schema, [rows])
        self.all_rows = rows
        self.condition: pc.Expression | None = None
        self.left_out: list[LeftOut] = []

    def __reduce__(self) -> tuple[Callable[..., LittleAhead], tuple[object, ...]]:
        """Return what makes a copy in this process or another one, with all filters."""
        return _narrowed_rows, (self.all_rows, self.condition, self.left_out)

    def filter(self, expression: pc.Expression) -> LittleAhead:
        """Return the rows that match an expression, too."""
        return self._narrowed(expression, _both(self.condition, expression), self.left_out)

    def without(self, left_out: LeftOut) -> LittleAhead:
        """Return the rows without a few."""
        return self._narrowed(left_out.others, self.condition, [*self.left_out, left_out])

    def _narrowed(self, expression: pc.Expression, condition: pc.Expression | None, left_out: list[LeftOut]) -> LittleAhead:
        narrowed: LittleAhead = super().filter(expression)
        narrowed.all_rows, narrowed.condition, narrowed.left_out = self.all_rows, condition, left_out
        return narrowed

    def scanner(self, **options: Any) -> ds.Scanner | LittleAheadScanner:
        """Return a scan with the options of that of a dataset."""
        if not set(options) <= {"columns", "filter"}:
            return super().scanner(**options)
        condition = _both(self.condition, options.get("filter"))
        return LittleAheadScanner(self.all_rows, super().scanner(**options), options.get("columns"), condition, self.left_out)


def _narrowed_rows(rows: ds.Dataset, condition: pc.Expression | None, left_out: Sequence[LeftOut]) -> LittleAhead:
    narrowed = LittleAhead(rows)
    if condition is not None:
        narrowed = narrowed.filter(condition)
    for each in left_out:
        narrowed = narrowed.without(each)
    return narrowed


@dataclass(frozen=True)
class LeftOut:
    """A few rows that a scan leaves out.

    Attributes
    ----------
    times : Array
        Their record times. Row groups without one of these times need no filter, and so no columns for it.
    others : Expression
        The filter of all other rows.
    """

    times: pa.Array
    others: pc.Expression

    def may_be_in(self, part: ds.Fragment) -> bool:
        """Return whether the statistics of a row group allow one of the times."""
        statistics = part.row_groups[0].statistics if isinstance(part, ds.ParquetFileFragment) else None
        if not statistics or "record_time" not in statistics:
            return True
        times = statistics["record_time"]
        is_near = pc.and_(pc.greater_equal(self.times, times["min"]), pc.less_equal(self.times, times["max"]))
        return bool(pc.any(is_near).as_py())


@dataclass(frozen=True)
class LittleAheadScanner:
    """A scan that reads a few row groups ahead."""

    rows: ds.Dataset
    whole: ds.Scanner
    columns: Sequence[str] | None
    condition: pc.Expression | None
    left_out: Sequence[LeftOut]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream."""
        return pa.RecordBatchReader.from_batches(self.whole.projected_schema, self._iter_batches())

    def _iter_batches(self) -> Iterator[pa.RecordBatch]:
        with ThreadPoolExecutor(AHEAD, thread_name_prefix="scan") as pool:
            pending: deque[Future[pa.Table]] = deque()
            for part in self._iter_row_groups():
                pending.append(pool.submit(self._read, part))
                if len(pending) > AHEAD:
                    yield from pending.popleft().result().to_batches()
            while pending:
                yield from pending.popleft().result().to_batches()

    def _read(self, part: ds.Fragment) -> pa.Table:
        condition = self.condition
        for each in self.left_out:
            if each.may_be_in(part):
                condition = _both(condition, each.others)
        return part.to_table(schema=self.rows.schema, columns=self.columns, filter=condition)

    def _iter_row_groups(self) -> Iterator[ds.Fragment]:
        for fragment in self.rows.get_fragments(self.condition):
            is_file = isinstance(fragment, ds.ParquetFileFragment)
            yield from fragment.split_by_row_group(self.condition) if is_file else [fragment]


def _both(left: pc.Expression | None, right: pc.Expression | None) -> pc.Expression | None:
    return right if left is None else left if right is None else left & right


def read_rows(rows: Rows, columns: Sequence[str], expression: pc.Expression | None) -> pa.Table:
    """Read columns of the rows that match an expression, in order."""
    return rows.to_table(columns=with_witness(rows.schema, columns), filter=expression).select(list(columns))


def count_rows(rows: Rows, expression: pc.Expression | None) -> int:
    """Count the rows that match an expression, without reading any if there is none."""
    if expression is None:
        return int(rows.count_rows())
    return sum(batch.num_rows for batch in rows.to_batches(columns=rows.schema.names[:2], filter=expression))


def max_rows(rows: Rows, expression: pc.Expression | None) -> int:
    """Return the number of rows in the row groups in which an expression may match."""
    if expression is None:
        return int(rows.count_rows())
    files = rows.files if isinstance(rows, OlderRows) else rows
    return sum(_max_rows_of(fragment, expression) for fragment in files.get_fragments(expression))


def _max_rows_of(fragment: ds.Fragment, expression: pc.Expression) -> int:
    if not isinstance(fragment, ds.ParquetFileFragment):
        return int(fragment.count_rows())
    return sum(group.num_rows for part in fragment.split_by_row_group(expression) for group in part.row_groups)


def with_witness(schema: pa.Schema, columns: Sequence[str]) -> list[str]:
    """Return the columns to read, with a second one next to a single column.

    A damaged page header can change the number of values in its column. Arrow notices this by comparing columns.
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
    text = " ".join(str(reason).split())
    return StoreError(f"A file of table {table} is damaged ({text}). {REPAIR_STEP}")
