"""Public formulas for activity weights of events and rewards of rounds.

See docs/facts.md#activity-weights and docs/facts.md#rewards-of-a-round.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from .values import UNITS_PER_COIN

MAXIMUM_COST = 100 * 1024 * 1024  # bytes; above it the products of the formula would not fit 64 bits
SCALE = 10**10  # weights are decimals of at most ten digits
MARKERS, TRAFFIC_BASED = "RewardVersion_FeaturedAppMarkers", "RewardVersion_TrafficBasedAppRewards"
ROUNDS_PER_YEAR = Decimal(365 * 24 * 6)
APP_SHARE, VALIDATOR_SHARE, DEVELOPMENT_SHARE = Decimal("0.6"), Decimal("0.2"), Decimal("0.05")
FEATURED_CAP = Decimal(2)
FAUCET_CAP, THRESHOLD = Decimal("0.5"), Decimal("0.5")  # in USD
MEGABYTE = 10**6
STEP = Decimal("1e-10")
EXACT = Context(prec=60)


def activity_records(
    verdict: Mapping[str, Any] | None,
    traffic_summary: Mapping[str, Any] | None,
    round_number: int | None,
    featured: Mapping[str, str],
    sv_participants: Collection[str],
) -> dict[str, Any] | None:
    """Return the activity records of one event, or None if it earns none.

    `featured` has the activity weight, as decimal text, by featured provider, and `sv_participants` the participants of
    the SVs without the "PAR::" prefix, both as of the opening of the round. The result has parties ascending and weights
    in bytes. Source: docs/facts.md#activity-weights, steps 1 to 10.
    """
    if verdict is None or traffic_summary is None or round_number is None:
        return None
    if verdict["verdict_result"] != "VERDICT_RESULT_ACCEPTED" or verdict["submitting_participant_uid"] in sv_participants:
        return None
    confirmers = {
        view["view_id"]: [party for quorum in view["confirming_parties"] for party in quorum["parties"]]
        for view in verdict["transaction_views"]["views"]
    }
    weights = activity_weights(confirmers, traffic_summary, featured)
    records = [{"party": party, "weight": weight} for party, weight in weights.items()]
    return {"round_number": round_number, "records": records} if records else None


def activity_weights(
    confirmers: Mapping[int, Iterable[str]], traffic_summary: Mapping[str, Any], featured: Mapping[str, str]
) -> dict[str, int]:
    """Return the weight of each featured confirmer of an accepted request, parties ascending.

    It spreads the whole cost over the featured confirmers, with one division per party.
    """
    total = traffic_summary["total_traffic_cost"]
    if total > MAXIMUM_COST:
        return {}
    featured_of = {view_id: [party for party in parties if party in featured] for view_id, parties in confirmers.items()}
    shares: dict[str, int] = {}
    confirmed = 0
    for envelope in traffic_summary["envelope_traffic_summaries"]:
        parties: set[str] = set()
        for view_id in envelope["view_ids"]:
            parties.update(featured_of.get(view_id, ()))
        if not parties:
            continue
        cost = envelope["traffic_cost"]
        confirmed += cost
        share = cost * total // len(parties)
        for party in parties:
            shares[party] = shares.get(party, 0) + share
    if not confirmed:
        return {}
    return {party: shares[party] // confirmed * _scaled(featured[party]) // SCALE for party in sorted(shares)}


@lru_cache(maxsize=256)
def _scaled(weight: str) -> int:
    return int(Decimal(weight) * SCALE)


class RoundTerms(NamedTuple):
    """Terms of a round about rewards."""

    price: Decimal  # USD per coin
    per_year: Decimal  # coins issued per year
    traffic_price: Decimal  # USD per MB
    minting_version: str | None  # None on rounds of the first release

    @property
    def is_traffic_based(self) -> bool:
        """Whether app rewards follow traffic rather than markers."""
        return self.minting_version == TRAFFIC_BASED

    @property
    def is_dry_run(self) -> bool:
        """Whether rewards by traffic are calculated, but not paid."""
        return self.minting_version == MARKERS

    @property
    def dry_run_version(self) -> str | None:
        """Name of the scheme of a dry run, None without one."""
        return TRAFFIC_BASED if self.is_dry_run else None

    @property
    def calculates_rewards(self) -> bool:
        """Whether rewards by traffic are calculated, whether paid or not."""
        return self.is_traffic_based or self.is_dry_run


@dataclass
class RoundTotals:
    """Activity of some rounds, by round number, and the requests of a slice."""

    weights: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # bytes by party
    coupons: Counter[int] = field(default_factory=Counter)  # weight of app coupons, in units of 10**-10
    faucets: Counter[int] = field(default_factory=Counter)  # liveness records
    requests: list[tuple[int, str, int]] = field(default_factory=list)  # record time, participant and bytes

    def add(self, other: RoundTotals, number: int) -> None:
        """Add what another part of the history has of a round."""
        self.weights[number].update(other.weights.get(number, {}))
        self.coupons[number] += other.coupons[number]
        self.faucets[number] += other.faucets[number]


def units(amount: Decimal, rounding: str = ROUND_HALF_EVEN) -> int:
    """Return an amount in units of 10**-10."""
    return int(EXACT.multiply(amount.quantize(STEP, rounding, EXACT), Decimal(UNITS_PER_COIN)))


def to_issue(terms: RoundTerms) -> Decimal:
    """Return the coins that a round issues, less the share for development."""
    per_round = _divide(terms.per_year, ROUNDS_PER_YEAR)
    return per_round - _multiply(per_round, DEVELOPMENT_SHARE) if terms.minting_version else per_round


def per_faucet(terms: RoundTerms) -> int:
    """Return the units per liveness record, whose pool is never used up here."""
    return units(_divide(FAUCET_CAP, terms.price))


def per_sv_weight(terms: RoundTerms, weight: int) -> int:
    """Return the units per SV weight, from the share that apps and validators leave."""
    share = 1 - APP_SHARE - VALIDATOR_SHARE
    return units(_divide(_multiply(to_issue(terms), share), Decimal(weight))) if weight else 0


def app_rewards(terms: RoundTerms, weights: Mapping[str, int]) -> dict[str, int]:
    """Return the units of each party that reaches the threshold, parties ascending."""
    rate, threshold = _rate(terms, sum(weights.values())), _divide(THRESHOLD, terms.price)
    allowances = {party: EXACT.multiply(Decimal(weights[party]) / MEGABYTE, rate) for party in sorted(weights)}
    return {party: units(amount, ROUND_HALF_UP) for party, amount in allowances.items() if amount >= threshold}


def thresholded(terms: RoundTerms, weights: Mapping[str, int]) -> int:
    """Return the units that parties below the threshold do not get."""
    paid, rate = app_rewards(terms, weights), _rate(terms, sum(weights.values()))
    allowances = (EXACT.multiply(Decimal(weight) / MEGABYTE, rate) for party, weight in weights.items() if party not in paid)
    return sum(units(amount, ROUND_HALF_UP) for amount in allowances)


def unclaimed(terms: RoundTerms, weight: int) -> int:
    """Return the units for apps that the cap leaves."""
    return max(0, units(_for_apps(terms) - _multiply(_per_coupon(terms, weight), _burn(terms, weight))))


def _rate(terms: RoundTerms, weight: int) -> Decimal:
    """Return the coins per MB of activity weight."""
    return _multiply(_per_megabyte(terms), _per_coupon(terms, weight))


def _per_coupon(terms: RoundTerms, weight: int) -> Decimal:
    """Return the coins per coin of burn."""
    claimed = _multiply(FEATURED_CAP, _burn(terms, weight))
    return _divide(_multiply(min(_for_apps(terms), claimed), FEATURED_CAP), claimed) if claimed > 0 else FEATURED_CAP


def _burn(terms: RoundTerms, weight: int) -> Decimal:
    return _multiply(_divide(Decimal(weight), Decimal(MEGABYTE)), _per_megabyte(terms))


def _per_megabyte(terms: RoundTerms) -> Decimal:
    return _divide(terms.traffic_price, terms.price)


def _for_apps(terms: RoundTerms) -> Decimal:
    return _multiply(to_issue(terms), APP_SHARE)


def _multiply(left: Decimal, right: Decimal) -> Decimal:
    return EXACT.multiply(left, right).quantize(STEP, ROUND_HALF_EVEN, EXACT)


def _divide(left: Decimal, right: Decimal) -> Decimal:
    return EXACT.divide(left, right).quantize(STEP, ROUND_HALF_EVEN, EXACT)
