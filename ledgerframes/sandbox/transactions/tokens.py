"""Tokens of an app's own registry: minted, transferred, burned, locked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..draft import Draft, View, view
from ..ledger import Contract, Node, archive, create, exercise
from ..parties import Party, Provider
from ..randomness import number
from ..scene import Scene, Scenery, carried_id, carried_units
from ..times import DAY
from .texts import description


def holding_of(scene: Scene, owner: str, issuer: str, units: int, identifier: str = "") -> Contract:
    """Make a token holding; `units` is its amount in units of 10**-10."""
    value = scene.value
    fields = {
        "owner": value.party(owner),
        "instrument": value.record({"issuer": value.party(issuer), "id": value.text("MEADOW")}),
        "amount": value.amount(units),
        "meta": value.record({"values": value.text_map({"meadow.note": value.text(description(scene.draws))})}),
        "lock": value.optional(None),
    }
    return scene.make(scene.templates.token, fields, (owner, issuer), (), owner, units, identifier)


def carried_owner(scenery: Scenery, slice_number: int, index: int) -> Party:
    """Return who owns the holding that one slice leaves for the next, by formula."""
    users = scenery.people.users
    return users[number(scenery.seed, "holder", slice_number, index) % len(users)]


def issuer_of(scenery: Scenery) -> Provider:
    """Return the provider whose registry keeps the tokens."""
    return scenery.people.registrar


def carried_holding(scenery: Scenery, slice_number: int, index: int) -> Contract:
    """Return the holding that a transaction left for the next slice, as its consumer needs it."""
    owner = carried_owner(scenery, slice_number, index).identifier
    return Contract(
        carried_id(scenery.seed, slice_number, index),
        scenery.templates.token,
        {},
        (owner, issuer_of(scenery).party.identifier),
        owner=owner,
        units=carried_units(scenery.seed, slice_number, index),
    )


def registry(scene: Scene) -> Contract:
    """Return the registry contract, which lasts."""
    issuer = issuer_of(scene.scenery).party.identifier
    return scene.scenery.lasting(scene.templates.registry, "registry", signatories=(issuer,))


def minted(scene: Scene, holding: Contract) -> Node:
    """Return the node that mints a holding."""
    value, issuer = scene.value, issuer_of(scene.scenery).party.identifier
    argument = value.record({"receiver": value.party(holding.owner), "amount": value.amount(holding.units)})
    result = value.contract(holding.identifier)
    return exercise(registry(scene), "Registry_Mint", argument, result, [holding.owner, issuer], [create(holding)])


def holdings(scene: Scene, owner: str, most: int) -> tuple[list[Contract], list[Node]]:
    """Take holdings of an owner; when there are none, one is minted by a root node of its own."""
    taken = scene.tokens.take(owner, most)
    if taken:
        return taken, []
    fresh = holding_of(scene, owner, issuer_of(scene.scenery).party.identifier, scene.sum(40))
    return [fresh], [minted(scene, fresh)]


def moved(scene: Scene, sender: str, receiver: str, inputs: list[Contract]) -> Node:
    """Return the node that moves holdings to a receiver, the rest going back to the sender."""
    value, issuer = scene.value, issuer_of(scene.scenery).party.identifier
    total = sum(holding.units for holding in inputs)
    units = total * scene.draws.between(10, 100) // 100
    parts = [(receiver, units)] + ([(sender, total - units)] if total > units else [])
    outputs = [holding_of(scene, owner, issuer, part) for owner, part in parts]
    for holding in outputs:
        scene.tokens.add(holding)
    argument = value.record(
        {
            "sender": value.party(sender),
            "receiver": value.party(receiver),
            "amount": value.amount(units),
            "holdings": value.list(value.contract(holding.identifier) for holding in inputs),
            "requestedAt": value.time(scene.effective_at - 1_000_000),
            "executeBefore": value.time(scene.effective_at // 1_000_000 * 1_000_000 + DAY),
        }
    )
    # The result is a plain list: not every choice answers with a record (docs/facts.md#exercise-result-any-json).
    result = value.list(value.contract(holding.identifier) for holding in outputs)
    children = [archive(holding, value.unit()) for holding in inputs] + [create(holding) for holding in outputs]
    return exercise(
        registry(scene), "Registry_Transfer", argument, result, [sender, receiver], children,
        interface=scene.templates.holding_interface,
    )  # fmt: skip


def _views(scene: Scene, owner: Party, *others: str) -> list[View]:
    issuer = issuer_of(scene.scenery).party.identifier
    return [view([owner.identifier, *others], view([issuer, owner.identifier], informees=others))]


def token_transfer(scene: Scene) -> Draft:
    """A user moves tokens to another; the registry's provider confirms."""
    sender, receiver = scene.payer(scene.tokens), scene.user()

    def tree() -> list[Node]:
        taken, roots = holdings(scene, sender.identifier, 3)
        return [*roots, moved(scene, sender.identifier, receiver.identifier, taken)]

    return Draft(sender, _views(scene, sender, receiver.identifier), tree, bytes_per_view=1300)


def token_mint(scene: Scene) -> Draft:
    """The registry mints a holding, left for the next slice to use."""
    scenery, issuer = scene.scenery, issuer_of(scene.scenery)
    owner = carried_owner(scenery, scene.slice_number, scene.index)

    def tree() -> list[Node]:
        units = carried_units(scenery.seed, scene.slice_number, scene.index)
        identifier = carried_id(scenery.seed, scene.slice_number, scene.index)
        return [minted(scene, holding_of(scene, owner.identifier, issuer.party.identifier, units, identifier))]

    return Draft(issuer.party, [view([issuer.party.identifier, owner.identifier])], tree, workflow_id="meadow-mint")


def token_burn(scene: Scene) -> Draft:
    """An owner burns holdings; the result is null."""
    owner = scene.payer(scene.tokens)

    def tree() -> list[Node]:
        return _used(scene, owner, "Registry_Burn", lambda taken: [], scene.value.optional(None))

    return Draft(owner, _views(scene, owner), tree, bytes_per_view=1100)


def token_lock(scene: Scene) -> Draft:
    """An owner locks holdings for some days."""
    owner = scene.payer(scene.tokens)

    def locked(taken: list[Contract]) -> list[Node]:
        value = scene.value
        fields = {
            "owner": value.party(owner.identifier),
            "amount": value.amount(sum(holding.units for holding in taken)),
            "lock": value.record(
                {
                    "holders": value.list([value.party(issuer_of(scene.scenery).party.identifier)]),
                    "expiresAt": value.time(scene.effective_at + 3 * DAY),
                    "optContext": value.optional(value.text(description(scene.draws))),
                }
            ),
        }
        return [create(scene.make(scene.templates.locked_token, fields, [owner.identifier]))]

    def tree() -> list[Node]:
        return _used(scene, owner, "Registry_Lock", locked, scene.value.unit())

    return Draft(owner, _views(scene, owner), tree, bytes_per_view=1200)


def _used(scene: Scene, owner: Party, choice: str, made: Callable[[list[Contract]], list[Node]], result: Any) -> list[Node]:
    value = scene.value
    taken, roots = holdings(scene, owner.identifier, 3)
    argument = value.record(
        {
            "owner": value.party(owner.identifier),
            "holdings": value.list(value.contract(holding.identifier) for holding in taken),
            "reason": value.optional(None),
        }
    )
    children = [archive(holding, value.unit()) for holding in taken] + made(taken)
    return [*roots, exercise(registry(scene), choice, argument, result, [owner.identifier], children)]
