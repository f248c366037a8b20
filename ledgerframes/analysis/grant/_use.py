"""Requests of an app in a window, and those of outside parties among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.coverage import window_share
from ledgerframes.analysis.grant._requests import App, app_query, excluded_parties, members_of, require_known_names
from ledgerframes.analysis.groups import ratio
from ledgerframes.engine import run
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.statistics import printing
from ledgerframes.values.checks import require_min_coverage
from ledgerframes.values.windows import Time, Window, instant, iso

MIN_COVERAGE = 0.99
PARTIES = pd.ArrowDtype(pa.list_(pa.string()))  # also in a table without rows
DAYS = """
SELECT *
FROM (
    SELECT
        date_trunc('day', record_time) AS day,
        count(*) FILTER (is_outside AND is_accepted) AS requests,
        sum(total_traffic_cost) FILTER (is_outside AND is_accepted) AS bytes,
        sum(app_bytes) FILTER (is_outside AND is_accepted) AS app_bytes,
        count(*) FILTER (is_outside AND is_rejected) AS rejected,
        min(record_time) FILTER (is_outside AND (is_accepted OR is_rejected)) AS first_time,
        count(*) FILTER (is_accepted) AS accepted,
        count(*) FILTER (is_accepted AND is_known) AS known,
        count(*) FILTER (is_accepted AND has_submitter AND NOT is_outside) AS excluded_requests
    FROM app_requests
    GROUP BY day
)
LEFT JOIN (
    SELECT day, count(*) AS new_parties
    FROM (SELECT party, min(date_trunc('day', record_time)) AS day FROM outside_parties GROUP BY party)
    GROUP BY day
) USING (day)
LEFT JOIN (
    SELECT day, count(*) AS new_namespaces
    FROM (SELECT namespace, min(date_trunc('day', record_time)) AS day FROM outside_parties GROUP BY namespace)
    GROUP BY day
) USING (day)
ORDER BY day
"""
ROWS = """
SELECT
    update_id,
    record_time,
    is_accepted,
    outside_parties,
    total_traffic_cost,
    app_bytes
FROM app_requests
WHERE is_outside AND (is_accepted OR is_rejected)
ORDER BY record_time, update_id
"""


@dataclass(frozen=True)
class Use:
    """Requests of an app in a window."""

    frames: Frames  # of the window
    history: Frames  # the frames from which the state of the network follows, after the snapshot if there is one
    base: Snapshot | None
    window: Window
    app: App
    excluded: set[str]
    by_confirmer: bool
    days: pd.DataFrame  # sums of each day with requests of the app
    coverage: float  # share of the accepted requests with known submitting parties and cost
    has_rejected: bool  # whether the rows can include rejected requests: these have no node, so only confirmers show them


def use_of(
    frames: Frames,
    app: object,
    exclude: Sequence[str],
    since: Time,
    until: Time,
    *,
    by_confirmer: bool,
    labels: pd.DataFrame | None,
    min_coverage: float,
    base: Snapshot | None,
) -> Use:
    require_min_coverage(min_coverage)
    members = members_of(app, by_confirmer=by_confirmer)
    excluded = excluded_parties(frames, exclude, labels)
    require_known_names(frames, members)
    window = Window(instant(since, "since"), instant(until, "until"))
    overlap = (frames.window and window.intersect(frames.window)) or window
    part = frames.between(overlap.since, overlap.until)
    if frames.window is None or part.window != window:
        raise CoverageError(
            f"lf.grant.evidence needs frames that hold all of {window}. "
            f'Load since="{iso(window.since)}" until="{iso(window.until)}".',
            missing=(str(window),),
        )
    _require_coverage("of the window is final", window_share(part), min_coverage)
    query = app_query(frames, members, excluded, window, DAYS, by_confirmer=by_confirmer, base=base)
    days = run(part, query)
    accepted_count = int(days["accepted"].sum())
    coverage = float(ratio([int(days["known"].sum())], [accepted_count])[0])
    _require_coverage(
        "of the app's requests have a known submitting party and cost", coverage if accepted_count else 1.0, min_coverage
    )
    has_rejected = by_confirmer and bool(members["parties"]) and part.population != "committed"
    return Use(part, frames, base, window, members, excluded, by_confirmer, days, coverage, has_rejected)


def _require_coverage(fact: str, share: float, min_coverage: float) -> None:
    if share < min_coverage:
        raise CoverageError(
            f"lf.grant.evidence needs at least {printing.share(min_coverage, 2)}, but {printing.share(share, 2)} {fact}. "
            "Load the whole window, or another.",
            missing=(fact,),
        )


def outside_rows(use: Use) -> pd.DataFrame:
    """Return the accepted and rejected requests of outside parties, as in the directory."""
    query = app_query(use.history, use.app, use.excluded, use.window, ROWS, by_confirmer=use.by_confirmer, base=use.base)
    rows = run(use.frames, query)
    return rows.astype({"update_id": "str", "outside_parties": PARTIES})
