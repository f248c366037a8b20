"""Decoders of request bodies, each made once and one at a time: threads that make the first one at once bring Python down."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from threading import Lock
from typing import Any

import msgspec

_making = Lock()


@cache
def decoder_of(kind: Hashable) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a structure."""
    with _making:
        return msgspec.json.Decoder[Any](kind)
