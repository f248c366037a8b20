"""Confirmation requests as rows, and lookups between linked tables.

A request is an update id with a verdict, an update or a traffic summary. History older than the verdicts has updates only.
Such a request counts, with a missing submitter, outcome and latency. It does not count as accepted: the rejected requests of
its time are not visible, so a rate would suffer from survivorship.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._groups import Flags, Integers
from ledgerframes.datasets import table
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames

HEAD = ["migration_id", "record_time", "update_id"]
ACCEPTED = "VERDICT_RESULT_ACCEPTED"
REJECTED = "VERDICT_RESULT_REJECTED"
UNSPECIFIED = "VERDICT_RESULT_UNSPECIFIED"
PARTICIPANT_PREFIX = "PAR::"  # which some fields put before the id of a participant (docs/facts.md#identifiers)


def requests(frames: Frames, verdict_columns: Sequence[str] = (), *, cost: bool = True) -> pd.DataFrame:
    """Return one row per confirmation request, those with a verdict first.

    It has ``migration_id``, ``record_time``, ``update_id``, ``has_verdict``, columns of ``verdicts``, which are missing without a
    verdict, and with `cost` ``total_traffic_cost`` [bytes], missing without a traffic summary.
    """
    verdicts = frames.read("verdicts", [*HEAD, *verdict_columns])
    updates = frames.read("updates", HEAD)
    traffic = frames.read("traffic", [*HEAD, "total_traffic_cost"])

    rows = _append_unseen(verdicts[HEAD], updates)
    rows = _append_unseen(rows, traffic[HEAD])
    rows["has_verdict"] = np.arange(len(rows)) < len(verdicts)
    for name in verdict_columns:
        rows[name] = _nullable(verdicts[name]).reindex(rows.index)
    if cost:
        indexes = positions(rows["update_id"], traffic["update_id"])
        rows["total_traffic_cost"] = take_or_missing(not_negative(traffic["total_traffic_cost"]), indexes)
    return rows


def not_negative(numbers: pd.Series) -> pd.Series:
    """Return integers, missing where they are negative."""
    return _nullable(numbers).mask(numbers < 0)


def _append_unseen(rows: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    is_unseen = positions(others["update_id"], rows["update_id"]) < 0
    return pd.concat([rows, others[is_unseen]], ignore_index=True)


def _nullable(values: pd.Series) -> pd.Series:
    """Return integers in a nullable dtype, because missing values would turn them into floats."""
    return values.astype("Int64") if pd.api.types.is_integer_dtype(values.dtype) else values


def has_result(rows: pd.DataFrame, result: str) -> Flags:
    """Return which requests have this verdict."""
    return (rows["verdict_result"] == result).to_numpy(dtype=bool)


def is_first_of_request(rows: pd.DataFrame) -> Flags:
    """Return which rows are the first of their request, all if each request is in one row."""
    return (~rows["request"].duplicated()).to_numpy() if "request" in rows else np.ones(len(rows), dtype=bool)


# -- population ---------------------------------------------------------------------------------------------------------


def require_rejections(frames: Frames, accept_survivorship: bool, quantity: str) -> None:
    """Raise a CoverageError if rejected requests cannot be in the frames."""
    if accept_survivorship or frames.population != "committed":
        return
    raise CoverageError(
        f"Cannot compute {quantity} because committed updates have no rejected requests. "
        "Load a window with since= if the network lists events, or pass accept_survivorship=True.",
        missing=("rejected requests",),
    )


def population_of(frames: Frames, accept_survivorship: bool = False) -> str:
    """Return the population of a result, which shows that the caller accepts survivorship."""
    is_accepted = accept_survivorship and frames.population == "committed"
    return f"{frames.population}, accepted" if is_accepted else frames.population


# -- lookups ------------------------------------------------------------------------------------------------------------


def positions(ids: pd.Series | pa.Array, values: pd.Series | pa.Array) -> Integers:
    """Return the first position of each id in `values`, -1 for an id that is not in there.

    Arrow's hash lookup is several times faster here than a merge of frames, and cannot multiply rows.
    """
    matches = pc.index_in(pa.array(ids), value_set=pa.array(values))
    indexes: Integers = matches.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return indexes


def take_or_missing(values: pd.Series, indexes: Integers) -> pd.Series:
    """Return the values at these positions, missing at -1."""
    return pd.Series(_nullable(values).array.take(indexes, allow_fill=True))


def read_where(frames: Frames, name: str, condition: pc.Expression, columns: Sequence[str]) -> pd.DataFrame:
    """Return columns of the rows of a table that meet a condition. The store reads no others."""
    with frames._scanning(name) as rows:
        return table(name).to_pandas(rows.filter(condition).to_table(columns=list(columns)))


# -- list columns -------------------------------------------------------------------------------------------------------


def list_lengths(lists: pd.Series) -> Integers:
    """Return the length of each list, 0 for a missing list."""
    lengths: Integers = pc.list_value_length(_arrow(lists)).fill_null(0).to_numpy().astype(np.int64)
    return lengths


def list_items(lists: pd.Series) -> tuple[Integers, pa.ChunkedArray]:
    """Return the position of each item's list, and all items in a row."""
    return np.repeat(np.arange(len(lists)), list_lengths(lists)), pc.list_flatten(_arrow(lists))


def encode_texts(texts: pa.ChunkedArray) -> tuple[Integers, pa.Array]:
    """Return each text as a number, and the texts by number in alphabetical order."""
    encoded = texts.dictionary_encode().combine_chunks()
    rank = pc.rank(encoded.dictionary, sort_keys="ascending", tiebreaker="first").to_numpy().astype(np.int64) - 1
    in_order = encoded.dictionary.take(pc.sort_indices(encoded.dictionary))
    return rank[encoded.indices.to_numpy()], in_order


def _arrow(lists: pd.Series) -> pa.ChunkedArray:
    values = pa.array(lists)
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
