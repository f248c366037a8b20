"""The functions that declarations of kinds name: roles drawn for every request, and contents of visible ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ledger import Node
from . import governance, payments
from .declarations import KINDS, Kind
from .draft import DraftTransaction
from .payments import carried_names, carry, draw_user


def _payer(draft: DraftTransaction, template: str) -> str:
    """Return a user, preferably one who has something in a pool."""
    contract = draft.any_visible(template)
    return contract.owner if contract else draw_user(draft)


def _featured(draft: DraftTransaction) -> str:
    featured = [provider for provider in draft.parties.providers if provider.featured == "start"]
    return draft.draws.pick(featured).party.identifier


def _confirming_app(draft: DraftTransaction) -> list[str]:
    """Return the app if it confirms a transfer; a request without it is larger."""
    if draft.draws.chance(0.7):
        return [draft.names["provider"]]
    draft.bytes_per_view = 1900
    return []


ROLES: dict[str, Callable[..., Any]] = {  # of the draft and the arguments in the declaration
    "allocated": payments.draw_buyer,
    "between": lambda draft, low, high: draft.draws.between(int(low), int(high)),
    "chance": lambda draft, percent: draft.draws.chance(int(percent) / 100),
    "confirming_app": _confirming_app,
    "featured": _featured,
    "first_sv": lambda draft: draft.parties.svs[0].identifier,
    "pair": lambda draft: [draw_user(draft), draw_user(draft)],
    "payer": _payer,
    "pool": lambda draft, template: draft.any_visible(template),
    "provider": lambda draft: draft.parties.provider(draft.draws).party.identifier,
    "quorum": lambda draft, percent: [draft.constants.dso] if draft.draws.chance(int(percent) / 100) else [],
    "reassigned": payments.begin_reassignment,
    "recurring": governance.recurring_names,
    "some": lambda draft, name: draft.names[name][: draft.draws.between(0, 2)],
    "sv": lambda draft: draft.draws.pick(draft.parties.svs).identifier,
    "user": draw_user,
    "users": lambda draft, low, high: [draw_user(draft) for _ in range(draft.draws.between(int(low), int(high)))],
    "venue": payments.draw_venue,
}
CONTENTS: dict[str, Callable[[DraftTransaction], None]] = {
    "coin transfer": payments.coin_transfer,
    "settlement": payments.settlement,
    "token transfer": payments.token_transfer,
    "activity marker": payments.activity_marker,
    "allocation": payments.allocation,
    "reward collection": carry("coin", "merged"),
    "transfer offer": carry("transfer_offer", "offer"),
    "token mint": carry("token", "token"),
    "token burn": payments.token_use,
    "token lock": payments.token_lock,
    "app batch": payments.app_batch,
    "name entry": payments.name_entry,
    "confirmation": governance.confirmation,
    "offer acceptance": payments.offer_acceptance,
    "offer completion": payments.offer_completion,
    "price vote": governance.replace("price_vote"),
    "status report": governance.replace("status_report"),
    "liveness": governance.liveness,
    "subscription": governance.subscription,
    "feature": lambda draft: governance.grant_rights(draft, "later"),
    "round tick": governance.round_tick,
    "genesis": governance.genesis,
}
SUBSTITUTES: dict[str, Callable[[DraftTransaction], str]] = {  # kinds that others take the place of
    "offer step": payments.choose_offer_step,
    "round race": governance.choose_race,
}


def assign_roles(draft: DraftTransaction) -> Kind:
    """Draw the names of a draft, and return its kind."""
    name = draft.event.kind
    if name in SUBSTITUTES:
        name = SUBSTITUTES[name](draft)
    kind = KINDS[name]
    draft.kind_name, draft.bytes_per_view = name, kind.bytes_per_view
    for role, function, *arguments in kind.roles:
        if function == "carried":
            names = carried_names(draft.constants, arguments[0], draft.state.number, draft.index)
            draft.names[role] = names[role]
        else:
            draft.names[role] = ROLES[function](draft, *arguments)
    return kind


def build_tree(draft: DraftTransaction, kind: Kind) -> list[Node]:
    """Return the root nodes of a draft, and use up the contracts that they consume."""
    if content := CONTENTS.get(draft.kind_name):
        content(draft)
    return draft.roots + draft.nodes(kind.tree)
