"""Nodes and contracts of rewards, from their issue to their collection."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from ..formulas import FEATURED_CAP, per_faucet, per_sv_weight, units
from ..ledger import Contract
from ..parties import Party
from ..randomness import number
from ..rounds import FIRST_ROUND, Rounds
from ..schedule import TICK
from ..values import UNITS_PER_COIN
from .choices.governance import DSO_RULES_CONFIRM_ACTION
from .choices.rewards import DSO_RULES_RECEIVE_SV_REWARD_COUPON, REWARD_COUPON_ASSIGN_BENEFICIARIES
from .draft import Branch, DraftTransaction
from .payments import mint_missing, total_of, transfer
from .specs import TemplateSpec, archive, create, exercise
from .templates.coin import COIN, LIVENESS_RECORD, REWARD_COUPON, REWARD_COUPON_V2, SV_COUPON
from .templates.governance import CONFIRMATION

MAX_CACHED_ROUNDS = 2000
MAX_COUPONS = 14
MAX_SPLIT = 3  # coupons that one request splits
SPLIT_SHARES = ("0.3333333333", "0.3333333333", "0.3333333334")
OTHER_SHARES = ("0.5", "0.25", "0.25")  # every fourth split is not as configured
OTHER_EVERY, OTHER_REMAINDER = 4, 1
SV_WEIGHTS = (100_000, 90_000, 80_000, 70_000, 60_000)
MEMBER_WEIGHT = 10_000  # of the validator that is an SV for a while
SHARING_SV, SHARED_WEIGHT = 0, 33_333  # the first SV gives a part to a beneficiary, who never collects


# Rounds and what they issue


def round_contract(draft: DraftTransaction, template: TemplateSpec, round_number: int) -> Contract:
    """Make the contract of a round in one of its states."""
    return draft.make(template, (round_number,), **round_names(draft.constants.rounds, round_number))


@lru_cache(MAX_CACHED_ROUNDS)  # about ten transactions make a contract of the same round
def round_names(rounds: Rounds, round_number: int) -> dict[str, Any]:
    """Return the sources of the payloads of a round's contracts."""
    terms = rounds.terms(round_number)
    return {
        "round": round_number,
        "price": rounds.price(round_number),
        "opens": rounds.opens_at(round_number),
        "issuing_for": (round_number - FIRST_ROUND) * TICK,
        "traffic_price": str(terms.traffic_price),
        "minting_version": terms.minting_version,
        "dry_run_version": terms.dry_run_version,
        "dry_run": terms.is_dry_run,
        "closed_at": rounds.schedule.effective_at_tick(round_number - FIRST_ROUND),
        "per_year": f"{terms.per_year}.0",
        "per_featured": 0 if terms.is_traffic_based else units(FEATURED_CAP),
        "per_sv_weight": per_sv_weight(terms, sv_weight(rounds, round_number)),
        "per_faucet": per_faucet(terms),
    }


def confirm_action(draft: DraftTransaction, **names: str) -> list[Branch]:
    """Confirm an action, when there is nothing else to do."""
    tree = exercise(DSO_RULES_CONFIRM_ACTION, create("confirmation"))
    return draft.nodes(tree, confirmation=draft.make(CONFIRMATION, **names), **names)


def coupon_v2(
    draft: DraftTransaction, round_number: int, provider: str, amount: int, beneficiary: str | None = None, *key: object
) -> Contract:
    """Make a coupon for its provider or beneficiary, once rewards are based on traffic."""
    names: dict[str, Any] = {"provider": provider, "holder": beneficiary or provider, "beneficiary": beneficiary}
    coupon = draft.make(REWARD_COUPON_V2, (round_number, provider, *key), units=amount, round=round_number, **names)
    pool = draft.state.split_coupons if beneficiary else draft.pools[REWARD_COUPON_V2]
    pool.add(coupon)
    return coupon


# App coupons


def coupon(draft: DraftTransaction, provider: str, weight: str) -> list[Contract]:
    """Make a coupon for a featured provider before rewards are based on traffic."""
    terms = draft.constants.rounds.terms(draft.round_number)
    if terms.is_traffic_based or provider not in draft.featured:
        return []
    amount = units(Decimal(weight))
    draft.state.totals.coupons[draft.round_number] += amount
    minted = amount * units(FEATURED_CAP) // UNITS_PER_COIN
    return [draft.offer(REWARD_COUPON, provider=provider, featured=True, weight=weight, units=minted)]


def collect(draft: DraftTransaction) -> list[Branch]:
    """Merge coins and coupons of the owner into the coin that is left for the next slice."""
    names, party = draft.names, draft.names["owner"]
    issuing = draft.constants.rounds.issuing_at(draft.event.time)
    coins = draft.pools[COIN].take(party, 3)
    coupons = {"app_coupons": draft.pools[REWARD_COUPON].take(party, MAX_COUPONS, issuing)}
    coupons["coupons_v2"] = draft.pools[REWARD_COUPON_V2].take(party, MAX_COUPONS)
    coupons["coupons_v2"] += draft.state.split_coupons.take(party, MAX_COUPONS)
    coins += mint_missing(draft, party, names["units"] - total_of(coins) - sum(map(total_of, coupons.values())))
    merged = draft.make(COIN, identifier=names["identifier"], owner=party, units=names["units"])
    # The change is not offered to others: with coupons it depends on activity, on which the history must not depend.
    return transfer(draft, party, party, coins, [merged], coupons, is_offered=False)


def split_rewards(draft: DraftTransaction) -> list[Branch]:
    """Assign the beneficiaries of a provider's coupons, if it has some."""
    provider = draft.names["provider"]
    coupons = draft.pools[REWARD_COUPON_V2].take(provider, MAX_SPLIT)
    if not coupons:
        return confirm_action(draft, sv=provider)
    percentages = OTHER_SHARES if draft.event.occurrence % OTHER_EVERY == OTHER_REMAINDER else SPLIT_SHARES
    users = draft.parties.users
    first = number(draft.constants.seed, "beneficiaries", provider) % len(users)
    beneficiaries = [provider, *(users[(first + n) % len(users)].identifier for n in (0, 1))]
    shares = list(zip(beneficiaries, percentages, strict=True))
    assigned = []
    for each in coupons:
        for rank, (beneficiary, percentage) in enumerate(shares):
            amount = units(Decimal(each.units) / UNITS_PER_COIN * Decimal(percentage))
            assigned.append(coupon_v2(draft, each.round_number, provider, amount, beneficiary, rank))
    return draft.nodes(
        exercise(REWARD_COUPON_ASSIGN_BENEFICIARIES, archive("others"), create("assigned")),
        coupon=coupons[0],
        others=coupons[1:],
        assigned=assigned,
        shares=[{"beneficiary": beneficiary, "percentage": percentage} for beneficiary, percentage in shares],
    )


# Rewards of SVs and validators


def super_validators(draft: DraftTransaction, version: int | None = None) -> list[tuple[Party, int]]:
    """Return the super validators by a version of the DSO's rules, with their weights.

    The current version is the default. The member is one in every second version.
    """
    if version is None:
        version = draft.constants.schedule.script.dso_rules_version(draft.event.time)
    members = list(zip(draft.parties.svs, SV_WEIGHTS, strict=True))
    return [*members, (draft.parties.member, MEMBER_WEIGHT)] if version % 2 else members


def sv_weight(rounds: Rounds, round_number: int) -> int:
    """Return the sum of the weights of the SVs' coupons of a round."""
    return sum(SV_WEIGHTS[member] for member, _ in sv_rewards(rounds, round_number))


@lru_cache(MAX_CACHED_ROUNDS)
def sv_rewards(rounds: Rounds, round_number: int) -> Sequence[tuple[int, int]]:
    """Return (SV, occurrence) of the coupons of a round."""
    begin, end = rounds.window(round_number)
    return [
        (member, occurrence)
        for member, event in enumerate(rounds.schedule.sv_rewards)
        for occurrence in range(event.count_before(begin), event.count_before(end + 1))
        if rounds.lowest_open(event.time(occurrence)) == round_number
    ]


def _sv_shares(draft: DraftTransaction, member: int) -> list[tuple[str, int]]:
    """Return who gets which weight of an SV's reward, the SV first."""
    sv, weight = draft.parties.svs[member].identifier, SV_WEIGHTS[member]
    if member != SHARING_SV:
        return [(sv, weight)]
    return [(sv, weight - SHARED_WEIGHT), (draft.parties.users[0].identifier, SHARED_WEIGHT)]


def sv_coupons(draft: DraftTransaction, member: int, occurrence: int) -> list[Contract]:
    """Make the coupons of an SV's reward, its own first."""
    rounds, sv = draft.constants.rounds, draft.parties.svs[member].identifier
    round_number = rounds.lowest_open(rounds.schedule.sv_rewards[member].time(occurrence)) or FIRST_ROUND
    per_weight = per_sv_weight(rounds.terms(round_number), sv_weight(rounds, round_number))
    coupons = []
    for rank, (beneficiary, weight) in enumerate(_sv_shares(draft, member)):
        names: dict[str, Any] = {"sv": sv, "beneficiary": beneficiary, "weight": weight, "units": per_weight * weight}
        coupons.append(draft.make(SV_COUPON, (member, occurrence, rank), round=round_number, **names))
    return coupons


def receive_sv_reward(draft: DraftTransaction) -> list[Branch]:
    """Give an SV its coupons of the current round."""
    coupons = sv_coupons(draft, draft.event.member, draft.event.occurrence)
    shares = [{"beneficiary": party, "weight": weight} for party, weight in _sv_shares(draft, draft.event.member)]
    return draft.nodes(exercise(DSO_RULES_RECEIVE_SV_REWARD_COUPON, create("coupons")), coupons=coupons, shares=shares)


def collect_sv_reward(draft: DraftTransaction) -> list[Branch]:
    """Mint the coin of an SV's own coupon."""
    sv = draft.names["sv"]
    coupon = sv_coupons(draft, draft.event.member, draft.event.occurrence)[0]
    return transfer(draft, sv, sv, [], [], {"sv_coupons": [coupon]}, is_offered=False)


def liveness_record(draft: DraftTransaction) -> Contract:
    """Make the liveness record of a validator, which mints its share of the round."""
    terms = draft.constants.rounds.terms(draft.round_number)
    draft.state.totals.faucets[draft.round_number] += 1
    return draft.offer(LIVENESS_RECORD, units=per_faucet(terms))
