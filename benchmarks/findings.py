"""How often `lf.findings` is wrong on a quiet week, and how often it finds what was planted in one.

A quiet week is seven days, from a Monday on, of a sandbox of 30 weeks and 400 events a day, from one of two stretches: the weeks
after the first two and before an app provider becomes featured, and the weeks after that but the last, in which a package gets
dearer and a day has twice the waste. What the sandbox plants each week, such as a negative cost, is part of it. Weeks of a
stretch differ by chance only, so that any seven of them in any order are a window and the six weeks before it.

A swinging week is a quiet one in which weeks and days have more or fewer requests than others: of each day, a part is left out.
"""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from measuring import KEPT, say

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.frames import Frames, MemoryFrameSource
from ledgerframes.values.windows import Window

QUIET_WEEKS, SWINGING_WEEKS, PLANTED = 200, 100, {"large": 20, "middle": 20, "small": 10}
SEEDS, WEEKS, EVENTS_PER_DAY, BEFORE = (1, 2, 3), 30, 400, 6
STRETCHES = (range(2, 15), range(18, 29))  # weeks that differ by chance only
TABLES = ("updates", "tree_events", "verdicts", "quorums", "traffic", "activity_records")
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
WEEK, DAY, HOUR = (int(timedelta(**{unit: 1}).total_seconds()) * 1_000_000 for unit in ("weeks", "days", "hours"))
NEW = "PAR::new-validator::1220" + "ab" * 32

Tables = dict[str, pa.Table]
Draw = np.random.Generator


@dataclass(frozen=True)
class Plant:
    """What must be found: the subject, and its name or start."""

    subject: str
    name: str


# -- weeks --------------------------------------------------------------------------------------------------------------


@functools.cache
def weeks_of(seed: int) -> list[Tables]:
    """The weeks of a sandbox, each with the times of the first."""
    folder = KEPT / f"findings-{seed}-{WEEKS}-{EVENTS_PER_DAY}"
    if not (folder / "manifest.json").exists():
        say(f"making {WEEKS} weeks of seed {seed}")
        shutil.rmtree(folder, ignore_errors=True)
        KEPT.mkdir(parents=True, exist_ok=True)
        days = 7 * WEEKS
        with (
            tempfile.TemporaryDirectory(dir=KEPT) as store,
            lf.connect("sandbox", seed=seed, events=days * EVENTS_PER_DAY, days=days, store=store) as net,
        ):
            lf.save_frames(lf.load_events(net, since="0001-01-01"), folder)
    frames = lf.open_frames(folder)
    tables = {name: frames.scan(name).to_table() for name in TABLES}
    tables["tree_events"] = _slim(tables["tree_events"].filter(pc.field("node_index") == 0))
    start = _micros(MONDAY + timedelta(weeks=1)) - WEEKS * WEEK
    return [{name: _week(rows, start + number * WEEK) for name, rows in tables.items()} for number in range(WEEKS)]


def _slim(nodes: pa.Table) -> pa.Table:
    """Root nodes without the columns that no figure here reads."""
    kept = {"migration_id", "record_time", "update_id", "event_id", "node_index", "package_name", "template_name", "choice"}
    columns = [
        nodes[field.name] if field.name in kept or not field.nullable else pa.nulls(len(nodes), field.type)
        for field in nodes.schema
    ]
    return pa.table(columns, schema=nodes.schema)


def _week(rows: pa.Table, since: int) -> pa.Table:
    times = rows["record_time"].cast(pa.int64())
    return _moved(rows.filter(pc.and_(pc.greater_equal(times, since), pc.less(times, since + WEEK))), -since)


def _moved(rows: pa.Table, by: int) -> pa.Table:
    for name in ("record_time", "finalization_time"):
        if name in rows.column_names:
            field = rows.schema.field(name)
            moved = pc.add(rows[name].cast(pa.int64()), by).cast(field.type)
            rows = rows.set_column(rows.schema.get_field_index(name), field, moved)
    return rows


def _micros(time: datetime) -> int:
    return int((time - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def drawn(draw: Draw) -> list[Tables]:
    """Seven weeks of one stretch in any order, the window first."""
    weeks, stretch = weeks_of(int(draw.choice(SEEDS))), STRETCHES[draw.integers(2)]
    return [weeks[number] for number in draw.permutation(stretch)[: 1 + BEFORE]]


def frames_of(weeks: list[Tables]) -> Frames:
    """Frames over weeks, of which the first is the latest."""
    moved = [{name: _moved(rows, _micros(MONDAY) - k * WEEK) for name, rows in week.items()} for k, week in enumerate(weeks)]
    tables = {name: pa.concat_tables([week[name] for week in moved]) for name in TABLES}
    window = Window(MONDAY - timedelta(weeks=len(weeks) - 1), MONDAY + timedelta(weeks=1))
    coverage = [{"since": window.since, "until": window.until, "status": "final", "rows": 1}]
    covered = testing.frames_of(coverage=coverage).coverage
    source = MemoryFrameSource(tables, "sandbox", covered, has_second_verdicts=False)
    return Frames(source, TABLES, window=window, population="all")


def found(weeks: list[Tables], history: Frames) -> pd.DataFrame:
    """What is unusual in the first of the weeks."""
    return lf.findings(frames_of(weeks[:1]), history=history)


def swinging(weeks: list[Tables], draw: Draw) -> list[Tables]:
    """Weeks of which each day leaves out a part of its requests."""
    return [_without(week, _dropped(week, draw)) for week in weeks]


def _dropped(week: Tables, draw: Draw) -> pa.Array:
    times, ids = _times_and_ids(week["verdicts"])
    of_week, of_days = draw.uniform(0, 0.1), draw.uniform(0, 0.1, 7)
    return pa.array(ids[draw.random(len(ids)) < of_week + of_days[times // DAY]])


def _times_and_ids(rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    return rows["record_time"].cast(pa.int64()).to_numpy(), np.array(rows["update_id"].to_pylist())


def _without(week: Tables, ids: pa.Array, names: tuple[str, ...] = TABLES) -> Tables:
    return {
        name: rows.filter(pc.invert(pc.is_in(rows["update_id"], ids))) if name in names else rows for name, rows in week.items()
    }


# -- planted cases ------------------------------------------------------------------------------------------------------


def bad_day(week: Tables, factor: float, before: list[Tables], draw: Draw) -> tuple[Tables, Plant]:
    """A day on which so many times the usual share is rejected."""
    day, verdicts = int(draw.integers(7)), week["verdicts"]
    times, ids = _times_and_ids(verdicts)
    results = np.array(verdicts["verdict_result"].to_pylist(), dtype=object)
    is_accepted = (times // DAY == day) & (results == "VERDICT_RESULT_ACCEPTED")
    rejected = int(((times // DAY == day) & (results == "VERDICT_RESULT_REJECTED")).sum())
    chosen = draw.choice(np.flatnonzero(is_accepted), round(rejected * (factor - 1)), replace=False)
    results[chosen] = "VERDICT_RESULT_REJECTED"
    week = {**week, "verdicts": _with(verdicts, "verdict_result", results.tolist())}
    start = MONDAY + timedelta(days=day)
    return _without(week, pa.array(ids[chosen]), ("updates", "tree_events", "activity_records")), Plant(
        "day", f"{start:%Y-%m-%d}"
    )


def slow_party(week: Tables, factor: float, before: list[Tables], draw: Draw) -> tuple[Tables, Plant]:
    """A party whose requests, 50 to 700 a week, take so many times longer."""
    members = pd.DataFrame({"id": week["quorums"]["update_id"].to_pylist(), "party": week["quorums"]["parties"].to_pylist()})
    members["is_tight"] = week["quorums"]["threshold"].to_numpy() >= members["party"].str.len()
    needed = members[members["is_tight"]].explode("party").drop_duplicates(["id", "party"])
    counts = needed["party"].value_counts()
    party = str(draw.choice(sorted(counts[(counts >= 50) & (counts <= 700)].index)))
    verdicts, ids = week["verdicts"], set(needed.loc[needed["party"] == party, "id"])
    times, names = _times_and_ids(verdicts)
    ends = verdicts["finalization_time"].cast(pa.int64()).to_numpy()
    is_slow = np.array([name in ids for name in names]) & (ends - times < 29_000_000) & (ends > times)
    moved = np.where(is_slow, times + np.minimum((ends - times) * factor, 29_800_000), ends).astype("int64")
    field = verdicts.schema.field("finalization_time")
    return {**week, "verdicts": _with(verdicts, field.name, pa.array(moved).cast(field.type))}, Plant("confirming party", party)


def costly_kind(week: Tables, factor: float, before: list[Tables], draw: Draw) -> tuple[Tables, Plant]:
    """A kind of request, at least 30 a week, that costs so many times as much from the second day on."""
    kinds, traffic = _kinds(week), week["traffic"]
    counts = kinds.value_counts()
    kind = str(draw.choice(sorted(counts[counts >= 30].index)))
    times, ids = _times_and_ids(traffic)
    costs = traffic["total_traffic_cost"].to_numpy()
    is_dearer = (kinds.reindex(ids).to_numpy() == kind) & (times >= DAY)
    return {
        **week,
        "traffic": _with(traffic, "total_traffic_cost", np.where(is_dearer, costs * factor, costs).astype("int64")),
    }, Plant("kind", kind)


def giant_request(week: Tables, factor: float, before: list[Tables], draw: Draw) -> tuple[Tables, Plant]:
    """A request that costs so many times as much as the largest of its kind before, which has 50 or more."""
    kinds, earlier = _kinds(week), pd.concat([_kinds(each) for each in before])
    counts = earlier.value_counts()
    chosen = str(draw.choice(sorted(kinds[kinds.isin(counts[counts >= 50].index)].index)))
    costs = pd.concat([pd.Series(each["traffic"]["total_traffic_cost"].to_numpy(), _ids(each["traffic"])) for each in before])
    largest = int(costs.reindex(earlier[earlier == kinds[chosen]].index).max())
    traffic = week["traffic"]
    values = [
        int(largest * factor) if name == chosen else cost
        for name, cost in zip(_ids(traffic), traffic["total_traffic_cost"].to_pylist(), strict=True)
    ]
    return {**week, "traffic": _with(traffic, "total_traffic_cost", values)}, Plant("request", chosen)


def new_participant(week: Tables, requests: float, before: list[Tables], draw: Draw) -> tuple[Tables, Plant]:
    """A participant that submits so many requests, and none before."""
    verdicts = week["verdicts"]
    names = verdicts["submitting_participant_uid"].to_pylist()
    for position in draw.choice(len(names), int(requests), replace=False).tolist():
        names[position] = NEW
    return {**week, "verdicts": _with(verdicts, "submitting_participant_uid", names)}, Plant("participant", NEW)


def falling_provider(week: Tables, share: float, before: list[Tables], draw: Draw) -> tuple[Tables, Plant]:
    """One of the five largest app providers, without so large a share of its records."""
    records = week["activity_records"]
    parties = np.array(records["party"].to_pylist())
    weights = pd.Series(records["weight"].to_numpy()).groupby(parties).sum()
    party = str(draw.choice(sorted(weights.nlargest(5).index)))
    is_left = (parties != party) | (draw.random(len(parties)) >= share)
    return {**week, "activity_records": records.filter(pa.array(is_left))}, Plant("app provider", party)


def empty_hours(week: Tables, hours: float, before: list[Tables], draw: Draw) -> tuple[Tables, Plant]:
    """So many hours in a row without a request."""
    first = int(draw.integers(int(7 * 24 - hours)))
    times, ids = _times_and_ids(week["verdicts"])
    inside = ids[(times // HOUR >= first) & (times // HOUR < first + hours)]
    others, other_ids = _times_and_ids(week["updates"])
    inside_others = other_ids[(others // HOUR >= first) & (others // HOUR < first + hours)]
    start = MONDAY + timedelta(hours=first)
    return _without(week, pa.array([*inside, *inside_others])), Plant("hour", f"{start:%Y-%m-%dT%H}")


PLANTS: dict[str, tuple[Callable[..., tuple[Tables, Plant]], dict[str, float]]] = {
    "a bad day": (bad_day, {"small": 1.5, "middle": 2, "large": 3}),
    "a slow party": (slow_party, {"small": 1.25, "middle": 1.5, "large": 3}),
    "a costly kind": (costly_kind, {"small": 1.1, "middle": 1.25, "large": 1.5}),
    "a giant request": (giant_request, {"small": 2, "middle": 5, "large": 20}),
    "a new participant": (new_participant, {"small": 5, "middle": 20, "large": 60}),
    "a falling provider": (falling_provider, {"small": 0.25, "middle": 0.5, "large": 0.8}),
    "empty hours": (empty_hours, {"small": 1, "middle": 3, "large": 8}),
}


def is_found(result: pd.DataFrame, plant: Plant) -> bool:
    """Whether a finding is about what was planted."""
    rows = result[result["subject"] == plant.subject]
    if plant.subject in ("day", "hour"):
        names = rows["since"].dt.strftime("%Y-%m-%d" if plant.subject == "day" else "%Y-%m-%dT%H")
        return bool(names.eq(plant.name).any())
    return bool(rows["name"].eq(plant.name).any())


def _with(rows: pa.Table, name: str, values: object) -> pa.Table:
    field = rows.schema.field(name)
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    array = array.dictionary_encode().cast(field.type) if pa.types.is_dictionary(field.type) else array
    return rows.set_column(rows.schema.get_field_index(name), field, array)


def _ids(rows: pa.Table) -> list[str]:
    ids: list[str] = rows["update_id"].to_pylist()
    return ids


def _kinds(week: Tables) -> pd.Series:
    """The kind of each visible request, by its update id."""
    roots = week["tree_events"]
    templates, choices = (roots[name].to_pylist() for name in ("template_name", "choice"))
    kinds = ["/".join(filter(None, pair)) for pair in zip(templates, choices, strict=True)]
    result = pd.Series(kinds, _ids(roots))
    return result[result.index.isin(_ids(week["traffic"]))]


# -- rates --------------------------------------------------------------------------------------------------------------


def false_findings(count: int, *, swings: bool = False) -> Iterator[pd.DataFrame]:
    """The results of quiet weeks that have a finding."""
    for number in range(count):
        draw = np.random.default_rng([number, swings])
        weeks = swinging(drawn(draw), draw) if swings else drawn(draw)
        result = found(weeks, frames_of(weeks))
        if len(result):
            yield result


def found_plants(count: int, size: str) -> dict[str, int]:
    """How many of so many planted cases of a size are found, by what was planted."""
    hits = dict.fromkeys(PLANTS, 0)
    for number in range(count):
        weeks = drawn(np.random.default_rng([number, 2]))
        history = frames_of(weeks)
        for position, (name, (plant, sizes)) in enumerate(PLANTS.items()):
            draw = np.random.default_rng([number, 3 + position])
            week, planted = plant(weeks[0], sizes[size], weeks[1:], draw)
            hits[name] += is_found(found([week], history), planted)
    return hits


class Rate(NamedTuple):
    """How often something happened, beside what was promised."""

    name: str
    hits: int
    cases: int
    promise: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.hits} of {self.cases}, {self.hits / self.cases:.1%} ({self.promise}). {self.note}".rstrip()


def rates() -> Iterator[Rate]:
    """Measure all rates."""
    quiet, swinging = _count(false_findings(QUIET_WEEKS)), _count(false_findings(SWINGING_WEEKS, swings=True))
    yield Rate("quiet weeks with a false finding", quiet, QUIET_WEEKS, "at most 5 %")
    yield Rate("swinging weeks with a false finding", swinging, SWINGING_WEEKS, "at most 5 %")
    for size, promise in {"large": "at least 95 %", "middle": "at least 80 %"}.items():
        hits = found_plants(PLANTED[size], size)
        note = ", ".join(f"{name} {number}" for name, number in hits.items())
        yield Rate(f"{size} planted cases found", sum(hits.values()), PLANTED[size] * len(PLANTS), promise, note)


def _count(results: Iterator[pd.DataFrame]) -> int:
    number = 0
    for result in results:
        number += 1
        say("; ".join(result["sentence"]))
    return number


def main() -> None:
    """Print the rates, all or those that are named, such as `quiet 50` or `large 5`."""
    if not sys.argv[1:]:
        for rate in rates():
            print(rate)
        return
    name, count = sys.argv[1], int(sys.argv[2])
    if name in ("quiet", "swinging"):
        print(name, _count(false_findings(count, swings=name == "swinging")), "of", count)
    else:
        print(name, found_plants(count, name), "of", count)


if __name__ == "__main__":
    main()
