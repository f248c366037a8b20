"""Delivery versus payment on a venue: allocations first, then a settlement that several apps confirm."""

from __future__ import annotations

from ..draft import Draft, view
from ..ledger import Contract, Node, create, exercise
from ..parties import Party, Provider
from ..scene import Scene
from ..times import HOUR
from . import apps, coins, tokens
from .texts import description


def _venue(scene: Scene, provider: Provider) -> Contract:
    operator = provider.party.identifier
    return scene.scenery.lasting(scene.templates.venue, "venue", operator, signatories=(operator,))


def _allocate(scene: Scene, owner: str, provider: Provider) -> tuple[Contract, Node]:
    """Make an allocation, the promise to pay when a trade settles, and the node that makes it."""
    value, units = scene.value, scene.sum(60)
    fields = {
        "executor": value.party(provider.party.identifier),
        "sender": value.party(owner),
        "amount": value.amount(units),
        "settlement": value.record(
            {
                "reference": value.text(f"trade-{scene.slice_number}-{scene.index}"),
                "requestedAt": value.time(scene.effective_at),
                "settleBefore": value.time(scene.effective_at + 6 * HOUR),
                "note": value.optional(value.text(description(scene.draws))),
            }
        ),
    }
    allocation = scene.make(scene.templates.allocation, fields, (owner, provider.party.identifier), owner=owner, units=units)
    result = value.record({"allocation": value.contract(allocation.identifier), "senderChange": value.list([])})
    argument = value.record({"sender": value.party(owner), "amount": value.amount(units)})
    node = exercise(_venue(scene, provider), "Venue_Allocate", argument, result, [owner], [create(allocation)])
    return allocation, node


def allocation(scene: Scene) -> Draft:
    """A buyer promises funds to a trade, to be settled later in the same slice."""
    owner, provider = scene.user(), scene.people.provider(scene.draws)

    def tree() -> list[Node]:
        promised, node = _allocate(scene, owner.identifier, provider)
        scene.allocations.add(promised)
        return [node]

    return Draft(owner, [view([owner.identifier, provider.party.identifier])], tree, bytes_per_view=1800)


def _executor(scene: Scene, promised: Contract) -> Provider:
    """Return the provider whose venue an allocation is for: the signatory that is not the sender."""
    executor = next(party for party in promised.signatories if party != promised.owner)
    return scene.people.provider_by_identifier[executor]


def settlement(scene: Scene) -> Draft:
    """A venue settles a trade: coin one way, tokens the other, in a tree five levels deep."""
    promised = scene.allocations.any(scene.draws) if scene.visible else None
    buyer = scene.people.by_identifier[promised.owner] if promised else scene.user()
    venue = _executor(scene, promised) if promised else scene.people.provider(scene.draws)
    seller, wallet = scene.user(), scene.people.provider(scene.draws)

    def tree() -> list[Node]:
        return _tree(scene, promised, buyer.identifier, seller.identifier, venue, wallet)

    operator, issuer = venue.party.identifier, tokens.issuer_of(scene.scenery).party.identifier
    payment = view([buyer.identifier, wallet.party.identifier], view([scene.dso, buyer.identifier]))
    delivery = view([seller.identifier, issuer], informees=[buyer.identifier])
    root = view([operator], payment, delivery, informees=[buyer.identifier, seller.identifier])
    return Draft(venue.party, [root], tree, bytes_per_view=1700, workflow_id="meadow-settlement")


def _tree(scene: Scene, promised: Contract | None, buyer: str, seller: str, venue: Provider, wallet: Provider) -> list[Node]:
    value, operator = scene.value, venue.party
    roots: list[Node] = []
    if promised is None:
        promised, node = _allocate(scene, buyer, venue)
        roots.append(node)
    promised.spent = True
    trade = _trade(scene, buyer, seller, operator)
    payment, minted = _payment(scene, promised, buyer, seller, wallet.party)
    held, delivered_first = tokens.holdings(scene, seller, 2)
    delivery = tokens.moved(scene, seller, buyer, held)
    argument = value.record({"allocation": value.contract(promised.identifier), "extraArgs": value.text_map({})})
    # One constructor without fields: on the wire the result is the bare string (docs/facts.md#exercise-result-any-json).
    done = value.enum("Trade_SettleResult")
    settled = exercise(trade, "Trade_Settle", argument, done, [operator.identifier], [payment, delivery], consuming=True)
    children = [create(trade), settled]
    if venue.party.identifier in scene.featured:
        children.append(apps.marked(scene, venue, 1))
    choice_argument = value.record({"trade": value.contract(trade.identifier), "batchId": value.integer(scene.index)})
    node = exercise(_venue(scene, venue), "Venue_Settle", choice_argument, done, [operator.identifier], children)
    return [*roots, *minted, *delivered_first, node]


def _payment(scene: Scene, promised: Contract, buyer: str, seller: str, wallet: Party) -> tuple[Node, list[Node]]:
    value = scene.value
    inputs, minted = coins.funds(scene, buyer)
    units = min(promised.units, sum(coin.units for coin in inputs))
    moved = coins.transfer(scene, buyer, wallet, inputs, [(seller, units)])
    argument = value.record(
        {"extraArgs": value.record({"context": value.text_map({}), "meta": value.text_map({"app": value.text("dvp")})})}
    )
    result = value.record({"receiverHoldingCids": value.list([]), "meta": value.text_map({})})
    interface = scene.templates.allocation_interface
    choice, actors = "Allocation_ExecuteTransfer", [buyer, seller]
    node = exercise(promised, choice, argument, result, actors, [moved], consuming=True, interface=interface)
    return node, minted


def _trade(scene: Scene, buyer: str, seller: str, operator: Party) -> Contract:
    value = scene.value
    fields = {
        "venue": value.party(operator.identifier),
        "buyer": value.party(buyer),
        "seller": value.party(seller),
        "price": value.numeric("0.5"),
        "side": value.variant("Limit", value.record({"limit": value.numeric("1.25")})),
        "settleAt": value.time(scene.effective_at // 1_000_000 * 1_000_000),
        "externalReference": value.optional(None),
    }
    return scene.make(scene.templates.trade, fields, (operator.identifier, buyer, seller))
