"""Short forms of ids, the same in tables, pictures and sentences."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, dropwhile

# A letter before a fingerprint or a count.
RIGHT_TO_LEFT = re.compile(r"([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])(?=::| +[\d(])")
WITHOUT_WIDTH = ("Mn", "Me", "Cf")  # categories of letters
FINGERPRINT = re.compile(r"::(\w{6})\w{8,}(\w{4})\b")
SHORT_FINGERPRINT = re.compile(r"::\w{6}…\w{4}\b")
SHORT_NAME = re.compile(r".*::\w{6}…\w{4}", re.DOTALL)


def shorten_fingerprints(text: str) -> str:
    """Return a text whose fingerprints have no middle.

    >>> shorten_fingerprints("alice::1220" + "ab" * 32 + " pays bob::1220" + "cd" * 32)
    'alice::1220ab…abab pays bob::1220cd…cdcd'
    """
    return FINGERPRINT.sub(r"::\1…\2", text)


def shorten_name(text: str, max_length: int) -> str:
    """Return the short form of an id, if it is too long without the middle of its name.

    >>> shorten_name("alice::1220" + "ab" * 32, 40), shorten_name("a-long-name::1220" + "ab" * 32, 20)
    ('alice::1220ab…abab', 'a-l…ame::1220ab…abab')
    """
    text = shorten_fingerprints(text)
    if not SHORT_NAME.fullmatch(text):
        return without_middle(text, max_length)
    name, separator, fingerprint = text.rpartition("::")
    end = separator + fingerprint
    return without_middle(name, max_length - len(end)) + end


def break_before_fingerprints(text: str) -> str:
    r"""Return a text with the short fingerprint of each name in a new line.

    >>> break_before_fingerprints("alice::1220ab…abab (12)")
    'alice::\n1220ab…abab (12)'
    """
    return SHORT_FINGERPRINT.sub(lambda fingerprint: fingerprint[0].replace("::", "::\n"), text)


def without_middle(text: str, max_length: int, end: int | None = None) -> str:
    """Return a text whose middle is omitted if it is too long.

    Its end is half of it, or has the length `end`. A wide letter counts twice.

    >>> without_middle("abcdefghij", 6), without_middle("abcdefghij", 6, 1), without_middle("abc", 6)
    ('abc…ij', 'abcd…j', 'abc')
    >>> without_middle("株式会社日本", 6)
    '株…本'
    """
    end = (max_length - 1) // 2 if end is None else end
    if display_width(text) <= max_length:
        return text
    last = _start_of_width(text[::-1], end)[::-1]
    whole = "".join(dropwhile(lambda letter: _width(letter) == 0, last))  # no mark without its letter
    return f"{_start_of_width(text, max_length - 1 - end)}…{whole}"


def display_width(text: str) -> int:
    r"""Return how many letters of ordinary width are as wide as a text.

    Chinese, Japanese and Korean letters and emoji are twice as wide. Marks that combine with a letter have no width.

    >>> display_width("bank"), display_width("銀行"), display_width("e\u0301")
    (4, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def mark_right_to_left(text: str, mark: str = "\N{LEFT-TO-RIGHT MARK}") -> str:
    """Return a text with a mark after each name from right to left.

    Without it, a browser would write the fingerprint or the count that follows on the left of the name.
    """
    return RIGHT_TO_LEFT.sub(rf"\1{mark}", text)


def _width(letter: str) -> int:
    if unicodedata.category(letter) in WITHOUT_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _start_of_width(text: str, width: int) -> str:
    """Return the longest start of a text that is not wider."""
    widths = accumulate(map(_width, text))
    return "".join(letter for letter, until in zip(text, widths, strict=True) if until <= width)


def number_repeated(labels: Sequence[str]) -> list[str]:
    """Return labels of groups, the second of two that look the same with #2.

    >>> number_repeated(["pay", "vote", "pay"])
    ['pay', 'vote', 'pay #2']
    """
    counts: Counter[str] = Counter()
    numbered = []
    for text in labels:
        counts[text] += 1
        numbered.append(text if counts[text] == 1 else f"{text} #{counts[text]}")
    return numbered
