"""Kinds of transactions, each with its parties, views and nodes."""

from __future__ import annotations

from ..draft import Kind
from . import apps, network, users

# Weights among the events that are not scheduled. A draw gives another kind if their order changes.
UNSCHEDULED = {
    users.COIN_TRANSFER: 235,
    apps.SETTLEMENT: 200,
    users.TOKEN_TRANSFER: 110,
    apps.ACTIVITY_MARKER: 75,
    apps.ALLOCATION: 85,
    users.REWARD_COLLECTION: 70,
    users.TRANSFER_OFFER: 40,
    users.OFFER_STEP: 62,
    users.TOKEN_MINT: 40,
    users.TOKEN_BURN: 25,
    users.TOKEN_LOCK: 28,
    apps.APP_BATCH: 34,
    users.NAME_ENTRY: 16,
    network.CONFIRMATION: 50,
    users.REASSIGNMENT: 16,
}
WEIGHTS = {kind.name: weight for kind, weight in UNSCHEDULED.items()}
KINDS = {
    declared.name: declared
    for module in (users, apps, network)
    for declared in vars(module).values()
    if isinstance(declared, Kind)
}
