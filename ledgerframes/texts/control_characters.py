"""Control characters, shown as escapes instead of being interpreted."""

from __future__ import annotations

import html
import re

__all__ = ["UNSAFE", "escape_control", "escape_html"]

# Control characters, and the characters that change the direction of text: a terminal or a browser would interpret them.
# Half of a surrogate pair, such as a byte of a file name that is not UTF-8, cannot be printed at all.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_control(text: str) -> str:
    r"""Return a text with its control characters escaped.

    >>> escape_control("red \x1b[31m")
    'red \\x1b[31m'
    """
    return UNSAFE.sub(lambda match: f"\\x{ord(match[0]):02x}" if ord(match[0]) < 256 else f"\\u{ord(match[0]):04x}", text)


def escape_html(text: str) -> str:
    """Return a text as HTML that shows it, also its control characters."""
    return html.escape(escape_control(text))
