"""Bearer tokens: where they come from. They are never shown, logged, or part of an error.

The ledger API names a second scheme beside the bearer token, `apiKeyAuth`. It is the same JWT in the header
``Sec-WebSocket-Protocol`` (``jwt.token.<JWT>``), for browsers, whose WebSockets cannot send another header
(docs/facts.md#authentication). Plain
HTTP operations do not read it, and everything here is plain HTTP; so the bearer scheme is the one that is used.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from ledgerframes.settings import Settings

__all__ = ["TokenSource", "hide_tokens", "token_expiry", "token_source"]

TokenSource = Callable[[], str | None]

# Anything else would break the header, and the HTTP library's complaint would show the token.
SENDABLE = re.compile(r"[\x21-\x7e]+")
JWT = re.compile(r"eyJ[\w-]+\.[\w-]+(\.[\w-]*)?")
LONGEST = 64 * 1024


def token_source(settings: Settings) -> TokenSource:
    """Where the token of a profile comes from: asked before each request, so that a renewed token is used at once.

    Parameters
    ----------
    settings : Settings
        With one of token (text or a callable), token_env and token_file, or none of them.

    Returns
    -------
    callable
        Gives the token of the moment, or None if the profile has none. It raises UsageError, naming the setting, if the token
        is empty, cannot be read, or cannot be sent.
    """
    token = settings.token
    if settings.token_file is not None:
        path = settings.token_file.expanduser()
        return lambda: _checked(_file_content(path), f"token_file {path}")
    if settings.token_env is not None:
        name = settings.token_env
        return lambda: _checked(os.environ.get(name), f"token_env: the environment variable {name}")
    if token is None:
        return _no_token
    if callable(token):
        return lambda: _checked(_called(token), "token: the callable's answer")
    return lambda: _checked(token.get_secret_value(), "token")


def token_expiry(token: str | None) -> datetime | None:
    """When a token says that it expires, if it is a JWT; its signature is not looked at.

    Returns
    -------
    datetime or None
        In UTC.
    """
    parts = (token or "").split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return datetime.fromtimestamp(float(claims["exp"]), UTC)
    except (binascii.Error, ValueError, KeyError, TypeError, OverflowError, OSError):
        return None


def hide_tokens(text: str) -> str:
    """The text with everything that looks like a JWT taken out: services quote what they were sent."""
    return JWT.sub("[token]", text)


def _no_token() -> None:
    return None


def _file_content(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(LONGEST)
    except UnicodeDecodeError:
        raise UsageError(f"token_file {path} does not hold text. Write the token alone into it.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"token_file {path} cannot be read: {reason}. Check the path and its permissions.") from error


def _called(token: Callable[[], str | None]) -> object:
    try:
        return token()
    except Exception as error:
        # Its text may hold the secret it was made from.
        raise UsageError(f"token: the callable failed with {type(error).__name__}. Call it alone to see why.") from None


def _checked(token: object, named: str) -> str:
    if token is None:
        raise UsageError(f"{named} is not set. Set it, or take the setting out of the profile.")
    if not isinstance(token, str):
        raise UsageError(f"{named} is {type(token).__name__}, not text. Give the token as text.")
    bare = re.sub(r"^[Bb]earer\s+", "", token.strip())
    if not bare:
        raise UsageError(f"{named} is empty. Write the token there, or take the setting out of the profile.")
    if not SENDABLE.fullmatch(bare):
        raise UsageError(f"{named} holds blanks, line ends or letters that no token has. Write the token alone there.")
    return bare
