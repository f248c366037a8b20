"""The tables of verdicts, traffic and activity, from event items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._columns import StructColumns, drop_absent, flatten
from ledgerframes.datasets.arrays import Indices, fill_lists, index_in_group, lookup_rows, merge_extras
from ledgerframes.datasets.events.headers import EventHeader, EventHeaders, Part
from ledgerframes.datasets.events.wire import (
    ActivityRecord,
    ActivityRecords,
    Envelope,
    Event,
    Quorum,
    TrafficSummary,
    TransactionViews,
    Verdict,
    View,
)
from ledgerframes.datasets.schema import SMALL
from ledgerframes.errors import DecodeError

S = TypeVar("S")

VIEW_ID, PARTY = attrgetter("view_id"), attrgetter("party")


class VerdictTableBuilder:
    """Builder of the tables of verdicts, their parts, traffic and activity."""

    def __init__(self, headers: StructColumns[EventHeader], id_source: str) -> None:
        self._id_source = id_source
        self._verdicts = StructColumns(Verdict, headers)
        self._view_lists = StructColumns(TransactionViews, self._verdicts)
        self._views = StructColumns(View, self._view_lists)
        self._quorums = StructColumns(Quorum, self._views)
        self._traffic = StructColumns(TrafficSummary, headers)
        self._envelopes = StructColumns(Envelope, self._traffic)
        self._record_lists = StructColumns(ActivityRecords, headers)
        self._records = StructColumns(ActivityRecord, self._record_lists)
        # Parents before their children.
        self.columns: tuple[StructColumns[Any], ...] = (
            *(self._verdicts, self._view_lists, self._views, self._quorums),
            *(self._traffic, self._envelopes, self._record_lists, self._records),
        )

    def add(self, items: Sequence[Event], rows: Indices) -> None:
        """Add a batch of items."""
        self._add_verdicts(*drop_absent([item.verdict for item in items], rows))
        summaries, item_rows = drop_absent([item.traffic_summary for item in items], rows)
        summary_rows = self._traffic.add(summaries, item_rows)
        lists = [summary.envelope_traffic_summaries or summary.envelope_traffic_costs for summary in summaries]
        self._envelopes.add(*flatten(lists, summary_rows))
        records, item_rows = drop_absent([item.app_activity_records for item in items], rows)
        list_rows = self._record_lists.add(records, item_rows)
        self._records.add(*flatten([_sorted(each.records or [], PARTY) for each in records], list_rows))

    def parts(self) -> dict[str, Part]:
        """Return the rows of each table, and the function that computes columns."""
        return {
            "verdicts": (self._verdicts, self._verdict_columns),
            "views": (self._views, self._view_columns),
            "quorums": (self._quorums, self._quorum_columns),
            "traffic": (self._traffic, lambda _: {"envelope_count": self._envelopes.child_counts}),
            "envelopes": (self._envelopes, lambda _: {"envelope_index": index_in_group(self._envelopes.parents)}),
            "activity_records": (self._records, self._record_columns),
        }

    def _add_verdicts(self, verdicts: list[Verdict], item_rows: Indices) -> None:
        verdict_rows = self._verdicts.add(verdicts, item_rows)
        lists, verdict_rows = drop_absent([verdict.transaction_views for verdict in verdicts], verdict_rows)
        list_rows = self._view_lists.add(lists, verdict_rows)
        views, list_rows = flatten([_sorted(each.views, VIEW_ID) for each in lists], list_rows)
        view_rows = self._views.add(views, list_rows)
        self._quorums.add(*flatten([view.confirming_parties for view in views], view_rows))

    # -- columns ----------------------------------------------------------------------------------------------------

    def _verdict_columns(self, headers: EventHeaders) -> dict[str, Any]:
        item_rows, list_rows = self._verdicts.item_rows, self._view_lists.child_rows
        has_update = headers.has_update(item_rows)
        return {
            "mediator_group": pc.fill_null(self._verdicts["mediator_group"], 0),
            "view_count": pc.fill_null(pa.array(self._views.child_counts).take(list_rows), 0),
            "root_views": fill_lists(self._view_lists.to_array("root_views").take(list_rows)),
            "update_visible": has_update,
            "id_source": self._id_source,
            "extra": merge_extras(
                self._verdicts["extra"],
                transaction_views=self._view_lists["extra"].take(list_rows),
                event=pc.if_else(has_update, None, headers.extras(item_rows)),
            ),
        }

    def _view_columns(self, _: EventHeaders) -> dict[str, Any]:
        views = self._views
        view_ids, sub_views = views.to_array("view_id").cast(SMALL), fill_lists(views.to_array("sub_views"))
        return {
            "parent_view_id": _parent_views(views.item_rows, view_ids.to_numpy().astype(np.int64), sub_views),
            "quorum_count": self._quorums.child_counts,
            "view_hash": pc.fill_null(views["view_hash"], ""),
        }

    def _quorum_columns(self, _: EventHeaders) -> dict[str, Any]:
        view_rows = self._quorums.parents
        return {"view_id": self._views.to_array("view_id").take(pa.array(view_rows)), "quorum_index": index_in_group(view_rows)}

    def _record_columns(self, _: EventHeaders) -> dict[str, Any]:
        lists, list_rows = self._record_lists, pa.array(self._records.parents)
        return {
            "round_number": lists["round_number"].take(list_rows),
            "extra": merge_extras(self._records["extra"], app_activity_records=lists["extra"].take(list_rows)),
        }


def _parent_views(item_rows: Indices, view_ids: Indices, sub_views: pa.Array) -> pa.Array:
    """Return the view that lists each view as a sub-view."""
    counts = np.diff(sub_views.offsets.to_numpy())
    rows = lookup_rows(item_rows, view_ids, np.repeat(item_rows, counts), sub_views.values.to_numpy())
    if (rows < 0).any():
        raise DecodeError("A view lists a sub-view that its verdict does not have.", json_path="$..sub_views")
    parents = np.full(len(view_ids), -1, dtype=np.int32)
    parents[rows] = np.repeat(view_ids, counts)
    return pa.array(parents, SMALL, mask=parents < 0)


def _sorted(structs: list[S], key: Callable[[S], Any]) -> list[S]:
    """Return sorted structs, without a call for the many lists of one."""
    return structs if len(structs) < 2 else sorted(structs, key=key)
