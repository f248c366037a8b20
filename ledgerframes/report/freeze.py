"""Frozen inputs of a run, as a copy of the catalog.

Segments never change, so the copy fixes all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ledgerframes.datasets.registry import EVENTS
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.coverage import Coverage, measure_coverage
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.history import daily_integers
from ledgerframes.report.registry import Report
from ledgerframes.report.state import load_state
from ledgerframes.report.summary.periods import Periods, load_before
from ledgerframes.store import StoreSnapshot
from ledgerframes.windows import Window, iso


@dataclass(frozen=True)
class FrozenInputs:
    """Inputs of one run.

    Attributes
    ----------
    catalog : Path
        The copied catalog.
    snapshot : StoreSnapshot
        The segments of the window.
    coverage : Coverage
    headline : dict
        The figures of :func:`ledgerframes.report.headline.measure_headline`.
    days : list of dict
        The integers of each day that the usual ranges of later reports need.
    problems : list of dict
        Counts of the rows that the frames of the window exclude.
    periods : Periods
        The window and the period before, from the copied catalog.
    """

    catalog: Path
    snapshot: StoreSnapshot
    coverage: Coverage
    headline: dict[str, int | float | None]
    days: list[dict[str, object]]
    problems: list[dict[str, object]]
    periods: Periods

    def segments(self) -> list[dict[str, object]]:
        """Return every segment with the digests of its files.

        They prove the origin of a report later.
        """
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


def freeze_inputs(net: Network, window: Window, catalog: Path, report: Report) -> FrozenInputs:
    """Copy the catalog, and measure the coverage of the window through the copy.

    Parameters
    ----------
    net : Network
    window : Window
    catalog : Path
        Path of the copy.
    report : Report
        Whether it needs the period before and the network's state.

    Raises
    ------
    CoverageError
        If a part of the window is not in the store.
    """
    net.store.freeze(catalog)
    offline = Network(net.settings, clock=net.now, offline=True, catalog=catalog)
    frames = load_events(offline, since=iso(window.since), until=iso(window.until))
    snapshot, coverage = offline.store.snapshot(EVENTS, window), measure_coverage(offline, frames, window)
    problems = [{str(name): value for name, value in row.items()} for row in frames.problems.to_dict("records")]
    before = load_before(offline, frames) if report.subjects else None
    periods = Periods(frames, before, load_state(offline, frames) if report.needs_state else None)
    return FrozenInputs(catalog, snapshot, coverage, measure_headline(frames), daily_integers(frames), problems, periods)
