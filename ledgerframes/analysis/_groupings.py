"""The values of ``by=`` that several analyses have, and the requests in their groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.coverage import FIRST_PERIOD, covered_time
from ledgerframes.analysis.eras import breaks_between, periods_of_eras
from ledgerframes.analysis.figures import Grouping
from ledgerframes.analysis.groups import (
    Groups,
    cross,
    group_by,
    group_by_period,
    microseconds,
    single_group,
)
from ledgerframes.datasets import table
from ledgerframes.engine.requests import (
    REQUESTS_BY_CONFIRMERS,
    REQUESTS_BY_ERA,
    REQUESTS_BY_LABEL,
    REQUESTS_BY_PARTY,
    REQUESTS_BY_SOURCE,
    REQUESTS_BY_TEMPLATE,
)
from ledgerframes.engine.users import REQUESTS_BY_USER
from ledgerframes.frames import Frames
from ledgerframes.values import extents

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
    "covered_hours",
    "Time of this hour, over all days, that final data cover. Divide counts by it before you compare them.",
    "hours",
)
HOUR = Grouping(
    (declare.ResultColumn("hour", "int64", "Hour of the day of the record time. All 24 hours have a row.", "UTC"),),
    (COVERED_HOURS,),
)
WEEKDAY_HOUR = Grouping(
    (declare.ResultColumn("weekday", "int64", "Day of the week, 0 for Monday.", "UTC"), *HOUR.keys), (COVERED_HOURS,)
)
DAY = Grouping(
    (declare.time("day", "Start of the day of the record time. All days of the window have a row."),),
    (declare.flag("is_partial", "Whether final data of the window do not cover the whole day."),),
)
SIZE = Grouping((declare.label("size", "Class of the request's cost. Missing if the cost is unknown.", "bytes"),))
VIEWS = Grouping((declare.integer("view_count", "Views of the request. Missing without a verdict.", "views"),))
CONFIRMERS = Grouping(
    (declare.integer("confirmers", "Different parties that can confirm. Missing without a quorum.", "parties"),),
    rows=REQUESTS_BY_CONFIRMERS,
)
LABEL_OF = "Group of the {} label, or the name of a label without a group. Missing without a label."
LABEL_GROUP = Grouping(
    (declare.text("label", LABEL_OF.format("submitter's")),),
    rows=REQUESTS_BY_LABEL,
)
PARTY_LABEL_GROUP = Grouping((declare.text("label", LABEL_OF.format("submitting party's")),), rows=REQUESTS_BY_LABEL)
ERA = Grouping((declare.label("era", "Era of the network at the record time."),), rows=REQUESTS_BY_ERA)
USER_STATUSES = ("known", "not sent", "rejected", "no completion", "other participant", "submitter unknown")
USER = Grouping(
    (
        declare.text("user_id", "User of the ledger API that submitted the command. Missing if it is unknown."),
        declare.choice("user_status", USER_STATUSES),
    ),
    rows=REQUESTS_BY_USER,
)
SOURCE = Grouping(
    (declare.label("source", "Host that returned the request, or file. Missing if it is unknown."),), rows=REQUESTS_BY_SOURCE
)

PERIOD = ("period_start", "period_end")
SIZES = ("under 2 kB", "2 to 5 kB", "5 to 10 kB", "10 to 20 kB", "20 to 50 kB", "50 kB and more")
CATEGORIES = {"kind": KINDS, "request_kind": KINDS, "size": SIZES, "user_status": USER_STATUSES}


def group_rows(frames: Frames, rows: pd.DataFrame, keys: Sequence[str], every: str | None) -> Groups:
    """Return the groups of rows that have the key columns, per period unless `every` is None."""
    groups = group_by(rows, keys) if keys else single_group(len(rows))
    if every is None:
        return groups
    groups = Groups(groups.keys.drop(columns="coverage_time", errors="ignore"), groups.codes)
    return cross(periods_of(frames, rows["record_time"], every), groups, every)


def category_of(key: str, values: pd.Series, eras: pd.DataFrame | None) -> pd.Series:
    """Return a key of the engine's result as a category if it is one, and otherwise unchanged."""
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


def breaks_of_groups(
    first: pd.Timestamp, until: pd.Timestamp, keys: pd.DataFrame, eras: pd.DataFrame | None
) -> list[str | None] | None:
    """Return the eras that begin within the period of each group, or between two times.

    An era that begins before the first request breaks nothing.
    """
    within = breaks_between(first, until, eras)
    if within.empty:
        return None
    starts, ends = (keys.get(name, pd.Series(edge, keys.index)) for name, edge in zip(PERIOD, (first, until), strict=True))
    names = (within["name"][(within["at"] > start) & (within["at"] < end)] for start, end in zip(starts, ends, strict=True))
    return [", ".join(each) or None for each in names]


def periods_of(frames: Frames, times: pd.Series, every: str) -> Groups:
    """Return all periods of the window, each with the share of its time that the frames cover."""
    groups = group_by_period(times, every, *bounds_of(frames, times))
    starts, ends = microseconds(groups.keys["period_start"]), microseconds(groups.keys["period_end"])
    covered = covered_time(frames)
    facts = {"is_partial": covered.is_partial(starts, ends), "coverage_time": covered.share(starts, ends)}
    return Groups(groups.keys.assign(**facts), groups.codes)


def bounds_of(frames: Frames, times: pd.Series) -> tuple[int, int]:
    """Return the edges of the window, or of the rows, in microseconds since 1970.

    If the window starts before all history, the first edge is the start of the covered time, so that all tables have the same
    periods. Without a window and without rows, both edges are 0.
    """
    numbers = microseconds(times)
    if frames.window is None:
        return (int(numbers.min()), int(numbers.max()) + 1) if len(numbers) else (0, 0)
    since, until = (extents.microseconds(time) for time in (frames.window.since, frames.window.until))
    if frames.window.since.year < FIRST_PERIOD:
        starts = covered_time(frames, accept_provisional=True).starts
        since = int(np.concatenate([starts[starts > since], numbers]).min(initial=until - 1))
    return since, until
