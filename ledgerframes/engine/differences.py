"""Relations of rows that two sources have, or one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import indent

import pyarrow as pa

from ledgerframes.engine.relation import Relation

ONLY_OURS, ONLY_THEIRS, DIFFERENT, EQUAL_VALUE, EQUAL = range(5)  # outcomes from worst to best
IMPORT = "canton-network-acs-import-"
COMPARED_UPDATES = Relation(
    "compared_updates",
    "One row per update of either source, with the worst outcome of its rows.",
    f"""
    SELECT
        coalesce(updates.record_time, other_updates.record_time) AS record_time,
        CASE WHEN updates.update_id IS NULL THEN other_updates.workflow_id ELSE updates.workflow_id END AS workflow,
        CASE
            WHEN starts_with(workflow, '{IMPORT}')
            THEN 'import'
            ELSE coalesce(updates.kind::VARCHAR, other_updates.kind::VARCHAR)
        END AS kind,
        CASE
            WHEN other_updates.update_id IS NULL THEN {ONLY_OURS}
            WHEN updates.update_id IS NULL THEN {ONLY_THEIRS}
            ELSE coalesce(worst_of_updates.outcome, {EQUAL})
        END AS outcome
    FROM updates
    FULL JOIN other_updates ON updates.update_id = other_updates.update_id
    LEFT JOIN worst_of_updates ON worst_of_updates.update_id = updates.update_id
    """,
    tables=("updates", "other_updates"),
)


def differences(
    name: str, ours: Relation, theirs: Relation, key: str, heads: Sequence[str], columns: Iterable[tuple[str, pa.DataType, bool]]
) -> Relation:
    """Return the relation of the rows of two others, with the columns that differ.

    Each of `columns` has its name, its type, and whether it is a payload. Payloads that differ are in the rows, because only
    their members tell whether they have the same value.
    """
    columns = list(columns)
    as_text = {each: "::VARCHAR" if pa.types.is_dictionary(kind) else "" for each, kind, _ in columns}
    differ = {each: f"ours.{each}{cast} IS DISTINCT FROM theirs.{each}{cast}" for each, cast in as_text.items()}
    names = [f"CASE WHEN {condition} THEN '{each}' END" for each, condition in differ.items()]
    values = [
        f"CASE WHEN is_in_both AND {differ[each]} THEN {side}.{each} END AS {side}_{each}"
        for each, _, is_payload in columns
        if is_payload
        for side in ("ours", "theirs")
    ]
    selected = [
        *(f"CASE WHEN ours.{key} IS NOT NULL THEN ours.{each} ELSE theirs.{each} END AS {each}" for each in heads),
        f"CASE WHEN theirs.{key} IS NULL THEN {ONLY_OURS} WHEN ours.{key} IS NULL THEN {ONLY_THEIRS} END AS only_in",
        "only_in IS NULL AS is_in_both",
        f"list_filter([\n{_as_list(names)}\n], lambda name: is_in_both AND name IS NOT NULL) AS different_columns",
        *values,
    ]
    join = f"{ours.name} AS ours\nFULL JOIN {theirs.name} AS theirs ON ours.{key} = theirs.{key}"
    query = f"SELECT\n{_as_list(selected)}\nFROM {join}"
    return Relation(name, "One row per row of either source.", query, relations=(ours, theirs))


def _as_list(expressions: Sequence[str]) -> str:
    return indent(",\n".join(expressions), "    ")
