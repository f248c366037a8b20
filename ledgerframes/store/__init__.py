"""The Parquet cache: immutable segments, and a catalog that says which of them count."""

from ledgerframes.store.catalog import Segment
from ledgerframes.store.extent import (
    BULK,
    BULK_ACS,
    BULK_ACS_BY_KEY,
    BULK_BY_KEY,
    DATASETS,
    EVENTS,
    EVENTS_BY_ID,
    LEDGER,
    NAME_RULES,
    PRICE_VOTES,
    Dataset,
    Extent,
    IdSet,
    Migration,
    MigrationWindow,
    ObjectSet,
    Observation,
    OffsetRange,
    plan_missing,
)
from ledgerframes.store.location import Location
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.store.store import Store

__all__ = [
    "BULK",
    "BULK_ACS",
    "BULK_ACS_BY_KEY",
    "BULK_BY_KEY",
    "DATASETS",
    "EVENTS",
    "EVENTS_BY_ID",
    "LEDGER",
    "NAME_RULES",
    "PRICE_VOTES",
    "Dataset",
    "Extent",
    "IdSet",
    "Location",
    "Migration",
    "MigrationWindow",
    "ObjectSet",
    "Observation",
    "OffsetRange",
    "Segment",
    "Store",
    "StoreSnapshot",
    "plan_missing",
]
