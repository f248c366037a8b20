"""The first transactions of the world: rules, rounds, rights, licences and everything else that lasts."""

from __future__ import annotations

from typing import Any

from ..draft import Draft, view
from ..ledger import Contract, Node, create, exercise
from ..rounds import FIRST_ROUND, OPEN_AT_ONCE
from ..scene import Scene
from ..schedule import SUBSCRIBERS
from ..times import DAY
from . import governance, mining, reports, tokens


def genesis(scene: Scene) -> Draft:
    """One step of the start; which one, the number of the occurrence says."""
    sv = scene.people.svs[0]

    def tree() -> list[Node]:
        return STEPS[scene.occurrence](scene)

    return Draft(sv, [view([scene.dso, sv.identifier])], tree)


def _rules(scene: Scene) -> list[Node]:
    value, dso_rules = scene.value, scene.scenery.dso_rules
    dso_fields = {
        "dso": value.party(scene.dso),
        "epoch": value.integer(0),
        "svs": value.pairs(
            (value.party(sv.identifier), _sv_info(scene, position)) for position, sv in enumerate(scene.people.svs)
        ),
        "offboardedSvs": value.pairs([]),
        "isDevNet": value.boolean(False),
    }
    coin_fields = {
        "dso": value.party(scene.dso),
        "configSchedule": value.record(
            {
                "initialValue": value.record({"transferConfig": mining.transfer_config(scene)}),
                "futureValues": value.list([]),
            }
        ),
        "isDevNet": value.boolean(False),
    }
    rounds = [mining.open_round(scene, FIRST_ROUND + position) for position in range(OPEN_AT_ONCE)]
    argument = value.record({f"{scene.words.coin}Price": value.numeric(scene.scenery.rounds.price(FIRST_ROUND))})
    opened = value.contract(rounds[0].identifier)
    choice = f"{scene.words.Coin}Rules_Bootstrap_Rounds"
    coin_rules = _made(scene, scene.scenery.coin_rules, coin_fields)
    started = exercise(coin_rules, choice, argument, opened, [scene.dso], [create(made) for made in rounds])
    return [create(_made(scene, dso_rules, dso_fields)), create(coin_rules), started]


def _sv_info(scene: Scene, position: int) -> Any:
    value, sv = scene.value, scene.people.svs[position]
    return value.record(
        {
            "name": value.text(sv.name),
            "joinedAsOfRound": value.record({"number": value.integer(0)}),
            "svRewardWeight": value.integer(100_000 - 10_000 * position),
            "participantId": value.text(f"PAR::{sv.participant}"),
        }
    )


def _made(scene: Scene, lasting: Contract, fields: dict[str, Any]) -> Contract:
    """Make a contract that is known by name; its signatories are those that the name implies."""
    return scene.make(lasting.template, fields, lasting.signatories, identifier=lasting.identifier)


def _names(scene: Scene) -> list[Node]:
    value = scene.value
    config = value.record(
        {
            "renewalDuration": value.duration(30 * DAY),
            "entryLifetime": value.duration(90 * DAY),
            "entryFee": value.numeric("1.0"),
            "descriptionPrefix": value.text("name entry: "),
        }
    )
    return [create(_made(scene, scene.scenery.name_rules, {"dso": value.party(scene.dso), "config": config}))]


def _featured(scene: Scene) -> list[Node]:
    return [governance.granted(scene, provider) for provider in scene.people.providers if provider.featured == "start"]


def _licenses(scene: Scene) -> list[Node]:
    half = len(scene.people.validators) // 2
    members = range(half) if scene.occurrence == STEPS.index(_licenses) else range(half, len(scene.people.validators))
    return [create(reports.license_contract(scene, member, -1)) for member in members]


def _votes(scene: Scene) -> list[Node]:
    svs = enumerate(scene.people.svs)
    return [create(governance.price_vote_contract(scene, sv, member, -1)) for member, sv in svs]


def _status(scene: Scene) -> list[Node]:
    svs = enumerate(scene.people.svs)
    return [create(governance.status_contract(scene, sv, member, -1)) for member, sv in svs]


def _subscriptions(scene: Scene) -> list[Node]:
    return [create(reports.subscription_contract(scene, member, -1)) for member in range(SUBSCRIBERS)]


def _apps(scene: Scene) -> list[Node]:
    value, scenery, nodes = scene.value, scene.scenery, []
    for provider in scene.people.providers:
        operator = provider.party.identifier
        fields = {"operator": value.party(operator), "name": value.text(provider.party.name)}
        for template, name in ((scene.templates.venue, "venue"), (scene.templates.batch, "batch")):
            lasting = scenery.lasting(template, name, operator, signatories=(operator,))
            nodes.append(create(_made(scene, lasting, fields)))
    issuer = value.party(tokens.issuer_of(scenery).party.identifier)
    return [
        *nodes,
        create(_made(scene, tokens.registry(scene), {"issuer": issuer, "id": value.text("MEADOW")})),
    ]


STEPS = (_rules, _names, _featured, _licenses, _licenses, _votes, _status, _subscriptions, _apps)
