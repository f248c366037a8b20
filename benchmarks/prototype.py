"""The nine history tables by the shortest way from decoded structs to Arrow, with nothing that makes a library of it.

It converts one list for each field and batch, and makes tables of the arrays. It keeps no unknown members (the columns `extra`),
does not tell how an event was found (`id_source`), drops nothing that comes twice, and checks nothing: it relies on the order of
the items, on the shape of event ids, on trees that are trees, and on members that every item of today has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets.events.wire import Event, Node, Update

Indices = npt.NDArray[np.int64]
Columns = dict[str, pa.Array]

TEXT, TEXTS, FLAG, INTEGER = pa.string(), pa.list_(pa.string()), pa.bool_(), pa.int64()
SMALL, SMALLS, TIME = pa.int32(), pa.list_(pa.int32()), pa.timestamp("us", tz="UTC")
PAYLOAD = None  # bytes that stay as they are
CONTRACT = {
    **dict.fromkeys(("contract_id", "template_id", "package_name", "created_at"), TEXT),
    **dict.fromkeys(("signatories", "observers"), TEXTS),
    "create_arguments": PAYLOAD,
}
FIELDS: dict[str, dict[str, pa.DataType | None]] = {
    "updates": {
        **dict.fromkeys(("synchronizer_id", "workflow_id", "effective_at", "offset", "external_transaction_hash"), TEXT),
        "root_event_ids": TEXTS,
    },
    "tree_events": {
        **CONTRACT,
        **dict.fromkeys(("event_id", "event_type", "choice", "interface_id"), TEXT),
        **dict.fromkeys(("acting_parties", "child_event_ids"), TEXTS),
        **dict.fromkeys(("choice_argument", "exercise_result"), PAYLOAD),
        "consuming": FLAG,
    },
    "reassignments": {
        **dict.fromkeys(("unassign_id", "submitter", "source_synchronizer", "target_synchronizer", "contract_id"), TEXT),
        "reassignment_counter": INTEGER,
    },
    "created": CONTRACT,
    "verdicts": {
        **dict.fromkeys(("domain_id", "finalization_time", "verdict_result", "submitting_participant_uid"), TEXT),
        "submitting_parties": TEXTS,
        "mediator_group": SMALL,
    },
    "view_lists": {"root_views": SMALLS},
    "views": {"view_id": SMALL, "informees": TEXTS, "sub_views": SMALLS, "view_hash": TEXT},
    "quorums": {"threshold": SMALL, "parties": TEXTS},
    "traffic": {"total_traffic_cost": INTEGER},
    "envelopes": {"traffic_cost": INTEGER, "view_ids": SMALLS},
    "record_lists": {"round_number": INTEGER},
    "activity_records": {"party": TEXT, "weight": INTEGER},
}


class Prototype:
    """Arrays of the fields of all structs, batch by batch, with the row of the parent for each row."""

    def __init__(self) -> None:
        self.chunks: dict[str, defaultdict[str, list[pa.Array]]] = {name: defaultdict(list) for name in ("items", *FIELDS)}
        self.parents: dict[str, list[Indices]] = {name: [] for name in ("items", *FIELDS)}
        self.counts = dict.fromkeys(self.chunks, 0)
        self.bytes = 0

    def add(self, items: Sequence[Event]) -> None:
        """Add a batch of items."""
        rows = self._number("items", np.zeros(len(items), dtype=np.int64))
        heads: list[Any] = [item.update or item.verdict for item in items]
        self._append("items", "migration_id", [getattr(head, "event", None) or head for head in heads], INTEGER)
        self._append("items", "record_time", heads, TEXT)
        self._append("items", "update_id", heads, TEXT)
        self.chunks["items"]["has_update"].append(pa.array([item.update is not None for item in items]))
        updates, update_rows = self._parts("updates", [item.update for item in items], rows)
        self._lists("tree_events", [_nodes(update) for update in updates], update_rows)
        moved, moved_rows = self._parts("reassignments", [update.event for update in updates], update_rows)
        self._parts("created", [each.created_event for each in moved], moved_rows)
        verdicts, verdict_rows = self._parts("verdicts", [item.verdict for item in items], rows)
        view_lists, list_rows = self._parts("view_lists", [verdict.transaction_views for verdict in verdicts], verdict_rows)
        views, view_rows = self._lists("views", [each.views for each in view_lists], list_rows)
        self._lists("quorums", [view.confirming_parties for view in views], view_rows)
        summaries, summary_rows = self._parts("traffic", [item.traffic_summary for item in items], rows)
        self._lists("envelopes", [summary.envelope_traffic_summaries for summary in summaries], summary_rows)
        record_lists, list_rows = self._parts("record_lists", [item.app_activity_records for item in items], rows)
        self._lists("activity_records", [each.records for each in record_lists], list_rows)

    def _parts(self, table: str, structs: Sequence[Any], rows: Indices) -> tuple[list[Any], Indices]:
        """Add structs of which each row has one at most."""
        is_present = np.fromiter([struct is not None for struct in structs], dtype=bool, count=len(structs))
        return self._add(table, [struct for struct in structs if struct is not None], rows[is_present])

    def _lists(self, table: str, lists: Sequence[Collection[Any]], rows: Indices) -> tuple[list[Any], Indices]:
        """Add structs of which each row has a list."""
        counts = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        return self._add(table, list(chain.from_iterable(lists)), np.repeat(rows, counts))

    def _add(self, table: str, structs: list[Any], parents: Indices) -> tuple[list[Any], Indices]:
        for name, kind in FIELDS[table].items():
            self._append(table, name, structs, kind)
        return structs, self._number(table, parents)

    def _append(self, table: str, name: str, structs: Sequence[Any], kind: pa.DataType | None) -> None:
        values = list(map(attrgetter(name), structs))
        array = _payloads(values) if kind is PAYLOAD else pa.array(values, kind)
        self.bytes += array.nbytes
        self.chunks[table][name].append(array)

    def _number(self, table: str, parents: Indices) -> Indices:
        self.parents[table].append(parents)
        self.counts[table] += len(parents)
        return np.arange(self.counts[table] - len(parents), self.counts[table])

    # -- arrays to tables -------------------------------------------------------------------------------------------

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables."""
        arrays = {name: {field: pa.concat_arrays(each) for field, each in fields.items()} for name, fields in self.chunks.items()}
        parents = {name: np.concatenate(each) for name, each in self.parents.items()}
        columns = self._columns(arrays, parents)
        items = {name: rows for name, rows in parents.items() if name in ("updates", "verdicts", "traffic", "record_lists")}
        for parent, child in PARENTS:
            items[child] = items[parent][parents[child]]
        head = {
            **_times(arrays["items"], "record_time"),
            **{name: arrays["items"][name] for name in ("migration_id", "update_id")},
        }
        heads = {
            name: {field: array.take(pa.array(items[name])) for field, array in head.items()} for name in columns if name in items
        }
        return {name: pa.table({**columns[name], **heads[name]}) for name in heads}

    def _columns(self, arrays: dict[str, Columns], parents: dict[str, Indices]) -> dict[str, Columns]:
        def count(child: str, parent: str) -> pa.Array:
            return pa.array(np.bincount(parents[child], minlength=self.counts[parent]), SMALL)

        def only(child: str, parent: str) -> pa.Array:
            rows = np.full(self.counts[parent], -1)
            rows[parents[child]] = np.arange(len(parents[child]))
            return pa.array(rows, mask=rows < 0)

        updates, nodes, moved, verdicts, views = (
            arrays[name] for name in ("updates", "tree_events", "reassignments", "verdicts", "views")
        )
        created_rows = only("created", "reassignments")
        created = {name: array.take(created_rows) for name, array in arrays["created"].items()}
        list_rows = only("view_lists", "verdicts")
        return {
            "updates": {
                **_without(updates, "offset"),
                **_times(updates, "effective_at"),
                "host_offset": updates["offset"],
                "node_count": count("tree_events", "updates"),
                "kind": _either(only("reassignments", "updates").is_valid(), "reassignment", "transaction"),
            },
            "tree_events": {
                **_without(nodes, "child_event_ids"),
                **_times(nodes, "created_at"),
                **_template(nodes["template_id"]),
                **_places(nodes, parents["tree_events"]),
                "event_type": nodes["event_type"].dictionary_encode(),
            },
            "reassignments": {
                **moved,
                **created,
                **_times(created, "created_at"),
                **_template(created["template_id"]),
                "contract_id": pc.coalesce(created["contract_id"], moved["contract_id"]),
                "kind": _either(created_rows.is_valid(), "assignment", "unassignment"),
            },
            "verdicts": {
                **_without(verdicts, "domain_id"),
                **_times(verdicts, "finalization_time"),
                "synchronizer_id": verdicts["domain_id"],
                "verdict_result": verdicts["verdict_result"].dictionary_encode(),
                "view_count": count("views", "view_lists").take(list_rows),
                "root_views": arrays["view_lists"]["root_views"].take(list_rows),
                "update_visible": arrays["items"]["has_update"].take(pa.array(parents["verdicts"])),
            },
            "views": {
                **views,
                "quorum_count": count("quorums", "views"),
                "parent_view_id": _parent_views(views, parents["views"]),
            },
            "quorums": {
                **arrays["quorums"],
                "view_id": views["view_id"].take(pa.array(parents["quorums"])),
                "quorum_index": _index_in_group(parents["quorums"]),
            },
            "traffic": {**arrays["traffic"], "envelope_count": count("envelopes", "traffic")},
            "envelopes": {**arrays["envelopes"], "envelope_index": _index_in_group(parents["envelopes"])},
            "activity_records": {
                **arrays["activity_records"],
                "round_number": arrays["record_lists"]["round_number"].take(pa.array(parents["activity_records"])),
            },
        }


PARENTS = (
    ("updates", "tree_events"),
    ("updates", "reassignments"),
    ("verdicts", "view_lists"),
    ("view_lists", "views"),
    ("views", "quorums"),
    ("traffic", "envelopes"),
    ("record_lists", "activity_records"),
)


def _nodes(update: Update) -> Collection[Node]:
    tree = update.events_by_id or {}
    return tree.values() if len(tree) <= 10 else sorted(tree.values(), key=lambda node: len(node.event_id))


def _payloads(values: list[msgspec.Raw]) -> pa.Array:
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(map(len, values), dtype=np.int32, count=len(values)), out=offsets[1:])
    bitmap = np.packbits(np.diff(offsets) > 0, bitorder="little")
    return pa.StringArray.from_buffers(len(values), *map(pa.py_buffer, (offsets, b"".join(values), bitmap)))


def _without(columns: Columns, name: str) -> Columns:
    return {field: array for field, array in columns.items() if field != name}


def _times(columns: Columns, name: str) -> Columns:
    return {name: columns[name].cast(TIME)}


def _either(mask: pa.Array, if_true: str, if_false: str) -> pa.Array:
    return pc.if_else(mask, if_true, if_false).dictionary_encode()


def _index_in_group(groups: Indices) -> pa.Array:
    return pa.array(np.arange(len(groups)) - np.searchsorted(groups, groups), SMALL)


def _template(ids: pa.Array) -> Columns:
    encoded = ids.dictionary_encode()
    parts = [text.partition(":") for text in encoded.dictionary.to_pylist()]
    names = {"package_id": [package for package, _, _ in parts], "template_name": [name for _, _, name in parts]}
    return {name: pa.array(texts, TEXT).take(encoded.indices) for name, texts in names.items()}


def _places(nodes: Columns, trees: Indices) -> Columns:
    numbers, children = _last_numbers(nodes["event_id"]), nodes["child_event_ids"]
    counts, width = np.diff(children.offsets.to_numpy()), int(numbers.max()) + 1
    rows = np.searchsorted(trees * width + numbers, np.repeat(trees, counts) * width + _last_numbers(children.values))
    parents = np.full(len(trees), -1)
    parents[rows] = np.repeat(np.arange(len(trees)), counts)
    depths, ancestors = np.zeros(len(trees), dtype=np.int64), parents
    while (ancestors >= 0).any():
        depths += ancestors >= 0
        ancestors = np.where(ancestors >= 0, parents[ancestors], -1)
    parent_event_ids = nodes["event_id"].take(pa.array(parents, mask=parents < 0))
    return {"node_index": pa.array(numbers, SMALL), "depth": pa.array(depths, SMALL), "parent_event_id": parent_event_ids}


def _last_numbers(event_ids: pa.Array) -> Indices:
    start = event_ids[0].as_py().index(":") + 1  # the hash before the colon has the same length in all ids
    numbers: Indices = pc.utf8_slice_codeunits(event_ids, start).cast(INTEGER).to_numpy()
    return numbers


def _parent_views(views: Columns, lists: Indices) -> pa.Array:
    ids, sub_views = views["view_id"].to_numpy().astype(np.int64), views["sub_views"]
    counts, width = np.diff(sub_views.offsets.to_numpy()), int(ids.max()) + 1
    rows = np.searchsorted(lists * width + ids, np.repeat(lists, counts) * width + sub_views.values.to_numpy())
    parents = np.full(len(ids), -1)
    parents[rows] = np.repeat(ids, counts)
    return pa.array(parents, SMALL, mask=parents < 0)
