"""Results of queries in the types of this library."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets.schema import INTEGER, SMALL, TEXT, TIME
from ledgerframes.values.decimals import too_large_error

DTYPES = {
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype(na_value=float("nan")),
    pa.large_string(): pd.StringDtype(na_value=float("nan")),
}


def to_library_type(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cast values to the type of this library."""
    arrow_type = values.type
    if pa.types.is_dictionary(arrow_type):
        return values.cast(TEXT)
    if pa.types.is_timestamp(arrow_type):
        return values.cast(TIME)  # times without a zone are UTC
    if pa.types.is_integer(arrow_type) and arrow_type.bit_width < 32:
        return values.cast(SMALL)
    if pa.types.is_unsigned_integer(arrow_type) or (pa.types.is_decimal(arrow_type) and arrow_type.scale == 0):
        try:
            return values.cast(INTEGER)
        except pa.ArrowInvalid:
            return values.cast(pa.decimal128(38, 0))  # an integer too large for int64
    return values


def to_pandas(rows: pa.Table) -> pd.DataFrame:
    """Return the result of a query. Integers stay integers next to missing values.

    Raises
    ------
    UsageError
        If an integer is beyond 64 bits, as a sum can be.
    """
    columns = {name: to_library_type(rows.column(name)) for name in rows.column_names}
    for name, values in columns.items():
        if pa.types.is_decimal(values.type) and values.type.scale == 0:
            raise too_large_error(name)
    frame: pd.DataFrame = pa.table(columns).to_pandas(types_mapper=DTYPES.get)
    return frame
