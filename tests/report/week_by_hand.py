"""Sentences of the reports on operations and the week, made again from the files of the store by plain loops."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from .answers_by_hand import (
    sentence_on_groups,
    sentence_on_history,
    sentence_on_payers,
    sentence_on_periods,
    sentence_on_the_forecast,
    sentence_on_the_most_expensive,
)
from .groups_by_hand import rates_by_day
from .head_by_hand import decided_of, leaders, weights_of
from .operations_by_hand import sentence_on_budgets, sentence_on_delays, sentence_on_slow_parties
from .rewards_by_hand import rewards_sentence
from .stored import REJECTED, Stored, middle, percent, shortened, size_of, weight_of
from .traffic_by_hand import Sides, cents, costs_by_kind, costs_by_payer, in_cents, kind_name, verdict_of

DAY = timedelta(days=1)


def sentences_on_operations(sides: Sides, weeks: Stored) -> list[str]:
    """`weeks` has the weeks before the window, as far as the network existed."""
    stored = sides.after
    payers = {name: sum(costs) for name, costs in costs_by_payer(stored).items() if name}
    payer = max(payers, key=payers.__getitem__)
    assert stored.begin > stored.until - timedelta(weeks=5), "a forecast needs other words"
    needed = f"A runway needs 4 whole weeks before {stored.until:%Y-%m-%d %H:%M}, and these frames hold 0. Load a longer window."
    burned = f"Participant {shortened(payer)} burned {size_of(payers[payer])} of known cost in this window."
    wasted = stored.cost_of(name for name in stored.ids if stored.result(name) == REJECTED)
    share = percent(wasted, sum(stored.costs.values()))
    return [
        f"{burned} No forecast. {needed}",
        f"Rejected requests have a known cost of {size_of(wasted)}, {share} of the known cost.",
        sentence_on_history(stored),
        sentence_on_delays(stored),
        sentence_on_slow_parties(stored),
        sentence_on_the_most_expensive(stored, sum(stored.costs.values())),
        sentence_on_budgets(stored, weeks),
    ]


def sentences_on_the_week(sides: Sides) -> list[str]:
    stored = sides.after
    weeks = (stored.since - stored.begin).days // 7
    assert weeks < 4, "with a history, the sentence says how much was compared"
    history = f"Too little history: 4 whole weeks before the window are needed, {max(weeks, 0)} are here."
    assert sides.whole is not None
    return [
        f"{history} Only what needs no history was looked at: nothing unusual.",
        sentence_on_kinds(sides),
        sentence_on_periods(stored, DAY),
        sentence_on_the_most_expensive(stored, sum(stored.costs.values())),
        sentence_on_payers(stored, sum(stored.costs.values())),
        sentence_on_the_forecast(stored),
        sentence_on_groups(rates_by_day(decided_of(stored)), 1, "periods"),
        sentence_on_history(stored),
        sentence_on_providers(stored),
        rewards_sentence(sides.whole, stored, ""),
        sentence_on_the_bill(sides),
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
        texts.append(f"{kind_name(kind)} +{percent(after - before, before)}")
    counts = Counter(verdicts.values())
    listed = f" ({', '.join(texts)})" if texts else ""
    names = {"no clear change": "without a clear change", "too few": "with too few requests", "new": "new", "gone": "gone"}
    unclear = [f"{counts[judgment]:,} {name}" for judgment, name in names.items() if judgment in counts]
    other = ", ".join([f"{counts['cheaper']:,} cheaper", *unclear])
    most = max(changes, key=lambda kind: abs(changes[kind]))
    sign, after = "−" if changes[most] < 0 else "+", len(second.get(most, []))
    counted = f"{after:,} request{'s' * (after != 1)} with a known cost, {len(first.get(most, [])):,} before"
    largest = f"Largest change: {kind_name(most)}, {sign}{size_of(abs(changes[most]))} ({counted})."
    if not dearer and not counts["cheaper"]:
        return f"{largest} No kind of request is clearly dearer or cheaper: {', '.join(unclear)}."
    return f"{largest} Kinds of request: {len(dearer):,} dearer{listed}, {other}."


def sentence_on_providers(stored: Stored) -> str:
    weights = weights_of(stored)
    leader = leaders(weights)[0]
    highest = f"{shortened(leader)} has the highest, {percent(weights[leader], weights.total())} of it."
    return f"{len(weights):,} app providers earned a weight of {weight_of(weights.total())}. {highest}"


def sentence_on_the_bill(sides: Sides) -> str:
    """The lines add up to the total, which is rounded once."""
    total, price = sum(sides.after.costs.values()), Fraction(sides.prices["price"].split()[0])
    exact = Fraction(total, 10**6) * price
    currency = cents(exact)
    change = Fraction(currency, 100) - exact
    lines = len(costs_by_payer(sides.after))
    coin = cents(Fraction(currency, 100) / Fraction(sides.prices["rate"].split()[0]))
    rounding = f"{Decimal(change.numerator) / Decimal(change.denominator):+.4f} USD".replace("-", "−")
    known = "" if sides.after.costs.keys() >= set(sides.after.ids) else ", for the costs that are known"
    text = f"{lines:,} lines add up to {in_cents(currency)} USD, or {in_cents(coin)} coin{known}."
    return f"{text} Rounding changed the total by {rounding}."
