"""Hand-made frames for analyses: say only what a test cares about, the rest is filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ledgerframes import testing
from ledgerframes.datasets.population import Population
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window

DAY = datetime(2026, 11, 8, tzinfo=UTC)
WINDOW = Window(DAY, DAY + timedelta(days=1))
SANDBOX_EVENTS, SANDBOX_DAYS = 1_500, 2


@dataclass
class Event:
    """One history event; `result` None means that no verdict is known, `cost` None that no traffic is."""

    id: str
    at: float = 0.0  # hours after the start of DAY
    cost: int | None = None
    result: str | None = "ACCEPTED"
    visible: bool = True
    participant: str = "val-a"
    parties: list[str] | None = field(default_factory=lambda: ["alice"])
    seconds: float = 0.5
    source: str = "listing"
    kind: str = "transaction"
    effective: float = 0.0  # seconds after record time
    views: list[tuple[list[str], list[tuple[int, list[str]]]]] = field(
        default_factory=list
    )  # (informees, [(threshold, parties)])
    envelopes: list[tuple[int, list[int]]] = field(default_factory=list)  # (cost, view ids)
    nodes: list[tuple[int, str, str | None]] = field(
        default_factory=lambda: [(0, "Main:Asset", "Transfer")]
    )  # (depth, template, choice)
    activity: list[tuple[str, int]] = field(default_factory=list)
    migration: int = 4


def frames_of(events: list[Event], window: Window | None = WINDOW, population: Population = "all") -> Frames:
    """Frames over these events, as a store would give them."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        for name, row in _rows(event):
            rows.setdefault(name, []).append(row)
    return testing.frames_of(window=window, network="memory", population=population, **rows)


def _rows(event: Event) -> list[tuple[str, dict[str, Any]]]:
    time = DAY + timedelta(hours=event.at)
    head = {"migration_id": event.migration, "record_time": time, "update_id": event.id}
    rows: list[tuple[str, dict[str, Any]]] = []
    is_visible = event.visible and event.result != "REJECTED"
    if is_visible:
        effective = time + timedelta(seconds=event.effective)
        rows.append(("updates", {**head, "kind": event.kind, "effective_at": effective}))
    if is_visible and event.kind == "transaction":
        rows += [("tree_events", {**head, **node}) for node in _nodes(event)]
    if event.result is not None:
        rows.append(("verdicts", {**head, **_verdict(event, time, is_visible)}))
    for view_id, (informees, quorums) in enumerate(event.views):
        rows.append(
            ("views", {**head, "view_id": view_id, "parent_view_id": view_id - 1 if view_id else None, "informees": informees})
        )
        for number, (threshold, parties) in enumerate(quorums):
            rows.append(
                ("quorums", {**head, "view_id": view_id, "quorum_index": number, "threshold": threshold, "parties": parties})
            )
    if event.cost is not None:
        rows.append(("traffic", {**head, "total_traffic_cost": event.cost, "envelope_count": len(event.envelopes)}))
    for number, (cost, view_ids) in enumerate(event.envelopes):
        rows.append(("envelopes", {**head, "envelope_index": number, "traffic_cost": cost, "view_ids": view_ids}))
    rows += [
        ("activity_records", {**head, "round_number": 7, "party": party, "weight": weight}) for party, weight in event.activity
    ]
    return rows


def _verdict(event: Event, time: datetime, is_visible: bool) -> dict[str, Any]:
    return {
        "finalization_time": time + timedelta(seconds=event.seconds),
        "verdict_result": f"VERDICT_RESULT_{event.result}",
        "submitting_participant_uid": event.participant,
        "submitting_parties": event.parties,
        "view_count": len(event.views),
        "update_visible": is_visible,
        "id_source": event.source,
    }


def _nodes(event: Event) -> list[dict[str, Any]]:
    rows, above = [], {}
    for index, (depth, template, choice) in enumerate(event.nodes):
        above[depth] = f"{event.id}:{index}"
        rows.append(
            {
                "event_id": above[depth],
                "node_index": index,
                "parent_event_id": above[depth - 1] if depth else None,
                "depth": depth,
                "event_type": "exercised_event" if choice else "created_event",
                "template_name": template,
                "package_name": "pkg",
                "choice": choice,
                "acting_parties": ["alice"] if choice else None,
                "signatories": None if choice else ["bob", "carol"],
            }
        )
    return rows
