"""Relations of the same stretch of several weeks, counted back from a window.

The window itself is week 0.
"""

from __future__ import annotations

from ledgerframes.engine.quorums import ROLES_OF_PARTIES
from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import REQUESTS, ROOT_NODES
from ledgerframes.values.extents import MICROSECONDS_PER_DAY, MICROSECONDS_PER_HOUR

STRETCH = Parameter(
    "stretch",
    "One row: start and end of the window, the step from a week to the one before, all in microseconds, and the number of weeks.",
)
CLASSES = 20  # per factor of e, so that each class of values is 5 % above the one before
KIND_NAME = "concat_ws('/', template_name, choice)"


def _weeks_of(rows: str) -> str:
    """Return SQL for rows with their week and their time within it."""
    return f"""
    SELECT * EXCLUDE (step, weeks, since, until), record_at + week * step - since AS offset_in_week
    FROM (
        SELECT {rows}.*, stretch.*, epoch_us(record_time) AS record_at, (until - 1 - record_at) // step AS week
        FROM {rows}, stretch
        WHERE record_at < until
    )
    WHERE week <= weeks AND record_at + week * step >= since
    """


REQUESTS_OF_WEEKS = Relation(
    "requests_of_weeks",
    "One row per request of a week, with its kind, and its latency if it was accepted.",
    f"""
    SELECT
        requests_in_time.* EXCLUDE (kind),
        CASE WHEN root_nodes.update_id IS NOT NULL THEN {KIND_NAME} END AS kind,
        offset_in_week // {MICROSECONDS_PER_DAY} AS day_number,
        offset_in_week // {MICROSECONDS_PER_HOUR} AS hour_number,
        CASE WHEN outcome = 'accepted' AND latency > 0 THEN latency END AS accepted_latency,
        -- Classes of 5 % each, whose counts are enough for ranks.
        CASE WHEN total_traffic_cost > 0 THEN round({CLASSES} * ln(total_traffic_cost))::INTEGER END AS cost_class,
        CASE WHEN accepted_latency > 0 THEN round({CLASSES} * ln(accepted_latency))::INTEGER END AS latency_class
    FROM ({_weeks_of("requests")}) AS requests_in_time
    LEFT JOIN root_nodes USING (update_id)
    """,
    relations=(REQUESTS, ROOT_NODES),
    parameters=(STRETCH,),
    is_materialized=True,
)
PARTIES_OF_WEEKS = Relation(
    "parties_of_weeks",
    "One row per request of a week and submitting party.",
    """
    SELECT * EXCLUDE (submitting_parties), unnest(list_distinct(submitting_parties)) AS party
    FROM requests_of_weeks
    """,
    relations=(REQUESTS_OF_WEEKS,),
)
CONFIRMERS_OF_WEEKS = Relation(
    "confirmers_of_weeks",
    "One row per request of a week and party without whose confirmation it cannot be accepted.",
    """
    SELECT requests_of_weeks.*, party
    FROM requests_of_weeks
    JOIN roles_of_parties USING (update_id)
    WHERE is_required
    """,
    relations=(REQUESTS_OF_WEEKS, ROLES_OF_PARTIES),
)
ACTIVITY_OF_WEEKS = Relation(
    "activity_of_weeks",
    "One row per activity record of a week.",
    _weeks_of("activity_records"),
    tables=("activity_records",),
    parameters=(STRETCH,),
)
LARGEST_BEFORE = Relation(
    "largest_before",
    "One row per kind of request: its costs in the weeks before, and by how much the highest tenth of them exceeds a limit.",
    """
    SELECT
        kind,
        any_value(requests) AS requests,
        any_value(cost_limit) AS cost_limit,
        any_value(median_cost) AS median_cost,
        any_value(largest_cost) AS largest_cost,
        count(*) FILTER (WHERE total_traffic_cost > cost_limit) AS over,
        -- As integers, whose sum does not depend on the order of rows.
        sum(round(1_000_000 * ln(total_traffic_cost / cost_limit))::BIGINT)
            FILTER (WHERE total_traffic_cost > cost_limit) AS excess
    FROM (
        SELECT
            kind,
            total_traffic_cost,
            count(*) OVER kinds AS requests,
            quantile_disc(total_traffic_cost, 0.90) OVER kinds AS cost_limit,
            quantile_disc(total_traffic_cost, 0.50) OVER kinds AS median_cost,
            max(total_traffic_cost) OVER kinds AS largest_cost
        FROM requests_of_weeks
        WHERE week > 0 AND total_traffic_cost > 0
        WINDOW kinds AS (PARTITION BY kind)
    )
    GROUP BY kind
    """,
    relations=(REQUESTS_OF_WEEKS,),
)
