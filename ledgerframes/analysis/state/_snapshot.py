"""Lifetimes of the network's contracts from a snapshot alone, which shows no ends."""

from __future__ import annotations

from typing import TypeGuard

import pandas as pd

from ledgerframes.analysis._arguments import Snapshot, snapshot_rows
from ledgerframes.analysis.state._lifetimes import (
    CONTENT_COLUMNS,
    SNAPSHOT_COLUMNS,
    _from_snapshot,
    _reasons,
    require_rules,
    template_and_payload,
)
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames


def is_snapshot(source: object) -> TypeGuard[Snapshot]:
    """Return whether the source of a state is a snapshot, and no history."""
    if isinstance(source, Frames):
        return "active_contracts" in source.tables and "tree_events" not in source.tables
    return isinstance(source, pd.DataFrame)


def snapshot_lifetimes(snapshot: Snapshot, base: Snapshot | None) -> pd.DataFrame:
    """Return the contracts of a snapshot in the columns of :func:`read_lifetimes`.

    Raises
    ------
    UsageError
        If the snapshot has no rules, which name the network's party, or is combined with a base.
    """
    if base is not None:
        raise UsageError("base= is for a history. Pass the snapshot alone, or the history after it with base=.")
    rows = snapshot_rows(snapshot, "frames", SNAPSHOT_COLUMNS)
    created = _from_snapshot(rows).reset_index(drop=True)
    facts = [template_and_payload(*row) for row in zip(*(created[name] for name in CONTENT_COLUMNS), strict=True)]
    created[["template", "payload"]] = pd.DataFrame(facts, created.index, ["template", "payload"], dtype="object")
    created["reason"] = _reasons(created)
    require_rules(created)
    never = pd.Series(pd.NaT, created.index, "datetime64[us, UTC]")
    return created.assign(until=never, effective_until=never, known_until=rows["snapshot_time"].iloc[0])
