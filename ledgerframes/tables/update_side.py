"""What updates did, as tables: updates, tree_events, reassignments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import DecodeError
from ledgerframes.tables import history
from ledgerframes.tables.arrays import Indices, choices, extras, json_text, lengths, split_template_ids, times
from ledgerframes.tables.batch import Batch
from ledgerframes.tables.parts import Columns, Fields, Part
from ledgerframes.tables.spec import FLAG, INTEGER, SMALL, TEXT, TEXTS
from ledgerframes.wire.history import Event, Node, Reassignment, Update

NOTHING = Node(event_id=None, contract_id=None, template_id=None)  # type: ignore[arg-type]  # where nothing was created

# -- updates --------------------------------------------------------------------------------------------------------


def updates(batch: Batch[Event]) -> pa.Table:
    """One row per update."""
    part = Part.of([event.update for event in batch.items])
    fields = part.fields(Update)
    return history.UPDATES.from_columns(
        {
            **batch.head(part.owners),
            "kind": choices(["reassignment" if event else "transaction" for event in fields["event"]]),
            "synchronizer_id": pa.array(fields["synchronizer_id"], TEXT),
            "workflow_id": pa.array(fields["workflow_id"], TEXT),
            "effective_at": times(fields["effective_at"], "effective_at"),
            "root_event_ids": _lists_without_hash(pa.array(fields["root_event_ids"], TEXTS)),
            "node_count": pa.array(lengths(fields["events_by_id"]), SMALL),
            "node_offset": pa.array([None if offset is None else str(offset) for offset in fields["offset"]], TEXT),
            "external_transaction_hash": pa.array(fields["external_transaction_hash"], TEXT),
            "extra": extras(fields["extra"], event=[event.extra for event in batch.items if event.update]),
        }
    )


def _without_hash(ids: pa.Array) -> pa.Array:
    """Event ids without the leading `#` that old versions put there (wire fact 21)."""
    return pc.ascii_ltrim(ids, "#")


def _lists_without_hash(ids: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(ids.offsets, _without_hash(ids.values), mask=ids.is_null())


# -- tree events ----------------------------------------------------------------------------------------------------


def tree_events(batch: Batch[Event]) -> pa.Table:
    """One row per node of a transaction tree."""
    nodes = _nodes(batch)
    event_ids = _without_hash(pa.array([node.event_id for node in nodes.structs], TEXT))
    node_index = _node_numbers(event_ids)
    order = nodes.order(node_index)  # event ids come in string order, 10 before 2 (wire fact 20)
    nodes, event_ids = nodes.take(order), event_ids.take(pa.array(order))
    fields = nodes.fields(Node)
    parents = _parents(event_ids, fields["child_event_ids"])
    return history.TREE_EVENTS.from_columns(
        {
            **batch.head(nodes.owners),
            "event_id": event_ids,
            "node_index": pa.array(node_index[order], SMALL),
            "parent_event_id": event_ids.take(pa.array(parents, mask=parents < 0)),
            "depth": pa.array(_depths(parents), SMALL),
            "event_type": choices(_event_types(fields)),
            **_contract_columns(fields),
            "choice": pa.array(fields["choice"], TEXT),
            "consuming": pa.array(fields["consuming"], FLAG),
            "acting_parties": pa.array(fields["acting_parties"], TEXTS),
            "interface_id": pa.array(fields["interface_id"], TEXT),
            "choice_argument": json_text(fields["choice_argument"], "choice_argument"),
            "exercise_result": json_text(fields["exercise_result"], "exercise_result"),
            "extra": extras(fields["extra"]),
        }
    )


def _nodes(batch: Batch[Event]) -> Part[Node]:
    updates = Part.of([event.update for event in batch.items])
    trees = [update.events_by_id for update in updates.structs]
    return updates.children([tree.values() if tree else None for tree in trees])


def _node_numbers(event_ids: pa.Array) -> Indices:
    parts = pc.split_pattern(event_ids, ":", max_splits=1, reverse=True)
    digits = parts.flatten().take(pa.array(parts.offsets.to_numpy()[1:] - 1))
    strangers = event_ids.filter(pc.invert(pc.ascii_is_decimal(digits)))
    if len(strangers):
        event_id = strangers[0].as_py()
        raise DecodeError(f"Event id {event_id!r} does not end in the number of its node.", json_path="$..event_id")
    numbers: Indices = digits.cast(INTEGER).to_numpy()
    return numbers


def _contract_columns(fields: Fields) -> Columns:
    """The columns that nodes and the created events of assignments share."""
    template_ids = pa.array(fields["template_id"], TEXT)
    package_ids, template_names = split_template_ids(template_ids)
    return {
        "contract_id": pa.array(fields["contract_id"], TEXT),
        "template_id": template_ids,
        "package_id": package_ids,
        "template_name": template_names,
        "package_name": pa.array(fields["package_name"], TEXT),
        "created_at": times(fields["created_at"], "created_at"),
        "signatories": pa.array(fields["signatories"], TEXTS),
        "observers": pa.array(fields["observers"], TEXTS),
        "create_arguments": json_text(fields["create_arguments"], "create_arguments"),
    }


def _event_types(fields: Fields) -> pa.Array:
    types = pa.array(fields["event_type"], TEXT)
    if not types.null_count:
        return types
    by_choice = pc.if_else(pa.array(fields["choice"], TEXT).is_valid(), "exercised_event", "created_event")
    return pc.coalesce(types, by_choice)


def _parents(event_ids: pa.Array, child_event_ids: Sequence[list[str] | None]) -> Indices:
    """The row of each node's parent, -1 for roots."""
    lists = pa.array(child_event_ids, TEXTS)
    children = _without_hash(lists.values)
    rows = pc.index_in(children, value_set=event_ids)
    if rows.null_count:
        stranger = children.filter(rows.is_null())[0]
        raise DecodeError(f"A node lists the child {stranger}, which is not in its tree.", json_path="$..child_event_ids")
    here = np.arange(len(event_ids))
    parents = np.full(len(event_ids), -1, dtype=np.int64)
    parents[rows.to_numpy()] = np.repeat(here, np.diff(lists.offsets.to_numpy()))
    if (parents >= here).any():
        raise DecodeError(
            "A node is listed as the child of a later node: its tree is not in pre-order.", json_path="$..child_event_ids"
        )
    return parents


def _depths(parents: Indices) -> Indices:
    """Steps to the root, one pass a level."""
    depths = np.zeros(len(parents), dtype=np.int64)
    below = np.flatnonzero(parents >= 0)
    ancestors = parents[below]
    while len(below):
        depths[below] += 1
        ancestors = parents[ancestors]
        below, ancestors = below[ancestors >= 0], ancestors[ancestors >= 0]
    return depths


# -- reassignments --------------------------------------------------------------------------------------------------


def reassignments(batch: Batch[Event]) -> pa.Table:
    """One row per assignment or unassignment."""
    part = Part.of([event.update.event if event.update else None for event in batch.items])
    fields = part.fields(Reassignment)
    created = Part([event or NOTHING for event in fields["created_event"]], part.owners)
    contract_ids = [event.created_event.contract_id if event.created_event else event.contract_id for event in part.structs]
    return history.REASSIGNMENTS.from_columns(
        {
            **batch.head(part.owners),
            **_contract_columns(created.fields(Node)),
            "kind": choices(["assignment" if event else "unassignment" for event in fields["created_event"]]),
            "unassign_id": pa.array(fields["unassign_id"], TEXT),
            "submitter": pa.array(fields["submitter"], TEXT),
            "source_synchronizer": pa.array(fields["source_synchronizer"], TEXT),
            "target_synchronizer": pa.array(fields["target_synchronizer"], TEXT),
            "reassignment_counter": pa.array(fields["reassignment_counter"], INTEGER),
            "contract_id": pa.array(contract_ids, TEXT),
            "extra": extras(fields["extra"]),
        }
    )
