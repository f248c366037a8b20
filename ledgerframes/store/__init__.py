"""The Parquet cache: immutable segments, and a catalog that says which of them count."""

from ledgerframes.store.catalog import Segment
from ledgerframes.store.extent import (
    BULK,
    BULK_ACS,
    BULK_ACS_BY_KEY,
    BULK_BY_KEY,
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
    Objects,
    OffsetSpan,
    Span,
    Stream,
    missing_spans,
)
from ledgerframes.store.place import Place
from ledgerframes.store.snapshot import Snapshot
from ledgerframes.store.store import Store

__all__ = [
    "BULK",
    "BULK_ACS",
    "BULK_ACS_BY_KEY",
    "BULK_BY_KEY",
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
    "Objects",
    "OffsetSpan",
    "Place",
    "Segment",
    "Snapshot",
    "Span",
    "Store",
    "Stream",
    "missing_spans",
]
