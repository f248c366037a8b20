"""Activity weights as they would be with other rights, other factors or other views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import amounts, to_decimal
from ledgerframes.analysis._groups import Integers, ratio, sort_largest_first
from ledgerframes.analysis._requests import encode_texts, merge, root_templates
from ledgerframes.analysis._views import join, set_numbers
from ledgerframes.analysis.activity._final_rounds import round_values
from ledgerframes.analysis.activity._weight_formula import Requests, computable_share, compute, read_requests
from ledgerframes.analysis.state._network_state import NetworkState, checked, network_state
from ledgerframes.analysis.state._payloads import MAX_FACTOR
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

SAME_CONFIRMERS = "same confirmers"
CONFIRMERS = ("quorums", "informees")
SIDES = ("before", "after")
WHAT_IF = declare.Figure(
    "activity.what_if",
    rows="One row per party, or per round and party; sorted by round, then by weight after the change from the largest.",
    like="activity.recompute",
    has_rounds=True,
    columns=(
        declare.text("party", "App provider."),
        declare.integer("weight_before", "Computed weight as it is.", declare.WEIGHT_UNIT, "Activity weight"),
        declare.integer("weight_after", "Computed weight with the change.", declare.WEIGHT_UNIT, "Activity weight"),
        declare.integer("difference", "Weight after minus before.", declare.WEIGHT_UNIT),
        declare.share("Share of the weight before. Missing without weight.", "share_before"),
        declare.share("Share of the weight after. Missing without weight.", "share_after"),
        declare.count("requests_changed", "Requests with another weight of the party."),
    ),
    condition="with known envelopes, round and state",
    unit="accepted requests of the frames",
)


@WHAT_IF.document
def what_if(
    frames: Frames,
    *,
    featured: pd.DataFrame | None = None,
    factors: Mapping[str, object] | None = None,
    merge_views: str | Iterable[tuple[str, str]] | None = None,
    confirmers: Literal["quorums", "informees"] = "quorums",
    every: str | None = None,
    rights: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the activity weights as they are, and as they would be after a change.

    Parameters
    ----------
    featured : DataFrame, optional
        All featured rights after the change, in the columns of :func:`ledgerframes.state.featured`: add or remove rows of its
        result, with the time from which they count in ``from``.
    factors : mapping of str to decimal, optional
        Factor of a party after the change, in all of its rights.
    merge_views : ``"same confirmers"`` or pairs of template and choice, optional
        Envelopes that become one, with the sum of their costs and all of their confirmers: those of a request with the same
        confirmers, or all with views of a request whose root node is one of these choices.
    confirmers : {"quorums", "informees"}, optional
        ``"informees"`` counts all informees of a view as confirmers, an upper bound.
    every : {"round"}, optional
        One row per round and party (default: per party).
    rights, sv_participants, rounds : DataFrame, optional
        State of the network before the change, as ``featured``, ``sv_participants`` and ``rounds`` of :func:`recompute`.

    Raises
    ------
    UsageError
        If no change is passed, or a party of `factors` has no right.

    Source: docs/facts.md#activity-weights. Everything else stays the same: requests, costs and the behavior of all parties. The
    cost that fewer envelopes would save is not estimated.

    >>> party = lf.activity.recompute(frames)["party"].iloc[0]
    >>> doubled = lf.activity.what_if(frames, factors={party: "100.0"}).set_index("party")
    >>> bool(doubled.loc[party, "weight_after"] >= doubled.loc[party, "weight_before"])
    True
    """
    WHAT_IF.check(frames)
    if every not in (None, "round"):
        raise UsageError(f"every= must be 'round' or None, got {every!r}.")
    if confirmers not in CONFIRMERS:
        raise UsageError(f"Unknown confirmers={confirmers!r}. Choose from {', '.join(map(repr, CONFIRMERS))}.")
    if featured is None and factors is None and merge_views is None and confirmers == "quorums":
        raise UsageError("Pass featured=, factors=, merge_views= or confirmers='informees'.")
    before = network_state(frames, rights, sv_participants, rounds)
    after = _with_factors(before if featured is None else replace(before, rights=checked("featured", featured)), factors)
    requests = read_requests(frames)
    changed = requests if confirmers == "quorums" else read_requests(frames, confirmers)
    if merge_views is not None:
        changed = changed.with_envelopes_merged(_merged(frames, changed, merge_views))
    usual, statuses = compute(requests, before)
    rows = _compare(usual, compute(changed, after)[0], every)
    if every == "round":
        rows = rows.assign(**round_values(frames, before.rounds, rows["round_number"]))
    return WHAT_IF.build(frames, {**rows, "coverage": computable_share(statuses)}, every=every)


def _with_factors(state: NetworkState, factors: Mapping[str, object] | None) -> NetworkState:
    rights = state.rights
    for party, text in (factors or {}).items():
        factor, is_party = to_decimal(text), rights["party"] == party
        if factor is None or not 0 <= factor <= MAX_FACTOR:
            raise UsageError(f"factors= must be decimals from 0 to {MAX_FACTOR:,} with at most 10 places, got {text!r}.")
        if not is_party.any():
            raise UsageError(f"Unknown party {party!r}. Choose a party with a right, or add one with featured=.")
        weights = rights["weight"].where(~is_party, factor)
        rights = rights.assign(weight=amounts(None if pd.isna(weight) else Decimal(weight) for weight in weights))
    return replace(state, rights=rights)


def _compare(before: pd.DataFrame, after: pd.DataFrame, every: str | None) -> pd.DataFrame:
    """Return the sums of both sides by party, and by round if `every` has them."""
    keys = ["round_number", "party"] if every else ["party"]
    columns = ["update_id", *dict.fromkeys((*keys, "round_number")), "weight"]
    both = merge(before[columns], after[columns], on=columns[:-1], how="outer", suffixes=("_before", "_after"))
    both["requests_changed"] = both["weight_before"].fillna(-1) != both["weight_after"].fillna(-1)
    names = ["weight_before", "weight_after"]
    rows = both.fillna(dict.fromkeys(names, 0))
    rows = rows.groupby(keys, as_index=False)[[*names, "requests_changed"]].sum()
    rows["difference"] = rows["weight_after"] - rows["weight_before"]
    for side in SIDES:
        weight = rows[f"weight_{side}"]
        totals: Any = weight.groupby(rows["round_number"]).transform("sum") if every else pd.Series(weight.sum(), rows.index)
        rows[f"share_{side}"] = ratio(weight, totals)
    return sort_largest_first(rows, "weight_after", "party", before=keys[:-1])


# -- merged envelopes ---------------------------------------------------------------------------------------------------


def _merged(frames: Frames, requests: Requests, merge_views: str | Iterable[tuple[str, str]]) -> Integers:
    """Return for each envelope the first one that it becomes one with."""
    count = len(requests.owners)
    has_views = np.bincount(requests.linked_envelopes, minlength=count) > 0
    if isinstance(merge_views, str):
        if merge_views != SAME_CONFIRMERS:
            raise UsageError(f"merge_views= must be {SAME_CONFIRMERS!r} or pairs of template and choice, got {merge_views!r}.")
        parties, names = encode_texts(requests.confirmers)
        pairs = join(requests.linked_envelopes, requests.linked_views, requests.confirmed_views, parties)
        labels, _ = set_numbers(*pairs, count, len(names))
        is_merged = has_views & (labels > 0)
    else:
        labels = np.zeros(count, dtype=np.int64)
        is_merged = has_views & _has_root(frames, requests, set(merge_views))[requests.owners]
    codes = np.arange(count, dtype=np.int64)
    keys = requests.owners[is_merged] * (int(labels.max(initial=0)) + 1) + labels[is_merged]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    codes[is_merged] = codes[is_merged][first][inverse]
    return codes


def _has_root(frames: Frames, requests: Requests, pairs: set[tuple[str, str]]) -> Any:
    roots = root_templates(frames, requests.heads["update_id"])
    names = zip(roots["template_name"], roots["choice"], strict=True)
    flags = np.array([pair in pairs for pair in names], dtype=bool)
    if not flags.any():
        raise UsageError(f"merge_views= must name a root template and choice of these requests, got {sorted(pairs)!r}.")
    return flags
