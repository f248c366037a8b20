"""Functions of declarations for rounds, recurring events, confirmations and the start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ledger import Contract, Node
from ..parties import SV_NAMES, VALIDATOR_NAMES
from ..randomness import number
from ..rounds import FIRST_ROUND
from ..schedule import OPEN_AT_ONCE, OUTLIER_VOTER, SUBSCRIBERS
from .draft import DraftTransaction
from .rewards import coupon, round_contract
from .rights import coin_rules, dso_rules

MAX_MARKERS = 12
OUTLIER_FACTOR = 3
SVS, VALIDATORS = len(SV_NAMES), len(SV_NAMES) + len(VALIDATOR_NAMES)
# A request known by its costs: two envelopes without views, then one view (docs/facts.md#envelopes-without-views).
PLANTED_COSTS = (1444, 146, 3565)
PLANTED_MEMBER, PLANTED_EVERY, PLANTED_REMAINDER = 1, 4, 1


# Contracts that each occurrence of a recurring event replaces; occurrence -1 is the one made at the start.


def _vote(draft: DraftTransaction, member: int, occurrence: int) -> dict[str, Any]:
    """Return a price vote.

    It has no price at the start (docs/facts.md#price-vote-without-price).
    """
    drawn = 140_000 + number(draft.constants.seed, "vote", member, occurrence) % 30_000
    millionths = drawn * OUTLIER_FACTOR if member == OUTLIER_VOTER else drawn
    price = f"0.{millionths:06d}".rstrip("0") if occurrence >= 0 else None
    return {"sv": draft.parties.svs[member].identifier, "price": price}


def _status(draft: DraftTransaction, member: int, occurrence: int) -> dict[str, Any]:
    sv = draft.parties.svs[member]
    status = {"reports": True if occurrence >= 0 else None, "round_ahead": draft.round_number + 2}
    return {"sv": sv.identifier, "sv_name": sv.name, "number": occurrence + 1, **status}


def _license(draft: DraftTransaction, member: int, occurrence: int) -> dict[str, Any]:
    return {
        "validator": draft.parties.validators[member].identifier,
        "sponsor": draft.parties.svs[member % len(draft.parties.svs)].identifier,
        "first_round": FIRST_ROUND,
        "missed": member % 4,
        "start": draft.constants.rounds.start,
        "contact": f"operations+{member}@validators.invalid",
    }


def _subscription(draft: DraftTransaction, member: int, occurrence: int) -> dict[str, Any]:
    providers = draft.parties.providers
    return {
        "payer": draft.parties.users[member * 3].identifier,
        "provider": providers[member % len(providers)].party.identifier,
        "description": f"reading room, seat {member + 1}",
    }


RECURRING = {
    "price_vote": _vote,
    "status_report": _status,
    "validator_license": _license,
    "subscription": _subscription,
}


def recurring(draft: DraftTransaction, template: str) -> str:
    """Set the names of an occurrence, and return the first of them."""
    names = RECURRING[template](draft, draft.event.member, draft.event.occurrence)
    draft.names.update(names)
    if template == "price_vote" and draft.event.member == PLANTED_MEMBER:
        draft.fixed_costs = PLANTED_COSTS if draft.event.occurrence % PLANTED_EVERY == PLANTED_REMAINDER else ()
    return str(next(iter(names.values())))


def occurrence(draft: DraftTransaction, template: str, ahead: str) -> Contract:
    """Make the contract of this occurrence, or of the one before."""
    return _recurring_contract(draft, template, draft.event.member, draft.event.occurrence + int(ahead))


def _recurring_contract(draft: DraftTransaction, template: str, member: int, occurrence: int) -> Contract:
    return draft.make(template, (member, occurrence), **RECURRING[template](draft, member, occurrence))


# Mining rounds


def round_tick(draft: DraftTransaction) -> list[Node]:
    """Archive the lowest open round, whose rewards are to be calculated, and make a new one."""
    tick, constants = draft.event.occurrence, draft.constants
    lowest = FIRST_ROUND + tick
    is_traffic_based = constants.rounds.terms(lowest).is_traffic_based
    return draft.nodes(
        "DsoRules_AdvanceOpenMiningRounds[$CoinRules_AdvanceOpenMiningRounds[-lowest +summarizing +calculate +fresh]]",
        lowest=round_contract(draft, "open_round", lowest),
        middle=constants.lasting("open_round", lowest + 1),
        latest=constants.lasting("open_round", lowest + 2),
        summarizing=round_contract(draft, "summarizing_round", lowest),
        fresh=round_contract(draft, "open_round", lowest + OPEN_AT_ONCE),
        price=constants.rounds.price(lowest + OPEN_AT_ONCE),
        calculate=[round_contract(draft, "calculate_rewards", lowest)] if is_traffic_based else [],
    )


# Confirmations and featured apps


def confirmation(draft: DraftTransaction) -> list[Node]:
    """Convert waiting markers to coupons, expire a stale confirmation, or confirm an action."""
    draws, pools = draft.draws, draft.pools
    markers = pools["activity_marker"].take_any(draws, MAX_MARKERS) if draws.chance(0.5) else []
    if markers:
        coupons = [each for marker in markers for each in coupon(draft, marker.owner, "0.5")]
        tree = "DsoRules_ConvertFeaturedAppActivityMarkers[-markers +coupons]"
        return draft.nodes(tree, markers=markers, coupons=coupons)
    if stale := pools["confirmation"].any(draws):
        stale.is_spent = True
        return draft.nodes("DsoRules_ExpireStaleConfirmation[Confirmation_Expire]", confirmation=stale)
    return draft.nodes("DsoRules_ConfirmAction[+confirmation]", confirmation=draft.offer("confirmation"))


def grant_rights(draft: DraftTransaction, since: str) -> list[Node]:
    """Make the providers featured that are so since "start" or "later"."""
    nodes = []
    for provider in draft.parties.providers:
        if provider.featured == since:
            names: dict[str, Any] = {"provider": provider.party.identifier, "weight": provider.weight}
            right = draft.make("featured_right", (provider.party.identifier,), **names)
            nodes += draft.nodes("DsoRules_GrantFeaturedAppRight[+right]", right=right, **names)
    return nodes


# The first transactions: rules, rounds, rights, licenses and everything else that lasts


def _make_rules(draft: DraftTransaction) -> list[Node]:
    rounds = [round_contract(draft, "open_round", FIRST_ROUND + ahead) for ahead in range(OPEN_AT_ONCE)]
    rules = {"dso_rules": dso_rules(draft, 0), "coin_rules": coin_rules(draft, 0)}
    price = draft.constants.rounds.price(FIRST_ROUND)
    tree = "+dso_rules +coin_rules $CoinRules_Bootstrap_Rounds[+rounds]"
    return draft.nodes(tree, rounds=rounds, first_round=rounds[0], price=price, **rules)


def _make_apps(draft: DraftTransaction) -> list[Node]:
    apps = [
        draft.make(template, (app.party.identifier,), operator=app.party.identifier, name=app.party.name)
        for app in draft.parties.providers
        for template in ("venue", "batch")
    ]
    return draft.nodes("+apps", apps=[*apps, draft.make("registry", identifier=draft.names["registry"].identifier)])


def _make_first(draft: DraftTransaction, template: str, members: range) -> list[Node]:
    return draft.nodes("+first", first=[_recurring_contract(draft, template, member, -1) for member in members])


GENESIS: tuple[Callable[[DraftTransaction], list[Node]], ...] = (
    _make_rules,
    lambda draft: draft.nodes("+rules", rules=draft.make("name_rules", identifier=draft.names["name_rules"].identifier)),
    lambda draft: grant_rights(draft, "start"),
    lambda draft: _make_first(draft, "validator_license", range(VALIDATORS // 2)),
    lambda draft: _make_first(draft, "validator_license", range(VALIDATORS // 2, VALIDATORS)),
    lambda draft: _make_first(draft, "price_vote", range(SVS)),
    lambda draft: _make_first(draft, "status_report", range(SVS)),
    lambda draft: _make_first(draft, "subscription", range(SUBSCRIBERS)),
    _make_apps,
)


def genesis(draft: DraftTransaction) -> list[Node]:
    """Take one step of the start."""
    return GENESIS[draft.event.occurrence](draft)
