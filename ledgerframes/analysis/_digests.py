"""Whether the nodes of a network agree on the digests of bulk objects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.errors import UsageError
from ledgerframes.windows import Time, instant

EMPTY_DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
SETTLED_AFTER = timedelta(hours=48)
OUTCOMES = ("equal", "different", "empty digest", "missing", "not settled")
REQUIRED = ("object_key", "sha256", "until")

DIGESTS = declare.Figure(
    "reconcile.digests",
    columns=(
        declare.ResultColumn("object_key", declare.TEXT, "Key of the bulk object."),
        declare.ResultColumn("outcome", declare.LABEL, f"{', '.join(OUTCOMES[:-1])}, or {OUTCOMES[-1]}."),
        declare.count("nodes", "Nodes that were compared.", "nodes"),
        declare.count("listed", "Nodes that list the object.", "nodes"),
        declare.count("empty_digests", "Nodes whose digest is that of no bytes, a known fault.", "nodes"),
        declare.ResultColumn(
            "majority_sha256",
            declare.TEXT,
            "Digest that more than half of the nodes with a digest have. Missing if there is none.",
        ),
        declare.ResultColumn(
            "dissenters", declare.TEXT, "Nodes with another digest, separated by commas. Missing if there are none."
        ),
        declare.ResultColumn(
            "missing_at", declare.TEXT, "Nodes without the object, separated by commas. Missing if there are none."
        ),
    ),
    fact="digest",
    unit="nodes of this row",
)


@DIGESTS.document
def digests(objects_by_node: Mapping[str, pd.DataFrame], *, now: Time | None = None) -> pd.DataFrame:
    """Compare the digests of bulk objects as several nodes list them.

    Parameters
    ----------
    objects_by_node : mapping of str to DataFrame
        Table ``bulk_objects`` of each node, under a name for the node.
    now : str, date or datetime, optional
        Present time. Objects that ended less than 48 hours before it are not settled (default: none is).

    Returns
    -------
    DataFrame
        One row per bulk object; sorted by key.

    Raises
    ------
    UsageError
        If there are less than two nodes, or a table lacks a column or has a key twice.

    Notes
    -----
    A digest of no bytes is a fault of the node, not a difference of the object (docs/facts.md#digest-of-empty-bytes).

    Examples
    --------
    >>> import pandas as pd
    >>> import ledgerframes as lf
    >>> until = pd.Timestamp("2026-11-02", tz="UTC")
    >>> nodes = {name: pd.DataFrame({"object_key": ["k"], "sha256": [sha256], "until": [until]}) for name, sha256 in zip("abc", "xxy")}
    >>> lf.reconcile.digests(nodes)["dissenters"].tolist()
    ['c']
    """
    if len(objects_by_node) < 2:
        raise UsageError(f"objects_by_node= must have at least two nodes, got {len(objects_by_node)}.")
    tables = {node: _checked(node, objects) for node, objects in objects_by_node.items()}
    keys = sorted({key for objects in tables.values() for key in objects["object_key"]})
    listings = {node: objects.set_index("object_key") for node, objects in tables.items()}
    present = instant(now, "now") if now is not None else None
    rows = [_compare(key, listings, present) for key in keys]
    columns = [column.name for column in (*DIGESTS.columns, DIGESTS.tail[0])]
    frame = pd.DataFrame(rows, columns=columns)
    values = {**{str(name): frame[name] for name in frame}, "outcome": pd.Categorical(frame["outcome"], OUTCOMES)}
    return DIGESTS.build(None, values)


def _checked(node: str, objects: pd.DataFrame) -> pd.DataFrame:
    missing = [name for name in REQUIRED if name not in objects]
    if missing:
        raise UsageError(f"The table of node {node!r} has no column {missing[0]}. Pass the table bulk_objects of each node.")
    repeated = objects["object_key"][objects["object_key"].duplicated()]
    if len(repeated):
        raise UsageError(f"The table of node {node!r} has the key {repeated.iloc[0]!r} twice.")
    return objects


def _compare(key: str, listings: Mapping[str, pd.DataFrame], now: datetime | None) -> dict[str, object]:
    """Return the row of one object."""
    listed = [node for node, objects in listings.items() if key in objects.index]
    sha256 = {node: listings[node].at[key, "sha256"] for node in listed}
    known = {node: digest for node, digest in sha256.items() if not pd.isna(digest)}
    empty = [node for node, digest in known.items() if digest == EMPTY_DIGEST]
    counts = pd.Series({node: digest for node, digest in known.items() if digest != EMPTY_DIGEST}, dtype="str").value_counts()
    majority = counts.index[0] if len(counts) and counts.iloc[0] * 2 > counts.sum() else None
    dissenters = [node for node, digest in known.items() if digest != EMPTY_DIGEST and digest != majority]
    absent = [node for node in listings if node not in listed]
    until = max(listings[node].at[key, "until"] for node in listed)
    is_settled = now is None or until <= now - SETTLED_AFTER
    return {
        "object_key": key,
        "outcome": _outcome(is_settled, len(counts), bool(absent), bool(empty)),
        "nodes": len(listings),
        "listed": len(listed),
        "empty_digests": len(empty),
        "majority_sha256": majority,
        "dissenters": ", ".join(dissenters) or None,
        "missing_at": ", ".join(absent) or None,
        "coverage": len(known) / len(listings),
    }


def _outcome(is_settled: bool, digest_count: int, has_absent: bool, has_empty: bool) -> str:
    if not is_settled:
        return "not settled"
    if digest_count > 1:
        return "different"
    if has_absent:
        return "missing"
    return "empty digest" if has_empty or not digest_count else "equal"
