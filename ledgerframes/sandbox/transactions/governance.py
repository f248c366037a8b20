"""Nodes and contracts of rounds, rules, rights and recurring events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ledger import Contract
from ..parties import SVS, VALIDATORS
from ..randomness import number
from ..rounds import FIRST_ROUND
from ..schedule import CONFIG_CHANGE, OPEN_AT_ONCE, OUTLIER_VOTER, SUBSCRIBERS
from ..script import MEMBER, MESSAGES, SCRIPT, SV
from .choices.governance import (
    COIN_RULES_SET_CONFIG,
    CONFIRMATION_EXPIRE,
    DSO_RULES_ADD_SV,
    DSO_RULES_CONFIRM_ACTION,
    DSO_RULES_EXECUTE_CONFIRMED_ACTION_CONFIG,
    DSO_RULES_EXPIRE_STALE_CONFIRMATION,
    DSO_RULES_OFFBOARD_SV,
)
from .choices.rewards import (
    DSO_RULES_CONVERT_FEATURED_APP_ACTIVITY_MARKERS,
    DSO_RULES_GRANT_FEATURED_APP_RIGHT,
    DSO_RULES_REVOKE_FEATURED_APP_RIGHT,
    DSO_RULES_UPDATE_FEATURED_APP_RIGHT,
    FEATURED_APP_RIGHT_CANCEL,
    FEATURED_APP_RIGHT_UPDATE,
    FEATURED_APP_RIGHT_WITHDRAW,
)
from .choices.rounds import (
    COIN_RULES_ADVANCE_OPEN_MINING_ROUNDS,
    COIN_RULES_BOOTSTRAP_ROUNDS,
    DSO_RULES_ADVANCE_OPEN_MINING_ROUNDS,
)
from .draft import Branch, DraftTransaction
from .payments import mint, transfer
from .rewards import coupon, round_contract, super_validators
from .specs import TemplateSpec, archive, create, exercise
from .templates.apps import BATCH, REGISTRY, VENUE
from .templates.coin import ACTIVITY_MARKER, COIN, COIN_RULES, FAKE_RIGHT, FEATURED_RIGHT, VALIDATOR_LICENSE
from .templates.governance import CONFIRMATION, DSO_RULES, PRICE_VOTE, STATUS_REPORT
from .templates.rounds import CALCULATE_REWARDS, OPEN_ROUND, SUMMARIZING_ROUND
from .templates.wallet import NAME_RULES, SUBSCRIPTION

MAX_MARKERS = 12
OUTLIER_FACTOR = 3
# A request known by its costs: two envelopes without views, then one view (docs/facts.md#envelopes-without-views).
PLANTED_COSTS = (1444, 146, 3565)
PLANTED_MEMBER, PLANTED_EVERY, PLANTED_REMAINDER = 1, 4, 1
UNKNOWN_VIEWS = (98, 99)
UNKNOWN_COST = 700  # bytes of an envelope with unknown views only


# Contracts that each occurrence of a recurring event replaces; occurrence -1 is the one made at the start.


def _recurring_names(draft: DraftTransaction, template: TemplateSpec, member: int, occurrence: int) -> dict[str, Any]:
    """Return the names of an occurrence, of which the first is the submitter."""
    parties, providers, is_replacement = draft.parties, draft.parties.providers, occurrence >= 0
    sv = parties.svs[member % len(parties.svs)]
    if template is PRICE_VOTE:  # at the start without a price (docs/facts.md#price-vote-without-price)
        drawn = 140_000 + number(draft.constants.seed, "vote", member, occurrence) % 30_000
        millionths = drawn * OUTLIER_FACTOR if member == OUTLIER_VOTER else drawn
        return {"sv": sv.identifier, "price": f"0.{millionths:06d}".rstrip("0") if is_replacement else None}
    if template is STATUS_REPORT:
        report = {"reports": is_replacement or None, "round_ahead": draft.round_number + 2, "number": occurrence + 1}
        return {"sv": sv.identifier, "sv_name": sv.name, **report}
    if template is VALIDATOR_LICENSE:
        contact = f"operations+{member}@validators.invalid"
        names = {"validator": parties.validators[member].identifier, "sponsor": sv.identifier, "contact": contact}
        return {**names, "first_round": FIRST_ROUND, "missed": member % 4, "start": draft.constants.rounds.start}
    payer, provider = parties.users[member * 3], providers[member % len(providers)]
    return {"payer": payer.identifier, "provider": provider.identifier, "description": f"reading room, seat {member + 1}"}


def recurring(draft: DraftTransaction, template: TemplateSpec) -> str:
    """Set the names of an occurrence, and return the first of them."""
    names = _recurring_names(draft, template, draft.event.member, draft.event.occurrence)
    draft.names.update(names)
    if template is PRICE_VOTE and draft.event.member == PLANTED_MEMBER:
        draft.fixed_costs = PLANTED_COSTS if draft.event.occurrence % PLANTED_EVERY == PLANTED_REMAINDER else ()
    return str(next(iter(names.values())))


def occurrence(draft: DraftTransaction, template: TemplateSpec, ahead: int = 0) -> Contract:
    """Make the contract of this occurrence, or of one before or after."""
    return _recurring_contract(draft, template, draft.event.member, draft.event.occurrence + ahead)


def _recurring_contract(draft: DraftTransaction, template: TemplateSpec, member: int, occurrence: int) -> Contract:
    return draft.make(template, (member, occurrence), **_recurring_names(draft, template, member, occurrence))


# Mining rounds


def round_tick(draft: DraftTransaction) -> list[Branch]:
    """Archive the lowest open round, whose rewards are to be calculated, and make a new one."""
    tick, constants = draft.event.occurrence, draft.constants
    lowest = FIRST_ROUND + tick
    has_rewards = constants.rounds.terms(lowest).calculates_rewards
    contracts = archive("lowest"), create("summarizing"), create("calculate"), create("fresh")
    return draft.nodes(
        exercise(DSO_RULES_ADVANCE_OPEN_MINING_ROUNDS, exercise(COIN_RULES_ADVANCE_OPEN_MINING_ROUNDS, *contracts)),
        lowest=round_contract(draft, OPEN_ROUND, lowest),
        middle=constants.lasting(OPEN_ROUND, lowest + 1),
        latest=constants.lasting(OPEN_ROUND, lowest + 2),
        summarizing=round_contract(draft, SUMMARIZING_ROUND, lowest),
        fresh=round_contract(draft, OPEN_ROUND, lowest + OPEN_AT_ONCE),
        price=constants.rounds.price(lowest + OPEN_AT_ONCE),
        calculate=[round_contract(draft, CALCULATE_REWARDS, lowest)] if has_rewards else [],
    )


# Confirmations and featured apps


def confirmation(draft: DraftTransaction) -> list[Branch]:
    """Convert waiting markers to coupons, expire a stale confirmation, or confirm an action."""
    draws, pools = draft.draws, draft.pools
    markers = pools[ACTIVITY_MARKER].take_any(draws, MAX_MARKERS) if draws.chance(0.5) else []
    if markers:
        coupons = [each for marker in markers for each in coupon(draft, marker.owner, "0.5")]
        tree = exercise(DSO_RULES_CONVERT_FEATURED_APP_ACTIVITY_MARKERS, archive("markers"), create("coupons"))
        return draft.nodes(tree, markers=markers, coupons=coupons)
    if stale := pools[CONFIRMATION].any(draws):
        stale.is_spent = True
        tree = exercise(DSO_RULES_EXPIRE_STALE_CONFIRMATION, exercise(CONFIRMATION_EXPIRE))
        return draft.nodes(tree, confirmation=stale)
    tree = exercise(DSO_RULES_CONFIRM_ACTION, create("confirmation"))
    return draft.nodes(tree, confirmation=draft.offer(CONFIRMATION))


def grant_rights(draft: DraftTransaction, since: str) -> list[Branch]:
    """Make the providers featured that are so since "start" or "later"."""
    nodes = []
    for provider in draft.parties.providers:
        if provider.featured == since:
            names: dict[str, Any] = {"provider": provider.identifier, "weight": provider.weight}
            right = draft.make(FEATURED_RIGHT, (provider.identifier,), **names)
            nodes += draft.nodes(exercise(DSO_RULES_GRANT_FEATURED_APP_RIGHT, create("right")), right=right, **names)
    return nodes


# Rules, with a contract for each version


def dso_rules(draft: DraftTransaction, version: int) -> Contract:
    """Make a version of the DSO's rules, with the member in every second one."""
    svs = [
        {"sv": sv.identifier, "name": sv.name, "weight": weight, "participantId": f"PAR::{sv.participant}"}
        for sv, weight in super_validators(draft, version)
    ]
    return draft.make(DSO_RULES, (version,), svs=svs)


def coin_rules(draft: DraftTransaction, version: int) -> Contract:
    """Make a version of the coin rules."""
    terms = draft.constants.rounds.terms_of_release(version)
    versions = {"minting_version": terms.minting_version, "dry_run_version": terms.dry_run_version}
    names: dict[str, Any] = {"traffic_price": str(terms.traffic_price), **versions}
    return draft.make(COIN_RULES, (version,), per_year=f"{terms.per_year}.0", **names)


# The first transactions: rules, rounds, rights, licenses and everything else that lasts


def _make_rules(draft: DraftTransaction) -> list[Branch]:
    rounds = [round_contract(draft, OPEN_ROUND, FIRST_ROUND + ahead) for ahead in range(OPEN_AT_ONCE)]
    rules = {"dso_rules": dso_rules(draft, 0), "coin_rules": coin_rules(draft, 0)}
    price = draft.constants.rounds.price(FIRST_ROUND)
    tree = create("dso_rules"), create("coin_rules"), exercise(COIN_RULES_BOOTSTRAP_ROUNDS, create("rounds"))
    return draft.nodes(*tree, rounds=rounds, first_round=rounds[0], price=price, **rules)


def _make_apps(draft: DraftTransaction) -> list[Branch]:
    apps = [
        draft.make(template, (app.identifier,), operator=app.identifier, name=app.name)
        for app in draft.parties.providers
        for template in (VENUE, BATCH)
    ]
    return draft.nodes(create("apps"), apps=[*apps, draft.make(REGISTRY, identifier=draft.names["registry"].identifier)])


def _make_first(draft: DraftTransaction, template: TemplateSpec, members: range) -> list[Branch]:
    return draft.nodes(create("first"), first=[_recurring_contract(draft, template, member, -1) for member in members])


GENESIS: tuple[Callable[[DraftTransaction], list[Branch]], ...] = (
    _make_rules,
    lambda draft: draft.nodes(create("rules"), rules=draft.make(NAME_RULES, identifier=draft.names["name_rules"].identifier)),
    lambda draft: grant_rights(draft, "start"),
    lambda draft: _make_first(draft, VALIDATOR_LICENSE, range(VALIDATORS // 2)),
    lambda draft: _make_first(draft, VALIDATOR_LICENSE, range(VALIDATORS // 2, VALIDATORS)),
    lambda draft: _make_first(draft, PRICE_VOTE, range(SVS)),
    lambda draft: _make_first(draft, STATUS_REPORT, range(SVS)),
    lambda draft: _make_first(draft, SUBSCRIPTION, range(SUBSCRIBERS)),
    _make_apps,
)


def genesis(draft: DraftTransaction) -> list[Branch]:
    """Take one step of the start."""
    return GENESIS[draft.event.occurrence](draft)


# Changes of state


def change_state(draft: DraftTransaction) -> list[Branch]:
    """Change the state of the network by a step of the script, or its configuration."""
    if draft.event.member == CONFIG_CHANGE:
        old, new = (coin_rules(draft, draft.event.occurrence + ahead) for ahead in (0, 1))
        price = str(draft.constants.rounds.terms_of_release(draft.event.occurrence + 1).traffic_price)
        tree = exercise(DSO_RULES_EXECUTE_CONFIRMED_ACTION_CONFIG, exercise(COIN_RULES_SET_CONFIG, create("new_rules")))
        return draft.nodes(tree, coin_rules=old, new_rules=new, traffic_price=price)
    action = SCRIPT[draft.event.member].action
    return draft.nodes(CHANGES[action[0]], **_names_of_change(draft, *action))


def _right(draft: DraftTransaction, party: str, slot: str) -> Contract:
    """Make a right of the script, with the factor that it was made with."""
    rounds = draft.constants.rounds
    (right,) = (
        right
        for right in rounds.schedule.script.rights()
        if (right.party, right.slot, right.cycle) == (party, slot, draft.event.occurrence)
    )
    provider = draft.parties.planted[party].identifier
    return draft.make(FEATURED_RIGHT, identifier=rounds.right_id(right), provider=provider, weight=right.weight)


CHANGES = {  # tree of each action of the script
    "grant": exercise(DSO_RULES_GRANT_FEATURED_APP_RIGHT, create("right")),
    "withdraw": exercise(DSO_RULES_REVOKE_FEATURED_APP_RIGHT, exercise(FEATURED_APP_RIGHT_WITHDRAW)),
    "cancel": exercise(FEATURED_APP_RIGHT_CANCEL),
    "update": exercise(DSO_RULES_UPDATE_FEATURED_APP_RIGHT, exercise(FEATURED_APP_RIGHT_UPDATE, create("renewed"))),
    "imitate": create("fake"),
    "add": exercise(DSO_RULES_ADD_SV, create("new_rules")),
    "offboard": exercise(DSO_RULES_OFFBOARD_SV, create("new_rules")),
}


def _names_of_change(draft: DraftTransaction, what: str, party: str = "", slot: str = "", *rest: str) -> dict[str, Any]:
    """Return the names of an action of the script."""
    if not party:
        version, member = draft.constants.schedule.script.dso_rules_version(draft.event.time), draft.parties.member
        rules = {"dso_rules": dso_rules(draft, version), "new_rules": dso_rules(draft, version + 1)}
        return {**rules, "member": member.identifier, "member_name": member.name, "member_id": f"PAR::{member.participant}"}
    names: dict[str, Any] = {"provider": draft.parties.planted[party].identifier}
    if what == "imitate":  # a contract that looks like a right, from a package that anybody may upload
        return {"fake": draft.make(FAKE_RIGHT, impostor=draft.parties.users[-1].identifier, **names)}
    names |= {"right": _right(draft, party, slot), "weight": (rest[-1] if rest else "") or None}
    return names | {"renewed": _right(draft, party, rest[0])} if what == "update" else names


# Requests


def scripted_sender(draft: DraftTransaction) -> str:
    """Set the parties and costs of a request of the script, and return its submitter."""
    step, parties = SCRIPT[draft.event.member], draft.parties
    sender = {SV: parties.svs[1], MEMBER: parties.member}.get(step.submitter, parties.users[5]).identifier
    party = parties.planted[step.party].identifier
    draft.names["confirming"] = [sender] if step.is_second else [sender, party]
    draft.names["second"] = [party] if step.is_second else []
    draft.names["receiver"] = parties.users[6].identifier
    draft.fixed_costs = (*MESSAGES, step.total - sum(MESSAGES))
    if step.has_unknown_views:
        draft.fixed_costs = (*MESSAGES, step.total - sum(MESSAGES) - UNKNOWN_COST, UNKNOWN_COST)
        draft.fixed_views = ([], [], [0, UNKNOWN_VIEWS[1]], [UNKNOWN_VIEWS[0]])
    return sender


def scripted_transfer(draft: DraftTransaction) -> list[Branch]:
    """Transfer a coin."""
    sender, receiver = draft.names["sender"], draft.names["receiver"]
    coin = mint(draft, sender, draft.draw_units(20))
    return transfer(draft, sender, sender, [coin], [draft.make(COIN, owner=receiver, units=coin.units // 2)])
