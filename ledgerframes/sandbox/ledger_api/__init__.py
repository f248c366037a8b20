"""The ledger API of one participant.

See docs/facts.md#update-pages and docs/facts.md#ledger-operations and docs/facts.md#ledger-errors.
"""

from .admin import Admin
from .commands import Commands
from .state import State
from .updates import Updates

LEDGER_APIS = (Updates, State, Commands, Admin)
