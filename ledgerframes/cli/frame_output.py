"""A DataFrame as text, JSON or CSV, as the result of a command."""

from __future__ import annotations

import io
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, option
from ledgerframes.errors import UsageError
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.values.windows import iso

if TYPE_CHECKING:
    import pandas as pd

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
    """Write the result to stdout. A terminal shows control characters escaped."""
    from ledgerframes.export import write_csv

    file = io.BytesIO()
    write_csv(frame, file, escape_formulas=escape_formulas)
    text = file.getvalue().decode().removesuffix("\n")
    output.write("\n".join(map(escape_control, text.split("\n"))) if output.is_terminal() else text)


def _format(document: dict[str, Any], numeric: list[str]) -> str:
    rows = [[_cell(value) for value in row.values()] for row in document["rows"]]
    return output.format_table(document["columns"], rows, right=numeric)


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value) if value.tzinfo else value.isoformat()
    return "" if value is None else value
