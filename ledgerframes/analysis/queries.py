"""The SQL of a figure over the Parquet files of frames, for a plain DuckDB shell."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis._grouped import Call
from ledgerframes.analysis._parameters import users_of
from ledgerframes.analysis.figures import ANALYSES, Figure
from ledgerframes.analysis.requests import require_rejections
from ledgerframes.engine.literals import quoted
from ledgerframes.engine.query import OTHER, Query
from ledgerframes.engine.relation import Relation, parameters_of
from ledgerframes.engine.tables import Tables
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames
from ledgerframes.store.whole_files import LocalFiles
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.values.windows import iso

MAX_IDS = MAX_ROWS = 10_000  # with more, the text is too long for a shell
OF_STATE = ("issuances", "open_rounds", "rights", "super_validators", "round_openings")  # tables that the figure derives
TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.int32(): "INTEGER",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", tz="UTC"): "TIMESTAMPTZ",
}
UPDATE_IDS = "The ids to which the frames are limited."
SECOND_VERDICTS = "Events whose request has an earlier verdict, which counts."
HEAD = """-- lf.{name} over {network}.
-- Run it with a DuckDB shell, such as `duckdb < query.sql`. Times are UTC.
-- With is_overall, a row is that of all rows together. With is_part, it is a part of a group. Leave out both to add up groups.
SET TimeZone = 'UTC';
"""


def query(figure: Callable[..., pd.DataFrame], frames: Frames, **arguments: Any) -> str:
    """Return the SQL of a figure over the Parquet files of frames.

    A plain DuckDB shell runs it without this package, so that anybody can check the figure. It returns the groups that have
    rows, with all columns except those that SQL cannot express, such as intervals and tests.

    Parameters
    ----------
    figure : callable
        An analysis, such as ``lf.cost.spend``.
    frames : Frames
        From a store, or saved by :func:`ledgerframes.save_frames`.
    **arguments
        The other arguments of the analysis, such as ``by=`` and ``every=``.

    Returns
    -------
    str
        One or more statements, with comments.

    Raises
    ------
    UsageError
        If this figure has no query, the rows of these frames are not in Parquet files of this version, another table is too
        long for a statement, or the figure refuses the arguments.
    CoverageError
        If the figure needs rejected requests, which the frames cannot hold.

    Notes
    -----
    Source: docs/engines.md#the-query-of-a-figure.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> "read_parquet" in lf.query(lf.cost.spend, frames, by="participant")
    True
    """
    declared = _declaration_of(figure)
    if declared.without_query:
        raise UsageError(f"lf.{declared.name} has no query, because {declared.without_query}.")
    require_frames(frames, declared.name)
    queries = _queries(declared, figure, frames, arguments)
    network = escape_control(" ".join(frames.network.split()))  # In saved frames it can be any text, but a comment is one line.
    head = HEAD.format(name=declared.name, network=network)
    return "\n".join([head, *(f"{_statement(frames, each)};\n" for each in queries)])


def _declaration_of(figure: object) -> Figure:
    """Return the declaration of an analysis. Anything else, such as its result, is refused."""
    declared = ANALYSES.get(figure) if callable(figure) else None
    if declared is None:
        value = figure if isinstance(figure, str) or callable(figure) else type(figure).__name__
        raise UsageError(f"figure= must be an analysis such as lf.cost.spend, without a call, got {value!r}.")
    return declared


def _queries(declared: Figure, figure: Callable[..., pd.DataFrame], frames: Frames, arguments: dict[str, Any]) -> list[Query]:
    """Return the queries of a call, after the same checks as the analysis makes."""
    bound = inspect.signature(figure).bind(frames, **arguments)
    bound.apply_defaults()
    values = bound.arguments
    declared.check(frames, values.get("by"))
    if "accept_survivorship" in values:
        require_rejections(frames, values["accept_survivorship"], f"lf.{declared.name}")
    if declared.queries is not None:
        return list(declared.queries(**values))
    users = users_of(values.get("completions")) if values.get("by") == "user" else {}
    choices = {name: values.get(name) for name in ("by", "every", "min_requests", "labels", "eras")}
    return [Call(declared, frames, **choices, tables=users).query]


def _statement(frames: Frames, query: Query) -> str:
    """Return a query whose tables are the files of frames and whose parameters are values."""
    files = [_files(name, *query.source(frames, name)) for name in query.tables]
    declared = parameters_of(query.relations)
    parameters = [
        _values(name, declared[name].rows if name in declared else f"Table {name}, as it was passed.", rows)
        for name, rows in query.parameters.items()
    ]
    return Query(query.select, (*files, *parameters, *query.relations)).text


def _files(name: str, frames: Tables, stored_name: str) -> Relation:
    """Return a table as a scan of its files, limited to the rows of the frames."""
    assert isinstance(frames, Frames)
    table = frames._required(stored_name)
    paths = frames._source.paths(table.name, frames.window)
    if paths is None:
        raise UsageError(
            f"Table {table.name} of these frames is in memory, or in files of another version. Save the frames with "
            "lf.save_frames, and open them again."
        )
    if not paths:
        columns = ", ".join(f'NULL::{_type(each.type)} AS "{each.name}"' for each in table.columns)
        return Relation(name, f"Table {table.name}, without rows.", f"SELECT {columns} WHERE false")
    prefix, source = ("", "") if name == stored_name else (OTHER, ", of other frames")
    scan = frames._filter.file_scan(table, LocalFiles("", tuple(paths)))
    small = {f"{prefix}update_ids": (UPDATE_IDS, scan.update_ids), f"{prefix}second_verdicts": (SECOND_VERDICTS, scan.left_out)}
    if scan.update_ids and scan.update_ids.num_rows > MAX_IDS:
        raise UsageError(f"The frames have {scan.update_ids.num_rows:,} ids. Save them with lf.save_frames, and open them again.")
    needed = [_values(each, description, rows) for each, (description, rows) in small.items() if rows is not None]
    # Otherwise DuckDB keeps all columns of a table that two relations read, payloads included.
    return Relation(name, f"Table {table.name}{source}.", scan.select(*small), relations=tuple(needed), is_materialized=False)


def _values(name: str, description: str, rows: pa.Table) -> Relation:
    """Return a small table, which the caller passed or the figure derives, as SQL values."""
    if rows.num_rows > MAX_ROWS and name.removeprefix("effective_") in OF_STATE:
        raise UsageError(
            f"The table {name} of this query has {rows.num_rows:,} rows, and a statement can hold {MAX_ROWS:,}. "
            "Choose a shorter window, and pass base=lf.load_contracts(net, at=…) from its start."
        )
    if rows.num_rows > MAX_ROWS:
        raise UsageError(f"The table {name} that was passed has {rows.num_rows:,} rows. Pass frames of a store for it.")
    columns = ", ".join(f"{field.name}::{_type(field.type)} AS {field.name}" for field in rows.schema)
    names = ", ".join(rows.column_names)
    values = ",\n        ".join(_row(row.values()) for row in rows.to_pylist()) or _row([None] * rows.num_columns)
    where = "" if rows.num_rows else "\nWHERE false"
    select = f"SELECT {columns}\nFROM (\n    VALUES\n        {values}\n) AS given ({names}){where}"
    return Relation(name, description, select)


def _row(values: Iterable[object]) -> str:
    return f"({', '.join(map(_literal, values))})"


def _literal(value: object) -> str:
    """Return a value in SQL. Texts from the ledger are quoted."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ '{iso(value)}'"
    if isinstance(value, bool | int | Decimal):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return quoted(str(value))


def _type(arrow_type: pa.DataType) -> str:
    """Return the name of a type in DuckDB."""
    if pa.types.is_dictionary(arrow_type):
        return _type(arrow_type.value_type)
    if pa.types.is_list(arrow_type):
        return f"{_type(arrow_type.value_type)}[]"
    if pa.types.is_decimal(arrow_type):
        return f"DECIMAL({arrow_type.precision}, {arrow_type.scale})"
    return TYPES[arrow_type]
