"""Sentences of answers to single questions, made again from the files of the store by plain loops."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta

from .groups_by_hand import GroupRates
from .operations_by_hand import SIZES, confirmers_of
from .stored import ACCEPTED, REJECTED, Row, Stored, latency_of, middle, percent, seconds, shortened, size_of
from .traffic_by_hand import costs_by_kind, costs_by_payer, kinds_of

LEAST_OF_KIND = 6  # requests, for a median of their kind
TOP = 15  # rows that a report shows by default


def times_of(stored: Stored) -> dict[str, datetime]:
    return {row["update_id"]: row["record_time"] for table in ("updates", "traffic", "verdicts") for row in stored.rows(table)}


def sentence_on_periods(stored: Stored, length: timedelta) -> str:
    costs: Counter[datetime] = Counter()
    times, periods = times_of(stored), stored.since.replace(hour=0, minute=0)  # of which the window can cut the first
    for update_id, cost in stored.costs.items():
        costs[periods + (times[update_id] - periods) // length * length] += cost
    start, highest = min(costs.items(), key=lambda item: (-item[1], item[0]))
    number, share = -(-(stored.until - periods) // length) - (stored.since - periods) // length, percent(highest, costs.total())
    if number == 1:
        return f"The only period has a known cost of {size_of(highest)}."
    cost = f"{size_of(highest)}, {share} of the known cost"
    if length == timedelta(days=1):
        return f"Of {number:,} days, {start:%A %Y-%m-%d} has the highest cost: {cost}."
    return f"Of {number:,} periods, the one that starts at {start:%Y-%m-%d %H:%M} UTC has the highest cost: {cost}."


def sentence_on_payers(stored: Stored, total: int) -> str:
    spent: Counter[str] = Counter()
    for update_id, verdict in stored.verdicts.items():
        spent[verdict["submitting_participant_uid"]] += stored.costs.get(update_id, 0)
    share = percent(sum(sorted(spent.values(), reverse=True)[:5]), total)
    unknown = len(stored.ids) - len(stored.verdicts)
    note = f" The participant of {unknown:,} requests without a verdict is unknown." if unknown else ""
    return (
        f"{len(spent):,} participants submitted requests. The five with the highest cost account for {share} of the known cost."
        f"{note}"
    )


def sentence_on_parties(stored: Stored, total: int) -> str:
    """A request counts in full for each of its parties."""
    costs: Counter[str] = Counter()
    for update_id, verdict in stored.verdicts.items():
        for party in set(verdict["submitting_parties"]):
            costs[party] += stored.costs.get(update_id, 0)
    return f"{len(costs):,} parties. {largest_of(max(costs.values()), total)}"


def sentence_on_views(stored: Stored) -> str:
    """An envelope belongs to its lowest view."""
    kinds = kinds_of(stored)
    costs = Counter(dict.fromkeys(((*kinds[row["update_id"]], row["view_id"]) for row in stored.rows("views")), 0))
    for row in stored.rows("envelopes"):
        if row["view_ids"]:
            known = row["update_id"] in stored.costs and row["traffic_cost"] >= 0
            costs[*kinds[row["update_id"]], min(row["view_ids"])] += row["traffic_cost"] if known else 0
    return f"{len(costs):,} views by kind. {largest_of(max(costs.values()), costs.total(), ' of envelopes with views')}"


def largest_of(cost: int, total: int, whole: str = "") -> str:
    return f"The one with the highest cost accounts for {percent(cost, total)} of the known cost{whole}."


def sentence_on_the_most_expensive(stored: Stored, total: int) -> str:
    """The cost of the request, and the numbers that explain it."""
    name = max(stored.costs, key=stored.costs.__getitem__)
    cost, kind = stored.costs[name], kinds_of(stored)[name]
    of_kind = costs_by_kind(stored)[kind]
    envelopes = envelopes_of(stored, name)
    sizes = {
        "view": stored.verdicts[name]["view_count"],
        "confirmer": len(confirmers_of(stored)[name]),
        "envelope": len(envelopes),
    }
    reasons = [
        f"{cost / middle(of_kind):,.1f} times the median of {len(of_kind):,} requests of its kind",
        ", ".join(f"{number:,} {noun}{'s' * (number != 1)}" for noun, number in sizes.items()),
        f"the largest envelope has {percent(max(envelopes), cost)}",
    ]
    reasons = reasons if len(of_kind) >= LEAST_OF_KIND else reasons[1:]
    rejected = ["rejected"] if stored.result(name) == REJECTED else []
    why = "; ".join([*reasons, *rejected])
    return f"The most expensive request cost {size_of(cost)}, {percent(cost, total)} of the known cost: {why}."


def envelopes_of(stored: Stored, name: str) -> list[int]:
    rows = [row for row in stored.rows("envelopes") if row["update_id"] == name]
    return [row["traffic_cost"] for row in rows if row["traffic_cost"] >= 0]


def sentences_on_envelopes(stored: Stored) -> list[str]:
    """The most expensive request, and the one with the most views of the others in the table."""
    first, *others = sorted(stored.costs, key=stored.costs.__getitem__, reverse=True)[:TOP]
    widest = max(others, key=lambda name: stored.verdicts[name]["view_count"])
    return [sentence_on_envelopes(envelopes_of(stored, name)) for name in (first, widest)]


def sentence_on_envelopes(costs: list[int]) -> str:
    share = percent(max(costs), sum(costs))
    return f"{len(costs):,} envelopes cost {size_of(sum(costs))}. The largest cost {size_of(max(costs))}, {share} of it."


def sentence_on_the_forecast(stored: Stored) -> str:
    payers = {name: sum(costs) for name, costs in costs_by_payer(stored).items() if name}
    payer = max(payers, key=payers.__getitem__)
    burn = f"Participant {shortened(payer)} burned {size_of(payers[payer])} of known cost in this window."
    supposed = "Its balance is not known."
    if stored.until - stored.since < timedelta(days=1):
        return f"{burn} {supposed} No forecast. A window of less than a day suggests no balance."
    assert stored.begin > stored.until - timedelta(weeks=5), "a forecast needs other words"
    needed = f"4 whole weeks before {stored.until:%Y-%m-%d %H:%M}, and these frames hold 0"
    return f"{burn} {supposed} No forecast. A runway needs {needed}. Load a longer window."


def sentence_on_sums(stored: Stored, total: int) -> str:
    """Only the envelopes need not add up to the total."""
    rows = [row for row in stored.rows("envelopes") if row["update_id"] in stored.costs and row["traffic_cost"] >= 0]
    difference = total - sum(row["traffic_cost"] for row in rows)
    text = f"{5 + (difference == 0)} of 6 sums of parts are the total."
    has_fewer = {row["update_id"] for row in rows} != {*stored.costs}
    reason = "the envelopes of some requests are unknown" if has_fewer else "some totals are not the sum of envelopes"
    return f"{text} Not equal: envelopes, by {abs(difference):,} bytes, because {reason}." if difference else text


def sentence_on_history(stored: Stored) -> str:
    weeks = max(stored.since - stored.begin, timedelta(0)) // timedelta(weeks=1)
    assert weeks < 4, "a usual range needs other words"
    return "No period has a usual range: history is too short."


# -- verdicts -------------------------------------------------------------------------------------------------------------


def number_of_participants(stored: Stored) -> int:
    """Those of requests without a verdict are a group of their own."""
    names = {verdict["submitting_participant_uid"] for verdict in stored.verdicts.values()}
    return len(names) + (len(stored.verdicts) < len(stored.ids))


def sentence_on_groups(rates: GroupRates, number: int, noun: str) -> str:
    """Each group against all others together, by Holm."""
    if number == 1:
        return "There is nothing to compare with."
    texts = [f"{shortened(name)} ({'higher' if rates.is_higher(name) else 'lower'})" for name in sorted(rates.differing)]
    differ = "differs" if len(texts) == 1 else "differ"
    named = f"{len(texts):,} of them {differ} from the others: {', '.join(texts)}"
    ending = named if texts else "none can be told from the others"
    judged = f"{len(rates.judged):,} of {number:,} {noun} have enough requests to be judged"
    return f"{judged}, and {ending}." if rates.judged else f"{judged}."


Ends = Callable[[list[timedelta]], tuple[timedelta, timedelta] | None]  # of the interval of a median


def sentences_on_medians(stored: Stored, decided: list[Row], ends_of: Ends) -> list[str]:
    """By hour, by size and by number of confirmers, of accepted requests."""
    confirmers = confirmers_of(stored)
    names: list[Callable[[Row], object]] = [
        lambda row: row["record_time"].hour,
        lambda row: bisect_right(SIZES, stored.costs[row["update_id"]]) if row["update_id"] in stored.costs else None,
        lambda row: len(confirmers[row["update_id"]]) if row["update_id"] in confirmers else None,
    ]
    return [sentence_on_medians(decided, name_of, ends_of) for name_of in names]


def sentence_on_medians(decided: list[Row], name_of: Callable[[Row], object], ends_of: Ends) -> str:
    groups: defaultdict[object, list[timedelta]] = defaultdict(list)
    for row in decided:
        if row["verdict_result"] == ACCEPTED and latency_of(row) >= timedelta(0):
            groups[name_of(row)].append(latency_of(row))
    medians = [(middle(group), ends) for group in groups.values() if (ends := ends_of(sorted(group)))]
    if not medians:
        return "No group has enough accepted requests for a median."
    lowest, highest = min(medians)[0], max(medians)[0]
    is_chance = min(high for _, (_, high) in medians) >= max(low for _, (low, _) in medians)
    verdict = "Chance can explain the difference." if is_chance else "Not all of their intervals overlap."
    return f"The medians of {len(medians):,} groups range from {seconds(lowest)} s to {seconds(highest)} s. {verdict}"
