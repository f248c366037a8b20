"""Short forms of ids, the same in tables, pictures and sentences."""

from __future__ import annotations

import re

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

    Its end is half of it, or has the length `end`.

    >>> without_middle("abcdefghij", 6), without_middle("abcdefghij", 6, 1), without_middle("abc", 6)
    ('abc…ij', 'abcd…j', 'abc')
    """
    end = (max_length - 1) // 2 if end is None else end
    return text if len(text) <= max_length else f"{text[: max_length - 1 - end]}…{text[-end:]}"
