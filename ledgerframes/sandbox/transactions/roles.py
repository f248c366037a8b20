"""Parties and other values that kinds of transactions draw."""

from __future__ import annotations

from ..cases import ONLY_IN_HISTORY, ONLY_IN_LEDGER, case_of
from ..randomness import number
from ..values import TEXTS
from .constants import RISE_PERCENT
from .draft import DraftTransaction
from .purchases import ENTRY_NAMES
from .specs import TemplateSpec
from .templates.apps import BATCH

LARGE_SETTLEMENTS, MIN_LEGS, MAX_LEGS, BYTES_PER_LEG = 0.95, 15, 42, 280
LARGE_USERS = 40
CONFIRMING_APPS, BYTES_WITHOUT_APP = 0.7, 1900


def any_text(draft: DraftTransaction) -> str:
    """Draw a text as people write it."""
    return draft.draws.pick(TEXTS)


# Users and apps


def users(draft: DraftTransaction, low: int, high: int) -> list[str]:
    """Draw a number of users."""
    return [draft.user() for _ in range(draft.draws.between(low, high) if low != high else low)]


def payer(draft: DraftTransaction, template: TemplateSpec) -> str:
    """Draw a user, preferably one who has a contract of a template."""
    contract = draft.any_visible(template)
    return contract.owner if contract else draft.user()


def buyer(draft: DraftTransaction) -> str:
    """Return the owner of a waiting allocation, or draw a user."""
    allocation = draft.names["allocation"]
    return str(allocation.owner) if allocation else draft.user()


def provider(draft: DraftTransaction) -> str:
    """Draw an app."""
    return draft.parties.provider(draft.draws).identifier


def featured_provider(draft: DraftTransaction) -> str:
    """Draw an app that is featured from the start."""
    featured = [provider.identifier for provider in draft.parties.providers if provider.featured == "start"]
    return draft.draws.pick(featured)


def recurring_provider(draft: DraftTransaction) -> str:
    """Return the app whose turn it is."""
    return draft.parties.providers[draft.event.occurrence % len(draft.parties.providers)].identifier


def venue(draft: DraftTransaction) -> str:
    """Return the app that a waiting allocation is for, or draw one."""
    if allocation := draft.names["allocation"]:
        return str(next(party for party in allocation.signatories if party != allocation.owner))
    return provider(draft)


def batch_operator(draft: DraftTransaction) -> str:
    """Draw an app, whose requests cost more with the newer version of its package."""
    if draft.constants.is_upgraded(draft.constants.templates[BATCH], draft.event.time):
        draft.cost_percent += RISE_PERCENT
    return provider(draft)


def confirming_app(draft: DraftTransaction) -> list[str]:
    """Return the app if it confirms a transfer, or enlarge the request."""
    if draft.draws.chance(CONFIRMING_APPS):
        return [draft.names["provider"]]
    draft.bytes_per_view = BYTES_WITHOUT_APP
    return []


def legs(draft: DraftTransaction) -> list[str]:
    """Draw who takes part in each leg of a large settlement, or no one for a small one."""
    if not draft.draws.chance(LARGE_SETTLEMENTS):
        return []
    draft.bytes_per_view = BYTES_PER_LEG
    count = draft.draws.between(MIN_LEGS, MAX_LEGS)
    return [draft.names[draft.draws.pick(("buyer", "seller"))] for _ in range(count)]


def case_owner(draft: DraftTransaction) -> str:
    """Return who submits a planted request, and all requests of its case.

    A difference between ledger and history is planted at the participant with most parties.
    """
    case = case_of(draft.event)
    one_side = case is not None and case.kind in (ONLY_IN_LEDGER, ONLY_IN_HISTORY)
    owners = draft.parties.users_of_largest if one_side else draft.parties.users[:LARGE_USERS]
    position = number(draft.constants.seed, "case owner", draft.event.case, draft.event.occurrence)
    return owners[position % len(owners)].identifier


# Super validators


def sv(draft: DraftTransaction) -> str:
    """Draw a super validator."""
    return draft.draws.pick(draft.parties.svs).identifier


def first_sv(draft: DraftTransaction) -> str:
    """Return the first super validator."""
    return draft.parties.svs[0].identifier


def recurring_sv(draft: DraftTransaction) -> str:
    """Return the super validator that the event belongs to."""
    return draft.parties.svs[draft.event.member].identifier


def second_quorum(draft: DraftTransaction) -> list[str]:
    """Return the DSO for most requests, or no one."""
    return [draft.constants.dso] if draft.draws.chance(0.8) else []


# Names of the name service


def entry_name(draft: DraftTransaction) -> str:
    """Draw a name."""
    return f"{draft.draws.pick(ENTRY_NAMES)}-{draft.draws.between(2, 999)}.unverified.sand"


def entry_url(draft: DraftTransaction) -> str:
    """Return the address that the user's name stands for."""
    return f"https://names.invalid/{draft.names['user'].partition('::')[0]}"
