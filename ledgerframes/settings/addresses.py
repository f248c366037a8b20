"""Addresses of hosts and of stores, and paths."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

STORE_OPTIONS = frozenset(  # of the address of an object store
    {
        "region",
        "endpoint_override",
        "scheme",
        "tls_ca_file_path",
        "force_virtual_addressing",
        "connect_timeout",
        "request_timeout",
    }
)


def absolute(path: Path) -> Path:
    """Return a path that stays the same in another current directory, such as a worker's."""
    try:
        str(path).encode()
        return path.expanduser().absolute()
    except UnicodeEncodeError:
        raise ValueError("must be a path in UTF-8") from None
    except RuntimeError:
        raise ValueError(f"must be a path, got the home directory of an unknown user in {str(path)!r}") from None


def is_file(path: Path) -> bool:
    """Return whether this user can see such a file, even for a path that no file can have."""
    with suppress(OSError, ValueError):
        return path.is_file()
    return False


def is_web_address(url: str) -> bool:
    """Return whether a text is an http(s) URL of a valid host and port.

    It has no user, password, query and fragment.
    """
    if not re.fullmatch(r"https?://([\w.-]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?(/[^@\s?#]*)?", url):
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        return bool(ipaddress.IPv6Address(host) if ":" in host else host.encode("idna"))
    except ValueError:  # also of an empty label, one that is too long, or a port above 65535
        return False


def resolve_store(store: str | Path) -> str | Path:
    """Return the absolute path of a directory, or the address of an object store without keys."""
    if "\0" in str(store):
        raise ValueError("must be a path without null characters")
    address, _, options = str(store).partition("?")
    if "://" in address and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]+(/[^@\s:]*)?", address):
        bucket = "a bucket of at least two lowercase letters, digits, dots and dashes"
        raise ValueError(f"must be s3://bucket/prefix for an object store, with {bucket}, and keys in AWS_ACCESS_KEY_ID")
    if re.match(r"s3:/[^/]", address):
        raise ValueError("must be s3://bucket/prefix for an object store, with two slashes")
    # The message leaves the options out, because one of them may be a key.
    if "://" in address and ("@" in unquote(options) or not {*parse_qs(options, keep_blank_values=True)} <= STORE_OPTIONS):
        step = "keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        raise ValueError(f"must have no other options than {', '.join(sorted(STORE_OPTIONS))}, and {step}")
    return store if "://" in address else absolute(Path(store))
