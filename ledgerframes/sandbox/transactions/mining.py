"""Mining rounds on the ledger: the tick by which an SV moves them on, and the race that another loses."""

from __future__ import annotations

from typing import Any

from ..draft import Draft, View, view
from ..ledger import Contract, Node, archive, create, exercise
from ..rounds import FIRST_ROUND
from ..scene import Scene
from ..schedule import TICK
from . import governance
from .coins import HOLDING_FEE, open_round_id, round_value

CLOSING_AFTER, KEPT_CLOSED = 4, 6  # ticks from archive to close, and from close to the end


def open_round(scene: Scene, round_number: int) -> Contract:
    """Make the contract of an open round."""
    value, rounds = scene.value, scene.scenery.rounds
    opens_at = rounds.opens_at(round_number)
    fields = {
        "dso": value.party(scene.dso),
        "round": round_value(scene, round_number),
        f"{scene.words.coin}Price": value.numeric(rounds.price(round_number)),
        "opensAt": value.time(opens_at),
        "targetClosesAt": value.time(opens_at + 2 * TICK),
        "issuingFor": value.duration((round_number - FIRST_ROUND) * TICK),
        "transferConfigUsd": transfer_config(scene),
        "issuanceConfig": _issuance(scene),
        "tickDuration": value.duration(TICK),
    }
    identifier = open_round_id(scene.scenery, round_number)
    return scene.make(scene.templates.open_round, fields, (scene.dso,), identifier=identifier)


def transfer_config(scene: Scene) -> Any:
    """Encode the fees of transfers."""
    value = scene.value
    free = value.record({"fee": value.numeric("0.0")})
    return value.record(
        {
            "createFee": free,
            "holdingFee": value.record({"rate": value.numeric(HOLDING_FEE)}),
            "transferFee": value.record({"initialRate": value.numeric("0.0"), "steps": value.list([])}),
            "lockHolderFee": free,
            "extraFeaturedAppRewardAmount": value.numeric("1.0"),
            "maxNumInputs": value.integer(100),
            "maxNumOutputs": value.integer(100),
            "maxNumLockHolders": value.integer(50),
        }
    )


def _issuance(scene: Scene) -> Any:
    value = scene.value
    return value.record(
        {
            f"{scene.words.coin}ToIssuePerYear": value.numeric("5000000000.0"),
            "validatorRewardPercentage": value.numeric("0.2"),
            "appRewardPercentage": value.numeric("0.6"),
            "validatorRewardCap": value.numeric("0.25"),
            "featuredAppRewardCap": value.numeric("2.0"),
            "unfeaturedAppRewardCap": value.numeric("0.5"),
            "optValidatorFaucetCap": value.optional(value.numeric("3.0")),
        }
    )


def _views(scene: Scene, sv: str) -> list[View]:
    root = view([scene.dso, sv])
    root.extra_quorum = [scene.dso]
    return [root]


def round_tick(scene: Scene) -> Draft:
    """An SV archives the lowest open round, makes a new one, and moves the older ones on."""
    sv = scene.draws.pick(scene.people.svs)
    lowest = FIRST_ROUND + scene.occurrence

    def tree() -> list[Node]:
        roots = [_advance(scene, sv.identifier, lowest)]
        if scene.occurrence >= 1:
            roots.append(_start_issuing(scene, sv.identifier, lowest - 1))
        if scene.occurrence >= CLOSING_AFTER:
            roots.append(_close(scene, sv.identifier, lowest - CLOSING_AFTER))
        if scene.occurrence >= CLOSING_AFTER + KEPT_CLOSED:
            oldest = _later_state(scene, "closed round", lowest - CLOSING_AFTER - KEPT_CLOSED)
            roots.append(archive(oldest, scene.value.unit()))
        return roots

    return Draft(sv, _views(scene, sv.identifier), tree, bytes_per_view=4200)


def round_race(scene: Scene) -> Draft:
    """Another SV tries the same and is rejected; before verdicts were kept, it confirms something."""
    if not scene.rejected:
        return governance.confirmation(scene)
    sv = scene.draws.pick(scene.people.svs)
    return Draft(sv, _views(scene, sv.identifier), bytes_per_view=4200)


def _later_state(scene: Scene, state: str, round_number: int) -> Contract:
    """Make the contract of a round that is no longer open: summarizing, issuing or closed."""
    value, templates = scene.value, scene.templates
    template = {
        "summarizing round": templates.summarizing_round,
        "issuing round": templates.issuing_round,
        "closed round": templates.closed_round,
    }[state]
    fields = {"dso": value.party(scene.dso), "round": round_value(scene, round_number)}
    if state == "issuing round":
        opens_at = scene.scenery.rounds.opens_at(round_number) + 3 * TICK
        rewards = (
            "ValidatorRewardCoupon",
            "FeaturedAppRewardCoupon",
            "UnfeaturedAppRewardCoupon",
            "SvRewardCoupon",
        )
        fields |= {f"issuancePer{name}": value.numeric("0E-10") for name in rewards}
        fields |= {"opensAt": value.time(opens_at), "targetClosesAt": value.time(opens_at + 2 * TICK)}
    identifier = scene.scenery.lasting(template, state, round_number).identifier
    return scene.make(template, fields, (scene.dso,), identifier=identifier)


def _advance(scene: Scene, sv: str, lowest: int) -> Node:
    value, words = scene.value, scene.words
    fresh = open_round(scene, lowest + 3)
    summarizing = _later_state(scene, "summarizing round", lowest)
    opened = [value.contract(open_round_id(scene.scenery, lowest + ahead)) for ahead in range(3)]
    choice_argument = {
        f"{words.coin}Price": value.numeric(scene.scenery.rounds.price(lowest + 3)),
        "roundToArchiveCid": opened[0],
        "middleRoundCid": opened[1],
        "latestRoundCid": opened[2],
    }
    result = value.record(
        {
            "summarizingRoundCid": value.contract(summarizing.identifier),
            "openRoundCid": value.contract(fresh.identifier),
        }
    )
    children = [archive(open_round(scene, lowest), value.unit()), create(summarizing), create(fresh)]
    argument = value.record(choice_argument)
    choice = f"{words.Coin}Rules_AdvanceOpenMiningRounds"
    inner = exercise(scene.scenery.coin_rules, choice, argument, result, [scene.dso], children)
    rules = {
        f"{words.coin}RulesCid": value.contract(scene.scenery.coin_rules.identifier),
        "sv": value.party(sv),
    }
    outer_argument = value.record({**rules, "choiceArg": argument})
    rules_choice = "DsoRules_AdvanceOpenMiningRounds"
    return exercise(scene.scenery.dso_rules, rules_choice, outer_argument, result, [sv], [inner])


def _moved_on(scene: Scene, sv: str, round_number: int, choice: str, before: str, after: str) -> Node:
    value = scene.value
    old, new = _later_state(scene, before, round_number), _later_state(scene, after, round_number)
    argument = value.record({"miningRoundCid": value.contract(old.identifier), "sv": value.optional(value.party(sv))})
    result = value.record({"newRoundCid": value.contract(new.identifier)})
    children = [archive(old, value.unit()), create(new)]
    return exercise(scene.scenery.dso_rules, choice, argument, result, [sv], children)


def _start_issuing(scene: Scene, sv: str, round_number: int) -> Node:
    choice = "DsoRules_MiningRound_StartIssuing"
    return _moved_on(scene, sv, round_number, choice, "summarizing round", "issuing round")


def _close(scene: Scene, sv: str, round_number: int) -> Node:
    return _moved_on(scene, sv, round_number, "DsoRules_MiningRound_Close", "issuing round", "closed round")
