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
        opens + latency AS closes
    FROM requests
    WHERE latency >= 0
    """,
    relations=(REQUESTS,),
    is_kept=True,
)
TIMEOUTS = Relation(
    "timeouts",
    "One row per request that timed out, numbered by time, and when the last of those so far closes.",
    """
    SELECT
        update_id,
        record_time,
        submitting_participant_uid,
        latency,
        opens,
        closes,
        row_number() OVER (ORDER BY record_time, update_id) AS number,
        max(closes) OVER (ORDER BY opens) AS last_closes
    FROM open_requests
    WHERE outcome = 'timed out (by latency)'
    """,
    relations=(OPEN_REQUESTS,),
    is_kept=True,
)
BASELINES = Relation(
    "baselines",
    "One row per size, and one of all sizes: the median latency of accepted requests outside of the intervals of timeouts.",
    """
    SELECT size, grouping(size) = 1 AS is_of_all, count(*) AS requests, quantile_disc(open_requests.latency, 0.50) AS baseline
    FROM open_requests
    -- The last timeout before the request.
    ASOF LEFT JOIN timeouts ON open_requests.opens > timeouts.opens
    WHERE verdict_result = 'VERDICT_RESULT_ACCEPTED' AND coalesce(last_closes <= open_requests.opens, true)
    GROUP BY GROUPING SETS ((size), ())
    """,
    relations=(OPEN_REQUESTS, TIMEOUTS),
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
    "One row per shift, timeout and late request that was sequenced in the moved interval.",
    """
    SELECT
        shift,
        number,
        timeouts.update_id AS culprit_id,
        late_requests.update_id,
        late_requests.submitting_participant_uid = timeouts.submitting_participant_uid AS has_same_participant,
        least(late_requests.latency - baseline, timeouts.closes + shift - late_requests.opens) AS added,
        least(late_requests.latency, timeouts.closes + shift - late_requests.opens) AS overlap
    FROM (FROM timeouts CROSS JOIN shifts) AS timeouts
    JOIN late_requests
        ON late_requests.opens > timeouts.opens + shift AND late_requests.opens < timeouts.closes + shift
    CROSS JOIN delays
    WHERE added >= least_delay AND late_requests.update_id <> timeouts.update_id
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
