"""Tables, frames and a small network for tests of code that uses this library.

Examples
--------
>>> from ledgerframes import testing
>>> traffic = testing.table("traffic").sample(3, total_traffic_cost=[100, 250, 50])
>>> traffic["total_traffic_cost"].tolist()
[100, 250, 50]
>>> frames = testing.frames_of(traffic=traffic, verdicts=[{"update_id": "a"}])
>>> len(frames.verdicts)
1
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, get_args

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.datasets import TABLES, Column, Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.datasets.population import Population
from ledgerframes.datasets.schema import SMALL
from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.frames import Frames, MemoryFrameSource
from ledgerframes.network import Network, connect
from ledgerframes.values.checks import is_integer
from ledgerframes.values.windows import Window, instant

__all__ = ["START", "SampleTable", "frames_of", "small_network", "table"]


def __dir__() -> list[str]:
    return __all__


START = datetime(2026, 11, 8, tzinfo=UTC)

Values: TypeAlias = object | Sequence[object] | Callable[[int], object]
Rows: TypeAlias = pd.DataFrame | pa.Table | Iterable[Mapping[str, object]]

# Columns that have one value in all rows of a sample, because these rows belong together.
CONSTANTS: dict[str, object] = {
    "migration_id": 4,
    "participant_id": "participant::1220aa",
    "submitting_participant_uid": "participant::1220aa",
    "synchronizer_id": "synchronizer::1220aa",
    "dso": "dso::1220aa",
    "package_id": "a1b2c3",
    "template_id": "a1b2c3:Main:Asset",
    "template_name": "Main:Asset",
    "package_name": "main",
}


@dataclass(frozen=True)
class SampleTable:
    """Maker of valid rows of one table, for tests.

    Attributes
    ----------
    spec : Table
        Declaration of the table.
    """

    spec: Table

    def sample(self, rows: int | Sequence[int], /, **columns: Values) -> pd.DataFrame:
        """Return a DataFrame of plausible rows with distinct keys.

        Values depend only on the number of the row, so two samples of the same rows are equal. Times increase, the values of
        closed sets alternate, and the unknown members (``extra``) are missing.

        Parameters
        ----------
        rows : int or sequence of int
            Number of rows, or the numbers of the rows.
        **columns
            Values instead of the sampled ones: one value for all rows, a list with one value per row, or a function of the
            row's number. For a column of lists, one list is the value in all rows.

        Returns
        -------
        DataFrame
            One row per number, in the order of the numbers.

        Raises
        ------
        UsageError
            If a column is unknown, its list has another length, or a value is not of its type or missing where none can be.

        Examples
        --------
        >>> from ledgerframes import testing
        >>> testing.table("envelopes").sample(2, traffic_cost=lambda row: 10 * row)["traffic_cost"].tolist()
        [0, 10]
        """
        return self.spec.to_pandas(self.sample_arrow(rows, **columns))

    def sample_arrow(self, rows: int | Sequence[int], /, **columns: Values) -> pa.Table:
        """Return the rows of :meth:`sample` as an Arrow table."""
        self.spec.select(list(columns))
        numbers = _row_numbers(rows)
        arrays = {
            column.name: _array(column, numbers, columns.get(column.name, functools.partial(_sampled, self.spec, column)))
            for column in self.spec.columns
        }
        return _from_arrays(self.spec, arrays)

    def fill(self, rows: Iterable[Mapping[str, object]]) -> pa.Table:
        """Return rows for which only some columns are given.

        Parameters
        ----------
        rows : iterable of mapping
            Values by column. Other columns are missing, or have a sampled value if they cannot be missing.

        Returns
        -------
        Table
            One row per mapping, in the same order.

        Raises
        ------
        UsageError
            If a column is unknown, or a value is not of its type or missing where none can be.

        Examples
        --------
        >>> from ledgerframes import testing
        >>> testing.table("traffic").fill([{"update_id": "a", "total_traffic_cost": 5}])["extra"].to_pylist()
        [None]
        """
        mappings = list(rows) if isinstance(rows, Iterable) and not isinstance(rows, Mapping) else None
        if mappings is None or not all(isinstance(row, Mapping) for row in mappings):
            raise UsageError(f"rows of {self.spec.name} must be a list of mappings, got {rows!r}.")
        self.spec.select(list(dict.fromkeys(name for row in mappings for name in row)))
        columns = {column.name: _to_array(column, _filled(self.spec, column, mappings)) for column in self.spec.columns}
        return _from_arrays(self.spec, columns)


def table(name: str) -> SampleTable:
    """Return the maker of rows of one table.

    Parameters
    ----------
    name : str
        Name of the table, such as ``traffic``.

    Raises
    ------
    UsageError
        If the table is unknown.
    """
    return SampleTable(table_spec(name))


def frames_of(
    *,
    window: Window | None = None,
    coverage: Iterable[Mapping[str, object]] | None = None,
    network: str = "test",
    population: Population = "all",
    **tables: Rows,
) -> Frames:
    """Return frames over tables in memory.

    Parameters
    ----------
    window : Window, optional
        The window that the frames cover.
    coverage : iterable of mapping, optional
        Rows of ``frames.coverage``. One final row over `window` by default, none without a window.
    network : str, default "test"
        Name of the network.
    population : {"all", "chosen", "committed"}
        The requests that the rows represent.
    **tables
        Rows of each table: a DataFrame, an Arrow table, or mappings as for :meth:`SampleTable.fill`. The frames have every
        table of this package, and the other tables are empty.

    Raises
    ------
    UsageError
        If a table or column is unknown, or a value is not of its type or missing where none can be.
    """
    if population not in get_args(Population):
        raise UsageError(f"Unknown population {population!r}. Choose from {', '.join(get_args(Population))}.")
    arrow = {name: _to_arrow(table(name), rows) for name, rows in tables.items()}
    if coverage is None and window is not None:
        facts = {"status": "final", "rows": sum(rows.num_rows for rows in arrow.values()), "source": "file"}
        coverage = [{"migration_id": None, "since": window.since, "until": window.until, **facts}]
    covered = COVERAGE.to_pandas(SampleTable(COVERAGE).fill(coverage)) if coverage is not None else None
    return Frames(MemoryFrameSource(arrow, network, covered), list(TABLES), window=window, population=population)


def small_network(store: str | os.PathLike[str], *, events: int = 400, days: int = 1, **settings: Any) -> Network:
    """Connect to a sandbox of few events that runs in this process.

    Parameters
    ----------
    store : str or path
        Root of the store, such as the ``tmp_path`` of pytest.
    events : int, default 400
        Number of events of the sandbox.
    days : int, default 1
        Number of days. The last one ends on 2026-11-09.
    **settings
        Other settings, as for :func:`ledgerframes.connect`.

    Examples
    --------
    >>> import tempfile
    >>> import ledgerframes as lf
    >>> from ledgerframes import testing
    >>> with tempfile.TemporaryDirectory() as root, testing.small_network(root) as net:
    ...     len(lf.load_events(net, during="2026-11-08").verdicts) > 300
    True
    """
    return connect("sandbox", events=events, days=days, store=os.fspath(store), **settings)


# -- values ---------------------------------------------------------------------------------------------------------


def _row_numbers(rows: object) -> list[int]:
    """Return the numbers of the rows of a sample, of which the first is 0 by default."""
    if is_integer(rows):
        return list(range(rows))
    numbers = list(rows) if isinstance(rows, Iterable) else []
    integers = [int(number) for number in numbers if is_integer(number)]
    if not isinstance(rows, Iterable) or len(integers) < len(numbers):
        raise UsageError(f"rows must be a number of rows, or a list of their numbers, got {rows!r}.")
    return integers


def _from_arrays(spec: Table, arrays: Mapping[str, pa.Array]) -> pa.Table:
    """Return a table of columns, or raise a UsageError for a value that cannot be missing."""
    try:
        return spec.from_arrays(arrays)
    except DecodeError as error:
        raise UsageError(f"{error.column}= of table {spec.name} cannot be missing. Pass a value for each row.") from error


def _array(column: Column, numbers: list[int], values: Any) -> pa.Array:
    """Return a column of one value, a value for each row, or a function of the row's number."""
    if callable(values):
        values = [values(number) for number in numbers]
    elif not _has_value_for_each_row(column, values):
        values = [values] * len(numbers)
    if len(values) != len(numbers):
        raise UsageError(f"{column.name}= must have {len(numbers)} values, got {len(values)}.")
    return _to_array(column, values)


def _to_array(column: Column, values: Any) -> pa.Array:
    """Return values as those of a column, or raise a UsageError."""
    is_whole = pa.types.is_integer(column.value_type)
    for value in values if pa.types.is_timestamp(column.type) else ():
        if isinstance(value, datetime | np.datetime64) and value == value:  # NaT is a datetime that does not equal itself
            # Refuses local times, as all of NumPy are, and nanoseconds, which Arrow would read as UTC and cut off.
            instant(value, column.name)  # type: ignore[arg-type]
    try:
        if is_whole and (broken := [each for each in values if isinstance(each, float | Decimal) and each == each and each % 1]):
            raise TypeError(f"{broken[0]} is no integer")  # which Arrow would cut off
        return pa.array(values, column.value_type, from_pandas=True)
    except (ValueError, TypeError, ArithmeticError, pa.ArrowException) as error:
        raise UsageError(f"{column.name}= must be values of type {column.value_type}: {error}.") from error


def _has_value_for_each_row(column: Column, values: Any) -> bool:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        return False
    if not pa.types.is_list(column.type):
        return True
    return any(value is None or (hasattr(value, "__len__") and not isinstance(value, str)) for value in values)


def _filled(spec: Table, column: Column, rows: Sequence[Mapping[str, object]]) -> list[object]:
    """Return the values of a column, sampled where a row has none and it cannot be missing."""
    if column.nullable:
        return [row.get(column.name) for row in rows]
    return [row[column.name] if column.name in row else _sampled(spec, column, number) for number, row in enumerate(rows)]


def _sampled(spec: Table, column: Column, number: int) -> object:
    """Return the value of a column in the row of a number."""
    kind, name = column.type, column.name
    if name == "extra" or name.startswith("parent_"):
        return None
    if name in CONSTANTS and (name not in spec.key or name == "participant_id"):
        return CONSTANTS[name]
    if pa.types.is_dictionary(kind):
        return column.values[number % len(column.values)] if column.values else f"{name}-{number % 3}"
    if pa.types.is_timestamp(kind):
        later = [each.name for each in spec.columns if each.type == kind].index(name)
        return START + timedelta(seconds=number, milliseconds=100 * later)
    if pa.types.is_integer(kind):
        return _integer(spec, column, number)
    if pa.types.is_boolean(kind):
        return number % 2 == 0
    if pa.types.is_decimal(kind):
        return Decimal(number + 1) / 8
    if pa.types.is_list(kind):
        return [0] if pa.types.is_integer(kind.value_type) else [f"{name}-{number}::1220aa"]
    if name == "event_id":
        return f"update_id-{number:06}:0"
    return f'{{"{name}":{number}}}' if column.is_json else f"{name}-{number:06}"


def _integer(spec: Table, column: Column, number: int) -> int:
    """Return a distinct number for a key without an update id (which would be distinct)."""
    if column.name in spec.key and "update_id" not in spec.key:
        return number + 1
    if column.type == SMALL:
        return int(column.name.endswith("_count") or column.name == "threshold")
    return 1000 + number


def _to_arrow(sample: SampleTable, rows: Rows) -> pa.Table:
    if not isinstance(rows, pd.DataFrame | pa.Table):
        return sample.fill(rows)
    names = sample.spec.select(list(rows.columns if isinstance(rows, pd.DataFrame) else rows.column_names))
    return _from_arrays(sample.spec, {name: _converted(rows[name], sample.spec[name]) for name in names})


def _converted(values: pd.Series[Any] | pa.ChunkedArray, column: Column) -> pa.Array:
    array = pa.Array.from_pandas(values) if isinstance(values, pd.Series) else values
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    has_values = array.null_count < len(array)
    if has_values and pa.types.is_floating(array.type) and pa.types.is_decimal(column.type):
        raise UsageError(
            f"{column.name}= must be values of type {column.value_type}, got floats. Pass Decimals, which are exact."
        )
    if has_values and pa.types.is_timestamp(array.type) and array.type.tz is None and pa.types.is_timestamp(column.type):
        raise UsageError(f"{column.name}= has times without a time zone. Pass times in UTC, such as with .dt.tz_localize('UTC').")
    try:
        return array.cast(column.value_type)
    except pa.ArrowException as error:
        raise UsageError(f"{column.name}= must be values of type {column.value_type}: {error}.") from error
