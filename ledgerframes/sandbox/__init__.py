"""A seeded ledger network in the process: the same APIs, without a network.

It writes the wire's literal field names and shares no code with the decoders: two readings of the
specification must meet. A newcomer reads `world` (what there is), `transactions` (what happens),
`history_api` (how it is shown) and `faults` (how it goes wrong).
"""

from .faults import Dropped, Faults
from .sandbox import Sandbox
from .serve import serve

__all__ = ["Dropped", "Faults", "Sandbox", "serve"]
