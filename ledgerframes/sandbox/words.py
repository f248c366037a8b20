"""The words in which a network speaks of its token and of its contract language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The two words that differ between networks (docs/facts.md#network-words).

    Parameters
    ----------
    name
        Name of the vocabulary, part of the sandbox's name when not "neutral".
    coin
        The native token, lower case: paths, response keys and payload fields are built with it.
    lang
        The contract language, lower case: the query key of the value encoding is built with it.
    """

    name: str
    coin: str
    lang: str

    @property
    def Coin(self) -> str:  # noqa: N802 - the capital letter is the point
        """The token's word as it stands in module, template and choice names."""
        return self.coin.capitalize()


PRESETS = {
    "neutral": Words("neutral", "coin", "lang"),
    "canton": Words("canton", "amulet", "daml"),
}


def words_of(vocabulary: str | Mapping[str, str]) -> Words:
    """Return the words of a vocabulary.

    Parameters
    ----------
    vocabulary
        "neutral", "canton", or a table with the keys "coin" and "lang".

    Returns
    -------
    Words
        The words; a table gets a name made of its two words.
    """
    if not isinstance(vocabulary, str):
        coin, lang = vocabulary.get("coin", "coin"), vocabulary.get("lang", "lang")
        return Words(f"{coin}-{lang}", coin, lang)
    if vocabulary not in PRESETS:
        raise ValueError(f"vocabulary {vocabulary!r} is unknown: use one of {sorted(PRESETS)} or a table")
    return PRESETS[vocabulary]
