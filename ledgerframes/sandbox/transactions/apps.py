"""What apps do for themselves: markers of featured activity, wide batches, names bought by their users."""

from __future__ import annotations

from ..draft import Draft, view
from ..ledger import Node, create, exercise
from ..parties import Provider
from ..scene import Scene
from ..times import DAY
from . import coins
from .texts import description, entry_name

BATCH_STEPS = 13  # three nodes each, and the root: forty nodes


def marked(scene: Scene, provider: Provider, count: int) -> Node:
    """Return the node by which a featured provider marks its activity, `count` markers wide."""
    value, party = scene.value, provider.party.identifier
    markers = []
    for _ in range(count):
        fields = {
            "dso": value.party(scene.dso),
            "provider": value.party(party),
            "beneficiary": value.party(party),
            "weight": value.numeric("1.0" if count == 1 else "0.25"),
        }
        marker = scene.make(scene.templates.activity_marker, fields, (scene.dso,), (party,), party)
        scene.markers.add(marker)
        markers.append(marker)
    shares = value.list(value.record({"beneficiary": value.party(party), "weight": value.numeric("1.0")}) for _ in markers)
    result = value.record({"activityMarkerCids": value.list(value.contract(marker.identifier) for marker in markers)})
    argument = value.record({"beneficiaries": shares})
    right, choice = scene.scenery.featured_right(provider), "FeaturedAppRight_CreateActivityMarker"
    return exercise(right, choice, argument, result, [party], [create(marker) for marker in markers])


def activity_marker(scene: Scene) -> Draft:
    """A featured provider marks activity of its app."""
    featured = [provider for provider in scene.people.providers if provider.featured == "start"]
    provider = scene.draws.pick(featured)
    count = scene.draws.between(1, 8)

    def tree() -> list[Node]:
        return [marked(scene, provider, count)]

    return Draft(provider.party, [view([provider.party.identifier], informees=[scene.dso])], tree, bytes_per_view=1800)


def app_batch(scene: Scene) -> Draft:
    """An app runs many steps in one transaction: forty nodes, up to eight views."""
    provider, customers = (
        scene.people.provider(scene.draws),
        [scene.user() for _ in range(scene.draws.between(2, 7))],
    )
    operator = provider.party.identifier

    def tree() -> list[Node]:
        value = scene.value
        children: list[Node] = []
        for step in range(BATCH_STEPS):
            children += _step(scene, operator, customers[step % len(customers)].identifier, step)
        argument = value.record({"steps": value.integer(BATCH_STEPS), "dryRun": value.boolean(False)})
        runner = scene.scenery.lasting(scene.templates.batch, "batch", operator, signatories=(operator,))
        return [exercise(runner, "BatchRunner_Run", argument, value.unit(), [operator], children)]

    inner = [view([operator, customer.identifier]) for customer in customers]
    return Draft(provider.party, [view([operator], *inner)], tree, bytes_per_view=2600, workflow_id="meadow-batch")


def _step(scene: Scene, operator: str, customer: str, step: int) -> list[Node]:
    """One step makes a ticket and processes it, which leaves a stamped one behind."""
    value = scene.value
    fields = {
        "operator": value.party(operator),
        "customer": value.party(customer),
        "step": value.integer(step),
        "state": value.enum("Queued"),
    }
    ticket = scene.make(scene.templates.ticket, fields, (operator,), (customer,))
    stamped = scene.make(scene.templates.ticket, {**fields, "state": value.enum("Stamped")}, (operator,), (customer,))
    argument = value.record({"step": value.integer(step)})
    result = value.contract(stamped.identifier)
    node = exercise(ticket, "Ticket_Process", argument, result, [operator], [create(stamped)], consuming=True)
    return [create(ticket), node]


def private_exchange(scene: Scene) -> Draft:
    """An app and its customers agree unseen by the DSO: the history has the verdict only."""
    provider, customers = scene.people.provider(scene.draws), [scene.user(), scene.user()]
    operator = provider.party.identifier
    inner = [view([operator, customer.identifier]) for customer in customers[: scene.draws.between(0, 2)]]
    root = view([operator], *inner, informees=[customer.identifier for customer in customers])
    return Draft(provider.party, [root], bytes_per_view=1400)


def name_entry(scene: Scene) -> Draft:
    """A user buys a name: a coin payment and the entry, as two roots of one transaction."""
    user, sv = scene.payer(scene.coins), scene.draws.pick(scene.people.svs)

    def tree() -> list[Node]:
        value = scene.value
        inputs, minted = coins.funds(scene, user.identifier)
        paid = coins.transfer(scene, user.identifier, sv, inputs, [(scene.dso, min(inputs[0].units, 10**10))])
        fields = {
            "user": value.party(user.identifier),
            "dso": value.party(scene.dso),
            "name": value.text(entry_name(scene.draws)),
            "url": value.text("https://names.invalid/" + user.name),
            "description": value.text(description(scene.draws)),
            "expiresAt": value.time(scene.effective_at + 90 * DAY),
        }
        entry = scene.make(scene.templates.name_entry, fields, (user.identifier, scene.dso))
        argument = value.record({name: fields[name] for name in ("user", "name", "url", "description")})
        result = value.record({"entryCid": value.contract(entry.identifier)})
        bought = exercise(
            scene.scenery.name_rules,
            "AnsRules_BuyEntry",
            argument,
            result,
            [user.identifier],
            [create(entry)],
        )
        return [*minted, paid, bought]

    return Draft(user, [view([scene.dso, user.identifier]), view([scene.dso, user.identifier])], tree)
