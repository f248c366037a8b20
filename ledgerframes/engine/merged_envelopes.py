"""Relations of envelopes after a merge of some of them."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import ROOT_NODES


def merged_confirmers(confirmers: Relation) -> Relation:
    """Return a merge key per envelope, equal for envelopes with the same confirmers."""
    query = f"""
    SELECT update_id, envelope_index, list_sort(list(DISTINCT party)) AS merge_key
    FROM (SELECT update_id, envelope_index, unnest(view_ids) AS view_id FROM envelopes)
    JOIN {confirmers.name} USING (update_id, view_id)
    GROUP BY ALL
    """
    rows = "One row per envelope with confirmers. Envelopes of a request with the same confirmers become one."
    return Relation("merge_keys", rows, query, tables=("envelopes",), relations=(confirmers,))


MERGED_CHOICE_NAMES = Parameter("merged_choices", "One row per template and choice whose envelopes become one.")
MERGED_CHOICES = Relation(
    "merge_keys",
    "One row per envelope with views whose request has one of the merged choices as its root.",
    """
    SELECT update_id, envelope_index, true AS merge_key
    FROM envelopes
    WHERE len(view_ids) > 0
        AND update_id IN (SELECT update_id FROM root_nodes SEMI JOIN merged_choices USING (template_name, choice))
    """,
    tables=("envelopes",),
    relations=(ROOT_NODES,),
    parameters=(MERGED_CHOICE_NAMES,),
)


def merged_envelopes(merge_keys: Relation) -> Relation:
    """Return envelopes after a merge of those with the same key in each request."""
    query = f"""
    SELECT
        update_id,
        min(envelope_index) AS envelope_index,
        sum(traffic_cost)::BIGINT AS traffic_cost,
        flatten(list(view_ids)) AS view_ids
    FROM envelopes
    LEFT JOIN {merge_keys.name} USING (update_id, envelope_index)
    GROUP BY update_id, merge_key, CASE WHEN merge_key IS NULL THEN envelope_index END
    """
    return Relation("merged_envelopes", "One row per envelope after the merge.", query, ("envelopes",), (merge_keys,))
