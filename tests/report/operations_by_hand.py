"""Sentences of the reports on operations and the week, made again from the files of the store by plain loops."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from fractions import Fraction

from .head_by_hand import decided_of, leaders, rejected_of, weights_of
from .rewards_by_hand import coins_and_value, total_reward
from .stored import ACCEPTED, REJECTED, TIMEOUT, Row, Stored, latency_of, middle, percent, seconds, shortened
from .traffic_by_hand import Sides, basis, costs_by_kind, costs_by_payer, kind_name, money, rate, verdict_of

SIZES = (0, 2_000, 5_000, 10_000, 20_000, 50_000)
SHORT_HISTORY = "Too little history for a usual range: 4 whole weeks are needed, 0 are here."
SECOND = timedelta(seconds=1)


# -- operations -----------------------------------------------------------------------------------------------------------


def sentences_on_operations(sides: Sides, weeks: Stored) -> list[str]:
    """`weeks` has the weeks before the window, as far as the network existed."""
    stored = sides.after
    payers = {name: sum(costs) for name, costs in costs_by_payer(stored).items() if name}
    payer = max(payers, key=payers.__getitem__)
    assert stored.begin > stored.until - timedelta(weeks=5), "a forecast needs other words"
    needed = f"4 whole weeks before {stored.until:%Y-%m-%d %H:%M}"
    wasted = stored.cost_of(name for name in stored.ids if stored.result(name) == REJECTED)
    return [
        f"Participant {shortened(payer)} burned {payers[payer]:,} known bytes in this window.",
        f"No forecast. A runway needs {needed}, and these frames hold 0. Load a longer window.",
        f"Rejected requests cost {wasted:,} known bytes. {SHORT_HISTORY}",
        sentence_on_delays(stored),
        sentence_on_slow_parties(stored),
        sentence_on_budgets(stored, weeks),
    ]


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
    text = f"{len(victims):,} others probably waited for them, {seconds(waited)} s in total."
    noun = "request" if len(culprits) == 1 else "requests"
    return f"{len(culprits):,} {noun} timed out. {text} Chance alone explains {float(expected):.1f} of them."


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
    exceed = "exceed the 95th percentile of the weeks before by over a tenth"
    return f"{len(worst):,} of {len(now):,} kinds with enough requests {exceed}{names}."


# -- the week -------------------------------------------------------------------------------------------------------------


def sentences_on_the_week(sides: Sides) -> list[str]:
    stored = sides.after
    payers = costs_by_payer(stored)
    three = sum(sorted((sum(costs) for costs in payers.values()), reverse=True)[:3])
    number, share = len([name for name in payers if name]), percent(three, sum(stored.costs.values()))
    decided = decided_of(stored)
    rejected = len(rejected_of(decided))
    weeks = (stored.since - stored.begin).days // 7
    assert weeks < 4, "with a history, the sentence says how much was compared"
    history = f"Too little history: 4 whole weeks before the window are needed, {max(weeks, 0)} are here."
    return [
        f"{history} Only what needs no history was looked at: nothing unusual.",
        sentence_on_kinds(sides),
        sentence_on_days(stored),
        f"{number:,} participants paid. The three with the highest cost account for {share} of it.",
        f"{rate(rejected, len(decided))} of the decided requests were rejected. No day has a usual range.",
        sentence_on_providers(stored),
        sentence_on_worth(sides),
    ]


def sentence_on_kinds(sides: Sides) -> str:
    assert sides.before is not None
    first, second = costs_by_kind(sides.before), costs_by_kind(sides.after)
    verdicts = {kind: verdict_of(kind, first, second)[0] for kind in first | second}
    changes = {kind: sum(second.get(kind, [])) - sum(first.get(kind, [])) for kind in verdicts}
    dearer = sorted((kind for kind in verdicts if verdicts[kind] == "dearer"), key=lambda kind: -abs(changes[kind]))
    texts = []
    for kind in dearer:
        before, after = (middle(side[kind]) for side in (first, second))
        texts.append(f"{kind[3] or 'create'} +{percent(after - before, before)}")
    counts = Counter(verdicts.values())
    listed = f" ({', '.join(texts)})" if texts else ""
    unclear = f"{counts['no clear change']:,} without a clear change, {counts['too few']:,} with too few requests"
    other = f"{counts['cheaper']:,} cheaper, {unclear}, {counts['new']:,} new, {counts['gone']:,} gone"
    return f"Kinds of request: {len(dearer):,} dearer{listed}, {other}."


def sentence_on_days(stored: Stored) -> str:
    """The days that the window does not cut."""
    days: Counter[datetime] = Counter()
    times = {row["update_id"]: row["record_time"] for table in ("verdicts", "updates", "traffic") for row in stored.rows(table)}
    for update_id, cost in stored.costs.items():
        day = times[update_id].replace(hour=0, minute=0, second=0, microsecond=0)
        if stored.since <= day and day + timedelta(days=1) <= stored.until:
            days[day] += cost
    if len(days) < 2:
        return "The window has one whole day with known costs, or none."
    (last, highest), (first, lowest) = days.most_common()[0], days.most_common()[-1]
    return f"The most expensive day was {last:%A} ({highest:,} bytes), the cheapest {first:%A} ({lowest:,} bytes)."


def sentence_on_providers(stored: Stored) -> str:
    weights = weights_of(stored)
    texts = [f"{shortened(party)} {percent(weights[party], weights.total())}" for party in leaders(weights)[:3]]
    return f"{len(weights):,} app providers earned a weight of {weights.total():,}. The highest: {', '.join(texts)}."


def sentence_on_worth(sides: Sides) -> str:
    assert sides.whole is not None
    total, is_part = sum(sides.after.costs.values()), len(sides.after.costs) < len(sides.after.ids)
    assert is_part, "a known total needs other words"
    traffic = f"Traffic: at least {money(total, sides.prices)}, {basis(sides)}."
    known, _, amount = total_reward(sides.whole, sides.after)
    return f"{traffic} Rewards of {known:,} rounds: {coins_and_value(amount, sides.prices['market'])}."
