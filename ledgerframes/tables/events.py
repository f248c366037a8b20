"""Event items of the history API turned into the nine history tables. Pure: structs in, Arrow tables out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import DecodeError
from ledgerframes.tables import history
from ledgerframes.tables.arrays import (
    Indices,
    choices,
    json_text,
    lengths,
    merged_extra,
    numbers_in_range,
    position_within,
    repeat,
    split_template_ids,
    times,
)
from ledgerframes.tables.batch import Batch
from ledgerframes.tables.spec import FLAG, INTEGER, SMALL, SMALLS, TEXT, TEXTS
from ledgerframes.wire.history import Event, Node, Update, Verdict
from ledgerframes.wire.structs import ABSENT

Columns = dict[str, pa.Array]

__all__ = ["event_tables"]


@numbers_in_range()
def event_tables(events: Sequence[Event], id_source: str) -> dict[str, pa.Table]:
    """Build all nine history tables from a batch of event items.

    Parameters
    ----------
    events : sequence of Event
        In any order.
    id_source : str
        How the items were found: ``listing``, ``ledger``, ``bulk`` or ``user``.

    Returns
    -------
    dict of str to Table
        Every table of the family, sorted as declared, also when it has no rows.

    Raises
    ------
    DecodeError
        If an item has neither update nor verdict or contradicts itself, a time cannot be read, or a tree is not one.
    """
    batch = Batch.of(events)
    transactions = [
        (i, event.update) for i, event in enumerate(batch.events) if event.update and event.update.events_by_id is not None
    ]
    reassignments = [(i, event.update) for i, event in enumerate(batch.events) if event.update and event.update.event]
    verdicts = [(i, event.verdict) for i, event in enumerate(batch.events) if event.verdict]
    return {
        "updates": _updates(batch),
        "tree_events": _tree_events(batch, transactions),
        "reassignments": _reassignments(batch, reassignments),
        "verdicts": _verdicts(batch, verdicts, id_source),
        **_views_and_quorums(batch, verdicts),
        **_traffic_and_envelopes(batch),
        "activity_records": _activity_records(batch),
    }


# -- many structs at once -------------------------------------------------------------------------------------------


def _columns_of(structs: Sequence[msgspec.Struct], kind: type[msgspec.Struct]) -> dict[str, Sequence[Any]]:
    """The fields of many structs, one sequence a field."""
    if not structs:
        return dict.fromkeys(kind.__struct_fields__, ())
    return dict(zip(kind.__struct_fields__, zip(*map(msgspec.structs.astuple, structs), strict=True), strict=True))


def _extras(structs: Sequence[Any]) -> pa.Array:
    return json_text([struct.extra for struct in structs], "extra")


# -- updates --------------------------------------------------------------------------------------------------------


def _updates(batch: Batch) -> pa.Table:
    owners = [i for i, event in enumerate(batch.events) if event.update]
    updates = [event.update for event in batch.events if event.update]
    around = [event.extra for event in batch.events if event.update]
    return history.UPDATES.from_columns(
        {
            **batch.head(owners),
            "kind": choices(["reassignment" if update.event else "transaction" for update in updates]),
            "synchronizer_id": pa.array([update.synchronizer_id for update in updates], TEXT),
            "workflow_id": pa.array([update.workflow_id for update in updates], TEXT),
            "effective_at": times([update.effective_at for update in updates], "effective_at"),
            "root_event_ids": _without_hash(pa.array([update.root_event_ids for update in updates], TEXTS)),
            "node_count": pa.array(lengths(update.events_by_id for update in updates), SMALL),
            "node_offset": pa.array([None if update.offset is None else str(update.offset) for update in updates], TEXT),
            "external_transaction_hash": pa.array([update.external_transaction_hash for update in updates], TEXT),
            "extra": json_text([merged_extra(u.extra, event=e) for u, e in zip(updates, around, strict=True)], "extra"),
        }
    )


def _without_hash(ids: pa.Array) -> pa.Array:
    """Event ids without the leading `#` that old versions put there (wire fact 21)."""
    if pa.types.is_list(ids.type):
        return pa.ListArray.from_arrays(ids.offsets, _without_hash(ids.values), mask=ids.is_null())
    return pc.ascii_ltrim(ids, "#")


# -- tree events ----------------------------------------------------------------------------------------------------


def _tree_events(batch: Batch, transactions: list[tuple[int, Update]]) -> pa.Table:
    trees = [update.events_by_id or {} for _, update in transactions]
    counts = lengths(trees)
    owners = repeat(np.array([i for i, _ in transactions], dtype=np.int64), counts)
    nodes = [node for tree in trees for node in tree.values()]
    # Event ids come in string order, 10 before 2 (wire fact 20).
    node_index = np.array([_node_index(node.event_id) for node in nodes], dtype=np.int32)
    order = np.lexsort((node_index, owners))
    nodes = [nodes[position] for position in order.tolist()]
    columns = _columns_of(nodes, Node)
    event_ids = _without_hash(pa.array(columns["event_id"], TEXT))
    parents = _parents(event_ids, columns["child_event_ids"])
    return history.TREE_EVENTS.from_columns(
        {
            **batch.head(owners[order]),
            "event_id": event_ids,
            "node_index": pa.array(node_index[order], SMALL),
            "parent_event_id": event_ids.take(pa.array(parents, mask=parents < 0)),
            "depth": pa.array(_depths(parents), SMALL),
            "event_type": choices(_event_types(columns)),
            **_contract_columns(columns),
            "choice": pa.array(columns["choice"], TEXT),
            "consuming": pa.array(columns["consuming"], FLAG),
            "acting_parties": pa.array(columns["acting_parties"], TEXTS),
            "interface_id": pa.array(columns["interface_id"], TEXT),
            "choice_argument": json_text(columns["choice_argument"], "choice_argument"),
            "exercise_result": json_text(columns["exercise_result"], "exercise_result"),
            "extra": json_text(columns["extra"], "extra"),
        }
    )


def _contract_columns(columns: dict[str, Sequence[Any]]) -> Columns:
    """The columns that nodes and the created events of assignments share."""
    template_ids = pa.array(columns["template_id"], TEXT)
    package_ids, template_names = split_template_ids(template_ids)
    return {
        "contract_id": pa.array(columns["contract_id"], TEXT),
        "template_id": template_ids,
        "package_id": package_ids,
        "template_name": template_names,
        "package_name": pa.array(columns["package_name"], TEXT),
        "created_at": times(columns["created_at"], "created_at"),
        "signatories": pa.array(columns["signatories"], TEXTS),
        "observers": pa.array(columns["observers"], TEXTS),
        "create_arguments": json_text(columns["create_arguments"], "create_arguments"),
    }


def _node_index(event_id: str) -> int:
    digits = event_id.rpartition(":")[2]
    if not digits.isdecimal():
        raise DecodeError(f"Event id {event_id!r} does not end in the number of its node.", json_path="$..event_id")
    return int(digits)


def _event_types(columns: dict[str, Sequence[Any]]) -> pa.Array:
    by_choice = pc.if_else(pa.array(columns["choice"], TEXT).is_valid(), "exercised_event", "created_event")
    return pc.coalesce(pa.array(columns["event_type"], TEXT), by_choice)


def _parents(event_ids: pa.Array, child_event_ids: Sequence[list[str] | None]) -> Indices:
    """The row of each node's parent, -1 for roots."""
    children = _without_hash(pa.array([child for children in child_event_ids for child in children or ()], TEXT))
    rows = pc.index_in(children, value_set=event_ids)
    if rows.null_count:
        stranger = children.filter(rows.is_null())[0]
        raise DecodeError(f"A node lists the child {stranger}, which is not in its tree.", json_path="$..child_event_ids")
    parents = np.full(len(event_ids), -1, dtype=np.int64)
    parents[rows.to_numpy()] = repeat(np.arange(len(event_ids)), lengths(child_event_ids))
    if (parents >= np.arange(len(parents))).any():
        raise DecodeError(
            "A node is listed as the child of a later node: its tree is not in pre-order.", json_path="$..child_event_ids"
        )
    return parents


def _depths(parents: Indices) -> Indices:
    """Steps to the root, one pass a level."""
    depths = np.zeros(len(parents), dtype=np.int64)
    below = parents >= 0
    ancestors = parents.copy()
    while below.any():
        depths[below] += 1
        ancestors[below] = parents[ancestors[below]]
        below = ancestors >= 0
    return depths


# -- reassignments --------------------------------------------------------------------------------------------------


def _reassignments(batch: Batch, reassignments: list[tuple[int, Update]]) -> pa.Table:
    events = [update.event for _, update in reassignments if update.event]
    nothing = Node(event_id="", contract_id="", template_id="")
    created = _contract_columns(_columns_of([event.created_event or nothing for event in events], Node))
    arrived = pa.array([event.created_event is not None for event in events], FLAG)
    contract_ids = [event.created_event.contract_id if event.created_event else event.contract_id for event in events]
    return history.REASSIGNMENTS.from_columns(
        {
            **batch.head([i for i, _ in reassignments]),
            **{name: pc.if_else(arrived, values, pa.scalar(None, values.type)) for name, values in created.items()},
            "kind": choices(pc.if_else(arrived, "assignment", "unassignment")),
            "unassign_id": pa.array([event.unassign_id for event in events], TEXT),
            "submitter": pa.array([event.submitter for event in events], TEXT),
            "source_synchronizer": pa.array([event.source_synchronizer for event in events], TEXT),
            "target_synchronizer": pa.array([event.target_synchronizer for event in events], TEXT),
            "reassignment_counter": pa.array([event.reassignment_counter for event in events], INTEGER),
            "contract_id": pa.array(contract_ids, TEXT),
            "extra": _extras(events),
        }
    )


# -- verdicts, views, quorums ---------------------------------------------------------------------------------------


def _verdicts(batch: Batch, verdicts: list[tuple[int, Verdict]], id_source: str) -> pa.Table:
    owners = [i for i, _ in verdicts]
    columns = _columns_of([verdict for _, verdict in verdicts], Verdict)
    all_views = columns["transaction_views"]
    return history.VERDICTS.from_columns(
        {
            **batch.head(owners),
            "synchronizer_id": pa.array(columns["domain_id"], TEXT),
            "finalization_time": times(columns["finalization_time"], "finalization_time"),
            "verdict_result": choices(columns["verdict_result"]),
            "submitting_participant_uid": pa.array(columns["submitting_participant_uid"], TEXT),
            "submitting_parties": pa.array(columns["submitting_parties"], TEXTS),
            "mediator_group": pa.array(columns["mediator_group"], SMALL),
            "view_count": pa.array(lengths(views.views if views else () for views in all_views), SMALL),
            "root_views": pa.array([(views.root_views if views else None) or [] for views in all_views], SMALLS),
            "body_visible": pa.array([batch.events[i].update is not None for i in owners], FLAG),
            "id_source": choices([id_source] * len(verdicts)),
            "extra": json_text([_verdict_extra(batch.events[i], verdict) for i, verdict in verdicts], "extra"),
        }
    )


def _verdict_extra(event: Event, verdict: Verdict) -> msgspec.Raw:
    views = verdict.transaction_views.extra if verdict.transaction_views else ABSENT
    return merged_extra(verdict.extra, transaction_views=views, event=ABSENT if event.update else event.extra)


def _views_and_quorums(batch: Batch, verdicts: list[tuple[int, Verdict]]) -> dict[str, pa.Table]:
    per_verdict = [verdict.transaction_views.views if verdict.transaction_views else [] for _, verdict in verdicts]
    owners = repeat(np.array([i for i, _ in verdicts], dtype=np.int64), lengths(per_verdict))
    views = [view for views in per_verdict for view in sorted(views, key=lambda view: view.view_id)]
    view_ids = np.array([view.view_id for view in views], dtype=np.int64)
    per_view = [view.confirming_parties or [] for view in views]
    counts = lengths(per_view)
    quorums = [quorum for quorums in per_view for quorum in quorums]
    view_table = history.VIEWS.from_columns(
        {
            **batch.head(owners),
            "view_id": pa.array(view_ids, SMALL),
            "parent_view_id": _parent_views(owners, view_ids, [view.sub_views for view in views]),
            "informees": pa.array([view.informees or [] for view in views], TEXTS),
            "quorum_count": pa.array(counts, SMALL),
            "sub_views": pa.array([view.sub_views or [] for view in views], SMALLS),
            "view_hash": pa.array([view.view_hash or "" for view in views], TEXT),
            "extra": _extras(views),
        }
    )
    quorum_table = history.QUORUMS.from_columns(
        {
            **batch.head(repeat(owners, counts)),
            "view_id": pa.array(repeat(view_ids, counts), SMALL),
            "quorum": pa.array(position_within(counts), SMALL),
            "threshold": pa.array([quorum.threshold for quorum in quorums], SMALL),
            "parties": pa.array([quorum.parties for quorum in quorums], TEXTS),
            "extra": _extras(quorums),
        }
    )
    return {"views": view_table, "quorums": quorum_table}


def _parent_views(owners: Indices, view_ids: Indices, sub_views: list[list[int] | None]) -> pa.Array:
    """The view that lists each view; views are sorted by owner and id, so a search finds the child's row."""
    counts = lengths(sub_views)
    children = np.array([child for children in sub_views for child in children or ()], dtype=np.int64)
    width = max(view_ids.max(initial=0), children.max(initial=0)) + 1
    keys = owners * width + view_ids
    wanted = repeat(owners, counts) * width + children
    rows = np.searchsorted(keys, wanted)
    if (rows >= len(keys)).any() or (keys[rows] != wanted).any():
        raise DecodeError("A view lists a sub-view that its verdict does not have.", json_path="$..sub_views")
    parents = np.full(len(view_ids), -1, dtype=np.int32)
    parents[rows] = repeat(view_ids, counts)
    return pa.array(parents, SMALL, mask=parents < 0)


# -- traffic, envelopes, activity -----------------------------------------------------------------------------------


def _traffic_and_envelopes(batch: Batch) -> dict[str, pa.Table]:
    owners = np.array([i for i, event in enumerate(batch.events) if event.traffic_summary], dtype=np.int64)
    summaries = [event.traffic_summary for event in batch.events if event.traffic_summary]
    per_summary = [summary.envelope_traffic_summaries or summary.envelope_traffic_costs or [] for summary in summaries]
    counts = lengths(per_summary)
    envelopes = [envelope for envelopes in per_summary for envelope in envelopes]
    traffic = history.TRAFFIC.from_columns(
        {
            **batch.head(owners),
            "total_traffic_cost": pa.array([summary.total_traffic_cost for summary in summaries], INTEGER),
            "envelope_count": pa.array(counts, SMALL),
            "extra": _extras(summaries),
        }
    )
    envelope_table = history.ENVELOPES.from_columns(
        {
            **batch.head(repeat(owners, counts)),
            "envelope": pa.array(position_within(counts), SMALL),
            "traffic_cost": pa.array([envelope.traffic_cost for envelope in envelopes], INTEGER),
            "view_ids": pa.array([envelope.view_ids or [] for envelope in envelopes], SMALLS),
            "extra": _extras(envelopes),
        }
    )
    return {"traffic": traffic, "envelopes": envelope_table}


def _activity_records(batch: Batch) -> pa.Table:
    found = [(i, event.app_activity_records) for i, event in enumerate(batch.events) if event.app_activity_records]
    rows = [(i, all_of_it, one) for i, all_of_it in found for one in sorted(all_of_it.records, key=lambda record: record.party)]
    return history.ACTIVITY_RECORDS.from_columns(
        {
            **batch.head([i for i, _, _ in rows]),
            "round_number": pa.array([all_of_it.round_number for _, all_of_it, _ in rows], INTEGER),
            "party": pa.array([one.party for _, _, one in rows], TEXT),
            "weight": pa.array([one.weight for _, _, one in rows], INTEGER),
            "extra": json_text(
                [merged_extra(one.extra, app_activity_records=all_of_it.extra) for _, all_of_it, one in rows], "extra"
            ),
        }
    )
