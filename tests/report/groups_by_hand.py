"""Rates of groups, each against all others together, made again by plain loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .stored import REJECTED, Row, design_effect


@dataclass(frozen=True)
class GroupRates:
    """Rejected and decided requests of each group, and which groups differ from the others."""

    hits: Counter[str]
    trials: Counter[str]
    judged: tuple[str, ...]
    differing: tuple[str, ...]  # the clearest first

    def is_higher(self, name: str) -> bool:
        return self.hits[name] * self.trials.total() > self.hits.total() * self.trials[name]


def rates_by(decided: list[Row], name_of: Callable[[Row], str]) -> GroupRates:
    """Each group against all others together, by Holm at 5 %."""
    trials = Counter(map(name_of, decided))
    hits = Counter(name_of(verdict) for verdict in decided if verdict["verdict_result"] == REJECTED)
    effect, all_trials, all_hits = design_effect(decided), trials.total(), hits.total()
    rate = all_hits / all_trials
    scores = {}
    for name, n in trials.items():
        rest = all_trials - n
        if min(n, rest) * min(rate, 1 - rate) / effect >= 5:
            variance = effect * rate * (1 - rate)
            score = (hits[name] / n - (all_hits - hits[name]) / rest) / math.sqrt(variance * (1 / n + 1 / rest))
            skewness = (1 - 2 * rate) * math.sqrt(effect / (n * rate * (1 - rate))) * (1 - n / all_trials) ** 1.5
            scores[name] = score - (score * score - 1) * skewness / 6
    differing = []
    for position, name in enumerate(sorted(scores, key=lambda name: -abs(scores[name]))):
        if math.erfc(abs(scores[name]) / math.sqrt(2)) * (len(scores) - position) > 0.05:
            break
        differing.append(name)
    return GroupRates(hits, trials, tuple(scores), tuple(differing))


def rates_by_participant(decided: list[Row]) -> GroupRates:
    return rates_by(decided, lambda verdict: str(verdict["submitting_participant_uid"]))


def rates_by_hour(decided: list[Row]) -> GroupRates:
    return rates_by(decided, lambda verdict: f"{verdict['record_time']:%H}:00")


def rates_by_day(decided: list[Row]) -> GroupRates:
    def day_of(verdict: Row) -> str:
        time: datetime = verdict["record_time"]
        return f"{time:%A %Y-%m-%d}"

    return rates_by(decided, day_of)
