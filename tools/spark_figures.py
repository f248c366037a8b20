"""Which queries of figures a local Spark runs after sqlglot has translated them, and gives the rows of DuckDB.

It prints the table of ``docs/engines.md``. It needs pyspark, sqlglot and Java.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from operator import attrgetter
from typing import Any

import duckdb
import pandas as pd
import sqlglot
from pyspark.sql import SparkSession
from sqlglot import expressions as exp

import ledgerframes as lf
from ledgerframes.analysis import FIGURES
from ledgerframes.frames import Frames

DAY = {"since": "2026-11-08", "until": "2026-11-09"}
AGREES = "agrees"


def frames_of(net: lf.Network) -> dict[str, Frames]:
    """Load frames of all kinds."""
    return {
        "history": lf.load_events(net, since="0001-01-01", until="2026-11-09"),
        "day": lf.load_events(net, **DAY),
        "bulk": lf.load_bulk(net, **DAY),
        "ledger": lf.load_updates(net),
        "snapshot": lf.load_bulk(net, kind="acs", at="2026-11-09"),
    }


def calls(frames: dict[str, Frames]) -> Iterator[tuple[str, Frames, dict[str, Any]]]:
    """Yield the name of each figure with a query, its frames, and its other arguments."""
    day, history = frames["day"], frames["history"]
    payer = day.verdicts["submitting_participant_uid"].dropna().iloc[0]
    runway = {"participant": payer, "balance": lf.TrafficBalance(1, "2026-11-08T12:00:00Z")}
    app = {"app": {"packages": ["meadow-token"]}, "exclude": [], **DAY, "min_coverage": 0}
    arguments: dict[str, tuple[Frames, dict[str, Any]]] = {
        "cost.budget": (day, {"budgets": {"No.Such:Template/Choice": 5_000}, "network": day.network}),
        "cost.compare": (day, {"after": day}),
        "cost.concentration": (day, {"by": "party"}),
        "cost.estimate": (day, {"estimates": pd.DataFrame({"update_id": ["x"], "request_bytes": [1]}), "by": None}),
        "cost.runway": (day, runway),
        "cost.runway_end": (day, runway),
        "cost.statement": (
            day,
            {"by": "participant", "every": None, "price": lf.TrafficPrice("50", "USD/MB"), "accept_price": True},
        ),
        "activity.what_if": (history, {"confirmers": "informees"}),
        "grant.evidence": (history, app),
        "grant.evidence_totals": (history, app),
        "reconcile.bulk": (day, {"bulk": frames["bulk"]}),
        "reconcile.bulk_totals": (day, {"bulk": frames["bulk"]}),
        "reconcile.contracts": (history, {"snapshot": frames["snapshot"]}),
        "reconcile.nodes": (day, {"b": day}),
        "reconcile.paid_traffic": (frames["ledger"], {"history": day}),
        "reconcile.paid_traffic_totals": (frames["ledger"], {"history": day}),
    }
    for figure in sorted(FIGURES.values(), key=lambda each: each.name):
        if figure.queries is not None or any(column.measure for column in figure.columns):
            of_history = figure.name.startswith(("activity.", "economy.", "state.", "reconcile."))
            yield figure.name, *arguments.get(figure.name, (history if of_history else day, {}))


def outcome(spark: SparkSession, text: str) -> str:
    """Return whether Spark gives the rows of DuckDB for a text, or why not."""
    try:
        # Queries of figures count items with len and letters with length, which sqlglot takes for the same.
        of_lists = re.sub(r"\blen\(", "array_length(", text)
        statements = [each for each in sqlglot.parse(of_lists, read="duckdb") if each and not isinstance(each, exp.Set)]
    except sqlglot.ParseError:
        return "sqlglot cannot read it"
    for statement, rows in zip(statements, duckdb_rows(text), strict=True):
        try:
            translated = translate(spark, statement)
            found = plain([row.asDict(recursive=True) for row in spark.sql(translated).collect()])
        except Exception as error:  # of the translation, of Spark, or of Java
            return reason(error)
        if found != rows:
            return "other rows"
    return AGREES


def duckdb_rows(text: str) -> Iterator[list[str]]:
    """Yield the rows of each statement of a text in a plain DuckDB."""
    with duckdb.connect() as connection:
        for statement in connection.extract_statements(text):
            result = connection.sql(statement.query)
            if statement.type == duckdb.StatementType.SELECT:
                yield plain(result.to_arrow_table().to_pylist())


def translate(spark: SparkSession, statement: exp.Expression) -> str:
    """Return a statement in the SQL of Spark, whose files are views."""
    statement = statement.copy()
    for number, read in enumerate(list(statement.find_all(exp.ReadParquet))):
        paths = [each.this for each in read.find_all(exp.Literal)]
        view = f"files_{number}"
        spark.read.parquet(*paths).createOrReplaceTempView(view)
        read.replace(exp.to_identifier(view))
    for relation in statement.find_all(exp.CTE):
        relation.set("materialized", None)  # a hint, which Spark does not have
    for kind in statement.find_all(exp.DataType):
        if kind.is_type("int128", "uint128"):
            kind.replace(exp.DataType.build("decimal(38, 0)"))
    for call in list(statement.find_all(exp.Anonymous)):
        if call.name.lower() == "epoch_us":
            call.set("this", "unix_micros")
    for percentile in list(statement.find_all(exp.PercentileDisc)):
        if percentile.expression:
            order = exp.Order(expressions=[exp.Ordered(this=percentile.this.copy())])
            of = exp.PercentileDisc(this=percentile.expression.copy())
            percentile.replace(exp.WithinGroup(this=of, expression=order))
    return statement.sql(dialect="spark", comments=False)


def plain(rows: list[dict[str, Any]]) -> list[str]:
    """Return rows as texts in a fixed order, equal for equal values."""
    return sorted(str({name.lower(): plain_value(value) for name, value in row.items()}) for row in rows)


def plain_value(value: Any) -> Any:
    """Return a value as both engines have it."""
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    if isinstance(value, pd.Timestamp) or hasattr(value, "isoformat"):
        return pd.Timestamp(value).tz_localize(None).isoformat()
    if isinstance(value, list):
        items = [plain_value(each) for each in value]
        # Numbers in a list are those of a group, such as its latencies, and each engine has them in its own order.
        return sorted(items) if all(isinstance(each, int) for each in items) else items
    if isinstance(value, dict):
        return {name: plain_value(each) for name, each in value.items()}
    return value


def reason(error: Exception) -> str:
    """Return the first words of an error, without what differs from run to run."""
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    found = re.match(r"\[([A-Z_.]+)\]", line)
    routine = re.search(r"routine `?(\w+)`?", line)
    return f"{found[1]}{f': {routine[1]}' if routine else ''}" if found else line[:90]


def session() -> SparkSession:
    """Return a local Spark in UTC."""
    builder = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", 1)
    )
    return builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()


def queries(net: lf.Network) -> dict[str, str]:
    """Return the SQL of each figure with a query."""
    return {name: lf.query(analysis(name), frames, **arguments) for name, frames, arguments in calls(frames_of(net))}


def analysis(name: str) -> Any:
    """Return the function of a figure."""
    return attrgetter(name)(lf)


def table(found: dict[str, str]) -> str:
    """Return outcomes as a table of the docs."""
    return "\n".join(["| figure | on Spark |", "|---|---|", *(f"| `{name}` | {each} |" for name, each in found.items())])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as root, lf.connect("sandbox", events=900, days=2, store=root) as network:
        engine = session()
        print(table({}))
        for figure, sql in queries(network).items():
            print(table({figure: outcome(engine, sql)}).splitlines()[-1], flush=True)
