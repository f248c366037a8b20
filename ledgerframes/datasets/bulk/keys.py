"""Keys of bulk objects: which day, what, in which encoding, and where among its fellows.

A key is text that a service or a file name gives. It is read here, and never used as a path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from urllib.parse import unquote

from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.windows import instant

__all__ = ["ObjectKey"]

_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z"
_KEY = re.compile(rf"({_TIME})~({_TIME})/(updates|ACS)_(?:(compact_json|protobuf_json)_)?(0|[1-9]\d{{0,8}})\.zstd", re.ASCII)
_SHOWN = 120  # characters of a strange key in an error
_EXAMPLE = "2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd"


@dataclass(frozen=True)
class ObjectKey:
    """The name of a bulk object, taken apart (docs/facts.md#bulk-storage).

    Attributes
    ----------
    text : str
        The key as the service writes it.
    since, until : datetime
        The folder's range; the first one begins in the year 1. Active contracts are those at `since`.
    kind : str
        ``updates`` or ``acs``.
    encoding : str or None
        ``compact_json`` or ``protobuf_json``; None for an old key, which does not say.
    number : int
        Place in the folder, from 0.

    Examples
    --------
    >>> key = ObjectKey.parse("2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/ACS_compact_json_3.zstd")
    >>> key.kind, key.encoding, key.number
    ('acs', 'compact_json', 3)
    """

    text: str
    since: datetime
    until: datetime
    kind: str
    encoding: str | None
    number: int

    @classmethod
    def parse(cls, text: str) -> ObjectKey:
        """Read a key.

        Raises
        ------
        UsageError
            If it is not one.
        """
        match = _KEY.fullmatch(text)
        if match is None:
            raise UsageError(f"{text[:_SHOWN]!r} is not the key of a bulk object. Keys look like {_EXAMPLE}.")
        since, until = instant(match[1], "since"), instant(match[2], "until")
        if since >= until:
            raise UsageError(f"The bulk object {text} ends before it begins. Keys look like {_EXAMPLE}.")
        return cls(text, since, until, match[3].lower(), match[4], int(match[5]))

    @classmethod
    def of_url(cls, url: str) -> ObjectKey:
        """Read the key in a listed address: its last segment, percent-encoded.

        Raises
        ------
        DecodeError
            If there is none.
        """
        segment = re.split(r"[?#]", url, maxsplit=1)[0].rpartition("/")[2]
        try:
            return cls.parse(unquote(segment))
        except UsageError as error:
            raise DecodeError(f"A listed address holds no key: {error}", json_path="$..object_refs[].url") from error

    @classmethod
    def of_file(cls, path: str | PurePath) -> ObjectKey | None:
        """Read the key in a file's name, or in its folder's and its own; percent-encoded or not. None if there is none."""
        file = PurePath(path)
        for name in (f"{file.parent.name}/{file.name}", file.name):
            try:
                return cls.parse(unquote(name))
            except UsageError:
                continue
        return None

    @property
    def order(self) -> tuple[datetime, datetime, str, str, int]:
        """What keys are sorted by to give lines in order; as text, 10 comes before 2 (docs/facts.md#bulk-listing-order)."""
        return self.since, self.until, self.kind, self.encoding or "", self.number
