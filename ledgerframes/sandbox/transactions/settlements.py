"""Functions of declarations for rounds after their end, from rewards to archive."""

from __future__ import annotations

from typing import Any

from ..formulas import RoundTotals, app_rewards
from ..ledger import Contract
from ..reward_trees import Batch, root_batch
from ..times import HOUR, MINUTE
from .draft import Branch, DraftTransaction
from .rewards import (
    confirm_action,
    coupon_v2,
    round_contract,
    round_names,
    super_validators,
    sv_coupons,
    sv_rewards,
    sv_weight,
)

EXPIRES_AFTER = 6 * HOUR + MINUTE  # after a settlement; its time and that in its coupons differ by seconds
START = "DsoRules_ExecuteConfirmedAction/rewards[-confirmations $CoinRules_StartProcessingRewardsV2[-calculate +process]]"


def settle_rounds(draft: DraftTransaction) -> list[Branch]:
    """Begin to issue what some rounds issue, and close older ones."""
    rounds, occurrence = draft.constants.rounds, draft.event.occurrence
    nodes = [node for number in rounds.settled_by(occurrence) for node in _settle(draft, number)]
    if occurrence >= rounds.close_lag:
        nodes += _close(draft, rounds.settled_by(occurrence - rounds.close_lag))
    if occurrence >= rounds.close_lag + rounds.archive_lag:
        for number in rounds.settled_by(occurrence - rounds.close_lag - rounds.archive_lag):
            nodes += draft.nodes("$CoinRules_MiningRound_Archive[-old]", old=round_contract(draft, "closed_round", number))
    return (nodes + _claim_expired(draft)) or confirm_action(draft)


def _settle(draft: DraftTransaction, round_number: int) -> list[Branch]:
    """Begin to issue what a round issues, and process its rewards."""
    totals_of = draft.state.totals_of
    totals = totals_of(round_number, draft.state.totals) if totals_of else draft.state.totals
    nodes = draft.nodes(
        "DsoRules_ExecuteConfirmedAction[$CoinRules_MiningRound_StartIssuing[-old +new]]",
        old=round_contract(draft, "summarizing_round", round_number),
        new=round_contract(draft, "issuing_round", round_number),
        featured_coupons=totals.coupons[round_number],
        sv_weight=sv_weight(draft.constants.rounds, round_number),
        faucet_coupons=totals.faucets[round_number],
    )
    has_rewards = draft.constants.rounds.terms(round_number).calculates_rewards
    return nodes + _process_rewards(draft, round_number, totals) if has_rewards and totals_of else nodes


def _close(draft: DraftTransaction, closing: range) -> list[Branch]:
    """Close issuing rounds, and expire the coupons of theirs that nobody collected."""
    nodes: list[Branch] = []
    for round_number in closing:
        names = {name: round_contract(draft, f"{name}_round", round_number) for name in ("issuing", "closed")}
        nodes += draft.nodes("DsoRules_MiningRound_Close[-old +new]", old=names["issuing"], new=names["closed"])
        apps = draft.pools["reward_coupon"].take_rounds((round_number,))
        # Of its coupons an SV collects its own, but the last SV collects none.
        svs = [
            coupon
            for member, occurrence in sv_rewards(draft.constants.rounds, round_number)
            for coupon in sv_coupons(draft, member, occurrence)[member < len(draft.constants.schedule.sv_collections) :]
        ]
        if apps or svs:
            tree = "DsoRules_ClaimExpiredRewards[$CoinRules_ClaimExpiredRewards[-app_coupons -sv_coupons]]"
            nodes += draft.nodes(tree, app_coupons=apps, sv_coupons=svs, closed=names["closed"])
    return nodes


# Rewards of traffic: all super validators confirm the root of a hash tree, and its batches are processed from the root down.


def _process_rewards(draft: DraftTransaction, round_number: int, totals: RoundTotals) -> list[Branch]:
    """Confirm the rewards of a round, and process their batches."""
    root = root_batch(app_rewards(draft.constants.rounds.terms(round_number), totals.weights[round_number]))
    calculate = round_contract(draft, "calculate_rewards", round_number)
    names: dict[str, Any] = {"round": round_number, "calculate": calculate, "batch_hash": root.hash}
    nodes, confirmations = [], []
    for sv, _ in super_validators(draft):
        own = {**names, "sv": sv.identifier}
        confirmations.append(draft.make("reward_confirmation", (round_number, sv.identifier), **own))
        nodes += draft.nodes("DsoRules_ConfirmAction/rewards[+confirmation]", confirmation=confirmations[-1], **own)
    process = _process_contract(draft, round_number, root, ())
    nodes += draft.nodes(START, process=process, confirmations=confirmations, **names)
    return nodes + _process_batch(draft, round_number, root, process, ())


def _process_contract(draft: DraftTransaction, round_number: int, batch: Batch, path: tuple[int, ...]) -> Contract:
    """Make the contract of a batch, by the positions of the batches that lead to it."""
    names = round_names(draft.constants.rounds, round_number)
    return draft.make("process_rewards", (round_number, *path), batch_hash=batch.hash, **names)


def _process_batch(
    draft: DraftTransaction, round_number: int, batch: Batch, process: Contract, path: tuple[int, ...]
) -> list[Branch]:
    """Process a batch, and then the batches below."""
    if not batch.children:
        is_dry_run = draft.constants.rounds.terms(round_number).is_dry_run
        awards = [{"provider": party, "units": units} for party, units in batch.allowances]
        coupons = [] if is_dry_run else [coupon_v2(draft, round_number, party, units) for party, units in batch.allowances]
        return draft.nodes("ProcessRewardsV2_ProcessBatch[+coupons]", process=process, awards=awards, coupons=coupons)
    paths = [(*path, position) for position in range(len(batch.children))]
    below = list(zip(batch.children, paths, strict=True))
    contracts = [_process_contract(draft, round_number, child, child_path) for child, child_path in below]
    hashes = [{"batch_hash": child.hash} for child in batch.children]
    nodes = draft.nodes("ProcessRewardsV2_ProcessBatch/batches[+children]", process=process, hashes=hashes, children=contracts)
    for contract, (child, child_path) in zip(contracts, below, strict=True):
        nodes += _process_batch(draft, round_number, child, contract, child_path)
    return nodes


# Coupons of the script's parties, who never collect


def _claim_expired(draft: DraftTransaction) -> list[Branch]:
    """Claim the coupons that have expired, and merge what was claimed."""
    nodes: list[Branch] = []
    claimed = []
    for round_number in _expired_rounds(draft):
        if coupons := _uncollected(draft, round_number):
            units = sum(coupon.units for coupon in coupons)
            claimed.append(draft.make("unclaimed_reward", (round_number,), units=units))
            tree = "DsoRules_ClaimExpiredRewards/coupons[$CoinRules_ClaimExpiredRewardsV2[-expired +unclaimed]]"
            nodes += draft.nodes(tree, expired=coupons, unclaimed=claimed[-1])
    if len(claimed) > 1:
        merged = draft.make("unclaimed_reward", ("merged", draft.event.occurrence), units=sum(part.units for part in claimed))
        tree = "DsoRules_MergeUnclaimedRewards[$CoinRules_MergeUnclaimedRewards[-parts +merged]]"
        nodes += draft.nodes(tree, parts=claimed, merged=merged)
    return nodes


def _expired_rounds(draft: DraftTransaction) -> list[int]:
    """Return the rounds of the script whose coupons have expired since the settlement before."""
    rounds, settlements, occurrence = draft.constants.rounds, draft.constants.schedule.settlements, draft.event.occurrence
    if not draft.state.totals_of:
        return []
    first, end = (settlements.count_before(settlements.time(number) - EXPIRES_AFTER) for number in (occurrence - 1, occurrence))
    numbers = range(rounds.settled_by(first).start, rounds.settled_by(end - 1).stop) if first < end else range(0)
    return [number for number in numbers if number in rounds.scripted and rounds.terms(number).is_traffic_based]


def _uncollected(draft: DraftTransaction, round_number: int) -> list[Contract]:
    """Return the coupons of a round for the script's parties."""
    if not draft.state.totals_of:
        return []
    weights = draft.state.totals_of(round_number, draft.state.totals).weights[round_number]
    rewards = app_rewards(draft.constants.rounds.terms(round_number), weights)
    parties = [party.identifier for party in draft.parties.planted.values()]
    return [coupon_v2(draft, round_number, party, rewards[party]) for party in parties if party in rewards]
