"""Bearer tokens, read before each request and never shown, logged or put into errors.

The ledger API has another scheme, ``apiKeyAuth``, with the same JWT in the header
``Sec-WebSocket-Protocol``, for the WebSockets of browsers (docs/facts.md#authentication). Plain HTTP operations do not
read that header, so the bearer scheme is used.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ledgerframes.api.caller_warnings import warn_caller
from ledgerframes.errors import UsageError
from ledgerframes.texts.control_characters import escape_control

if TYPE_CHECKING:
    from ledgerframes.settings import Settings

__all__ = ["TokenSource", "token_expiry", "token_problem", "token_source", "token_subject", "warn_of_exposure"]

TokenSource = Callable[[], str | None]

# Other characters would break the header, and the HTTP library's error would show the token.
SENDABLE = re.compile(r"[\x21-\x7e]+")
MAX_LENGTH = 64 * 1024
LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")


def token_source(settings: Settings) -> TokenSource:
    """Return a function that reads a profile's token, or returns None if the profile has none.

    The function raises UsageError, naming the setting, if the token is empty, cannot be read, or cannot be sent.
    """
    token = settings.token
    if settings.token_file is not None:
        path = settings.token_file
        return lambda: _bare_token(_read_file(path), f"token_file {path}")
    if settings.token_env is not None:
        name = settings.token_env
        return lambda: _bare_token(os.environ.get(name), f"token_env: environment variable {name}")
    if token is None:
        return lambda: None
    if callable(token):
        return lambda: _bare_token(_call(token), "token: the result of the callable")
    return lambda: _bare_token(token.get_secret_value(), "token")


def warn_of_exposure(settings: Settings, urls: tuple[str, ...]) -> None:
    """Warn of a token or a key that others can read, on the way to the URLs or on disk."""
    for url in urls if settings.token or settings.token_file or settings.token_env else ():
        if url.startswith("http://") and not LOOPBACK.fullmatch(urlsplit(url).hostname or ""):
            text = f"The token is sent to {urlsplit(url).hostname} without encryption. Use an https:// URL."
            warn_caller(escape_control(text), UserWarning)
    secrets = {"token_file": settings.token_file if urls else None, "client_key_file": settings.client_key_file}
    for name, path in secrets.items():
        if path and os.name == "posix" and _mode(path) & (stat.S_IRGRP | stat.S_IROTH):
            text = f"Other users of this machine can read {name} {path}. Run: chmod 600 {path}"
            warn_caller(escape_control(text), UserWarning)


def _mode(path: Path) -> int:
    """Return the permissions of a file, 0 if there is none that this user can see."""
    with suppress(OSError):
        mode = path.stat().st_mode
        return mode if stat.S_ISREG(mode) else 0
    return 0


def token_expiry(token: str | None) -> datetime | None:
    """Return the expiry of a JWT in UTC without checking its signature, or None."""
    try:
        return datetime.fromtimestamp(float(_claims(token)["exp"]), UTC)
    except (ValueError, KeyError, TypeError, OverflowError, OSError):
        return None


def token_problem(token: TokenSource) -> str:
    """Return what is wrong with the token, as far as this client can tell, or ""."""
    try:
        value = token()
    except UsageError:
        return ""
    if value is None:
        return "No token was sent: set token=, token_file= or token_env= in the profile."
    expiry = token_expiry(value)
    if expiry is not None and expiry <= datetime.now(UTC):
        return f"The token expired at {expiry:%Y-%m-%d %H:%M:%S} UTC: get a new one."
    return ""


def token_subject(token: str | None) -> str | None:
    """Return the subject of a JWT, the user of the wallet (docs/facts.md#authentication)."""
    subject = _claims(token).get("sub")
    return subject if isinstance(subject, str) else None


def _claims(token: str | None) -> dict[str, Any]:
    parts = (token or "").split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}


def _read_file(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(MAX_LENGTH)
    except UnicodeDecodeError:
        raise UsageError(f"Cannot read token_file {path}: not a text file. Write only the token into it.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"Cannot read token_file {path}: {reason}. Check the path and its permissions.") from error


def _call(token: Callable[[], str | None]) -> object:
    try:
        return token()
    except Exception as error:
        # The error is not shown: its text may contain the secret.
        raise UsageError(f"token: the callable failed with {type(error).__name__}. Call it directly to see why.") from None


def _bare_token(token: object, source: str) -> str:
    if token is None:
        raise UsageError(f"{source} is not set. Set it, or remove the setting from the profile.")
    if not isinstance(token, str):
        raise UsageError(f"{source} must be text, got {type(token).__name__}.")
    bare = re.sub(r"^[Bb]earer\s+", "", token.strip())
    if not bare:
        raise UsageError(f"{source} is empty. Set it to the token, or remove the setting from the profile.")
    if not SENDABLE.fullmatch(bare):
        raise UsageError(
            f"{source} contains characters that are not allowed in a token. Set it to the token only, without spaces or "
            "line breaks."
        )
    return bare
