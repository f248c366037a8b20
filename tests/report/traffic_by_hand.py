"""Kinds of request, and the statements on their cost and its change, made again by plain loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from .stored import Stored, least_size_of, middle, percent, shortened, size_of, tenths, weight_of

Kind = tuple[str, str | None, str | None, str | None]
Statement = tuple[str, str, list[str]]


@dataclass(frozen=True)
class Sides:
    """A window, the one before (None if the history begins after it), and the length of both in words."""

    after: Stored
    before: Stored | None
    name: str
    prices: dict[str, str]
    whole: Stored | None = None  # the history from the start of the network on


# -- numbers as text ----------------------------------------------------------------------------------------------------


def half_up(value: Fraction) -> int:
    magnitude = math.floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


def signed(number: int) -> str:
    return f"{number:+,}".replace("-", "−")


def signed_size(number: int) -> str:
    return f"{'−' if number < 0 else '+'}{size_of(abs(number))}"


def signed_weight(number: int) -> str:
    return f"{'−' if number < 0 else '+'}{weight_of(abs(number))}"


def signed_percent(change: int, before: int) -> str:
    text, sign = percent(abs(change), before), "+" if change >= 0 else "−"
    if text.startswith("<"):
        return f"less than {sign}{text[2:]}"
    return f"more than {sign}{text[2:]}" if text.startswith(">") else f"{sign}{text}"


def rate(hits: int, trials: int) -> str:
    text = percent(hits, trials) if trials >= 100 else f"{half_up(Fraction(100 * hits, trials))} %"
    return f"{text} ({hits:,} of {trials:,})"


def points(value: float) -> str:
    return f"{tenths(half_up(Fraction(repr(value)) * 1000))} points"


def cents(amount: Fraction) -> int:
    return round(amount * 100)  # half to even


def in_cents(number: int) -> str:
    return f"{Decimal(number).scaleb(-2):,}"


def whole_cents(amount: Fraction) -> int:
    return math.floor(amount * 100)


def money(number: int, prices: dict[str, str], *, down: bool = False) -> str:
    """Traffic at the list price in currency, and that in coin at the rate of the network, empty without prices."""
    whole: Callable[[Fraction], int] = whole_cents if down else cents
    if not prices.get("price"):
        return ""
    currency = whole(Fraction(number, 10**6) * Fraction(prices["price"].split()[0]))
    if not prices.get("rate"):
        return f"{in_cents(currency)} USD"
    coin = whole(Fraction(currency, 100) / Fraction(prices["rate"].split()[0]))
    return f"{in_cents(currency)} USD or {in_cents(coin)} coin"


def listing(texts: list[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


# -- kinds of request ---------------------------------------------------------------------------------------------------


@cache
def kinds_of(stored: Stored) -> dict[str, Kind]:
    """Kind, package, template and choice of each request."""
    updates = {row["update_id"]: row["kind"] for row in stored.rows("updates")}
    roots = first_roots(stored)
    kinds: dict[str, Kind] = {}
    for update_id in stored.ids:
        root = roots.get(update_id, {})
        names = (root.get("package_name"), root.get("template_name"), root.get("choice"))
        kinds[update_id] = (updates.get(update_id, "not visible"), *names)
    return kinds


@cache
def first_roots(stored: Stored) -> dict[str, dict[str, Any]]:
    roots: dict[str, dict[str, Any]] = {}
    for node in stored.rows("tree_events"):
        root = roots.get(node["update_id"])
        if node["depth"] == 0 and (root is None or node["node_index"] < root["node_index"]):
            roots[node["update_id"]] = node
    return roots


def kind_name(kind: Kind) -> str:
    if kind[3]:
        return kind[3]
    if kind[1]:
        return f"{str(kind[2]).rpartition(':')[2]} (create)"
    return "Reassignments" if kind[0] == "reassignment" else "Requests that are not visible (rejected or private)"


def costs_by(stored: Stored, name_of: Callable[[str], Any]) -> dict[Any, list[int]]:
    """The known costs of each group, also of one without any."""
    groups: dict[Any, list[int]] = {}
    for update_id in stored.ids:
        costs = groups.setdefault(name_of(update_id), [])
        if update_id in stored.costs:
            costs.append(stored.costs[update_id])
    return groups


def costs_by_kind(stored: Stored) -> dict[Kind, list[int]]:
    return costs_by(stored, kinds_of(stored).__getitem__)


def costs_by_payer(stored: Stored) -> dict[str | None, list[int]]:
    return costs_by(stored, lambda update_id: stored.verdicts.get(update_id, {}).get("submitting_participant_uid"))


# -- traffic --------------------------------------------------------------------------------------------------------------


def statements_on_traffic(sides: Sides) -> Iterator[Statement]:
    stored = sides.after
    total, known, count = sum(stored.costs.values()), len(stored.costs), len(stored.ids)
    price = money(total, sides.prices)
    size = size_of(total) if known == count else least_size_of(total)
    priced = f"{size}, which is {price} {basis(sides)}" if price else size
    share = f"The cost of {percent(known, count)} of the {count:,} requests is known."
    text = f"{priced} for {count:,} requests." if known == count else f"At least {priced}. {share}"
    yield "Traffic cost", text, []
    yield "Change of the known cost", *change_of_cost(sides, total)
    kind, costs = max(costs_by_kind(stored).items(), key=lambda each: sum(each[1]))
    payer, paid = max(costs_by_payer(stored).items(), key=lambda each: sum(each[1]))
    highest = f"{kind_name(kind)}: {percent(sum(costs), total)} of the known cost."
    yield "Highest cost", f"{highest} Participant {shortened(str(payer))} paid {percent(sum(paid), total)} of the known cost.", []


def basis(sides: Sides) -> str:
    prices = sides.prices
    if not prices.get("price"):
        return ""
    rate = f" and the network's rate of {prices['rate']}" if prices.get("rate") else ""
    return f"at the list price of {prices['price']}{rate}"


def change_of_cost(sides: Sides, total: int) -> tuple[str, list[str]]:
    if sides.before is None:
        return f"Not compared, because only 0 % of the {sides.name} is final and in the history.", []
    before = sum(sides.before.costs.values())
    change = total - before
    size = ", ".join(filter(None, (signed_percent(change, before), money(abs(change), sides.prices))))
    text = f"{signed_size(change)} ({size}) against the {sides.name}."
    shares = [(len(side.costs), len(side.ids)) for side in (sides.after, sides.before)]
    if abs(Fraction(*shares[0]) - Fraction(*shares[1])) > Fraction(1, 100):
        known = [percent(*share) for share in shares]
        return text, [
            f"A part of it comes from coverage, so no reason is given: {known[0]} of the costs are known, {known[1]} before."
        ]
    return text, [
        parts_of_change(sides.before, sides.after),
        *judgments(sides.before, sides.after),
        *kinds_that_moved(sides.before, sides.after),
        payers_that_moved(sides),
    ]


def parts_of_change(before: Stored, after: Stored) -> str:
    """Volume, price and mix of the kinds on both sides, rounded together, and the kinds of one side."""
    first, second = ({kind: costs for kind, costs in costs_by_kind(side).items() if costs} for side in (before, after))
    both = first.keys() & second.keys()
    n0, n1 = (sum(len(side[kind]) for kind in both) for side in (first, second))
    t0, t1 = (sum(sum(side[kind]) for kind in both) for side in (first, second))
    volume = Fraction((n1 - n0) * t0, n0)
    price = sum(
        (sum(second[kind]) - Fraction(len(second[kind]) * sum(first[kind]), len(first[kind])) for kind in both), Fraction(0)
    )
    exact = [volume, price, t1 - t0 - volume - price]
    rounded = [math.floor(part) for part in exact]
    by_remainder = sorted(range(3), key=lambda part: rounded[part] - exact[part])
    for part in by_remainder[: t1 - t0 - sum(rounded)]:
        rounded[part] += 1
    new = sum(sum(costs) for kind, costs in second.items() if kind not in both)
    gone = -sum(sum(costs) for kind, costs in first.items() if kind not in both)
    names = [
        "more requests of the same kinds" if rounded[0] > 0 else "fewer requests of the same kinds",
        "other costs within the kinds",
        "another mix of kinds",
        "new kinds",
        "kinds that no longer occur",
    ]
    parts = [f"{signed(part)} from {name}" for part, name in zip([*rounded, new, gone], names, strict=True) if part]
    return f"In bytes, it is made up of {listing(parts)}."


def movers(
    changes: dict[Any, int], count: int, noun: str, to_text: Callable[[int], str] = signed_size
) -> tuple[list[tuple[Any, int]], list[str]]:
    """The largest changes with the largest rise and fall, and a sentence on the rest."""
    moved = sorted(((name, number) for name, number in changes.items() if number), key=lambda each: (-abs(each[1]), each[0]))
    named, others = moved[:count], moved[count:]
    for is_sought in (lambda number: number > 0, lambda number: number < 0):
        if not any(is_sought(number) for _, number in named):
            found = next((each for each in others if is_sought(each[1])), None)
            if found:
                named.append(found)
                others.remove(found)
    if not others:
        return named, []
    nouns, together = (noun, "") if len(others) == 1 else (f"{noun}s", " together")
    return named, [f"{len(others):,} other {nouns}: {to_text(sum(number for _, number in others))}{together}."]


def kinds_that_moved(before: Stored, after: Stored) -> Iterator[str]:
    first, second = costs_by_kind(before), costs_by_kind(after)
    changes = {kind: sum(second.get(kind, [])) - sum(first.get(kind, [])) for kind in first | second}
    named, rest = movers(changes, 3, "kind")
    old, current = packages(before), packages(after)
    kinds = [(side, kinds_of(side)) for side in (before, after)]
    unknown = {kind_of[each] for side, kind_of in kinds for each in side.ids if each not in side.costs}
    for kind, number in named:
        yield f"{kind_name(kind)}: {signed_size(number)}, {reason(kind, first, second, old, current, kind in unknown)}."
    yield from rest


def judgments(before: Stored, after: Stored) -> Iterator[str]:
    first, second = costs_by_kind(before), costs_by_kind(after)
    found = Counter(verdict_of(kind, first, second)[0] for kind in first | second)
    dearer, cheaper = found["dearer"], found["cheaper"]
    judged = dearer + cheaper + found["no clear change"]
    if judged:
        subject = f"Of {judged:,} {'kind' if judged == 1 else 'kinds'} with enough requests,"
        some = f"{dearer:,} {'is' if dearer == 1 else 'are'} clearly dearer and {cheaper:,} cheaper"
        yield f"{subject} {some if dearer or cheaper else 'none is clearly dearer or cheaper'}."


def verdict_of(kind: Kind, before: Any, after: Any) -> tuple[str, int, int]:
    """More expensive, cheaper, no clear change, too few, new or gone, with the interval of the median's difference.

    Both hold for all kinds with enough requests together.
    """
    if kind not in before or kind not in after:
        return "gone" if kind in before else "new", 0, 0
    judged = [each for each in before.keys() & after.keys() if min(len(before[each]), len(after[each])) >= 30]
    if kind not in judged:
        return "too few", 0, 0
    first, second = sorted(before[kind]), sorted(after[kind])
    low, high = bootstrap(first, second, 0.025 / len(judged))
    return "dearer" if low > 0 else "cheaper" if high < 0 else "no clear change", low, high


def reason(kind: Kind, first: Any, second: Any, old: Any, current: Any, has_unknown: bool) -> str:
    verdict, low, high = verdict_of(kind, first, second)
    if verdict in ("new", "gone"):
        return "a new kind" if verdict == "new" else "a kind that no longer occurs"
    noun = "request" if len(second[kind]) == 1 else "requests"
    with_cost = " with a known cost" if has_unknown else ""
    counts = f"{len(second[kind]):,} {noun}{with_cost} ({len(first[kind]):,} before)"
    if verdict in ("too few", "no clear change"):
        return counts
    medians = [middle(side[kind]) for side in (first, second)]
    size = signed_percent(medians[1] - medians[0], medians[0])
    new = sorted(current[kind] - old[kind]) if old[kind] else []
    package = f", with the new package {new[0][:8]}" if new else ""
    return f"{counts}, median cost {size} ({signed(low)} to {signed(high)} bytes){package}"


def packages(stored: Stored) -> dict[Kind, set[str]]:
    roots, found = first_roots(stored), {}
    for update_id, kind in kinds_of(stored).items():
        ids = found.setdefault(kind, set())
        if update_id in roots and roots[update_id]["package_id"]:
            ids.add(roots[update_id]["package_id"])
    return found


def bootstrap(first: list[int], second: list[int], tail: float) -> tuple[int, int]:
    """Ends of the interval of the difference of medians, with infinitely many resamples of both sides."""

    def weights(n: int) -> list[float]:
        """Chance of each rank to be the median of a resample, from the binomial distribution."""
        k = (n + 1) // 2
        tails = [sum(math.comb(n, j) * (i / n) ** j * (1 - i / n) ** (n - j) for j in range(k, n + 1)) for i in range(n + 1)]
        return [tails[i + 1] - tails[i] for i in range(n)]

    pairs: Counter[int] = Counter()
    for x, a in zip(first, weights(len(first)), strict=True):
        for y, b in zip(second, weights(len(second)), strict=True):
            pairs[y - x] += a * b  # type: ignore[assignment]
    ends, reached = [], 0.0
    for difference in sorted(pairs):
        reached += pairs[difference]
        while len(ends) < 2 and reached >= (tail, 1 - tail)[len(ends)] - 1e-12:
            ends.append(difference)
    return ends[0], ends[1]


def payers_that_moved(sides: Sides) -> str:
    assert sides.before is not None
    first, second = costs_by_payer(sides.before), costs_by_payer(sides.after)
    names = {str(name) if name else "Requests without a known participant" for name in first | second}
    changes = {name: sum(second.get(name, [])) - sum(first.get(name, [])) for name in names}
    unknown = sum(second.get(None, [])) - sum(first.get(None, []))
    changes |= {"Requests without a known participant": unknown} if None in first | second else {}
    named, rest = movers(changes, 2, "participant")
    names = {name: name if name.startswith("Requests ") else f"Participant {shortened(name)}" for name, _ in named}
    return " ".join([*(f"{names[name]}: {signed_size(number)}." for name, number in named), *rest])
