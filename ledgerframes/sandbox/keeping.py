"""What was made stays for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def forget_oldest(kept: OrderedDict[Any, T], size_of: Callable[[T], int], most: int, fewest: int) -> None:
    """Drop what nobody asked for lately.

    Parameters
    ----------
    kept
        What there is, newest last.
    size_of
        Bytes of one of them.
    most
        Bytes to keep.
    fewest
        So many of the newest stay, however large they are.
    """
    size = sum(map(size_of, kept.values()))
    while size > most and len(kept) > fewest:
        _, dropped = kept.popitem(last=False)
        size -= size_of(dropped)
