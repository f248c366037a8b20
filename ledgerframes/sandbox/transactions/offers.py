"""Transfer offers of the wallet: created, accepted, completed, in three transactions.

See docs/facts.md#transfer-offer-transactions.
"""

from __future__ import annotations

from typing import Any

from ..draft import Draft, view
from ..ledger import Contract, Node, create, exercise
from ..parties import Party
from ..randomness import digest, number
from ..scene import Scene, Scenery, carried_id, carried_units
from ..times import DAY
from . import coins
from .texts import description


def offer_parties(scenery: Scenery, slice_number: int, index: int) -> tuple[Party, Party]:
    """Return sender and receiver of an offer that one slice leaves for the next, by formula."""
    users = scenery.people.users
    first = number(scenery.seed, "offer", slice_number, index) % len(users)
    return users[first], users[(first + 1 + index % 7) % len(users)]


def carried_offer(scenery: Scenery, slice_number: int, index: int) -> Contract:
    """Return the offer that a transaction left for the next slice, as its consumer needs it."""
    sender, receiver = offer_parties(scenery, slice_number, index)
    signatories = (sender.identifier, scenery.dso)
    return Contract(
        carried_id(scenery.seed, slice_number, index),
        scenery.templates.transfer_offer,
        {},
        signatories,
        (receiver.identifier,),
        receiver.identifier,
        carried_units(scenery.seed, slice_number, index),
    )


def _tracking_id(scenery: Scenery, offer_id: str) -> str:
    return f"tracking-{digest(scenery.seed, 'tracking', offer_id, size=8)}"


def transfer_offer(scene: Scene) -> Draft:
    """A wallet offers coin to a party; the offer is left for the next slice to accept."""
    scenery = scene.scenery
    sender, receiver = offer_parties(scenery, scene.slice_number, scene.index)

    def tree() -> list[Node]:
        value = scene.value
        units = carried_units(scenery.seed, scene.slice_number, scene.index)
        identifier = carried_id(scenery.seed, scene.slice_number, scene.index)
        tracking_id = _tracking_id(scenery, identifier)
        fields = _offer_fields(scene, sender, receiver, units, tracking_id)
        stakeholders, observers = (sender.identifier, scene.dso), (receiver.identifier,)
        offer = scene.make(scene.templates.transfer_offer, fields, stakeholders, observers, identifier=identifier)
        argument = {name: fields[name] for name in ("receiver", "amount", "description", "expiresAt", "trackingId")}
        result = value.record({"transferOffer": value.contract(identifier)})
        wallet = scenery.wallet(sender)
        choice = "WalletAppInstall_CreateTransferOffer"
        actors = [sender.identifier]
        return [exercise(wallet, choice, value.record(argument), result, actors, [create(offer)])]

    root = view([sender.identifier], informees=[receiver.identifier])
    return Draft(sender, [root], tree, bytes_per_view=2100)


def _offer_fields(scene: Scene, sender: Party, receiver: Party, units: int, tracking_id: str) -> dict[str, Any]:
    value = scene.value
    return {
        "sender": value.party(sender.identifier),
        "receiver": value.party(receiver.identifier),
        "dso": value.party(scene.dso),
        "amount": value.record({"amount": value.amount(units), "unit": value.enum(f"{scene.words.Coin}Unit")}),
        "description": value.text(description(scene.draws)),
        "expiresAt": value.time(scene.effective_at + 7 * DAY),
        "trackingId": value.text(tracking_id),
    }


def offer_step(scene: Scene) -> Draft:
    """The next step of an offer that waits: its receiver accepts it, or its sender's wallet completes it."""
    accepted = scene.accepted_offers.any(scene.draws) if scene.visible else None
    if accepted:
        return _complete(scene, accepted)
    offer = scene.offers.any(scene.draws) if scene.visible else None
    return _accept(scene, offer) if offer else coins.coin_transfer(scene)


def _accept(scene: Scene, offer: Contract) -> Draft:
    receiver = scene.people.by_identifier[offer.owner]
    sender = next(party for party in offer.signatories if party != scene.dso)
    tracking_id = _tracking_id(scene.scenery, offer.identifier)

    def tree() -> list[Node]:
        value = scene.value
        offer.spent = True
        fields = {
            "sender": value.party(sender),
            "receiver": value.party(receiver.identifier),
            "dso": value.party(scene.dso),
            "amount": value.record({"amount": value.amount(offer.units), "unit": value.enum(f"{scene.words.Coin}Unit")}),
            "expiresAt": value.time(scene.effective_at + 7 * DAY),
            "trackingId": value.text(tracking_id),
        }
        signatories = (sender, receiver.identifier, scene.dso)
        template = scene.templates.accepted_offer
        accepted = scene.make(template, fields, signatories, owner=sender, units=offer.units)
        scene.accepted_offers.add(accepted)
        tracking = _tracking(scene, tracking_id, sender, receiver.identifier)
        result = value.record({"acceptedTransferOffer": value.contract(accepted.identifier), "trackingInfo": tracking})
        scene.tracking[accepted.identifier] = (tracking_id, receiver.identifier)
        actors, children = [receiver.identifier], [create(accepted)]
        choice = "TransferOffer_Accept"
        return [exercise(offer, choice, value.unit(), result, actors, children, consuming=True)]

    return Draft(receiver, [view([receiver.identifier, sender])], tree, bytes_per_view=1700)


def _complete(scene: Scene, accepted: Contract) -> Draft:
    sender = scene.people.by_identifier[accepted.owner]
    tracking_id, receiver = scene.tracking[accepted.identifier]

    def tree() -> list[Node]:
        value = scene.value
        accepted.spent = True
        inputs, minted = coins.funds(scene, sender.identifier)
        if sum(coin.units for coin in inputs) < accepted.units:
            coin, node = coins.mint(scene, sender.identifier, accepted.units)
            inputs, minted = [*inputs, coin], [*minted, node]
        host = scene.people.by_identifier.get(sender.participant, sender)
        moved = coins.transfer(scene, sender.identifier, host, inputs, [(receiver, accepted.units)])
        result = value.record(
            {
                "transferResult": value.record({"round": coins.round_value(scene, scene.round_number)}),
                "trackingInfo": _tracking(scene, tracking_id, sender.identifier, receiver),
            }
        )
        argument = value.record({"walletProvider": value.party(host.identifier)})
        choice = "AcceptedTransferOffer_Complete"
        actors = [sender.identifier]
        return [*minted, exercise(accepted, choice, argument, result, actors, [moved], consuming=True)]

    views = [view([sender.identifier, receiver], view([scene.dso, sender.identifier], informees=[receiver]))]
    return Draft(sender, views, tree)


def _tracking(scene: Scene, tracking_id: str, sender: str, receiver: str) -> Any:
    value = scene.value
    return value.record(
        {
            "trackingId": value.text(tracking_id),
            "sender": value.party(sender),
            "receiver": value.party(receiver),
        }
    )
