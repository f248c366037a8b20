"""A DataFrame as text, JSON or CSV, as the result of a command."""

from __future__ import annotations

import io
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, option
from ledgerframes.errors import UsageError
from ledgerframes.values.windows import iso

if TYPE_CHECKING:
    import pandas as pd

BYTES = "binary[pyarrow]"
EXPLAIN = ["explain_key", "explain_value"]  # columns of a plan of DuckDB, which is a drawing of several lines
AsCsv = Annotated[bool, option("--csv", "Write CSV to stdout, with the cells of `ledgerframes export`.")]
KeepFormulas = Annotated[bool, option("--keep-formulas", "Write CSV cells that begin like a formula without an apostrophe.")]


def print_frame(context: CommandContext, frame: pd.DataFrame, *, as_csv: bool, escape_formulas: bool) -> None:
    """Write all rows of a frame to stdout."""
    from pandas.api.types import is_numeric_dtype

    if as_csv and context.as_json:
        raise UsageError("--csv cannot be combined with --json.")
    if as_csv:
        _write_csv(frame, escape_formulas=escape_formulas)
        return
    columns = [str(name) for name in frame.columns]
    document = {"columns": columns, "rows": output.plain_rows(frame)}
    numeric = [name for name in columns if is_numeric_dtype(frame[name])]
    context.print_result(document, lambda document: _format(document, numeric))


def _write_csv(frame: pd.DataFrame, *, escape_formulas: bool) -> None:
    """Write the result to stdout, bytes as hexadecimal digits."""
    from ledgerframes.export import write_csv

    for name in frame.columns[frame.dtypes == BYTES]:
        frame = frame.assign(**{name: frame[name].map(bytes.hex, na_action="ignore").astype("str")})
    file = io.BytesIO()
    write_csv(frame, file, escape_formulas=escape_formulas)
    output.write_csv(file.getvalue().decode().removesuffix("\n"))


def _format(document: dict[str, Any], numeric: list[str]) -> str:
    rows = [[_cell(value) for value in row.values()] for row in document["rows"]]
    return output.format_table(document["columns"], rows, right=numeric, has_lines=document["columns"] == EXPLAIN)


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value) if value.tzinfo else value.isoformat()
    return "" if value is None else value
