"""Freezing the data of a run: from here on everything reads a copied catalog, and segments never change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ledgerframes.datasets.registry import EVENTS
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.coverage import Coverage, measure
from ledgerframes.store import StoreSnapshot
from ledgerframes.windows import Window, iso


@dataclass(frozen=True)
class Frozen:
    """The data of one run.

    Attributes
    ----------
    catalog : Path
        The copied catalog.
    snapshot : StoreSnapshot
        The segments that answer for the window.
    coverage : Coverage
    """

    catalog: Path
    snapshot: StoreSnapshot
    coverage: Coverage

    def inputs(self) -> list[dict[str, object]]:
        """Every segment read, with the digests of its files: enough to prove later what a report was made from."""
        return [
            {
                "extent": str(segment.extent),
                "final": segment.final,
                "source": segment.source,
                "rows": segment.rows,
                "sha256": {table: file.sha256 for table, file in sorted(segment.files.items())},
            }
            for segment in self.snapshot.segments
        ]


def freeze(net: Network, asked: Window, catalog: Path) -> Frozen:
    """Copy the catalog, and look at the data through the copy.

    Parameters
    ----------
    net : Network
    asked : Window
    catalog : Path
        Where the copy goes.

    Raises
    ------
    CoverageError
        If the store lacks a part of the window.
    """
    net.store.freeze(catalog)
    frozen = Network(net.settings, clock=net.now, offline=True, catalog=catalog)
    frames = load_events(frozen, since=iso(asked.since), until=iso(asked.until))
    return Frozen(catalog, frozen.store.snapshot(EVENTS, asked), measure(frozen, frames, asked))
