"""Requests of an app, and which ones outside parties submitted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis.activity.state_tables import state_tables
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.labels import require_labels
from ledgerframes.analysis.state.network_state import NetworkState, network_state
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.app_requests import CONFIRMED_BY_APP, UPDATES_OF_APP, app_requests, app_updates, outside_parties
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.conditions import near_matches
from ledgerframes.values import extents
from ledgerframes.values.windows import Window

App = dict[str, list[str]]
MEMBERS = ("packages", "templates", "parties")
COLUMNS_OF_NODES = {"packages": "package_name", "templates": "template_name"}
NAMESPACE = "::"
NODES = Relation(
    "nodes_of_trees",
    "One row per package and template of a visible node.",
    "SELECT DISTINCT package_name, template_name FROM tree_events",
    tables=("tree_events",),
)
SUBMITTING_PARTIES = Relation(
    "submitting_parties",
    "One row per submitting party.",
    "SELECT DISTINCT unnest(submitting_parties) AS party FROM verdicts",
    tables=("verdicts",),
)
CONFIRMERS = Relation(
    "confirmers",
    "One row per party of a quorum or an activity record.",
    """
    SELECT unnest(parties) AS party FROM quorums
    UNION
    SELECT party FROM activity_records
    """,
    tables=("quorums", "activity_records"),
)


def members_of(app: object, *, by_confirmer: bool) -> App:
    """Return the packages, templates and parties of an app, which identify its requests."""
    if not isinstance(app, Mapping) or not app or not set(app) <= set(MEMBERS):
        raise UsageError(f"app= must be a dict with {', '.join(MEMBERS)}, got {app!r}.")
    for name, values in app.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise UsageError(f"app= must have a list of {name}, got {values!r}.")
    members = {name: list(map(str, app.get(name, ()))) for name in MEMBERS}
    if not (members["packages"] or members["templates"] or (members["parties"] and by_confirmer)):
        raise UsageError(f"app= must have packages or templates, or parties with by_confirmer=True, got {app!r}.")
    return members


def app_query(
    frames: Frames,
    app: App,
    excluded: Collection[str],
    window: Window,
    select: str,
    *,
    by_confirmer: bool,
    base: Snapshot | None,
) -> Query:
    """Return a query over the requests of an app and the outside parties that submit them."""
    sources = [UPDATES_OF_APP] if app["packages"] or app["templates"] else []
    updates = app_updates(*sources, *([CONFIRMED_BY_APP] if by_confirmer else []))
    state = _state_or_none(frames, base) if app["parties"] else None
    names = {"packages": "package_name", "templates": "template_name", "parties": "party"}
    tables = {f"app_{member}": pa.table({name: pa.array(app[member], pa.string())}) for member, name in names.items()}
    tables["excluded"] = pa.table({"party": pa.array(sorted(excluded), pa.string())})
    since, until = (extents.microseconds(time) for time in (window.since, window.until))
    tables["span"] = pa.table({"since": [since], "until": [until]})
    if state is not None:
        tables |= state_tables(state)
    requests = app_requests(updates, has_state=state is not None)
    return Query(select.strip(), (requests, outside_parties(requests)), tables)


def _state_or_none(frames: Frames, base: Snapshot | None) -> NetworkState | None:
    try:
        return network_state(frames, base=base)
    except CoverageError:
        return None


def excluded_parties(frames: Frames, exclude: Sequence[str], labels: pd.DataFrame | None) -> set[str]:
    """Return the parties of a list of ids and groups of labels.

    An entry that is neither raises a UsageError, because parties that are not excluded would count as outside ones.
    """
    if isinstance(exclude, str) or not isinstance(exclude, Sequence):
        raise UsageError(f"exclude= must be a list of parties and groups, got {exclude!r}.")
    if labels is not None:
        require_labels(labels)
    by_group = {} if labels is None else {str(group): set(rows["id"]) for group, rows in labels.groupby("group")}
    parties = _submitters(frames) if exclude else []
    for entry in exclude:
        if entry not in by_group and entry not in parties and NAMESPACE not in str(entry):
            near = near_matches(str(entry), [*parties, *by_group])
            step = f"Choose from {', '.join(map(repr, near))}." if near else "Pass ids of parties, or labels= with the group."
            raise UsageError(f"Unknown party or group {entry!r} in exclude=. {step}")
    return set().union(*(by_group.get(entry, {entry}) for entry in exclude))


def _submitters(frames: Frames) -> list[str]:
    parties: list[str] = run(frames, Query("FROM submitting_parties", (SUBMITTING_PARTIES,)))["party"].dropna().tolist()
    return parties


def require_known_names(frames: Frames, app: App) -> None:
    """Raise a UsageError for a name or party of the app that does not occur."""
    if app["packages"] or app["templates"]:
        nodes = run(frames, Query("FROM nodes_of_trees", (NODES,)))
        for name, column in COLUMNS_OF_NODES.items():
            _require_known(app[name], nodes[column], f"No node has {column}")
    if app["parties"]:
        parties = run(frames, Query("FROM confirmers", (CONFIRMERS,)))["party"]
        if len(parties):  # Frames of the updates alone do not tell who confirms.
            _require_known(app["parties"], parties, "No quorum or activity record has the party")


def _require_known(names: Collection[str], column: pd.Series, fact: str) -> None:
    occurring = column.dropna().unique().tolist()
    unknown = sorted(set(names) - set(occurring))
    if unknown:
        near = near_matches(unknown[0], occurring)
        step = f"Choose from {', '.join(map(repr, near))}." if near else "Check the name, or load a longer window."
        raise UsageError(f"{fact} {unknown[0]!r}. {step}")
