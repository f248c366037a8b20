"""The tables of updates, tree events and reassignments, from event items."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._columns import StructColumns, drop_absent, flatten
from ledgerframes.datasets.arrays import Indices, lookup_rows, merge_extras, split_template_ids
from ledgerframes.datasets.events.headers import EventHeader, EventHeaders, Part
from ledgerframes.datasets.events.schema import REASSIGNMENTS
from ledgerframes.datasets.events.wire import Event, Node, Reassignment, Update
from ledgerframes.datasets.schema import SMALL
from ledgerframes.errors import DecodeError

MAX_SINGLE_DIGIT_NODES = 10
ZERO, COLON = ord("0"), ord(":") - ord("0")
MAX_DIGITS = 18
NUMBERED = re.compile(r":\d{1,18}\Z", re.ASCII)
NO_BOUNDS = np.zeros(1, dtype=np.int32)


class UpdateTableBuilder:
    """Builder of the tables of updates, the nodes of their trees, and reassignments."""

    def __init__(self, headers: StructColumns[EventHeader]) -> None:
        self._updates = StructColumns(Update, headers)
        self._nodes = StructColumns(Node, self._updates)
        self._reassignments = StructColumns(Reassignment, self._updates)
        self._created = StructColumns(Node, self._reassignments)
        # Parents before their children.
        self.columns: tuple[StructColumns[Any], ...] = (self._updates, self._nodes, self._reassignments, self._created)

    def add(self, items: Sequence[Event], rows: Indices) -> None:
        """Add a batch of items."""
        updates, rows = drop_absent([item.update for item in items], rows)
        rows = self._updates.add(updates, rows)
        trees = [update.events_by_id for update in updates]
        self._nodes.add(*flatten([_sort_by_length(tree) if tree else None for tree in trees], rows))
        reassignments, rows = drop_absent([update.event for update in updates], rows)
        rows = self._reassignments.add(reassignments, rows)
        self._created.add(*drop_absent([reassignment.created_event for reassignment in reassignments], rows))

    def parts(self) -> dict[str, Part]:
        """Return the rows of each table, and the function that computes columns."""
        return {
            "updates": (self._updates, self._update_columns),
            "tree_events": (self._nodes, self._tree_columns),
            "reassignments": (self._reassignments, self._reassignment_columns),
        }

    def _update_columns(self, headers: EventHeaders) -> dict[str, Any]:
        updates = self._updates
        return {
            "kind": pc.if_else(pa.array(self._reassignments.child_counts > 0), "reassignment", "transaction"),
            "root_event_ids": _strip_hash_in_lists(updates.to_array("root_event_ids")),
            "node_count": self._nodes.child_counts,
            "extra": merge_extras(updates["extra"], event=headers.extras(updates.item_rows)),
        }

    # -- tree events ------------------------------------------------------------------------------------------------

    def _tree_columns(self, headers: EventHeaders) -> dict[str, Any]:
        nodes = self._nodes
        event_ids, numbers = self._sort_nodes()
        parents = _parents(event_ids, nodes.parents, numbers, nodes.to_array("child_event_ids"))
        node_indexes = pa.array(numbers, SMALL)  # a number that is too large is refused before the roots are looked up
        self._require_roots(headers, event_ids, numbers)
        return {
            **split_template_ids(nodes["template_id"]),
            "event_id": event_ids,
            "node_index": node_indexes,
            "parent_event_id": event_ids.take(pa.array(parents, mask=parents < 0)),
            "depth": _depths(parents),
            "event_type": _event_types(nodes),
        }

    def _sort_nodes(self) -> tuple[pa.Array, Indices]:
        """Sort all nodes, unless they are in order, and return their ids and numbers."""
        nodes = self._nodes
        event_ids = _strip_hash(nodes.to_array("event_id"))
        numbers = node_numbers(event_ids)
        if ((np.diff(numbers) > 0) | (np.diff(nodes.parents) > 0)).all():
            return event_ids, numbers
        order = np.lexsort((numbers, nodes.parents))
        nodes.take(order)
        return event_ids.take(pa.array(order)), numbers[order]

    def _require_roots(self, headers: EventHeaders, event_ids: pa.Array, numbers: Indices) -> None:
        """Refuse an update with a root that is not a node of its tree."""
        lists = self._updates.to_array("root_event_ids")
        trees, roots = (
            np.repeat(np.arange(len(lists)), pc.list_value_length(lists).fill_null(0).to_numpy()),
            _strip_hash(lists.flatten()),
        )
        unknown = np.flatnonzero(_listed_rows(event_ids, self._nodes.parents, numbers, trees, roots) < 0)
        if len(unknown):
            update_id = headers.columns(self._updates.item_rows[trees[unknown[:1]]])["update_id"][0]
            raise DecodeError(
                f"Update {update_id} lists the root {roots[unknown[0]]}, which is not in its tree.", json_path="$..root_event_ids"
            )

    # -- reassignments ----------------------------------------------------------------------------------------------

    def _reassignment_columns(self, _: EventHeaders) -> dict[str, Any]:
        reassignments, created = self._reassignments, self._created
        from_created = created.copy_to(REASSIGNMENTS, created.child_rows)
        return {
            **from_created,
            **split_template_ids(from_created["template_id"]),
            "kind": pc.if_else(pa.array(created.child_counts > 0), "assignment", "unassignment"),
            "contract_id": pc.coalesce(from_created["contract_id"], reassignments.to_array("contract_id")),
            "extra": merge_extras(reassignments["extra"], created_event=from_created["extra"]),
        }


def _event_types(nodes: StructColumns[Node]) -> pa.ChunkedArray:
    types = nodes["event_type"]
    if not types.null_count:
        return types
    return pc.coalesce(types, pc.if_else(nodes["choice"].is_valid(), "exercised_event", "created_event"))


# -- event ids ------------------------------------------------------------------------------------------------------


def _strip_hash(ids: pa.Array) -> pa.Array:
    """Return event ids without the leading `#` of old versions.

    See docs/facts.md#event-id-prefix.
    """
    return pc.ascii_ltrim(ids, "#") if pc.any(pc.starts_with(ids, "#")).as_py() else ids


def _strip_hash_in_lists(ids: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(ids.offsets, _strip_hash(ids.values), mask=ids.is_null())


def _sort_by_length(tree: dict[str, Node]) -> Collection[Node]:
    """Return the nodes of a tree by the length of their ids.

    Nodes are in string order, with 10 before 2, and this length sorts them by number.

    See docs/facts.md#event-id-order.
    """
    return tree.values() if len(tree) <= MAX_SINGLE_DIGIT_NODES else sorted(tree.values(), key=lambda node: len(node.event_id))


def node_numbers(event_ids: pa.Array) -> Indices:
    """Return the node number at the end of each event id.

    All ids are read together, digit by digit from the last to the colon before them.

    Raises
    ------
    DecodeError
        If an id does not end in a colon and a number.
    """
    _, offsets, text = event_ids.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[: len(event_ids) + 1] if len(event_ids) else NO_BOUNDS
    characters = np.frombuffer(text or b" ", dtype=np.uint8)
    numbers, unread = np.zeros(len(event_ids), dtype=np.int64), np.ones(len(event_ids), dtype=bool)
    for power in range(MAX_DIGITS + 1):
        at = bounds[1:] - 1 - power
        digits = characters[at].astype(np.int64) - ZERO  # a colon is the one after 9
        unread &= digits != COLON
        if (power == 0 and not unread.all()) or (unread & ((digits < 0) | (digits > COLON) | (at < bounds[:-1]))).any():
            break
        if not unread.any():
            return numbers
        numbers += np.where(unread, digits, 0) * 10**power
    invalid = next(event_id for event_id in event_ids.to_pylist() if not NUMBERED.search(event_id))
    raise DecodeError(f"Event id {invalid!r} does not end in the number of its node.", json_path="$..event_id")


def _parents(event_ids: pa.Array, trees: Indices, numbers: Indices, lists: pa.Array) -> Indices:
    """Return the row of each node's parent, -1 for roots."""
    counts = np.diff(lists.offsets.to_numpy())
    children = _strip_hash(lists.values)
    rows = _listed_rows(event_ids, trees, numbers, np.repeat(trees, counts), children)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        raise DecodeError(
            f"A node lists the child {children[unknown[0]]}, which is not in its tree.", json_path="$..child_event_ids"
        )
    own_rows = np.arange(len(event_ids))
    parents = np.full(len(event_ids), -1, dtype=np.int64)
    parents[rows] = np.repeat(own_rows, counts)
    if (parents >= own_rows).any():
        raise DecodeError(
            "A node is listed as the child of a later node, so its tree is not in pre-order.", json_path="$..child_event_ids"
        )
    return parents


def _listed_rows(event_ids: pa.Array, trees: Indices, numbers: Indices, list_trees: Indices, node_ids: pa.Array) -> Indices:
    """Return the row of each node that the lists of these trees name, or -1."""
    if not len(numbers):
        return np.full(len(node_ids), -1)
    rows = lookup_rows(trees, numbers, list_trees, node_numbers(node_ids))
    is_in_tree = pc.equal(event_ids.take(pa.array(rows, mask=rows < 0)), node_ids).fill_null(False)
    return np.where(is_in_tree.to_numpy(zero_copy_only=False), rows, -1)


def _depths(parents: Indices) -> Indices:
    """Return the steps to the root, in one pass for each level."""
    depths = np.zeros(len(parents), dtype=np.int64)
    below = np.flatnonzero(parents >= 0)
    ancestors = parents[below]
    while len(below):
        depths[below] += 1
        ancestors = parents[ancestors]
        below, ancestors = below[ancestors >= 0], ancestors[ancestors >= 0]
    return depths
