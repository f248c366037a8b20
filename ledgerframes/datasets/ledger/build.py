"""Update pages of a participant turned into the four ledger tables. Pure: structs in, Arrow tables out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ledgerframes.datasets._arrays import choices, json_text, numbers_in_range, split_template_ids, times
from ledgerframes.datasets._schema import FLAG, INTEGER, SMALL, TEXT, TEXTS, Table
from ledgerframes.datasets.ledger import schema
from ledgerframes.datasets.ledger.wire import (
    Assigned,
    Authorization,
    LedgerEvent,
    LedgerNode,
    LedgerReassignment,
    LedgerReassignmentEvent,
    LedgerTopology,
    LedgerTransaction,
    TopologyChange,
    Unassigned,
    UpdateItem,
)
from ledgerframes.errors import DecodeError

Columns = dict[str, pa.Array]
Update = LedgerTransaction | LedgerReassignment | LedgerTopology

__all__ = ["ledger_tables"]


@numbers_in_range()
def ledger_tables(items: Sequence[UpdateItem], participant_id: str, *, trees: bool) -> dict[str, pa.Table]:
    """Build the four ledger tables from the items of update pages.

    Parameters
    ----------
    items : sequence of UpdateItem
        In any order. Offset checkpoints hold no update and are left out.
    participant_id : str
        Whose ledger it is.
    trees : bool
        Whether the events are ledger effects, in which the tree can be seen.

    Returns
    -------
    dict of str to Table
        Every table of the family, sorted by offset, also when it has no rows.

    Raises
    ------
    DecodeError
        If an item is none of the kinds the API knows, or a time cannot be read.
    """
    updates = sorted((update for item in items if (update := _content(item)) is not None), key=lambda update: update.offset)
    return {
        "ledger_updates": _updates(updates, participant_id),
        "ledger_events": _events([update for update in updates if isinstance(update, LedgerTransaction)], participant_id, trees),
        "ledger_reassignments": _reassignments([u for u in updates if isinstance(u, LedgerReassignment)], participant_id),
        "ledger_topology": _topology([update for update in updates if isinstance(update, LedgerTopology)], participant_id),
    }


def _content(item: UpdateItem) -> Update | None:
    """The update in an item; None for a checkpoint."""
    one_of = item.update
    kinds = [one_of.transaction, one_of.reassignment, one_of.topology] if one_of else []
    found = [kind.value for kind in kinds if kind]
    if found:
        return found[0]
    if one_of is None or one_of.checkpoint is None:
        raise DecodeError("An update is of none of the kinds this version knows.", json_path="$.updates[...].update")
    return None


def _head(owners: Sequence[Update], participant_id: str) -> Columns:
    return {
        "participant_id": pa.array([participant_id] * len(owners), TEXT),
        "offset": pa.array([update.offset for update in owners], INTEGER),
        "record_time": times([update.record_time for update in owners], "recordTime"),
        "update_id": pa.array([update.update_id for update in owners], TEXT),
    }


# -- updates --------------------------------------------------------------------------------------------------------

KIND: dict[type[Update], str] = {LedgerTransaction: "transaction", LedgerReassignment: "reassignment", LedgerTopology: "topology"}


def _updates(updates: list[Update], participant_id: str) -> pa.Table:
    traces = [update.trace_context for update in updates]
    return schema.LEDGER_UPDATES.from_arrays(
        {
            **_head(updates, participant_id),
            "kind": choices([KIND[type(update)] for update in updates]),
            "synchronizer_id": pa.array([update.synchronizer_id for update in updates], TEXT),
            "effective_at": times([getattr(update, "effective_at", None) for update in updates], "effectiveAt"),
            "command_id": pa.array([update.command_id for update in updates], TEXT),
            "workflow_id": pa.array([update.workflow_id for update in updates], TEXT),
            "event_count": pa.array([len(update.events) for update in updates], SMALL),
            "paid_traffic_cost": pa.array([update.paid_traffic_cost for update in updates], INTEGER),
            "external_transaction_hash": pa.array(
                [getattr(update, "external_transaction_hash", None) for update in updates], TEXT
            ),
            "transaction_hash": pa.array([getattr(update, "transaction_hash", None) for update in updates], TEXT),
            "traceparent": pa.array([trace.traceparent if trace else None for trace in traces], TEXT),
            "tracestate": pa.array([trace.tracestate if trace else None for trace in traces], TEXT),
            "extra": json_text([update.extra for update in updates], "extra"),
        }
    )


# -- events ---------------------------------------------------------------------------------------------------------


def _events(transactions: list[LedgerTransaction], participant_id: str, trees: bool) -> pa.Table:
    owners = [update for update in transactions for _ in update.events]
    kinds_and_nodes = [_kind_and_node(event) for update in transactions for event in update.events]
    nodes = [node for _, node in kinds_and_nodes]
    above = [place for update in transactions for place in (_places(update) if trees else [(None, None)] * len(update.events))]
    return schema.LEDGER_EVENTS.from_arrays(
        {
            **_head(owners, participant_id),
            **node_columns(nodes, schema.LEDGER_EVENTS),
            "event_type": choices([kind for kind, _ in kinds_and_nodes]),
            "parent_node_id": pa.array([parent for parent, _ in above], SMALL),
            "depth": pa.array([depth for _, depth in above], SMALL),
        }
    )


def _kind_and_node(event: LedgerEvent) -> tuple[str, LedgerNode]:
    for kind, node in (
        ("created_event", event.created),
        ("archived_event", event.archived),
        ("exercised_event", event.exercised),
    ):
        if node is not None:
            return kind, node
    raise DecodeError("An event is of none of the kinds this version knows.", json_path="$..events[...]")


def _places(update: LedgerTransaction) -> list[tuple[int | None, int]]:
    """Parent and depth of each event: those below an exercise have node ids up to its last descendant's.

    See docs/facts.md#ledger-event-fields.
    """
    places: list[tuple[int | None, int]] = []
    open_exercises: list[tuple[int, int]] = []  # node id and last descendant of the exercises above
    for event in update.events:
        node = _kind_and_node(event)[1]
        node_id = node.node_id or 0
        while open_exercises and open_exercises[-1][1] < node_id:
            open_exercises.pop()
        places.append((open_exercises[-1][0] if open_exercises else None, len(open_exercises)))
        if event.exercised is not None:
            open_exercises.append((node_id, max(node_id, node.last_descendant_node_id or 0)))
    return places


def node_columns(nodes: Sequence[LedgerNode], table: Table) -> Columns:
    """The columns of a table that are members of the node itself."""
    plain = {
        "node_id": SMALL,
        "last_descendant_node_id": SMALL,
        "contract_id": TEXT,
        "package_name": TEXT,
        "choice": TEXT,
        "consuming": FLAG,
        "acting_parties": TEXTS,
        "interface_id": TEXT,
        "implemented_interfaces": TEXTS,
        "witness_parties": TEXTS,
        "signatories": TEXTS,
        "observers": TEXTS,
        "contract_key_hash": TEXT,
        "created_event_blob": TEXT,
        "representative_package_id": TEXT,
        "acs_delta": FLAG,
    }
    template_ids = pa.array([node.template_id for node in nodes], TEXT)
    package_ids, template_names = split_template_ids(template_ids)
    columns: Columns = {
        **{name: pa.array([getattr(node, name) for node in nodes], kind) for name, kind in plain.items()},
        **{name: json_text([getattr(node, name) for node in nodes], name) for name in ("contract_key", "interface_views")},
        **{
            name: json_text([getattr(node, name) for node in nodes], name)
            for name in ("choice_argument", "exercise_result", "extra")
        },
        "template_id": template_ids,
        "package_id": package_ids,
        "template_name": template_names,
        "created_at": times([node.created_at for node in nodes], "createdAt"),
        "create_arguments": json_text([node.create_argument for node in nodes], "createArgument"),
    }
    return {name: values for name, values in columns.items() if name in table.column_names}


# -- reassignments --------------------------------------------------------------------------------------------------


def _reassignments(updates: list[LedgerReassignment], participant_id: str) -> pa.Table:
    owners = [update for update in updates for _ in update.events]
    events = [_reassignment(event) for update in updates for event in update.events]
    nodes = [_node_of(event) for event in events]
    return schema.LEDGER_REASSIGNMENTS.from_arrays(
        {
            **_head(owners, participant_id),
            **node_columns(nodes, schema.LEDGER_REASSIGNMENTS),
            "event_index": pa.array([position for update in updates for position in range(len(update.events))], SMALL),
            "kind": choices(["assignment" if isinstance(event, Assigned) else "unassignment" for event in events]),
            "reassignment_id": pa.array([event.reassignment_id for event in events], TEXT),
            "submitter": pa.array([event.submitter for event in events], TEXT),
            "source_synchronizer": pa.array([event.source for event in events], TEXT),
            "target_synchronizer": pa.array([event.target for event in events], TEXT),
            "reassignment_counter": pa.array([event.reassignment_counter for event in events], INTEGER),
            "assignment_exclusivity": times(
                [getattr(event, "assignment_exclusivity", None) for event in events], "assignmentExclusivity"
            ),
            "extra": json_text([event.extra for event in events], "extra"),
        }
    )


def _reassignment(event: LedgerReassignmentEvent) -> Assigned | Unassigned:
    if event.assigned is not None:
        return event.assigned
    if event.unassigned is not None:
        return event.unassigned.value
    raise DecodeError("A reassignment is of none of the kinds this version knows.", json_path="$..events[...]")


def _node_of(event: Assigned | Unassigned) -> LedgerNode:
    """The contract concerned; of an unassigned one little is told."""
    if isinstance(event, Assigned):
        return event.created_event
    return LedgerNode(
        contract_id=event.contract_id,
        template_id=event.template_id,
        package_name=event.package_name,
        node_id=event.node_id,
        witness_parties=event.witness_parties,
    )


# -- topology -------------------------------------------------------------------------------------------------------


def _topology(updates: list[LedgerTopology], participant_id: str) -> pa.Table:
    rows = [
        (update, position, *change)
        for update in updates
        for position, event in enumerate(update.events)
        if event.event is not None and (change := _change(event.event)) is not None
    ]
    changes: list[Authorization] = [authorization for *_, authorization in rows]
    return schema.LEDGER_TOPOLOGY.from_arrays(
        {
            **_head([row[0] for row in rows], participant_id),
            "event_index": pa.array([row[1] for row in rows], SMALL),
            "change": choices([row[2] for row in rows]),
            "party": pa.array([change.party_id for change in changes], TEXT),
            "hosting_participant_id": pa.array([change.participant_id for change in changes], TEXT),
            "participant_permission": choices([change.participant_permission for change in changes]),
            "extra": json_text([change.extra for change in changes], "extra"),
        }
    )


def _change(event: TopologyChange) -> tuple[str, Authorization] | None:
    """The kind of change and what it says; None for an empty one."""
    kinds: dict[str, Any] = {
        "added": event.added,
        "changed": event.changed,
        "revoked": event.revoked,
        "onboarding": event.onboarding,
    }
    for kind, wrapped in kinds.items():
        if wrapped is not None:
            return kind, wrapped.value
    return None
