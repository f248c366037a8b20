"""Nodes and contracts of rounds after their end, from rewards to archive."""

from __future__ import annotations

from typing import Any

from ..formulas import RoundTotals, app_rewards
from ..ledger import Contract
from ..reward_trees import Batch, root_batch
from ..times import HOUR, MINUTE
from .choices.rewards import (
    COIN_RULES_CLAIM_EXPIRED_REWARDS,
    COIN_RULES_CLAIM_EXPIRED_REWARDS_V2,
    COIN_RULES_MERGE_UNCLAIMED_REWARDS,
    COIN_RULES_START_PROCESSING_REWARDS_V2,
    DSO_RULES_CLAIM_EXPIRED_REWARDS,
    DSO_RULES_CLAIM_EXPIRED_REWARDS_COUPONS,
    DSO_RULES_CONFIRM_ACTION_REWARDS,
    DSO_RULES_EXECUTE_CONFIRMED_ACTION_REWARDS,
    DSO_RULES_MERGE_UNCLAIMED_REWARDS,
    PROCESS_REWARDS_V2_PROCESS_BATCH,
    PROCESS_REWARDS_V2_PROCESS_BATCH_BATCHES,
)
from .choices.rounds import (
    COIN_RULES_MINING_ROUND_ARCHIVE,
    COIN_RULES_MINING_ROUND_START_ISSUING,
    DSO_RULES_EXECUTE_CONFIRMED_ACTION,
    DSO_RULES_MINING_ROUND_CLOSE,
)
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
from .specs import archive, create, exercise
from .templates.coin import REWARD_COUPON, UNCLAIMED_REWARD
from .templates.governance import REWARD_CONFIRMATION
from .templates.rounds import CALCULATE_REWARDS, CLOSED_ROUND, ISSUING_ROUND, PROCESS_REWARDS, SUMMARIZING_ROUND

EXPIRES_AFTER = 6 * HOUR + MINUTE  # after a settlement; its time and that in its coupons differ by seconds
START = exercise(
    DSO_RULES_EXECUTE_CONFIRMED_ACTION_REWARDS,
    archive("confirmations"),
    exercise(COIN_RULES_START_PROCESSING_REWARDS_V2, archive("calculate"), create("process")),
)


def settle_rounds(draft: DraftTransaction) -> list[Branch]:
    """Begin to issue what some rounds issue, and close older ones."""
    rounds, occurrence = draft.constants.rounds, draft.event.occurrence
    nodes = [node for number in rounds.settled_by(occurrence) for node in _settle(draft, number)]
    if occurrence >= rounds.close_lag:
        nodes += _close(draft, rounds.settled_by(occurrence - rounds.close_lag))
    if occurrence >= rounds.close_lag + rounds.archive_lag:
        for number in rounds.settled_by(occurrence - rounds.close_lag - rounds.archive_lag):
            tree = exercise(COIN_RULES_MINING_ROUND_ARCHIVE, archive("old"))
            nodes += draft.nodes(tree, old=round_contract(draft, CLOSED_ROUND, number))
    return (nodes + _claim_expired(draft)) or confirm_action(draft)


def _settle(draft: DraftTransaction, round_number: int) -> list[Branch]:
    """Begin to issue what a round issues, and process its rewards."""
    totals_of = draft.state.totals_of
    totals = totals_of(round_number, draft.state.totals) if totals_of else draft.state.totals
    start = exercise(COIN_RULES_MINING_ROUND_START_ISSUING, archive("old"), create("new"))
    nodes = draft.nodes(
        exercise(DSO_RULES_EXECUTE_CONFIRMED_ACTION, start),
        old=round_contract(draft, SUMMARIZING_ROUND, round_number),
        new=round_contract(draft, ISSUING_ROUND, round_number),
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
        issuing, closed = (round_contract(draft, template, round_number) for template in (ISSUING_ROUND, CLOSED_ROUND))
        tree = exercise(DSO_RULES_MINING_ROUND_CLOSE, archive("old"), create("new"))
        nodes += draft.nodes(tree, old=issuing, new=closed)
        apps = draft.pools[REWARD_COUPON].take_rounds((round_number,))
        # Of its coupons an SV collects its own, but the last SV collects none.
        svs = [
            coupon
            for member, occurrence in sv_rewards(draft.constants.rounds, round_number)
            for coupon in sv_coupons(draft, member, occurrence)[member < len(draft.constants.schedule.sv_collections) :]
        ]
        if apps or svs:
            claim = exercise(COIN_RULES_CLAIM_EXPIRED_REWARDS, archive("app_coupons"), archive("sv_coupons"))
            tree = exercise(DSO_RULES_CLAIM_EXPIRED_REWARDS, claim)
            nodes += draft.nodes(tree, app_coupons=apps, sv_coupons=svs, closed=closed)
    return nodes


# Rewards of traffic: all super validators confirm the root of a hash tree, and its batches are processed from the root down.


def _process_rewards(draft: DraftTransaction, round_number: int, totals: RoundTotals) -> list[Branch]:
    """Confirm the rewards of a round, and process their batches."""
    root = root_batch(app_rewards(draft.constants.rounds.terms(round_number), totals.weights[round_number]))
    calculate = round_contract(draft, CALCULATE_REWARDS, round_number)
    names: dict[str, Any] = {"round": round_number, "calculate": calculate, "batch_hash": root.hash}
    nodes, confirmations = [], []
    for sv, _ in super_validators(draft):
        own = {**names, "sv": sv.identifier}
        confirmations.append(draft.make(REWARD_CONFIRMATION, (round_number, sv.identifier), **own))
        tree = exercise(DSO_RULES_CONFIRM_ACTION_REWARDS, create("confirmation"))
        nodes += draft.nodes(tree, confirmation=confirmations[-1], **own)
    process = _process_contract(draft, round_number, root, ())
    nodes += draft.nodes(START, process=process, confirmations=confirmations, **names)
    return nodes + _process_batch(draft, round_number, root, process, ())


def _process_contract(draft: DraftTransaction, round_number: int, batch: Batch, path: tuple[int, ...]) -> Contract:
    """Make the contract of a batch, by the positions of the batches that lead to it."""
    names = round_names(draft.constants.rounds, round_number)
    return draft.make(PROCESS_REWARDS, (round_number, *path), batch_hash=batch.hash, **names)


def _process_batch(
    draft: DraftTransaction, round_number: int, batch: Batch, process: Contract, path: tuple[int, ...]
) -> list[Branch]:
    """Process a batch, and then the batches below."""
    if not batch.children:
        is_dry_run = draft.constants.rounds.terms(round_number).is_dry_run
        awards = [{"provider": party, "units": units} for party, units in batch.allowances]
        coupons = [] if is_dry_run else [coupon_v2(draft, round_number, party, units) for party, units in batch.allowances]
        tree = exercise(PROCESS_REWARDS_V2_PROCESS_BATCH, create("coupons"))
        return draft.nodes(tree, process=process, awards=awards, coupons=coupons)
    paths = [(*path, position) for position in range(len(batch.children))]
    below = list(zip(batch.children, paths, strict=True))
    contracts = [_process_contract(draft, round_number, child, child_path) for child, child_path in below]
    hashes = [{"batch_hash": child.hash} for child in batch.children]
    tree = exercise(PROCESS_REWARDS_V2_PROCESS_BATCH_BATCHES, create("children"))
    nodes = draft.nodes(tree, process=process, hashes=hashes, children=contracts)
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
            claimed.append(draft.make(UNCLAIMED_REWARD, (round_number,), units=units))
            claim = exercise(COIN_RULES_CLAIM_EXPIRED_REWARDS_V2, archive("expired"), create("unclaimed"))
            tree = exercise(DSO_RULES_CLAIM_EXPIRED_REWARDS_COUPONS, claim)
            nodes += draft.nodes(tree, expired=coupons, unclaimed=claimed[-1])
    if len(claimed) > 1:
        merged = draft.make(UNCLAIMED_REWARD, ("merged", draft.event.occurrence), units=sum(part.units for part in claimed))
        merge = exercise(COIN_RULES_MERGE_UNCLAIMED_REWARDS, archive("parts"), create("merged"))
        tree = exercise(DSO_RULES_MERGE_UNCLAIMED_REWARDS, merge)
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
