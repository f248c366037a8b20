"""Reward collection: a provider's wallet merges coupons and coins into one coin, in a wide tree."""

from __future__ import annotations

from ..draft import Draft, view
from ..ledger import Contract, Node, archive, create, exercise
from ..parties import Party
from ..randomness import number
from ..scene import Scene, Scenery, carried_id, carried_units
from . import coins

MOST_INPUTS = 14


def collector(scenery: Scenery, slice_number: int, index: int) -> Party:
    """Return who collects in this event, by formula: the next slice must know whose coin it is."""
    people = scenery.people
    choice = number(scenery.seed, "collector", slice_number, index)
    if choice % 2:
        return people.providers[choice // 2 % len(people.providers)].party
    return people.users[choice // 2 % 40]  # the large ones


def carried_collection(scenery: Scenery, slice_number: int, index: int) -> Contract:
    """Return the coin that a collection left for the next slice, as its consumer needs it."""
    owner = collector(scenery, slice_number, index)
    return coins.carried_coin(scenery, slice_number, index, owner.identifier)


def reward_collection(scene: Scene) -> Draft:
    """A wallet collects what it has: coupons and coins in, one coin out, left for the next slice."""
    scenery = scene.scenery
    party = collector(scenery, scene.slice_number, scene.index)

    def tree() -> list[Node]:
        value, owner = scene.value, party.identifier
        units = carried_units(scenery.seed, scene.slice_number, scene.index)
        identifier = carried_id(scenery.seed, scene.slice_number, scene.index)
        merged = coins.new_coin(scene, owner, units, identifier)
        inputs = scene.coupons.take(owner, MOST_INPUTS) + scene.coins.take(owner, 3)
        children = [archive(contract, value.unit()) for contract in inputs] + [create(merged)]
        argument = value.record(
            {
                "inputs": value.list(_input(scene, contract) for contract in inputs),
                "openRound": value.contract(coins.open_round_id(scenery, scene.round_number)),
                "tag": value.optional(None),
            }
        )
        result = value.record({scene.words.coin: value.contract(merged.identifier), "collected": value.amount(units)})
        choice = f"{scene.words.Coin}Rules_CollectRewards"
        collected = exercise(scenery.coin_rules, choice, argument, result, [owner], children)
        done = value.record({"outcomes": value.list([value.enum("COO_Ok")]), "senderChange": value.optional(None)})
        batch = value.record({"context": value.record({"memo": value.optional(None)}), "operations": value.list([])})
        wallet = scenery.wallet(party)
        return [exercise(wallet, "WalletAppInstall_ExecuteBatch", batch, done, [owner], [collected])]

    root = view([party.identifier], view([scene.dso, party.identifier]))
    return Draft(party, [root], tree, bytes_per_view=2300)


def _input(scene: Scene, contract: Contract) -> object:
    value = scene.value
    coin = contract.template == scene.templates.coin
    tag = f"Input{scene.words.Coin}" if coin else "InputAppRewardCoupon"
    return value.variant(tag, value.contract(contract.identifier))
