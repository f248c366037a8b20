"""Published weights of rounds, compared with those that follow from requests."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.activity.reconciliation import weights_without_faults
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.reconcile._reward_links import DIFFERS, EQUAL, NOT_PUBLIC, PARTIAL, UNKNOWN, Link
from ledgerframes.analysis.reconcile._reward_rounds import APP, RewardRound
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames

NO_STATE = "rights and super validators before the frames are not known"
Weights = dict[str, int]


@dataclass(frozen=True)
class WeightCheck:
    """Faulty records by round, or the fact that they are unknown.

    Attributes
    ----------
    is_known : bool
        Whether the state of the network is known.
    computed : dict
        Weight of each party in the rounds with a fault, with the computed weight of each faulty record.
    unknown : dict
        Why a weight cannot be computed, in the rounds with such a weight.
    """

    is_known: bool
    computed: dict[int, Weights] = field(default_factory=dict)
    unknown: dict[int, str] = field(default_factory=dict)

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
        if each.number not in self.computed and each.number in self.unknown:
            return Link(UNKNOWN, self.unknown[each.number], None, total)
        if each.number not in self.computed:
            return Link(EQUAL, None, total, total)
        expected = str(sum(self.computed[each.number].values()))
        return Link(DIFFERS, None, expected, total, None, next(iter(self.faulty_parties(each)), None))


@once_per_frames
def check_weights(
    frames: Frames,
    featured: pd.DataFrame | None,
    sv_participants: pd.DataFrame | None,
    rounds: pd.DataFrame | None,
    base: Snapshot | None,
) -> WeightCheck:
    """Return the rounds whose published weights do not follow from requests."""
    try:
        rows = weights_without_faults(frames, featured, sv_participants, rounds, base)
    except CoverageError:
        return WeightCheck(is_known=False)
    computed: dict[int, Weights] = {number: {} for number in rows.filter(rows["is_faulty"])["round_number"].to_pylist()}
    for row in rows.filter(pc.is_in(rows["round_number"], pa.array(computed, pa.int64()))).to_pylist():
        computed[row["round_number"]][row["party"]] = int(row["weight"])
    uncertain = rows.filter(pc.is_valid(rows["unknown_reason"]))
    unknown = dict(zip(*(uncertain[name].to_pylist() for name in ("round_number", "unknown_reason")), strict=True))
    return WeightCheck(
        is_known=True, computed={number: _positive(of_round) for number, of_round in computed.items()}, unknown=unknown
    )


def _positive(weights: Weights) -> Weights:
    """Return weights without the parties that have only faulty records."""
    return {party: weight for party, weight in weights.items() if weight}
