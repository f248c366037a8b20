"""State of the network over time, from rounds to rights, super validators and prices.

Each row is the lifetime of a contract, read from the history's own transaction trees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis._arguments import Snapshot, base_table, require_columns
from ledgerframes.analysis._groups import ratio
from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.state._lifetimes import SNAPSHOT_COLUMNS, lifetimes_query, of_template, read_lifetimes
from ledgerframes.analysis.state._payloads import (
    COIN_RULES,
    OPEN_ROUND,
    RIGHT,
    RULES,
    Values,
    read_right,
    read_round,
    read_rules,
    read_validators,
)
from ledgerframes.analysis.state._snapshot import is_snapshot, snapshot_lifetimes
from ledgerframes.engine import Query
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Time, instant

__all__ = ["at", "config", "featured", "problems", "rounds", "super_validators", "tables"]


def __dir__() -> list[str]:
    return __all__


USD_PER_MB = "USD per MB"
FROM = declare.time("from", "Record time of the create, in a snapshot the ledger effective time.")
UNTIL = declare.time("until", "Record time of the archival, exclusive. Missing if alive.")
KNOWN_UNTIL = declare.time("known_until", "Time up to which the frames know. A contract can have ended later.")
LIFETIME = (
    FROM,
    UNTIL,
    KNOWN_UNTIL,
    declare.time("effective_from", "Ledger effective time of the create. Missing if unknown."),
    declare.time("effective_until", "Ledger effective time of the archival. Missing if alive."),
    declare.text("contract_id", "The contract."),
    declare.label("source", "history, snapshot, or given."),
)
CONDITION, UNIT = "with a known payload", "contracts of this result"


def _amount(name: str, description: str, unit: str = "") -> declare.ResultColumn:
    return declare.amount(name, f"{description} Missing if it is not in the contract.", unit)


def _queries(frames: Frames, base: Snapshot | None) -> list[Query]:
    if is_snapshot(frames):
        raise UsageError("A snapshot alone has no query of its state. Query it with lf.sql(net, 'FROM active_contracts').")
    return [lifetimes_query(base_table(base, SNAPSHOT_COLUMNS))]


ROUNDS = declare.Figure(
    "state.rounds",
    rows="One row per contract; sorted by start and contract.",
    columns=(
        declare.integer("round_number", "Mining round. Missing if the payload cannot be read."),
        declare.time("opens_at", "Time from which the round is open. Missing if it cannot be read."),
        _amount("coin_price", "Price of the coin.", "USD per coin"),
        _amount("traffic_price", "Price of traffic.", USD_PER_MB),
        declare.duration("tick_duration", "Time from round to round. Missing if it is not in the contract."),
        _amount("coin_per_year", "Coin to issue per year.", "coin"),
        _amount("app_share", "Share of the issuance for apps.", declare.SHARE),
        _amount("development_share", "Share of the issuance for development.", declare.SHARE),
        _amount("featured_cap", "Largest issuance per weight of a featured app.", "coin per USD"),
        declare.text("minting_version", "Scheme of app rewards. Missing without a reward configuration."),
        _amount("reward_threshold", "Smallest reward of a party.", "USD"),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
FEATURED = declare.Figure(
    "state.featured",
    rows="One row per contract; sorted by start and contract.",
    like="state.rounds",
    columns=(
        declare.text("party", "App provider. Missing if the payload cannot be read."),
        declare.amount("weight", "Factor of the right, 1 by default. Missing if it cannot be read."),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
SUPER_VALIDATORS = declare.Figure(
    "state.super_validators",
    rows="One row per contract and super validator; sorted by start, contract and party.",
    like="state.rounds",
    columns=(
        declare.text("party", "Party of the super validator."),
        declare.text("name", "Name of the super validator. Missing if it is not sent."),
        declare.text("participant", "Participant id without a prefix. Missing if it is not sent."),
        declare.integer("reward_weight", "Reward weight. Missing if it is not sent."),
        declare.integer("joined_round", "Round of joining. Missing if it is not sent."),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
CONFIG = declare.Figure(
    "state.config",
    rows="One row per contract; sorted by start and contract.",
    like="state.rounds",
    columns=(
        _amount("traffic_price", "Price of traffic beyond the free rate.", USD_PER_MB),
        declare.integer("min_topup", "Smallest purchase. Missing if it is not in the contract.", "bytes"),
        declare.integer("burst_amount", "Free traffic. Missing if it is not in the contract.", "bytes"),
        declare.duration("burst_window", "Time for free traffic. Missing if it is not in the contract."),
        declare.text("minting_version", "Scheme of app rewards. Missing without a reward configuration."),
        _amount("reward_threshold", "Smallest reward of a party.", "USD"),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
PROBLEMS = declare.Figure(
    "state.problems",
    rows="One row per contract; sorted by start and contract.",
    like="state.rounds",
    columns=(
        declare.text("contract_id", "The contract."),
        declare.text("template_name", "Module and entity of its template."),
        declare.text("package_name", "Package of its template. Missing if it is not sent."),
        FROM,
        declare.label("reason", "Why the contract does not count, or not fully."),
        declare.label("source", "history or snapshot."),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)


@ROUNDS.document
def rounds(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of all mining rounds, each with its prices and rules.

    Parameters
    ----------
    frames : Frames or DataFrame
        History from the start of the network, or from `base`, on; or only a snapshot of :func:`ledgerframes.load_contracts`,
        whose contracts are alive at its time.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of `frames`, from :func:`ledgerframes.load_contracts`, or from
        :func:`ledgerframes.load_bulk` with ``kind="acs"``.

    Raises
    ------
    CoverageError
        If neither the start of the network nor `base` is known.
    IntegrityError
        If several parties sign network rules.

    Source: docs/facts.md#state-of-the-network. A contract of another package, or without the network's signature, does not
    count; see :func:`problems`.

    >>> rounds = lf.state.rounds(frames)
    >>> len(lf.state.at(rounds, "2026-11-08T12:00:00Z"))
    3
    """
    return _build(ROUNDS, frames, base)


@FEATURED.document
def featured(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of all featured rights, each with its factor.

    Source: docs/facts.md#state-of-the-network. A right without a factor has 1.

    >>> rights = lf.state.featured(frames)
    >>> bool((rights["weight"] >= 0).all())
    True
    """
    return _build(FEATURED, frames, base)


@SUPER_VALIDATORS.document
def super_validators(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the super validators of each lifetime of the network's rules.

    Source: docs/facts.md#state-of-the-network. A change of any rule archives the contract and creates the next one.

    >>> bool(lf.state.super_validators(frames)["participant"].str.startswith("PAR::").any())
    False
    """
    return _build(SUPER_VALIDATORS, frames, base)


@CONFIG.document
def config(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of the network's traffic prices and reward rules.

    Source: docs/facts.md#state-of-the-network.

    >>> lf.state.config(frames)["source"].unique().tolist()
    ['history']
    """
    return _build(CONFIG, frames, base)


@PROBLEMS.document
def problems(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the contracts that look like the network's and do not count, with the reasons.

    Source: docs/facts.md#state-of-the-network. A right with the reason `second right of a provider` counts only if it is the
    last one that was created.

    >>> lf.state.problems(frames)["contract_id"].is_unique
    True
    """
    if is_snapshot(frames):
        rows = snapshot_lifetimes(frames, base)
    else:
        PROBLEMS.check(frames)
        assert isinstance(frames, Frames)
        rows = read_lifetimes(frames, base)
    rows["reason"] = rows["reason"].where(rows["reason"] != "", _second_rights(rows))
    rows["coverage"] = rows["payload"].notna().astype("float64")
    rows = rows[rows["reason"] != ""].sort_values(["from", "contract_id"], ignore_index=True)
    return PROBLEMS.build(frames if isinstance(frames, Frames) else None, {**rows})


def tables(frames: Snapshot, *, base: Snapshot | None = None) -> dict[str, pd.DataFrame]:
    """Return rounds, rights and super validators by the arguments of ``lf.activity``.

    Parameters
    ----------
    frames : Frames or DataFrame
        As for :func:`rounds`.
    base : Frames or DataFrame, optional
        As for :func:`rounds`.

    Returns
    -------
    dict of str to DataFrame
        ``rounds``, ``featured`` and ``sv_participants``.

    Raises
    ------
    CoverageError
        If neither the start of the network nor `base` is known.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08T12:00:00Z", until="2026-11-09")
    >>> state = lf.state.tables(day, base=lf.load_contracts(net, at="2026-11-08T12:00:00Z"))
    >>> bool(lf.activity.weights(day, every=None, **state)["burn_bytes"].notna().all())
    True
    """
    return {
        "rounds": rounds(frames, base=base),
        "featured": featured(frames, base=base),
        "sv_participants": super_validators(frames, base=base),
    }


def at(table: pd.DataFrame, time: Time) -> pd.DataFrame:
    """Return the rows of a state that are alive at a time.

    Parameters
    ----------
    table : DataFrame
        Result of a function of this module, or a DataFrame with ``from`` and ``until`` [UTC].
    time : str, date or datetime
        Rows with ``from <= time < until`` are alive, UTC.

    Returns
    -------
    DataFrame
        One row per row of `table` that is alive; sorted as in `table`.

    Raises
    ------
    UsageError
        If `table` has no lifetimes.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> import pandas as pd
    >>> begin, end = pd.to_datetime(["2026-11-01", "2026-11-02"], utc=True)
    >>> rights = pd.DataFrame({"party": ["app"], "from": [begin], "until": [end]})
    >>> len(lf.state.at(rights, "2026-11-01")), len(lf.state.at(rights, "2026-11-02"))
    (1, 0)
    """
    require_columns(table, ("from", "until"), "Pass the result of lf.state.rounds(frames) to lf.state.at")
    time_alive = pd.Timestamp(instant(time))
    is_alive = (table["from"] <= time_alive) & (table["until"].isna() | (table["until"] > time_alive))
    return table[is_alive].reset_index(drop=True)


# -- tables ------------------------------------------------------------------------------------------------------------

# Template of the contracts of each figure, and what reads the values of its rows.
READERS: dict[str, tuple[str, Callable[[Values], list[Values]]]] = {
    ROUNDS.name: (OPEN_ROUND, read_round),
    FEATURED.name: (RIGHT, read_right),
    SUPER_VALIDATORS.name: (RULES, read_validators),
    CONFIG.name: (COIN_RULES, read_rules),
}


def _build(figure: declare.Figure, frames: Snapshot, base: Snapshot | None) -> pd.DataFrame:
    if is_snapshot(frames):
        return _of_snapshot(frames, figure, base)
    figure.check(frames)
    assert isinstance(frames, Frames)
    return table_of(frames, figure, base)


def _of_snapshot(snapshot: Snapshot, figure: declare.Figure, base: Snapshot | None) -> pd.DataFrame:
    """Return the declared table of a snapshot alone."""
    lifetimes = snapshot_lifetimes(snapshot, base)
    template, _ = READERS[figure.name]
    if template != RIGHT and of_template(lifetimes, template).empty:  # a network can be without rights only
        raise UsageError(
            f"The snapshot has no contract of {template}. Pass the result of lf.load_contracts(net, at=…) without templates=."
        )
    return _table_of(snapshot if isinstance(snapshot, Frames) else None, figure, lifetimes)


def table_of(frames: Frames, figure: declare.Figure, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the declared table of one kind of contracts."""
    return tables_of(frames, base)[figure.name].copy(deep=False)


def tables_of(frames: Frames, base: Snapshot | None = None) -> dict[str, pd.DataFrame]:
    """Return the declared tables of all kinds of contracts, which callers do not change."""
    if base is None or isinstance(base, Frames):
        return _tables_once(frames, base)
    return _read_tables(frames, base)  # the caller may change a DataFrame


@once_per_frames
def _tables_once(frames: Frames, base: Frames | None) -> dict[str, pd.DataFrame]:
    return _read_tables(frames, base)


def _read_tables(frames: Frames, base: Snapshot | None) -> dict[str, pd.DataFrame]:
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


def _second_rights(lifetimes: pd.DataFrame) -> pd.Series:
    """Return a reason for each right whose provider has another one at the same time."""
    reasons = pd.Series("", lifetimes.index, dtype="str")
    rights = of_template(lifetimes, RIGHT)
    values = [read_right(payload or {}) for payload in rights["payload"]]
    rights = rights.assign(party=pd.Series([each[0]["party"] if each else None for each in values], rights.index, "object"))
    rights = rights[rights["party"].notna()].sort_values("from", kind="stable")
    ends = rights["until"].fillna(pd.Timestamp.max.tz_localize("UTC").floor("us"))
    latest_end = ends.groupby(rights["party"]).cummax().groupby(rights["party"]).shift()
    reasons[rights.index[(latest_end > rights["from"]).to_numpy()]] = "second right of a provider"
    return reasons
