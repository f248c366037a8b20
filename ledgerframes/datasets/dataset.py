"""The unit of coverage and commit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ledgerframes.datasets.bookkeeping import EVENT_POSITIONS
from ledgerframes.datasets.population import Population
from ledgerframes.datasets.schema import Table
from ledgerframes.values.extents import Extent


@dataclass(frozen=True)
class Dataset:
    """Tables that one commit makes visible together.

    Attributes
    ----------
    name : str
    tables : tuple of Table
    extent_type : type of Extent
        What its segments cover.
    mergeable : bool
        Whether compaction may merge its segments. False if they are requested one by one, or if their rows would have to be
        sorted together.
    population : Population
        Which confirmation requests it can have.
    side_tables : tuple of Table
        What segments say about their rows. They are neither queried nor part of the schema fingerprint, and mostly without rows.
    family : str
        Datasets of one family have the same events.
    event_tables : tuple of Table
        Tables with one row for an event, of which each event has at least one row.
    """

    name: str
    tables: tuple[Table, ...]
    extent_type: type[Extent]
    mergeable: bool = True
    population: Population = "chosen"
    side_tables: tuple[Table, ...] = ()
    family: str = ""
    event_tables: tuple[Table, ...] = ()

    def __hash__(self) -> int:  # the hash of all columns is slow
        return hash(self.name)

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """The tables and the side tables."""
        return self.tables + self.side_tables

    @property
    def file_tables(self) -> tuple[Table, ...]:
        """All tables that a segment can have files of."""
        return (*self.all_tables, EVENT_POSITIONS) if self.event_tables else self.all_tables

    @cached_property
    def schema_fingerprint(self) -> str:
        """Digest of the schemas of all tables.

        Segments with another fingerprint are fetched again.
        """
        return "-".join(table.fingerprint[:6] for table in self.tables)
