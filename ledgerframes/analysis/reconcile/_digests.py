"""Comparison of the digests of bulk objects between the nodes of a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.reconcile import _answers as answers
from ledgerframes.datasets.bulk.wire import EMPTY_DIGEST
from ledgerframes.errors import UsageError
from ledgerframes.values.windows import Time, instant

SETTLED_AFTER = timedelta(hours=48)
OUTCOMES = ("equal", "different", "empty digest", "missing", "unknown", "not settled")
MIN_KNOWN_DIGESTS = 2  # for a comparison
REQUIRED = ("object_key", "sha256", "until")

DIGESTS = declare.Figure(
    "reconcile.digests",
    caption="Digests of bulk objects",
    answer=answers.of_digests,
    main_columns=("object_key", "outcome", "listed", "dissenters", "missing_at"),
    without_query="it reads tables of several nodes, not frames. Query those of a store with lf.sql(net, 'FROM bulk_objects')",
    rows="One row per bulk object; sorted by key.",
    columns=(
        declare.text("object_key", "Key of the bulk object."),
        declare.time("until", "End of the object's time."),
        declare.choice("outcome", OUTCOMES),
        declare.count("nodes", "Nodes that were compared.", "nodes"),
        declare.count("listed", "Nodes that list the object.", "nodes"),
        declare.count("empty_digests", "Nodes that list the digest of empty bytes, which is a known fault.", "nodes"),
        declare.text("majority_sha256", "Digest that more than half of the nodes with a digest have. Missing if there is none."),
        declare.text("dissenters", "Nodes with another digest. Missing if there are none."),
        declare.text("missing_at", "Nodes without the object. Missing if there are none."),
    ),
    condition="with a known digest",
    unit="nodes of this row",
)


@DIGESTS.register
def digests(objects_by_node: Mapping[str, pd.DataFrame], *, now: Time | None = None) -> pd.DataFrame:
    """Compare the digests of bulk objects as several nodes list them.

    Parameters
    ----------
    objects_by_node : mapping of str to DataFrame
        Table ``bulk_objects`` of each node, by a name for the node.
    now : str, date or datetime, optional
        Present time. Objects that ended less than 48 hours before it are not settled (default: none is).

    Returns
    -------
    DataFrame
        One row per bulk object; sorted by key.

        Columns:

        - ``object_key`` (str): Key of the bulk object.
        - ``until`` (datetime64[us, UTC]): End of the object's time.
        - ``outcome`` (category): equal, different, empty digest, missing, unknown, or not settled.
        - ``nodes`` (int64, nodes): Nodes that were compared.
        - ``listed`` (int64, nodes): Nodes that list the object.
        - ``empty_digests`` (int64, nodes): Nodes that list the digest of empty bytes, which is a known fault.
        - ``majority_sha256`` (str): Digest that more than half of the nodes with a digest have. Missing if there is none.
        - ``dissenters`` (str): Nodes with another digest. Missing if there are none.
        - ``missing_at`` (str): Nodes without the object. Missing if there are none.
        - ``coverage`` (float64, share of 1): Share of the nodes of this row with a known digest. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If there are fewer than two nodes, or the columns or keys of a table are not as required.

    Notes
    -----
    A digest of empty bytes is a fault of the node, not a difference of the object (docs/facts.md#digest-of-empty-bytes).
    A load stores the digest of the bytes instead, which is compared, and names the fault in `digest_status`. With fewer
    than two known digests, nothing is compared, and the outcome of an object without a fault is unknown.

    Picture, by :func:`ledgerframes.plot`: A row for all nodes, then one for each node that dissents or misses an object.
    The cells of a day are its objects, side by side in the order of their keys.

    Examples
    --------
    >>> import pandas as pd
    >>> import ledgerframes as lf
    >>> until = pd.Timestamp("2026-11-02", tz="UTC")
    >>> objects = pd.DataFrame({"object_key": ["k"], "sha256": ["x"], "until": [until]})
    >>> nodes = {"a": objects, "b": objects, "c": objects.assign(sha256="y")}
    >>> lf.reconcile.digests(nodes)["dissenters"].tolist()
    ['c']
    """
    if not isinstance(objects_by_node, Mapping) or len(objects_by_node) < 2:
        value = f"{len(objects_by_node)}" if isinstance(objects_by_node, Mapping) else type(objects_by_node).__name__
        raise UsageError(f"objects_by_node= must have at least two nodes with their objects, got {value}.")
    listings = {node: _listing(node, objects) for node, objects in objects_by_node.items()}
    keys = sorted({key for objects in listings.values() for key in objects})
    present = instant(now, "now") if now is not None else None
    rows = [_compare(key, listings, present) for key in keys]
    columns = [column.name for column in (*DIGESTS.columns, DIGESTS.tail[0])]
    frame = pd.DataFrame(rows, columns=columns)
    return DIGESTS.build(None, {**frame, "until": pd.to_datetime(frame["until"], utc=True)})


class Listed(NamedTuple):
    """An object as a node lists it."""

    digest: str  # of its bytes, empty if it is unknown
    has_empty_digest: bool
    until: datetime


Listing = dict[str, Listed]  # by the key of the object


def _listing(node: str, objects: pd.DataFrame) -> Listing:
    require_columns(objects, REQUIRED, f"objects_by_node= must have the table bulk_objects of node {node!r}")
    repeated = objects["object_key"][objects["object_key"].duplicated()]
    if len(repeated):
        raise UsageError(f"The table of node {node!r} has the key {repeated.iloc[0]!r} twice.")
    if not isinstance(objects["until"].dtype, pd.DatetimeTZDtype):
        raise UsageError(
            f"objects_by_node= must have times in UTC in until, got {objects['until'].dtype} of node {node!r}. "
            "Convert them with pd.to_datetime(…, utc=True)."
        )
    digests = objects["sha256"].fillna("").astype("str")
    is_empty = digests == EMPTY_DIGEST
    known = digests.mask(is_empty, "")
    if "digest_status" in objects:
        is_empty |= objects["digest_status"].astype("str") == "empty_digest"
    entries = map(Listed, known, is_empty, objects["until"].dt.to_pydatetime())
    return dict(zip(objects["object_key"], entries, strict=True))


def _compare(key: str, listings: Mapping[str, Listing], now: datetime | None) -> dict[str, object]:
    """Return the row of one object."""
    entries = {node: objects[key] for node, objects in listings.items() if key in objects}
    digests_of_bytes = {node: entry.digest for node, entry in entries.items() if entry.digest}
    known_count = sum(bool(entry.digest) or entry.has_empty_digest for entry in entries.values())
    counts = Counter(digests_of_bytes.values())
    majority = next((digest for digest, count in counts.items() if count * 2 > counts.total()), None)
    dissenters = [node for node, digest in digests_of_bytes.items() if digest != majority]
    absent = [node for node in listings if node not in entries]
    until = max(entry.until for entry in entries.values())
    is_settled = now is None or now - until >= SETTLED_AFTER
    empty_count = sum(entry.has_empty_digest for entry in entries.values())
    return {
        "object_key": key,
        "until": until,
        "outcome": _outcome(is_settled, counts, bool(absent), empty_count > 0),
        "nodes": len(listings),
        "listed": len(entries),
        "empty_digests": empty_count,
        "majority_sha256": majority,
        "dissenters": ", ".join(dissenters) or None,
        "missing_at": ", ".join(absent) or None,
        "coverage": known_count / len(listings),
    }


def _outcome(is_settled: bool, counts: Counter[str], has_absent: bool, has_empty: bool) -> str:
    if not is_settled:
        return "not settled"
    if len(counts) > 1:
        return "different"
    if has_absent:
        return "missing"
    if has_empty:
        return "empty digest"
    return "equal" if counts.total() >= MIN_KNOWN_DIGESTS else "unknown"
