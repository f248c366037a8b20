"""The measures of subjects that can be judged, as rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis.finding_names import REQUESTS
from ledgerframes.analysis.findings._comparisons import empty_runs
from ledgerframes.analysis.findings._measures import MEASURES, Measure
from ledgerframes.analysis.findings._weeks import Stretch, Subjects, starts_of
from ledgerframes.analysis.groups import Flags
from ledgerframes.frames import Frames
from ledgerframes.values.extents import MICROSECONDS_PER_DAY, MICROSECONDS_PER_HOUR

PERIODS = {"day": MICROSECONDS_PER_DAY, "hour": MICROSECONDS_PER_HOUR}


def compare(subjects: Subjects, stretch: Stretch, frames: Frames) -> pd.DataFrame:
    """Return one row per measure of a subject that can be judged."""
    length = PERIODS.get(subjects.kind, stretch.until - stretch.since)
    is_covered = np.broadcast_to(stretch.covers(frames, length), len(subjects))
    measures = (measure for measure in MEASURES if subjects.kind in measure.subjects)
    parts = [_rows(subjects, measure, is_covered, stretch) for measure in measures]
    return pd.concat(parts, ignore_index=True)


def _rows(subjects: Subjects, measure: Measure, is_covered: Flags, stretch: Stretch) -> pd.DataFrame:
    """Return the subjects that can be judged, and their times."""
    comparison = measure.compare(subjects, is_covered)
    since, until = np.full(len(subjects), stretch.since), np.full(len(subjects), stretch.until)
    if length := PERIODS.get(subjects.kind):
        since = starts_of(stretch, length)
        until = np.minimum(since + length, stretch.until)
    if subjects.kind == "hour" and measure.name == REQUESTS:
        until = until[empty_runs(subjects["requests"], is_covered)[1]]
    p = np.where(is_covered, comparison.p, np.nan)
    names = [""] * len(subjects) if subjects.kind in PERIODS else [str(name) for name in subjects.names]
    rows = pd.DataFrame(
        {
            "subject": subjects.kind,
            "name": pd.Series(names, dtype="str"),
            "what": measure.name,
            "unit": measure.unit,
            "value": comparison.value,
            "before": comparison.before,
            "usual_low": comparison.low,
            "usual_high": comparison.high,
            "effect": comparison.effect,
            "p": p,
            "since": since,
            "until": until,
        }
    )
    return rows[~np.isnan(p)]
