"""The Parquet cache: immutable segments, and a catalog that says which of them count."""

from ledgerframes.store.catalog import Segment
from ledgerframes.store.extent import (
    EVENTS,
    EVENTS_BY_ID,
    LEDGER,
    NAME_RULES,
    PRICE_VOTES,
    STREAMS,
    Extent,
    Ids,
    Migration,
    Moment,
    OffsetSpan,
    Span,
    Stream,
    missing_spans,
)
from ledgerframes.store.snapshot import Snapshot
from ledgerframes.store.store import Store

__all__ = [
    "EVENTS",
    "EVENTS_BY_ID",
    "LEDGER",
    "NAME_RULES",
    "PRICE_VOTES",
    "STREAMS",
    "Extent",
    "Ids",
    "Migration",
    "Moment",
    "OffsetSpan",
    "Segment",
    "Snapshot",
    "Span",
    "Store",
    "Stream",
    "missing_spans",
]
