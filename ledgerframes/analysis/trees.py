"""Roots, children and subtrees of transaction trees."""

from __future__ import annotations

import pandas as pd
import pyarrow.compute as pc

from ledgerframes.datasets import table
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames

__all__ = ["children", "roots", "subtree"]


def __dir__() -> list[str]:
    return __all__


def roots(frames: Frames) -> pd.DataFrame:
    """Return the root nodes of all visible trees.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``.

    Returns
    -------
    DataFrame
        One row per root node, with the columns of ``tree_events``; sorted by time, update and node.

    Raises
    ------
    UsageError
        If `frames` is not Frames.

    Notes
    -----
    Source: docs/facts.md#event-id-order.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> bool((lf.trees.roots(day)["depth"] == 0).all())
    True
    """
    require_frames(frames, "trees.roots")
    return _read(frames, pc.field("depth") == 0)


def children(frames: Frames, event_id: str) -> pd.DataFrame:
    """Return the nodes directly below a node.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``.
    event_id : str

    Returns
    -------
    DataFrame
        One row per child, with the columns of ``tree_events``; sorted by node.

    Raises
    ------
    UsageError
        If there is no such node.

    Notes
    -----
    Source: docs/facts.md#event-id-order.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> root = lf.trees.roots(day)["event_id"].iloc[0]
    >>> bool((lf.trees.children(day, root)["parent_event_id"] == root).all())
    True
    """
    tree = _tree_of(frames, event_id, "trees.children")
    return tree[tree["parent_event_id"] == event_id].reset_index(drop=True)


def subtree(frames: Frames, event_id: str) -> pd.DataFrame:
    """Return a node and everything below it.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``.
    event_id : str

    Returns
    -------
    DataFrame
        One row per node, with the columns of ``tree_events``, the node itself first; sorted by node.

    Raises
    ------
    UsageError
        If there is no such node.

    Notes
    -----
    Node indexes are in pre-order (docs/facts.md#event-id-order).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> root = lf.trees.roots(day)["event_id"].iloc[0]
    >>> lf.trees.subtree(day, root)["event_id"].iloc[0] == root
    True
    """
    tree = _tree_of(frames, event_id, "trees.subtree")
    below = {event_id}
    for node, parent in zip(tree["event_id"], tree["parent_event_id"], strict=True):  # In pre-order, parents come first.
        if parent in below:
            below.add(node)
    return tree[tree["event_id"].isin(below)].reset_index(drop=True)


def _tree_of(frames: Frames, event_id: str, name: str) -> pd.DataFrame:
    """Return the tree that contains a node."""
    require_frames(frames, name)
    if not isinstance(event_id, str):
        raise UsageError(f"event_id= must be the id of a node, got {event_id!r}.")
    update_ids = _read(frames, pc.field("event_id") == event_id)["update_id"]
    if update_ids.empty:
        raise UsageError(f"These frames have no node {event_id!r}. The column event_id of frames.tree_events lists them.")
    return _read(frames, pc.field("update_id") == update_ids.iloc[0])


def _read(frames: Frames, expression: pc.Expression) -> pd.DataFrame:
    spec = table("tree_events")
    with frames._scanning("tree_events") as nodes:
        return spec.to_pandas(spec.sorted(nodes.filter(expression).to_table()))
