"""Use of an app by outside parties, day by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._arguments import Snapshot, snapshot_table
from ledgerframes.analysis._coverage import window_share
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis._groups import as_integers, exact_sum, ratio
from ledgerframes.analysis.grant._folder import write_folder
from ledgerframes.analysis.grant._requests import App, app_query, excluded_parties, members_of, require_known_names
from ledgerframes.engine import Query, run
from ledgerframes.engine.app_requests import OUTSIDE_PARTIES
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.statistics import printing
from ledgerframes.values.windows import Time, Window, instant, iso

MIN_COVERAGE = 0.99
REJECTED = declare.integer(
    "rejected",
    "Rejected requests of outside parties. Missing without by_confirmer=True and parties of the app, or of committed updates.",
    "requests",
)
COUNTS = (
    declare.count("requests", "Accepted requests of the app that outside parties submitted."),
    declare.cost("bytes", "Their cost. Missing without requests."),
    declare.cost("app_bytes", "Part that the app's parties burn. Missing without a known cost, app party or network state."),
    REJECTED,
)
CONDITION, UNIT = "with a known submitting party and cost", "accepted requests of the app"
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
        count(*) FILTER (is_accepted AND is_known AND NOT is_outside) AS excluded_requests
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
    array_to_string(outside_parties, ' ') AS outside_parties,
    total_traffic_cost,
    app_bytes
FROM app_requests
WHERE is_outside AND (is_accepted OR is_rejected)
ORDER BY record_time, update_id
"""


def _queries(
    frames: Frames,
    app: object,
    exclude: Sequence[str],
    since: Time,
    until: Time,
    by_confirmer: bool,
    labels: pd.DataFrame | None,
    base: Snapshot | None,
    **_: object,
) -> list[Query]:
    members = members_of(app)
    excluded = excluded_parties(frames, exclude, labels)
    require_known_names(frames, members)
    window = Window(instant(since, "since"), instant(until, "until"))
    return [app_query(frames, members, excluded, window, DAYS, OUTSIDE_PARTIES, by_confirmer=by_confirmer, base=base)]


EVIDENCE = declare.Figure(
    "grant.evidence",
    rows="One row per day of the window; sorted by day.",
    columns=(
        declare.time("day", "Start of the day, all days of the window.", "Record time"),
        *COUNTS,
        declare.count("new_parties", "Outside parties that submit for the first time in the window.", "parties"),
        declare.ResultColumn(
            "parties_cumulative", declare.COUNT, "Outside parties until the end of the day.", "parties", "Outside parties"
        ),
        declare.count("new_namespaces", "Keys of outside parties that occur for the first time.", "namespaces"),
        declare.count("namespaces_cumulative", "Keys of outside parties until the end of the day.", "namespaces"),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
TOTALS = declare.Figure(
    "grant.evidence_totals",
    rows="One row.",
    like="grant.evidence",
    columns=(
        declare.time("since", "Start of the window."),
        declare.time("until", "End of the window, exclusive."),
        *COUNTS,
        declare.count("parties", "Outside parties.", "parties"),
        declare.count("namespaces", "Keys of outside parties. Several ids can have one key.", "namespaces"),
        declare.count("excluded_requests", "Accepted requests of the app that excluded parties alone submitted."),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)


@EVIDENCE.document
def evidence(
    frames: Frames,
    *,
    app: Mapping[str, Sequence[str]],
    exclude: Sequence[str],
    since: Time,
    until: Time,
    folder: str | Path | None = None,
    by_confirmer: bool = False,
    labels: pd.DataFrame | None = None,
    min_coverage: float = MIN_COVERAGE,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return how outside parties used an app each day, and write what an auditor can verify.

    Parameters
    ----------
    frames : Frames
        From :func:`ledgerframes.load_events`, over the window or longer. The part of the app's parties needs the history from
        the start of the network, or `base`.
    app : dict
        Lists of ``packages``, ``templates`` and ``parties``. With packages and templates, a node must have both.
    exclude : sequence of str
        Own and affiliated parties, or groups of `labels`.
    since, until : str, date or datetime
        Half-open window of record times, UTC.
    folder : path, optional
        New or empty directory for the requests, the days and the totals as Parquet and CSV, and a manifest with all digests.
    by_confirmer : bool, default False
        Count requests with one of the app's parties in a quorum, too. Only these can be private or rejected.
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`.
    min_coverage : float, default 0.99
        Least share of the window that is final, and of the requests with a known submitting party and cost.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of `frames`, from :func:`ledgerframes.load_contracts`, instead of the history
        before them.

    Raises
    ------
    UsageError
        If a package, template or excluded party is unknown, or `folder` is neither new nor empty.
    CoverageError
        If less than `min_coverage` of the window is final, or of the requests have a known submitting party and cost.

    Notes
    -----
    A request is of the app if a visible node is. It is outside if at least one submitting party is not excluded. Several ids of
    one person can share a key, so both count. Source: docs/facts.md#traffic-fields, docs/facts.md#identifiers.

    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> app = {"packages": ["meadow-token"]}
    >>> window = {"since": "2026-11-08T01:00:00Z", "until": "2026-11-09"}
    >>> days = lf.grant.evidence(frames, app=app, exclude=[], min_coverage=0.8, **window)
    >>> bool(days["parties_cumulative"].iloc[0] > 0)
    True
    """
    EVIDENCE.check(frames)
    use = _use_of(
        frames, app, exclude, since, until, by_confirmer=by_confirmer, labels=labels, min_coverage=min_coverage, base=base
    )
    result = _days(use)
    if folder is not None:
        parameters: dict[str, Any] = {
            "app": {name: list(names) for name, names in app.items()},
            "exclude": sorted(use.excluded),
            "since": iso(use.window.since),
            "until": iso(use.window.until),
            "by_confirmer": by_confirmer,
            "min_coverage": min_coverage,
        }
        if base is not None and (time := snapshot_table(base, "base").time):
            parameters["base"] = iso(time)
        tables = {"requests": _outside_rows(use), "days": result, "totals": _totals(use)}
        write_folder(Path(folder), use.frames, parameters, tables)
    return result


@TOTALS.document
def evidence_totals(
    frames: Frames,
    *,
    app: Mapping[str, Sequence[str]],
    exclude: Sequence[str],
    since: Time,
    until: Time,
    by_confirmer: bool = False,
    labels: pd.DataFrame | None = None,
    min_coverage: float = MIN_COVERAGE,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return how outside parties used an app in a window, in one row.

    Source: docs/facts.md#traffic-fields, docs/facts.md#identifiers.

    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> window = {"since": "2026-11-08T01:00:00Z", "until": "2026-11-09"}
    >>> app = {"packages": ["meadow-token"]}
    >>> totals = lf.grant.evidence_totals(frames, app=app, exclude=[], min_coverage=0.8, **window)
    >>> bool((totals["bytes"] > totals["requests"]).all())
    True
    """
    TOTALS.check(frames)
    return _totals(
        _use_of(
            frames, app, exclude, since, until, by_confirmer=by_confirmer, labels=labels, min_coverage=min_coverage, base=base
        )
    )


@dataclass(frozen=True)
class Use:
    """Requests of an app in a window."""

    frames: Frames  # of the window
    history: Frames  # from which the state of the network follows, after the snapshot if there is one
    base: Snapshot | None
    window: Window
    app: App
    excluded: set[str]
    by_confirmer: bool
    days: pd.DataFrame  # sums of each day with requests of the app
    coverage: float  # share of the accepted requests whose submitting parties and cost are known
    has_rejected: bool  # whether rejected requests can be among the rows: they have no node, so only confirmers show them


def _use_of(
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
    members = members_of(app)
    excluded = excluded_parties(frames, exclude, labels)
    require_known_names(frames, members)
    window = Window(instant(since, "since"), instant(until, "until"))
    overlap = (frames.window and window.intersect(frames.window)) or window
    part = frames.between(overlap.since, overlap.until)
    share = 0.0 if frames.window is None or part.window != window else window_share(part)
    _require_coverage("of the window is final", share, min_coverage)
    query = app_query(frames, members, excluded, window, DAYS, OUTSIDE_PARTIES, by_confirmer=by_confirmer, base=base)
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


# -- rows ---------------------------------------------------------------------------------------------------------------


def _days(use: Use) -> pd.DataFrame:
    rows = use.days[use.days["first_time"].notna()].reset_index(drop=True)
    days = periods_of(use.frames, rows["first_time"], "1d")
    of_days = rows.set_index(pd.Index(days.codes)).reindex(range(len(days)))
    counts = {name: of_days[name].fillna(0) for name in ("requests", "rejected", "new_parties", "new_namespaces")}
    values: dict[str, Any] = {
        "day": days.keys["period_start"],
        "coverage_time": days.keys["coverage_time"],
        "bytes": of_days["bytes"],
        "app_bytes": of_days["app_bytes"],
        **counts,
        "coverage": use.coverage,
    }
    if not use.has_rejected:
        values["rejected"] = pd.NA
    for name in ("parties", "namespaces"):
        values[f"{name}_cumulative"] = np.cumsum(counts[f"new_{name}"].to_numpy("int64"))
    return EVIDENCE.build(use.frames, values)


def _totals(use: Use) -> pd.DataFrame:
    days = use.days
    values = {
        "since": [use.window.since],
        "until": [use.window.until],
        "requests": [int(days["requests"].sum())],
        "bytes": as_integers([exact_sum(days["bytes"])], "bytes"),
        "app_bytes": as_integers([exact_sum(days["app_bytes"])], "app_bytes"),
        "rejected": [int(days["rejected"].sum()) if use.has_rejected else pd.NA],
        "parties": [int(days["new_parties"].sum())],
        "namespaces": [int(days["new_namespaces"].sum())],
        "excluded_requests": [int(days["excluded_requests"].sum())],
        "coverage": use.coverage,
    }
    return TOTALS.build(use.frames, values)


def _outside_rows(use: Use) -> pd.DataFrame:
    """Return the accepted and rejected requests of outside parties, as the directory has them."""
    query = app_query(use.history, use.app, use.excluded, use.window, ROWS, by_confirmer=use.by_confirmer, base=use.base)
    rows = run(use.frames, query)
    return rows.astype({"update_id": "str", "outside_parties": "str"})
