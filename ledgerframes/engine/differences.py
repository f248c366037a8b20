"""Relations that compare the rows of two sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

import pyarrow as pa

from ledgerframes.engine.relation import Parameter, Relation

ONLY_OURS, ONLY_THEIRS, DIFFERENT, EQUAL_VALUE, EQUAL = range(5)  # outcomes from worst to best
IMPORT = "canton-network-acs-import-"
WORST_OF_UPDATES = Parameter("worst_of_updates", "One row per update with a difference: the worst outcome of its rows.")
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
    parameters=(WORST_OF_UPDATES,),
)


@dataclass(frozen=True)
class ComparedColumn:
    """A column that two sources have.

    Attributes
    ----------
    is_payload : bool
        Whether two values are compared member by member, because their texts can differ.
    can_be_absent : bool
        Whether a missing value in the second source does not count as a difference.
    """

    name: str
    type: pa.DataType
    is_payload: bool
    can_be_absent: bool = False

    @property
    def differs(self) -> str:
        """The condition that the values differ, in SQL."""
        cast = "::VARCHAR" if pa.types.is_dictionary(self.type) else ""
        condition = f"ours.{self.name}{cast} IS DISTINCT FROM theirs.{self.name}{cast}"
        return f"{condition} AND theirs.{self.name} IS NOT NULL" if self.can_be_absent else condition


def differences(
    name: str, ours: Relation, theirs: Relation, key: str, heads: Sequence[str], columns: Sequence[ComparedColumn]
) -> Relation:
    """Return the relation of the rows of two others, with the columns that differ.

    A row contains both payloads if they differ.
    """
    names = [f"CASE WHEN {each.differs} THEN '{each.name}' END" for each in columns]
    values = [
        f"CASE WHEN is_in_both AND {each.differs} THEN {side}.{each.name} END AS {side}_{each.name}"
        for each in columns
        if each.is_payload
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
