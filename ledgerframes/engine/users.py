"""Relations of the users of a participant whose commands became requests."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import REQUESTS

COMPLETIONS = Parameter("completions", "One row per completion of one or more participants.")
USERS = Relation(
    "users",
    "One row per update that a completion names. Of several completions, the first counts.",
    """
    SELECT DISTINCT ON (update_id) update_id, user_id, paid_traffic_cost
    FROM completions
    WHERE update_id <> ''
    ORDER BY completion_offset
    """,
    parameters=(COMPLETIONS,),
)
REQUESTS_BY_USER = Relation(
    "requests_by_user",
    "One row per request, with the user of its command, or the reason why the user is unknown.",
    """
    SELECT
        requests.*,
        user_id,
        paid_traffic_cost,
        CASE
            WHEN user_id IS NOT NULL THEN 'known'
            WHEN users.update_id IS NOT NULL THEN 'not sent'
            WHEN submitting_participant_uid IS NULL THEN 'submitter unknown'
            WHEN regexp_replace(submitting_participant_uid, '^PAR::', '') NOT IN (
                SELECT DISTINCT regexp_replace(participant_id, '^PAR::', '') FROM completions
            ) THEN 'other participant'
            -- The completion of a failed command names no update.
            WHEN verdict_result = 'VERDICT_RESULT_REJECTED' THEN 'rejected'
            ELSE 'no completion'
        END AS user_status
    FROM requests
    LEFT JOIN users USING (update_id)
    """,
    relations=(REQUESTS, USERS),
    parameters=(COMPLETIONS,),
)
