"""Free texts as people write them: accents, quotes, backslashes, line breaks, and ordinary words."""

from __future__ import annotations

from ..randomness import Draws

DESCRIPTIONS = (
    "Invoice 2026-118",
    "monthly settlement",
    "rent for the reading room",
    'paid "in full", see ledger',
    "share\\folder\\november.csv",
    "Überweisung für März – danke",
    "кофе и два пирожка",
    "会議費 3 名分",
    "two lines:\nfirst half\tsecond half",
    "100 % of the ☕ fund",
    "refund of order 7731 / part 2",
    "",
)
NAMES = (
    "atelier-nord",
    "café-lumière",
    "böckling",
    "three-hares",
    "o-malley",
    "sol-y-mar",
    "tide",
    "zweigstelle",
)


def description(draws: Draws) -> str:
    """Draw a description; some hold characters that careless writers of JSON or CSV spoil."""
    return draws.pick(DESCRIPTIONS)


def entry_name(draws: Draws) -> str:
    """Draw a name for the name service."""
    return f"{draws.pick(NAMES)}-{draws.between(2, 999)}.unverified.sand"
