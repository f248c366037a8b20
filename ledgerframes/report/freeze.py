"""Frozen inputs of a run, as a copy of the catalog.

Segments never change, so the copy fixes all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.additions import additions_of
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.coverage import Coverage, measure_coverage
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.history import daily_integers, history_window, json_rows
from ledgerframes.report.loads import load_before, load_state
from ledgerframes.report.registry import Report
from ledgerframes.report.summary.periods import Periods
from ledgerframes.store import Segment
from ledgerframes.store.location import digest_of
from ledgerframes.windows import Window


@dataclass(frozen=True)
class FrozenInputs:
    """Inputs of one run."""

    catalog: Path  # the copied one
    history: Path | None  # the days that earlier runs kept, if they stand for the weeks before
    coverage: Coverage
    periods: Periods  # from the copied catalog
    facts: dict[str, Any]  # figures, problems and new members of the window, as run.json has them
    digests: dict[str, Any]  # of the segments of the window, and of the weeks before, empty without usual ranges


def freeze_inputs(net: Network, window: Window, catalog: Path, report: Report, kept_days: pd.DataFrame | None) -> FrozenInputs:
    """Copy the catalog to a path, and measure the window through the copy.

    Days of earlier runs stand for the weeks before, if the store does not have these weeks.
    """
    net.store.freeze(catalog)
    offline = Network(net.settings, clock=net.now, offline=True, catalog=catalog)
    frames = load_events(offline, since=window.since, until=window.until)
    headline = measure_headline(frames)
    additions, snapshot = additions_of(frames), offline.store.snapshot(EVENTS, window)
    history = None
    if kept_days is not None:
        history = catalog.with_name("history.parquet")
        kept_days.to_parquet(history, index=False)
    before = load_before(offline, frames) if report.subjects else None
    state = load_state(offline, frames) if report.needs_state else None
    weeks = _load_weeks(offline, window) if "balance" in report.subjects else None
    facts = {
        "headline": headline,
        "days": daily_integers(frames),
        "problems": _problems(frames),
        "missing_before": [str(window) for window in frames.missing_before],
        "extra_members": sorted(additions.members),
        "new_kinds": sorted(additions.kinds),
    }
    digests = {
        "snapshot": snapshot.digest,
        "history": _history_digest(offline, window, history) if report.needs_history else "",
        "segments": [_describe(segment) for segment in snapshot.segments],
    }
    coverage = measure_coverage(offline, frames, window, headline)
    return FrozenInputs(catalog, history, coverage, Periods(frames, before, state, weeks), facts, digests)


def _load_weeks(offline: Network, window: Window) -> Frames | None:
    """Return the window with the weeks before it, None if the store does not have them."""
    weeks = history_window(window)
    try:
        return load_events(offline, since=weeks.since, until=window.until) if weeks else None
    except CoverageError:
        return None


def _describe(segment: Segment) -> dict[str, object]:
    """Return a segment with the digests of its files, which prove the origin later."""
    return {
        "extent": str(segment.extent),
        "final": segment.final,
        "source": segment.source,
        "rows": segment.rows,
        "sha256": {table: file.sha256 for table, file in sorted(segment.files.items())},
    }


def _problems(frames: Frames) -> list[dict[str, object]]:
    """Return the rows and values that the figures of frames leave out, as JSON values."""
    values = cost.problems(frames).rename(columns={"first_update_id": "update_id"})
    values = values[values["rows"] > 0]
    unusable = values.assign(problem=values["column"] + " " + values["problem"].astype("str"))
    columns = ["problem", "table", "rows", "update_id"]
    return [*json_rows(frames.problems[columns]), *json_rows(unusable[columns])]


def _history_digest(net: Network, window: Window, history: Path | None) -> str:
    if history is not None:
        return digest_of(history)
    weeks = history_window(window)
    return net.store.snapshot(EVENTS, weeks).digest if weeks else ""
