"""Figures of cost and verdicts of the sandbox, computed again by loops over the rows."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.frames import Frames

TABLES = ("verdicts", "updates", "traffic", "tree_events", "envelopes", "views", "quorums", "activity_records")
COST_COLUMNS = ["requests", "requests_with_cost", "total_traffic_cost", "median", "max"]
ACCEPTED, REJECTED, UNSPECIFIED = (f"VERDICT_RESULT_{name}" for name in ("ACCEPTED", "REJECTED", "UNSPECIFIED"))
LIMIT = 29_900_000
PARTS = {"node": "tree_events", "view": "views", "envelope": "envelopes", "activity": "activity_records"}

Row = dict[str, Any]


@pytest.fixture(scope="module")
def tables(sandbox_history: Frames) -> dict[str, list[Row]]:
    return {name: sandbox_history.scan(name).to_table().to_pylist() for name in TABLES}


@pytest.fixture(scope="module")
def requests(tables: dict[str, list[Row]]) -> list[Row]:
    """A row per id with a verdict, an update or a traffic summary."""
    verdicts, updates, traffic = ({row["update_id"]: row for row in tables[name]} for name in TABLES[:3])
    roots: dict[str, Row] = {}
    for node in tables["tree_events"]:
        known = roots.get(node["update_id"])
        if node["depth"] == 0 and (known is None or node["node_index"] < known["node_index"]):
            roots[node["update_id"]] = node
    return [
        request_of(verdicts.get(name), updates.get(name), traffic.get(name), roots.get(name, {}))
        for name in {**verdicts, **updates, **traffic}
    ]


def request_of(verdict: Row | None, update: Row | None, traffic: Row | None, root: Row) -> Row:
    head = verdict or update or traffic
    assert head is not None
    final, cost = (verdict or {}).get("finalization_time"), (traffic or {}).get("total_traffic_cost")
    return {
        "update_id": head["update_id"],
        "time": head["record_time"],
        "result": (verdict or {}).get("verdict_result"),
        "payer": (verdict or {}).get("submitting_participant_uid"),
        "parties": set((verdict or {}).get("submitting_parties") or []),
        "view_count": (verdict or {}).get("view_count"),
        "latency": None if final is None else (final - head["record_time"]) // pd.Timedelta(1, "us").to_pytimedelta(),
        "cost": cost if cost is not None and cost >= 0 else None,
        "kind": update["kind"] if update else "not visible",
        **{name: root.get(name) for name in ("package_name", "template_name", "choice")},
    }


def is_timeout(request: Row) -> bool:
    return request["result"] == REJECTED and request["latency"] is not None and request["latency"] >= LIMIT


def by(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def total(numbers: Iterable[int | None]) -> int | None:
    """The sum of the known numbers, None without any."""
    known = [each for each in numbers if each is not None]
    return sum(known) if known else None


def ranked(numbers: Iterable[int | None], percent: int) -> int | None:
    """The percentile by nearest rank."""
    known = sorted(each for each in numbers if each is not None)
    return known[-(-percent * len(known) // 100) - 1] if known else None


def costs_of(rows: list[Row]) -> tuple[Any, ...]:
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    return len(rows), len(costs), total(costs), ranked(costs, 50), max(costs, default=None)


def estimates_of(frames: Frames) -> pd.DataFrame:
    """An estimate for two of three requests with a cost."""
    traffic = frames.traffic.reset_index(drop=True)
    sizes = traffic["total_traffic_cost"].abs() * 9 // 10 + traffic.index
    return traffic[["update_id"]].assign(request_bytes=sizes.astype("int64"))[traffic.index % 3 > 0].reset_index(drop=True)


def rows_of(frame: pd.DataFrame, columns: list[str]) -> list[tuple[Any, ...]]:
    """The rows in any order, durations as microseconds."""
    columns_of_rows = []
    for name in columns:
        values = frame[name]
        if str(values.dtype).startswith("timedelta"):
            values = pd.Series([None if pd.isna(each) else each // pd.Timedelta(1, "us") for each in values], dtype="object")
        columns_of_rows.append([None if pd.isna(each) else each for each in values])
    return sorted(zip(*columns_of_rows, strict=True), key=str)


def ordered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=str)


# -- cost -----------------------------------------------------------------------------------------------------------------


def test_spend(sandbox_history: Frames, requests: list[Row]) -> None:
    by_payer = lf.cost.spend(sandbox_history, by="participant", min_requests=1)
    expected = [(payer, *costs_of(rows)) for payer, rows in by(requests, lambda row: row["payer"]).items()]
    assert rows_of(by_payer, ["submitting_participant_uid", *COST_COLUMNS]) == ordered(expected)
    keys = ["kind", "package_name", "template_name", "choice"]
    kinds = by(requests, lambda row: tuple(row[key] for key in keys))
    expected = [(*names, *costs_of(rows)) for names, rows in kinds.items()]
    assert rows_of(lf.cost.spend(sandbox_history, by="template", min_requests=1), [*keys, *COST_COLUMNS]) == ordered(expected)
    parties = lf.cost.spend(sandbox_history, by="party")
    of_parties = by(({**row, "party": party} for row in requests for party in row["parties"]), lambda row: row["party"])
    expected = [(party, len(rows), total(row["cost"] for row in rows)) for party, rows in of_parties.items()]
    assert rows_of(parties.dropna(subset="party"), ["party", "requests", "total_traffic_cost"]) == ordered(expected)


@pytest.mark.parametrize("top", [1, 10, 10_000])
def test_requests(sandbox_history: Frames, tables: dict[str, list[Row]], requests: list[Row], top: int) -> None:
    known = [row for row in requests if row["cost"] is not None]
    kinds = by(known, lambda row: (row["kind"], row["package_name"], row["template_name"], row["choice"]))
    medians = {kind: ranked((row["cost"] for row in rows), 50) if len(rows) >= 6 else None for kind, rows in kinds.items()}
    quorums = by(tables["quorums"], lambda row: row["update_id"])
    envelopes = by((row for row in tables["envelopes"] if row["traffic_cost"] >= 0), lambda row: row["update_id"])
    expected = []
    for row in sorted(known, key=lambda row: (-row["cost"], row["update_id"]))[:top]:
        kind = row["kind"], row["package_name"], row["template_name"], row["choice"]
        parties = {party for quorum in quorums.get(row["update_id"], ()) for party in quorum["parties"]}
        sizes = [each["traffic_cost"] for each in envelopes.get(row["update_id"], ())]
        numbers = len(parties) if row["update_id"] in quorums else None, len(sizes) or None
        expected.append((row["update_id"], row["cost"], medians[kind], len(kinds[kind]), *numbers, max(sizes, default=None)))
    names = ["update_id", "total_traffic_cost", "median_of_kind", "requests_of_kind", "confirmers", "envelopes"]
    largest = lf.cost.requests(sandbox_history, top=top)
    rows = largest[[*names, "largest_envelope"]].itertuples(index=False)
    assert [tuple(None if pd.isna(value) else value for value in row) for row in rows] == expected
    total_cost = sum(row["cost"] for row in known)
    for share, times, (_, cost, median, *_) in zip(largest["share"], largest["times_median"], expected, strict=True):
        assert share == cost / total_cost
        assert pd.isna(times) if not median else times == cost / median


def test_why_a_request_costs_so_much(sandbox_history: Frames) -> None:
    first = lf.cost.requests(sandbox_history).iloc[0]
    kind = f"{first.times_median:,.1f} times the median of {first.requests_of_kind:,} requests of its kind"
    largest = f"{100 * first.largest_envelope / first.total_traffic_cost:.1f} %"
    numbers = {"view": int(first.view_count), "confirmer": int(first.confirmers), "envelope": int(first.envelopes)}
    sizes = ", ".join(f"{number} {noun}{'s' * (number != 1)}" for noun, number in numbers.items())
    assert first.why.startswith(f"{kind}; {sizes}; the largest envelope has {largest}")


@pytest.mark.parametrize("top", [0, -1, 10_001, 1.5, True, "3"])
def test_a_number_of_requests_that_is_none_is_refused(sandbox_history: Frames, top: Any) -> None:
    with pytest.raises(lf.UsageError, match=r"top= must be a whole number of at (least 1|most 10,000), got "):
        lf.cost.requests(sandbox_history, top=top)


def test_overhead(sandbox_history: Frames, tables: dict[str, list[Row]], requests: list[Row]) -> None:
    has_cost = {row["update_id"] for row in requests if row["cost"] is not None}
    envelopes = [row for row in tables["envelopes"] if row["update_id"] in has_cost and row["traffic_cost"] >= 0]
    expected = []
    for has_views in (True, False):
        costs = [row["traffic_cost"] for row in envelopes if bool(row["view_ids"]) == has_views]
        expected += [len(costs), sum(costs)]
    kinds = lf.cost.overhead(sandbox_history)
    assert [int(kinds[name].iloc[row]) for row in (0, 1) for name in ("envelopes", "traffic_cost")] == expected
    rest = sum(row["cost"] for row in requests if row["cost"] is not None) - expected[1] - expected[3]
    assert kinds["traffic_cost"].iloc[2] == rest


def test_same_confirmers(sandbox_history: Frames, tables: dict[str, list[Row]], requests: list[Row]) -> None:
    """Envelopes that are not the largest of their request with their confirmers, and the most confirmers of one."""
    has_cost = {row["update_id"] for row in requests if row["cost"] is not None}
    parties = defaultdict(set)
    for quorum in tables["quorums"]:
        parties[quorum["update_id"], quorum["view_id"]] |= set(quorum["parties"])
    costs, most = defaultdict(list), defaultdict(int)
    for row in tables["envelopes"]:
        confirmers = frozenset(each for view in row["view_ids"] for each in parties[row["update_id"], view])
        if confirmers and row["update_id"] in has_cost and row["traffic_cost"] >= 0:
            costs[row["update_id"], confirmers].append(row["traffic_cost"])
            most[row["update_id"]] = max(most[row["update_id"]], len(confirmers))
    expected = [
        sum(len(each) - 1 for each in costs.values()),
        sum(sum(each) - max(each) for each in costs.values()),
        ranked(most.values(), 50),
    ]
    shown = lf.cost.overhead(sandbox_history).iloc[0]
    names = ("same_confirmers_envelopes", "same_confirmers_cost", "confirmers_per_view")
    assert [int(shown[name]) for name in names] == expected


def test_wasted(sandbox_history: Frames, requests: list[Row]) -> None:
    hours = lf.cost.wasted(sandbox_history, every="1h").query("requests > 0")
    expected = []
    for start, rows in by(requests, lambda row: pd.Timestamp(row["time"]).floor("h")).items():
        rejected, others = ([row for row in rows if (row["result"] == REJECTED) == is_one] for is_one in (True, False))
        sums = (total(row["cost"] for row in part) or 0 for part in (rejected, others))
        expected.append((start, len(rows), len(rejected), *sums))
    shown = hours.fillna({"wasted_traffic_cost": 0, "useful_traffic_cost": 0})
    columns = ["period_start", "requests", "rejected", "wasted_traffic_cost", "useful_traffic_cost"]
    assert rows_of(shown, columns) == ordered(expected)


def test_concentration(sandbox_history: Frames, requests: list[Row]) -> None:
    payers = by((row for row in requests if row["payer"] is not None), lambda row: row["payer"])
    costs = [each for rows in payers.values() if (each := total(row["cost"] for row in rows))]
    row, whole = lf.cost.concentration(sandbox_history).iloc[0], sum(costs)
    assert (row["members"], row["total_traffic_cost"]) == (len(costs), whole)
    assert row["hhi"] == float(sum(Fraction(cost, whole) ** 2 for cost in costs))
    assert row["gini"] == float(Fraction(sum(abs(a - b) for a in costs for b in costs), 2 * len(costs) * whole))
    for number in (1, 3, 10):
        least = sorted(costs, reverse=True)[number - 1]
        assert row[f"top_{number}"] == float(Fraction(sum(cost for cost in costs if cost >= least), whole))


def test_estimate(sandbox_history: Frames, requests: list[Row]) -> None:
    estimates = estimates_of(sandbox_history)
    sizes = dict(zip(estimates["update_id"], estimates["request_bytes"].tolist(), strict=True))
    groups = defaultdict(list)
    for row in requests:
        size, cost = sizes.get(row["update_id"]), row["cost"]
        outcome = "no estimate" if size is None else "rejected" if row["result"] == REJECTED else "matched"
        groups["no actual" if outcome == "matched" and cost is None else outcome].append((size, cost))
    expected = []
    for outcome, pairs in groups.items():
        both = [(size, cost) for size, cost in pairs if size is not None and cost is not None]
        sums = (total(size for size, _ in pairs), total(cost for _, cost in pairs), total(cost - size for size, cost in both))
        expected.append((outcome, len(pairs), *sums, sum(10 * cost > 11 * size for size, cost in both)))
    shown = lf.cost.estimate(sandbox_history, estimates, by=None)
    columns = ["outcome", "requests", "estimated", "actual", "difference", "over_10_percent"]
    assert rows_of(shown, columns) == ordered(expected)


def test_anatomy(sandbox_history: Frames, tables: dict[str, list[Row]], requests: list[Row]) -> None:
    """Of requests with and without a tree, the parts add up to what the tables have."""
    counts_of = {part: Counter(row["update_id"] for row in tables[name]) for part, name in PARTS.items()}
    totals = {row["update_id"]: row["total_traffic_cost"] for row in tables["traffic"]}
    for update_id in random.Random(5).sample(sorted(row["update_id"] for row in requests), 6):
        parts = lf.cost.anatomy(sandbox_history, update_id).groupby("part", observed=True)
        counts, costs = parts.size(), parts["traffic_cost"].sum()
        assert {part: counts.get(part, 0) for part in PARTS} == {part: counts_of[part][update_id] for part in PARTS}
        whole = totals.get(update_id)
        assert whole is None or costs.get("envelope", 0) + costs.get("unassigned", 0) == whole


# -- verdicts ---------------------------------------------------------------------------------------------------------------
