"""One transaction, taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._columns import LABEL, RATE, TEXT, ResultColumn, cost, shaped
from ledgerframes.datasets import table
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

ANATOMY = (
    ResultColumn("part", LABEL, "What the row is: node of the tree, view, envelope, or activity record."),
    ResultColumn("position", "int64", "Number of the row among those of its part, from 0."),
    ResultColumn("parent", "Int64", "Position of the parent node or view; missing for roots and for the other parts."),
    ResultColumn("depth", "Int64", "Steps from the root of the tree or of the views; missing for the other parts."),
    ResultColumn(
        "label", TEXT, "The row in words: what a node does, which views an envelope carries, which round it counts for."
    ),
    ResultColumn(
        "parties",
        TEXT,
        "Who acts or signs (node), may confirm (view) or earns (activity); missing for envelopes.",
    ),
    cost("traffic_cost", "Cost of the envelope; missing for the other parts."),
    ResultColumn("weight", "Int64", "Weight of the activity record; missing for the other parts.", "bytes"),
    ResultColumn("coverage", RATE, "1 if the cost of the transaction is known, 0 if not; the same in every row."),
)
PARTS = ("node", "view", "envelope", "activity")
NAMES = [column.name for column in ANATOMY if column.name != "coverage"]
BETWEEN = ", "


def anatomy(frames: Frames, update_id: str) -> pd.DataFrame:
    """One transaction taken apart: its tree, its views, its envelopes with their bytes, and who earned from it.

    Parameters
    ----------
    frames : Frames
        With all tables of :func:`ledgerframes.load_events`.
    update_id : str
        The transaction, or the rejected request.

    Returns
    -------
    DataFrame
        One row per node, view, envelope and activity record, in this order: ``part``, ``position``, ``parent``, ``depth``,
        ``label``, ``parties``, ``traffic_cost`` [bytes], ``weight`` [bytes], ``coverage``. A request without a visible tree
        has no rows for nodes, one without a traffic summary none for envelopes.

    Raises
    ------
    UsageError
        If these frames do not hold the update.

    Notes
    -----
    Source: one history event.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> first = frames.traffic["update_id"].iloc[0]
    >>> parts = lf.cost.anatomy(frames, first)
    >>> bool((parts["part"] == "envelope").any())
    True
    """
    if not any(_rows(frames, name, update_id, ["update_id"]).size for name in ("verdicts", "updates", "traffic")):
        raise UsageError(
            f"These frames ({frames.window or 'loaded by id'}) hold no update {update_id!r}. Widen the range, or load it by id: "
            f"lf.load_events(net, update_ids=[{update_id!r}])."
        )
    parts = [_nodes(frames, update_id), _views(frames, update_id), _envelopes(frames, update_id), _activity(frames, update_id)]
    columns = {name: pd.concat([part[name] for part in parts], ignore_index=True) for name in NAMES}
    columns["part"] = pd.Series(pd.Categorical(columns["part"], categories=PARTS))
    known = len(_rows(frames, "traffic", update_id, ["update_id"]))
    return shaped(ANATOMY, {**columns, "coverage": np.full(len(columns["part"]), float(known))})


def _nodes(frames: Frames, update_id: str) -> dict[str, pd.Series]:
    names = [
        "event_id",
        "node_index",
        "parent_event_id",
        "depth",
        "event_type",
        "template_name",
        "choice",
        "acting_parties",
        "signatories",
    ]
    nodes = _rows(frames, "tree_events", update_id, names).sort_values("node_index", ignore_index=True)
    index_of = pd.Series(nodes["node_index"].astype("Int64").array, index=nodes["event_id"])
    exercised = nodes["choice"].notna()
    action = ("exercise " + nodes["template_name"] + "." + nodes["choice"]).where(exercised, "create " + nodes["template_name"])
    return _part(
        "node",
        nodes["node_index"],
        parent=nodes["parent_event_id"].map(index_of),
        depth=nodes["depth"],
        label=action,
        parties=_joined(nodes["acting_parties"]).where(exercised, _joined(nodes["signatories"])),
    )


def _views(frames: Frames, update_id: str) -> dict[str, pd.Series]:
    views = _rows(frames, "views", update_id, ["view_id", "parent_view_id", "informees"]).sort_values(
        "view_id", ignore_index=True
    )
    quorums = _rows(frames, "quorums", update_id, ["view_id", "quorum_index", "parties"])
    informees = views["informees"].list.len().astype("str")
    return _part(
        "view",
        views["view_id"],
        parent=views["parent_view_id"],
        depth=_depths(views),
        label="view " + views["view_id"].astype("str") + ", informees: " + informees,
        parties=views["view_id"].map(_confirmers(quorums)),
    )


def _envelopes(frames: Frames, update_id: str) -> dict[str, pd.Series]:
    envelopes = _rows(frames, "envelopes", update_id, ["envelope_index", "traffic_cost", "view_ids"])
    envelopes = envelopes.sort_values("envelope_index", ignore_index=True)
    numbers = pd.Series([BETWEEN.join(map(str, ids)) for ids in envelopes["view_ids"]], dtype="str")
    label = ("views: " + numbers).where(numbers != "", "no views (mediator or root hash)")
    return _part("envelope", envelopes["envelope_index"], label=label, traffic_cost=envelopes["traffic_cost"])


def _activity(frames: Frames, update_id: str) -> dict[str, pd.Series]:
    names = ["round_number", "party", "weight"]
    records = _rows(frames, "activity_records", update_id, names).sort_values("party", ignore_index=True)
    label = "round " + records["round_number"].astype("str")
    return _part("activity", pd.Series(range(len(records))), label=label, parties=records["party"], weight=records["weight"])


# -- helpers ----------------------------------------------------------------------------------------------------------


def _rows(frames: Frames, name: str, update_id: str, columns: list[str]) -> pd.DataFrame:
    """The rows of one update; the filter reaches the store, so that nothing else is read."""
    rows = frames.scan(name).filter(pc.field("update_id") == update_id).to_table(columns=columns)
    return table(name).to_pandas(rows)


def _part(part: str, position: pd.Series, **given: pd.Series) -> dict[str, pd.Series]:
    """Rows of one part in the dtypes of the result; what is not given is missing."""
    values: dict[str, Any] = {"part": part, "position": position, "label": "", **given}
    dtypes = {column.name: column.dtype for column in ANATOMY}
    dtypes["part"] = TEXT
    return {name: pd.Series(values.get(name), index=position.index, dtype=dtypes[name]) for name in NAMES}


def _joined(lists: pd.Series) -> pd.Series:
    texts = pc.binary_join(pa.array(lists), BETWEEN)
    return pd.Series(texts.to_pandas(), dtype="str")


def _confirmers(quorums: pd.DataFrame) -> dict[int, str]:
    """For each view, the parties of all its quorums, each once."""
    parties = quorums[["view_id", "parties"]].explode("parties").dropna().drop_duplicates()
    joined = parties.sort_values(["view_id", "parties"]).groupby("view_id")["parties"].agg(BETWEEN.join)
    return dict(zip(joined.index.astype(int), joined, strict=True))


def _depths(views: pd.DataFrame) -> pd.Series:
    """Steps from the root view; one pass a level, so a loop of views could not go on for ever."""
    parents = dict(zip(views["view_id"], views["parent_view_id"], strict=True))
    depths = dict.fromkeys(parents, 0)
    above = dict(parents)
    for _ in range(len(parents)):
        above = {view: parent for view, parent in above.items() if parent is not pd.NA and parent in parents}
        if not above:
            break
        for view in above:
            depths[view] += 1
        above = {view: parents[parent] for view, parent in above.items()}
    return views["view_id"].map(depths)
