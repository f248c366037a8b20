"""Requests of an app, and which of them outside parties submitted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._groups import group_by, known
from ledgerframes.analysis._requests import ACCEPTED, has_result, list_items, positions, requests, take_or_missing
from ledgerframes.analysis.activity._weight_formula import compute, is_unknown, read_requests
from ledgerframes.analysis.labels import require_labels
from ledgerframes.analysis.state._network_state import network_state
from ledgerframes.conditions import near_matches
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.store.scan import read_rows

App = dict[str, list[str]]
MEMBERS = ("packages", "templates", "parties")
COLUMNS_OF_NODES = {"packages": "package_name", "templates": "template_name"}
COLUMNS = ["update_id", "record_time", "verdict_result", "total_traffic_cost"]
NAMESPACE = "::"


def members_of(app: object) -> App:
    """Return the packages, templates and parties of an app, some of them none."""
    if not isinstance(app, Mapping) or not app or not set(app) <= set(MEMBERS):
        raise UsageError(f"app= must be a dict with {', '.join(MEMBERS)}, got {app!r}.")
    for name, values in app.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise UsageError(f"app= must have a list of {name}, got {values!r}.")
    return {name: list(map(str, app.get(name, ()))) for name in MEMBERS}


def read_app_requests(frames: Frames, app: App, excluded: Collection[str], *, by_confirmer: bool) -> pd.DataFrame:
    """Return the requests of an app, sorted by time and update.

    Beside columns of the requests, they have ``outside_parties`` (a list), ``is_known`` (whether the submitting parties and the
    cost are known) and ``is_accepted``.
    """
    ids = set(_visible_ids(frames, app)) | (set(_confirmed_ids(frames, app)) if by_confirmer else set())
    rows = requests(frames, ["verdict_result", "submitting_parties"])
    rows = rows[rows["update_id"].isin(ids)].sort_values(["record_time", "update_id"], ignore_index=True)
    parties = [each or [] for each in pa.array(rows["submitting_parties"]).to_pylist()]
    outside = [sorted(set(each) - set(excluded)) for each in parties]
    result = rows[COLUMNS].assign(outside_parties=pd.Series(outside, rows.index, "object"))
    result["is_known"] = np.array([bool(each) for each in parties], dtype=bool) & known(rows["total_traffic_cost"])
    result["is_accepted"] = has_result(rows, ACCEPTED) | rows["verdict_result"].isna().to_numpy()  # old updates have no verdict
    return result


def _visible_ids(frames: Frames, app: App) -> list[str]:
    """Return the updates with a node of the app's packages and templates."""
    if not app["packages"] and not app["templates"]:
        return []
    with frames._scanning("tree_events") as nodes:
        for name, column in COLUMNS_OF_NODES.items():
            if app[name]:
                nodes = nodes.filter(pc.field(column).cast(pa.string()).isin(app[name]))
        ids: list[str] = read_rows(nodes, ["update_id"], None)["update_id"].unique().to_pylist()
    return ids


def _confirmed_ids(frames: Frames, app: App) -> list[str]:
    """Return the requests with one of the app's parties in a quorum."""
    quorums = frames.read("quorums", ["update_id", "parties"])
    owners, parties = list_items(quorums["parties"])
    is_one = pc.is_in(parties, value_set=pa.array(app["parties"], pa.string())).to_numpy(zero_copy_only=False)
    ids: list[str] = quorums["update_id"].iloc[np.unique(owners[is_one])].unique().tolist()
    return ids


def app_bytes(frames: Frames, app: App, update_ids: pd.Series) -> pd.Series:
    """Return the bytes that each request burns for the app, missing if unknown."""
    try:
        state = network_state(frames) if app["parties"] else None
    except CoverageError:
        state = None
    if state is None:
        return pd.Series(pd.NA, update_ids.index, "Int64")
    all_requests = read_requests(frames)
    weights, statuses = compute(all_requests, state)
    own = weights[weights["party"].isin(app["parties"])].reset_index(drop=True)
    groups = group_by(own, ["update_id"])
    burns = take_or_missing(groups.total(own["burn_bytes"]), positions(update_ids, groups.keys["update_id"]))
    is_computed = positions(update_ids, all_requests.heads["update_id"][~is_unknown(statuses)]) >= 0
    return burns.fillna(0).where(is_computed).set_axis(update_ids.index)


def excluded_parties(frames: Frames, exclude: Sequence[str], labels: pd.DataFrame | None) -> set[str]:
    """Return the parties of a list of ids and groups of labels.

    An entry that is neither is a UsageError, because parties that are not excluded would count as outside ones.
    """
    if isinstance(exclude, str) or not isinstance(exclude, Sequence):
        raise UsageError(f"exclude= must be a list of parties and groups, got {exclude!r}.")
    if labels is not None:
        require_labels(labels)
    by_group = {} if labels is None else {str(group): set(rows["id"]) for group, rows in labels.groupby("group")}
    _, texts = list_items(frames.read("verdicts", ["submitting_parties"])["submitting_parties"])
    parties = set(texts.unique().to_pylist())
    for entry in exclude:
        if entry not in by_group and entry not in parties and NAMESPACE not in str(entry):
            near = near_matches(str(entry), [*parties, *by_group])
            step = f"Choose from {', '.join(map(repr, near))}." if near else "Pass ids of parties, or labels= with the group."
            raise UsageError(f"Unknown party or group {entry!r} in exclude=. {step}")
    return set().union(*(by_group.get(entry, {entry}) for entry in exclude))


def require_known_names(frames: Frames, app: App) -> None:
    """Raise a UsageError for a package or template that no node has."""
    for name, column in COLUMNS_OF_NODES.items():
        if app[name]:
            with frames._scanning("tree_events") as nodes:
                values = read_rows(nodes, [column], None)[column].cast(pa.string())
            occurring = values.unique().drop_null().to_pylist()
            unknown = sorted(set(app[name]) - set(occurring))
            if unknown:
                near = near_matches(unknown[0], occurring)
                step = f"Choose from {', '.join(map(repr, near))}." if near else "Check the name, or load a longer window."
                raise UsageError(f"No node has {column} {unknown[0]!r}. {step}")
