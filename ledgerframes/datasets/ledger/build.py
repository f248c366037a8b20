"""The four ledger tables from update pages of a participant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from ledgerframes.datasets._arrays import (
    Indices,
    encode_categories,
    index_in_group,
    parse_timestamps,
    repeat,
    split_template_ids,
)
from ledgerframes.datasets._boundary import decode_boundary
from ledgerframes.datasets._columns import Columns, StructColumns, flatten
from ledgerframes.datasets._extras import encode_extras
from ledgerframes.datasets._one_of import kind_of
from ledgerframes.datasets._schema import SMALL
from ledgerframes.datasets.ledger import schema
from ledgerframes.datasets.ledger.wire import (
    Assigned,
    Authorization,
    LedgerEvent,
    LedgerEventBody,
    LedgerReassignment,
    LedgerReassignmentEvent,
    LedgerTopology,
    LedgerTransaction,
    TopologyEvent,
    TraceContext,
    Unassigned,
    UnassignedValue,
    UpdateItem,
)
from ledgerframes.errors import DecodeError

Update = LedgerTransaction | LedgerReassignment | LedgerTopology
U = TypeVar("U", LedgerTransaction, LedgerReassignment, LedgerTopology)
# Structs with separate rows. The created event of an assignment has no row.
OWN_ROWS = (LedgerTransaction, LedgerReassignment, LedgerTopology, Assigned, Unassigned, Authorization)

__all__ = ["ledger_tables"]


@decode_boundary()
def ledger_tables(items: Sequence[UpdateItem], participant_id: str, *, trees: bool) -> dict[str, pa.Table]:
    """Build the four ledger tables from the items of update pages.

    Parameters
    ----------
    items : sequence of UpdateItem
        In any order. Offset checkpoints contain no update and are skipped.
    participant_id : str
        Owner of the ledger.
    trees : bool
        Whether the events are ledger effects, which show the tree.

    Returns
    -------
    dict of str to Table
        All tables of the family, sorted by offset, also those without rows.

    Raises
    ------
    DecodeError
        If an item is of an unknown kind, two updates have one offset, or a time cannot be read.
    """
    pairs = [(update, item) for item in items if (update := _update_of(item)) is not None]
    pairs.sort(key=lambda pair: pair[0].offset)
    _require_distinct_offsets([update for update, _ in pairs])
    transactions = _Updates(LedgerTransaction, pairs, participant_id)
    reassignments = _Updates(LedgerReassignment, pairs, participant_id)
    topology = _Updates(LedgerTopology, pairs, participant_id)
    rows = [
        _update_table("transaction", transactions),
        _update_table("reassignment", reassignments),
        _update_table("topology", topology),
    ]
    return {
        "ledger_updates": schema.LEDGER_UPDATES.sorted(pa.concat_tables(rows).unify_dictionaries()),
        "ledger_events": _event_table(transactions, trees),
        "ledger_reassignments": _reassignment_table(reassignments),
        "ledger_topology": _topology_table(topology),
    }


def _require_distinct_offsets(updates: Sequence[Update]) -> None:
    for one, another in pairwise(updates):
        if one.offset == another.offset:
            raise DecodeError(
                f"Updates {one.update_id} and {another.update_id} have the same offset {one.offset}.",
                json_path="$.updates[...].offset",
            )


class _Updates(Generic[U]):
    """The updates of one kind, in order of their offsets."""

    def __init__(self, kind: type[U], all_pairs: Sequence[tuple[Update, UpdateItem]], participant_id: str) -> None:
        pairs = [(update, item) for update, item in all_pairs if isinstance(update, kind)]
        self.structs: list[U] = [update for update, _ in pairs]
        self.items = [item for _, item in pairs]
        self.columns: StructColumns[U] = StructColumns.from_structs(kind, self.structs)
        self._participant_id = participant_id

    def header(self, rows: Indices) -> Columns:
        """Return the columns that all tables have, for rows that belong to these updates."""
        columns: Columns = {
            name: self.columns.to_array(name).take(pa.array(rows)) for name in ("offset", "record_time", "update_id")
        }
        columns["record_time"] = parse_timestamps(columns["record_time"], "recordTime")
        return {"participant_id": repeat(self._participant_id, len(rows)), **columns}

    @property
    def rows(self) -> Indices:
        """The row of each update."""
        return np.arange(len(self.structs))


def _update_of(item: UpdateItem) -> Update | None:
    """Return the update in an item, or None for a checkpoint."""
    kind, wrapper = kind_of(item.update, "$.updates[...].update")
    return None if kind == "checkpoint" else wrapper.value


# -- updates --------------------------------------------------------------------------------------------------------


def _update_table(kind: str, updates: _Updates[U]) -> pa.Table:
    traces = [update.trace_context for update in updates.structs]
    return updates.columns.to_table(
        schema.LEDGER_UPDATES,
        {
            **updates.header(updates.rows),
            **updates.columns.copy_part(schema.LEDGER_UPDATES, TraceContext, traces),
            "kind": encode_categories(repeat(kind, len(traces))),
            "event_count": pa.array([len(update.events) for update in updates.structs], SMALL),
            "extra": encode_extras(updates.structs, OWN_ROWS, item=updates.items),
        },
    )


# -- events ---------------------------------------------------------------------------------------------------------


def _event_table(updates: _Updates[LedgerTransaction], trees: bool) -> pa.Table:
    events, rows = flatten([update.events for update in updates.structs], updates.rows)
    types_and_bodies = [_type_and_body(event, update) for update in updates.structs for event in update.events]
    bodies = StructColumns.from_structs(LedgerEventBody, [body for _, body in types_and_bodies])
    tree = [row for update in updates.structs for row in _parents_and_depths(update)] if trees else []
    computed = {
        **updates.header(rows),
        **split_template_ids(bodies["template_id"]),
        "event_type": encode_categories([event_type for event_type, _ in types_and_bodies]),
        "extra": encode_extras([body for _, body in types_and_bodies], (LedgerEventBody,), event=events),
    }
    if trees:
        computed["parent_node_id"] = pa.array([parent for parent, _ in tree], SMALL)
        computed["depth"] = pa.array([depth for _, depth in tree], SMALL)
    return bodies.to_table(schema.LEDGER_EVENTS, computed)


def _type_and_body(event: LedgerEvent, update: LedgerTransaction) -> tuple[str, LedgerEventBody]:
    kind, body = kind_of(event, "$..events[...]", update_id=update.update_id)
    return f"{kind}_event", body


def _parents_and_depths(update: LedgerTransaction) -> list[tuple[int | None, int]]:
    """Return parent and depth of each event.

    An exercise covers the node ids up to its last descendant's.

    See docs/facts.md#ledger-event-fields.
    """
    rows: list[tuple[int | None, int]] = []
    open_exercises: list[tuple[int, int]] = []  # node id and last descendant of the exercises above
    for event in update.events:
        body = _type_and_body(event, update)[1]
        node_id = body.node_id or 0
        while open_exercises and open_exercises[-1][1] < node_id:
            open_exercises.pop()
        rows.append((open_exercises[-1][0] if open_exercises else None, len(open_exercises)))
        if event.exercised is not None:
            open_exercises.append((node_id, max(node_id, body.last_descendant_node_id or 0)))
    return rows


# -- reassignments --------------------------------------------------------------------------------------------------


def _reassignment_table(updates: _Updates[LedgerReassignment]) -> pa.Table:
    events, rows = flatten([update.events for update in updates.structs], updates.rows)
    contents = [_content(event, update) for update in updates.structs for event in update.events]
    positions = index_in_group(rows)

    def header(kind: str, struct: type[Assigned | Unassigned]) -> Columns:
        at = [position for position, content in enumerate(contents) if isinstance(content, struct)]
        return {
            **updates.header(rows[at]),
            "event_index": pa.array(positions[at], SMALL),
            "kind": encode_categories(repeat(kind, len(at))),
            "extra": encode_extras(
                [contents[position] for position in at], OWN_ROWS, event=[events[position] for position in at]
            ),
        }

    tables = [
        _assignment_table([each for each in contents if isinstance(each, Assigned)], header("assignment", Assigned)),
        _unassignment_table([each for each in contents if isinstance(each, Unassigned)], header("unassignment", Unassigned)),
    ]
    return schema.LEDGER_REASSIGNMENTS.sorted(pa.concat_tables(tables).unify_dictionaries())


def _assignment_table(assignments: list[Assigned], header: Columns) -> pa.Table:
    bodies = StructColumns.from_structs(LedgerEventBody, [assignment.created_event for assignment in assignments])
    contract = {**bodies.copy_to(schema.LEDGER_REASSIGNMENTS), **split_template_ids(bodies["template_id"])}
    return StructColumns.from_structs(Assigned, assignments).to_table(schema.LEDGER_REASSIGNMENTS, {**contract, **header})


def _unassignment_table(unassignments: list[Unassigned], header: Columns) -> pa.Table:
    columns = StructColumns.from_structs(Unassigned, unassignments)
    return columns.to_table(schema.LEDGER_REASSIGNMENTS, {**header, **split_template_ids(columns["template_id"])})


def _content(event: LedgerReassignmentEvent, update: LedgerReassignment) -> Assigned | Unassigned:
    _, content = kind_of(event, "$..events[...]", update_id=update.update_id)
    return content.value if isinstance(content, UnassignedValue) else content


# -- topology -------------------------------------------------------------------------------------------------------


def _topology_table(updates: _Updates[LedgerTopology]) -> pa.Table:
    events, rows = flatten([update.events for update in updates.structs], updates.rows)
    changes = [_change(event, update) for update in updates.structs for event in update.events]
    at = np.array([position for position, change in enumerate(changes) if change], dtype=np.int64)
    kinds_and_contents = [change for change in changes if change]
    contents = [content for _, content in kinds_and_contents]
    return StructColumns.from_structs(Authorization, contents).to_table(
        schema.LEDGER_TOPOLOGY,
        {
            **updates.header(rows[at]),
            "event_index": pa.array(index_in_group(rows)[at], SMALL),
            "change": encode_categories([kind for kind, _ in kinds_and_contents]),
            "extra": encode_extras(contents, OWN_ROWS, event=[events[position] for position in at]),
        },
    )


def _change(event: TopologyEvent, update: LedgerTopology) -> tuple[str, Authorization] | None:
    """Return kind and content of a change, or None for an empty one."""
    kind, wrapper = kind_of(event.event, "$..events[...].event", update_id=update.update_id)
    return None if kind == "empty" else (kind, wrapper.value)
