"""The words of a network, as its routes have them."""

from __future__ import annotations

from ledgerframes.api.history import History
from ledgerframes.api.transport import Transport
from ledgerframes.errors import DecodeError, ServiceError
from ledgerframes.settings import Vocabulary
from ledgerframes.settings.groups import PRESETS


def find_vocabulary(transport: Transport, first: Vocabulary) -> Vocabulary | None:
    """Return the vocabulary whose word for the coin is in the path of the price votes.

    The first one is tried first. Operators may hide this route, so the result is None if the host knows no vocabulary.
    """
    return next((each for each in (first, *PRESETS.values()) if _has_price_votes(History(transport, each))), None)


def _has_price_votes(history: History) -> bool:
    try:
        history.price_votes()
    except (ServiceError, DecodeError):
        return False
    return True
