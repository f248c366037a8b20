"""Lifetimes of the network's contracts from a snapshot alone, which shows no ends."""

from __future__ import annotations

from typing import TypeGuard

import pandas as pd

from ledgerframes.analysis.arguments import Snapshot, snapshot_rows
from ledgerframes.analysis.state._lifetimes import SNAPSHOT_COLUMNS, _reasons, require_rules, template_and_payload
from ledgerframes.datasets.templates import OF_STATE
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

CONTENT = ["template_name", "package_name", "create_arguments"]


def is_snapshot(source: object) -> TypeGuard[Snapshot]:
    """Return whether the source of a state is a snapshot rather than a history."""
    if isinstance(source, Frames):
        return "active_contracts" in source.tables and "tree_events" not in source.tables
    return isinstance(source, pd.DataFrame) and not set(SNAPSHOT_COLUMNS).isdisjoint(source.columns)


def snapshot_lifetimes(snapshot: Snapshot, base: Snapshot | None) -> pd.DataFrame:
    """Return the contracts of a snapshot in the columns of `read_lifetimes`.

    Raises
    ------
    UsageError
        If the snapshot has no rules, which name the network's party, or is combined with a base.
    """
    if base is not None:
        raise UsageError("base= is for a history. Pass the snapshot alone, or the history after it with base=.")
    rows = snapshot_rows(snapshot, "frames", SNAPSHOT_COLUMNS)
    contracts = rows[rows["template_name"].str.fullmatch(OF_STATE)].sort_values("contract_id", ignore_index=True)
    contracts = contracts.rename(columns={"created_at": "from", "snapshot_time": "known_until"})
    content = [template_and_payload(*row) for row in zip(*(contracts[name] for name in CONTENT), strict=True)]
    contracts[["template", "payload"]] = pd.DataFrame(content, contracts.index, ["template", "payload"], dtype="object")
    contracts["reason"] = _reasons(contracts)
    require_rules(contracts)
    never = pd.Series(pd.NaT, contracts.index, "datetime64[us, UTC]")
    contracts = contracts.assign(known_from=contracts["known_until"], effective_from=contracts["from"], source="snapshot")
    return contracts.assign(until=never, effective_until=never)
