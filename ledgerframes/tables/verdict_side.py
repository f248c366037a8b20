"""What was decided on requests and what they cost, as tables: verdicts to activity_records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ledgerframes.errors import DecodeError
from ledgerframes.tables import history
from ledgerframes.tables.arrays import Indices, choices, extras, lengths, position_within, times
from ledgerframes.tables.batch import Batch
from ledgerframes.tables.parts import Part
from ledgerframes.tables.spec import FLAG, INTEGER, SMALL, SMALLS, TEXT, TEXTS
from ledgerframes.wire.history import ActivityRecord, Envelope, Quorum, TrafficSummary, Verdict, View
from ledgerframes.wire.structs import ABSENT

# -- verdicts, views, quorums ---------------------------------------------------------------------------------------


def verdicts(batch: Batch[Any]) -> pa.Table:
    """One row per verdict on a confirmation request."""
    fields = batch.verdicts.fields(Verdict)
    all_views = fields["transaction_views"]
    judged = [item for item in batch.items if item.verdict]
    return history.VERDICTS.from_columns(
        {
            **batch.head(batch.verdicts.owners),
            "synchronizer_id": pa.array(fields["domain_id"], TEXT),
            "finalization_time": times(fields["finalization_time"], "finalization_time"),
            "verdict_result": choices(fields["verdict_result"]),
            "submitting_participant_uid": pa.array(fields["submitting_participant_uid"], TEXT),
            "submitting_parties": pa.array(fields["submitting_parties"], TEXTS),
            "mediator_group": pa.array(fields["mediator_group"], SMALL),
            "view_count": pa.array(lengths([views.views if views else None for views in all_views]), SMALL),
            "root_views": pa.array([(views.root_views if views else None) or [] for views in all_views], SMALLS),
            "body_visible": pa.array([item.update is not None for item in judged], FLAG),
            "id_source": choices([batch.id_source] * len(judged)),
            "extra": extras(
                fields["extra"],
                transaction_views=[views.extra if views else ABSENT for views in all_views],
                event=[ABSENT if item.update else item.extra for item in judged],
            ),
        }
    )


def views(batch: Batch[Any]) -> pa.Table:
    """One row per view of a confirmation request."""
    fields = batch.views.fields(View)
    sub_views = pa.array([ids or [] for ids in fields["sub_views"]], SMALLS)
    return history.VIEWS.from_columns(
        {
            **batch.head(batch.views.owners),
            "view_id": pa.array(fields["view_id"], SMALL),
            "parent_view_id": _parent_views(batch.views.owners, np.array(fields["view_id"], dtype=np.int64), sub_views),
            "informees": pa.array([parties or [] for parties in fields["informees"]], TEXTS),
            "quorum_count": pa.array(lengths(fields["confirming_parties"]), SMALL),
            "sub_views": sub_views,
            "view_hash": pa.array([view_hash or "" for view_hash in fields["view_hash"]], TEXT),
            "extra": extras(fields["extra"]),
        }
    )


def _parent_views(owners: Indices, view_ids: Indices, sub_views: pa.Array) -> pa.Array:
    """The view that lists each view; views are sorted by owner and id, so a search finds the child's row."""
    counts = np.diff(sub_views.offsets.to_numpy())
    children = sub_views.values.to_numpy()
    width = max(view_ids.max(initial=0), children.max(initial=0)) + 1
    keys = owners * width + view_ids
    wanted = np.repeat(owners, counts) * width + children
    rows = np.searchsorted(keys, wanted)
    if (rows >= len(keys)).any() or (keys[rows] != wanted).any():
        raise DecodeError("A view lists a sub-view that its verdict does not have.", json_path="$..sub_views")
    parents = np.full(len(view_ids), -1, dtype=np.int32)
    parents[rows] = np.repeat(view_ids, counts)
    return pa.array(parents, SMALL, mask=parents < 0)


def quorums(batch: Batch[Any]) -> pa.Table:
    """One row per quorum of a view."""
    per_view = [view.confirming_parties for view in batch.views.structs]
    counts = lengths(per_view)
    part: Part[Quorum] = batch.views.children(per_view)
    fields = part.fields(Quorum)
    return history.QUORUMS.from_columns(
        {
            **batch.head(part.owners),
            "view_id": pa.array(np.repeat([view.view_id for view in batch.views.structs], counts), SMALL),
            "quorum": pa.array(position_within(counts), SMALL),
            "threshold": pa.array(fields["threshold"], SMALL),
            "parties": pa.array(fields["parties"], TEXTS),
            "extra": extras(fields["extra"]),
        }
    )


# -- traffic, envelopes, activity -----------------------------------------------------------------------------------


def traffic(batch: Batch[Any]) -> pa.Table:
    """One row per confirmation request whose traffic is known."""
    part = batch.traffic_summaries
    return history.TRAFFIC.from_columns(
        {
            **batch.head(part.owners),
            "total_traffic_cost": pa.array([summary.total_traffic_cost for summary in part.structs], INTEGER),
            "envelope_count": pa.array(lengths(_envelopes_of(part)), SMALL),
            "extra": extras([summary.extra for summary in part.structs]),
        }
    )


def envelopes(batch: Batch[Any]) -> pa.Table:
    """One row per envelope of a confirmation request."""
    per_summary = _envelopes_of(batch.traffic_summaries)
    part = batch.traffic_summaries.children(per_summary)
    fields = part.fields(Envelope)
    return history.ENVELOPES.from_columns(
        {
            **batch.head(part.owners),
            "envelope": pa.array(position_within(lengths(per_summary)), SMALL),
            "traffic_cost": pa.array(fields["traffic_cost"], INTEGER),
            "view_ids": pa.array([ids or [] for ids in fields["view_ids"]], SMALLS),
            "extra": extras(fields["extra"]),
        }
    )


def _envelopes_of(summaries: Part[TrafficSummary]) -> list[list[Envelope] | None]:
    return [summary.envelope_traffic_summaries or summary.envelope_traffic_costs for summary in summaries.structs]


def activity_records(batch: Batch[Any]) -> pa.Table:
    """One row per app provider that earned activity from a request."""
    part = Part.of([item.app_activity_records for item in batch.items])
    per_request = [sorted(request.records, key=_party) for request in part.structs]
    counts = lengths(per_request)
    records = part.children(per_request)
    around = [request for request, count in zip(part.structs, counts.tolist(), strict=True) for _ in range(count)]
    fields = records.fields(ActivityRecord)
    return history.ACTIVITY_RECORDS.from_columns(
        {
            **batch.head(records.owners),
            "round_number": pa.array([request.round_number for request in around], INTEGER),
            "party": pa.array(fields["party"], TEXT),
            "weight": pa.array(fields["weight"], INTEGER),
            "extra": extras(fields["extra"], app_activity_records=[request.extra for request in around]),
        }
    )


def _party(record: ActivityRecord) -> str:
    return record.party
