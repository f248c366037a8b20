"""Figures of verdicts of the sandbox, computed again by loops over the rows of the tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.frames import Frames
from ledgerframes.statistics import percentiles

MICROSECOND = pd.Timedelta(1, "us")
LIMIT = 29_900_000


@pytest.fixture(scope="module")
def requests(sandbox_history: Frames) -> dict[str, dict[str, Any]]:
    """The verdict and the cost of each request by id, as far as they are known."""
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for name in ("verdicts", "updates", "traffic"):
        for row in sandbox_history.read(name).to_dict("records"):
            rows[row["update_id"]] |= {f"{name}.{column}": value for column, value in row.items()}
    for row in rows.values():
        if "verdicts.record_time" in row:
            row["latency"] = (row["verdicts.finalization_time"] - row["verdicts.record_time"]) // MICROSECOND
            row["result"] = row["verdicts.verdict_result"].removeprefix("VERDICT_RESULT_")
    return dict(rows)


def rows_of(frame: pd.DataFrame, columns: list[str]) -> list[tuple[Any, ...]]:
    """The rows in any order, with durations as microseconds."""
    return sorted((tuple(plain(value) for value in row) for row in frame[columns].itertuples(index=False)), key=str)


def plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value // MICROSECOND if isinstance(value, pd.Timedelta) else value


def test_outcomes(sandbox_history: Frames, requests: dict[str, dict[str, Any]]) -> None:
    counts: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in requests.values():
        result = row.get("result")
        counted = counts[row.get("verdicts.submitting_participant_uid")]
        counted["requests"] += 1
        counted[result or "none"] += 1
        counted["timeouts"] += result == "REJECTED" and row["latency"] >= LIMIT
    names = ("requests", "ACCEPTED", "REJECTED", "timeouts", "UNSPECIFIED", "none")
    expected = sorted(((payer, *(counted[name] for name in names)) for payer, counted in counts.items()), key=str)
    columns = ["requests", "accepted", "rejected", "timeouts", "unspecified", "no_verdict"]
    shown = lf.verdict.outcomes(sandbox_history, by="participant")
    assert rows_of(shown, ["submitting_participant_uid", *columns]) == expected


def test_latency(sandbox_history: Frames, requests: dict[str, dict[str, Any]]) -> None:
    by_views: dict[int, list[int]] = defaultdict(list)
    for row in requests.values():
        if row.get("result") == "ACCEPTED" and row["latency"] >= 0:
            by_views[row["verdicts.view_count"]].append(row["latency"])
    expected = []
    for views, latencies in by_views.items():
        latencies.sort()
        count = len(latencies)
        median = latencies[(count + 1) // 2 - 1] if count >= 6 else None
        low, high = percentiles.percentile_ranks(count, 95)
        has_interval = low is not None and high is not None
        ends = (latencies[low - 1], latencies[high - 1]) if low is not None and high is not None else (None, None)
        value = latencies[(95 * count + 99) // 100 - 1] if has_interval else None
        expected.append((views, count, latencies[-1], median, value, *ends))
    shown = lf.verdict.latency(sandbox_history, by="views").query("accepted > 0")
    columns = ["view_count", "accepted", "max", "p50", "p95", "p95_low", "p95_high"]
    assert rows_of(shown, columns) == sorted(expected, key=str)
    assert any(row[4] is not None for row in expected)


def test_rejections(sandbox_history: Frames, requests: dict[str, dict[str, Any]]) -> None:
    expected = []
    for update_id, row in requests.items():
        if row.get("result") == "REJECTED":
            cost = row.get("traffic.total_traffic_cost", -1)
            kind = "timeout" if row["latency"] >= LIMIT else "contention"
            payer, views = row["verdicts.submitting_participant_uid"], row["verdicts.view_count"]
            latency = row["latency"] if row["latency"] >= 0 else None
            expected.append((update_id, payer, latency, kind, cost if cost >= 0 else None, views))
    names = ["update_id", "submitting_participant_uid", "latency", "reject_kind_heuristic", "traffic_cost", "view_count"]
    assert rows_of(lf.verdict.rejections(sandbox_history), names) == sorted(expected, key=str)
    assert expected


def test_quorums(sandbox_history: Frames) -> None:
    quorums: Counter[Any] = Counter()
    views, updates = defaultdict(set), defaultdict(set)
    for row in sandbox_history.read("quorums").to_dict("records"):
        key = ", ".join(sorted(row["parties"])), row["threshold"]
        quorums[key] += 1
        views[key].add((row["update_id"], row["view_id"]))
        updates[key].add(row["update_id"])
    expected = sorted(((*key, count, len(views[key]), len(updates[key])) for key, count in quorums.items()), key=str)
    columns = ["parties", "threshold", "quorums", "views", "requests"]
    assert rows_of(lf.verdict.quorums(sandbox_history), columns) == expected


def test_waited_for(sandbox_history: Frames, requests: dict[str, dict[str, Any]]) -> None:
    judged = {
        update_id: row
        for update_id, row in requests.items()
        if row.get("result") in ("ACCEPTED", "REJECTED") and row["latency"] >= 0
    }
    late = {update_id for update_id, row in judged.items() if row["result"] == "REJECTED" and row["latency"] >= LIMIT}
    others = sorted(row["latency"] for update_id, row in judged.items() if update_id not in late)
    limit = others[(90 * len(others) + 99) // 100 - 1]
    slow = late | {update_id for update_id, row in judged.items() if row["latency"] > limit}
    named, required = defaultdict(set), defaultdict(set)
    for row in sandbox_history.read("quorums").to_dict("records"):
        members = set(row["parties"])
        for party in members if row["update_id"] in judged else ():
            (required if row["threshold"] >= len(members) else named)[party].add(row["update_id"])
    expected = []
    for party in named.keys() | required.keys():
        needed = required[party]
        latencies = sorted(judged[update_id]["latency"] for update_id in needed)
        median = latencies[(len(latencies) + 1) // 2 - 1] if latencies else None
        expected.append((party, len(named[party] - needed), len(needed), len(needed & slow), median))
    shown = lf.verdict.waited_for(sandbox_history, min_requests=1)
    assert rows_of(shown, ["party", "named", "required", "slow", "median_latency"]) == sorted(expected, key=str)
