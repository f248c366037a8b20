"""Invalid values, which figures leave out."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.groups import ratio
from ledgerframes.engine import Query, Relation, run
from ledgerframes.frames import Frames

NEGATIVE, BEFORE_RECORD_TIME = "negative", "before the record time"


def _queries(frames: Frames) -> list[Query]:
    return [_problems_query(_problems_of(frames))]


INVALID_VALUES = declare.Figure(
    "cost.invalid_values",
    caption="Costs and times that cannot be right",
    rows="One row per table and column, even without such values; sorted as in :func:`ledgerframes.load_events`.",
    columns=(
        declare.text("table", "Table with the values."),
        declare.text("column", "Column with the values."),
        declare.choice("problem", (NEGATIVE, BEFORE_RECORD_TIME)),
        declare.count("rows", "Rows with such a value.", "rows"),
        declare.text("first_update_id", "Update of the first such value. Missing if there is none."),
    ),
    condition="with a value that figures can use",
    unit="rows of the table",
    queries=_queries,
)
COLUMNS = {
    ("traffic", "total_traffic_cost"): NEGATIVE,
    ("envelopes", "traffic_cost"): NEGATIVE,
    ("activity_records", "weight"): NEGATIVE,
    ("verdicts", "finalization_time"): BEFORE_RECORD_TIME,
}


@INVALID_VALUES.register
def invalid_values(frames: Frames) -> pd.DataFrame:
    """Return how many values sums, averages and percentiles leave out, and where.

    A negative cost counts as unknown in all figures, so the coverage falls. The envelopes of a request with a negative total
    count as unknown, too. A verdict that is earlier than its request has no latency.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.

    Returns
    -------
    DataFrame
        One row per table and column, even without such values; sorted as in :func:`ledgerframes.load_events`.

        Columns:

        - ``table`` (str): Table with the values.
        - ``column`` (str): Column with the values.
        - ``problem`` (category): negative, or before the record time.
        - ``rows`` (int64, rows): Rows with such a value.
        - ``first_update_id`` (str): Update of the first such value. Missing if there is none.
        - ``coverage`` (float64, share of 1): Share of the rows of the table with a value that figures can use. Missing if there
          are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.

    Notes
    -----
    Source: costs, weights and finalization times of history events (docs/facts.md#traffic-fields).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> bool((lf.cost.invalid_values(day)["rows"] >= 0).all())
    True
    """
    INVALID_VALUES.check(frames)
    problems_of = _problems_of(frames)
    if problems_of:
        table = run(frames, _problems_query(problems_of)).set_index(["table", "column"]).loc[list(problems_of)].reset_index()
    else:
        table = pd.DataFrame(columns=["table", "column", "rows", "rows_with_problem", "first_update_id"])
    counts, total = (table[name].to_numpy("int64") for name in ("rows_with_problem", "rows"))
    values = {**table, "problem": list(problems_of.values()), "rows": counts, "coverage": ratio(total - counts, total)}
    return INVALID_VALUES.build(frames, values)


def _problems_of(frames: Frames) -> dict[tuple[str, str], str]:
    """Return the problem of each column that the frames have."""
    return {key: problem for key, problem in COLUMNS.items() if key[0] in frames.tables}


def _problems_query(problems_of: Mapping[tuple[str, str], str]) -> Query:
    """Return the query of the values of each column with a problem."""
    relations = [_problem_relation(*key, problem) for key, problem in problems_of.items()]
    return Query("\nUNION ALL\n".join(f"FROM {each.name}" for each in relations), tuple(relations))


def _problem_relation(table: str, column: str, problem: str) -> Relation:
    limit = "record_time" if problem == BEFORE_RECORD_TIME else "0"
    query = f"""
    SELECT
        '{table}' AS table,
        '{column}' AS column,
        count(*) AS rows,
        count(*) FILTER ({column} < {limit}) AS rows_with_problem,
        arg_min(update_id, (migration_id, record_time, update_id)) FILTER ({column} < {limit}) AS first_update_id
    FROM {table}
    """
    return Relation(f"{table}_{problem.replace(' ', '_')}", "One row: the values with a problem.", query, tables=(table,))
