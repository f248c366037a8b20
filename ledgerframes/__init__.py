"""Typed DataFrames, cached as Parquet, over the ledger, wallet and history APIs of a ledger network."""

import logging

from ledgerframes import plot
from ledgerframes.analysis import contracts, cost, reconcile, verdict, votes
from ledgerframes.analysis.anatomy import anatomy
from ledgerframes.datasets import TABLES, table
from ledgerframes.errors import LedgerframesError
from ledgerframes.frames import Frames
from ledgerframes.frames_io import open_frames, save_frames
from ledgerframes.loaders.bulk import load_bulk
from ledgerframes.loaders.events import load_activity, load_events, load_traffic, load_verdicts
from ledgerframes.loaders.ledger_state import (
    load_active_contracts,
    load_completions,
    load_packages,
    load_parties,
    load_synchronizers,
)
from ledgerframes.loaders.operations import operations
from ledgerframes.loaders.reference import load_name_rules, load_price_votes
from ledgerframes.loaders.transfer_offers import load_transfer_offers
from ledgerframes.loaders.updates import load_updates
from ledgerframes.network import Network, connect
from ledgerframes.sql import sql

__all__ = [
    "TABLES",
    "Frames",
    "LedgerframesError",
    "Network",
    "anatomy",
    "connect",
    "contracts",
    "cost",
    "load_active_contracts",
    "load_activity",
    "load_bulk",
    "load_completions",
    "load_events",
    "load_name_rules",
    "load_packages",
    "load_parties",
    "load_price_votes",
    "load_synchronizers",
    "load_traffic",
    "load_transfer_offers",
    "load_updates",
    "load_verdicts",
    "open_frames",
    "operations",
    "plot",
    "reconcile",
    "save_frames",
    "sql",
    "table",
    "verdict",
    "votes",
]

logging.getLogger("ledgerframes").addHandler(logging.NullHandler())
