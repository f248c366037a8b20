"""Cost of views and envelopes, and the parties that see or confirm them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis._groupings import group_rows, with_keys
from ledgerframes.analysis._groups import Flags, Groups, Integers, distinct, known
from ledgerframes.analysis._requests import (
    distinct_pairs,
    distinct_per_owner,
    encode_items,
    list_items,
    list_lengths,
    positions,
    read_envelopes,
    requests,
    take_or_missing,
    with_requests,
)
from ledgerframes.frames import Frames

# One number identifies a view: the position of its request and the view's own number side by side.
VIEWS_PER_REQUEST = 1 << 31


def has_no_views(envelopes: pd.DataFrame) -> Flags:
    """Return which envelopes carry no view."""
    return np.equal(list_lengths(envelopes["view_ids"]), 0)


def overhead_totals(frames: Frames, rows: pd.DataFrame, groups: Groups, keys: Sequence[str], every: str | None) -> pd.Series:
    """Return the cost of envelopes without views by group, missing without any envelope."""
    if "view_id" in keys:
        return groups.total(rows["total_traffic_cost"]) * 0  # an envelope that counts for a view has one
    is_known = known(rows["total_traffic_cost"])
    if not keys and frames.window is not None and is_known.sum() == frames.count_rows("traffic"):
        # The time of an envelope is enough, and ids are most of its bytes.
        envelopes = read_envelopes(frames, ["record_time", "view_ids"])
        return group_rows(frames, envelopes, keys, every).masked_total(envelopes["traffic_cost"], has_no_views(envelopes))
    envelopes = read_envelopes(frames, ["update_id", "view_ids"])
    encoded = pa.chunked_array(pa.array(envelopes["update_id"])).dictionary_encode().combine_chunks()
    by_request = Groups(pd.DataFrame(index=range(len(encoded.dictionary))), encoded.indices.to_numpy().astype(np.int64))
    costs = by_request.masked_total(envelopes["traffic_cost"], has_no_views(envelopes))
    return groups.total(take_or_missing(costs, positions(rows["update_id"], encoded.dictionary)).where(is_known))


def views_by(
    frames: Frames, keys: Sequence[str], every: str | None, verdict_columns: Sequence[str]
) -> tuple[pd.DataFrame, Groups]:
    """Return all views and their groups. An envelope counts for the lowest of its views."""
    request_rows = requests(frames, verdict_columns)
    informees = _informee_counts(frames, request_rows)
    envelopes = request_envelopes(frames, request_rows)
    has_envelopes = np.isin(np.arange(len(request_rows)), envelopes["request"])
    envelopes = envelopes[~has_no_views(envelopes)].reset_index(drop=True)
    envelope_numbers = _lowest_views(envelopes)
    numbers = distinct(np.concatenate([informees.index.to_numpy("int64"), envelope_numbers]))
    owners = numbers // VIEWS_PER_REQUEST
    per_view = Groups(pd.DataFrame(index=range(len(numbers))), np.searchsorted(numbers, envelope_numbers))
    views = with_keys(frames, request_rows, keys)
    views["is_known"] = known(views["total_traffic_cost"]) & has_envelopes
    views = views.iloc[owners].reset_index(drop=True)
    views["view_id"] = numbers % VIEWS_PER_REQUEST
    views["informees"] = informees.reindex(numbers).array
    views["confirmers"] = (
        _confirmer_counts(frames, request_rows).reindex(numbers).fillna(0).where(informees.reindex(numbers).notna()).array
    )
    views["envelopes"] = per_view.count()
    views["total_traffic_cost"] = per_view.total(envelopes["traffic_cost"])
    return views, group_rows(frames, views, keys, every)


def _lowest_views(envelopes: pd.DataFrame) -> Integers:
    owners, view_ids = list_items(envelopes["view_ids"])
    lowest = pd.Series(view_ids.to_numpy()).groupby(owners).min()
    return view_numbers(envelopes["request"], lowest)


def _informee_counts(frames: Frames, rows: pd.DataFrame) -> pd.Series:
    views = _children(frames, "views", ["view_id", "informees"], rows)
    return pd.Series(list_lengths(views["informees"]), index=view_numbers(views["request"], views["view_id"]), dtype="Int64")


def _confirmer_counts(frames: Frames, rows: pd.DataFrame) -> pd.Series:
    quorums = _children(frames, "quorums", ["view_id", "parties"], rows)
    return distinct_per_owner(view_numbers(quorums["request"], quorums["view_id"]), quorums["parties"])


def request_envelopes(frames: Frames, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the envelopes of requests with a known cost.

    The position of the request is ``request``.
    """
    envelopes = with_requests(read_envelopes(frames, ["update_id", "view_ids"]), rows)
    return envelopes[known(rows["total_traffic_cost"])[envelopes["request"]]].reset_index(drop=True)


def confirmer_sets(frames: Frames, rows: pd.DataFrame, envelopes: pd.DataFrame) -> pd.DataFrame:
    """Return the set of parties that can confirm each envelope, as a number.

    The columns are ``confirmer_set`` and ``confirmers``, the number of parties. They are missing without a known confirmer.
    """
    owners, view_ids = list_items(envelopes["view_ids"])
    numbers = view_numbers(envelopes["request"].take(owners), pd.Series(view_ids.to_numpy()))
    quorums = _children(frames, "quorums", ["view_id", "parties"], rows)
    quorum_owners, parties, names = encode_items(quorums["parties"])
    quorum_numbers = view_numbers(quorums["request"], quorums["view_id"])[quorum_owners]
    sets, sizes = set_numbers(*join(owners, numbers, quorum_numbers, parties), len(envelopes), len(names))
    columns = pd.DataFrame({"confirmer_set": sets, "confirmers": sizes}, dtype="Int64")
    return columns[sets > 0].reindex(columns.index)


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


def _children(frames: Frames, name: str, columns: list[str], rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a linked table, with the position of their request as ``request``."""
    return with_requests(frames.read(name, ["update_id", *columns]), rows)


def view_numbers(requests_of: pd.Series, view_ids: pd.Series) -> Integers:
    """Return the number of each view, from the position of its request and its own number."""
    numbers: Integers = requests_of.to_numpy("int64") * VIEWS_PER_REQUEST + view_ids.to_numpy("int64")
    return numbers
