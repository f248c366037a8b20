"""Interpreter of declared kinds, and the functions that declarations name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cases import ONLY_IN_HISTORY, ONLY_IN_LEDGER, case_of
from ..randomness import number
from ..values import TEXTS
from . import governance, payments, purchases, rewards, settlements
from .declarations import KINDS, RISE_PERCENT, Calls
from .draft import Branch, DraftTransaction
from .purchases import ENTRY_NAMES

UPGRADED_KIND = "app batch"
LARGE_SETTLEMENTS, MIN_LEGS, MAX_LEGS, BYTES_PER_LEG = 0.95, 15, 42, 280
LARGE_USERS = 40


def assign_roles(draft: DraftTransaction) -> None:
    """Draw the names of a draft, and decide its kind if that is open."""
    if draft.kind.stands_for:
        draft.kind = KINDS[FUNCTIONS[draft.kind.stands_for](draft)]
    draft.bytes_per_view = draft.kind.bytes_per_view
    if draft.event.kind == UPGRADED_KIND and draft.constants.is_upgraded(draft.constants.templates["batch"], draft.event.time):
        draft.cost_percent += RISE_PERCENT
    _call(draft, draft.kind.roles)


def decide_content(draft: DraftTransaction) -> None:
    """Take and make the contracts of a draft, unless that can wait."""
    if not draft.kind.is_internal:
        _decide(draft)


def branches_of(draft: DraftTransaction) -> list[Branch]:
    """Return the root nodes of a draft, whose content is decided at the latest now."""
    if not draft.branches:
        _decide(draft)
    return draft.branches


def _decide(draft: DraftTransaction) -> None:
    _call(draft, draft.kind.content)
    draft.branches = draft.roots + draft.nodes(draft.kind.tree)


def _call(draft: DraftTransaction, calls: Calls) -> None:
    for name, function, *arguments in calls:
        draft.names[name] = FUNCTIONS[function](draft, *arguments)


def _users(draft: DraftTransaction, low: str, high: str) -> list[str]:
    return [draft.user() for _ in range(draft.draws.between(int(low), int(high)) if low != high else int(low))]


def _venue(draft: DraftTransaction) -> str:
    """Return the app that a waiting allocation is for, or any."""
    if allocation := draft.names["allocation"]:
        return str(next(party for party in allocation.signatories if party != allocation.owner))
    return draft.parties.provider(draft.draws).identifier


def _confirming_app(draft: DraftTransaction) -> list[str]:
    """Return the app if it confirms a transfer, or enlarge the request."""
    if draft.draws.chance(0.7):
        return [draft.names["provider"]]
    draft.bytes_per_view = 1900
    return []


def _legs(draft: DraftTransaction, *names: str) -> list[str]:
    """Draw who takes part in each leg of a large settlement, or no one for a small one."""
    if not draft.draws.chance(LARGE_SETTLEMENTS):
        return []
    draft.bytes_per_view = BYTES_PER_LEG
    count = draft.draws.between(MIN_LEGS, MAX_LEGS)
    return [draft.names[draft.draws.pick(names)] for _ in range(count)]


def _case_owner(draft: DraftTransaction) -> str:
    """Return who submits a planted request, and all requests of its case.

    A difference between ledger and history is planted at the participant with most parties.
    """
    case = case_of(draft.event)
    one_side = case is not None and case.kind in (ONLY_IN_LEDGER, ONLY_IN_HISTORY)
    owners = draft.parties.users_of_largest if one_side else draft.parties.users[:LARGE_USERS]
    position = number(draft.constants.seed, "case owner", draft.event.case, draft.event.occurrence)
    return owners[position % len(owners)].identifier


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **vars(payments),
    **vars(governance),
    **vars(rewards),
    **vars(purchases),
    **vars(settlements),
    "between": lambda draft, low, high: draft.draws.between(int(low), int(high)),
    "chance": lambda draft, percent: draft.draws.chance(int(percent) / 100),
    "text": lambda draft: draft.draws.pick(TEXTS),
    "entry_name": lambda draft: f"{draft.draws.pick(ENTRY_NAMES)}-{draft.draws.between(2, 999)}.unverified.sand",
    "entry_url": lambda draft, owner: f"https://names.invalid/{draft.names[owner].partition('::')[0]}",
    "some": lambda draft, name: draft.names[name][: draft.draws.between(0, 2)],
    "user": DraftTransaction.user,
    "users": _users,
    # preferably one who has something in a pool
    "payer": lambda draft, template: contract.owner if (contract := draft.any_visible(template)) else draft.user(),
    "buyer": lambda draft: allocation.owner if (allocation := draft.names["allocation"]) else draft.user(),
    "venue": _venue,
    "provider": lambda draft: draft.parties.provider(draft.draws).identifier,
    "featured_provider": lambda draft: draft.draws.pick(
        [provider.identifier for provider in draft.parties.providers if provider.featured == "start"]
    ),
    "confirming_app": _confirming_app,
    "legs": _legs,
    "case_owner": _case_owner,
    "sv": lambda draft: draft.draws.pick(draft.parties.svs).identifier,
    "first_sv": lambda draft: draft.parties.svs[0].identifier,
    "quorum": lambda draft, percent: [draft.constants.dso] if draft.draws.chance(int(percent) / 100) else [],
    # before verdicts were recorded, no one lost a race
    "race": lambda draft: "round race" if draft.is_rejected else "confirmation",
    # the party that a recurring event belongs to
    "member": lambda draft, group, first="0": getattr(draft.parties, group)[int(first) + draft.event.member].identifier,
    "recurring_provider": lambda draft: draft.parties.providers[draft.event.occurrence % len(draft.parties.providers)].identifier,
    # contracts
    "any_contract": DraftTransaction.any_visible,
    "make": lambda draft, template: draft.make(template, identifier=draft.names.get("identifier", "")),
    "keep": lambda draft, template: draft.pools[template].add(draft.names[template]),
    "total": lambda draft, name: sum(contract.units for contract in draft.names[name]),
}
