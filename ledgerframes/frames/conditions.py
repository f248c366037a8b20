"""Conditions on rows that narrow frames."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import infer_dtype, is_bool_dtype

from ledgerframes.datasets import Column, Table
from ledgerframes.datasets.events.schema import EVENT_TABLES
from ledgerframes.datasets.schema import TEXT
from ledgerframes.errors import UsageError

Offsets = tuple[int, int]
Predicate = Callable[[pd.DataFrame], "pd.Series[bool]"]
ReadValues = Callable[[str], pa.ChunkedArray]

# The groupings of the analyses, by the columns that they group by.
GROUPING_COLUMNS = {"verdicts": {"participant": "submitting_participant_uid", "party": "submitting_parties"}}
PARTICIPANT_COLUMNS = frozenset({"submitting_participant_uid", "participant_id", "hosting_participant_id"})
PARTY_COLUMNS = frozenset(
    {
        "submitting_parties",
        "informees",
        "parties",
        "party",
        "acting_parties",
        "signatories",
        "observers",
        "witness_parties",
        "submitter",
    }
)
MAX_NEAR_MATCHES = 3


@dataclass(frozen=True)
class Condition:
    """A condition on the rows of one table."""

    table: Table
    predicate: Predicate | None
    columns: tuple[str, ...] | None  # columns that the predicate gets, None for all
    equal: Mapping[str, list[Any]]  # Accepted values by column. A list column matches if it contains one of them.

    @classmethod
    def of(cls, table: Table, predicate: Predicate | None, columns: Sequence[str] | None, equal: Mapping[str, Any]) -> Condition:
        """Return the condition of a call of :meth:`ledgerframes.Frames.where`."""
        if "update_id" not in table.column_names:
            raise UsageError(
                f"where() chooses updates, and {table.name} has no update_id. Filter the DataFrame frames.{table.name}."
            )
        require_list(columns)
        if columns is not None and predicate is None:
            raise UsageError("columns= names what the predicate gets. Pass a predicate, or column=value.")
        names = GROUPING_COLUMNS.get(table.name, {})
        lists = {name: list(value) if pd.api.types.is_list_like(value) else [value] for name, value in equal.items()}
        values = {names.get(name, name): each for name, each in lists.items()}
        table.select([*values, *(name for name in columns or () if name not in values)])
        if len(values) < len(equal):
            raise UsageError(f"Pass each column of {table.name} once, got {', '.join(equal)}.")
        return cls(table, predicate, None if columns is None else tuple(columns), values)

    @property
    def deciding_columns(self) -> tuple[str, ...] | None:
        """The columns that decide which rows match, or None if they are unknown."""
        if self.predicate is not None and self.columns is None:
            return None
        return (*(self.columns or ()), *self.equal)

    @property
    def columns_to_read(self) -> list[str] | None:
        """The columns to read, or None for all."""
        columns = self.deciding_columns
        return None if columns is None else list(dict.fromkeys(["update_id", *columns]))

    def matching_ids(self, rows: pd.DataFrame) -> pa.Array:
        """Return the update ids of the rows that match."""
        matches = pd.Series(True, index=rows.index)
        if self.predicate is not None:
            matches = _evaluate(self.predicate, rows if self.columns is None else rows[list(self.columns)])
        for name, values in self.equal.items():
            matches &= _is_equal(rows[name], self.table[name], values)
        return pa.array(rows.loc[matches, "update_id"].unique(), pa.string())

    def require_known(self, rows: pd.DataFrame, read_values: ReadValues) -> None:
        """Raise a UsageError for a party or participant that is in no row."""
        for name, values in self.equal.items():
            if name not in PARTY_COLUMNS | PARTICIPANT_COLUMNS:
                continue
            missing = {value for value in values if isinstance(value, str)} - _texts(pa.array(rows[name]))
            if missing and (unknown := missing - (known := _texts(read_values(name)))):
                raise _unknown_value_error(min(unknown), name, known)


def missing_table(table: str, tables: Sequence[str]) -> UsageError:
    """Return the error for a table that frames do not have."""
    step = "Pass frames of lf.load_events, or choose" if table in {each.name for each in EVENT_TABLES} else "Choose"
    return UsageError(f"These frames have no table {table!r}. {step} from {', '.join(tables)}.")


def require_list(columns: Sequence[str] | None) -> None:
    """Raise a UsageError unless columns are a list of names."""
    if isinstance(columns, str) or not isinstance(columns, Sequence | pd.Index | None):
        raise UsageError(f"columns= must be a list of column names, got {columns!r}.")


def _evaluate(predicate: Predicate, rows: pd.DataFrame) -> pd.Series[bool]:
    """Return the matches of a predicate. A missing value is not a match."""
    advice = "predicate must be a function that returns a boolean Series of the rows"
    if not callable(predicate):
        raise UsageError(f"{advice}, got {predicate!r}.")
    matches = predicate(rows)
    if not isinstance(matches, pd.Series) or not matches.index.equals(rows.index) or not _is_boolean(matches):
        kind = f"a Series of {matches.dtype}, or of other rows" if isinstance(matches, pd.Series) else type(matches).__name__
        raise UsageError(f"{advice}, got one that returns {kind}.")
    return matches.fillna(False).astype(bool)


def _is_boolean(values: pd.Series[Any]) -> bool:
    """Return whether all values are booleans or missing."""  # ~ makes numbers of an object Series, all of them true
    return is_bool_dtype(values) or infer_dtype(values, skipna=True) in ("boolean", "empty")


def _is_equal(column: pd.Series, declared: Column, values: list[Any]) -> pd.Series[bool]:
    """Return which rows have one of the values, or a list that contains one."""
    known = [each for each in values if not (pd.api.types.is_scalar(each) and pd.isna(each))]
    has_missing = len(known) < len(values)
    if pa.types.is_dictionary(declared.type):
        _require_categories(column, known if declared.nullable else values)
        matches = column.isin(known)
    elif pa.types.is_list(declared.type):
        matches = _contains(column, _items(declared, declared.type.value_type, known))
    else:
        items = _items(declared, declared.type, known)  # because a value of another type would match nothing
        # Such as a number of microseconds, which is a time.
        matches = column.isin(pd.Series(items.to_pandas(), dtype=column.dtype) if pa.types.is_timestamp(items.type) else known)
    return matches | column.isna() if has_missing else matches


def _contains(column: pd.Series, items: pa.Array) -> pd.Series[bool]:
    """Return which lists contain one of the items."""
    lists = pa.array(column)
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    contains = pc.is_in(pc.list_flatten(lists), value_set=items)
    matches = pd.Series(False, index=column.index)
    matches.iloc[pc.list_parent_indices(lists).filter(contains).to_numpy()] = True
    return matches


def _items(declared: Column, item_type: pa.DataType, values: list[Any]) -> pa.Array:
    """Return values that are not missing as those of a column, or raise a UsageError."""
    if item_type == TEXT and (invalid := [each for each in values if not isinstance(each, str)]):
        raise UsageError(f"{declared.name}= must be text, got {invalid[0]!r}.")
    times = [each for each in values if isinstance(each, datetime | np.datetime64)]
    if naive := [each for each in times if getattr(each, "tzinfo", None) is None]:
        raise UsageError(f"{declared.name}= must be times with a time zone, got {naive[0]!r}.")
    try:
        return pa.array(values, item_type)
    except (ValueError, TypeError, OverflowError) as error:  # also Arrow's errors, and that of half a surrogate pair
        raise UsageError(f"{declared.name}= must be values of type {item_type}, got {values!r}.") from error


def _require_categories(column: pd.Series, values: list[Any]) -> None:
    """Raise UsageError for a value outside a closed set."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = column.dtype.categories
        invalid = [value for value in values if value not in known]
        if invalid:
            raise UsageError(f"{invalid[0]!r} is not a value of column {column.name}. Choose from {', '.join(known)}.")


def _texts(values: pa.Array | pa.ChunkedArray) -> set[str]:
    items = pc.list_flatten(values) if pa.types.is_list(values.type) else values
    return {text for text in pc.unique(items).to_pylist() if text is not None}


def _unknown_value_error(value: str, column: str, known: Iterable[str]) -> UsageError:
    noun = "participant" if column in PARTICIPANT_COLUMNS else "party"
    matches = near_matches(value, known)
    step = f"Choose from {', '.join(map(repr, matches))}." if matches else f"Choose a value of column {column}."
    return UsageError(f"Unknown {noun} {value!r}. {step}")


def near_matches(value: str, known: Iterable[str]) -> list[str]:
    """Return the known ids that look most like a value, or like a name without fingerprint."""
    ids = sorted(known)
    if whole := difflib.get_close_matches(value, ids, MAX_NEAR_MATCHES):
        return whole
    by_name: dict[str, list[str]] = {}
    for each in ids:
        by_name.setdefault(each.partition("::")[0], []).append(each)
    names = difflib.get_close_matches(value.partition("::")[0], by_name, MAX_NEAR_MATCHES)
    return [each for name in names for each in by_name[name]][:MAX_NEAR_MATCHES]
