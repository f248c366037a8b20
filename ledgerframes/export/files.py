"""Export of tables to Parquet, CSV or JSON lines, batch by batch."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from ledgerframes.datasets import Column, Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.schema import TEXT
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames
from ledgerframes.frames.conditions import require_list
from ledgerframes.store.location import local_path

if TYPE_CHECKING:
    import pandas as pd

GROUP_ROWS = 25_000
GROUP_BYTES = 32_000_000
Writer = Callable[[Iterable[pa.RecordBatch], list[Column], BinaryIO], None]


def write_table(
    frames: Frames,
    table: str,
    target: str | Path,
    *,
    columns: Sequence[str] | None = None,
    overwrite: bool = False,
    escape_formulas: bool = True,
) -> int:
    """Write one table to one file, in the format of its suffix and batch by batch.

    The file appears complete or not at all.

    Parameters
    ----------
    frames : Frames
        Loaded, or from :func:`from_store`.
    table : str
        Name of a table of the frames.
    target : str or path
        ``.parquet``: as stored. ``.csv``: times in ISO 8601, lists as JSON text, a missing value empty and an empty text ``""``.
        In a file of one column, a missing value is ``""`` as well, because readers skip empty lines.
        ``.jsonl``: one object a line, decimals and times as text, columns of JSON text as JSON, a missing value null.
    columns : sequence of str, optional
        Only these columns, in this order.
    overwrite : bool, default False
        Replace an existing file.
    escape_formulas : bool, default True
        In CSV, put an apostrophe before a text that a spreadsheet would run as a formula, because it starts with
        ``=``, ``+``, ``-``, ``@``, their full-width forms, a tab or a line break.

    Returns
    -------
    int
        Number of rows written. Rows are sorted as declared, or in the order of their segments if they were looked up by id.

    Raises
    ------
    UsageError
        If there is no such table, column or directory, a column is repeated, the suffix is unknown, or the file exists.
    StoreError
        If the file cannot be written, or a file of the store is damaged.

    Notes
    -----
    Amounts are written with all digits, never through a float.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes import export
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="yesterday")
    >>> columns = ["update_id", "total_traffic_cost"]
    >>> export.write_table(frames, "traffic", "traffic.csv", columns=columns) == len(frames.traffic)
    True
    """
    require_frames(frames, "export.write_table")
    require_list(columns)
    path, spec = local_path("target", target, "Write the file here, then copy it."), table_spec(table)
    selected = _select_columns(spec, columns)
    writers: dict[str, Writer] = {
        ".parquet": _parquet,
        ".csv": partial(_csv, escape_formulas=escape_formulas),
        ".jsonl": _jsonl,
    }
    write = writers.get(path.suffix.lower())
    if write is None:
        raise UsageError(f"Unknown suffix {path.suffix!r} of {path.name}. Choose from {', '.join(writers)}.")
    if not path.parent.is_dir():
        raise UsageError(f"The directory {path.parent} does not exist. Create it, or choose another path.")
    if path.exists() and not overwrite:
        raise UsageError(f"{path} already exists. Choose another path or pass overwrite=True.")
    frames.scan(table)  # refuses an unknown table before a file is created
    count = 0

    def count_batches() -> Iterator[pa.RecordBatch]:
        nonlocal count
        for batch in frames.iter_batches(table, [column.name for column in selected]):
            count += batch.num_rows
            yield batch

    with _replace_atomically(path) as file:
        write(count_batches(), selected, file)
    return count


def write_csv(frame: pd.DataFrame, file: BinaryIO, *, escape_formulas: bool = True) -> None:
    r"""Write a DataFrame, such as the result of an analysis or a query, as CSV.

    Parameters
    ----------
    frame : DataFrame
    file : binary file
    escape_formulas : bool, default True
        Put an apostrophe before a text that a spreadsheet would run as a formula, as :func:`write_table` does.

    Raises
    ------
    UsageError
        If `frame` is not a DataFrame, has a named index, which would be lost, or has values that CSV cannot have, such as bytes.

    Notes
    -----
    Cells are those of :func:`write_table`. A duration is its number of seconds, and its column's name ends with ``_seconds``.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from ledgerframes import export
    >>> file = io.BytesIO()
    >>> export.write_csv(pd.DataFrame({"party": ["=1+1"], "requests": [2]}), file)
    >>> file.getvalue().decode().splitlines()
    ['"party","requests"', '"\'=1+1",2']
    """
    _require_plain(frame)
    durations = list(frame.select_dtypes("timedelta").columns)
    seconds = frame.assign(**{name: frame[name].dt.total_seconds() for name in durations})
    seconds = seconds.rename(columns={name: f"{name}_seconds" for name in durations})
    try:
        rows = pa.Table.from_pandas(seconds, preserve_index=False)
        _csv(rows.to_batches(), list(rows.schema), file, escape_formulas=escape_formulas)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise UsageError(f"Cannot write the frame as CSV: {error}. Convert that column to text first.") from error


def _require_plain(frame: object) -> None:
    """Refuse what is not a DataFrame, and one whose index would be lost."""
    if isinstance(frame, Frames):
        raise UsageError("frame= must be a DataFrame, got Frames. Write a table of frames with write_table.")
    import pandas as pd  # late, because the commands that write no frame do not need it

    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"frame= must be a DataFrame, got {type(frame).__name__}.")
    if names := [str(name) for name in frame.index.names if name is not None]:
        raise UsageError(f"frame= must have no named index, got {', '.join(names)}. Call reset_index() first.")


def _select_columns(spec: Table, columns: Sequence[str] | None) -> list[Column]:
    names = spec.select(columns)
    if not names:
        raise UsageError(f"columns= must not be empty. Choose from {', '.join(spec.column_names)}.")
    return [spec[name] for name in names]


@contextmanager
def _replace_atomically(path: Path) -> Iterator[BinaryIO]:
    """Write a temporary file that replaces the target when the block ends without an error."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise StoreError(f"Cannot write {path}: {error}. Choose another path.", path=str(path)) from error
        raise


# -- Parquet --------------------------------------------------------------------------------------------------------


def _parquet(batches: Iterable[pa.RecordBatch], columns: list[Column], file: BinaryIO) -> None:
    schema = pa.schema([column.arrow_field for column in columns])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(batches, schema):
            writer.write_table(group)


def _groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Combine batches until they fill a row group."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= GROUP_ROWS or sum(each.nbytes for each in waiting) >= GROUP_BYTES:
            yield pa.Table.from_batches(waiting).cast(schema)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting).cast(schema)


# -- text -----------------------------------------------------------------------------------------------------------


def _csv(
    batches: Iterable[pa.RecordBatch], columns: Sequence[Column | pa.Field], file: BinaryIO, *, escape_formulas: bool = True
) -> None:
    is_alone = len(columns) == 1  # its missing values would be empty lines, which readers skip
    is_text = [escape_formulas and not _is_bare(column.type) and not _is_number(column.type) for column in columns]
    names = pa.array([column.name for column in columns], TEXT)
    header = (escape_formula_cells(names) if escape_formulas else names).to_pylist()
    types = [column.type if _is_bare(column.type) and not is_alone else TEXT for column in columns]
    schema = pa.schema(list(zip(header, types, strict=True)))
    with csv.CSVWriter(file, schema) as writer:
        for batch in batches:
            cells = map(_cells, batch.columns)
            inert = [escape_formula_cells(each) if text else each for each, text in zip(cells, is_text, strict=True)]
            whole = [each.cast(TEXT).fill_null("") for each in inert] if is_alone else inert
            writer.write_table(pa.table(whole, schema=schema))


def escape_formula_cells(texts: pa.Array) -> pa.Array:
    """Return texts with an apostrophe before each that a spreadsheet would run as a formula."""
    return pc.replace_substring_regex(texts, r"\A([=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])", r"'\1")


def _is_number(arrow_type: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(arrow_type) or pa.types.is_timestamp(arrow_type) or pa.types.is_floating(arrow_type))


def _is_bare(arrow_type: pa.DataType) -> bool:
    """Return whether Arrow's own text of such values is correct."""
    return bool(pa.types.is_integer(arrow_type) or pa.types.is_boolean(arrow_type))


def _cells(values: pa.Array) -> pa.Array:
    if _is_bare(values.type):
        return values
    if pa.types.is_nested(values.type):
        return pa.array([None if each is None else msgspec.json.encode(each).decode() for each in values.to_pylist()], TEXT)
    return _as_text(values)


def _as_text(values: pa.Array) -> pa.Array:
    """Return texts, numbers and times as text."""
    if pa.types.is_timestamp(values.type):
        return pc.replace_substring(values.cast(TEXT), " ", "T")
    if pa.types.is_decimal(values.type):  # Arrow writes 0 as 0E-10
        return pa.array([None if each is None else format(each, "f") for each in values.to_pylist()], TEXT)
    if pa.types.is_floating(values.type):  # a division by 0 has no value
        return pc.if_else(pc.is_finite(values), values, None).cast(TEXT)
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
    """Return JSON digit for digit on one line, or the text if it is not JSON."""
    try:
        return msgspec.Raw(msgspec.json.format(text.encode(), indent=-1))
    except msgspec.DecodeError:
        return text
