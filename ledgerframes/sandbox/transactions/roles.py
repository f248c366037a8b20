"""Functions of declarations for the values that are drawn for every request."""

from __future__ import annotations

from typing import Any

from ..cases import ONLY_IN_HISTORY, ONLY_IN_LEDGER, case_of
from ..ledger import Contract
from ..randomness import number
from ..values import TEXTS
from .draft import DraftTransaction

ENTRY_NAMES = (
    "atelier-nord", "café-lumière", "böckling", "three-hares", "o-malley", "sol-y-mar", "tide", "zweigstelle",
)  # fmt: skip
LARGE_SETTLEMENTS, MIN_LEGS, MAX_LEGS, BYTES_PER_LEG = 0.95, 15, 42, 280
LARGE_USERS = 40


def between(draft: DraftTransaction, low: str, high: str) -> int:
    """Draw a whole number."""
    return draft.draws.between(int(low), int(high))


def chance(draft: DraftTransaction, percent: str) -> bool:
    """Return True in so many percent of requests."""
    return draft.draws.chance(int(percent) / 100)


def text(draft: DraftTransaction) -> str:
    """Draw a text as people write it."""
    return draft.draws.pick(TEXTS)


def entry_name(draft: DraftTransaction) -> str:
    """Draw a name for the name service."""
    return f"{draft.draws.pick(ENTRY_NAMES)}-{draft.draws.between(2, 999)}.unverified.sand"


def entry_url(draft: DraftTransaction, owner: str) -> str:
    """Return the address that a name stands for."""
    return f"https://names.invalid/{draft.names[owner].partition('::')[0]}"


def some(draft: DraftTransaction, name: str) -> Any:
    """Return none, one or two of some parties."""
    return draft.names[name][: draft.draws.between(0, 2)]


def user(draft: DraftTransaction) -> str:
    """Draw a user, fitting the fate of the request."""
    return draft.parties.user(draft.draws, troubled=draft.is_rejected).identifier


def users(draft: DraftTransaction, low: str, high: str) -> list[str]:
    """Draw some users."""
    return [user(draft) for _ in range(between(draft, low, high) if low != high else int(low))]


def payer(draft: DraftTransaction, template: str) -> str:
    """Return a user, preferably one who has something in a pool."""
    contract = draft.any_visible(template)
    return contract.owner if contract else user(draft)


def any_contract(draft: DraftTransaction, template: str) -> Contract | None:
    """Draw a contract of a pool without taking it."""
    return draft.any_visible(template)


def buyer(draft: DraftTransaction) -> str:
    """Return the owner of a waiting allocation, or a user."""
    allocation = draft.names["allocation"]
    return str(allocation.owner) if allocation else user(draft)


def venue(draft: DraftTransaction) -> str:
    """Return the app that a waiting allocation is for, or any."""
    if allocation := draft.names["allocation"]:
        return str(next(party for party in allocation.signatories if party != allocation.owner))
    return provider(draft)


def provider(draft: DraftTransaction) -> str:
    """Draw an app provider."""
    return draft.parties.provider(draft.draws).party.identifier


def featured_provider(draft: DraftTransaction) -> str:
    """Draw a provider that was featured from the start."""
    featured = [provider for provider in draft.parties.providers if provider.featured == "start"]
    return draft.draws.pick(featured).party.identifier


def confirming_app(draft: DraftTransaction) -> list[str]:
    """Return the app if it confirms a transfer, or enlarge the request."""
    if draft.draws.chance(0.7):
        return [draft.names["provider"]]
    draft.bytes_per_view = 1900
    return []


def legs(draft: DraftTransaction, *names: str) -> list[str]:
    """Draw who takes part in each leg of a large settlement, or no one for a small one."""
    if not draft.draws.chance(LARGE_SETTLEMENTS):
        return []
    draft.bytes_per_view = BYTES_PER_LEG
    count = draft.draws.between(MIN_LEGS, MAX_LEGS)
    return [draft.names[draft.draws.pick(names)] for _ in range(count)]


def case_owner(draft: DraftTransaction) -> str:
    """Return who submits a planted request, and all requests of its case.

    A difference between ledger and history is planted at the participant with most parties.
    """
    case = case_of(draft.event)
    one_side = case is not None and case.kind in (ONLY_IN_LEDGER, ONLY_IN_HISTORY)
    owners = draft.parties.users_of_largest if one_side else draft.parties.users[:LARGE_USERS]
    position = number(draft.constants.seed, "case owner", draft.event.case, draft.event.occurrence)
    return owners[position % len(owners)].identifier


def sv(draft: DraftTransaction) -> str:
    """Draw an SV."""
    return draft.draws.pick(draft.parties.svs).identifier


def first_sv(draft: DraftTransaction) -> str:
    """Return the SV that founded the network."""
    return draft.parties.svs[0].identifier


def quorum(draft: DraftTransaction, percent: str) -> list[str]:
    """Return the DSO as a second quorum in so many percent of requests."""
    return [draft.constants.dso] if chance(draft, percent) else []
