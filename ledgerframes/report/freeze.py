"""Frozen inputs of a run, as a copy of the catalog.

Segments never change, so the copy fixes all rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis._requests import requests
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.frames import Frames
from ledgerframes.loaders.additions import Additions, additions_of
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.coverage import Coverage, measure_coverage
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.history import daily_integers, history_window, write_days
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
        Counts of the rows that the frames of the window exclude, and of the values that its figures leave out.
    history : Path or None
        The days that earlier runs kept, if they stand for the weeks before.
    history_digest : str
        Digest of the weeks before, empty for a report without usual ranges.
    additions : Additions
        Members and kinds that services sent and this release does not know.
    periods : Periods
        The window and the period before, from the copied catalog.
    """

    catalog: Path
    snapshot: StoreSnapshot
    coverage: Coverage
    headline: dict[str, int | float | None]
    days: list[dict[str, object]]
    problems: list[dict[str, object]]
    history: Path | None
    history_digest: str
    additions: Additions
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


def freeze_inputs(net: Network, window: Window, catalog: Path, report: Report, kept_days: pd.DataFrame | None) -> FrozenInputs:
    """Copy the catalog, and measure the coverage of the window through the copy.

    Parameters
    ----------
    net : Network
    window : Window
    catalog : Path
        Path of the copy.
    report : Report
        Says whether the weeks before, the period before and the network's state are inputs, too.
    kept_days : DataFrame or None
        Days of earlier runs that stand for the weeks before, None if the store has these weeks.

    Raises
    ------
    CoverageError
        If a part of the window is not in the store.
    """
    net.store.freeze(catalog)
    offline = Network(net.settings, clock=net.now, offline=True, catalog=catalog)
    frames = load_events(offline, since=iso(window.since), until=iso(window.until))
    rows = requests(frames, ["verdict_result"])
    history = None
    if kept_days is not None:
        history = catalog.with_name("history.parquet")
        write_days(kept_days, history)
    return FrozenInputs(
        catalog,
        offline.store.snapshot(EVENTS, window),
        measure_coverage(offline, frames, window, rows),
        measure_headline(rows),
        daily_integers(frames, rows),
        _problems(frames),
        history,
        _history_digest(offline, window, history) if report.needs_history else "",
        additions_of(frames),
        _periods(offline, frames, report),
    )


def _periods(net: Network, frames: Frames, report: Report) -> Periods:
    before = load_before(net, frames) if report.subjects else None
    return Periods(frames, before, load_state(net, frames) if report.needs_state else None)


def _problems(frames: Frames) -> list[dict[str, object]]:
    """Return the rows and values that the figures of frames leave out, as JSON values."""
    values = cost.problems(frames).rename(columns={"first_update_id": "update_id"})
    values = values[values["rows"] > 0]
    unusable = values.assign(problem=values["column"] + " " + values["problem"].astype("str"))
    columns = ["problem", "table", "rows", "update_id"]
    rows = [*frames.problems[columns].to_dict("records"), *unusable[columns].to_dict("records")]
    return [{str(name): value for name, value in row.items()} for row in rows]


def _history_digest(net: Network, window: Window, history: Path | None) -> str:
    if history is not None:
        return hashlib.sha256(history.read_bytes()).hexdigest()
    weeks = history_window(window)
    return net.store.snapshot(EVENTS, weeks).digest if weeks else ""
