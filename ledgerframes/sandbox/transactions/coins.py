"""Coins: making, funding and transferring them; the transfer that users see in their wallets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..draft import Draft, view
from ..ledger import Contract, Node, archive, create, exercise
from ..parties import Party, Provider
from ..scene import Scene, Scenery, carried_id, carried_units
from .texts import description

HOLDING_FEE = "0.0000190259"


def new_coin(scene: Scene, owner: str, units: int, identifier: str = "") -> Contract:
    """Make a coin of an owner; `units` is its amount in units of 10**-10."""
    value = scene.value
    fields = {"dso": value.party(scene.dso), "owner": value.party(owner), "amount": _amount(scene, units)}
    return scene.make(scene.templates.coin, fields, (scene.dso, owner), (), owner, units, identifier)


def _amount(scene: Scene, units: int) -> Any:
    value = scene.value
    return value.record(
        {
            "initialAmount": value.amount(units),
            "createdAt": round_value(scene, scene.round_number),
            "ratePerRound": value.record({"rate": value.numeric(HOLDING_FEE)}),
        }
    )


def round_value(scene: Scene, round_number: int) -> Any:
    """Encode a round number, which the ledger wraps in a record."""
    return scene.value.record({"number": scene.value.integer(round_number)})


def open_round_id(scenery: Scenery, round_number: int) -> str:
    """Return the contract id of an open mining round."""
    return scenery.lasting(scenery.templates.open_round, "open round", round_number).identifier


def carried_coin(scenery: Scenery, slice_number: int, index: int, owner: str) -> Contract:
    """Return the coin that a transaction left for the next slice, as its consumer needs it."""
    units = carried_units(scenery.seed, slice_number, index)
    identifier = carried_id(scenery.seed, slice_number, index)
    return Contract(identifier, scenery.templates.coin, {}, (scenery.dso, owner), owner=owner, units=units)


def mint(scene: Scene, owner: str, units: int) -> tuple[Contract, Node]:
    """Make a coin and the node that mints it for its owner."""
    value = scene.value
    coin = new_coin(scene, owner, units)
    fields = {
        "receiver": value.party(owner),
        "amount": value.amount(units),
        "openRound": value.contract(open_round_id(scene.scenery, scene.round_number)),
    }
    result = value.record({f"{scene.words.coin}Sum": value.record({scene.words.coin: value.contract(coin.identifier)})})
    choice = f"{scene.words.Coin}Rules_Mint"
    return coin, exercise(scene.scenery.coin_rules, choice, value.record(fields), result, [owner], [create(coin)])


def funds(scene: Scene, owner: str, most: int = 3) -> tuple[list[Contract], list[Node]]:
    """Take coins of an owner; when there are none, one is minted by a root node of its own.

    Returns
    -------
    tuple
        The coins, which the caller must consume, and the root nodes to put before its own.
    """
    coins = scene.coins.take(owner, most)
    if coins:
        return coins, []
    coin, node = mint(scene, owner, scene.sum(220))
    return [coin], [node]


def transfer(scene: Scene, sender: str, provider: Party, inputs: Sequence[Contract], parts: Sequence[tuple[str, int]]) -> Node:
    """Return the node of a coin transfer, with its inputs archived and its outputs made below it.

    Parameters
    ----------
    sender, provider
        Who pays, and whose app does it.
    inputs
        Coins of the sender.
    parts
        (receiver, amount in units of 10**-10) of each output; what remains goes back to the sender.
    """
    value = scene.value
    change_units = sum(coin.units for coin in inputs) - sum(units for _, units in parts)
    outputs = [new_coin(scene, receiver, units) for receiver, units in parts]
    change = new_coin(scene, sender, change_units) if change_units > 0 else None
    made = [*outputs, change] if change else outputs
    for coin in made:
        if coin.owner != scene.dso:
            scene.coins.add(coin)
    children = [archive(coin, value.unit()) for coin in inputs] + [create(coin) for coin in made]
    argument = value.record(
        {
            "transfer": _transfer_value(scene, sender, provider.identifier, inputs, parts),
            "context": _context(scene),
            "expectedDso": value.optional(value.party(scene.dso)),
        }
    )
    actors = sorted({sender, provider.identifier, *(receiver for receiver, _ in parts)})
    choice = f"{scene.words.Coin}Rules_Transfer"
    result = _transfer_result(scene, inputs, outputs, change)
    return exercise(scene.scenery.coin_rules, choice, argument, result, actors, children)


def _transfer_value(
    scene: Scene, sender: str, provider: str, inputs: Sequence[Contract], parts: Sequence[tuple[str, int]]
) -> Any:
    value = scene.value
    input_tag = f"Input{scene.words.Coin}"
    return value.record(
        {
            "sender": value.party(sender),
            "provider": value.party(provider),
            "inputs": value.list(value.variant(input_tag, value.contract(coin.identifier)) for coin in inputs),
            "outputs": value.list(
                value.record(
                    {
                        "receiver": value.party(receiver),
                        "receiverFeeRatio": value.numeric("0.0"),
                        "amount": value.amount(units),
                        "lock": value.optional(None),
                    }
                )
                for receiver, units in parts
            ),
            "beneficiaries": value.optional(None),
        }
    )


def _context(scene: Scene) -> Any:
    value, scenery = scene.value, scene.scenery
    issuing = scenery.lasting(scene.templates.issuing_round, "issuing round", scene.round_number - 3)
    return value.record(
        {
            "openMiningRound": value.contract(open_round_id(scenery, scene.round_number)),
            "issuingMiningRounds": value.pairs(
                [(round_value(scene, scene.round_number - 3), value.contract(issuing.identifier))]
            ),
            "validatorRights": value.pairs([]),
            "featuredAppRight": value.optional(None),
        }
    )


def _transfer_result(scene: Scene, inputs: Sequence[Contract], outputs: Sequence[Contract], change: Contract | None) -> Any:
    value, words = scene.value, scene.words
    created_tag = f"TransferResult{words.Coin}"
    price = scene.scenery.rounds.price(scene.round_number)
    zero, total = value.amount(0), value.amount(sum(coin.units for coin in inputs))
    summary = {
        f"input{words.Coin}Amount": total,
        "inputAppRewardAmount": zero,
        "inputValidatorRewardAmount": zero,
        "inputSvRewardAmount": zero,
        "holdingFees": zero,
        "senderChangeFee": zero,
        "outputFees": value.list(zero for _ in outputs),
        "senderChangeAmount": value.amount(change.units if change else 0),
        f"{words.coin}Price": value.numeric(price),
        "inputUnclaimedActivityRecordAmount": value.optional(zero),
    }
    return value.record(
        {
            "round": round_value(scene, scene.round_number),
            "summary": value.record(summary),
            f"created{words.Coin}s": value.list(value.variant(created_tag, value.contract(coin.identifier)) for coin in outputs),
            f"senderChange{words.Coin}": value.optional(value.contract(change.identifier) if change else None),
            "meta": value.optional(None),
        }
    )


def split(scene: Scene, coins: Sequence[Contract]) -> int:
    """Return an amount to pay, in units of 10**-10, that the coins cover; now and then all of it."""
    total = sum(coin.units for coin in coins)
    return total if scene.draws.chance(0.08) else total * scene.draws.between(5, 95) // 100


def coupon(scene: Scene, provider: Provider, weight: str) -> Contract:
    """Make an app reward coupon and leave it for the provider to collect."""
    value = scene.value
    fields = {
        "dso": value.party(scene.dso),
        "provider": value.party(provider.party.identifier),
        "featured": value.boolean(provider.party.identifier in scene.featured),
        "amount": value.numeric(weight),
        "round": round_value(scene, scene.round_number),
        "beneficiary": value.optional(None),
    }
    observers = (provider.party.identifier,)
    made = scene.make(scene.templates.reward_coupon, fields, (scene.dso,), observers, provider.party.identifier)
    scene.coupons.add(made)
    return made


def coin_transfer(scene: Scene) -> Draft:
    """A user pays another through a wallet app: one batch of the wallet with one transfer in it."""
    sender, receiver, provider = scene.payer(scene.coins), scene.user(), scene.people.provider(scene.draws)
    app = provider.party.identifier
    pays_many = scene.draws.chance(0.15)

    def tree() -> list[Node]:
        coins, roots = funds(scene, sender.identifier, scene.draws.between(1, 4))
        parts = [(receiver.identifier, split(scene, coins))]
        if pays_many:
            parts = [(receiver.identifier, parts[0][1] // 2), (scene.user().identifier, parts[0][1] // 3)]
        moved = transfer(scene, sender.identifier, provider.party, coins, parts)
        rewarded = create(coupon(scene, provider, "1.0"))
        return [*roots, _wallet_batch(scene, sender, [moved, rewarded])]

    inner = view([scene.dso, sender.identifier], informees=[receiver.identifier])
    if scene.draws.chance(0.7):
        return Draft(sender, [view([app, sender.identifier], inner)], tree)
    return Draft(sender, [view([sender.identifier], inner, informees=[app])], tree, bytes_per_view=1900)


def _wallet_batch(scene: Scene, owner: Party, children: list[Node]) -> Node:
    value = scene.value
    argument = value.record(
        {
            "context": value.record({"memo": value.optional(value.text(description(scene.draws)))}),
            "operations": value.list([value.variant("CO_Transfer", value.unit())]),
        }
    )
    result = value.record({"outcomes": value.list([value.enum("COO_Ok")]), "senderChange": value.optional(None)})
    wallet = scene.scenery.wallet(owner)
    return exercise(wallet, "WalletAppInstall_ExecuteBatch", argument, result, [owner.identifier], children)
