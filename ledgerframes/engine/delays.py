"""Relations of requests that waited while another one timed out.

A query passes three small tables: ``shifts``, by which the intervals are moved, ``delays`` with the least one, and for both
microseconds.
"""

from __future__ import annotations

from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import REQUESTS

OPEN_REQUESTS = Relation(
    "open_requests",
    "One row per request with a possible latency, and when it was open in microseconds since 1970.",
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
        opens + latency AS closes,
        -- The last end of the timeouts that were sequenced before it.
        max(closes) FILTER (WHERE outcome = 'timed out (by latency)') OVER (
            ORDER BY opens RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS timeouts_close
    FROM requests
    WHERE latency >= 0
    """,
    relations=(REQUESTS,),
    is_kept=True,
)
TIMEOUTS = Relation(
    "timeouts",
    "One row per request that timed out and shift, with the interval moved by it.",
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
    is_kept=True,
)
BASELINES = Relation(
    "baselines",
    "One row per size, and one of all sizes: the median latency of accepted requests outside of the intervals of timeouts.",
    """
    SELECT size, grouping(size) = 1 AS is_of_all, count(*) AS requests, quantile_disc(latency, 0.50) AS baseline
    FROM open_requests
    WHERE verdict_result = 'VERDICT_RESULT_ACCEPTED' AND coalesce(timeouts_close <= opens, true)
    GROUP BY GROUPING SETS ((size), ())
    """,
    relations=(OPEN_REQUESTS,),
    is_kept=True,
)
LATE_REQUESTS = Relation(
    "late_requests",
    "One row per request that took longer than its baseline by the least delay.",
    """
    SELECT open_requests.*, coalesce(of_size.baseline, of_all.baseline) AS baseline
    FROM open_requests
    JOIN (FROM baselines WHERE is_of_all) AS of_all ON true
    LEFT JOIN (FROM baselines WHERE NOT is_of_all AND requests >= 30) AS of_size
        ON of_size.size IS NOT DISTINCT FROM open_requests.size
    JOIN delays ON latency - coalesce(of_size.baseline, of_all.baseline) >= least_delay
    """,
    relations=(OPEN_REQUESTS, BASELINES),
    is_kept=True,
)
WAITS = Relation(
    "waits",
    "One row per moved interval of a timeout and late request that was sequenced in it.",
    """
    SELECT
        shift,
        number,
        timeouts.update_id AS culprit_id,
        late_requests.update_id,
        late_requests.submitting_participant_uid = timeouts.submitting_participant_uid AS has_same_participant,
        -- No request waits for itself. As a condition of the join, this would make it compare all pairs.
        CASE
            WHEN late_requests.update_id <> timeouts.update_id
            THEN least(late_requests.latency - baseline, timeouts.closes - late_requests.opens)
        END AS added,
        least(late_requests.latency, timeouts.closes - late_requests.opens) AS overlap
    FROM timeouts
    JOIN late_requests ON late_requests.opens > timeouts.opens AND late_requests.opens < timeouts.closes
    CROSS JOIN delays
    WHERE added >= least_delay
    """,
    relations=(TIMEOUTS, LATE_REQUESTS),
    is_kept=True,
)
CONFIRMING_PARTIES = Relation(
    "confirming_parties",
    "One row per request that waited, or for which another one did: the parties of its quorums.",
    """
    SELECT update_id, list_distinct(flatten(list(parties))) AS parties
    FROM quorums
    SEMI JOIN (SELECT update_id FROM waits UNION SELECT culprit_id FROM waits) USING (update_id)
    GROUP BY update_id
    """,
    tables=("quorums",),
    relations=(WAITS,),
)
VICTIMS = Relation(
    "victims",
    "One row per shift and request that probably waited, for the timeout whose interval it overlaps longest.",
    """
    SELECT
        shift,
        number,
        culprit_id,
        waits.update_id,
        added,
        list_intersect(coalesce(of_victim.parties, []), coalesce(of_culprit.parties, [])) AS parties_in_common
    FROM waits
    LEFT JOIN confirming_parties AS of_victim ON of_victim.update_id = waits.update_id
    LEFT JOIN confirming_parties AS of_culprit ON of_culprit.update_id = culprit_id
    WHERE coalesce(has_same_participant, false) OR len(parties_in_common) > 0
    QUALIFY row_number() OVER (PARTITION BY shift, waits.update_id ORDER BY overlap DESC, number) = 1
    """,
    relations=(WAITS, CONFIRMING_PARTIES),
)
