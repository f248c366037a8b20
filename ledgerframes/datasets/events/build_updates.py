"""What updates did, as tables: updates, tree_events, reassignments."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._arrays import Indices, choices, extras, flags, rows_of, split_template_ids, times
from ledgerframes.datasets._columns import Rows, children, present
from ledgerframes.datasets._headers import Batch, Columns, Head
from ledgerframes.datasets._schema import SMALL
from ledgerframes.datasets.events import schema
from ledgerframes.datasets.events.wire import Event, Node, Reassignment, Update
from ledgerframes.errors import DecodeError

ONE_DIGIT = 10  # numbers that have one
ZERO, COLON = ord("0"), ord(":") - ord("0")
MOST_DIGITS = 18
NUMBERED = re.compile(r":\d{1,18}\Z", re.ASCII)
NO_BOUNDS = np.zeros(1, dtype=np.int32)


class UpdateTableBuilder:
    """Updates, the nodes of their trees, and reassignments.

    Parameters
    ----------
    heads : Rows of Head
        The items that these belong to.
    """

    def __init__(self, heads: Rows[Head]) -> None:
        self._updates = Rows(Update, heads)
        self._nodes = Rows(Node, self._updates)
        self._reassignments = Rows(Reassignment, self._updates)
        self._created = Rows(Node, self._reassignments)
        self.kinds: tuple[Rows[Any], ...] = (self._updates, self._nodes, self._reassignments, self._created)

    def add(self, items: Sequence[Event], rows: Indices) -> None:
        """Put a block of items to the others."""
        updates, rows = present([item.update for item in items], rows)
        rows = self._updates.add(updates, rows)
        trees = [update.events_by_id for update in updates]
        self._nodes.add(*children([_by_length(tree) if tree else None for tree in trees], rows))
        reassignments, rows = present([update.event for update in updates], rows)
        rows = self._reassignments.add(reassignments, rows)
        self._created.add(*present([reassignment.created_event for reassignment in reassignments], rows))

    def builders(self) -> dict[str, Callable[[Batch], pa.Table]]:
        """What makes each table."""
        return {
            "updates": self._update_table,
            "tree_events": self._tree_table,
            "reassignments": self._reassignment_table,
        }

    # -- updates ----------------------------------------------------------------------------------------------------

    def _update_table(self, batch: Batch) -> pa.Table:
        """One row per update."""
        updates = self._updates
        return schema.UPDATES.from_arrays(
            {
                **batch.head(updates.owners),
                "kind": flags(self._reassignments.counts > 0, "reassignment", "transaction"),
                "synchronizer_id": updates["synchronizer_id"],
                "workflow_id": updates["workflow_id"],
                "effective_at": times(updates["effective_at"], "effective_at"),
                "root_event_ids": _lists_without_hash(updates.whole("root_event_ids")),
                "node_count": pa.array(self._nodes.counts, SMALL),
                "host_offset": updates["offset"],
                "external_transaction_hash": updates["external_transaction_hash"],
                "extra": extras(updates["extra"], event=batch.unknown(updates.owners)),
            }
        )

    # -- tree events ------------------------------------------------------------------------------------------------

    def _tree_table(self, batch: Batch) -> pa.Table:
        """One row per node of a transaction tree."""
        nodes = self._nodes
        event_ids, numbers = self._in_order()
        parents = _parents(event_ids, nodes.parents, numbers, nodes.whole("child_event_ids"))
        return schema.TREE_EVENTS.from_arrays(
            {
                **batch.head(nodes.owners),
                "event_id": event_ids,
                "node_index": pa.array(numbers, SMALL),
                "parent_event_id": event_ids.take(pa.array(parents, mask=parents < 0)),
                "depth": pa.array(_depths(parents), SMALL),
                "event_type": choices(_event_types(nodes)),
                **_contract_columns(nodes.__getitem__),
                "choice": nodes["choice"],
                "consuming": nodes["consuming"],
                "acting_parties": nodes["acting_parties"],
                "interface_id": nodes["interface_id"],
                "choice_argument": nodes["choice_argument"],
                "exercise_result": nodes["exercise_result"],
                "extra": nodes["extra"],
            }
        )

    def _in_order(self) -> tuple[pa.Array, Indices]:
        """Put all nodes in order, if they are not yet, and give their ids and numbers."""
        nodes = self._nodes
        event_ids = _without_hash(nodes.whole("event_id"))
        numbers = node_numbers(event_ids)
        if ((np.diff(numbers) > 0) | (np.diff(nodes.parents) > 0)).all():
            return event_ids, numbers
        order = np.lexsort((numbers, nodes.parents))
        nodes.keep(order)
        return event_ids.take(pa.array(order)), numbers[order]

    # -- reassignments ----------------------------------------------------------------------------------------------

    def _reassignment_table(self, batch: Batch) -> pa.Table:
        """One row per assignment or unassignment."""
        reassignments, created, places = self._reassignments, self._created, self._created.places
        return schema.REASSIGNMENTS.from_arrays(
            {
                **batch.head(reassignments.owners),
                **_contract_columns(lambda name: created.whole(name).take(places)),
                "kind": flags(created.counts > 0, "assignment", "unassignment"),
                "unassign_id": reassignments["unassign_id"],
                "submitter": reassignments["submitter"],
                "source_synchronizer": reassignments["source_synchronizer"],
                "target_synchronizer": reassignments["target_synchronizer"],
                "reassignment_counter": reassignments["reassignment_counter"],
                "contract_id": pc.coalesce(created.whole("contract_id").take(places), reassignments["contract_id"]),
                "extra": reassignments["extra"],
            }
        )


def _contract_columns(column: Callable[[str], pa.Array]) -> Columns:
    """The columns that nodes and the created events of assignments share."""
    package_ids, template_names = split_template_ids(column("template_id"))
    return {
        "contract_id": column("contract_id"),
        "template_id": column("template_id"),
        "package_id": package_ids,
        "template_name": template_names,
        "package_name": column("package_name"),
        "created_at": times(column("created_at"), "created_at"),
        "signatories": column("signatories"),
        "observers": column("observers"),
        "create_arguments": column("create_arguments"),
    }


def _event_types(nodes: Rows[Node]) -> pa.Array:
    types = nodes["event_type"]
    if not types.null_count:
        return types
    return pc.coalesce(types, pc.if_else(nodes["choice"].is_valid(), "exercised_event", "created_event"))


# -- event ids ------------------------------------------------------------------------------------------------------


def _without_hash(ids: pa.Array) -> pa.Array:
    """Event ids without the leading `#` that old versions put there (docs/facts.md#event-id-prefix)."""
    return pc.ascii_ltrim(ids, "#") if pc.any(pc.starts_with(ids, "#")).as_py() else ids


def _lists_without_hash(ids: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(ids.offsets, _without_hash(ids.values), mask=ids.is_null())


def _by_length(tree: dict[str, Node]) -> Collection[Node]:
    """The nodes of a tree by the length of their ids: by number, if they come in string order, 10 before 2.

    See docs/facts.md#event-id-order.
    """
    return tree.values() if len(tree) <= ONE_DIGIT else sorted(tree.values(), key=_length)


def _length(node: Node) -> int:
    return len(node.event_id)


def node_numbers(event_ids: pa.Array) -> Indices:
    """The number of the node at the end of each event id, read digit by digit from the last one to the colon before them.

    Raises
    ------
    DecodeError
        If an id does not end in a colon and a number.
    """
    _, offsets, text = event_ids.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[: len(event_ids) + 1] if len(event_ids) else NO_BOUNDS
    characters = np.frombuffer(text or b" ", dtype=np.uint8)
    numbers, unread = np.zeros(len(event_ids), dtype=np.int64), np.ones(len(event_ids), dtype=bool)
    for place in range(MOST_DIGITS + 1):
        at = bounds[1:] - 1 - place
        digits = characters[at].astype(np.int64) - ZERO  # a colon is the one after 9
        unread &= digits != COLON
        if (place == 0 and not unread.all()) or (unread & ((digits < 0) | (digits > COLON) | (at < bounds[:-1]))).any():
            break
        if not unread.any():
            return numbers
        numbers += np.where(unread, digits, 0) * 10**place
    stranger = next(event_id for event_id in event_ids.to_pylist() if not NUMBERED.search(event_id))
    raise DecodeError(f"Event id {stranger!r} does not end in the number of its node.", json_path="$..event_id")


def _parents(event_ids: pa.Array, trees: Indices, numbers: Indices, lists: pa.Array) -> Indices:
    """The row of each node's parent, -1 for roots."""
    counts = np.diff(lists.offsets.to_numpy())
    children = _without_hash(lists.values)
    rows = rows_of(trees, numbers, np.repeat(trees, counts), node_numbers(children))
    known = pc.equal(event_ids.take(pa.array(rows, mask=rows < 0)), children)
    strangers = children.filter(pc.invert(known.fill_null(False)))
    if len(strangers):
        raise DecodeError(f"A node lists the child {strangers[0]}, which is not in its tree.", json_path="$..child_event_ids")
    here = np.arange(len(event_ids))
    parents = np.full(len(event_ids), -1, dtype=np.int64)
    parents[rows] = np.repeat(here, counts)
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
