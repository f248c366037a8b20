"""Tables of the contracts that are the state of the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.groups import ratio
from ledgerframes.analysis.state._declarations import CONFIG, FEATURED, LIFETIME, ROUNDS, SUPER_VALIDATORS
from ledgerframes.analysis.state._lifetimes import of_template, read_lifetimes
from ledgerframes.analysis.state._snapshot import is_snapshot, snapshot_lifetimes
from ledgerframes.analysis.state.payloads import (
    Values,
    read_right,
    read_round,
    read_rules,
    read_validators,
)
from ledgerframes.datasets.templates import COIN_RULES, DSO_RULES, FEATURED_APP_RIGHT, OPEN_ROUND
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

# For each figure, the template of its contracts and the function that reads the values of its rows.
READERS: dict[str, tuple[str, Callable[[Values], list[Values]]]] = {
    ROUNDS.name: (OPEN_ROUND, read_round),
    FEATURED.name: (FEATURED_APP_RIGHT, read_right),
    SUPER_VALIDATORS.name: (DSO_RULES, read_validators),
    CONFIG.name: (COIN_RULES, read_rules),
}


def build(figure: declare.Figure, frames: Snapshot, base: Snapshot | None) -> pd.DataFrame:
    if is_snapshot(frames):
        return _of_snapshot(frames, figure, base)
    figure.check(frames)
    assert isinstance(frames, Frames)
    return table_of(frames, figure, base)


def _of_snapshot(snapshot: Snapshot, figure: declare.Figure, base: Snapshot | None) -> pd.DataFrame:
    """Return the declared table of a snapshot alone."""
    lifetimes = snapshot_lifetimes(snapshot, base)
    template, _ = READERS[figure.name]
    if template != FEATURED_APP_RIGHT and of_template(lifetimes, template).empty:  # Only rights can be absent from a network.
        raise UsageError(
            f"The snapshot has no contract of {template}. Pass the result of lf.load_contracts(net, at=…) without templates=."
        )
    return _table_of(snapshot if isinstance(snapshot, Frames) else None, figure, lifetimes)


def table_of(frames: Frames, figure: declare.Figure, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the declared table of one kind of contracts."""
    return tables_of(frames, base)[figure.name].copy(deep=False)


@once_per_frames
def tables_of(frames: Frames, base: Snapshot | None = None) -> dict[str, pd.DataFrame]:
    """Return the declared tables of all kinds of contracts. Callers must not modify them."""
    lifetimes = read_lifetimes(frames, base)
    return {figure.name: _table_of(frames, figure, lifetimes) for figure in (ROUNDS, FEATURED, SUPER_VALIDATORS, CONFIG)}


def _table_of(frames: Frames | None, figure: declare.Figure, lifetimes: pd.DataFrame) -> pd.DataFrame:
    template, read = READERS[figure.name]
    names = [column.name for column in figure.columns[: -len(LIFETIME)]]
    contracts = of_template(lifetimes, template)
    values = [read(payload) if payload else [] for payload in contracts["payload"]]
    rows = [row for each in values for row in each or [dict.fromkeys(names)]]
    lives = contracts.iloc[np.repeat(np.arange(len(contracts)), [max(len(each), 1) for each in values])]
    columns: dict[str, Any] = {column.name: _column(column, rows) for column in figure.columns[: -len(LIFETIME)]}
    columns |= {column.name: lives[column.name].array for column in LIFETIME}
    columns["coverage"] = ratio([sum(map(bool, values))], [len(values)])[0]
    keys = ["from", "contract_id", *(["party"] if "name" in names else [])]
    result = figure.build(frames, columns)
    return result.sort_values(keys, ignore_index=True)


def _column(column: declare.ResultColumn, rows: list[Values]) -> pd.Series:
    values = [row[column.name] for row in rows]
    if column.dtype == declare.AMOUNT:
        return amounts(values)
    return pd.Series(values, dtype=column.dtype)


def second_rights(lifetimes: pd.DataFrame) -> pd.Series:
    """Return a reason for each right whose provider has another right at the same time."""
    reasons = pd.Series("", lifetimes.index, dtype="str")
    rights = of_template(lifetimes, FEATURED_APP_RIGHT)
    values = [read_right(payload or {}) for payload in rights["payload"]]
    rights = rights.assign(party=pd.Series([each[0]["party"] if each else None for each in values], rights.index, "object"))
    rights = rights[rights["party"].notna()].sort_values("from", kind="stable")
    ends = rights["until"].fillna(pd.Timestamp.max.tz_localize("UTC").floor("us"))
    latest_end = ends.groupby(rights["party"]).cummax().groupby(rights["party"]).shift()
    reasons[rights.index[(latest_end > rights["from"]).to_numpy()]] = "second right of a provider"
    return reasons
