"""Hiding of bearer tokens in errors and logs, because services quote what they receive."""

from __future__ import annotations

import base64
import functools
import logging
import re
import threading
from collections.abc import Mapping
from typing import Any

__all__ = ["hide_in_chain", "hide_in_record", "hide_in_value", "hide_tokens", "remember_token"]

HIDDEN = "[token]"
FRAGMENT = 12  # characters in a row that cannot be a coincidence, such as at the end of a text that was cut
MAX_TOKENS = 8  # the latest of this process: a source may renew its token every few minutes
MAX_LENGTH = 100_000  # characters of a text; an error needs no more
JWT = re.compile(r"eyJ[\w-]+\.[\w-]+(\.[\w-]*)?")
# One character as JSON, Python, a URL or HTML may write it, also if one of them quotes another.
CHARACTER = re.compile(r"(?:\\+u00|\\+x|%(?:25)*|&#x0*)([0-9a-f]{2});?|&#0*([0-9]{2,3});|\\*(.)", re.IGNORECASE | re.DOTALL)

_lock = threading.Lock()
_tokens: tuple[str, ...] = ()  # in the order of their last use


def remember_token(token: str) -> None:
    """Hide a token from now on in this process."""
    global _tokens
    with _lock:
        _tokens = (*(each for each in _tokens if each != token), token)[-MAX_TOKENS:]


def hide_tokens(text: str) -> str:
    """Return a text without any JWT and without the tokens that were sent.

    They are found in any usual encoding. Of a token that is cut, a part of `FRAGMENT` characters is hidden. A shorter token is
    hidden where it is a word.
    """
    for size, spellings in _spellings(_tokens).items():
        text = _hide(text[:MAX_LENGTH], size, spellings)
    return JWT.sub(HIDDEN, text)


def hide_in_value(value: Any) -> Any:
    """Return a value in whose texts tokens are hidden."""
    if isinstance(value, str):
        return hide_tokens(value)
    if isinstance(value, bytes):
        text = value[:MAX_LENGTH].decode("latin-1")
        hidden = hide_tokens(text)
        return value if hidden == text else hidden.encode("latin-1")
    if isinstance(value, Mapping):
        return {hide_in_value(name): hide_in_value(each) for name, each in value.items()}
    return type(value)(map(hide_in_value, value)) if type(value) in (tuple, list) else value


def hide_in_chain(error: BaseException | None) -> None:
    """Hide tokens in an exception of any library, and in the exceptions that caused it."""
    seen: set[int] = set()
    pending = [error] if _tokens else []
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        pending += [each.__cause__, each.__context__]
        if isinstance(each, UnicodeDecodeError):  # its text does not quote the body, but its repr does
            each.object = b""
            each.args = (each.encoding, b"", *each.args[2:])
        each.args = hide_in_value(each.args)
        each.__dict__.update(hide_in_value(each.__dict__))


def hide_in_record(record: logging.LogRecord) -> bool:
    """Hide tokens in a log record, as a filter that drops none."""
    if _tokens:
        record.msg = hide_tokens(str(record.msg))
        record.args = _hide_in_arguments(record.args)
        hide_in_chain(record.exc_info[1] if record.exc_info else None)
    return True


def _hide_in_arguments(arguments: Any) -> Any:
    """Return the arguments of a log record, in which objects without a token stay the same."""
    if isinstance(arguments, Mapping):
        return {name: _hide_in_arguments((value,))[0] for name, value in arguments.items()}
    texts = [(each, str(each)) for each in arguments or ()]
    return tuple(each if (hidden := hide_tokens(text)) == text else hidden for each, text in texts)


def _hide(text: str, size: int, spellings: str) -> str:
    """Return a text without the parts of `size` characters that occur in the spellings."""
    characters, spans = _visible_characters(text)
    parts: list[tuple[int, int]] = []  # of the text, in order and apart
    for first in range(len(characters) - size + 1):
        if characters[first : first + size] not in spellings:
            continue
        start, end = spans[first][0], spans[first + size - 1][1]
        if size < FRAGMENT and (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            continue
        if parts and start <= parts[-1][1]:
            start = parts.pop()[0]
        parts.append((start, end))
    for start, end in reversed(parts):
        text = f"{text[:start]}{HIDDEN}{text[end:]}"
    return text


def _visible_characters(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the characters of a text that a token can have, and where each stands.

    The characters are in lower case, with escapes decoded.
    """
    characters, spans = [], []
    for match in CHARACTER.finditer(text):
        hexadecimal, decimal, plain = match.groups()
        character = plain or chr(int(hexadecimal, 16) if hexadecimal else int(decimal))
        if "!" <= character <= "~":
            characters.append(character.lower())
            spans.append(match.span())
    return "".join(characters), spans


@functools.lru_cache(maxsize=4)
def _spellings(tokens: tuple[str, ...]) -> Mapping[int, str]:
    """Return the spellings of tokens, by the length of a part that reveals them."""
    by_size: dict[int, list[str]] = {}
    for token in tokens:
        for spelling in (token, *_encodings(token.encode())):
            visible, _ = _visible_characters(spelling)
            if spelling is token or len(visible) >= FRAGMENT:
                by_size.setdefault(min(FRAGMENT, len(visible)), []).append(visible)
    return {size: "\n".join(spellings) for size, spellings in by_size.items()}


def _encodings(token: bytes) -> list[str]:
    """Return a token in hex, and in base64 after any number of other bytes."""
    encodings = [token.hex()]
    for before, shared in ((0, 0), (1, 2), (2, 3)):  # characters of base64 that also depend on the bytes before
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encodings.append(encode(bytes(before) + token).decode()[shared:-4])  # the end depends on the bytes after
    return encodings
