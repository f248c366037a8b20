"""The statements that a page opens with, made again from the files of the store by plain loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from fractions import Fraction

from .groups_by_hand import GroupRates, rates_by_day, rates_by_participant
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
    size_of,
    tenths,
    weight_of,
    wilson,
)
from .traffic_by_hand import (
    Sides,
    Statement,
    costs_by_payer,
    listing,
    money,
    movers,
    points,
    rate,
    signed_percent,
    signed_weight,
    statements_on_traffic,
)

# -- verdicts -------------------------------------------------------------------------------------------------------------


def statements_on_verdicts(sides: Sides) -> Iterator[Statement]:
    decided = decided_of(sides.after)
    rejected = rejected_of(decided)
    timeouts = sum(latency_of(verdict) >= TIMEOUT for verdict in rejected)
    text = f"{len(rejected):,} of {len(decided):,} decided requests, {rejection_rate(decided)}."
    days = rates_by_day(decided)
    details = [who_differs(rates_by_participant(decided)), which_days(days)]
    yield "Rejections", f"{text} {timeouts:,} of them timed out.", [detail for detail in details if detail]
    yield "Change of the rejections", *change_of_rejections(sides, days)
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


def who_differs(rates: GroupRates) -> str:
    if len(rates.trials) < 2:
        return ""
    if not rates.judged:
        return "No participant has enough requests to be told from the others."
    noun = "participant" if len(rates.judged) == 1 else "participants"
    subject = f"Of {len(rates.judged):,} {noun} with enough requests"
    if not rates.differing:
        return f"{subject}, none can be told from the others."
    names = [f"{shortened(name)} {against_the_rest(rates, name)}" for name in rates.differing]
    assert len(names) <= 5, "more names need other words"
    verb = "differs" if len(names) == 1 else "differ"
    return f"{subject}, {len(names):,} {verb} from the others: {listing(names)}."


def which_days(days: GroupRates) -> str:
    texts = [f"{day} differs from the other days: {against_the_rest(days, day)}." for day in in_time(days.differing)]
    return " ".join(texts)


def in_time(days: Iterable[str]) -> list[str]:
    return sorted(days, key=lambda day: day.split()[1])


def against_the_rest(rates: GroupRates, name: str) -> str:
    hits, trials = rates.hits.total() - rates.hits[name], rates.trials.total() - rates.trials[name]
    others = rate(hits, trials).partition(" (")[0]
    return f"{rate(rates.hits[name], rates.trials[name])} against {others} of the others"


def change_of_rejections(sides: Sides, days: GroupRates) -> tuple[str, list[str]]:
    if sides.before is None:
        return f"Not compared, because only 0 % of the {sides.name} is final and in the history.", []
    decided = [decided_of(side) for side in (sides.before, sides.after)]
    effect = max(map(design_effect, decided))
    first, second = ((len(rejected_of(side)), len(side)) for side in decided)
    text, by_chance = difference_of(first, second, effect)
    text = f"{text}, from {rate(*first)} in the {sides.name}.{by_chance}"
    has_risen = Fraction(*second) > Fraction(*first)
    names = [day for day in in_time(days.differing) if days.is_higher(day) == has_risen]
    rest = [total - sum(counts[day] for day in names) for total, counts in zip(second, (days.hits, days.trials), strict=True)]
    if not names or not rest[1]:
        return text, []
    without, by_chance = difference_of(first, (rest[0], rest[1]), effect)
    return text, [f"Without {listing(names)}: {without}.{by_chance}"]


def difference_of(before: tuple[int, int], after: tuple[int, int], effect: float) -> tuple[str, str]:
    """The difference of two rates with its interval, and whether chance explains it."""
    (p1, l1, u1), (p2, l2, u2) = ((x / n, *wilson(x / effect, n / effect)) for x, n in (before, after))
    low, high = p2 - p1 - math.hypot(p2 - l2, u1 - p1), p2 - p1 + math.hypot(u2 - p2, p1 - l1)
    ends = f"{tenths(math.floor(low * 1000))} to {tenths(math.ceil(high * 1000))} points"
    by_chance = "" if low > 0 or high < 0 else " Chance can explain such a change."
    return f"{'+' if p2 > p1 else ''}{points(p2 - p1)} ({ends})", by_chance


def waste(sides: Sides) -> str:
    stored = sides.after
    wasted = {name: cost for name, cost in stored.costs.items() if stored.result(name) == REJECTED}
    number = sum(wasted.values())
    price = money(number, sides.prices)
    at_price = f", which is {price} at the list price" if price else ""
    return f"{size_of(number)}{at_price}, {percent(number, sum(stored.costs.values()))} of the known cost."


def median_latency(stored: Stored) -> str:
    latencies = [latency_of(verdict) for verdict in stored.verdicts.values() if verdict["verdict_result"] == ACCEPTED]
    return seconds(middle(latency for latency in latencies if latency >= timedelta(0)))


# -- balance --------------------------------------------------------------------------------------------------------------


def statements_on_balance(sides: Sides) -> Iterator[Statement]:
    """Here the history is shorter than a forecast needs."""
    stored, parameters = sides.after, sides.prices
    if parameters["balance"] is not None:
        paid = {name: sum(costs) for name, costs in costs_by_payer(stored).items() if name}
        payer = parameters["participant"] or max(paid, key=paid.__getitem__)
        needed = f"4 whole weeks before {stored.until:%Y-%m-%d %H:%M}"
        reason = f"A runway needs {needed}, and these frames hold 0. Load a longer window."
        yield "Traffic balance", f"Participant {shortened(payer)}: No forecast. {reason}", []


# -- activity and problems ------------------------------------------------------------------------------------------------


def statements_on_activity(sides: Sides) -> Iterator[Statement]:
    weights = weights_of(sides.after)
    first = leaders(weights)[:3]
    share = percent(sum(weights[party] for party in first), sum(weights.values()))
    names = listing([shortened(party) for party in first])
    text = f"{weight_of(weights.total())} for {len(weights):,} app providers. {names} have {share} of it."
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
    named, rest = movers(
        {party: after[party] - before[party] for party in before | after}, 2, "app provider", to_text=signed_weight
    )
    texts = [f"{signed_weight(change)} ({signed_percent(change, before.total())}) against the {sides.name}."]
    for party, number in named:
        relative = signed_percent(number, before[party]) if party in before else "new"
        texts.append(f"{shortened(party)}: {signed_weight(number)} ({relative}).")
    return " ".join([*texts, *rest])


Quality = tuple[str, list[str], bool]  # what the chip says, its details, and whether nothing is amiss


def quality_of(stored: Stored) -> Quality:
    """The chip of a window that is final."""
    known, total = len(stored.costs), len(stored.ids)
    texts = ["all costs known"]
    details = ["All of the window is final and in the history.", f"The cost of all {total:,} requests is known."]
    if known < total:
        texts = [f"{percent(known, total)} of costs known"]
        details[-1] = f"The cost of {total - known:,} of {total:,} requests is unknown."
    left_out = stored.left_out()
    count = sum(left_out.values())
    texts.append(f"{count:,} {'row' if count == 1 else 'rows'} left out" if count else "no row left out")
    verb = "row is" if count == 1 else "rows are"
    tables = [f"{number:,} of {table}" for table, number in left_out.items()]
    details.append(f"{count:,} {verb} left out (second verdict): {listing(tables)}." if tables else "No row is left out.")
    unusable = sentences_on_values(stored)
    if unusable:
        values = sum(unusable.values())
        texts.append(f"{values:,} {'value' if values == 1 else 'values'} not counted")
    return " · ".join(texts), [*details, *unusable], known == total and not count and not unusable


def sentences_on_values(stored: Stored) -> dict[str, int]:
    """Each sentence on values that do not count, with their number."""
    counts = {
        "total_traffic_cost": sum(row["total_traffic_cost"] < 0 for row in stored.rows("traffic")),
        "traffic_cost": sum(row["traffic_cost"] < 0 for row in stored.rows("envelopes")),
        "weight": sum(row["weight"] < 0 for row in stored.rows("activity_records")),
        "finalization_time": sum(latency_of(verdict) < timedelta(0) for verdict in stored.verdicts.values()),
    }
    sentences = {}
    for column, count in counts.items():
        problem = "before the record time" if column == "finalization_time" else "negative"
        words = ("value", "does", "it is") if count == 1 else ("values", "do", "they are")
        sentences[f"{count:,} {words[0]} of {column} {words[1]} not count, because {words[2]} {problem}."] = count
    return {sentence: count for sentence, count in sentences.items() if count}


def statements_of(report: str, sides: Sides) -> list[Statement]:
    """All statements of the head of a report."""
    subjects: dict[str, Callable[[Sides], Iterator[Statement]]] = {
        "traffic": statements_on_traffic,
        "verdicts": statements_on_verdicts,
        "activity": statements_on_activity,
        "balance": statements_on_balance,
    }
    of_report = {
        "traffic-cost": ["traffic"],
        "verdicts": ["verdicts"],
        "activity": ["activity"],
        "operations": ["balance", "traffic", "verdicts"],
        "weekly": ["traffic", "balance", "verdicts", "activity"],
    }[report]
    return [statement for subject in of_report for statement in subjects[subject](sides)]


def length_in_words(since: datetime, until: datetime) -> str:
    days, rest = divmod(until - since, timedelta(days=1))
    number, noun = (days, "day") if not rest else ((until - since) // timedelta(hours=1), "hour")
    return f"{number} {noun}s before" if number != 1 else f"{noun} before"
