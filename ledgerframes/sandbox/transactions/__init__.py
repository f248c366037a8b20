"""Every kind of transaction, one file per family; `DRAFTS` finds the one that a plan names."""

from __future__ import annotations

from collections.abc import Callable

from ..draft import Draft
from ..plan import ACCEPTED, Entry
from ..scene import Scene
from . import (
    apps,
    coins,
    genesis,
    governance,
    mining,
    offers,
    reassignments,
    reports,
    rewards,
    settlement,
    tokens,
)

DRAFTS: dict[str, Callable[[Scene], Draft]] = {
    "coin transfer": coins.coin_transfer,
    "settlement": settlement.settlement,
    "allocation": settlement.allocation,
    "token transfer": tokens.token_transfer,
    "token mint": tokens.token_mint,
    "token burn": tokens.token_burn,
    "token lock": tokens.token_lock,
    "activity marker": apps.activity_marker,
    "app batch": apps.app_batch,
    "private exchange": apps.private_exchange,
    "name entry": apps.name_entry,
    "reward collection": rewards.reward_collection,
    "transfer offer": offers.transfer_offer,
    "offer step": offers.offer_step,
    "confirmation": governance.confirmation,
    "price vote": governance.price_vote,
    "status report": governance.status_report,
    "feature": governance.feature,
    "round tick": mining.round_tick,
    "round race": mining.round_race,
    "liveness": reports.liveness,
    "subscription": reports.subscription,
    "reassignment": reassignments.reassignment,
    "genesis": genesis.genesis,
}


def leave(scene: Scene, slice_number: int, entries: list[Entry]) -> None:
    """Put into a scene what the slice before it left, known from that slice's plan alone.

    Parameters
    ----------
    scene
        The scene of the later slice.
    slice_number, entries
        Number and plan of the slice before it.
    """
    scenery = scene.scenery
    for index, entry in enumerate(entries):
        if entry.outcome != ACCEPTED:
            continue
        if entry.kind == "reward collection":
            scene.coins.add(rewards.carried_collection(scenery, slice_number, index))
        elif entry.kind == "token mint":
            scene.tokens.add(tokens.carried_holding(scenery, slice_number, index))
        elif entry.kind == "transfer offer":
            scene.offers.add(offers.carried_offer(scenery, slice_number, index))
