"""The nine history tables as a user would build them without this library, from the same JSON lines.

Each rival is written to be fast within what its tool invites one to write, and builds the same rows. None of them keeps unknown
members (the columns `extra`), says how an event was found (`id_source`), strips the `#` of old event ids, drops events that come
twice, sorts what comes unsorted, or notices a tree that is none. What else one leaves out stands in its docstring.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pandas as pd
import pyarrow as pa

Rows = dict[str, Any]
Lists = dict[str, list[Any]]

HEAD = ("migration_id", "record_time", "update_id")
INTEGERS = {"migration_id", "total_traffic_cost", "traffic_cost", "round_number", "weight", "reassignment_counter"}
SMALL = {"node_count", "node_index", "depth", "mediator_group", "view_count", "view_id", "parent_view_id", "quorum_count"}
SMALL |= {"quorum_index", "threshold", "envelope_count", "envelope_index"}
TIMES = {"record_time", "effective_at", "created_at", "finalization_time"}
TEXT_LISTS = {"root_event_ids", "acting_parties", "signatories", "observers", "submitting_parties", "informees", "parties"}
SMALL_LISTS = {"root_views", "sub_views", "view_ids"}
FLAGS = {"consuming", "update_visible"}

UPDATES = "kind synchronizer_id workflow_id effective_at root_event_ids node_count host_offset external_transaction_hash"
CONTRACT = "contract_id template_id package_id template_name package_name created_at signatories observers create_arguments"
NODE = f"event_id node_index parent_event_id depth event_type {CONTRACT} choice consuming acting_parties interface_id"
REASSIGNMENT = "kind unassign_id submitter source_synchronizer target_synchronizer reassignment_counter"
VERDICT = "synchronizer_id finalization_time verdict_result submitting_participant_uid submitting_parties mediator_group"
COLUMNS = {
    "updates": UPDATES,
    "tree_events": f"{NODE} choice_argument exercise_result",
    "reassignments": f"{REASSIGNMENT} {CONTRACT}",
    "verdicts": f"{VERDICT} view_count root_views update_visible",
    "views": "view_id parent_view_id informees quorum_count sub_views view_hash",
    "quorums": "view_id quorum_index threshold parties",
    "traffic": "total_traffic_cost envelope_count",
    "envelopes": "envelope_index traffic_cost view_ids",
    "activity_records": "round_number party weight",
}

# -- orjson and a walk ----------------------------------------------------------------------------------------------


def walked(lines: Iterable[bytes]) -> dict[str, pa.Table]:
    """Orjson, a walk over every row that appends to lists, and `pyarrow.table` of the lists.

    Payloads are written anew by orjson, so they are not the bytes that came.
    """
    tables: dict[str, Lists] = {name: {column: [] for column in (*HEAD, *names.split())} for name, names in COLUMNS.items()}
    for line in lines:
        _walk_item(tables, orjson.loads(line))
    return {name: pa.table({column: _array(column, values) for column, values in rows.items()}) for name, rows in tables.items()}


def _array(column: str, values: list[Any]) -> pa.Array:
    if column in TIMES:
        return pa.array(values, pa.string()).cast(pa.timestamp("us", tz="UTC"))
    return pa.array(values, _type(column))


def _type(column: str) -> pa.DataType:
    for names, kind in (
        (INTEGERS, pa.int64()),
        (SMALL, pa.int32()),
        (FLAGS, pa.bool_()),
        (TEXT_LISTS, pa.list_(pa.string())),
        (SMALL_LISTS, pa.list_(pa.int32())),
    ):
        if column in names:
            return kind
    return pa.string()


def _add(rows: Lists, *values: Any) -> None:
    for column, value in zip(rows.values(), values, strict=True):
        column.append(value)


def _walk_item(tables: dict[str, Lists], item: Rows) -> None:
    update, verdict, traffic, activity = (
        item.get(name) for name in ("update", "verdict", "traffic_summary", "app_activity_records")
    )
    if update and "event" in update:
        head = update["event"]["migration_id"], update["record_time"], update["update_id"]
    else:
        part: Rows = update or verdict or {}
        head = part["migration_id"], part["record_time"], part["update_id"]
    if update:
        _walk_update(tables, head, update)
    if verdict:
        _walk_verdict(tables, head, verdict, update is not None)
    if traffic:
        envelopes = traffic["envelope_traffic_summaries"]
        _add(tables["traffic"], *head, traffic["total_traffic_cost"], len(envelopes))
        for number, envelope in enumerate(envelopes):
            _add(tables["envelopes"], *head, number, envelope["traffic_cost"], envelope["view_ids"])
    if activity:
        for record in activity["records"]:
            _add(tables["activity_records"], *head, activity["round_number"], record["party"], record["weight"])


def _walk_update(tables: dict[str, Lists], head: tuple[Any, ...], update: Rows) -> None:
    nodes = update.get("events_by_id") or {}
    names = "synchronizer_id", "workflow_id", "effective_at", "root_event_ids"
    kind = "reassignment" if "event" in update else "transaction"
    rest = len(nodes), update.get("offset"), update.get("external_transaction_hash")
    _add(tables["updates"], *head, kind, *map(update.get, names), *rest)
    if "event" in update:
        _walk_reassignment(tables["reassignments"], head, update["event"])
    places: dict[str, tuple[str | None, int]] = {}
    for number, node in sorted((int(event_id.rpartition(":")[2]), node) for event_id, node in nodes.items()):
        parent, depth = places.get(node["event_id"], (None, 0))
        for child in node.get("child_event_ids") or ():
            places[child] = node["event_id"], depth + 1
        _add(
            tables["tree_events"],
            *head,
            node["event_id"],
            number,
            parent,
            depth,
            node["event_type"],
            *_contract(node),
            *map(node.get, ("choice", "consuming", "acting_parties", "interface_id")),
            _text(node.get("choice_argument")),
            _text(node.get("exercise_result")),
        )


def _walk_reassignment(rows: Lists, head: tuple[Any, ...], event: Rows) -> None:
    created = event.get("created_event")
    names = "unassign_id", "submitter", "source_synchronizer", "target_synchronizer", "reassignment_counter"
    contract = _contract(created) if created else (event["contract_id"], *[None] * 8)
    _add(rows, *head, "assignment" if created else "unassignment", *map(event.get, names), *contract)


def _contract(node: Rows) -> tuple[Any, ...]:
    package_id, _, template_name = node["template_id"].partition(":")
    return (
        node["contract_id"],
        node["template_id"],
        package_id,
        template_name,
        *map(node.get, ("package_name", "created_at", "signatories", "observers")),
        _text(node.get("create_arguments")),
    )


def _text(payload: Any) -> str | None:
    return None if payload is None else orjson.dumps(payload).decode()


def _walk_verdict(tables: dict[str, Lists], head: tuple[Any, ...], verdict: Rows, update_visible: bool) -> None:
    views = verdict["transaction_views"]["views"]
    names = "finalization_time", "verdict_result", "submitting_participant_uid", "submitting_parties", "mediator_group"
    root_views = verdict["transaction_views"]["root_views"]
    values = *map(verdict.get, names), len(views), root_views, update_visible
    _add(tables["verdicts"], *head, verdict["domain_id"], *values)
    parents = {child: view["view_id"] for view in views for child in view["sub_views"]}
    for view in views:
        number, quorums = view["view_id"], view["confirming_parties"]
        rest = parents.get(number), view["informees"], len(quorums), view["sub_views"], view["view_hash"]
        _add(tables["views"], *head, number, *rest)
        for position, quorum in enumerate(quorums):
            _add(tables["quorums"], *head, number, position, quorum["threshold"], quorum["parties"])


# -- pandas.json_normalize ------------------------------------------------------------------------------------------


def normalized(lines: Iterable[bytes]) -> dict[str, pd.DataFrame]:
    """Json and `pandas.json_normalize`, one call a table; what is derived is derived a column at a time.

    Payloads are written anew. Reassignments stay as they come, one column a member.
    """
    items = [json.loads(line) for line in lines]
    for item in items:
        part = item["update"] or item["verdict"]
        head = (part.get("event") or part)["migration_id"], part["record_time"], part["update_id"]
        item.update(zip(HEAD, head, strict=True))
    updates, verdicts, summaries, activity = (
        [item for item in items if item[name]] for name in ("update", "verdict", "traffic_summary", "app_activity_records")
    )
    trees = [{**_head(item), "nodes": [*item["update"].get("events_by_id", {}).values()]} for item in updates]
    moved = [{**_head(item), **item["update"]["event"]} for item in updates if "event" in item["update"]]
    views = [{**_head(item), "view": view} for item in verdicts for view in item["verdict"]["transaction_views"]["views"]]
    plain_verdicts = [{**item["verdict"], "update_visible": item["update"] is not None} for item in verdicts]
    plain_updates = [{**item["update"], "events_by_id": len(item["update"].get("events_by_id", ()))} for item in updates]
    frames = {
        "updates": pd.json_normalize(plain_updates, max_level=0).rename(columns={"events_by_id": "node_count"}),
        "tree_events": pd.json_normalize(trees, "nodes", [*HEAD], max_level=0),
        "reassignments": pd.json_normalize(moved, max_level=1),
        "verdicts": pd.json_normalize(plain_verdicts, max_level=0).drop(columns="transaction_views"),
        "views": pd.json_normalize(views, max_level=1),
        "quorums": pd.json_normalize(views, ["view", "confirming_parties"], [*HEAD, ["view", "view_id"]]),
        "traffic": pd.json_normalize([{**_head(item), **item["traffic_summary"]} for item in summaries], max_level=0),
        "envelopes": pd.json_normalize(summaries, ["traffic_summary", "envelope_traffic_summaries"], [*HEAD]),
        "activity_records": pd.json_normalize(
            activity, ["app_activity_records", "records"], [*HEAD, ["app_activity_records", "round_number"]]
        ),
    }
    frames["tree_events"] = _with_places(frames["tree_events"])
    frames["tree_events"][["package_id", "template_name"]] = frames["tree_events"]["template_id"].str.split(":", n=1, expand=True)
    frames["verdicts"]["view_count"] = [len(item["verdict"]["transaction_views"]["views"]) for item in verdicts]
    frames["verdicts"]["root_views"] = [item["verdict"]["transaction_views"]["root_views"] for item in verdicts]
    frames["views"]["parent_view_id"] = _parents_of_views(frames["views"])
    frames["views"]["quorum_count"] = frames["views"]["view.confirming_parties"].str.len()
    frames["quorums"]["quorum_index"] = frames["quorums"].groupby([*HEAD, "view.view_id"]).cumcount()
    frames["traffic"]["envelope_count"] = frames["traffic"]["envelope_traffic_summaries"].str.len()
    frames["envelopes"]["envelope_index"] = frames["envelopes"].groupby([*HEAD]).cumcount()
    for payload in ("create_arguments", "choice_argument", "exercise_result"):
        frames["tree_events"][payload] = frames["tree_events"][payload].map(json.dumps, na_action="ignore")
    for frame in frames.values():
        for name in frame.columns.intersection(list(TIMES)):
            frame[name] = pd.to_datetime(frame[name], format="ISO8601")
    return frames


def _with_places(nodes: pd.DataFrame) -> pd.DataFrame:
    """Nodes in the order of their trees, with number, parent and depth."""
    nodes["node_index"] = nodes["event_id"].str.rpartition(":")[2].astype(int)
    nodes = nodes.sort_values([*HEAD, "node_index"], ignore_index=True)
    children = nodes[["event_id", "child_event_ids"]].explode("child_event_ids").dropna().set_index("child_event_ids")["event_id"]
    nodes["parent_event_id"] = ancestors = nodes["event_id"].map(children)
    nodes["depth"] = 0
    while ancestors.notna().any():
        nodes["depth"] += ancestors.notna()
        ancestors = ancestors.map(children)
    return nodes


def _parents_of_views(views: pd.DataFrame) -> pd.Series:
    """The view that lists each view."""
    listed = views[[*HEAD, "view.view_id", "view.sub_views"]].explode("view.sub_views").dropna()
    listed = listed.rename(columns={"view.view_id": "parent_view_id", "view.sub_views": "view.view_id"})
    return views[[*HEAD, "view.view_id"]].merge(listed, "left", [*HEAD, "view.view_id"])["parent_view_id"].set_axis(views.index)


def _head(item: Rows) -> Rows:
    return {name: item[name] for name in HEAD}


# -- DuckDB ---------------------------------------------------------------------------------------------------------

NODE_STRUCT = """STRUCT(event_type VARCHAR, event_id VARCHAR, contract_id VARCHAR, template_id VARCHAR, package_name VARCHAR,
    choice VARCHAR, consuming BOOLEAN, acting_parties VARCHAR[], interface_id VARCHAR, created_at TIMESTAMPTZ,
    signatories VARCHAR[], observers VARCHAR[], create_arguments JSON, choice_argument JSON, exercise_result JSON,
    child_event_ids VARCHAR[])"""
ITEM_COLUMNS = {
    "update": f"""STRUCT(update_id VARCHAR, record_time TIMESTAMPTZ, migration_id BIGINT, workflow_id VARCHAR,
        synchronizer_id VARCHAR, effective_at TIMESTAMPTZ, root_event_ids VARCHAR[], events_by_id MAP(VARCHAR, {NODE_STRUCT}),
        external_transaction_hash VARCHAR, "offset" VARCHAR, event STRUCT(source_synchronizer VARCHAR,
        target_synchronizer VARCHAR, migration_id BIGINT, unassign_id VARCHAR, reassignment_counter BIGINT, submitter VARCHAR,
        contract_id VARCHAR, created_event {NODE_STRUCT}))""",
    "verdict": """STRUCT(update_id VARCHAR, migration_id BIGINT, domain_id VARCHAR, record_time TIMESTAMPTZ,
        finalization_time TIMESTAMPTZ, verdict_result VARCHAR, submitting_participant_uid VARCHAR, submitting_parties VARCHAR[],
        mediator_group INTEGER, transaction_views STRUCT(root_views INTEGER[], views STRUCT(view_id INTEGER, informees VARCHAR[],
        confirming_parties STRUCT(parties VARCHAR[], threshold INTEGER)[], sub_views INTEGER[], view_hash VARCHAR)[]))""",
    "traffic_summary": """STRUCT(total_traffic_cost BIGINT,
        envelope_traffic_summaries STRUCT(traffic_cost BIGINT, view_ids INTEGER[])[])""",
    "app_activity_records": "STRUCT(round_number BIGINT, records STRUCT(party VARCHAR, weight BIGINT)[])",
}
HEAD_SQL = "migration_id, record_time, update_id"
CONTRACT_SQL = """node.template_id, split_part(node.template_id, ':', 1) as package_id,
    substr(node.template_id, strpos(node.template_id, ':') + 1) as template_name, node.package_name, node.created_at,
    node.signatories, node.observers, node.create_arguments"""
LINKS_SQL = """select node.event_id as parent_event_id, unnest(node.child_event_ids) as child_id
    from (select unnest(map_values(update.events_by_id)) as node from items)"""
WALK_SQL = """with recursive walk(event_id, parent_event_id, depth) as (
    select unnest(update.root_event_ids), null::varchar, 0 from items union all
    select child_id, event_id, depth + 1 from walk join links on links.parent_event_id = event_id) select * from walk"""
SQL = {
    "updates": f"""select {HEAD_SQL}, if(update.event is null, 'transaction', 'reassignment') as kind, update.synchronizer_id,
        update.workflow_id, update.effective_at, update.root_event_ids, coalesce(cardinality(update.events_by_id), 0)
        as node_count, update."offset" as host_offset, update.external_transaction_hash from items where update is not null""",
    "tree_events": f"""select {HEAD_SQL}, node.event_id, split_part(node.event_id, ':', -1)::int as node_index,
        parent_event_id, depth, node.event_type, node.contract_id, {CONTRACT_SQL}, node.choice, node.consuming,
        node.acting_parties, node.interface_id, node.choice_argument, node.exercise_result
        from (select {HEAD_SQL}, unnest(map_values(update.events_by_id)) as node from items)
        left join places on places.event_id = node.event_id""",
    "reassignments": f"""select {HEAD_SQL}, if(node is null, 'unassignment', 'assignment') as kind, event.unassign_id,
        event.submitter, event.source_synchronizer, event.target_synchronizer, event.reassignment_counter,
        coalesce(node.contract_id, event.contract_id) as contract_id, {CONTRACT_SQL}
        from (select {HEAD_SQL}, update.event as event, update.event.created_event as node from items
        where update.event is not null)""",
    "verdicts": f"""select {HEAD_SQL}, verdict.domain_id as synchronizer_id, verdict.finalization_time, verdict.verdict_result,
        verdict.submitting_participant_uid, verdict.submitting_parties, verdict.mediator_group,
        len(verdict.transaction_views.views) as view_count, verdict.transaction_views.root_views,
        update is not null as update_visible from items where verdict is not null""",
    "views": f"""select {HEAD_SQL}, view.view_id,
        list_extract(list_filter(views, lambda one: list_contains(one.sub_views, view.view_id)), 1).view_id as parent_view_id,
        view.informees, len(view.confirming_parties) as quorum_count, view.sub_views, view.view_hash
        from (select {HEAD_SQL}, verdict.transaction_views.views as views, unnest(views) as view from items)""",
    "quorums": f"""select {HEAD_SQL}, view_id, number - 1 as quorum_index, quorum.threshold, quorum.parties
        from (select {HEAD_SQL}, view.view_id, unnest(view.confirming_parties) as quorum,
        generate_subscripts(view.confirming_parties, 1) as number
        from (select {HEAD_SQL}, unnest(verdict.transaction_views.views) as view from items))""",
    "traffic": f"""select {HEAD_SQL}, traffic_summary.total_traffic_cost,
        len(traffic_summary.envelope_traffic_summaries) as envelope_count from items where traffic_summary is not null""",
    "envelopes": f"""select {HEAD_SQL}, number - 1 as envelope_index, envelope.traffic_cost, envelope.view_ids
        from (select {HEAD_SQL}, unnest(traffic_summary.envelope_traffic_summaries) as envelope,
        generate_subscripts(traffic_summary.envelope_traffic_summaries, 1) as number from items)""",
    "activity_records": f"""select {HEAD_SQL}, round_number, record.party, record.weight
        from (select {HEAD_SQL}, app_activity_records.round_number, unnest(app_activity_records.records) as record from items)""",
}


def queried(path: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB with one thread: `read_json` with a declared schema into one table of items, and a query a table.

    Parents and depths of nodes take a recursive query. The tables stay in the memory of the connection handed back.
    """
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("set timezone = 'UTC'")
    connection.execute(
        """create temp table items as select coalesce(update.event.migration_id, update.migration_id, verdict.migration_id)
        as migration_id, coalesce(update.record_time, verdict.record_time) as record_time,
        coalesce(update.update_id, verdict.update_id) as update_id, *
        from read_json(?, format = 'newline_delimited', columns = ?)""",
        [str(path), ITEM_COLUMNS],
    )
    connection.execute(f"create temp table links as {LINKS_SQL}")
    connection.execute(f"create temp table places as {WALK_SQL}")
    for name, query in SQL.items():
        connection.execute(f"create table {name} as {query}")
    for name in ("items", "links", "places"):
        connection.execute(f"drop table {name}")
    return connection
