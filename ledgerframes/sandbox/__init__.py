"""A seeded ledger network in the process, with the same APIs.

It writes the literal field names of the wire and shares no code with the decoders, so two readings of the
specification must agree. To find your way, start with `world` (the data), `transactions` (what happens) and `cases`
(what is planted), then read `history_api` and `bulk_api` (the network's APIs), `participant` and
`ledger_api` (what one participant sees), `wallet` (transfer offers, in memory) and `faults`.

Imports go one way: `sandbox`, `app`, the APIs, then `endpoints` and the parts that the APIs show.
"""

try:
    from .cases import Planted
    from .faults import Dropped, Faults
    from .sandbox import Sandbox
    from .serve import serve
except ModuleNotFoundError as error:  # of this extra, because the base installation has all others
    raise ModuleNotFoundError(
        f"The sandbox requires {error.name}. Install it with: pip install 'ledgerframes[sandbox]'.", name=error.name
    ) from None

__all__ = ["Dropped", "Faults", "Planted", "Sandbox", "serve"]


def __dir__() -> list[str]:
    return __all__
