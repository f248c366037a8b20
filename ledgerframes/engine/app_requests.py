"""Relations of the requests of an app, and of the outside parties that submit them."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.engine.weights import JUDGED, UNKNOWN, Candidates, Weights

APP_PACKAGES = Parameter("app_packages", "One row per package of the app.")
APP_TEMPLATES = Parameter("app_templates", "One row per template of the app.")
APP_PARTIES = Parameter("app_parties", "One row per party of the app.")
EXCLUDED = Parameter("excluded", "One row per party that does not count as an outside party.")
SPAN = Parameter("span", "One row: start and end of the window, in microseconds since 1970.")
NO_UPDATES = Relation("app_updates", "No rows, because nothing identifies the app.", "SELECT '' AS update_id WHERE false")
UPDATES_OF_APP = Relation(
    "updates_of_app",
    "One row per update with a node of the app's packages and templates. An empty list of either matches all.",
    """
    SELECT DISTINCT update_id
    FROM tree_events
    WHERE (package_name IN (FROM app_packages) OR NOT EXISTS (FROM app_packages))
        AND (template_name IN (FROM app_templates) OR NOT EXISTS (FROM app_templates))
    """,
    tables=("tree_events",),
    parameters=(APP_PACKAGES, APP_TEMPLATES),
)
CONFIRMED_BY_APP = Relation(
    "confirmed_by_app",
    "One row per request with one of the app's parties in a quorum.",
    """
    SELECT DISTINCT update_id
    FROM (SELECT update_id, unnest(parties) AS party FROM quorums)
    WHERE party IN (FROM app_parties)
    """,
    tables=("quorums",),
    parameters=(APP_PARTIES,),
)


def app_updates(*sources: Relation) -> Relation:
    """Return the updates that at least one of several relations has."""
    if not sources:
        return NO_UPDATES
    query = "\nUNION\n".join(f"FROM {each.name}" for each in sources)
    return Relation("app_updates", "One row per update of the app.", query, relations=sources)


def app_requests(updates: Relation, *, has_state: bool) -> Relation:
    """Return the requests of an app.

    The bytes that requests burn for its parties need the state of the network.
    """
    burned = burned_for_app(updates) if has_state else NOTHING_BURNED
    query = """
    SELECT
        requests.update_id,
        requests.record_time,
        requests.total_traffic_cost,
        app_bytes,
        list_sort(list_filter(
            list_distinct(coalesce(submitting_parties, [])), lambda party: NOT list_contains(excluded_parties, party)
        )) AS outside_parties,
        len(outside_parties) > 0 AS is_outside,
        coalesce(len(submitting_parties) > 0, false) AS has_submitter,
        has_submitter AND requests.total_traffic_cost IS NOT NULL AS is_known,
        -- Old updates have no verdict.
        verdict_result IS NULL OR verdict_result = 'VERDICT_RESULT_ACCEPTED' AS is_accepted,
        coalesce(verdict_result = 'VERDICT_RESULT_REJECTED', false) AS is_rejected
    FROM requests
    SEMI JOIN app_updates USING (update_id)
    CROSS JOIN span
    CROSS JOIN (SELECT coalesce(list(party), []) AS excluded_parties FROM excluded)
    LEFT JOIN burned_for_app USING (update_id)
    WHERE epoch_us(requests.record_time) >= since AND epoch_us(requests.record_time) < until
    """
    rows = "One row per request of the app in the window, with the outside parties that submit it."
    return Relation(
        "app_requests", rows, query, relations=(REQUESTS, updates, burned), parameters=(EXCLUDED, SPAN), is_materialized=True
    )


NOTHING_BURNED = Relation(
    "burned_for_app",
    "No rows, because the app has no party or the state of the network is unknown.",
    "SELECT '' AS update_id, NULL::BIGINT AS app_bytes WHERE false",
)


def burned_for_app(updates: Relation) -> Relation:
    """Return the bytes that requests burn for the parties of an app."""
    judged = Relation(
        "judged_of_app",
        "One row per request of the app with a verdict.",
        "FROM judged SEMI JOIN app_updates USING (update_id)",
        relations=(JUDGED, updates),
    )
    candidates = Candidates(requests=judged)
    weights = Weights(candidates=candidates).weights
    query = f"""
    SELECT update_id, coalesce(burned, 0)::BIGINT AS app_bytes
    FROM candidates
    LEFT JOIN (
        SELECT update_key, sum(burn_bytes) AS burned
        FROM weights
        WHERE party IN (FROM app_parties)
        GROUP BY update_key
    ) USING (update_key)
    WHERE obstacle IS NULL OR NOT {UNKNOWN}
    """
    rows = "One row per request whose weights can be computed, with the bytes that it burns for the app's parties."
    return Relation("burned_for_app", rows, query, relations=(candidates.all, weights), parameters=(APP_PARTIES,))


def outside_parties(requests: Relation) -> Relation:
    """Return the outside parties that submit requests of an app."""
    query = f"""
    SELECT record_time, party, regexp_replace(party, '(?s)^.*::', '') AS namespace
    FROM (SELECT record_time, unnest(outside_parties) AS party FROM {requests.name} WHERE is_accepted)
    """
    rows = "One row per accepted request and outside party, with the namespace of the party."
    return Relation("outside_parties", rows, query, relations=(requests,))
