"""A seeded ledger network in the process: the same APIs, without a network.

It writes the wire's literal field names and shares no code with the decoders: two readings of the
specification must meet. A newcomer reads `world` (what there is), `transactions` (what happens),
`history_api`, `reference_api` and `bulk` (how the network shows it), `participant` and `ledger_api` (what one
participant sees of it), `wallet` (transfer offers, in memory) and `faults` (how it goes wrong).
"""

from .faults import Dropped, Faults
from .sandbox import Sandbox
from .serve import serve

__all__ = ["Dropped", "Faults", "Sandbox", "serve"]
