"""Sentences of the report on operations, made again from the files of the store by plain loops."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from datetime import timedelta
from fractions import Fraction

from .head_by_hand import decided_of
from .stored import ACCEPTED, REJECTED, TIMEOUT, Row, Stored, latency_of, middle, seconds
from .traffic_by_hand import costs_by_kind, kind_name

SIZES = (0, 2_000, 5_000, 10_000, 20_000, 50_000)
SECOND = timedelta(seconds=1)


# -- operations -----------------------------------------------------------------------------------------------------------


def sentence_on_delays(stored: Stored) -> str:
    """Victims share a participant or a confirming party, were sequenced meanwhile and took longer than usual."""
    rows = [row for row in stored.verdicts.values() if latency_of(row) >= timedelta(0)]
    rows.sort(key=lambda row: (row["record_time"], row["update_id"]))
    culprits = [row for row in rows if row["verdict_result"] == REJECTED and latency_of(row) >= TIMEOUT]
    parties = confirmers_of(stored)
    usual = usual_latencies(stored, rows, culprits)
    victims = delays(rows, culprits, parties, usual, timedelta(0))
    expected = Fraction(0)
    for number, culprit in enumerate(culprits):
        hits, trials = 0, 0
        for hours in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5):
            shift = timedelta(hours=hours)
            opens = culprit["record_time"] + shift
            if opens >= stored.since and opens + latency_of(culprit) <= stored.until:
                trials += 1
                hits += sum(other == number for other, _ in delays(rows, culprits, parties, usual, shift).values())
        expected += Fraction(hits, trials) if trials else 0
    waited = sum((added for _, added in victims.values()), timedelta(0))
    noun, them = ("request", "it") if len(culprits) == 1 else ("requests", "them")
    mean = float(expected)
    tail = 1 - sum(math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) for count in range(len(victims)) if mean)
    is_chance = victims and mean and tail > 0.05
    waiting = "may have waited" if is_chance else "probably waited"
    text = f"{len(victims):,} others {waiting} for {them}, {seconds(waited)} s in total."
    verdict = ", so this number is no surprise" if is_chance else ""
    return f"{len(culprits):,} {noun} timed out. {text} Chance alone explains {mean:.1f} of them{verdict}."


def confirmers_of(stored: Stored) -> dict[str, set[str]]:
    parties: defaultdict[str, set[str]] = defaultdict(set)
    for row in stored.rows("quorums"):
        parties[row["update_id"]].update(row["parties"])
    return parties


def usual_latencies(stored: Stored, rows: list[Row], culprits: list[Row]) -> dict[str, timedelta]:
    """Median latency of accepted requests of the same size outside of all intervals, of all sizes below 30 requests."""

    def size(row: Row) -> int:
        return bisect_right(SIZES, stored.costs[row["update_id"]]) if row["update_id"] in stored.costs else 0

    def is_quiet(row: Row) -> bool:
        spans = [(each["record_time"], each["record_time"] + latency_of(each)) for each in culprits]
        return not any(opens < row["record_time"] < closes for opens, closes in spans)

    by_size: defaultdict[int, list[timedelta]] = defaultdict(list)
    for row in rows:
        if row["verdict_result"] == ACCEPTED and is_quiet(row):
            by_size[size(row)].append(latency_of(row))
    overall = middle([latency for latencies in by_size.values() for latency in latencies])
    return {row["update_id"]: middle(by_size[size(row)]) if len(by_size[size(row)]) >= 30 else overall for row in rows}


def delays(
    rows: list[Row], culprits: list[Row], parties: dict[str, set[str]], usual: dict[str, timedelta], shift: timedelta
) -> dict[str, tuple[int, timedelta]]:
    """Culprit and added time of each victim, with all intervals moved by `shift`."""
    victims: dict[str, tuple[int, timedelta]] = {}
    for row in rows:
        choices = []
        for number, culprit in enumerate(culprits):
            opens = culprit["record_time"] + shift
            closes = opens + latency_of(culprit)
            added = min(latency_of(row) - usual[row["update_id"]], closes - row["record_time"])
            is_linked = (
                row["submitting_participant_uid"] == culprit["submitting_participant_uid"]
                or parties[row["update_id"]] & parties[culprit["update_id"]]
            )
            if row is not culprit and opens < row["record_time"] < closes and added >= SECOND and is_linked:
                choices.append((-min(latency_of(row), closes - row["record_time"]), number, added))
        if choices:
            _, number, added = min(choices)
            victims[row["update_id"]] = number, added
    return victims


def sentence_on_slow_parties(stored: Stored) -> str:
    """A party is judged if chance can be told from others with so many requests. Here none is."""
    decided = [row for row in decided_of(stored) if latency_of(row) >= timedelta(0)]
    late = {row["update_id"] for row in decided if row["verdict_result"] == REJECTED and latency_of(row) >= TIMEOUT}
    in_time = sorted(latency_of(row) for row in decided if row["update_id"] not in late)
    limit = in_time[-(-90 * len(in_time) // 100) - 1]
    slow = late | {row["update_id"] for row in decided if latency_of(row) > limit}
    named, required = defaultdict(set), defaultdict(set)
    ids = {row["update_id"] for row in decided}
    for quorum in stored.rows("quorums"):
        for party in set(quorum["parties"]) if quorum["update_id"] in ids else ():
            named[party].add(quorum["update_id"])
            if quorum["threshold"] >= len(set(quorum["parties"])):
                required[party].add(quorum["update_id"])
    judged = 0
    for party in named:
        counts = [len(required[party]), len(decided) - len(named[party])]
        hits = len(required[party] & slow) + len(slow - named[party])
        share = hits / sum(counts) if sum(counts) else 0
        judged += min(counts) * min(share, 1 - share) >= 5
    assert not judged, "parties that are judged need other words"
    return "No party has enough requests to be judged."


def sentence_on_budgets(stored: Stored, weeks: Stored) -> str:
    """The 95th percentile of each kind, against that of the weeks before and a tenth."""

    def p95(costs: list[int]) -> int:
        return sorted(costs)[-(-95 * len(costs) // 100) - 1]

    limits = {kind: p95(costs) * 11 // 10 for kind, costs in costs_by_kind(weeks).items() if len(costs) >= 72 and kind[2]}
    now = {kind: costs for kind, costs in costs_by_kind(stored).items() if kind in limits and len(costs) >= 72}
    worst = [(kind, p95(costs)) for kind, costs in now.items() if p95(costs) > limits[kind]]
    worst.sort(key=lambda each: (str(each[0][2]), str(each[0][3] or "")))
    texts = [f"{kind_name(kind)} ({value:,} of {limits[kind]:,} bytes)" for kind, value in worst]
    names = f": {', '.join(texts)}" if texts else ""
    noun, verb = "kind" if len(now) == 1 else "kinds", "exceeds" if len(worst) == 1 else "exceed"
    return f"{len(worst):,} of {len(now):,} {noun} with enough requests {verb} their limit{names}."
