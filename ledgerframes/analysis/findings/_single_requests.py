"""Single requests that cost far more than their kind did in the weeks before."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.finding_names import ONE_COST
from ledgerframes.analysis.findings._weeks import Stretch
from ledgerframes.analysis.groups import microseconds
from ledgerframes.engine import Query, run
from ledgerframes.engine.weeks import LARGEST_BEFORE, REQUESTS_OF_WEEKS
from ledgerframes.frames import Frames
from ledgerframes.statistics.surprises import largest_p

MIN_OVER = 5  # requests above the limit of a kind that a tail needs
MILLIONTHS = 1_000_000
NOT_VISIBLE = "not visible"
LARGEST = """\
SELECT
    coalesce(kind, '') AS kind, update_id, submitting_participant_uid, record_time, total_traffic_cost,
    count(*) OVER kinds AS count
FROM requests_of_weeks
WHERE total_traffic_cost > 0
WINDOW kinds AS (PARTITION BY kind)
-- The three largest of each kind.
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY total_traffic_cost DESC, update_id) <= 3
ORDER BY kind, total_traffic_cost DESC, update_id"""
LIMITS = "SELECT * REPLACE (coalesce(kind, '') AS kind, excess::DOUBLE AS excess)\nFROM largest_before\nORDER BY kind"


def largest_query(stretch: pa.Table) -> Query:
    """Return the query of the largest requests of each kind in the window."""
    return Query(LARGEST, (REQUESTS_OF_WEEKS,), {"stretch": stretch})


def compare_requests(frames: Frames, history: Frames, stretch: Stretch) -> pd.DataFrame:
    """Return one row per request that is among the largest of its kind."""
    limits = _limits(history, stretch)
    rows = run(frames, largest_query(stretch.table(0))).merge(limits[limits["over"] >= MIN_OVER], on="kind")
    cost, median, largest = (rows[name].to_numpy("float64") for name in ("total_traffic_cost", "median_cost", "largest_cost"))
    over, before, count = (rows[name].to_numpy("int64") for name in ("over", "requests", "count"))
    excess = np.log(cost / rows["cost_limit"].to_numpy("float64"))
    p = largest_p(np.maximum(excess, 0), count, over, before, rows["excess"].to_numpy("float64") / MILLIONTHS / over)
    times = microseconds(rows["record_time"])
    return pd.DataFrame(
        {
            "subject": "request",
            "name": rows["update_id"].astype("str"),
            "what": ONE_COST,
            "unit": "bytes",
            "value": cost,
            "before": median,
            "usual_low": np.nan,
            "usual_high": largest,
            "effect": cost - median,
            "p": p,
            "since": times,
            "until": times + 1,
            "request_kind": rows["kind"].astype("str").replace("", NOT_VISIBLE),
            "payer": rows["submitting_participant_uid"].astype("str"),
        }
    )


@once_per_frames
def _limits(history: Frames, stretch: Stretch) -> pd.DataFrame:
    """Return the limits of each kind in the weeks before, which several windows can share."""
    return run(stretch.part_of(history), Query(LIMITS, (LARGEST_BEFORE,), {"stretch": stretch.table(max(stretch.weeks))}))
