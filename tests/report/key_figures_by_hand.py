"""The figures that a page opens with, made again from the files of the store by plain loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction

from .head_by_hand import decided_of, median_latency, rejected_of, weights_of
from .rewards_by_hand import coins_and_value, total_reward
from .stored import ACCEPTED, REJECTED, Stored, design_effect, interval, latency_of, percent, seconds, tenths, wilson
from .traffic_by_hand import Sides, half_up, money, signed_percent

KeyFigure = tuple[str, str, str, str]  # label, value, note and change
UNITS = {"GB": 10**9, "MB": 10**6, "kB": 10**3}


def key_figures_of(report: str, sides: Sides) -> Iterator[KeyFigure]:
    """What the report is about comes first."""
    if report == "verdicts":
        yield from (rejections(sides), latency(sides), waste(sides), cost(sides))
        return
    if report == "activity":
        yield from (weight(sides), rewards(sides), cost(sides), rejections(sides))
        return
    if report == "weekly":
        yield from (cost(sides), rejections(sides), latency(sides), rewards(sides))
        return
    yield from (cost(sides), waste(sides), rejections(sides), latency(sides))


def three_digits(number: int, *, down: bool) -> str:
    """Bytes in a unit of at least 1, rounded down or half up to three digits."""
    unit = next(name for name, size in UNITS.items() if number >= size)
    digits = len(str(number // UNITS[unit]))
    scaled = Fraction(number * 10 ** (3 - digits), UNITS[unit])
    whole = math.floor(scaled) if down else half_up(scaled)
    text = f"{whole / 10 ** (3 - digits):.{3 - digits}f} {unit}"
    return f"≥ {text}" if down else text


def cost(sides: Sides) -> KeyFigure:
    stored, total = sides.after, sum(sides.after.costs.values())
    has_unknown = len(stored.costs) < len(stored.ids)
    known = f"known for {percent(len(stored.costs), len(stored.ids))} of requests" if has_unknown else ""
    payers = len({verdict["submitting_participant_uid"] for verdict in stored.verdicts.values()} - {"", None})
    amount = money(total, sides.prices, down=has_unknown)
    amount = f"≥ {amount}" if amount and has_unknown else amount
    amount += f" at the network's rate of {sides.prices['rate']}" if amount and {"rate", "market"} <= {*sides.prices} else ""
    amount = amount or sides.prices.get("obstacle", "")
    note = " · ".join(filter(None, [amount, f"paid by {payers} participant{'s' * (payers != 1)}", known]))
    change = ""
    if sides.before is not None:
        coverages = [len(side.costs) / len(side.ids) for side in (sides.after, sides.before)]
        if abs(coverages[0] - coverages[1]) <= 0.01:
            earlier = sum(sides.before.costs.values())
            change = signed_percent(total - earlier, earlier)
    return "Traffic cost", three_digits(total, down=has_unknown), note, change


def weight(sides: Sides) -> KeyFigure:
    weights, change = weights_of(sides.after), ""
    if sides.before is not None:
        earlier = weights_of(sides.before).total()
        change = signed_percent(weights.total() - earlier, earlier)
    note = f"of {len(weights)} app providers"
    return "Activity weight", three_digits(weights.total(), down=False).replace(" ", " weighted "), note, change


def rewards(sides: Sides) -> KeyFigure:
    assert sides.whole is not None
    known, count, total = total_reward(sides.whole, sides.after)
    coins, _, worth = coins_and_value(total, sides.prices["market"]).partition(", worth ")
    note, change = f"{known:,} of {count:,} rounds", ""
    if sides.before is not None:
        known_before, count_before, earlier = total_reward(sides.whole, sides.before)
        if earlier and abs(known / count - known_before / count_before) <= 0.01:
            change = signed_percent(int((total - earlier) * 10**10), int(earlier * 10**10))
    return "Rewards", coins, f"{worth} · {note}" if worth else note, change


def waste(sides: Sides) -> KeyFigure:
    wasted, total = wasted_of(sides.after)
    change = ""
    if sides.before is not None:
        difference = Fraction(wasted, total) - Fraction(*wasted_of(sides.before))
        change = points_of(difference)
    note = " · ".join(filter(None, [money(wasted, sides.prices), f"{three_digits(wasted, down=False)} known"]))
    return "Wasted on rejections", percent(wasted, total), note, change


def wasted_of(stored: Stored) -> tuple[int, int]:
    """The cost of rejected requests, and of all."""
    return stored.cost_of(name for name in stored.costs if stored.result(name) == REJECTED), sum(stored.costs.values())


def rejections(sides: Sides) -> KeyFigure:
    decided = decided_of(sides.after)
    rejected = len(rejected_of(decided))
    value = percent(rejected, len(decided)) if len(decided) >= 100 else f"{half_up(Fraction(100 * rejected, len(decided)))} %"
    change = ""
    if sides.before is not None:
        earlier = decided_of(sides.before)
        difference = Fraction(rejected, len(decided)) - Fraction(len(rejected_of(earlier)), len(earlier))
        change = points_of(difference)
    return "Rejected", value, f"{rejected:,} of {len(decided):,} decided", change


def has_clear_change(sides: Sides) -> bool:
    """Whether the interval of the change of the rejections leaves 0 out."""
    if sides.before is None:
        return False
    both = [decided_of(side) for side in (sides.before, sides.after)]
    effect = max(map(design_effect, both))
    counts = [(len(rejected_of(decided)), len(decided)) for decided in both]
    (p1, l1, u1), (p2, l2, u2) = ((x / n, *wilson(x / effect, n / effect)) for x, n in counts)
    return p2 - p1 - math.hypot(p2 - l2, u1 - p1) > 0 or p2 - p1 + math.hypot(u2 - p2, p1 - l1) < 0


def has_clear_median(sides: Sides) -> bool:
    """Whether the intervals of the two medians exclude each other."""
    if sides.before is None:
        return False
    before, after = (interval(sorted(accepted_latencies(side)), 50) for side in (sides.before, sides.after))
    return before is not None and after is not None and (before[1] < after[0] or after[1] < before[0])


def latency(sides: Sides) -> KeyFigure:
    accepted = sorted(accepted_latencies(sides.after))
    p95 = accepted[math.ceil(Fraction(95, 100) * len(accepted)) - 1]
    change = ""
    if sides.before is not None:
        now, earlier = (medians(side) for side in (sides.after, sides.before))
        change = signed_percent(now - earlier, earlier)
    return "Latency, median", f"{median_latency(sides.after)} s", f"95 % within {seconds(p95)} s", change


def accepted_latencies(stored: Stored) -> list[timedelta]:
    latencies = [latency_of(verdict) for verdict in stored.verdicts.values() if verdict["verdict_result"] == ACCEPTED]
    return [latency for latency in latencies if latency >= timedelta(0)]


def medians(stored: Stored) -> int:
    latencies = sorted(accepted_latencies(stored))
    return latencies[(len(latencies) - 1) // 2] // timedelta(microseconds=1)


def points_of(difference: Fraction) -> str:
    sign, number = "−" if difference < 0 else "+", half_up(abs(difference) * 1000)
    return f"less than {sign}0.1 points" if difference and not number else f"{sign}{tenths(number)} points"
