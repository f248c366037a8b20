"""Functions of declarations for the script of planted cases and the network's rules."""

from __future__ import annotations

from typing import Any

from ..ledger import Contract, Node
from ..planted import MEMBER, MESSAGES, SCRIPT, SV
from ..schedule import CONFIG_CHANGE
from .draft import DraftTransaction
from .payments import mint, transfer
from .rewards import SV_WEIGHTS

UNKNOWN_VIEWS = (98, 99)
UNKNOWN_COST = 700  # bytes of an envelope with unknown views only
MEMBER_WEIGHT = 10_000


# Rules, with a contract for each version


def dso_rules(draft: DraftTransaction, version: int) -> Contract:
    """Make a version of the DSO's rules, with the member in every second one."""
    members = list(zip(draft.parties.svs, SV_WEIGHTS, strict=True))
    if version % 2:
        members.append((draft.parties.member, MEMBER_WEIGHT))
    svs = [
        {"sv": sv.identifier, "name": sv.name, "weight": weight, "participantId": f"PAR::{sv.participant}"}
        for sv, weight in members
    ]
    return draft.make("dso_rules", (version,), svs=svs)


def coin_rules(draft: DraftTransaction, version: int) -> Contract:
    """Make a version of the coin rules."""
    rounds = draft.constants.rounds
    terms = rounds.config((0, *rounds.schedule.config_changes)[version] + 1)[1]
    return draft.make(
        "coin_rules",
        (version,),
        traffic_price=str(terms.traffic_price),
        minting_version=terms.minting_version,
        per_year=f"{terms.per_year}.0",
    )


# Changes of state


def change_state(draft: DraftTransaction) -> list[Node]:
    """Change the state of the network by a step of the script, or its configuration."""
    if draft.event.member == CONFIG_CHANGE:
        old, new = (coin_rules(draft, draft.event.occurrence + ahead) for ahead in (0, 1))
        price = str(draft.constants.rounds.config(draft.event.time + 1)[1].traffic_price)
        tree = "DsoRules_ExecuteConfirmedAction/config[$CoinRules_SetConfig[+new_rules]]"
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
    return draft.make("featured_right", identifier=rounds.right_id(right), provider=provider, weight=right.weight)


CHANGES = {  # tree of each action of the script
    "grant": "DsoRules_GrantFeaturedAppRight[+right]",
    "withdraw": "DsoRules_RevokeFeaturedAppRight[FeaturedAppRight_Withdraw]",
    "cancel": "FeaturedAppRight_Cancel",
    "update": "DsoRules_UpdateFeaturedAppRight[FeaturedAppRight_Update[+renewed]]",
    "imitate": "+fake",
    "add": "DsoRules_AddSv[+new_rules]",
    "offboard": "DsoRules_OffboardSv[+new_rules]",
}


def _names_of_change(draft: DraftTransaction, what: str, party: str = "", slot: str = "", *rest: str) -> dict[str, Any]:
    """Return the names of an action of the script."""
    if not party:
        version, member = draft.constants.schedule.script.dso_rules_version(draft.event.time), draft.parties.member
        rules = {"dso_rules": dso_rules(draft, version), "new_rules": dso_rules(draft, version + 1)}
        return {**rules, "member": member.identifier, "member_name": member.name, "member_id": f"PAR::{member.participant}"}
    names: dict[str, Any] = {"provider": draft.parties.planted[party].identifier}
    if what == "imitate":  # a contract that looks like a right, from a package that anybody may upload
        return {"fake": draft.make("look_alike", impostor=draft.parties.users[-1].identifier, **names)}
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


def scripted_transfer(draft: DraftTransaction) -> list[Node]:
    """Transfer a coin."""
    sender, receiver = draft.names["sender"], draft.names["receiver"]
    coin = mint(draft, sender, draft.draw_units(20))
    return transfer(draft, sender, sender, [coin], [draft.make("coin", owner=receiver, units=coin.units // 2)])
