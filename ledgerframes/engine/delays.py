"""Relations of requests that waited while another one timed out."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import REQUESTS

SHIFTS = Parameter("shifts", "One row per shift by which the intervals of timeouts are moved, in microseconds.")
DELAYS = Parameter("delays", "One row: the shortest delay that counts, in microseconds.")
OPEN_REQUESTS = Relation(
    "open_requests",
    "One row per request whose latency is not negative, with its start and end in microseconds since 1970.",
    """
    SELECT
        update_id,
        record_time,
        submitting_participant_uid,
        verdict_result,
        outcome,
        size,
        latency,
        epoch_us(record_time) AS opens,
        opens + latency AS closes
    FROM requests
    WHERE latency >= 0
    """,
    relations=(REQUESTS,),
    is_materialized=True,
)
TIMEOUTS = Relation(
    "timeouts",
    "One row per shift and request that timed out, with the interval of the request moved by the shift.",
    """
    SELECT
        update_id,
        record_time,
        submitting_participant_uid,
        latency,
        row_number() OVER (PARTITION BY shift ORDER BY record_time, update_id) AS number,
        shift,
        opens + shift AS opens,
        closes + shift AS closes
    FROM open_requests
    CROSS JOIN shifts
    WHERE outcome = 'timed out (by latency)'
    """,
    relations=(OPEN_REQUESTS,),
    parameters=(SHIFTS,),
    is_materialized=True,
)
ENDS_OF_TIMEOUTS = Relation(
    "ends_of_timeouts",
    "One row per sequencing time of a timed-out request: the latest end among those sequenced so far.",
    """
    SELECT opens, max(max(closes)) OVER (ORDER BY opens) AS timeouts_close
    FROM open_requests
    WHERE outcome = 'timed out (by latency)'
    GROUP BY opens
    """,
    relations=(OPEN_REQUESTS,),
)
BASELINES = Relation(
    "baselines",
    "One row per size, and one for all sizes: the median latency of accepted requests outside the intervals of timeouts.",
    """
    SELECT size, grouping(size) = 1 AS is_of_all, count(*) AS requests, quantile_disc(latency, 0.50) AS baseline
    FROM (SELECT size, latency, opens FROM open_requests WHERE verdict_result = 'VERDICT_RESULT_ACCEPTED') AS accepted
    -- The last timeout that was sequenced before the request.
    ASOF LEFT JOIN ends_of_timeouts ON accepted.opens > ends_of_timeouts.opens
    WHERE coalesce(timeouts_close <= accepted.opens, true)
    GROUP BY GROUPING SETS ((size), ())
    """,
    relations=(OPEN_REQUESTS, ENDS_OF_TIMEOUTS),
    is_materialized=True,
)
LATE_REQUESTS = Relation(
    "late_requests",
    "One row per request that took longer than its baseline by at least the shortest delay that counts.",
    """
    SELECT
        open_requests.*,
        coalesce(of_size.baseline, of_all.baseline) AS baseline,
        row_number() OVER (ORDER BY record_time, update_id) AS late_number
    FROM open_requests
    JOIN (FROM baselines WHERE is_of_all) AS of_all ON true
    LEFT JOIN (FROM baselines WHERE NOT is_of_all AND requests >= 30) AS of_size
        ON of_size.size IS NOT DISTINCT FROM open_requests.size
    JOIN delays ON latency - coalesce(of_size.baseline, of_all.baseline) >= least_delay
    """,
    relations=(OPEN_REQUESTS, BASELINES),
    parameters=(DELAYS,),
    is_materialized=True,
)
CONFIRMING_PARTIES = Relation(
    "confirming_parties",
    "One row per late or timed-out request with quorums: the parties in its quorums.",
    """
    SELECT update_id, list_sort(list_distinct(flatten(list(parties)))) AS parties
    FROM quorums
    SEMI JOIN (SELECT update_id FROM late_requests UNION SELECT update_id FROM timeouts) USING (update_id)
    GROUP BY update_id
    """,
    tables=("quorums",),
    relations=(LATE_REQUESTS, TIMEOUTS),
    is_materialized=True,
)
SETS_OF_PARTIES = Relation(
    "sets_of_parties",
    "One row per distinct set of confirming parties, with a number.",
    """
    SELECT parties, row_number() OVER () AS set_number
    FROM (SELECT DISTINCT parties FROM confirming_parties)
    """,
    relations=(CONFIRMING_PARTIES,),
    is_materialized=True,
)
SETS_OF_REQUESTS = Relation(
    "sets_of_requests",
    "One row per late or timed-out request with confirming parties: the number of their set.",
    "SELECT update_id, set_number FROM confirming_parties JOIN sets_of_parties USING (parties)",
    relations=(CONFIRMING_PARTIES, SETS_OF_PARTIES),
    is_materialized=True,
)
WAITS = Relation(
    "waits",
    "One row per moved interval of a timeout and late request that was sequenced within it.",
    """
    SELECT
        shift,
        number,
        late_number,
        culprits.set_number AS culprit_set,
        late.set_number AS victim_set,
        coalesce(late.submitting_participant_uid = culprits.submitting_participant_uid, false) AS has_same_participant,
        least(late.latency - baseline, culprits.closes - late.opens) AS added,
        least(late.latency, culprits.closes - late.opens) AS overlap
    FROM (
        -- Both meet in a slot of ten seconds, because a join by times alone compares too many. Later slots have no late request.
        SELECT *, unnest(generate_series(opens // 10_000_000, least(closes, last) // 10_000_000)) AS slot
        FROM timeouts
        LEFT JOIN sets_of_requests USING (update_id)
        CROSS JOIN (SELECT max(opens) AS last FROM late_requests)
    ) AS culprits
    JOIN (
        SELECT *, opens // 10_000_000 AS slot
        FROM late_requests
        LEFT JOIN sets_of_requests USING (update_id)
    ) AS late USING (slot)
    CROSS JOIN delays
    WHERE late.opens > culprits.opens
        AND late.opens < culprits.closes
        AND added >= least_delay
        AND late.update_id <> culprits.update_id -- no request waits for itself
    """,
    relations=(TIMEOUTS, LATE_REQUESTS, SETS_OF_REQUESTS),
    parameters=(DELAYS,),
    is_materialized=True,
)
LINKED_SETS = Relation(
    "linked_sets",
    "One row per set of a request that waited and set of a timeout, if they have parties in common.",
    """
    SELECT victim_set, culprit_set, list_intersect(of_victim.parties, of_culprit.parties) AS parties_in_common
    FROM (SELECT DISTINCT victim_set, culprit_set FROM waits)
    JOIN sets_of_parties AS of_victim ON of_victim.set_number = victim_set
    JOIN sets_of_parties AS of_culprit ON of_culprit.set_number = culprit_set
    WHERE len(parties_in_common) > 0
    """,
    relations=(WAITS, SETS_OF_PARTIES),
    is_materialized=True,
)
VICTIMS = Relation(
    "victims",
    "One row per shift and request that probably waited, with the timeout whose interval it overlaps longest.",
    """
    SELECT shift, number, late_number, added, coalesce(parties_in_common, []) AS parties_in_common
    FROM (
        SELECT shift, late_number, unnest(arg_max(
            {number: number, added: added, victim_set: victim_set, culprit_set: culprit_set},
            {overlap: overlap, earlier: -number}
        ))
        FROM waits
        LEFT JOIN (SELECT victim_set, culprit_set, true AS is_linked FROM linked_sets) USING (victim_set, culprit_set)
        WHERE has_same_participant OR is_linked
        GROUP BY shift, late_number
    )
    LEFT JOIN linked_sets USING (victim_set, culprit_set)
    """,
    relations=(WAITS, LINKED_SETS),
)
