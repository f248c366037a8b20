"""Views as numbers, and the sets of parties that confirm them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis._groups import Integers
from ledgerframes.analysis._requests import distinct_pairs

# One number identifies a view: the position of its request and the view's own number side by side.
VIEWS_PER_REQUEST = 1 << 31


def join(envelopes: Integers, views: Integers, confirmed_views: Integers, parties: Integers) -> tuple[Integers, Integers]:
    """Return each pair of an envelope and a party that share a view."""
    order = np.argsort(confirmed_views, kind="stable")
    first, after = (np.searchsorted(confirmed_views, views, side=side, sorter=order) for side in ("left", "right"))
    counts = after - first
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(envelopes, counts), parties[order[np.repeat(first, counts) + offsets]]


def set_numbers(owners: Integers, parties: Integers, owner_count: int, party_count: int) -> tuple[Integers, Integers]:
    """Return a number for the set of parties of each owner, and its size.

    Equal sets have the same number, and a set without parties has 0.
    """
    owners, parties = distinct_pairs(owners, parties, party_count)
    sizes = np.bincount(owners, minlength=owner_count).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    numbers = np.zeros(owner_count, dtype=np.int64)
    for position in range(int(sizes.max(initial=0))):
        has_one = sizes > position
        party = np.zeros(owner_count, dtype=np.int64)
        party[has_one] = parties[starts[has_one] + position] + 1
        _, numbers = np.unique(numbers * (party_count + 1) + party, return_inverse=True)
    return np.where(sizes > 0, numbers + 1, 0), sizes


def view_numbers(requests_of: pd.Series, view_ids: pd.Series) -> Integers:
    """Return the number of each view, from the position of its request and its own number."""
    numbers: Integers = requests_of.to_numpy("int64") * VIEWS_PER_REQUEST + view_ids.to_numpy("int64")
    return numbers
