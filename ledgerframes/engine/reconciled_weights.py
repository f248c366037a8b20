"""Relations that compare published with computed weights.

They name the reason of each mismatch. Beside the state of the network, once as it was recorded and once with ledger times
(``effective_``), a query passes ``living_rounds``, which nobody archived, ``final_times`` and whether they are known
(``coverage``), and all ``factors`` of a party.
"""

from __future__ import annotations

from ledgerframes.engine.relation import Relation
from ledgerframes.engine.weights import COMPUTED, JUDGED, PUBLISHED_ROUNDS, RECORDS, Weights

OWN = Relation(
    "compared_with",
    "One row per computed weight.",
    "SELECT update_id, party, weight, round_number FROM weights",
    relations=(COMPUTED.weights,),
)
PASSED = Relation(
    "compared_with", "One row per weight of the caller.", "SELECT update_id, party, weight, round_number FROM passed"
)


def reconciled(computed: Relation) -> Relation:
    """Return the published weights next to some computed ones."""
    compared = Relation(
        "compared",
        "One row per request and party with a weight in either.",
        """
        SELECT
            update_id,
            party,
            records.weight AS weight_published,
            compared_with.weight AS weight_computed,
            weight_published - weight_computed AS difference,
            coalesce(records.round_number, compared_with.round_number) AS round_number,
            coalesce(records.migration_id, candidates.migration_id) AS migration_id,
            coalesce(records.record_time, candidates.record_time) AS record_time,
            -- A request without a verdict has no envelopes either.
            CASE WHEN candidates.update_id IS NULL THEN 'no envelopes' ELSE obstacle END AS obstacle,
            CASE
                WHEN weight_computed IS NULL THEN 'only published'
                WHEN weight_published IS NULL THEN 'only computed'
                WHEN difference = 0 THEN 'equal'
                ELSE 'different'
            END AS outcome
        FROM records
        FULL JOIN compared_with USING (update_id, party)
        LEFT JOIN candidates USING (update_id)
        """,
        relations=(RECORDS, computed, COMPUTED.candidates),
        is_kept=True,
    )
    mismatched = Relation(
        "mismatched",
        "One row per request with a mismatch.",
        "FROM judged SEMI JOIN (FROM compared WHERE outcome <> 'equal') AS mismatches USING (update_id)",
        relations=(JUDGED, compared),
    )
    effective = Weights("effective_", requests=mismatched).weights
    query = """
    SELECT
        compared.*,
        CASE
            WHEN outcome = 'equal' THEN NULL
            WHEN weight_computed IS NULL AND obstacle IS NOT NULL THEN obstacle
            WHEN effective_weights.weight IS NOT DISTINCT FROM weight_published
                AND weights.weight IS DISTINCT FROM weight_published THEN 'boundary'
            WHEN weight_computed IS NULL AND rights.party IS NULL THEN 'party not featured'
            WHEN weight_computed IS NULL AND earning.update_id IS NULL THEN 'no featured confirmers'
            WHEN living_rounds.round_number IS NOT NULL
                OR coverage.is_known AND final_times.since IS NULL THEN 'provisional'
            WHEN weight_published IS NULL AND (compared.round_number < first OR compared.round_number > last)
                AND published_too.update_id IS NULL THEN 'record withheld'
            WHEN abs(difference) <= 1 THEN 'rounding'
            WHEN outcome = 'different' AND len(list_filter(
                factors_of_party.factors, lambda factor: trunc(weights.burn_bytes * factor) = weight_published
            )) > 0 THEN 'weight factor'
            ELSE 'unexplained'
        END AS reason
    FROM compared
    CROSS JOIN coverage
    CROSS JOIN published_rounds
    LEFT JOIN weights USING (update_id, party)
    LEFT JOIN effective_weights USING (update_id, party)
    LEFT JOIN (SELECT DISTINCT update_id FROM weights) AS earning USING (update_id)
    LEFT JOIN (
        SELECT DISTINCT update_id
        FROM compared
        WHERE outcome <> 'equal' AND weight_published IS NOT NULL
    ) AS published_too USING (update_id)
    LEFT JOIN round_openings ON round_openings.round_number = compared.round_number
    LEFT JOIN rights ON rights.party = compared.party AND opens_at >= rights.since AND opens_at < rights.until
    LEFT JOIN living_rounds ON living_rounds.round_number = compared.round_number
    LEFT JOIN final_times
        ON epoch_us(compared.record_time) >= final_times.since AND epoch_us(compared.record_time) < final_times.until
    LEFT JOIN (SELECT party, list(factor) AS factors FROM factors GROUP BY party) AS factors_of_party USING (party)
    """
    rows = "One row per request and party with a weight in either, with the first reason that explains a mismatch."
    return Relation("reconciled", rows, query, relations=(compared, COMPUTED.weights, effective, PUBLISHED_ROUNDS))
