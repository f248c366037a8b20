"""Tables as one file for other tools: Parquet, CSV or JSON lines, written batch by batch."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from ledgerframes.datasets import Column, Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets._schema import TEXT
from ledgerframes.errors import CoverageError, StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.store import BULK, EVENTS, MigrationWindow, ObjectSet, Store, StoreSnapshot, plan_missing
from ledgerframes.store.table_source import Reading, reading_of, snapshots_of, split_name
from ledgerframes.windows import Time, Window, window

if TYPE_CHECKING:
    from ledgerframes.network import Network

__all__ = ["stored", "write"]

GROUP_ROWS = 25_000
GROUP_BYTES = 32_000_000


def stored(
    net: Network,
    table: str,
    *,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    partial: bool = False,
) -> Frames:
    """What the store holds of one table, as Frames; nothing is fetched.

    Parameters
    ----------
    net : Network
    table : str
        A table that the store keeps, such as ``updates``. Where several kinds of reading fill it, the first of them that holds
        rows, in the order of :func:`ledgerframes.sql`; ``bulk.updates`` names the kind.
    since, until : str, date or datetime, optional
        Half-open range of record times, UTC; until is now by default. Without a range, all of it.
    during : str, optional
        A date word instead, such as ``last-week``.
    partial : bool
        Take what there is, even if that is not all of the range.

    Returns
    -------
    Frames
        With this one table.

    Raises
    ------
    UsageError
        If the store keeps no such table, its rows have no record time and a range is asked, or it is a participant's ledger that
        is held through several filters.
    CoverageError
        If the store holds nothing of it, or does not hold all of the range.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes import export
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> export.stored(net, "traffic", during="2026-11-08").traffic.equals(frames.traffic)
    True
    """
    asked = None if (since, until, during) == (None, None, None) else window(net.now(), since, until, during)
    return _held(net.store, reading_in(net.store, table), asked, partial)


def reading_in(store: Store, name: str) -> Reading:
    """What a name such as ``updates`` or ``bulk.updates`` stands for in a store."""
    _, table = split_name(name)
    return reading_of(name, snapshots_of(store, [table]))


def _held(store: Store, reading: Reading, asked: Window | None, partial: bool) -> Frames:
    if asked and "record_time" not in reading.table.column_names:
        raise UsageError(
            f"Table {reading.name} has no record_time, so no range of it can be asked. Leave since, until and during out."
        )
    reading.require_one_view()
    if not partial:
        _require_held(store, reading, asked)
    return Frames(reading.snapshot, [reading.table.name], window=asked)


def _require_held(store: Store, reading: Reading, asked: Window | None) -> None:
    if not reading.held:
        raise CoverageError(reading.nothing_held, missing=(str(asked) if asked else reading.name,))
    missing = _missing(store, reading.snapshot, reading.dataset.name, asked) if asked else ()
    if missing == ():
        return
    step = f"{_elsewhere(store, reading, asked)}Take what there is with partial (--partial)"
    if missing is None:
        raise CoverageError(
            f"Table {reading.name} was read as {reading.dataset.name}, not by record time: it is not known whether all of "
            f"{asked} is there. {step}, or leave the range out.",
            missing=(str(asked),),
        )
    raise CoverageError(
        f"The store lacks {'; '.join(missing)}. {step}, or fetch it with `ledgerframes sync {reading.dataset.name}`.",
        missing=missing,
    )


def _missing(store: Store, snapshot: StoreSnapshot, dataset: str, asked: Window) -> tuple[str, ...] | None:
    """The parts of a range that a dataset lacks; None where nobody can know, because it was not read by record time."""
    extents = [segment.extent for segment in snapshot.segments]
    if dataset == EVENTS.name:
        known = store.migrations()
        return tuple(str(span) for span in plan_missing(asked, known, extents)) if known else (str(asked),)
    if dataset == BULK.name:
        whole = [MigrationWindow(0, each.start, each.stop) for each in extents if isinstance(each, ObjectSet) and each.is_folder]
        return tuple(str(span.window) for span in MigrationWindow.of(0, asked).difference(whole))
    return None


def _elsewhere(store: Store, reading: Reading, asked: Window | None) -> str:
    """Where else all of a range is, in words."""
    snapshots = snapshots_of(store, [reading.table]) if asked else {}
    covering = [
        f"{name}.{reading.table.name}"
        for name, snapshot in snapshots.items()
        if asked and name != reading.dataset.name and snapshot.segments and _missing(store, snapshot, name, asked) == ()
    ]
    return f"All of it is in {' and in '.join(covering)}: ask for that. " if covering else ""


def write(frames: Frames, table: str, target: str | Path, *, columns: Sequence[str] | None = None, force: bool = False) -> int:
    """Write one table as one file; the suffix says how. Memory stays bounded, and the file is there whole or not at all.

    Parameters
    ----------
    frames : Frames
        Loaded, or from :func:`stored`.
    table : str
        Name of a table of the frames.
    target : str or path
        ``.parquet``: as stored. ``.csv``: times in ISO 8601, lists as JSON text, a missing value empty and an empty text ``""``.
        ``.jsonl``: one object a line, decimals and times as text, columns that hold JSON as JSON, a missing value null.
    columns : sequence of str, optional
        Only these columns, in this order.
    force : bool
        Replace a file that is there.

    Returns
    -------
    int
        Rows written: sorted as declared, or in the order of asking where the rows were looked up by id.

    Raises
    ------
    UsageError
        If there is no such table, column or folder, a column is named twice, the suffix is not known, or the file is there
        already.
    StoreError
        If the file cannot be written, or a file of the store is damaged.

    Notes
    -----
    Source: design, The store. Amounts are written with all their digits, never through a float.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes import export
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="yesterday")
    >>> export.write(frames, "traffic", "traffic.csv", columns=["update_id", "total_traffic_cost"]) == len(frames.traffic)
    True
    """
    path, spec = Path(target), table_spec(table)
    chosen = _chosen(spec, columns)
    if path.suffix.lower() not in WRITERS:
        raise UsageError(f"{path.name} has no suffix that says how to write it. Use {', '.join(WRITERS)}.")
    if not path.parent.is_dir():
        raise UsageError(f"The folder {path.parent} is not there. Make it, or give a file in another one.")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already. Give another name, or replace it with force (--force).")
    frames.scan(table)  # refuses what is not there before a file is made
    batches = _Counted(frames.iter_batches(table, [column.name for column in chosen]))
    with _put_in_place(path) as file:
        WRITERS[path.suffix.lower()](batches, chosen, file)
    return batches.rows


def _chosen(spec: Table, columns: Sequence[str] | None) -> list[Column]:
    names = spec.select(columns)
    if not names:
        raise UsageError(f"No column was asked for. Columns: {', '.join(spec.column_names)}.")
    return [spec[name] for name in names]


@contextmanager
def _put_in_place(path: Path) -> Iterator[BinaryIO]:
    """A file beside the target that takes its place when the block ends without an error."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):
            raise StoreError(f"{path} cannot be written ({error}). Give another file.", path=str(path)) from error
        raise


class _Counted:
    """The batches of a table, counted as they pass."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self.rows = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            self.rows += batch.num_rows
            yield batch


# -- Parquet --------------------------------------------------------------------------------------------------------


def _parquet(batches: Iterable[pa.RecordBatch], columns: list[Column], file: BinaryIO) -> None:
    schema = pa.schema([column.arrow_field for column in columns])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(batches, schema):
            writer.write_table(group)


def _groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Batches put together until they are worth a row group."""
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        gathered.append(batch)
        if sum(each.num_rows for each in gathered) >= GROUP_ROWS or sum(each.nbytes for each in gathered) >= GROUP_BYTES:
            yield pa.Table.from_batches(gathered).cast(schema)
            gathered = []
    if gathered:
        yield pa.Table.from_batches(gathered).cast(schema)


# -- text -----------------------------------------------------------------------------------------------------------


def _csv(batches: Iterable[pa.RecordBatch], columns: list[Column], file: BinaryIO) -> None:
    schema = pa.schema([(column.name, column.type if _is_bare(column.type) else TEXT) for column in columns])
    with csv.CSVWriter(file, schema) as writer:
        for batch in batches:
            writer.write_table(pa.table([_cells(values) for values in batch.columns], schema=schema))


def _is_bare(kind: pa.DataType) -> bool:
    """Whether Arrow writes such values well by itself."""
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _cells(values: pa.Array) -> pa.Array:
    if _is_bare(values.type):
        return values
    if pa.types.is_list(values.type):
        return pa.array([None if each is None else msgspec.json.encode(each).decode() for each in values.to_pylist()], TEXT)
    return _as_text(values)


def _as_text(values: pa.Array) -> pa.Array:
    """Texts, times and amounts as text."""
    if pa.types.is_timestamp(values.type):
        return pc.replace_substring(values.cast(TEXT), " ", "T")
    if pa.types.is_decimal(values.type):  # Arrow would write a small one as 0E-10
        return pa.array([None if each is None else format(each, "f") for each in values.to_pylist()], TEXT)
    return values.cast(TEXT)


def _jsonl(batches: Iterable[pa.RecordBatch], columns: list[Column], file: BinaryIO) -> None:
    names = [column.name for column in columns]
    encoder = msgspec.json.Encoder()
    for batch in batches:
        cells = [_members(values, column) for values, column in zip(batch.columns, columns, strict=True)]
        file.write(encoder.encode_lines([dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]))


def _members(values: pa.Array, column: Column) -> list[Any]:
    if _is_bare(values.type) or pa.types.is_list(values.type):
        return list(values.to_pylist())
    texts = list(_as_text(values).to_pylist())
    return [text and _embedded(text) for text in texts] if column.is_json else texts


def _embedded(text: str) -> Any:
    """JSON as it came, digit for digit, on one line; what is not JSON stays text."""
    try:
        return msgspec.Raw(msgspec.json.format(text.encode(), indent=-1))
    except msgspec.DecodeError:
        return text


Writer = Callable[[Iterable[pa.RecordBatch], list[Column], BinaryIO], None]
WRITERS: dict[str, Writer] = {".parquet": _parquet, ".csv": _csv, ".jsonl": _jsonl}
