"""The tables of verdicts, traffic and activity, from event items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._arrays import (
    Indices,
    counts_to_array,
    encode_categories,
    fill_lists,
    index_in_group,
    lookup_rows,
    merge_extras,
    repeat,
)
from ledgerframes.datasets._columns import StructColumns, drop_absent, flatten
from ledgerframes.datasets._headers import EventHeader, EventHeaders
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

S = TypeVar("S")

VIEW_ID, PARTY = attrgetter("view_id"), attrgetter("party")


class VerdictTableBuilder:
    """Builder of the tables of verdicts, their parts, traffic and activity.

    Parameters
    ----------
    headers : StructColumns of EventHeader
        The items that these belong to.
    id_source : str
        Source of the update ids.

    Attributes
    ----------
    columns : tuple of StructColumns
        Parents before their children.
    """

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
        self.columns: tuple[StructColumns[Any], ...] = (
            *(self._verdicts, self._view_lists, self._views, self._quorums),
            *(self._traffic, self._envelopes, self._record_lists, self._records),
        )

    def add(self, items: Sequence[Event | EventWithoutUpdateBody], rows: Indices) -> None:
        """Add a batch of items."""
        self._add_verdicts(*drop_absent([item.verdict for item in items], rows))
        summaries, item_rows = drop_absent([item.traffic_summary for item in items], rows)
        summary_rows = self._traffic.add(summaries, item_rows)
        self._envelopes.add(*flatten([_envelopes_of(summary) for summary in summaries], summary_rows))
        lists, item_rows = drop_absent([item.app_activity_records for item in items], rows)
        list_rows = self._record_lists.add(lists, item_rows)
        self._records.add(*flatten([_sorted(each.records, PARTY) for each in lists], list_rows))

    def rows_by_table(self) -> dict[str, StructColumns[Any]]:
        """Return the rows of each table."""
        verdicts: dict[str, StructColumns[Any]] = {"verdicts": self._verdicts, "views": self._views, "quorums": self._quorums}
        return {**verdicts, "traffic": self._traffic, "envelopes": self._envelopes, "activity_records": self._records}

    def table_functions(self) -> dict[str, Callable[[EventHeaders], pa.Table]]:
        """Return the function that builds each table."""
        return {
            "verdicts": self._verdict_table,
            "views": self._view_table,
            "quorums": self._quorum_table,
            "traffic": self._traffic_table,
            "envelopes": self._envelope_table,
            "activity_records": self._activity_table,
        }

    def _add_verdicts(self, verdicts: list[Verdict], item_rows: Indices) -> None:
        verdict_rows = self._verdicts.add(verdicts, item_rows)
        lists, verdict_rows = drop_absent([verdict.transaction_views for verdict in verdicts], verdict_rows)
        list_rows = self._view_lists.add(lists, verdict_rows)
        views, list_rows = flatten([_sorted(each.views, VIEW_ID) for each in lists], list_rows)
        view_rows = self._views.add(views, list_rows)
        self._quorums.add(*flatten([view.confirming_parties for view in views], view_rows))

    # -- verdicts, views, quorums -----------------------------------------------------------------------------------

    def _verdict_table(self, headers: EventHeaders) -> pa.Table:
        verdicts, item_rows, list_rows = self._verdicts, self._verdicts.item_rows, self._view_lists.child_rows
        has_update = headers.has_update(item_rows)
        return verdicts.to_table(
            schema.VERDICTS,
            {
                **headers.columns(item_rows),
                "view_count": pc.fill_null(counts_to_array(self._views.child_counts).take(list_rows), 0),
                "root_views": fill_lists(self._view_lists.to_array("root_views").take(list_rows)),
                "update_visible": has_update,
                "id_source": encode_categories(repeat(self._id_source, len(verdicts))),
                "extra": merge_extras(
                    verdicts["extra"],
                    transaction_views=self._view_lists["extra"].take(list_rows),
                    event=pc.if_else(has_update, None, headers.extras(item_rows)),
                ),
            },
        )

    def _view_table(self, headers: EventHeaders) -> pa.Table:
        views, item_rows = self._views, self._views.item_rows
        view_ids, sub_views = views.to_array("view_id").cast(SMALL), fill_lists(views.to_array("sub_views"))
        return views.to_table(
            schema.VIEWS,
            {
                **headers.columns(item_rows),
                "parent_view_id": _parent_views(item_rows, view_ids.to_numpy().astype(np.int64), sub_views),
                "quorum_count": counts_to_array(self._quorums.child_counts),
                "view_hash": pc.fill_null(views["view_hash"], ""),
            },
        )

    def _quorum_table(self, headers: EventHeaders) -> pa.Table:
        quorums = self._quorums
        return quorums.to_table(
            schema.QUORUMS,
            {
                **headers.columns(quorums.item_rows),
                "view_id": self._views.to_array("view_id").take(pa.array(quorums.parents)).cast(SMALL),
                "quorum_index": counts_to_array(index_in_group(quorums.parents)),
            },
        )

    # -- traffic, envelopes, activity -------------------------------------------------------------------------------

    def _traffic_table(self, headers: EventHeaders) -> pa.Table:
        return self._traffic.to_table(
            schema.TRAFFIC,
            {
                **headers.columns(self._traffic.item_rows),
                "envelope_count": counts_to_array(self._envelopes.child_counts),
            },
        )

    def _envelope_table(self, headers: EventHeaders) -> pa.Table:
        envelopes = self._envelopes
        return envelopes.to_table(
            schema.ENVELOPES,
            {
                **headers.columns(envelopes.item_rows),
                "envelope_index": counts_to_array(index_in_group(envelopes.parents)),
            },
        )

    def _activity_table(self, headers: EventHeaders) -> pa.Table:
        records, list_rows = self._records, pa.array(self._records.parents)
        return records.to_table(
            schema.ACTIVITY_RECORDS,
            {
                **headers.columns(records.item_rows),
                "round_number": self._record_lists["round_number"].take(list_rows),
                "extra": merge_extras(records["extra"], app_activity_records=self._record_lists["extra"].take(list_rows)),
            },
        )


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


def _envelopes_of(summary: TrafficSummary) -> list[Envelope] | None:
    return summary.envelope_traffic_summaries or summary.envelope_traffic_costs
