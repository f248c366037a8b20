"""Choice of the dataset that a table is read from.

Several datasets can have the same table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ledgerframes.datasets import Table
from ledgerframes.datasets.dataset import Dataset
from ledgerframes.errors import UsageError
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.store.store import Store
from ledgerframes.values.extents import OffsetRange


@dataclass(frozen=True)
class ResolvedTable:
    """A table name and the dataset that it is read from."""

    name: str  # as the caller wrote it: ``updates``, or ``bulk.updates``
    table: Table
    dataset: Dataset
    snapshot: StoreSnapshot
    other_datasets: tuple[str, ...]  # that have rows of the table, too; empty if the name includes a dataset

    @property
    def is_stored(self) -> bool:
        """Whether the store covers anything of the table, with or without rows."""
        return bool(self.snapshot.segments)

    @property
    def not_stored_message(self) -> str:
        """The message if not."""
        return (
            f"Table {self.name} of {self.snapshot.network} is not in the store. "
            "Fetch it with a command of `ledgerframes sync --help`."
        )

    @property
    def other_datasets_note(self) -> str | None:
        """A note on rows of other datasets, or None."""
        if not self.other_datasets:
            return None
        table, others = self.table.name, self.other_datasets
        queries = " or ".join(f"{other}.{table}" for other in others)
        verb = "has" if len(others) == 1 else "have"
        return f"{table} was read from {self.dataset.name}; {' and '.join(others)} also {verb} rows (query {queries})"

    @property
    def filter_count(self) -> int:
        """The number of filters of the ledger, 0 for other data."""
        extents = [segment.extent for segment in self.snapshot.segments if segment.files]
        return len({extent.partition for extent in extents if isinstance(extent, OffsetRange)})

    def require_one_filter(self) -> None:
        """Refuse a ledger that is stored through several filters, which counts rows repeatedly."""
        if self.filter_count > 1:
            raise UsageError(
                f"The store has this ledger through {self.filter_count} filters, so rows would count repeatedly. "
                "Read one filter with load_updates(...) and write it with export.write_table."
            )


def snapshots_by_dataset(store: Store, tables: Collection[Table]) -> dict[str, StoreSnapshot]:
    """Return a snapshot of each dataset that has one of these tables, by precedence."""
    datasets = [dataset for dataset in store.datasets.values() if any(table in tables for table in dataset.tables)]
    return {dataset.name: store.snapshot(dataset) for dataset in datasets}


def choose_dataset(store: Store, table: Table, snapshots: Mapping[str, StoreSnapshot]) -> Dataset:
    """Return the first dataset that has rows of any table, or the first that has the table."""
    # Any table decides, so that tables read together come from one dataset.
    candidates = [store.datasets[name] for name in snapshots if table in store.datasets[name].tables]
    with_rows = (each for each in candidates if any(segment.files for segment in snapshots[each.name].segments))
    return next(with_rows, candidates[0])


def resolve_in_store(store: Store, name: str, snapshots: Mapping[str, StoreSnapshot] | None = None) -> ResolvedTable:
    """Resolve ``updates`` or ``bulk.updates`` in these snapshots, or in what is committed now."""
    prefix, _, table_name = name.rpartition(".")
    tables = {table.name: table for dataset in store.datasets.values() for table in dataset.tables}
    if table_name not in tables:
        raise UsageError(f"Unknown table {table_name!r}. Choose from {', '.join(sorted(tables))}.")
    table = tables[table_name]
    candidates = [dataset.name for dataset in store.datasets.values() if table in dataset.tables]
    if prefix and prefix not in candidates:
        raise UsageError(f"Unknown table {name!r}. Choose from {', '.join(f'{dataset}.{table_name}' for dataset in candidates)}.")
    snapshots = snapshots_by_dataset(store, [table]) if snapshots is None else snapshots
    dataset = store.datasets[prefix] if prefix else choose_dataset(store, table, snapshots)
    with_rows = [other for other, each in snapshots.items() if any(table.name in segment.files for segment in each.segments)]
    others = () if prefix else tuple(other for other in with_rows if other != dataset.name)
    return ResolvedTable(name, table, dataset, snapshots[dataset.name], others)
