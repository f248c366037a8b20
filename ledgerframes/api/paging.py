"""Chains of pages that make progress or raise an error."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from ledgerframes.errors import BadRequestError, DecodeError, TransportError

MAX_PAGE_SIZE = 1000  # of the history API
MAX_EMPTY_PAGES = 20  # in a row; services that filter a page after cutting it return some


class HostChangedError(TransportError):
    """Another host got the page token of a listing, although each host has its own."""


@contextmanager
def expect_same_host(first: str, endpoint: str) -> Iterator[None]:
    """Raise HostChangedError if another host refuses the page token of the first one."""
    try:
        yield
    except BadRequestError as error:
        if error.host == first:
            raise
        raise _host_changed_error(first, error.host, "cannot continue", endpoint) from error


def require_same_host(first: str, host: str, endpoint: str) -> None:
    """Refuse a page of another host than the one that returned the first page."""
    if host != first:
        raise _host_changed_error(first, host, "continued", endpoint)


def _host_changed_error(first: str, host: str, verb: str, endpoint: str) -> HostChangedError:
    return HostChangedError(
        f"{host} {verb} a listing of {first}, whose page tokens it does not know. Load again, or set one history_url=.",
        endpoint=endpoint,
        host=first,
    )


class PageChain:
    """The tokens and contents of the pages of one listing.

    A token or page that occurs again, and more than `MAX_EMPTY_PAGES` empty pages in a row, are errors: such a chain never ends,
    or has rows twice (docs/facts.md#pages-without-progress).
    """

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._tokens: set[str] = set()
        self._pages: set[bytes] = set()
        self._empty_pages = 0

    def next_token(self, token: str | None, content: bytes) -> str | None:
        """Return the token of the next page, or None after the last page.

        An empty token or None ends the listing (docs/facts.md#page-token-end). `content` identifies the page, for example by the
        JSON of its items, and is empty if the page has none. A page without progress raises DecodeError.
        """
        if not content or content == b"[]":
            self._empty_pages += 1
        else:
            self._empty_pages = 0
            digest = hashlib.blake2b(content, digest_size=16).digest()
            if digest in self._pages:
                raise self._error("the same page twice")
            self._pages.add(digest)
        if not token:
            return None
        if token in self._tokens:
            raise self._error("the token of an earlier page")
        if self._empty_pages > MAX_EMPTY_PAGES:
            raise self._error(f"more than {MAX_EMPTY_PAGES} empty pages in a row")
        self._tokens.add(token)
        return token

    def _error(self, reason: str) -> DecodeError:
        return DecodeError(
            f"{self._endpoint} returned {reason}, so its pages never end. Check the service's version, or try another host.",
            endpoint=self._endpoint,
            json_path="$.nextPageToken",
        )
