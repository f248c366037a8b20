"""The Parquet store, with immutable segments and a catalog of those that are committed."""

from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.store.store import Store

__all__ = ["Location", "Segment", "Store", "StoreSnapshot"]
