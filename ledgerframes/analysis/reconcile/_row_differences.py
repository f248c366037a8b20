"""Differences between rows of two sources, down to the members of their payloads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis.state.payloads import DECODER
from ledgerframes.engine import Query
from ledgerframes.engine.differences import DIFFERENT, EQUAL, EQUAL_VALUE
from ledgerframes.engine.query import run_batches
from ledgerframes.engine.results import to_pandas
from ledgerframes.frames import Frames

NUMBER = re.compile(r"-?\d+(\.\d+)?")


def compared(frames: Frames, query: Query, heads: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the rows of two sources in parts, with ``outcome`` and ``first_path``.

    The query is one of :func:`ledgerframes.engine.differences.differences`.

    The order of members does not count, and a null is the same as an absent member. Numbers that are equal but written
    differently have the outcome of an equal value. Members that this version does not know are compared if both sources send
    them.
    """
    for batch in run_batches(frames, query):
        yield to_pandas(pa.Table.from_batches([_compare_rows(batch)]).select([*heads, "outcome", "first_path"]))


def _compare_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with their outcome, and the path of their first difference."""
    outcome = batch["only_in"].fill_null(EQUAL).to_numpy(zero_copy_only=False).astype(np.int64)
    paths: list[str | None] = [None] * batch.num_rows
    for row in np.flatnonzero(pc.list_value_length(batch["different_columns"]).to_numpy(zero_copy_only=False)).tolist():
        outcome[row], paths[row] = _compare_row(batch, row)
    return batch.append_column("outcome", pa.array(outcome)).append_column("first_path", pa.array(paths, pa.string()))


def _compare_row(batch: pa.RecordBatch, row: int) -> tuple[int, str | None]:
    """Return the worst outcome of the cells of a row, and the first path that has it."""
    cells = (_compare_cell(name, *_payloads(batch, name, row)) for name in batch["different_columns"][row].as_py())
    return min(cells, key=lambda cell: cell[0])


def _payloads(batch: pa.RecordBatch, name: str, row: int) -> tuple[object, object]:
    """Return the texts of a payload in both sources, or none for other columns."""
    if f"ours_{name}" not in batch.schema.names:
        return None, None
    return batch[f"ours_{name}"][row].as_py(), batch[f"theirs_{name}"][row].as_py()


def _compare_cell(name: str, left: object, right: object) -> tuple[int, str | None]:
    """Return the outcome of two cells that differ, and the first path where they do.

    Only payloads have texts.
    """
    if name == "extra":
        left, right = left or "{}", right or "{}"
    if not (isinstance(left, str) and isinstance(right, str)):
        return DIFFERENT, name
    try:
        payloads = DECODER.decode(left), DECODER.decode(right)
    except msgspec.DecodeError:
        return DIFFERENT, name
    if name == "extra" and all(
        isinstance(each, dict) for each in payloads
    ):  # one source can have more around an update or a contract than the other
        payloads = _common_members(*payloads)
    differences = list(_differences(*payloads, "$"))
    if not differences:
        return EQUAL, None
    code, path = min(differences, key=lambda difference: difference[0])
    return code, f"{name}:{path}"


def _common_members(left: Any, right: Any) -> tuple[Any, Any]:
    names = left.keys() & right.keys()
    return {name: left[name] for name in names}, {name: right[name] for name in names}


def _differences(left: Any, right: Any, path: str) -> Iterator[tuple[int, str]]:
    """Yield the paths where two payloads differ, as names of members."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted(left.keys() | right.keys()):
            yield from _differences(left.get(name), right.get(name), f"{path}.{name}")
    elif isinstance(left, list) and isinstance(right, list):
        left, right = _without_trailing_nulls(left), _without_trailing_nulls(right)
        for number in range(max(len(left), len(right))):
            ours, theirs = (each[number] if number < len(each) else None for each in (left, right))
            yield from _differences(ours, theirs, f"{path}[{number}]")
    elif left != right or type(left) is not type(right):
        yield EQUAL_VALUE if _is_same_number(left, right) else DIFFERENT, path


def _without_trailing_nulls(items: list[Any]) -> list[Any]:
    end = next((number for number in range(len(items), 0, -1) if items[number - 1] is not None), 0)
    return items[:end]


def _is_same_number(left: object, right: object) -> bool:
    texts = [text for text in (left, right) if isinstance(text, str) and NUMBER.fullmatch(text)]
    return len(texts) == 2 and Decimal(texts[0]) == Decimal(texts[1])
