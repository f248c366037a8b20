"""The SVs' work: price votes, status reports, confirmations, markers turned into coupons, featured apps."""

from __future__ import annotations

from typing import Any

from ..draft import Draft, View, view
from ..ledger import Contract, Node, archive, create, exercise
from ..parties import Party, Provider
from ..randomness import number
from ..scene import Scene
from ..times import DAY
from . import coins

MOST_MARKERS = 12
# A request that people know by its costs: two envelopes without views, then one view (docs/facts.md#envelopes-without-views).
PLANTED_COSTS = (1444, 146, 3565)
PLANTED_MEMBER, PLANTED_EVERY, PLANTED_REMAINDER = 1, 4, 1


def _views(scene: Scene, sv: str, two_quorums: bool) -> list[View]:
    root = view([scene.dso, sv])
    root.extra_quorum = [scene.dso] if two_quorums else ()
    return [root]


def vote_price(seed: int, member: int, occurrence: int) -> str:
    """Return the price in USD that an SV votes for, as the short decimal that the wire shows."""
    return f"0.{120_000 + number(seed, 'vote', member, occurrence) % 60_000:06d}".rstrip("0")


def price_vote_contract(scene: Scene, sv: Party, member: int, occurrence: int) -> Contract:
    """Make the vote of an SV; occurrence -1 is the empty vote that every SV starts with.

    See docs/facts.md#price-vote-without-price.
    """
    value, seed = scene.value, scene.scenery.seed
    price = value.numeric(vote_price(seed, member, occurrence)) if occurrence >= 0 else None
    fields = {
        "dso": value.party(scene.dso),
        "sv": value.party(sv.identifier),
        f"{scene.words.coin}Price": value.optional(price),
        "lastUpdatedAt": value.time(scene.effective_at),
    }
    identifier = scene.scenery.lasting(scene.templates.price_vote, "price vote", member, occurrence).identifier
    return scene.make(scene.templates.price_vote, fields, (scene.dso,), (sv.identifier,), identifier=identifier)


def price_vote(scene: Scene) -> Draft:
    """An SV replaces its price vote."""
    sv = scene.people.svs[scene.member]

    def tree() -> list[Node]:
        value = scene.value
        old = price_vote_contract(scene, sv, scene.member, scene.occurrence - 1)
        new = price_vote_contract(scene, sv, scene.member, scene.occurrence)
        argument = value.record(
            {
                "sv": value.party(sv.identifier),
                "voteCid": value.contract(old.identifier),
                f"{scene.words.coin}Price": value.numeric(vote_price(scene.scenery.seed, scene.member, scene.occurrence)),
            }
        )
        result = value.record({f"{scene.words.coin}PriceVote": value.contract(new.identifier)})
        children = [archive(old, value.unit()), create(new)]
        choice = f"DsoRules_Update{scene.words.Coin}PriceVote"
        return [exercise(scene.scenery.dso_rules, choice, argument, result, [sv.identifier], children)]

    planted = scene.member == PLANTED_MEMBER and scene.occurrence % PLANTED_EVERY == PLANTED_REMAINDER
    return Draft(sv, _views(scene, sv.identifier, False), tree, fixed_costs=PLANTED_COSTS if planted else ())


def status_contract(scene: Scene, sv: Party, member: int, occurrence: int) -> Contract:
    """Make the status report of an SV; occurrence -1 is the one made at the start."""
    value = scene.value
    fields = {
        "dso": value.party(scene.dso),
        "sv": value.party(sv.identifier),
        "svName": value.text(sv.name),
        "number": value.integer(occurrence + 1),
        "status": value.optional(_status(scene) if occurrence >= 0 else None),
    }
    identifier = scene.scenery.lasting(scene.templates.status_report, "status", member, occurrence).identifier
    return scene.make(scene.templates.status_report, fields, (scene.dso,), (sv.identifier,), identifier=identifier)


def _status(scene: Scene) -> Any:
    value = scene.value
    clock = scene.effective_at - scene.effective_at % 1000
    return value.record(
        {
            "createdAt": value.time(clock),
            "mediatorSynchronizerTime": value.time(clock - 210_000),
            "participantSynchronizerTime": value.time(clock - 350_000),
            "latestOpenRound": coins.round_value(scene, scene.round_number + 2),
        }
    )


def status_report(scene: Scene) -> Draft:
    """An SV replaces its status report."""
    sv = scene.people.svs[scene.member]

    def tree() -> list[Node]:
        value = scene.value
        old = status_contract(scene, sv, scene.member, scene.occurrence - 1)
        new = status_contract(scene, sv, scene.member, scene.occurrence)
        argument = value.record(
            {
                "sv": value.party(sv.identifier),
                "previousReportCid": value.contract(old.identifier),
                "status": _status(scene),
            }
        )
        result = value.record({"newReport": value.contract(new.identifier)})
        children = [archive(old, value.unit()), create(new)]
        choice = "DsoRules_SubmitStatusReport"
        return [exercise(scene.scenery.dso_rules, choice, argument, result, [sv.identifier], children)]

    return Draft(sv, _views(scene, sv.identifier, True), tree)


def confirmation(scene: Scene) -> Draft:
    """An SV turns waiting markers into coupons, expires a stale confirmation, or confirms an action."""
    sv = scene.draws.pick(scene.people.svs)

    def tree() -> list[Node]:
        markers = scene.markers.take_some(scene.draws, MOST_MARKERS) if scene.draws.chance(0.5) else []
        if markers:
            return [_converted(scene, sv.identifier, markers)]
        stale = scene.confirmations.any(scene.draws)
        return [_expired(scene, sv.identifier, stale) if stale else _confirmed(scene, sv.identifier)]

    return Draft(sv, _views(scene, sv.identifier, scene.draws.chance(0.8)), tree, bytes_per_view=2200)


def _converted(scene: Scene, sv: str, markers: list[Contract]) -> Node:
    value = scene.value
    providers = [scene.people.provider_by_identifier[marker.owner] for marker in markers]
    coupons = [coins.coupon(scene, provider, "0.5") for provider in providers]
    argument = value.record(
        {
            "markerCids": value.list(value.contract(marker.identifier) for marker in markers),
            "openRound": value.contract(coins.open_round_id(scene.scenery, scene.round_number)),
            "sv": value.party(sv),
        }
    )
    result = value.record({"couponCids": value.list(value.contract(coupon.identifier) for coupon in coupons)})
    children = [archive(marker, value.unit()) for marker in markers] + [create(coupon) for coupon in coupons]
    choice = "DsoRules_ConvertFeaturedAppActivityMarkers"
    return exercise(scene.scenery.dso_rules, choice, argument, result, [sv], children)


def _confirmed(scene: Scene, sv: str) -> Node:
    value, words = scene.value, scene.words
    action = value.variant(
        f"ARC_{words.Coin}Rules",
        value.record({f"{words.coin}RulesAction": value.variant("CRARC_SetConfig", value.unit())}),
    )
    fields = {
        "dso": value.party(scene.dso),
        "action": action,
        "confirmer": value.party(sv),
        "expiresAt": value.time(scene.effective_at + DAY // 24),
    }
    made = scene.make(scene.templates.confirmation, fields, (scene.dso,), (), sv)
    scene.confirmations.add(made)
    argument = value.record({"action": action, "confirmer": value.party(sv)})
    result = value.record({"confirmation": value.contract(made.identifier)})
    return exercise(scene.scenery.dso_rules, "DsoRules_ConfirmAction", argument, result, [sv], [create(made)])


def _expired(scene: Scene, sv: str, stale: Contract) -> Node:
    value = scene.value
    stale.spent = True
    gone = value.enum("Confirmation_ExpireResult")
    inner = exercise(stale, "Confirmation_Expire", value.unit(), gone, [scene.dso], consuming=True)
    argument = value.record({"staleConfirmationCid": value.contract(stale.identifier), "sv": value.party(sv)})
    result = value.enum("DsoRules_ExpireStaleConfirmationResult")
    choice = "DsoRules_ExpireStaleConfirmation"
    return exercise(scene.scenery.dso_rules, choice, argument, result, [sv], [inner])


def granted(scene: Scene, provider: Provider) -> Node:
    """Return the node that makes a provider a featured one."""
    value, party = scene.value, provider.party.identifier
    weight = value.optional(value.numeric(provider.weight) if provider.weight else None)
    fields = {"dso": value.party(scene.dso), "provider": value.party(party), "activityWeight": weight}
    identifier = scene.scenery.featured_right(provider).identifier
    right = scene.make(scene.templates.featured_right, fields, (scene.dso,), (party,), identifier=identifier)
    argument = value.record({"provider": value.party(party), "activityWeight": weight})
    result = value.record({"featuredAppRight": value.contract(identifier)})
    choice = "DsoRules_GrantFeaturedAppRight"
    return exercise(scene.scenery.dso_rules, choice, argument, result, [scene.dso], [create(right)])


def feature(scene: Scene) -> Draft:
    """The SVs make one more provider featured."""
    sv = scene.people.svs[0]
    late = [provider for provider in scene.people.providers if provider.featured == "later"]

    def tree() -> list[Node]:
        return [granted(scene, provider) for provider in late]

    return Draft(sv, _views(scene, sv.identifier, True), tree)
