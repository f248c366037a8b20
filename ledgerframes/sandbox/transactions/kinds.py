"""Interpreter of declared kinds, which draws the names of a draft and builds its tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ledger import Node
from . import governance, payments, purchases, rewards, rights, roles
from .constants import RISE_PERCENT
from .declarations import KINDS, Calls, Kind
from .draft import DraftTransaction

UPGRADED_KIND = "app batch"
SUBSTITUTES: dict[str, Callable[[DraftTransaction], str]] = {  # kinds that stand for others
    "offer step": payments.choose_offer_step,
    # for the time before verdicts were recorded
    "round race": lambda draft: "round race" if draft.is_rejected else "confirmation",
}
FUNCTIONS: dict[str, Any] = dict(roles.ROLES)
for module in (payments, governance, rewards, purchases, rights):
    FUNCTIONS |= vars(module)


def assign_roles(draft: DraftTransaction) -> Kind:
    """Draw the names of a draft, and return its kind."""
    name = draft.event.kind
    if name in SUBSTITUTES:
        name = SUBSTITUTES[name](draft)
    kind = KINDS[name]
    draft.bytes_per_view = kind.bytes_per_view
    if name == UPGRADED_KIND and draft.constants.is_upgraded(draft.constants.templates["batch"], draft.event.time):
        draft.cost_percent += RISE_PERCENT
    _call(draft, kind.roles)
    return kind


def build_tree(draft: DraftTransaction, kind: Kind) -> list[Node]:
    """Return the root nodes of a draft, whose contracts are consumed."""
    _call(draft, kind.content)
    return draft.roots + draft.nodes(kind.tree)


def _call(draft: DraftTransaction, calls: Calls) -> None:
    for name, function, *arguments in calls:
        draft.names[name] = FUNCTIONS[function](draft, *arguments)
