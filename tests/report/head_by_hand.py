"""The statements that a page opens with, made again from the files of the store by plain loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from .rewards_by_hand import rewards_sentence
from .stored import (
    ACCEPTED,
    REJECTED,
    TIMEOUT,
    Row,
    Stored,
    design_effect,
    latency_of,
    middle,
    percent,
    seconds,
    shortened,
    tenths,
    wilson,
)
from .traffic_by_hand import Sides, Statement, listing, money, points, rate, signed, signed_percent, statements_on_traffic

# -- verdicts -------------------------------------------------------------------------------------------------------------


def statements_on_verdicts(sides: Sides) -> Iterator[Statement]:
    decided = decided_of(sides.after)
    rejected = rejected_of(decided)
    timeouts = sum(latency_of(verdict) >= TIMEOUT for verdict in rejected)
    text = f"{len(rejected):,} of {len(decided):,} decided requests, {rejection_rate(decided)}."
    yield "Rejections", f"{text} {timeouts:,} of them timed out.", []
    yield "Change of the rejections", change_of_rejections(sides), []
    yield "Cost of the rejections", waste(sides), []
    median = median_latency(sides.after)
    text = f"Half of the accepted requests took at most {median} s"
    earlier = f", against {median_latency(sides.before)} s in the {sides.name}" if sides.before else ""
    yield "Latency", f"{text}{earlier}.", []


def decided_of(stored: Stored) -> list[Row]:
    return [verdict for verdict in stored.verdicts.values() if verdict["verdict_result"] in (ACCEPTED, REJECTED)]


def rejected_of(decided: list[Row]) -> list[Row]:
    return [verdict for verdict in decided if verdict["verdict_result"] == REJECTED]


def rejection_rate(decided: list[Row]) -> str:
    """The rate of rejected requests with its interval."""
    rejected, effect = len(rejected_of(decided)), design_effect(decided)
    low, high = wilson(rejected / effect, len(decided) / effect)
    return f"{percent(rejected, len(decided))} ({tenths(math.floor(low * 1000))} to {tenths(math.ceil(high * 1000))} %)"


def change_of_rejections(sides: Sides) -> str:
    if sides.before is None:
        return f"Not compared, because only 0 % of the {sides.name} is final and in the history."
    decided = [decided_of(side) for side in (sides.before, sides.after)]
    effect = max(map(design_effect, decided))
    hits = [len(rejected_of(side)) for side in decided]
    (p1, l1, u1), (p2, l2, u2) = (
        (x / len(side), *wilson(x / effect, len(side) / effect)) for x, side in zip(hits, decided, strict=True)
    )
    low, high = p2 - p1 - math.hypot(p2 - l2, u1 - p1), p2 - p1 + math.hypot(u2 - p2, p1 - l1)
    ends = f"{tenths(math.floor(low * 1000))} to {tenths(math.ceil(high * 1000))} points"
    text = f"{'+' if p2 > p1 else ''}{points(p2 - p1)} ({ends}), from {rate(hits[0], len(decided[0]))} in the {sides.name}."
    return text if low > 0 or high < 0 else f"{text} Chance can explain such a change."


def waste(sides: Sides) -> str:
    stored = sides.after
    wasted = {name: cost for name, cost in stored.costs.items() if stored.result(name) == REJECTED}
    number = sum(wasted.values())
    price = money(number, sides.prices)
    at_price = f", which is {price} at the list price" if price else ""
    payers: Counter[str] = Counter()
    for update_id, cost in wasted.items():
        payers[stored.verdicts[update_id]["submitting_participant_uid"]] += cost
    worst = max(sorted(payers), key=payers.__getitem__)
    share = f"{percent(number, sum(stored.costs.values()))} of the known cost."
    return (
        f"{number:,} known bytes{at_price}, {share} Participant {shortened(worst)} caused {percent(payers[worst], number)} of it."
    )


def median_latency(stored: Stored) -> str:
    latencies = [latency_of(verdict) for verdict in stored.verdicts.values() if verdict["verdict_result"] == ACCEPTED]
    return seconds(middle(latency for latency in latencies if latency >= timedelta(0)))


# -- activity and problems ------------------------------------------------------------------------------------------------


def statements_on_activity(sides: Sides) -> Iterator[Statement]:
    weights = weights_of(sides.after)
    first = leaders(weights)[:3]
    share = percent(sum(weights[party] for party in first), sum(weights.values()))
    names = listing([shortened(party) for party in first])
    text = f"A weight of {sum(weights.values()):,} for {len(weights):,} app providers. {names} have {share} of it."
    yield "Activity", text, []
    yield "Change of the activity", change_of_activity(sides, weights), []
    assert sides.whole is not None
    yield "Rewards", rewards_sentence(sides.whole, sides.after, sides.prices["market"]), []


def leaders(weights: Counter[str]) -> list[str]:
    """All parties, the one with the highest weight first."""
    return sorted(weights, key=lambda party: (-weights[party], party))


def weights_of(stored: Stored) -> Counter[str]:
    weights: Counter[str] = Counter()
    for row in stored.rows("activity_records"):
        weights[row["party"]] += row["weight"]
    return weights


def change_of_activity(sides: Sides, after: Counter[str]) -> str:
    assert sides.before is not None
    before = weights_of(sides.before)
    change = after.total() - before.total()
    names = sorted(before | after)
    largest = (max if change > 0 else min)(names, key=lambda party: after[party] - before[party])
    number = after[largest] - before[largest]
    relative = f" ({signed_percent(number, before[largest])})" if largest in before else " (new)"
    text = f"{signed(change)} ({signed_percent(change, before.total())}) against the {sides.name}."
    return f"{text} {shortened(largest)}: {signed(number)}{relative}."


def statement_on_problems(stored: Stored) -> Statement:
    problems = []
    unknown = len(stored.ids) - len(stored.costs)
    if unknown:
        problems.append(f"The cost of {unknown:,} requests is unknown.")
    second = stored.second_verdicts
    if second:
        problems.append(f"{second:,} {'verdict is' if second == 1 else 'verdicts are'} excluded (second verdict).")
    counts = {
        "total_traffic_cost": sum(row["total_traffic_cost"] < 0 for row in stored.rows("traffic")),
        "traffic_cost": sum(row["traffic_cost"] < 0 for row in stored.rows("envelopes")),
        "weight": sum(row["weight"] < 0 for row in stored.rows("activity_records")),
        "finalization_time": sum(latency_of(verdict) < timedelta(0) for verdict in stored.verdicts.values()),
    }
    for column, count in counts.items():
        problem = "before the record time" if column == "finalization_time" else "negative"
        if count:
            words = ("value", "does", "it is") if count == 1 else ("values", "do", "they are")
            problems.append(f"{count:,} {words[0]} of {column} {words[1]} not count, because {words[2]} {problem}.")
    return "Problems", "Unknown, excluded or not counted:" if problems else "None.", problems


def statements_of(report: str, sides: Sides) -> list[Statement]:
    """All statements of the head of a report."""
    subjects: dict[str, Callable[[Sides], Iterator[Statement]]] = {
        "traffic": statements_on_traffic,
        "verdicts": statements_on_verdicts,
        "activity": statements_on_activity,
    }
    of_report = {
        "traffic-cost": ["traffic"],
        "verdicts": ["verdicts"],
        "activity": ["activity"],
        "operations": ["traffic", "verdicts"],
        "weekly": ["traffic", "verdicts", "activity"],
    }[report]
    statements = [statement for subject in of_report for statement in subjects[subject](sides)]
    return [*statements, statement_on_problems(sides.after)]


def length_in_words(since: datetime, until: datetime) -> str:
    days, rest = divmod(until - since, timedelta(days=1))
    number, noun = (days, "day") if not rest else ((until - since) // timedelta(hours=1), "hour")
    return f"{number} {noun}s before" if number != 1 else f"{noun} before"
