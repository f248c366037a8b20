"""Values that figures leave out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._groups import Flags, is_true, ratio
from ledgerframes.frames import Frames

NEGATIVE, BEFORE_RECORD_TIME = "negative", "before the record time"
PROBLEMS = declare.Figure(
    "cost.problems",
    rows="One row per table and column, also without such values; sorted as in :func:`ledgerframes.load_events`.",
    columns=(
        declare.text("table", "Table with the values."),
        declare.text("column", "Column with the values."),
        declare.choice("problem", (NEGATIVE, BEFORE_RECORD_TIME)),
        declare.count("rows", "Rows with such a value.", "rows"),
        declare.text("first_update_id", "Update of the first of them. Missing without any."),
    ),
    condition="with a value that figures can use",
    unit="rows of the table",
)
COLUMNS = {
    ("traffic", "total_traffic_cost"): NEGATIVE,
    ("envelopes", "traffic_cost"): NEGATIVE,
    ("activity_records", "weight"): NEGATIVE,
    ("verdicts", "finalization_time"): BEFORE_RECORD_TIME,
}


@PROBLEMS.document
def problems(frames: Frames) -> pd.DataFrame:
    """Return the values that sums, averages and percentiles leave out, and their number.

    A negative cost counts as unknown in all figures, so the coverage falls. So do the envelopes of a request with a negative
    total. A verdict from before its request has no latency.

    Source: costs, weights and finalization times of history events (docs/facts.md#traffic-fields).

    >>> bool((lf.cost.problems(day)["rows"] >= 0).all())
    True
    """
    PROBLEMS.check(frames)
    rows = pd.DataFrame(list(_problems(frames)), columns=["table", "column", "problem", "rows", "first_update_id", "total"])
    counts = rows["total"].to_numpy("int64")
    coverage = ratio(counts - rows["rows"].to_numpy("int64"), counts)
    return PROBLEMS.build(frames, {**rows, "coverage": coverage})


def _problems(frames: Frames) -> Iterator[tuple[str, str, str, int, str | None, int]]:
    for (table, column), problem in COLUMNS.items():
        if table in frames.tables:
            rows = frames.read(table, ["update_id", "record_time", column])
            is_wrong = _is_wrong(rows, column, problem)
            first = rows["update_id"].to_numpy()[np.argmax(is_wrong)] if is_wrong.any() else None
            yield table, column, problem, int(is_wrong.sum()), first, len(rows)


def _is_wrong(rows: pd.DataFrame, column: str, problem: str) -> Flags:
    limit = rows["record_time"] if problem == BEFORE_RECORD_TIME else 0
    return is_true(rows[column] < limit)
