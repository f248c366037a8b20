"""What was decided on requests and what they cost, as tables: verdicts to activity_records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._arrays import Indices, choices, extras, never_missing, position_within, rows_of, times
from ledgerframes.datasets._columns import Rows, children, present
from ledgerframes.datasets._headers import Batch, Head
from ledgerframes.datasets._schema import SMALL
from ledgerframes.datasets.events import schema
from ledgerframes.datasets.events.wire import (
    ActivityRecord,
    ActivityRecords,
    Envelope,
    Event,
    EventWithoutUpdateBody,
    Quorum,
    TrafficSummary,
    TransactionViews,
    Verdict,
    View,
)
from ledgerframes.errors import DecodeError

VIEW_ID, PARTY = attrgetter("view_id"), attrgetter("party")


class VerdictTableBuilder:
    """Verdicts with their views and quorums, traffic summaries with their envelopes, and activity records.

    Parameters
    ----------
    heads : Rows of Head
        The items that these belong to.
    id_source : str
        How the items were found.
    """

    def __init__(self, heads: Rows[Head], id_source: str) -> None:
        self._id_source = id_source
        self._verdicts = Rows(Verdict, heads)
        self._all_views = Rows(TransactionViews, self._verdicts)
        self._views = Rows(View, self._all_views)
        self._quorums = Rows(Quorum, self._views)
        self._traffic = Rows(TrafficSummary, heads)
        self._envelopes = Rows(Envelope, self._traffic)
        self._requests = Rows(ActivityRecords, heads)
        self._records = Rows(ActivityRecord, self._requests)
        self.kinds: tuple[Rows[Any], ...] = (
            *(self._verdicts, self._all_views, self._views, self._quorums),
            *(self._traffic, self._envelopes, self._requests, self._records),
        )

    def add(self, items: Sequence[Event | EventWithoutUpdateBody], rows: Indices) -> None:
        """Put a block of items to the others."""
        self._add_verdicts(*present([item.verdict for item in items], rows))
        summaries, of_items = present([item.traffic_summary for item in items], rows)
        of_summaries = self._traffic.add(summaries, of_items)
        self._envelopes.add(*children([_envelopes_of(summary) for summary in summaries], of_summaries))
        requests, of_items = present([item.app_activity_records for item in items], rows)
        of_requests = self._requests.add(requests, of_items)
        self._records.add(*children([sorted(request.records, key=PARTY) for request in requests], of_requests))

    def builders(self) -> dict[str, Callable[[Batch], pa.Table]]:
        """What makes each table."""
        return {
            "verdicts": self._verdict_table,
            "views": self._view_table,
            "quorums": self._quorum_table,
            "traffic": self._traffic_table,
            "envelopes": self._envelope_table,
            "activity_records": self._activity_table,
        }

    def _add_verdicts(self, verdicts: list[Verdict], of_items: Indices) -> None:
        of_verdicts = self._verdicts.add(verdicts, of_items)
        all_views, of_verdicts = present([verdict.transaction_views for verdict in verdicts], of_verdicts)
        of_requests = self._all_views.add(all_views, of_verdicts)
        views, of_requests = children([sorted(request.views, key=VIEW_ID) for request in all_views], of_requests)
        of_views = self._views.add(views, of_requests)
        self._quorums.add(*children([view.confirming_parties for view in views], of_views))

    # -- verdicts, views, quorums -----------------------------------------------------------------------------------

    def _verdict_table(self, batch: Batch) -> pa.Table:
        """One row per verdict on a confirmation request."""
        verdicts, owners, places = self._verdicts, self._verdicts.owners, self._all_views.places
        has_update = batch.has_update(owners)
        return schema.VERDICTS.from_arrays(
            {
                **batch.head(owners),
                "synchronizer_id": verdicts["domain_id"],
                "finalization_time": times(verdicts["finalization_time"], "finalization_time"),
                "verdict_result": choices(verdicts["verdict_result"]),
                "submitting_participant_uid": verdicts["submitting_participant_uid"],
                "submitting_parties": verdicts["submitting_parties"],
                "mediator_group": verdicts["mediator_group"].cast(SMALL),
                "view_count": pc.fill_null(pa.array(self._views.counts, SMALL).take(places), 0),
                "root_views": never_missing(self._all_views.whole("root_views").take(places)),
                "update_visible": has_update,
                "id_source": choices([self._id_source] * len(verdicts)),
                "extra": extras(
                    verdicts["extra"],
                    transaction_views=self._all_views["extra"].take(places),
                    event=pc.if_else(has_update, None, batch.unknown(owners)),
                ),
            }
        )

    def _view_table(self, batch: Batch) -> pa.Table:
        """One row per view of a confirmation request."""
        views, owners = self._views, self._views.owners
        view_ids, sub_views = views.whole("view_id").cast(SMALL), never_missing(views.whole("sub_views"))
        return schema.VIEWS.from_arrays(
            {
                **batch.head(owners),
                "view_id": view_ids,
                "parent_view_id": _parent_views(owners, view_ids.to_numpy().astype(np.int64), sub_views),
                "informees": never_missing(views.whole("informees")),
                "quorum_count": pa.array(self._quorums.counts, SMALL),
                "sub_views": sub_views,
                "view_hash": pc.fill_null(views["view_hash"], ""),
                "extra": views["extra"],
            }
        )

    def _quorum_table(self, batch: Batch) -> pa.Table:
        """One row per quorum of a view."""
        quorums = self._quorums
        return schema.QUORUMS.from_arrays(
            {
                **batch.head(quorums.owners),
                "view_id": self._views.whole("view_id").take(pa.array(quorums.parents)).cast(SMALL),
                "quorum_index": pa.array(position_within(quorums.parents), SMALL),
                "threshold": quorums["threshold"].cast(SMALL),
                "parties": quorums["parties"],
                "extra": quorums["extra"],
            }
        )

    # -- traffic, envelopes, activity -------------------------------------------------------------------------------

    def _traffic_table(self, batch: Batch) -> pa.Table:
        """One row per confirmation request whose traffic is known."""
        return schema.TRAFFIC.from_arrays(
            {
                **batch.head(self._traffic.owners),
                "total_traffic_cost": self._traffic["total_traffic_cost"],
                "envelope_count": pa.array(self._envelopes.counts, SMALL),
                "extra": self._traffic["extra"],
            }
        )

    def _envelope_table(self, batch: Batch) -> pa.Table:
        """One row per envelope of a confirmation request."""
        envelopes = self._envelopes
        return schema.ENVELOPES.from_arrays(
            {
                **batch.head(envelopes.owners),
                "envelope_index": pa.array(position_within(envelopes.parents), SMALL),
                "traffic_cost": envelopes["traffic_cost"],
                "view_ids": never_missing(envelopes.whole("view_ids")),
                "extra": envelopes["extra"],
            }
        )

    def _activity_table(self, batch: Batch) -> pa.Table:
        """One row per app provider that earned activity from a request."""
        records, of_requests = self._records, pa.array(self._records.parents)
        return schema.ACTIVITY_RECORDS.from_arrays(
            {
                **batch.head(records.owners),
                "round_number": self._requests["round_number"].take(of_requests),
                "party": records["party"],
                "weight": records["weight"],
                "extra": extras(records["extra"], app_activity_records=self._requests["extra"].take(of_requests)),
            }
        )


def _parent_views(owners: Indices, view_ids: Indices, sub_views: pa.Array) -> pa.Array:
    """The view that lists each view."""
    counts = np.diff(sub_views.offsets.to_numpy())
    rows = rows_of(owners, view_ids, np.repeat(owners, counts), sub_views.values.to_numpy())
    if (rows < 0).any():
        raise DecodeError("A view lists a sub-view that its verdict does not have.", json_path="$..sub_views")
    parents = np.full(len(view_ids), -1, dtype=np.int32)
    parents[rows] = np.repeat(view_ids, counts)
    return pa.array(parents, SMALL, mask=parents < 0)


def _envelopes_of(summary: TrafficSummary) -> list[Envelope] | None:
    return summary.envelope_traffic_summaries or summary.envelope_traffic_costs
