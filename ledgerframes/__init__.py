"""Typed DataFrames, cached as Parquet, over the ledger, wallet and history APIs of a ledger network."""

import logging

from ledgerframes import plot
from ledgerframes.analysis import cost, verdict
from ledgerframes.errors import LedgerframesError
from ledgerframes.folders import open_frames, save_frames
from ledgerframes.frames import Frames
from ledgerframes.loaders.events import load_activity, load_events, load_traffic, load_verdicts
from ledgerframes.network import Network, connect
from ledgerframes.tables import TABLES, table

__all__ = [
    "TABLES",
    "Frames",
    "LedgerframesError",
    "Network",
    "connect",
    "cost",
    "load_activity",
    "load_events",
    "load_traffic",
    "load_verdicts",
    "open_frames",
    "plot",
    "save_frames",
    "table",
    "verdict",
]

logging.getLogger("ledgerframes").addHandler(logging.NullHandler())
