"""Sentences that answer with the comparisons of sources."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis.groups import is_true
from ledgerframes.analysis.reconcile._reward_links import LINKS, SERVICE
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize

MAX_ROUNDS = 5
FAILED = "failed command without an update id"


def of_rewards(result: pd.DataFrame) -> str:
    """Return for how many rounds the rewards follow from the records, and where they do not."""
    if "party" not in result and len(result) and not {*LINKS} - {SERVICE} <= {*result["link"]}:
        return ""  # Some links of a chain say nothing about the whole chain.
    # lf.activity.reconcile explains the weights. The link of a node is unknown where it has no answer.
    links = result[(result["link"] != "weights") & ((result["link"] != SERVICE) | (result["status"] != "unknown"))]
    is_equal = (links["status"] == "equal").groupby(
        [links[name] for name in ("round_number", "kind", "is_dry_run")], observed=True
    )
    proven = int(is_equal.all().sum())
    numbers = sorted(links.loc[links["status"].isin(["differs", "missing"]), "round_number"].unique().tolist())
    if not proven and not numbers:
        return "No round has all its links in this window."
    verb = "differs" if len(numbers) == 1 else "differ"
    rest = f"{len(numbers):,} {verb}: {', '.join(map(str, numbers[:MAX_ROUNDS]))}." if numbers else "None differs."
    return f"The rewards of {pluralize(proven, 'round')} follow from the records to the last hash. {rest}"


def of_paid_traffic_totals(result: pd.DataFrame) -> str:
    """Return how many costs of both sources are equal, and what only one source has."""
    updates = result.groupby(result["outcome"].astype("str"))["updates"].sum()
    names = ("equal", "different", "only in ledger", "only in history")
    equal, different, ledger, history = updates.reindex(names, fill_value=0).tolist()
    rejected = int(result.loc[result["why"] == "rejected", "updates"].sum())
    failed = int(result.loc[result["why"] == FAILED, "updates"].sum())  # The history has them as rejected requests.
    return (
        f"Of the costs that both sources have, {printing.rate(equal, equal + different)} are equal. Own requests only in the "
        f"ledger: {ledger - failed:,}. Only in the history: {history:,}, {rejected:,} of them rejected."
    )


def of_bounds(result: pd.DataFrame) -> str:
    """Return which offsets a copy of a ledger has, and which are missing."""
    if result.empty:
        return "The store has no offset of this ledger."
    pruned = int((result["through"] - result["after"])[is_true(result["is_pruned"])].sum())
    first, last = f"{result['after'].min():,}", f"{result['through'].max():,}"
    return (
        f"The copy has the offsets after {first} through {last} (ranges: {len(result):,}). "
        f"Missing in between: {result['gap_before'].sum():,}. In two ranges: {result['overlap_before'].sum():,}. "
        f"Pruned: {pruned:,}."
    )


def of_nodes(result: pd.DataFrame) -> str:
    """Return how many requests two nodes have in common, and how many of these differ."""
    presence = result[result["aspect"] == "presence"]
    if "period_start" in result or len(presence) != 1:
        return ""
    (first,) = presence.to_dict("records")
    others = result[["different", "only_a", "only_b"]].sum().sum()
    start = first["comparable_from"]
    since = "No hour has enough common ids to compare" if pd.isna(start) else f"Compare them from {start:%Y-%m-%d %H:%M} UTC"
    common = pluralize(int(first["equal"]), "common request")
    differences = f"{pluralize(int(others), 'difference')} in {pluralize(len(result), 'aspect')}"
    return f"The two nodes have {common}, with {differences}. {since}."


def of_digests(result: pd.DataFrame) -> str:
    """Return how many bulk objects have the same digest everywhere, and which nodes differ."""
    equal = int((result["outcome"] == "equal").sum())
    counts = result.loc[result["majority_sha256"].notna(), "dissenters"].dropna().str.split(", ").explode().value_counts()
    names = ", ".join(f"{node} ({number:,})" for node, number in counts.items()) or "none"
    same = f"Of {pluralize(len(result), 'object')}, {equal:,} have the same digest at all nodes."
    undecided = int((result["dissenters"].notna() & result["majority_sha256"].isna()).sum())
    no_majority = f" Without a majority: {pluralize(undecided, 'object')}." if undecided else ""
    unknown = int((result["outcome"] == "unknown").sum())
    not_compared = f" Fewer than two known digests: {pluralize(unknown, 'object')}." if unknown else ""
    return f"{same} Nodes that differ from most: {names}.{no_majority}{not_compared}"
