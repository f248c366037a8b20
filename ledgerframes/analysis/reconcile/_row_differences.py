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

from ledgerframes.analysis._groups import Flags, Integers
from ledgerframes.analysis._requests import positions
from ledgerframes.analysis.state._payloads import DECODER
from ledgerframes.datasets import Column

ONLY_OURS, ONLY_THEIRS, DIFFERENT, EQUAL_VALUE, EQUAL = range(5)  # from worst to best
NUMBER = re.compile(r"-?\d+(\.\d+)?")


def compare_tables(ours: pa.Table, theirs: pa.Table, key: str, names: Sequence[str], columns: Sequence[Column]) -> pd.DataFrame:
    """Return the rows of either source with these columns, ``outcome`` and ``first_path``."""
    our_ids, their_ids = (rows[key].combine_chunks() for rows in (ours, theirs))
    matches, is_new = positions(our_ids, their_ids), positions(their_ids, our_ids) < 0
    in_both = np.flatnonzero(matches >= 0)
    outcome = np.append(np.full(ours.num_rows, ONLY_OURS), np.full(is_new.sum(), ONLY_THEIRS))
    paths = np.full(len(outcome), None, dtype=object)
    outcome[in_both], paths[in_both] = _compare_rows(columns, ours.take(in_both), theirs.take(matches[in_both]))
    heads = pa.concat_tables([ours.select([*names]), theirs.filter(pa.array(is_new)).select([*names])])
    rows = pd.DataFrame({name: heads[name].to_pandas() for name in names})
    return rows.assign(outcome=outcome, first_path=pd.Series(paths, dtype="str"))


def _compare_rows(columns: Sequence[Column], ours: pa.Table, theirs: pa.Table) -> tuple[Integers, Any]:
    """Return outcome and path of the first difference of each pair of rows.

    The order of members does not count, and a null is the same as an absent member. A number with other zeros is an equal
    value, because its text differs.
    """
    outcome: Integers = np.full(ours.num_rows, EQUAL)
    paths = np.full(ours.num_rows, None, dtype=object)
    for column in columns:
        left, right = _texts(ours[column.name]), _texts(theirs[column.name])
        for row in np.flatnonzero(~_is_same(left, right)).tolist():
            if outcome[row] > DIFFERENT:
                code, path = _compare_cell(column.name, left[row].as_py(), right[row].as_py(), is_json=column.is_json)
                if code < outcome[row]:
                    outcome[row], paths[row] = code, path
    return outcome, paths


def _texts(values: pa.ChunkedArray) -> pa.Array:
    """Return values as texts, a list as its items in order."""
    array = values.combine_chunks()
    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    return pc.binary_join(array.cast(pa.list_(pa.string())), "\n") if pa.types.is_list(array.type) else array


def _is_same(left: pa.Array, right: pa.Array) -> Flags:
    both_missing = pc.and_(pc.is_null(left), pc.is_null(right))
    is_same: Flags = pc.or_(pc.fill_null(pc.equal(left, right), False), both_missing).to_numpy(zero_copy_only=False)
    return is_same


def _compare_cell(name: str, left: object, right: object, *, is_json: bool) -> tuple[int, str | None]:
    """Return the outcome of two cells, and the first path that differs."""
    if not (is_json and isinstance(left, str) and isinstance(right, str)):
        return DIFFERENT, name
    try:
        differences = list(_differences(DECODER.decode(left), DECODER.decode(right), "$"))
    except msgspec.DecodeError:
        return DIFFERENT, name
    if not differences:
        return EQUAL, None
    code, path = min(differences, key=lambda difference: difference[0])
    return code, f"{name}:{path}"


def _differences(left: Any, right: Any, path: str) -> Iterator[tuple[int, str]]:
    """Yield the places where two payloads differ, by the names of their members."""
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
