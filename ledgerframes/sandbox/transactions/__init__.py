"""The transactions of a world: declarations in network.txt, and the interpreter that turns them into trees.

Read network.txt, then `draft` (the interpreter); `payments` and `governance` contain what a kind computes.
"""

from .constants import Templates, WorldConstants
from .declarations import KINDS, WEIGHTS, Kind, View
from .draft import DraftTransaction, SliceState, resolve_parties
from .kinds import assign_roles, build_tree
from .payments import LEDGER_ONLY, carried_contract, reassignment

__all__ = [
    "KINDS",
    "LEDGER_ONLY",
    "WEIGHTS",
    "DraftTransaction",
    "Kind",
    "SliceState",
    "Templates",
    "View",
    "WorldConstants",
    "assign_roles",
    "build_tree",
    "carried_contract",
    "reassignment",
    "resolve_parties",
]
