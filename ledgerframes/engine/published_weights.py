"""Relations of the activity weights that the service publishes.

Source: docs/facts.md#activity-weights.
"""

from __future__ import annotations

from ledgerframes.engine.keys import key_of
from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import PARTY_LABELS
from ledgerframes.engine.weights import JUDGED, ROUND_OPENINGS, Candidates, Weights, rights_table

RECORDS = Relation(
    "records",
    "One row per published weight that is not negative.",
    f"""
    SELECT migration_id, record_time, update_id, {key_of("update_id")} AS update_key, round_number, party, weight
    FROM activity_records
    WHERE weight >= 0
    """,
    tables=("activity_records",),
)
PUBLISHED_ROUNDS = Relation(
    "published_rounds",
    "One row: the first and the last round with records.",
    "SELECT coalesce(min(round_number), 1) AS first, coalesce(max(round_number), 0) AS last FROM activity_records",
    tables=("activity_records",),
)
RECORDS_WITH_FACTORS = Relation(
    "records_with_factors",
    "One row per published weight, with the factor that the party's right had when the round opened.",
    """
    SELECT records.*, factor
    FROM records
    LEFT JOIN round_openings USING (round_number)
    LEFT JOIN rights ON rights.party = records.party AND opens_at >= rights.since AND opens_at < rights.until
    """,
    relations=(RECORDS,),
    parameters=(ROUND_OPENINGS, rights_table()),
)
RECORDED = Relation(
    "recorded",
    "One row per request with a published weight whose factor is missing or not 1, so that the weight does not tell the bytes.",
    """
    FROM judged
    WHERE update_key IN (SELECT update_key FROM records_with_factors WHERE factor IS DISTINCT FROM 1)
    """,
    relations=(JUDGED, RECORDS_WITH_FACTORS),
)
WEIGHTS_OF_RECORDED = Weights(candidates=Candidates(requests=RECORDED))
WEIGHTED_RECORDS = Relation(
    "weighted_records",
    "One row per published weight, with factor and bytes. Unless the factor is 1, bytes are those of an equal computed weight.",
    """
    SELECT records_with_factors.*, CASE WHEN factor = 1 THEN weight ELSE computed_bytes END AS burn_bytes
    FROM records_with_factors
    LEFT JOIN (SELECT update_key, party, weight, burn_bytes AS computed_bytes FROM weights) USING (update_key, party, weight)
    """,
    relations=(RECORDS_WITH_FACTORS, WEIGHTS_OF_RECORDED.weights),
)
RECORDS_WITHOUT_STATE = Relation(
    "weighted_records",
    "One row per published weight. Without the state of the network, factors and bytes are missing.",
    "SELECT *, NULL::DECIMAL(38, 10) AS factor, NULL::BIGINT AS burn_bytes FROM records",
    relations=(RECORDS,),
)


def with_labels(rows: Relation) -> Relation:
    """Return weights with the labels of their parties."""
    query = f"SELECT {rows.name}.*, label FROM {rows.name} LEFT JOIN party_labels ON id = party"
    description = "One row per published weight, with the label of its party."
    return Relation(f"{rows.name}_with_labels", description, query, relations=(rows,), parameters=(PARTY_LABELS,))
