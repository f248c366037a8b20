"""Queries by hand: what one would write in DuckDB for one question alone, over the Parquet files of the store.

They give the columns of a figure without its estimates, intervals and coverage, and check nothing of what they read.
"""

from __future__ import annotations

import time
from pathlib import Path

from ledgerframes.datasets.registry import EVENTS

REQUESTS = """
    SELECT
        coalesce(v.record_time, u.record_time, t.record_time) AS record_time,
        submitting_participant_uid, submitting_parties, verdict_result, view_count, update_id,
        finalization_time - v.record_time AS latency, kind,
        CASE WHEN total_traffic_cost >= 0 THEN total_traffic_cost END AS cost
    FROM verdicts v FULL JOIN updates u USING (update_id) FULL JOIN traffic t USING (update_id)
"""
OVERHEAD = """
    SELECT update_id, sum(traffic_cost) FILTER (len(view_ids) = 0) AS overhead
    FROM envelopes WHERE traffic_cost >= 0 GROUP BY update_id
"""
ROOTS = "SELECT update_id, package_name, template_name, choice FROM tree_events WHERE node_index = 0"
COLUMNS = """
    count(*), count(cost), sum(cost), count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'),
    sum(cost) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'), sum(overhead),
    quantile_disc(cost, 0.50), quantile_disc(cost, 0.95), max(cost)
"""
SPEND = f"""
    WITH r AS ({REQUESTS}), o AS ({OVERHEAD})
    SELECT {{key}} {COLUMNS} FROM r LEFT JOIN o USING (update_id) {{more}} GROUP BY ALL
"""
OUTCOMES = """
    count(*), count(*) FILTER (verdict_result = 'VERDICT_RESULT_ACCEPTED'),
    count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'),
    count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED' AND latency >= INTERVAL 29.9 SECONDS),
    count(*) FILTER (verdict_result = 'VERDICT_RESULT_UNSPECIFIED')
"""
TRANSFERS = """
    SELECT
        CAST(exercise_result ->> '$.round.number' AS BIGINT) AS round_number,
        sum(CAST(exercise_result ->> '$.summary.inputAppRewardAmount' AS DECIMAL(38, 10))),
        sum(CAST(exercise_result ->> '$.summary.inputValidatorRewardAmount' AS DECIMAL(38, 10))),
        sum(CAST(exercise_result ->> '$.summary.inputValidatorFaucetAmount' AS DECIMAL(38, 10))),
        sum(CAST(exercise_result ->> '$.summary.inputSvRewardAmount' AS DECIMAL(38, 10))),
        sum(CAST(exercise_result ->> '$.summary.senderChangeFee' AS DECIMAL(38, 10)))
    FROM tree_events
    WHERE template_name = 'Splice.CoinRules:CoinRules' AND choice = 'CoinRules_Transfer'
    GROUP BY ALL
"""
COUPONS = """
    SELECT
        CAST(create_arguments ->> '$.round.number' AS BIGINT), template_name, create_arguments ->> '$.kind',
        sum(CAST(coalesce(create_arguments ->> '$.amount', create_arguments ->> '$.weight', '1') AS DECIMAL(38, 10)))
    FROM tree_events
    WHERE choice IS NULL AND template_name IN (
        'Splice.Coin:RewardCouponV2', 'Splice.Coin:AppRewardCoupon', 'Splice.Coin:ValidatorRewardCoupon',
        'Splice.Coin:SvRewardCoupon', 'Splice.ValidatorLicense:ValidatorLivenessActivityRecord'
    )
    GROUP BY ALL
"""
COINS = """
    SELECT date_trunc('day', record_time), sum(amount), sum(amount) FILTER (archived.contract_id IS NOT NULL)
    FROM (
        SELECT *, CAST(create_arguments ->> '$.amount.initialAmount' AS DECIMAL(38, 10)) AS amount
        FROM tree_events WHERE choice IS NULL AND template_name = 'Splice.Coin:Coin'
    ) AS created
    LEFT JOIN (SELECT contract_id FROM tree_events WHERE consuming AND template_name = 'Splice.Coin:Coin') AS archived
        USING (contract_id)
    GROUP BY ALL
"""
BY_HAND: dict[str, tuple[str, ...]] = {
    "cost.spend": (SPEND.format(key="", more=""),),
    "cost.spend by participant": (SPEND.format(key="submitting_participant_uid,", more=""),),
    "cost.spend by party": (SPEND.format(key="party,", more="CROSS JOIN unnest(submitting_parties) AS p(party)"),),
    "cost.spend by template": (
        SPEND.format(key="kind, package_name, template_name, choice,", more=f"LEFT JOIN ({ROOTS}) AS roots USING (update_id)"),
    ),
    "cost.spend every hour": (SPEND.format(key="date_trunc('hour', record_time),", more=""),),
    "cost.overhead": (
        """
        SELECT len(view_ids) = 0, count(*), sum(traffic_cost), count(DISTINCT update_id)
        FROM envelopes WHERE traffic_cost >= 0 GROUP BY ALL
        """,
        """
        WITH confirmers AS (
            SELECT update_id, envelope_index, any_value(traffic_cost) AS cost, list_sort(array_agg(DISTINCT party)) AS parties
            FROM (SELECT *, unnest(view_ids) AS view_id FROM envelopes WHERE traffic_cost >= 0)
            JOIN (SELECT update_id, view_id, unnest(parties) AS party FROM quorums) USING (update_id, view_id)
            GROUP BY ALL
        ), same AS (
            SELECT update_id, len(parties) AS confirmers, count(*) - 1 AS envelopes, sum(cost) - max(cost) AS cost
            FROM confirmers GROUP BY update_id, parties
        )
        SELECT quantile_disc(confirmers, 0.5), sum(envelopes), sum(cost)
        FROM (SELECT max(confirmers) AS confirmers, sum(envelopes) AS envelopes, sum(cost) AS cost FROM same GROUP BY update_id)
        """,
    ),
    "cost.wasted": (
        f"""
        SELECT
            date_trunc('day', record_time), count(*), count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'),
            sum(cost) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'),
            sum(cost) FILTER (verdict_result IS DISTINCT FROM 'VERDICT_RESULT_REJECTED'),
            sum(cost) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED' AND latency < INTERVAL 29.9 SECONDS),
            sum(cost) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED' AND latency >= INTERVAL 29.9 SECONDS)
        FROM ({REQUESTS}) GROUP BY ALL
        """,
    ),
    "cost.concentration by participant": (
        f"SELECT submitting_participant_uid, count(cost), sum(cost) FROM ({REQUESTS}) GROUP BY ALL ORDER BY 3 DESC",
    ),
    "verdict.outcomes by participant": (f"SELECT submitting_participant_uid, {OUTCOMES} FROM ({REQUESTS}) GROUP BY ALL",),
    "verdict.latency every hour": (
        f"""
        SELECT
            date_trunc('hour', record_time), verdict_result, count(*), max(latency),
            quantile_disc(latency, [0.5, 0.9, 0.95, 0.99])
        FROM ({REQUESTS}) GROUP BY ALL
        """,
    ),
    "verdict.rejections": (
        f"""
        SELECT update_id, record_time, submitting_participant_uid, latency, cost, view_count FROM ({REQUESTS})
        WHERE verdict_result = 'VERDICT_RESULT_REJECTED' ORDER BY record_time
        """,
    ),
    "verdict.quorums": (
        """
        SELECT list_sort(parties), threshold, count(*), count(DISTINCT (update_id, view_id)), count(DISTINCT update_id)
        FROM quorums GROUP BY ALL
        """,
    ),
    "economy.rounds": (TRANSFERS, COUPONS, COINS),
    "economy.burn_mint": (TRANSFERS, COINS),
}


def compute(store: Path, call: str) -> dict[str, float]:
    """Return the seconds of the processor of a query by hand, on one thread."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1, "memory_limit": "3GB"})
    for table in EVENTS.tables:
        connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{store}/week/{table.name}/*.parquet')")
    before = time.process_time()
    for query in BY_HAND[call]:
        connection.sql(query).to_arrow_table()
    return {"processor": time.process_time() - before}
