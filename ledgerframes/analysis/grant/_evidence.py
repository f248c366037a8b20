"""Use of an app by outside parties, day by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis.arguments import Snapshot, snapshot_table
from ledgerframes.analysis.grant._directory import write_directory
from ledgerframes.analysis.grant._requests import app_query, excluded_parties, members_of, require_known_names
from ledgerframes.analysis.grant._use import DAYS, MIN_COVERAGE, Use, outside_rows, use_of
from ledgerframes.analysis.groups import as_integers, exact_sum
from ledgerframes.engine import Query
from ledgerframes.frames import Frames
from ledgerframes.store.location import local_path
from ledgerframes.values.windows import Time, Window, instant, iso

REJECTED = declare.integer(
    "rejected",
    "Rejected requests of outside parties. Missing without by_confirmer=True and app parties, and for committed updates.",
    "requests",
)
COUNTS = (
    declare.count("requests", "Accepted requests of the app that outside parties submitted."),
    declare.cost("bytes", "Cost of these requests. Missing if there are none."),
    declare.cost(
        "app_bytes", "Part of the cost that the app's parties burn. Missing without a known cost, app party or network state."
    ),
    REJECTED,
)
CONDITION, UNIT = "with a known submitting party and cost", "accepted requests of the app"


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
    members = members_of(app, by_confirmer=by_confirmer)
    excluded = excluded_parties(frames, exclude, labels)
    require_known_names(frames, members)
    window = Window(instant(since, "since"), instant(until, "until"))
    return [app_query(frames, members, excluded, window, DAYS, by_confirmer=by_confirmer, base=base)]


EVIDENCE = declare.Figure(
    "grant.evidence",
    caption="Use of the app by outside parties",
    rows="One row per day of the window; sorted by day.",
    columns=(
        declare.time("day", "Start of the day. All days of the window have a row.", "Record time"),
        *COUNTS,
        declare.count("new_parties", "Outside parties whose first submission in the window is on this day.", "parties"),
        declare.ResultColumn(
            "parties_cumulative", declare.COUNT, "Outside parties up to the end of the day.", "parties", "Outside parties"
        ),
        declare.count("new_namespaces", "Keys of outside parties that first occur on this day.", "namespaces"),
        declare.count("namespaces_cumulative", "Keys of outside parties up to the end of the day.", "namespaces"),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
TOTALS = declare.Figure(
    "grant.evidence_totals",
    caption="Total use of the app by outside parties",
    rows="One row.",
    columns=(
        declare.time("since", "Start of the window."),
        declare.time("until", "End of the window, exclusive."),
        *COUNTS,
        declare.count("parties", "Outside parties.", "parties"),
        declare.count("namespaces", "Keys of outside parties. Several ids can have one key.", "namespaces"),
        declare.count("excluded_requests", "Accepted requests of the app that only excluded parties submitted."),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)


@EVIDENCE.register
def evidence(
    frames: Frames,
    *,
    app: Mapping[str, Sequence[str]],
    exclude: Sequence[str],
    since: Time,
    until: Time,
    directory: str | Path | None = None,
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
        Lists of ``packages``, ``templates`` and ``parties``. If both packages and templates are listed, a node must match
        both. Parties alone need ``by_confirmer=True``.
    exclude : sequence of str
        Your own and affiliated parties, or groups of `labels`.
    since, until : str, date or datetime
        Half-open window of record times, UTC.
    directory : path, optional
        New or empty directory for the requests, the days and the totals as Parquet and CSV, and a manifest with all digests.
    by_confirmer : bool, default False
        Also count requests with one of the app's parties in a quorum. Only such requests can be private or rejected.
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`.
    min_coverage : float, default 0.99
        Minimum share of the window that must be final, and of the requests that must have a known submitting party and cost.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts` (default: none, so the
        history must start with the network).

    Returns
    -------
    DataFrame
        One row per day of the window; sorted by day.

        Columns:

        - ``day`` (datetime64[us, UTC]): Start of the day. All days of the window have a row.
        - ``requests`` (int64, requests): Accepted requests of the app that outside parties submitted.
        - ``bytes`` (Int64, bytes): Cost of these requests. Missing if there are none.
        - ``app_bytes`` (Int64, bytes): Part of the cost that the app's parties burn. Missing without a known cost, app party or
          network state.
        - ``rejected`` (Int64, requests): Rejected requests of outside parties. Missing without by_confirmer=True and app
          parties, and for committed updates.
        - ``new_parties`` (int64, parties): Outside parties whose first submission in the window is on this day.
        - ``parties_cumulative`` (int64, parties): Outside parties up to the end of the day.
        - ``new_namespaces`` (int64, namespaces): Keys of outside parties that first occur on this day.
        - ``namespaces_cumulative`` (int64, namespaces): Keys of outside parties up to the end of the day.
        - ``coverage`` (float64, share of 1): Share of the accepted requests of the app with a known submitting party and cost.
          Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    UsageError
        If a package, template or party of the app is unknown, an entry of `exclude` is neither the id of a party nor a group,
        or `directory` is neither new nor empty.
    CoverageError
        If less than `min_coverage` of the window is final, or of the requests have a known submitting party and cost.

    Notes
    -----
    A request belongs to the app if a visible node does. It is outside if at least one submitting party is not excluded.
    Several ids of one person can share a key, so parties and keys are both counted. Source: docs/facts.md#traffic-fields,
    docs/facts.md#identifiers.

    Picture, by :func:`ledgerframes.plot`: Cumulated cost [bytes] of outside requests over time [UTC], and on a second axis
    the number of outside parties. The bytes that the grant requires are a line, with ``milestone=``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> app = {"packages": ["meadow-token"]}
    >>> window = {"since": "2026-11-08T01:00:00Z", "until": "2026-11-09"}
    >>> days = lf.grant.evidence(frames, app=app, exclude=[], min_coverage=0.8, **window)
    >>> bool(days["parties_cumulative"].iloc[0] > 0)
    True
    """
    EVIDENCE.check(frames)
    target = None if directory is None else local_path("directory", directory, "Write the evidence here, then copy it.")
    use = use_of(
        frames, app, exclude, since, until, by_confirmer=by_confirmer, labels=labels, min_coverage=min_coverage, base=base
    )
    result = _days(use)
    if target is not None:
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
        tables = {"requests": outside_rows(use), "days": result, "totals": _totals(use)}
        write_directory(target, use.frames, parameters, tables)
    return result


@TOTALS.register
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

    Parameters
    ----------
    frames : Frames
        From :func:`ledgerframes.load_events`, over the window or longer. The part of the app's parties needs the history from
        the start of the network.
    app : dict
        Lists of ``packages``, ``templates`` and ``parties``. If both packages and templates are listed, a node must match
        both. Parties alone need ``by_confirmer=True``.
    exclude : sequence of str
        Your own and affiliated parties, or groups of `labels`.
    since, until : str, date or datetime
        Half-open window of record times, UTC.
    by_confirmer : bool, default False
        Also count requests with one of the app's parties in a quorum. Only such requests can be private or rejected.
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`.
    min_coverage : float, default 0.99
        Minimum share of the window that must be final, and of the requests that must have a known submitting party and cost.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts` (default: none, so the
        history must start with the network).

    Returns
    -------
    DataFrame
        One row.

        Columns:

        - ``since`` (datetime64[us, UTC]): Start of the window.
        - ``until`` (datetime64[us, UTC]): End of the window, exclusive.
        - ``requests`` (int64, requests): Accepted requests of the app that outside parties submitted.
        - ``bytes`` (Int64, bytes): Cost of these requests. Missing if there are none.
        - ``app_bytes`` (Int64, bytes): Part of the cost that the app's parties burn. Missing without a known cost, app party or
          network state.
        - ``rejected`` (Int64, requests): Rejected requests of outside parties. Missing without by_confirmer=True and app
          parties, and for committed updates.
        - ``parties`` (int64, parties): Outside parties.
        - ``namespaces`` (int64, namespaces): Keys of outside parties. Several ids can have one key.
        - ``excluded_requests`` (int64, requests): Accepted requests of the app that only excluded parties submitted.
        - ``coverage`` (float64, share of 1): Share of the accepted requests of the app with a known submitting party and cost.
          Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    UsageError
        If a package, template or party of the app is unknown, or an entry of `exclude` is neither the id of a party nor a
        group.
    CoverageError
        If less than `min_coverage` of the window is final, or of the requests have a known submitting party and cost.

    Notes
    -----
    Source: docs/facts.md#traffic-fields, docs/facts.md#identifiers.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> window = {"since": "2026-11-08T01:00:00Z", "until": "2026-11-09"}
    >>> app = {"packages": ["meadow-token"]}
    >>> totals = lf.grant.evidence_totals(frames, app=app, exclude=[], min_coverage=0.8, **window)
    >>> bool((totals["bytes"] > totals["requests"]).all())
    True
    """
    TOTALS.check(frames)
    return _totals(
        use_of(frames, app, exclude, since, until, by_confirmer=by_confirmer, labels=labels, min_coverage=min_coverage, base=base)
    )


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
