"""Transactions of a world, declared in network.txt and interpreted here.

Read network.txt, then `draft` and `kinds` (the interpreter); `roles`, `payments`, `purchases`, `governance`, `rewards`
and `rights` contain the functions that declarations name.
"""

from .constants import RISE_PERCENT, UPGRADED_PACKAGE, Templates, WorldConstants, newer
from .declarations import KINDS, WEIGHTS, Kind, View
from .draft import DraftTransaction, SliceState, TotalsOf, resolve_parties
from .kinds import assign_roles, build_tree
from .payments import LEDGER_ONLY, carried_contract

__all__ = [
    "KINDS",
    "LEDGER_ONLY",
    "RISE_PERCENT",
    "UPGRADED_PACKAGE",
    "WEIGHTS",
    "DraftTransaction",
    "Kind",
    "SliceState",
    "Templates",
    "TotalsOf",
    "View",
    "WorldConstants",
    "assign_roles",
    "build_tree",
    "carried_contract",
    "newer",
    "resolve_parties",
]
