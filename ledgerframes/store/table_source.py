"""Which dataset a table is taken from, where several datasets have such a table, and what is to be said of that."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ledgerframes.datasets import Table
from ledgerframes.errors import UsageError
from ledgerframes.store.extent import DATASETS, Dataset, OffsetRange
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.store.store import Store

KEPT = {table.name: table for dataset in DATASETS.values() for table in dataset.tables}


@dataclass(frozen=True)
class Reading:
    """A table as it was asked for, and what it is taken from.

    Attributes
    ----------
    name : str
        As asked: ``updates``, or ``bulk.updates``.
    table : Table
    dataset : Dataset
    snapshot : StoreSnapshot
        Of this dataset.
    others : tuple of str
        The other datasets that hold rows of the table; none if the dataset was named.
    """

    name: str
    table: Table
    dataset: Dataset
    snapshot: StoreSnapshot
    others: tuple[str, ...]

    @property
    def held(self) -> bool:
        """Whether anything was read of it, with rows or without."""
        return bool(self.snapshot.segments)

    @property
    def nothing_held(self) -> str:
        """What is said if not."""
        return (
            f"The store of {self.snapshot.network} holds nothing of table {self.name}. "
            "`ledgerframes sync --help` shows what fetches it."
        )

    @property
    def choice(self) -> str | None:
        """What is said where the rows of other datasets are not among these."""
        if not self.others:
            return None
        table, holds = self.table.name, "holds" if len(self.others) == 1 else "hold"
        names = " or ".join(f"{other}.{table}" for other in self.others)
        return f"{table} are those of {self.dataset.name}; {' and '.join(self.others)} {holds} some, too: write {names}"

    def require_one_view(self) -> None:
        """Refuse a ledger that was seen through several filters: its rows would be counted once for each.

        Raises
        ------
        UsageError
            If it was.
        """
        with_rows = [segment.extent for segment in self.snapshot.segments if segment.files]
        views = {extent.partition for extent in with_rows if isinstance(extent, OffsetRange)}
        if len(views) > 1:
            raise UsageError(
                f"The store holds this ledger through {len(views)} filters, so {self.name} would count its rows once for each. "
                "Read one of them with load_updates(...), and write it with export.write."
            )


def split_name(name: str) -> tuple[Dataset | None, Table]:
    """The dataset, if one is named, and the table of ``updates`` or ``bulk.updates``.

    Raises
    ------
    UsageError
        If the store keeps no such table.
    """
    wanted, _, table = name.rpartition(".")
    if table not in KEPT:
        raise UsageError(f"The store keeps no table {table!r}. It keeps: {', '.join(sorted(KEPT))}.")
    having = {dataset.name: dataset for dataset in DATASETS.values() if KEPT[table] in dataset.tables}
    if wanted and wanted not in having:
        raise UsageError(f"The store keeps no {name}. It keeps: {', '.join(f'{dataset}.{table}' for dataset in having)}.")
    return having.get(wanted), KEPT[table]


def snapshots_of(store: Store, tables: Collection[Table]) -> dict[str, StoreSnapshot]:
    """What is committed now in the datasets that have one of these tables, in the order of precedence."""
    having = [dataset for dataset in DATASETS.values() if any(table in tables for table in dataset.tables)]
    return {dataset.name: store.snapshot(dataset) for dataset in having}


def stream_of(table: Table, snapshots: Mapping[str, StoreSnapshot]) -> Dataset:
    """The first dataset that holds rows, so that tables read together stay together; else the first that has the table."""
    having = [DATASETS[name] for name in snapshots if table in DATASETS[name].tables]
    return next((dataset for dataset in having if any(each.files for each in snapshots[dataset.name].segments)), having[0])


def reading_of(name: str, snapshots: Mapping[str, StoreSnapshot]) -> Reading:
    """What a name such as ``updates`` or ``bulk.updates`` stands for in these snapshots.

    Raises
    ------
    UsageError
        If the store keeps no such table.
    """
    wanted, table = split_name(name)
    dataset = wanted or stream_of(table, snapshots)
    holding = [other for other, each in snapshots.items() if any(table.name in segment.files for segment in each.segments)]
    others = () if wanted else tuple(other for other in holding if other != dataset.name)
    return Reading(name, table, dataset, snapshots[dataset.name], others)
