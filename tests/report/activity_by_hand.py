"""Sentences of the report on activity, made again from the files of the store by plain loops."""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime, timedelta
from fractions import Fraction

from .head_by_hand import leaders, weights_of
from .rewards_by_hand import computed_burns, executed_roots, expected_roots, rewards_of, rewards_sentence
from .stored import Stored, percent, shortened, tenths, weight_of
from .traffic_by_hand import Sides, half_up


def sentences_on_activity(sides: Sides) -> list[str]:
    assert sides.whole is not None
    stored, whole = sides.after, sides.whole
    weights = weights_of(stored)
    total, leader = weights.total(), leaders(weights)[0]
    _, rewards = rewards_of(whole, stored)
    paid = [reward.is_paid for parties in rewards.values() for reward in parties.values()]
    below = (
        f"{paid.count(False):,} of {len(paid):,} rewards of a provider in a round were below the threshold, and were not paid."
    )
    largest = f"{shortened(leader)} has the highest, {percent(weights[leader], total)} of it."
    return [
        f"{len(weights):,} app providers earned a weight of {weight_of(total)}. {largest}",
        sentence_on_the_leader(stored, leader),
        sentence_on_concentration(weights),
        sentence_on_records(whole, stored),
        rewards_sentence(whole, stored, ""),
        below,
        sentence_on_proofs(whole, stored),
        sentence_without_factors(whole, stored),
    ]


def sentence_on_the_leader(stored: Stored, leader: str) -> str:
    days: Counter[datetime] = Counter()
    of_leader: Counter[datetime] = Counter()
    for row in stored.rows("activity_records"):
        day = row["record_time"].replace(hour=0, minute=0, second=0, microsecond=0)
        days[day] += row["weight"]
        of_leader[day] += row["weight"] if row["party"] == leader else 0
    whole = [day for day in days if stored.since <= day and day + timedelta(days=1) <= stored.until]
    shares = sorted((Fraction(of_leader[day], days[day]), day) for day in whole if of_leader[day])
    if not whole:
        return "This window has no whole period."
    if not shares:
        return "The largest app provider has no record in a whole period of this window."
    texts = [f"{percent(share.numerator, share.denominator)} ({day:%A %Y-%m-%d})" for share, day in (shares[0], shares[-1])]
    share = shares[0][0]
    is_constant = share == shares[-1][0]
    ends = f"was {percent(share.numerator, share.denominator)}" if is_constant else f"was between {texts[0]} and {texts[1]}"
    if len(whole) == 1:
        return f"The share of {shortened(leader)} {ends} in the only whole period."
    return f"The share of {shortened(leader)} {ends}, with weight in {len(shares):,} of {len(whole):,} whole periods."


def sentence_on_concentration(weights: Counter[str]) -> str:
    values = sorted(filter(None, weights.values()), reverse=True)
    number = min(3, len(values))
    leading = [value for value in values if value >= values[number - 1]]
    text = f"The {number} largest of {len(values):,} app providers have {percent(sum(leading), sum(values))} of the total."
    if len(values) < 10:
        return text
    gini = Fraction(sum((2 * i - len(values) - 1) * x for i, x in enumerate(reversed(values), 1)), len(values) * sum(values))
    return f"{text} The Gini coefficient is {float(gini):.2f}."


def sentence_on_records(whole: Stored, stored: Stored) -> str:
    published = {(row["update_id"], row["party"]): row["weight"] for row in stored.rows("activity_records")}
    computed = {key: math.floor(burn * factor) for key, (burn, factor) in computed_burns(whole, stored).items()}
    assert published == computed, "a mismatch needs other words"
    return f"{len(published):,} weights are equal to the byte. Mismatches: none."


def sentence_on_proofs(whole: Stored, stored: Stored) -> str:
    roots = executed_roots(stored)
    proven = sum(roots.get(number) == root for number, root in expected_roots(whole, stored).items())
    return f"The rewards of {proven:,} rounds follow from the records to the last hash. None differs."


def sentence_without_factors(whole: Stored, stored: Stored) -> str:
    """All factors of providers with a record are 1 afterwards."""
    sides: list[Counter[str]] = [Counter(), Counter()]
    for (_, party), (burn, factor) in computed_burns(whole, stored).items():
        sides[0][party] += math.floor(burn * factor)
        sides[1][party] += burn
    before, after = ({party: Fraction(side[party], side.total()) for party in side} for side in sides)
    changes = {party: after[party] - before[party] for party in sorted(after, key=lambda party: (-sides[1][party], party))}
    gain, loss = max(changes, key=changes.__getitem__), min(changes, key=changes.__getitem__)
    rise, fall = (f"{tenths(half_up(number * 1000))} points" for number in (changes[gain], -changes[loss]))
    return f"The share of {shortened(gain)} would rise by {rise}, and that of {shortened(loss)} would fall by {fall}."
