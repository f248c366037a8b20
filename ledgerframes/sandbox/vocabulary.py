"""The words in which a network names its token and its contract language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """The two words that differ between networks (docs/facts.md#network-words)."""

    name: str  # part of the sandbox's name unless "neutral"
    coin: str  # the native token, lower case: paths, response keys and payload fields contain it
    lang: str  # the contract language, lower case: the query key of the value encoding contains it

    @property
    def Coin(self) -> str:  # noqa: N802 - the capital letter is the point
        """The token's word in module, template and choice names."""
        return self.coin.capitalize()

    def translate(self, text: str) -> str:
        """Return a text with the token's word for ``$coin`` and ``$Coin``."""
        return text.replace("$coin", self.coin).replace("$Coin", self.Coin)


PRESETS = {
    "neutral": Vocabulary("neutral", "coin", "lang"),
    "canton": Vocabulary("canton", "amulet", "daml"),
}


def vocabulary_of(vocabulary: str | Mapping[str, str]) -> Vocabulary:
    """Return a vocabulary by name, or from a table with the keys "coin" and "lang"."""
    if not isinstance(vocabulary, str):
        coin, lang = vocabulary.get("coin", "coin"), vocabulary.get("lang", "lang")
        return Vocabulary(f"{coin}-{lang}", coin, lang)
    if vocabulary not in PRESETS:
        raise ValueError(f"Unknown vocabulary {vocabulary!r}. Use one of {sorted(PRESETS)} or a table.")
    return PRESETS[vocabulary]
