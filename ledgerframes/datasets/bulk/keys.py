"""Keys of bulk objects.

A key is text from a service or a file name. It is parsed here, and never used as a path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from urllib.parse import unquote

from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.values.windows import instant

__all__ = ["ObjectKey"]

_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z"
_KEY = re.compile(rf"({_TIME})~({_TIME})/(updates|ACS)_(?:(compact_json|protobuf_json)_)?(0|[1-9]\d{{0,8}})\.zstd", re.ASCII)
_MAX_TEXT = 120  # characters of an invalid key in an error
_EXAMPLE = "2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd"


@dataclass(frozen=True)
class ObjectKey:
    """The parsed key of a bulk object (docs/facts.md#bulk-storage).

    Attributes
    ----------
    key : str
        The key as the service writes it.
    since, until : datetime
        Window of the folder, which starts in the year 1 for the first. Active contracts are those at `since`.
    kind : str
        ``updates`` or ``acs``.
    encoding : str or None
        ``compact_json`` or ``protobuf_json``, or None for a key of the old form.
    index : int
        Position in the folder, from 0.

    Examples
    --------
    >>> key = ObjectKey.parse("2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/ACS_compact_json_3.zstd")
    >>> key.kind, key.encoding, key.index
    ('acs', 'compact_json', 3)
    """

    key: str
    since: datetime
    until: datetime
    kind: str
    encoding: str | None
    index: int

    @classmethod
    def parse(cls, text: str) -> ObjectKey:
        """Parse a key.

        Raises
        ------
        UsageError
            If the text is not a key.
        """
        match = _KEY.fullmatch(text)
        if match is None:
            raise UsageError(f"Invalid object key {text[:_MAX_TEXT]!r}. Pass one such as {_EXAMPLE}.")
        since, until = instant(match[1], "since"), instant(match[2], "until")
        if since >= until:
            raise UsageError(f"Object key {text!r} ends before it starts. Pass one such as {_EXAMPLE}.")
        return cls(text, since, until, match[3].lower(), match[4], int(match[5]))

    @classmethod
    def from_url(cls, url: str) -> ObjectKey:
        """Parse the key in a listed URL, which is its last path component, percent-encoded.

        Raises
        ------
        DecodeError
            If the URL contains no key.
        """
        name = re.split(r"[?#]", url, maxsplit=1)[0].rpartition("/")[2]
        try:
            return cls.parse(unquote(name))
        except UsageError as error:
            raise DecodeError(f"A listed URL contains no object key: {error}", json_path="$..object_refs[].url") from error

    @classmethod
    def from_path(cls, path: str | PurePath) -> ObjectKey | None:
        """Parse the key in a file name, or in a directory and file name, or return None."""
        file = PurePath(path)
        for name in (f"{file.parent.name}/{file.name}", file.name):
            try:
                return cls.parse(unquote(name))
            except UsageError:
                continue
        return None

    @property
    def position(self) -> tuple[str, datetime, datetime, int]:
        """Kind, folder and index, which objects with the same lines in two encodings share."""
        return self.kind, self.since, self.until, self.index

    @property
    def sort_key(self) -> tuple[datetime, datetime, str, str, int]:
        """Key that sorts objects by their lines.

        As text, 10 is before 2 (docs/facts.md#bulk-listing-order).
        """
        return self.since, self.until, self.kind, self.encoding or "", self.index
