"""All datasets, in order of precedence."""

from __future__ import annotations

from dataclasses import replace

from ledgerframes.datasets.bookkeeping import DROPPED_ROWS
from ledgerframes.datasets.bulk.extent import ObjectSet
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS, BULK_OBJECTS
from ledgerframes.datasets.dataset import Dataset
from ledgerframes.datasets.events.schema import EVENT_TABLES, REASSIGNMENTS, TREE_EVENTS, UPDATES, VERDICTS
from ledgerframes.datasets.ledger.schema import LEDGER_TABLES
from ledgerframes.datasets.reference import network_schema as network
from ledgerframes.datasets.reference import schema as reference
from ledgerframes.datasets.schema import Table
from ledgerframes.values.extents import IdSet, MigrationWindow, Observation, OffsetRange, SnapshotTime

__all__ = [
    "BULK",
    "BULK_ACS",
    "BULK_ACS_BY_KEY",
    "BULK_BY_KEY",
    "CONTRACTS",
    "DATASETS",
    "EVENTS",
    "EVENTS_BY_ID",
    "FAUCETS",
    "FEATURED_APPS",
    "LEDGER",
    "LICENSES",
    "MINING_ROUNDS",
    "NAME_ENTRIES",
    "NAME_RULES",
    "NETWORK_RULES",
    "PRICE_VOTES",
    "REWARD_ACCOUNTING",
    "SCANS",
    "STORED_TABLES",
    "SYNCHRONIZER",
    "TRAFFIC",
    "Dataset",
]


def _observed(table: Table) -> Dataset:
    """Return the dataset of one table of reference data, which has its name."""
    return Dataset(table.name, (table,), Observation)


EVENTS = Dataset(
    "events",
    EVENT_TABLES,
    MigrationWindow,
    side_tables=(DROPPED_ROWS,),
    population="all",
    family="events",
    event_tables=(VERDICTS, UPDATES),
)
EVENTS_BY_ID = replace(EVENTS, name="events_by_id", extent_type=IdSet, population="chosen")
LEDGER = Dataset("ledger", LEDGER_TABLES, OffsetRange, population="committed")
PRICE_VOTES = _observed(reference.PRICE_VOTES)
NAME_RULES = _observed(reference.NAME_RULES)
MINING_ROUNDS = _observed(network.MINING_ROUNDS)
FEATURED_APPS = _observed(network.FEATURED_APPS)
NAME_ENTRIES = _observed(network.NAME_ENTRIES)
NETWORK_RULES = _observed(network.NETWORK_RULES)
SCANS = _observed(network.SCANS)
LICENSES = _observed(network.VALIDATOR_LICENSES)
FAUCETS = _observed(network.VALIDATOR_FAUCETS)
TRAFFIC = _observed(network.TRAFFIC_STATUS)
SYNCHRONIZER = _observed(network.SYNCHRONIZER_STATUS)
REWARD_ACCOUNTING = _observed(network.REWARD_ACCOUNTING)
BULK = Dataset(
    "bulk",
    (UPDATES, TREE_EVENTS, REASSIGNMENTS, BULK_OBJECTS),
    ObjectSet,
    side_tables=(DROPPED_ROWS,),
    population="committed",
    family="bulk",
    event_tables=(UPDATES,),
)
BULK_BY_KEY = replace(BULK, name="bulk_by_key", mergeable=False)
BULK_ACS = Dataset("bulk_acs", (ACTIVE_CONTRACTS, BULK_OBJECTS), ObjectSet, mergeable=False, population="committed")
BULK_ACS_BY_KEY = replace(BULK_ACS, name="bulk_acs_by_key")
CONTRACTS = Dataset("contracts", (ACTIVE_CONTRACTS,), SnapshotTime, mergeable=False, population="committed")

# A table of several datasets is read from the first one that has rows.
DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        EVENTS,
        EVENTS_BY_ID,
        BULK,
        BULK_BY_KEY,
        BULK_ACS,
        BULK_ACS_BY_KEY,
        CONTRACTS,
        LEDGER,
        PRICE_VOTES,
        NAME_RULES,
        MINING_ROUNDS,
        FEATURED_APPS,
        NAME_ENTRIES,
        NETWORK_RULES,
        SCANS,
        LICENSES,
        FAUCETS,
        TRAFFIC,
        SYNCHRONIZER,
        REWARD_ACCOUNTING,
    )
}
STORED_TABLES = {table.name: table for dataset in DATASETS.values() for table in dataset.tables}
