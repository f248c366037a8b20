"""A participant's ledger, read through one filter."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.api.update_format import UpdateFormat
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.ledger.build import ledger_tables
from ledgerframes.datasets.ledger.wire import PAGE, UpdatesPage
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.datasets.schema import TEXT
from ledgerframes.errors import DecodeError, StoreError
from ledgerframes.gc_pause import pause_gc
from ledgerframes.loaders.sync import require_coverage
from ledgerframes.network import Network
from ledgerframes.values.extents import OffsetRange

MAX_OFFSET = 2**63 - 1


@dataclass(frozen=True)
class LedgerFilter:
    """A filter on one participant's ledger. Offsets within one filter are comparable."""

    participant_id: str
    update_format: UpdateFormat

    @property
    def partition(self) -> str:
        """Name of the filter in the store."""
        return f"{self.participant_id} {hashlib.sha256(str(self.update_format).encode()).hexdigest()[:16]}"

    def request(self, after: int, page_size: int, *, through: int | None = None, descending: bool = False) -> dict[str, Any]:
        """Return a request, open-ended without ``through`` (docs/facts.md#open-ended-pages)."""
        return {
            "updateFormat": self.update_format.as_json(),
            "beginOffsetExclusive": after,
            **({} if through is None else {"endOffsetInclusive": through}),
            "maxPageSize": page_size,
            "descendingOrder": descending,
        }

    def offset_range(self, after: int, through: int) -> OffsetRange:
        """Return the offsets with ``after < offset <= through``."""
        return OffsetRange(self.partition, after, through)

    def tables(self, page: UpdatesPage, endpoint: str = PAGE) -> dict[str, pa.Table]:
        """Return the tables of a page, whose updates must be inside its bounds."""
        with pause_gc(), decode_boundary(endpoint):
            trees = self.update_format.shape == "ledger_effects"
            tables = ledger_tables(page.updates or (), self.participant_id, trees=trees)
            offsets = pc.min_max(tables["ledger_updates"]["offset"]).as_py()
            start, stop = page.lowest_page_offset_exclusive, page.highest_page_offset_inclusive
            if offsets["min"] is not None and not start < offsets["min"] <= offsets["max"] <= stop:
                raise DecodeError(
                    f"A page of updates covers offsets {start} < … <= {stop}, but contains {offsets['min']} to {offsets['max']}.",
                    json_path="$.updates[...].offset",
                )
            self._require_shape(tables["ledger_events"])
        return tables

    def _require_shape(self, events: pa.Table) -> None:
        """Refuse ledger effects that were not requested (docs/facts.md#updates-before-3-5)."""
        exercised = pc.index(events["event_type"].cast(TEXT), "exercised_event").as_py()
        if self.update_format.shape == "acs_delta" and exercised >= 0:
            update_id = events["update_id"][exercised].as_py()
            raise DecodeError(
                f"The participant returned ledger effects, such as an exercise in update {update_id}, instead of the shape "
                "acs_delta. Pass shape='ledger_effects'.",
                json_path="$.updates[...].events",
                update_id=update_id,
            )


def open_ledger(net: Network, update_format: UpdateFormat, *, bind: bool) -> LedgerFilter:
    """Return the ledger that responds, or offline the one in the store.

    With ``bind``, a store without a ledger is bound to this one.

    Raises
    ------
    CoverageError
        If the network is offline and no ledger is stored.
    StoreError
        If another participant responds, or its ledger ends before the offsets in the store.
    """
    stored_id = net.store.participant()  # before the first request, to notice a lost catalog
    if net.offline:
        require_coverage(net, "the ledger is", [] if stored_id else ["ledger"])
        return LedgerFilter(stored_id or "", update_format)
    participant_id = net.ledger.participant_id()
    stored_id = net.store.bind_participant(participant_id) if bind else stored_id or participant_id
    if stored_id != participant_id:
        raise StoreError(
            f"The store {net.store.location} has the ledger of {stored_id}, which cannot be mixed with that of {participant_id}. "
            "Check ledger_url, or use a profile with another network name.",
            path=str(net.store.location),
        )
    end, stored_end = net.ledger.ledger_end(), net.store.max_position(LEDGER)
    if end < stored_end:
        raise StoreError(
            f"The ledger of {participant_id} ends at {end}, before offset {stored_end} in the store. "
            f"Try again, or if the ledger was reset, move {net.store.location}.",
            path=str(net.store.location),
        )
    return LedgerFilter(participant_id, update_format)


def pruned_through(net: Network) -> int:
    """Return the last offset that the participant has pruned, 0 if none."""
    offsets = net.ledger.latest_pruned_offsets()
    net.ledger.note_around("GET /v2/state/latest-pruned-offsets", unknown_members(offsets))
    return offsets.participant_pruned_up_to_inclusive
