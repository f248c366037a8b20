"""The four ledger tables from update pages of a participant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ledgerframes.datasets._columns import Columns, StructColumns, flatten
from ledgerframes.datasets.arrays import index_in_group, split_template_ids
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.extras import encode_extras, unknown_members
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
    UpdateItem,
    UpdatesPage,
)
from ledgerframes.datasets.schema import Table
from ledgerframes.datasets.structs import Wire, is_empty, kind_of, require_no_kind
from ledgerframes.errors import DecodeError

EMPTY = "empty"  # kind of an event without content, and also of an absent event, because the member is optional
Update = LedgerTransaction | LedgerReassignment | LedgerTopology


@decode_boundary()
def ledger_tables(items: Sequence[UpdateItem], participant_id: str, *, trees: bool) -> dict[str, pa.Table]:
    """Build the four ledger tables from the items of update pages, in any order.

    Offset checkpoints and empty items contain no update and are skipped. With `trees`, the events are ledger effects, which show
    the tree.

    Raises
    ------
    DecodeError
        If an item is of an unknown kind, two updates have one offset, two events of one have one node id, or a time cannot be
        read.
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


def members_without_row(page: UpdatesPage) -> dict[str, str]:
    """Return the unknown members of a page and its items without an update, as JSON by path."""
    items = [item for item in page.updates or () if item.is_extended and _update_of(item) is None]
    return unknown_members(page, but=list) | unknown_members(items, path="updates")


def _update_of(item: UpdateItem) -> Update | None:
    """Return the update in an item, or None for a checkpoint and an empty item."""
    if is_empty(item.update):
        require_no_kind(item, "$.updates[...]")
        return None
    kind, update = kind_of(item.update, "$.updates[...].update")
    return None if kind == "checkpoint" else update


def _require_distinct_offsets(updates: Sequence[Update]) -> None:
    for one, another in pairwise(updates):
        if one.offset == another.offset:
            raise DecodeError(
                f"Updates {one.update_id} and {another.update_id} have the same offset {one.offset}.",
                json_path="$.updates[...].offset",
            )


class _Updates:
    """The updates of one kind in order of offsets, and the contents of their events."""

    def __init__(self, struct: type[Update], all_pairs: Sequence[tuple[Update, UpdateItem]], participant_id: str) -> None:
        pairs = [(update, item) for update, item in all_pairs if isinstance(update, struct)]
        self.structs = [update for update, _ in pairs]
        self.items = [item for _, item in pairs]
        self.columns = StructColumns.from_structs(struct, self.structs)
        self.events, self.event_rows = flatten([update.events for update in self.structs], np.arange(len(self.structs)))
        self.contents = [_content(event, update) for update in self.structs for event in update.events]
        self.participant_id = participant_id

    def header(self, table: Table, event_positions: Sequence[int] | slice = slice(None)) -> Columns:
        """Return the columns of events that they have from their updates."""
        rows = pa.array(self.event_rows[event_positions])
        return {"participant_id": self.participant_id, **self.columns.copy_to(table, rows, skip=("extra",))}

    def events_without_row(self) -> list[dict[str, Wire]]:
        """Return the empty events of each update, by their index."""
        events: list[dict[str, Wire]] = [{} for _ in self.structs]
        for at, (row, index) in enumerate(zip(self.event_rows, index_in_group(self.event_rows), strict=True)):
            if self.contents[at][0] == EMPTY:
                events[row][str(index)] = self.events[at]
        return events

    def event_columns(self, table: Table, positions: Sequence[int]) -> Columns:
        """Return the header of events, with their index and their unknown members."""
        contents, events = [self.contents[at][1] for at in positions], [self.events[at] for at in positions]
        index = index_in_group(self.event_rows)[positions]
        return {**self.header(table, positions), "event_index": index, "extra": encode_extras(contents, event=events)}


def _content(event: LedgerEvent | LedgerReassignmentEvent | TopologyEvent, update: Update) -> tuple[str, Any]:
    """Return the kind of an event, and its content."""
    if isinstance(event, TopologyEvent) and is_empty(event.event):
        require_no_kind(event, "$..events[...]", update_id=update.update_id)
        return EMPTY, None
    if isinstance(event, TopologyEvent):
        return kind_of(event.event, "$..events[...].event", update_id=update.update_id)
    return kind_of(event, "$..events[...]", update_id=update.update_id)


# -- tables ---------------------------------------------------------------------------------------------------------


def _update_table(kind: str, updates: _Updates) -> pa.Table:
    traces = [update.trace_context for update in updates.structs]
    return updates.columns.to_table(
        schema.LEDGER_UPDATES,
        {
            **updates.columns.copy_part(schema.LEDGER_UPDATES, TraceContext, traces),
            "participant_id": updates.participant_id,
            "kind": kind,
            "event_count": [len(update.events) for update in updates.structs],
            "extra": encode_extras(updates.structs, item=updates.items, events=updates.events_without_row()),
        },
    )


def _event_table(updates: _Updates, trees: bool) -> pa.Table:
    contents = [body for _, body in updates.contents]
    bodies = StructColumns.from_structs(LedgerEventBody, contents)
    computed = {
        **updates.header(schema.LEDGER_EVENTS),
        **split_template_ids(bodies["template_id"]),
        "event_type": [f"{kind}_event" for kind, _ in updates.contents],
        "extra": encode_extras(contents, event=updates.events),
    }
    if trees:
        parents_and_depths = _parents_and_depths(updates)
        computed["parent_node_id"] = [parent for parent, _ in parents_and_depths]
        computed["depth"] = [depth for _, depth in parents_and_depths]
    events = bodies.to_table(schema.LEDGER_EVENTS, computed)
    _require_distinct_nodes(updates, events)
    return events


def _require_distinct_nodes(updates: _Updates, events: pa.Table) -> None:
    is_ascending = (np.diff(updates.event_rows) > 0) | (np.diff(events["node_id"].to_numpy()) > 0)
    if not is_ascending.all():
        table = schema.LEDGER_EVENTS
        table.require_distinct(table.sorted(events.select(table.key)))


def _parents_and_depths(updates: _Updates) -> list[tuple[int | None, int]]:
    """Return parent and depth of each event.

    An exercise covers the node ids up to its last descendant's.

    See docs/facts.md#ledger-event-fields.
    """
    rows: list[tuple[int | None, int]] = []
    open_exercises: list[tuple[int, int]] = []  # node id and last descendant of the exercises above
    for index, (kind, body) in zip(index_in_group(updates.event_rows), updates.contents, strict=True):
        node_id = body.node_id or 0
        while open_exercises and (index == 0 or open_exercises[-1][1] < node_id):
            open_exercises.pop()
        rows.append((open_exercises[-1][0] if open_exercises else None, len(open_exercises)))
        if kind == "exercised":
            open_exercises.append((node_id, max(node_id, body.last_descendant_node_id or 0)))
    return rows


def _reassignment_table(updates: _Updates) -> pa.Table:
    table, parts = schema.LEDGER_REASSIGNMENTS, []
    for kind, struct in (("assignment", Assigned), ("unassignment", Unassigned)):
        positions = [position for position, (other, _) in enumerate(updates.contents) if other == kind]
        contents = [updates.contents[position][1] for position in positions]
        columns = StructColumns.from_structs(struct, contents)
        contract: Columns = {}
        if struct is Assigned:
            bodies = StructColumns.from_structs(LedgerEventBody, [assigned.created_event for assigned in contents])
            contract = bodies.copy_to(table)
        templates = split_template_ids(contract["template_id"] if contract else columns["template_id"])
        parts.append(columns.to_table(table, {**contract, **templates, **updates.event_columns(table, positions), "kind": kind}))
    return table.sorted(pa.concat_tables(parts).unify_dictionaries())


def _topology_table(updates: _Updates) -> pa.Table:
    positions = [position for position, (kind, _) in enumerate(updates.contents) if kind != EMPTY]
    kinds_and_contents = [updates.contents[position] for position in positions]
    return StructColumns.from_structs(Authorization, [content for _, content in kinds_and_contents]).to_table(
        schema.LEDGER_TOPOLOGY,
        {
            **updates.event_columns(schema.LEDGER_TOPOLOGY, positions),
            "change": [kind for kind, _ in kinds_and_contents],
        },
    )
