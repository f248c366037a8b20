"""Queries by hand: what one would write in DuckDB for one question alone, over the Parquet files of the store.

They give the columns of a figure without its estimates, intervals and coverage, and check nothing of what they read.
"""

from __future__ import annotations

import time
from pathlib import Path

from ledgerframes.datasets.registry import EVENTS

MEMORY_LIMIT = "2.75GB"  # of the engine, so that libraries and the rows of a result fit into 4 GB

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
SUMMARIES = """
    SELECT event_id, parent_event_id, update_id, record_time, json_extract_string(exercise_result, [
        '$.round.number', '$.summary.inputAppRewardAmount', '$.summary.inputValidatorRewardAmount',
        '$.summary.inputSvRewardAmount', '$.summary.inputUnclaimedActivityRecordAmount',
        '$.summary.inputDevelopmentFundAmount', '$.summary.holdingFees', '$.summary.senderChangeFee'
    ]) AS texts, json_extract_string(exercise_result, '$.summary.outputFees[*]') AS fees
    FROM tree_events
    WHERE template_name IN ('Splice.CoinRules:CoinRules', 'Splice.CoinRules:TransferPreapproval')
        AND (choice = 'CoinRules_Transfer' OR choice LIKE 'CoinRules_Buy%' OR choice LIKE '%Preapproval_%')
"""
COINS = """
    SELECT
        update_id, record_time, contract_id, members[1] = members[2] AS is_of_dso,
        CAST(members[3] AS DECIMAL(38, 10)) AS amount
    FROM (
        SELECT *, json_extract_string(
            CASE template_name WHEN 'Splice.Coin:Coin' THEN create_arguments ELSE create_arguments -> '$.coin' END,
            ['$.owner', '$.dso', '$.amount.initialAmount']
        ) AS members
        FROM tree_events WHERE choice IS NULL AND template_name IN ('Splice.Coin:Coin', 'Splice.Coin:LockedCoin')
    )
"""
FLOWS = f"""
    WITH summaries AS MATERIALIZED ({SUMMARIES}), counted AS MATERIALIZED (
        FROM summaries ANTI JOIN (SELECT parent_event_id AS event_id FROM summaries) USING (event_id)
    ), coins AS MATERIALIZED ({COINS}), ends AS MATERIALIZED (
        SELECT e.*, is_of_dso, amount, coins.update_id = e.update_id AS is_at_once
        FROM (
            SELECT update_id, record_time, contract_id, parent_event_id, choice, consuming
            FROM tree_events WHERE choice IS NOT NULL AND template_name IN ('Splice.Coin:Coin', 'Splice.Coin:LockedCoin')
        ) AS e JOIN coins USING (contract_id)
    ), flows AS (
        SELECT update_id, record_time, 'net' AS kind, amount FROM coins
        UNION ALL SELECT update_id, record_time, 'net', -amount FROM ends WHERE consuming
        UNION ALL SELECT update_id, record_time, 'burned_dust', amount FROM ends WHERE choice LIKE '%Expire%'
        UNION ALL
        SELECT update_id, record_time, 'to_dso', amount FROM coins
        ANTI JOIN (SELECT contract_id FROM ends WHERE consuming AND is_at_once) USING (contract_id) WHERE is_of_dso
        UNION ALL
        SELECT ends.update_id, ends.record_time, 'burned_names', amount
        FROM tree_events AS payments JOIN (FROM ends WHERE consuming AND is_of_dso) AS ends
            ON payments.event_id = ends.parent_event_id
        WHERE payments.choice IN ('AnsRules_CollectInitialEntryPayment', 'AnsRules_CollectEntryRenewalPayment')
        UNION ALL
        SELECT update_id, record_time, unnest(['burned_traffic', 'traffic_bought']), CAST(unnest(json_extract_string(
            create_arguments, ['$.coinSpent', '$.totalPurchased']
        )) AS DECIMAL(38, 10))
        FROM tree_events ANTI JOIN (
            SELECT event_id AS parent_event_id FROM tree_events WHERE choice = 'CoinRules_MergeMemberTrafficContracts'
        ) USING (parent_event_id)
        WHERE choice IS NULL AND template_name = 'Splice.DecentralizedSynchronizer:MemberTraffic'
        UNION ALL
        SELECT update_id, record_time, 'minted_other', CAST(choice_argument ->> '$.amount' AS DECIMAL(38, 10))
        FROM tree_events WHERE choice = 'CoinRules_Mint'
        UNION ALL
        SELECT update_id, record_time, 'burned_preapproval', CAST(exercise_result ->> '$.coinPaid' AS DECIMAL(38, 10))
        FROM tree_events
        WHERE choice IN (
            'CoinRules_CreateTransferPreapproval', 'CoinRules_CreateExternalPartySetupProposal', 'TransferPreapproval_Renew'
        )
    )
"""
MINTED = """
    sum(CAST(texts[2] AS DECIMAL(38, 10))), sum(CAST(texts[3] AS DECIMAL(38, 10))), sum(CAST(texts[4] AS DECIMAL(38, 10))),
    sum(CAST(texts[5] AS DECIMAL(38, 10)) + CAST(texts[6] AS DECIMAL(38, 10))),
    sum(CAST(texts[7] AS DECIMAL(38, 10)) + CAST(texts[8] AS DECIMAL(38, 10))
        + coalesce(list_sum(CAST(fees AS DECIMAL(38, 10)[])), 0))
"""
BURN_MINT = f"""
    {FLOWS}
    SELECT kind, date_trunc('month', record_time) AS month, sum(amount) FROM flows GROUP BY ALL
    UNION ALL
    SELECT unnest(['minted_app', 'minted_validator', 'minted_sv', 'minted_other', 'fees']), month, unnest([a, b, c, d, e])
    FROM (SELECT date_trunc('month', record_time) AS month, {MINTED} FROM counted GROUP BY ALL) AS minted (month, a, b, c, d, e)
"""
# A flow without a transfer in its update is of the lowest open round.
FLOWS_BY_ROUND = f"""
    {FLOWS}, transfers AS (
        SELECT update_id, CAST(min(texts[1]) AS BIGINT) AS round_number FROM counted GROUP BY ALL
    ), ends_of_rounds AS (
        SELECT ends.record_time AS since, max(number) OVER (ORDER BY ends.record_time) + 1 AS lowest
        FROM (
            SELECT contract_id, CAST(create_arguments ->> '$.round.number' AS BIGINT) AS number
            FROM tree_events WHERE choice IS NULL AND template_name = 'Splice.Round:OpenMiningRound'
        ) JOIN (
            SELECT contract_id, record_time FROM tree_events WHERE consuming AND template_name = 'Splice.Round:OpenMiningRound'
        ) AS ends USING (contract_id)
    )
    SELECT kind, coalesce(round_number, lowest) AS round_number, sum(amount)
    FROM flows LEFT JOIN transfers USING (update_id) ASOF LEFT JOIN ends_of_rounds ON flows.record_time >= since
    GROUP BY ALL
    UNION ALL
    SELECT unnest(['minted_app', 'minted_validator', 'minted_sv', 'minted_other', 'fees']), round_number, unnest([a, b, c, d, e])
    FROM (SELECT CAST(texts[1] AS BIGINT) AS round_number, {MINTED} FROM counted GROUP BY ALL)
        AS minted (round_number, a, b, c, d, e)
"""
LATENCIES = """
    count(*), count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'), max(latency),
    quantile_disc(latency, [0.5, 0.9, 0.95, 0.99]) FILTER (verdict_result = 'VERDICT_RESULT_ACCEPTED'),
    quantile_disc(latency, [0.5, 0.9, 0.95, 0.99]) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED')
"""
CONFIRMERS = """
    SELECT update_id, count(DISTINCT party) AS confirmers
    FROM (SELECT update_id, unnest(parties) AS party FROM quorums) GROUP BY ALL
"""
KINDS = "kind, package_name, template_name, choice"
REQUESTS_OF_KINDS = f"SELECT * FROM ({REQUESTS}) LEFT JOIN ({ROOTS}) USING (update_id)"
# The state of the network: contracts of a few templates, with their start and end.
STATE = """
    SELECT created.*, ends.record_time AS until
    FROM (
        SELECT contract_id, record_time AS since, update_id, template_name, create_arguments
        FROM tree_events WHERE choice IS NULL AND regexp_full_match(
            template_name, 'Splice\\.(DsoRules:DsoRules|Round:OpenMiningRound|\\w+:FeaturedAppRight|\\w+Rules:\\w+Rules)'
        )
    ) AS created
    LEFT JOIN (SELECT contract_id, record_time FROM tree_events WHERE consuming) AS ends USING (contract_id)
"""
# Without factors and super validators, and with the rights of the whole week.
WEIGHTS = """
    WITH rights AS (
        SELECT DISTINCT create_arguments ->> '$.provider' AS party
        FROM tree_events WHERE choice IS NULL AND template_name LIKE 'Splice.%:FeaturedAppRight'
    ), rounds AS (
        SELECT CAST(create_arguments ->> '$.round.number' AS BIGINT) AS round_number, record_time AS since
        FROM tree_events WHERE choice IS NULL AND template_name = 'Splice.Round:OpenMiningRound'
    ), requests AS (
        SELECT update_id, verdicts.record_time, total_traffic_cost FROM verdicts JOIN traffic USING (update_id)
        WHERE verdict_result = 'VERDICT_RESULT_ACCEPTED' AND total_traffic_cost BETWEEN 0 AND 104857600
    ), confirmers AS (
        SELECT update_id, view_id, party
        FROM (SELECT update_id, view_id, unnest(parties) AS party FROM quorums) SEMI JOIN rights USING (party)
    ), shared AS (
        SELECT update_id, traffic_cost, list_distinct(list(party)) AS parties
        FROM (SELECT update_id, envelope_index, traffic_cost, unnest(view_ids) AS view_id FROM envelopes)
        JOIN confirmers USING (update_id, view_id)
        GROUP BY update_id, envelope_index, traffic_cost
    ), costs AS (
        SELECT update_id, sum(traffic_cost) AS confirmed FROM shared GROUP BY ALL
    ), parts AS (
        SELECT update_id, unnest(parties) AS party, traffic_cost // len(parties) AS part FROM shared
    ), burned AS (
        SELECT update_id, record_time, party, sum(part) * any_value(total_traffic_cost) // any_value(confirmed) AS burn_bytes
        FROM parts JOIN requests USING (update_id) JOIN costs USING (update_id) WHERE confirmed > 0 GROUP BY ALL
    )
    SELECT round_number, party, count(*), sum(burn_bytes)
    FROM burned ASOF LEFT JOIN rounds ON burned.record_time >= rounds.since
    GROUP BY ALL
"""
PURCHASES = """
    SELECT
        update_id, record_time, template_name, choice, acting_parties, choice_argument ->> '$.memberId',
        CAST(choice_argument ->> '$.trafficAmount' AS BIGINT), CAST(exercise_result ->> '$.coinPaid' AS DECIMAL(38, 10)),
        CAST(exercise_result ->> '$.summary.coinPrice' AS DECIMAL(38, 10))
    FROM tree_events WHERE choice = 'CoinRules_BuyMemberTraffic' ORDER BY record_time
"""
BOUGHT = """
    SELECT record_time, parent_event_id, create_arguments FROM tree_events
    WHERE choice IS NULL AND template_name = 'Splice.DecentralizedSynchronizer:MemberTraffic' ORDER BY record_time
"""
BY_HAND: dict[str, tuple[str, ...]] = {
    "activity.weights": (WEIGHTS,),
    "cost.spend": (SPEND.format(key="", more=""),),
    "cost.spend by participant": (SPEND.format(key="submitting_participant_uid,", more=""),),
    "cost.spend by party": (SPEND.format(key="party,", more="CROSS JOIN unnest(submitting_parties) AS p(party)"),),
    "cost.spend by template": (
        SPEND.format(key="kind, package_name, template_name, choice,", more=f"LEFT JOIN ({ROOTS}) AS roots USING (update_id)"),
    ),
    "cost.spend every hour": (SPEND.format(key="date_trunc('hour', record_time),", more=""),),
    "cost.compare": (
        f"""
        SELECT
            record_time >= TIMESTAMPTZ '2026-11-05 12:00:00+00', {KINDS}, count(*), count(cost), sum(cost),
            quantile_disc(cost, [0.5, 0.95])
        FROM ({REQUESTS_OF_KINDS}) GROUP BY ALL
        """,
    ),
    "cost.invalid_values": (
        """
        SELECT count(*) FILTER (total_traffic_cost < 0), count(*) FILTER (total_traffic_cost IS NULL), min(update_id) FILTER (
            total_traffic_cost < 0
        ) FROM traffic
        """,
        "SELECT count(*) FILTER (traffic_cost < 0), min(update_id) FILTER (traffic_cost < 0) FROM envelopes",
        "SELECT count(*) FILTER (finalization_time < record_time), count(*) FILTER (finalization_time IS NULL) FROM verdicts",
    ),
    "cost.requests": (
        f"""
        WITH requests AS ({REQUESTS_OF_KINDS}), medians AS (
            SELECT {KINDS}, count(cost) AS requests_of_kind, quantile_disc(cost, 0.5) AS median FROM requests GROUP BY ALL
        ), largest AS (
            SELECT * FROM requests ORDER BY cost DESC NULLS LAST LIMIT 10
        ), envelopes_of_largest AS (
            SELECT update_id, count(*) AS envelopes, max(traffic_cost) AS largest_envelope
            FROM envelopes SEMI JOIN largest USING (update_id) GROUP BY ALL
        ), confirmers_of_largest AS (
            SELECT update_id, len(list_distinct(flatten(list(parties)))) AS confirmers
            FROM quorums SEMI JOIN largest USING (update_id) GROUP BY ALL
        )
        FROM largest JOIN medians ON (largest.kind, largest.package_name, largest.template_name, largest.choice)
            IS NOT DISTINCT FROM (medians.kind, medians.package_name, medians.template_name, medians.choice)
        LEFT JOIN envelopes_of_largest USING (update_id) LEFT JOIN confirmers_of_largest USING (update_id)
        """,
    ),
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
    "verdict.latency by participant": (f"SELECT submitting_participant_uid, {LATENCIES} FROM ({REQUESTS}) GROUP BY ALL",),
    "verdict.latency by confirmers": (
        f"SELECT confirmers, {LATENCIES} FROM ({REQUESTS}) LEFT JOIN ({CONFIRMERS}) USING (update_id) GROUP BY ALL",
    ),
    "verdict.latency every hour": (f"SELECT date_trunc('hour', record_time), {LATENCIES} FROM ({REQUESTS}) GROUP BY ALL",),
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
    "economy.flows": (FLOWS_BY_ROUND, COUPONS),
    "economy.burn_mint": (BURN_MINT,),
    "economy.purchases": (PURCHASES, BOUGHT, STATE),  # a purchase is compared with the price of its round
    "reconcile.coverage": (
        """
        WITH ids AS (
            SELECT date_trunc('day', coalesce(v.record_time, u.record_time, t.record_time)) AS day, update_id,
                u.record_time IS NOT NULL AS has_update, v.record_time IS NOT NULL AS has_verdict,
                total_traffic_cost >= 0 AS has_cost
            FROM verdicts v FULL JOIN updates u USING (update_id) FULL JOIN traffic t USING (update_id)
        )
        SELECT day, count(*), count(*) FILTER (has_update), count(*) FILTER (has_verdict), count(*) FILTER (has_cost),
            count(*) FILTER (has_activity)
        FROM ids LEFT JOIN (SELECT DISTINCT update_id, true AS has_activity FROM activity_records) USING (update_id) GROUP BY ALL
        """,
    ),
    "state.config": (STATE,),
}


def compute(store: Path, call: str) -> dict[str, float]:
    """Return the seconds of the processor of a query by hand, on one thread."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1, "memory_limit": MEMORY_LIMIT})
    for table in EVENTS.tables:
        connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{store}/week/{table.name}/*.parquet')")
    before = time.process_time()
    for query in BY_HAND[call]:
        connection.sql(query).to_arrow_table()
    return {"processor": time.process_time() - before}
