"""Published weights of rounds against those that follow from requests."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from ledgerframes.analysis.activity.published_weights import reconcile
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.reconcile._reward_links import DIFFERS, EQUAL, NOT_PUBLIC, PARTIAL, UNKNOWN, Link
from ledgerframes.analysis.reconcile._reward_rounds import APP, RewardRound
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames

NO_STATE = "rights and super validators before the frames are not known"
EXCUSES = ("boundary", "provisional", "record withheld")  # mismatches that are no faults of the records
Weights = dict[str, int]


@dataclass(frozen=True)
class WeightCheck:
    """Faulty records by round, or that nobody can tell.

    Attributes
    ----------
    is_known : bool
        Whether the state of the network is known.
    computed : dict
        Weight of each party in the rounds with a fault, with our own weight of each faulty record.
    """

    is_known: bool
    computed: dict[int, Weights] = field(default_factory=dict)

    def options(self, each: RewardRound) -> list[Weights]:
        """Return the published weights of a round, and the computed ones if they differ."""
        if each.weights is None or each.kind != APP:
            return []
        return [each.weights, *([self.computed[each.number]] if each.number in self.computed else [])]

    def faulty_parties(self, each: RewardRound) -> list[str]:
        """Return the parties whose published weight differs."""
        published, *computed = self.options(each) or [{}]
        return [party for own in computed for party in sorted({*published, *own}) if published.get(party, 0) != own.get(party, 0)]

    def link(self, each: RewardRound) -> Link:
        """Return the link of the weights of a round."""
        if each.kind != APP:
            return Link(UNKNOWN, NOT_PUBLIC)
        if each.weights is None or not self.is_known:
            return Link(UNKNOWN, PARTIAL if each.weights is None else NO_STATE)
        total = str(sum(each.weights.values()))
        if each.number not in self.computed:
            return Link(EQUAL, None, total, total)
        expected = str(sum(self.computed[each.number].values()))
        return Link(DIFFERS, None, expected, total, None, next(iter(self.faulty_parties(each)), None))


def check_weights(
    frames: Frames,
    featured: pd.DataFrame | None,
    sv_participants: pd.DataFrame | None,
    rounds: pd.DataFrame | None,
    base: Snapshot | None,
) -> WeightCheck:
    """Return the rounds whose published weights do not follow from requests."""
    try:
        rows = reconcile(frames, featured=featured, sv_participants=sv_participants, rounds=rounds, base=base)
    except CoverageError:
        return WeightCheck(is_known=False)
    is_fault = (rows["outcome"] != "equal") & ~rows["reason"].isin(EXCUSES)
    faulty = rows[rows["round_number"].isin(rows["round_number"][is_fault].dropna())]
    weight = faulty["weight_computed"].where(is_fault[faulty.index], faulty["weight_published"]).fillna(0)
    computed: dict[int, Weights] = {}
    for number, party, value in zip(faulty["round_number"], faulty["party"], weight, strict=True):
        of_round = computed.setdefault(int(number), {})
        of_round[party] = of_round.get(party, 0) + int(value)
    return WeightCheck(is_known=True, computed={number: _positive(of_round) for number, of_round in computed.items()})


def _positive(weights: Weights) -> Weights:
    """Return weights without parties that only have faulty records."""
    return {party: weight for party, weight in weights.items() if weight}
