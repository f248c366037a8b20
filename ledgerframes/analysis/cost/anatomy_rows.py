"""Tree, views, envelopes and activity of one transaction."""

from __future__ import annotations

from datetime import datetime
from textwrap import dedent
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.datasets import table
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.query import run_arrow
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import MICROSECOND

PARTS = ("node", "view", "envelope", "unassigned", "activity")
ANATOMY = declare.Figure(
    "cost.anatomy",
    caption="Parts of one request",
    answer=answers.of_anatomy,
    main_columns=("part", "label", "traffic_cost", "weight", "parties"),
    without_query="it has rows of tables as they are. Query them with lf.sql(net, 'FROM envelopes WHERE update_id = …')",
    rows="One row per node, view, envelope, and activity record, in this order. A request without a visible tree has "
    "no rows for nodes, one without a traffic summary none for envelopes. If the envelopes do not add up to the "
    "total, a row has the rest.",
    columns=(
        declare.choice("part", PARTS, "node of the tree, view, envelope, unassigned cost, or activity record.", "Part"),
        declare.ResultColumn("position", "int64", "Number of the row within its part, from 0."),
        declare.integer("parent", "Position of the parent node or view. Missing for roots and other parts."),
        declare.integer("depth", "Steps from the root of the tree or of the views. Missing for other parts."),
        declare.text("label", "Action of the node, views of the envelope, or round of the activity record."),
        declare.text("parties", "Parties that act or sign (node), can confirm (view) or earn (activity). Missing for envelopes."),
        declare.cost(
            "traffic_cost", "Cost of the envelope, or cost in no envelope. Missing for other parts.", "Cumulative traffic cost"
        ),
        declare.integer("weight", "Weight of the activity record. Missing for other parts.", declare.WEIGHT_UNIT),
    ),
    unit="transaction",
)
SEPARATOR = ", "
MIN_PREFIX = 6  # characters of an id, of which the first four are the same in all ids

IDS = Relation(
    "ids",
    "One row per verdict, update and traffic summary.",
    """
    SELECT update_id, record_time FROM verdicts
    UNION ALL SELECT update_id, record_time FROM updates
    UNION ALL SELECT update_id, record_time FROM traffic
    """,
    tables=("verdicts", "updates", "traffic"),
)


@ANATOMY.register
def anatomy(frames: Frames, update_id: str) -> pd.DataFrame:
    """Return the nodes, views, envelopes and activity records of one transaction.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    update_id : str
        Id of the transaction, or of the rejected request.

    Returns
    -------
    DataFrame
        One row per node, view, envelope, and activity record, in this order. A request without a visible tree has no rows for
        nodes, one without a traffic summary none for envelopes. If the envelopes do not add up to the total, a row has the
        rest.

        Columns:

        - ``part`` (category): node of the tree, view, envelope, unassigned cost, or activity record.
        - ``position`` (int64): Number of the row within its part, from 0.
        - ``parent`` (Int64): Position of the parent node or view. Missing for roots and other parts.
        - ``depth`` (Int64): Steps from the root of the tree or of the views. Missing for other parts.
        - ``label`` (str): Action of the node, views of the envelope, or round of the activity record.
        - ``parties`` (str): Parties that act or sign (node), can confirm (view) or earn (activity). Missing for envelopes.
        - ``traffic_cost`` (Int64, bytes): Cost of the envelope, or cost in no envelope. Missing for other parts.
        - ``weight`` (Int64, weighted bytes): Weight of the activity record. Missing for other parts.
        - ``coverage`` (float64, share of 1): Share of the transaction with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    UsageError
        If the update is not in these frames.

    Notes
    -----
    Source: one history event.

    Picture, by :func:`ledgerframes.plot`: One bar per envelope [bytes], each starting at the end of the previous one;
    hatched if it carries no view.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> parts = lf.cost.anatomy(day, day.traffic["update_id"].iloc[0])
    >>> bool((parts["part"] == "envelope").any())
    True
    """
    ANATOMY.check(frames)
    same_time = at_time_of(frames, update_id)
    parts = [part(same_time, update_id) for part in (_nodes, _views, _envelopes, _unassigned, _activity)]
    rows = pd.concat(parts, ignore_index=True)
    has_cost = len(known_cost(same_time, update_id)) > 0
    return ANATOMY.build(frames, {**rows, "coverage": float(has_cost), "coverage_time": np.nan})


def _nodes(frames: Frames, update_id: str) -> pd.DataFrame:
    names = ["event_id", "node_index", "parent_event_id", "depth", "template_name", "choice", "acting_parties", "signatories"]
    nodes = read_rows(frames, "tree_events", update_id, names).sort_values("node_index", ignore_index=True)
    index_of = pd.Series(nodes["node_index"].astype("Int64").array, index=nodes["event_id"])
    is_exercise = nodes["choice"].notna()
    action = ("exercise " + nodes["template_name"] + "." + nodes["choice"]).where(is_exercise, "create " + nodes["template_name"])
    return _part(
        "node",
        nodes["node_index"],
        parent=nodes["parent_event_id"].map(index_of),
        depth=nodes["depth"],
        label=action,
        parties=_join(nodes["acting_parties"]).where(is_exercise, _join(nodes["signatories"])),
    )


def _views(frames: Frames, update_id: str) -> pd.DataFrame:
    views = read_rows(frames, "views", update_id, ["view_id", "parent_view_id", "informees"]).sort_values(
        "view_id", ignore_index=True
    )
    quorums = read_rows(frames, "quorums", update_id, ["view_id", "quorum_index", "parties"])
    informees = views["informees"].list.len().astype("str")
    return _part(
        "view",
        views["view_id"],
        parent=views["parent_view_id"],
        depth=_depths(views),
        label="view " + views["view_id"].astype("str") + ", informees: " + informees,
        parties=views["view_id"].map(_confirmers(quorums)),
    )


def _envelopes(frames: Frames, update_id: str) -> pd.DataFrame:
    envelopes = read_rows(frames, "envelopes", update_id, ["envelope_index", "traffic_cost", "view_ids"])
    envelopes = envelopes.sort_values("envelope_index", ignore_index=True)
    numbers = pd.Series([SEPARATOR.join(map(str, ids)) for ids in envelopes["view_ids"]], dtype="str")
    heads = pd.Series(["view " if len(ids) == 1 else "views " for ids in envelopes["view_ids"]], dtype="str")
    label = (heads + numbers).where(numbers != "", "no views (mediator or root hash)")
    costs = envelopes["traffic_cost"]
    return _part("envelope", envelopes["envelope_index"], label=label, traffic_cost=costs.where(costs >= 0))


def _unassigned(frames: Frames, update_id: str) -> pd.DataFrame:
    """Return the part of the total that is in no envelope, or no row if it is 0 or unknown."""
    envelopes = read_rows(frames, "envelopes", update_id, ["traffic_cost"])["traffic_cost"]
    is_known = bool((envelopes >= 0).all())
    rest = (known_cost(frames, update_id) - envelopes.sum()).astype("Int64")
    rest = rest[(rest != 0) & is_known].reset_index(drop=True)
    return _part("unassigned", pd.Series(range(len(rest))), label=pd.Series(["in no envelope"] * len(rest)), traffic_cost=rest)


def _activity(frames: Frames, update_id: str) -> pd.DataFrame:
    names = ["round_number", "party", "weight"]
    records = read_rows(frames, "activity_records", update_id, names).sort_values("party", ignore_index=True)
    label = "round " + records["round_number"].astype("str")
    return _part("activity", pd.Series(range(len(records))), label=label, parties=records["party"], weight=records["weight"])


def _unknown_update_error(frames: Frames, update_id: str) -> UsageError:
    """Return the error for an id that is not in the frames, with the ids that begin like it."""
    near = _nearest_ids(frames, str(update_id))
    step = f"Choose from {', '.join(map(repr, near))}, load" if near else "Load"
    return UsageError(
        f"Update {update_id!r} is not in these frames ({frames.window or 'loaded by id'}). "
        f"{step} a longer window, or the update with lf.load_events(net, update_ids=[{update_id!r}])."
    )


def _nearest_ids(frames: Frames, update_id: str) -> list[str]:
    """Return the ids next to an id in alphabetical order that begin like it."""
    (around,) = run(frames, _nearest_query(update_id)).itertuples(index=False)
    return [each for each in around if not pd.isna(each) and each[:MIN_PREFIX] == update_id[:MIN_PREFIX]]


def _nearest_query(update_id: str) -> Query:
    """Return the query of the last id before an id, and of the first id at or after it."""
    select = """
    SELECT
        max(update_id) FILTER (update_id < wanted.id) AS before,
        min(update_id) FILTER (update_id >= wanted.id) AS after
    FROM ids, wanted
    """
    return Query(dedent(select).strip(), (IDS,), _id_table(update_id))


# -- rows of an update --------------------------------------------------------------------------------------------------


def read_rows(frames: Frames, name: str, update_id: str, columns: list[str]) -> pd.DataFrame:
    """Return the rows of one update, without reading others from the store."""
    with frames._scanning(name) as rows:
        # One batch ahead: with more, the payloads of a week need gigabytes, although few rows remain.
        rows_of_update = rows.filter(pc.field("update_id") == update_id).to_table(
            columns=columns, batch_readahead=1, fragment_readahead=1
        )
        return table(name).to_pandas(rows_of_update)


def known_cost(frames: Frames, update_id: str) -> pd.Series:
    """Return the total cost of an update, or no row if it is unknown or negative."""
    costs = read_rows(frames, "traffic", update_id, ["total_traffic_cost"])["total_traffic_cost"]
    return costs[costs >= 0]


def at_time_of(frames: Frames, update_id: str) -> Frames:
    """Return the frames at the time of an update, whose rows are few.

    Raises
    ------
    UsageError
        If the update is not in the frames.
    """
    if not isinstance(update_id, str):
        raise UsageError(f"update_id= must be the text of one update id, got {type(update_id).__name__}.")
    first, last = _times_of(frames, update_id)
    if first is None or last is None:
        raise _unknown_update_error(frames, update_id)
    return frames.between(first, last + MICROSECOND)


@once_per_frames
def _times_of(frames: Frames, update_id: str) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last record time of an update."""
    (times,) = run_arrow(frames, _times_query(update_id)).to_pylist()
    return times["first"], times["last"]


def _times_query(update_id: str) -> Query:
    """Return the query of the first and the last record time of an update."""
    select = "SELECT min(record_time) AS first, max(record_time) AS last\nFROM ids JOIN wanted ON update_id = wanted.id"
    return Query(select, (IDS,), _id_table(update_id))


def _id_table(update_id: str) -> dict[str, pa.Table]:
    """Return the parameter of the queries for one id."""
    return {"wanted": pa.table({"id": pa.array([update_id], pa.string())})}


# -- helpers ------------------------------------------------------------------------------------------------------------


def _part(part: str, position: pd.Series, **columns: pd.Series) -> pd.DataFrame:
    """Return the rows of one part in the dtypes of the result. All other columns are missing."""
    values: dict[str, Any] = {"part": part, "position": position, "label": "", **columns}
    dtypes = {column.name: column.dtype for column in ANATOMY.columns} | {"part": declare.TEXT}
    return pd.DataFrame({name: pd.Series(values.get(name), position.index, dtype) for name, dtype in dtypes.items()})


def _join(lists: pd.Series) -> pd.Series:
    texts = pc.binary_join(pa.array(lists), SEPARATOR)
    return pd.Series(texts.to_pandas(), dtype="str")


def _confirmers(quorums: pd.DataFrame) -> dict[int, str]:
    """Return the different parties of all quorums of each view."""
    parties = quorums[["view_id", "parties"]].explode("parties").dropna().drop_duplicates()
    texts = parties.sort_values(["view_id", "parties"]).groupby("view_id")["parties"].agg(SEPARATOR.join)
    return dict(zip(texts.index.astype(int), texts, strict=True))


def _depths(views: pd.DataFrame) -> pd.Series:
    """Return the steps from the root view, at most one per view, so that a loop of views ends."""
    parents = dict(zip(views["view_id"], views["parent_view_id"], strict=True))
    depths = dict.fromkeys(parents, 0)
    for view, parent in parents.items():
        while parent in parents and depths[view] < len(parents):
            depths[view] += 1
            parent = parents[parent]
    return views["view_id"].map(depths)
