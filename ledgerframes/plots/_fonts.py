"""Fonts of the plots, and the letters that they can show."""

from __future__ import annotations

import functools

from ledgerframes.plots._pyplot import pyplot

__all__ = ["families", "visible_letters"]

# DejaVu Sans comes with matplotlib. The others come with operating systems and have more scripts.
FAMILIES = (
    "DejaVu Sans",
    *("Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai"),
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Emoji"),
    *("Arial Unicode MS", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Segoe UI Symbol"),
)


@functools.cache
def families() -> list[str]:
    """Return the fonts that are installed here, the preferred one first."""
    pyplot()
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return [name for name in FAMILIES if name in installed]


@functools.cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    files = [findfont(FontProperties(family=[name])) for name in families()]
    return frozenset().union(*(get_font(file).get_charmap() for file in files))


def visible_letters(text: str) -> str:
    r"""Return a text with code points instead of letters that no font can show.

    Invisible letters become code points, too, so that two different names never look the same.

    >>> visible_letters("Müller"), visible_letters("a\u202eb")
    ('Müller', 'aU+202Eb')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter.isprintable() and ord(letter) in _letters() else f"U+{ord(letter):04X}" for letter in text)
