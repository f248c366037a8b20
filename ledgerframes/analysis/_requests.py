"""The one frame of confirmation requests that the analyses share, and the look-ups between linked tables.

A request is an update id that a verdict, an update or a traffic summary was seen for. Mostly that is a verdict. History
older than the verdicts has updates only: such a request is counted, with its submitter, outcome and latency missing. It is not
counted as accepted, because the rejected requests of its time are not visible at all and a rate would be made of survivors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._groups import Flags, Integers, distinct
from ledgerframes.datasets import table
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames

HEAD = ["migration_id", "record_time", "update_id"]
ACCEPTED = "VERDICT_RESULT_ACCEPTED"
REJECTED = "VERDICT_RESULT_REJECTED"
UNSPECIFIED = "VERDICT_RESULT_UNSPECIFIED"
ALWAYS_ACCEPTED = ("ledger", "bulk")


def requests(frames: Frames, verdict_columns: Sequence[str] = (), *, cost: bool = True) -> pd.DataFrame:
    """One row per confirmation request.

    Parameters
    ----------
    frames : Frames
    verdict_columns : sequence of str
        Columns of ``verdicts`` to bring along; missing where there is no verdict.
    cost : bool
        Whether to bring ``total_traffic_cost`` [bytes] along; missing where it is not known.

    Returns
    -------
    DataFrame
        ``migration_id``, ``record_time``, ``update_id``, ``has_verdict`` and what was asked for, requests with a verdict first.
    """
    verdicts = frames.read("verdicts", [*HEAD, *verdict_columns])
    updates = frames.read("updates", HEAD)
    traffic = frames.read("traffic", [*HEAD, "total_traffic_cost"])

    rows = _with_unseen(verdicts[HEAD], updates)
    rows = _with_unseen(rows, traffic[HEAD])
    rows["has_verdict"] = np.arange(len(rows)) < len(verdicts)
    for name in verdict_columns:
        rows[name] = _nullable(verdicts[name]).reindex(rows.index)
    if cost:
        rows["total_traffic_cost"] = looked_up(traffic["total_traffic_cost"], positions(rows["update_id"], traffic["update_id"]))
    return rows


def _with_unseen(rows: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    unseen = positions(others["update_id"], rows["update_id"]) < 0
    return pd.concat([rows, others[unseen]], ignore_index=True)


def _nullable(values: pd.Series) -> pd.Series:
    """Integers that can be missing stay integers only in a nullable dtype."""
    return values.astype("Int64") if pd.api.types.is_integer_dtype(values.dtype) else values


def is_rejected(rows: pd.DataFrame) -> Flags:
    """Which requests were rejected; not those without a verdict."""
    return has_result(rows, REJECTED)


def has_result(rows: pd.DataFrame, result: str) -> Flags:
    """Which requests have this verdict."""
    return (rows["verdict_result"] == result).to_numpy(dtype=bool)


def per_party(rows: pd.DataFrame) -> tuple[pd.DataFrame, Flags]:
    """Each request once per submitting party (once with a missing party if it has none), and whether the party was alone."""
    which, texts = list_items(rows["submitting_parties"])
    codes, names = numbered(texts)
    pairs = distinct(which * max(len(names), 1) + codes)
    which, codes = pairs // max(len(names), 1), pairs % max(len(names), 1)
    parties_each = np.bincount(which, minlength=len(rows))
    nobody = np.flatnonzero(parties_each == 0)
    party = pd.array(names, dtype="str").take(np.concatenate([codes, np.full(len(nobody), -1)]), allow_fill=True)
    expanded = rows.drop(columns="submitting_parties").iloc[np.concatenate([which, nobody])].reset_index(drop=True)
    expanded["party"] = party
    return expanded, np.concatenate([parties_each[which] == 1, np.zeros(len(nobody), dtype=bool)])


def refuse_survivors(rows: pd.DataFrame, accept_survivorship: bool) -> None:
    """Raise if every request was found among accepted ones, so that no rejection could have been seen."""
    sources = rows["id_source"].dropna()
    if accept_survivorship or sources.empty or not sources.isin(ALWAYS_ACCEPTED).all():
        return
    found = ", ".join(sorted(sources.unique()))
    raise CoverageError(
        f"All {len(sources):,} requests were found through ids from: {found}. Those hold accepted updates only, so no rejection "
        "can be among them and every rate is 0 % by construction. Load the range by listing (lf.load_events with since and "
        "until), or pass accept_survivorship=True.",
        missing=("rejected requests",),
    )


# -- look-ups ---------------------------------------------------------------------------------------------------------


def positions(ids: pd.Series, among: pd.Series) -> Integers:
    """Where each id first occurs among others; -1 where it does not.

    Arrow's hash look-up is several times faster here than a merge of frames, and can never multiply rows.
    """
    found = pc.index_in(pa.array(ids), value_set=pa.array(among))
    where: Integers = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return where


def looked_up(values: pd.Series, found: Integers) -> pd.Series:
    """The values at these positions, as a column; missing at -1."""
    return pd.Series(_nullable(values).array.take(found, allow_fill=True))


def first_roots(frames: Frames, update_ids: pd.Series) -> pd.DataFrame:
    """Package name, template name and choice of the first root of each update's tree; missing where no tree is visible."""
    names = ["package_name", "template_name", "choice"]
    is_root = pc.field("depth") == 0
    roots = frames.scan("tree_events").filter(is_root).to_table(columns=["update_id", "node_index", *names])
    nodes = table("tree_events").to_pandas(roots).sort_values("node_index", kind="stable", ignore_index=True)
    found = positions(update_ids, nodes["update_id"])
    return pd.DataFrame({name: looked_up(nodes[name], found) for name in names})


# -- list columns -----------------------------------------------------------------------------------------------------


def list_lengths(lists: pd.Series) -> Integers:
    """How many items each list has; 0 for a missing list."""
    lengths: Integers = pc.list_value_length(_arrow(lists)).fill_null(0).to_numpy().astype(np.int64)
    return lengths


def list_items(lists: pd.Series) -> tuple[Integers, pa.ChunkedArray]:
    """All items in a row, and for each the position of the list it comes from."""
    return np.repeat(np.arange(len(lists)), list_lengths(lists)), pc.list_flatten(_arrow(lists))


def numbered(texts: pa.ChunkedArray) -> tuple[Integers, pa.Array]:
    """Each text as a number, and the texts by number, in alphabetical order."""
    encoded = texts.dictionary_encode().combine_chunks()
    rank = pc.rank(encoded.dictionary, sort_keys="ascending", tiebreaker="first").to_numpy().astype(np.int64) - 1
    in_order = encoded.dictionary.take(pc.sort_indices(encoded.dictionary))
    return rank[encoded.indices.to_numpy()], in_order


def distinct_per_owner(owners: Integers, lists: pd.Series) -> pd.Series:
    """How many different texts the lists of each owner hold, indexed by owner; several lists may have the same one."""
    names = distinct(owners)
    numbers = np.searchsorted(names, owners)
    which, texts = list_items(lists)
    codes, parties = numbered(texts)
    pairs = distinct(numbers[which] * max(len(parties), 1) + codes)
    counts = np.bincount(pairs // max(len(parties), 1), minlength=len(names))
    return pd.Series(counts, index=names, dtype="Int64")


def _arrow(lists: pd.Series) -> pa.ChunkedArray:
    values = pa.array(lists)
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
