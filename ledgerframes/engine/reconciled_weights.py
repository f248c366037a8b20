"""Relations of published next to computed weights, and of the reasons for mismatches.

A query passes the state of the network twice: with record times, and with ledger effective times (``effective_``).
"""

from __future__ import annotations

from ledgerframes.engine.keys import key_of
from ledgerframes.engine.published_weights import PUBLISHED_ROUNDS, RECORDS
from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.weights import CANDIDATES, COMPUTED, ROUND_OPENINGS, Candidates, Weights, judged, rights_table

LIVING_ROUNDS = Parameter("living_rounds", "One row per round that is not archived.")
FINAL_TIMES = Parameter("final_times", "One row per interval in which data are final.")
COVERAGE = Parameter(
    "coverage", "One row: whether it is known which data are final, and the time from which all rights are known."
)
FACTORS = Parameter("factors", "One row per party and factor that one of its rights ever had.")
CALLER_WEIGHTS = Parameter("passed", "One row per weight that the caller passed.")
OWN = Relation(
    "compared_with",
    "One row per computed weight.",
    "SELECT NULL AS update_id, update_key, party, weight, round_number FROM weights",
    relations=(COMPUTED.weights,),
)
PASSED = Relation(
    "compared_with",
    "One row per weight that the caller passed.",
    f"SELECT update_id, {key_of('update_id')} AS update_key, party, weight, round_number FROM passed",
    parameters=(CALLER_WEIGHTS,),
)


def reconciled(computed: Relation) -> Relation:
    """Return published weights next to computed ones, with reasons for mismatches."""
    compared = _compared(computed)
    explained = _explained(compared)
    query = """
    SELECT *, NULL AS reason FROM compared WHERE outcome = 'equal'
    UNION ALL
    FROM explained
    """
    rows = "One row per request and party with a published or a computed weight, with the first reason that explains a mismatch."
    return Relation("reconciled", rows, query, relations=(compared, explained))


def _compared(computed: Relation) -> Relation:
    """Return published weights next to computed ones."""
    return Relation(
        "compared",
        "One row per request and party with a published or a computed weight.",
        """
        SELECT
            update_key,
            party,
            coalesce(records.update_id, compared_with.update_id) AS update_id,
            records.migration_id,
            records.record_time,
            records.weight AS weight_published,
            compared_with.weight AS weight_computed,
            weight_published - weight_computed AS difference,
            coalesce(records.round_number, compared_with.round_number) AS round_number,
            CASE
                WHEN weight_computed IS NULL THEN 'only published'
                WHEN weight_published IS NULL THEN 'only computed'
                WHEN difference = 0 THEN 'equal'
                ELSE 'different'
            END AS outcome
        FROM records
        FULL JOIN compared_with USING (update_key, party)
        """,
        relations=(RECORDS, computed),
        is_materialized=True,
    )


def _explained(compared: Relation) -> Relation:
    """Return the mismatches with their reasons."""
    mismatches = Relation(
        "mismatches",
        "One row per request and party whose published and computed weights are not equal.",
        "FROM compared WHERE outcome <> 'equal'",
        relations=(compared,),
        is_materialized=True,
    )
    mismatched = Relation(
        "mismatched",
        "One row per request with a verdict and a mismatch.",
        "FROM all_judged SEMI JOIN mismatches USING (update_key)",
        relations=(judged("all_"), mismatches),
        is_materialized=True,
    )
    own = Relation(
        "weights_of_mismatched",
        "One row per request with a mismatch and app provider that earns.",
        "FROM weights SEMI JOIN mismatches USING (update_key)",
        relations=(COMPUTED.weights, mismatches),
        is_materialized=True,
    )
    obstacles = Relation(
        "obstacles",
        "One row per request with a mismatch that earns nothing, with the reason why.",
        "SELECT update_key, obstacle FROM candidates SEMI JOIN mismatches USING (update_key) WHERE obstacle IS NOT NULL",
        relations=(CANDIDATES.all, mismatches),
    )
    effective = _effective_weights(mismatched)
    return Relation(
        "explained",
        "One row per request and party with a mismatch, with the first reason that explains it.",
        """
        SELECT
            mismatches.* REPLACE (
                coalesce(mismatches.update_id, mismatched.update_id) AS update_id,
                coalesce(mismatches.migration_id, mismatched.migration_id) AS migration_id,
                coalesce(mismatches.record_time, mismatched.record_time) AS record_time
            ),
            CASE
                -- A request without a verdict has no envelopes either.
                WHEN weight_computed IS NULL AND mismatched.update_key IS NULL THEN 'no envelopes'
                WHEN weight_computed IS NULL AND obstacle IS NOT NULL THEN obstacle
                WHEN effective_weights.weight IS NOT DISTINCT FROM weight_published
                    AND own.weight IS DISTINCT FROM weight_published THEN 'boundary'
                -- A right can have ended between the opening of the round and the snapshot that the state starts with.
                WHEN weight_computed IS NULL AND opens_at < rights_known_from THEN 'no state'
                WHEN weight_computed IS NULL AND rights.party IS NULL THEN 'party not featured'
                WHEN weight_computed IS NULL AND earning.update_key IS NULL THEN 'no featured confirmers'
                WHEN living_rounds.round_number IS NOT NULL
                    OR coverage.is_known AND final_times.since IS NULL THEN 'provisional'
                WHEN weight_published IS NULL AND (mismatches.round_number < first OR mismatches.round_number > last)
                    AND published_too.update_key IS NULL THEN 'record withheld'
                WHEN abs(difference) <= 1 THEN 'rounding'
                WHEN outcome = 'different' AND opens_at < rights_known_from THEN 'no state'
                WHEN outcome = 'different' AND len(list_filter(
                    factors_of_party.factors, lambda factor: trunc(own.burn_bytes * factor) = weight_published
                )) > 0 THEN 'weight factor'
                ELSE 'unexplained'
            END AS reason
        FROM mismatches
        CROSS JOIN coverage
        CROSS JOIN published_rounds
        LEFT JOIN mismatched USING (update_key)
        LEFT JOIN obstacles USING (update_key)
        LEFT JOIN weights_of_mismatched AS own USING (update_key, party)
        LEFT JOIN effective_weights USING (update_key, party)
        LEFT JOIN (SELECT DISTINCT update_key FROM weights_of_mismatched) AS earning USING (update_key)
        LEFT JOIN (SELECT DISTINCT update_key FROM mismatches WHERE weight_published IS NOT NULL) AS published_too
            USING (update_key)
        LEFT JOIN round_openings ON round_openings.round_number = mismatches.round_number
        LEFT JOIN rights ON rights.party = mismatches.party AND opens_at >= rights.since AND opens_at < rights.until
        LEFT JOIN living_rounds ON living_rounds.round_number = mismatches.round_number
        LEFT JOIN final_times
            ON epoch_us(coalesce(mismatches.record_time, mismatched.record_time)) >= final_times.since
            AND epoch_us(coalesce(mismatches.record_time, mismatched.record_time)) < final_times.until
        LEFT JOIN (SELECT party, list(factor) AS factors FROM factors GROUP BY party) AS factors_of_party USING (party)
        """,
        relations=(mismatches, mismatched, obstacles, own, effective, PUBLISHED_ROUNDS),
        parameters=(LIVING_ROUNDS, FINAL_TIMES, COVERAGE, FACTORS, ROUND_OPENINGS, rights_table()),
    )


def _effective_weights(mismatched: Relation) -> Relation:
    """Return the weights of requests by the state at ledger effective times."""
    envelopes = Relation(
        "mismatched_envelopes",
        "One row per envelope of a request with a mismatch.",
        "SELECT update_id, envelope_index, traffic_cost, view_ids FROM envelopes SEMI JOIN mismatched USING (update_id)",
        tables=("envelopes",),
        relations=(mismatched,),
    )
    confirmers = Relation(
        "mismatched_confirmers",
        "One row per party of a quorum of a request with a mismatch, with the view.",
        "SELECT update_id, view_id, unnest(parties) AS party FROM (FROM quorums SEMI JOIN mismatched USING (update_id))",
        tables=("quorums",),
        relations=(mismatched,),
    )
    return Weights("effective_", Candidates("effective_", mismatched, envelopes), envelopes, confirmers).weights
