"""The values of ``by=`` that several analyses have, and the requests in their groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes import extents
from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._coverage import FIRST_PERIOD, covered_time
from ledgerframes.analysis._figures import Grouping
from ledgerframes.analysis._groups import (
    MICROSECONDS_PER_HOUR,
    Groups,
    cross,
    from_microseconds,
    group_by,
    group_by_hour_of_day,
    group_by_hour_of_week,
    group_by_period,
    microseconds,
    single_group,
)
from ledgerframes.analysis._requests import (
    distinct_per_owner,
    positions,
    take_or_missing,
)
from ledgerframes.analysis.eras import breaks_between, periods_of_eras
from ledgerframes.datasets import table
from ledgerframes.engine.requests import (
    REQUESTS_BY_CONFIRMERS,
    REQUESTS_BY_ERA,
    REQUESTS_BY_LABEL,
    REQUESTS_BY_PARTY,
    REQUESTS_BY_SOURCE,
    REQUESTS_BY_TEMPLATE,
)
from ledgerframes.frames import Frames

TEMPLATE_NAME = declare.text("template_name", "Module and entity of the root node. Missing without a visible tree.")
CHOICE = declare.text("choice", "Choice that the root node exercises. Missing for a create.")
PARTICIPANT = Grouping(
    (declare.text("submitting_participant_uid", "Participant that submits and pays. Missing without a verdict."),)
)
PARTY = Grouping((declare.text("party", "Submitting party. Missing without a verdict or a party."),), rows=REQUESTS_BY_PARTY)
KINDS = ("transaction", "reassignment", "not visible")
KIND = declare.choice("kind", KINDS, "transaction, reassignment, or not visible (rejected or private).")
PACKAGE_NAME = declare.text("package_name", "Package of the root node. Missing without a visible tree.")
TEMPLATE = Grouping((KIND, PACKAGE_NAME, TEMPLATE_NAME, CHOICE), rows=REQUESTS_BY_TEMPLATE)
RESULT = Grouping((declare.label("verdict_result", "Verdict of the mediator. Missing without a verdict."),))
COVERED_HOURS = declare.rate(
    "covered_hours", "Time of this hour that final data cover, on all days. Counts compare per hour of it.", "hours"
)
HOUR = Grouping(
    (declare.ResultColumn("hour", "int64", "Hour of the day of the record time, all 24 of them.", "UTC"),), (COVERED_HOURS,)
)
WEEKDAY_HOUR = Grouping(
    (declare.ResultColumn("weekday", "int64", "Day of the week, 0 for Monday.", "UTC"), *HOUR.keys), (COVERED_HOURS,)
)
DAY = Grouping((declare.time("day", "Start of the day of the record time, all days of the window."),))
SIZE = Grouping((declare.label("size", "Class of the request's cost. Missing if the cost is unknown.", "bytes"),))
VIEWS = Grouping((declare.integer("view_count", "Views of the request. Missing without a verdict.", "views"),))
CONFIRMERS = Grouping(
    (declare.integer("confirmers", "Different parties that can confirm. Missing without a quorum.", "parties"),),
    rows=REQUESTS_BY_CONFIRMERS,
)
LABEL_GROUP = Grouping(
    (declare.text("label", "Group of the submitter's label, or its name. Missing without a label."),), rows=REQUESTS_BY_LABEL
)
ERA = Grouping((declare.label("era", "Era of the network at the record time."),), rows=REQUESTS_BY_ERA)
SOURCE = Grouping(
    (declare.label("source", "Host that returned the request, or file. Missing if it is unknown."),), rows=REQUESTS_BY_SOURCE
)

PERIOD = ("period_start", "period_end")
SIZE_EDGES = (0, 2_000, 5_000, 10_000, 20_000, 50_000)
SIZES = ("under 2 kB", "2 to 5 kB", "5 to 10 kB", "10 to 20 kB", "20 to 50 kB", "50 kB and more")
CATEGORIES = {"kind": KINDS, "request_kind": KINDS, "size": SIZES}
VERDICT_COLUMNS = {
    "submitting_participant_uid": "submitting_participant_uid",
    "party": "submitting_parties",
    "verdict_result": "verdict_result",
    "view_count": "view_count",
}
SUBMITTERS = ["submitting_participant_uid", "submitting_parties"]


def group_rows(frames: Frames, rows: pd.DataFrame, keys: Sequence[str], every: str | None) -> Groups:
    """Return the groups of rows that have the key columns, per period unless `every` is None."""
    times = rows["record_time"]
    if not keys:
        groups = single_group(len(rows))
    elif list(keys) == ["hour"]:
        groups = group_by_hour_of_day(times)
    elif list(keys) == ["weekday", "hour"]:
        groups = group_by_hour_of_week(times)
    elif list(keys) == ["day"]:
        days = periods_of(frames, times, "1d")
        names = {"period_start": "day", "coverage_time": "coverage_time"}
        groups = Groups(days.keys[[*names]].rename(columns=names), days.codes)
    else:
        groups = group_by(rows, keys)
    if every is None:
        return groups
    groups = Groups(groups.keys.drop(columns="coverage_time", errors="ignore"), groups.codes)
    return cross(periods_of(frames, times, every), groups, every)


def category_of(key: str, values: pd.Series, eras: pd.DataFrame | None) -> pd.Series:
    """Return a key of the engine's result as the category that it is, others as they are."""
    if key in CATEGORIES:
        return pd.Series(pd.Categorical(values, CATEGORIES[key], ordered=key == "size"), values.index)
    if key == "era":
        return pd.Series(pd.Categorical(values, periods_of_eras(eras)["name"].tolist(), ordered=True), values.index)
    if key == "source":
        return pd.Series(pd.Categorical(values.to_numpy(object)), values.index)
    if key == "verdict_result":
        declared = table("verdicts")[key].values
        return pd.Series(pd.Categorical(values, [*declared, *sorted(set(values.dropna()) - set(declared))]), values.index)
    return values


def breaks(frames: Frames, rows: pd.DataFrame, groups: Groups, eras: pd.DataFrame | None) -> list[str | None] | None:
    """Return the eras that begin within the period of each group, or within the window."""
    if rows.empty:
        return None
    since, until = from_microseconds(bounds_of(frames, rows["record_time"]))
    return breaks_of_groups(max(since, rows["record_time"].min()), until, groups.keys, eras)


def breaks_of_groups(
    first: pd.Timestamp, until: pd.Timestamp, keys: pd.DataFrame, eras: pd.DataFrame | None
) -> list[str | None] | None:
    """Return the eras that begin within the period of each group, or between two times.

    An era before the first request breaks nothing.
    """
    within = breaks_between(first, until, eras)
    if within.empty:
        return None
    starts, ends = (keys.get(name, pd.Series(edge, keys.index)) for name, edge in zip(PERIOD, (first, until), strict=True))
    names = (within["name"][(within["at"] > start) & (within["at"] < end)] for start, end in zip(starts, ends, strict=True))
    return [", ".join(each) or None for each in names]


def covered_hours(frames: Frames, keys: Sequence[str], every: str | None) -> dict[str, Any]:
    """Return the covered time of each hour of the day or week, nothing for other keys.

    A window of a day and a half has 12 hours twice and 12 once, whose counts do not compare.
    """
    if "hour" not in keys:
        return {}
    covered = covered_time(frames)
    if not len(covered.starts):
        return {COVERED_HOURS.name: 0.0 if frames.window else np.nan}
    edges = (
        np.arange(covered.starts[0] // MICROSECONDS_PER_HOUR, -(-covered.ends[-1] // MICROSECONDS_PER_HOUR) + 1)
        * MICROSECONDS_PER_HOUR
    )
    edges = np.clip(edges, covered.starts[0], covered.ends[-1])
    hours = pd.DataFrame({"record_time": from_microseconds(edges[:-1].tolist())})
    lengths = pd.Series(covered.length(edges[:-1], edges[1:]))
    groups = group_rows(frames, hours, keys, every)
    return {COVERED_HOURS.name: groups.total(lengths).fillna(0).to_numpy("float64") / MICROSECONDS_PER_HOUR}


def periods_of(frames: Frames, times: pd.Series, every: str) -> Groups:
    """Return all periods of the window, each with the share of its time that the frames cover."""
    groups = group_by_period(times, every, *bounds_of(frames, times))
    starts, ends = microseconds(groups.keys["period_start"]), microseconds(groups.keys["period_end"])
    covered = covered_time(frames)
    facts = {"is_partial": covered.is_partial(starts, ends), "coverage_time": covered.share(starts, ends)}
    return Groups(groups.keys.assign(**facts), groups.codes)


def bounds_of(frames: Frames, times: pd.Series) -> tuple[int, int]:
    """Return the edges of the window in microseconds since 1970, or without one of the rows.

    A window that starts before all history starts with the time that the frames cover, so that all tables have the same periods.
    Both edges are 0 without a window and rows.
    """
    numbers = microseconds(times)
    if frames.window is None:
        return (int(numbers.min()), int(numbers.max()) + 1) if len(numbers) else (0, 0)
    since, until = (extents.microseconds(time) for time in (frames.window.since, frames.window.until))
    if frames.window.since.year < FIRST_PERIOD:
        starts = covered_time(frames, accept_provisional=True).starts
        since = int(np.concatenate([starts[starts > since], numbers]).min(initial=until - 1))
    return since, until


def _kinds(frames: Frames, update_ids: pd.Series) -> pd.Series:
    updates = frames.read("updates", ["update_id", "kind"])
    kinds = take_or_missing(updates["kind"].astype("str"), positions(update_ids, updates["update_id"]))
    return pd.Series(pd.Categorical(kinds.fillna("not visible"), categories=KINDS), index=update_ids.index)


def _sizes(costs: pd.Series) -> pd.Series:
    codes = np.searchsorted(SIZE_EDGES, costs.to_numpy(dtype="int64", na_value=-1), side="right") - 1
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(SIZES), ordered=True), index=costs.index)


def _confirmers(frames: Frames, rows: pd.DataFrame) -> pd.Series:
    quorums = frames.read("quorums", ["update_id", "parties"])
    return distinct_per_owner(positions(quorums["update_id"], rows["update_id"]), quorums["parties"]).reindex(rows.index)
