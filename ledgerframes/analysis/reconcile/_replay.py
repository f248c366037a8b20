"""Contracts and coin according to the history, compared with snapshots."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import from_scaled, scaled, sum_if_known
from ledgerframes.analysis.arguments import Snapshot, SnapshotTable, require_before, snapshot_rows, snapshot_table
from ledgerframes.analysis.contracts import HISTORY_START, replay
from ledgerframes.analysis.coverage import require_final_history
from ledgerframes.analysis.economy.flow_sums import BURNED, MINTED, sums_of_all
from ledgerframes.analysis.economy.network import Network, contracts_of, read_network
from ledgerframes.analysis.groups import Groups, Integers, group_by, ratio
from ledgerframes.analysis.reconcile._row_differences import compared
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.amounts import amount_of
from ledgerframes.engine.balances import ACTIVE_COINS
from ledgerframes.engine.coin_contracts import COINS_OF_SNAPSHOT
from ledgerframes.engine.contracts import REPLAYED_CONTRACTS, SNAPSHOT_CONTRACTS
from ledgerframes.engine.differences import ComparedColumn, differences
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Time, Window, instant

COMPARED = [column for column in ACTIVE_CONTRACTS.columns if column.name not in ("contract_id", "snapshot_time")]
NAMES = ["package_name", "template_name"]
OUTCOMES = ("only_replay", "only_snapshot", "different", "different", "equal")  # by the outcomes of rows

CONTRACTS = declare.Figure(
    "reconcile.contracts",
    caption="Active contracts of the snapshot and of the history",
    rows="One row per package and template; sorted by their names.",
    columns=(
        declare.text("package_name", "Package of the contracts. Missing if it is not sent."),
        declare.text("template_name", "Module and entity of the contracts."),
        declare.count("replayed", "Contracts according to the history.", "contracts"),
        declare.count("in_snapshot", "Contracts in the snapshot.", "contracts"),
        declare.count("equal", "Contracts that are equal in both.", "contracts"),
        declare.count("different", "Contracts in both whose payload or another column differs.", "contracts"),
        declare.count("only_replay", "Contracts that only the history has.", "contracts"),
        declare.count("only_snapshot", "Contracts that only the snapshot has.", "contracts"),
        declare.text("first_contract_id", "First contract, by id, that is not equal. Missing if there is none."),
        declare.text("first_path", "Column where that contract differs, and path in its payload. Missing if it does not differ."),
    ),
    condition="that are in both",
    unit="contracts of this row",
    queries=lambda **arguments: _queries_of_contracts(**arguments),
)


def _coin(name: str, description: str) -> declare.ResultColumn:
    return declare.amount(name, f"{description} Missing if an amount is unknown.", "coin", "Coin")


SUPPLY = declare.Figure(
    "reconcile.supply",
    caption="Coin from mint and burn, and coin at the end",
    without_query="it compares coins of two snapshots with all flows. Show the query of lf.economy.burn_mint for the flows",
    rows="One row.",
    columns=(
        _coin("opening", "Coins active at the start, including locked ones, by their initial amounts."),
        _coin("minted", "All coin minted."),
        _coin("burned", "All coin burned, without fees."),
        _coin("fees", "Transfer fees, which existed until they were abolished."),
        _coin("closing_expected", "Opening plus minted, minus burned and fees."),
        _coin("closing_found", "Coins active at the end, including locked ones."),
        _coin("unexplained", "Closing found minus closing expected. It is 0 if every flow is known."),
        _coin("locked", "Part of the closing that is locked."),
        _coin("owned_by_dso", "Part of the closing that the network's own party owns."),
    ),
    condition="with a known amount",
    unit="flows of coin between start and end",
)


@CONTRACTS.register
def contracts(frames: Frames, snapshot: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Compare the contracts according to the history with those of a snapshot.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``, from the time of `base` or the start of history, until the time of `snapshot` or later.
    snapshot : Frames or DataFrame
        From :func:`ledgerframes.load_bulk` with ``kind="acs"``, or its table ``active_contracts``.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per package and template; sorted by their names.

        Columns:

        - ``package_name`` (str): Package of the contracts. Missing if it is not sent.
        - ``template_name`` (str): Module and entity of the contracts.
        - ``replayed`` (int64, contracts): Contracts according to the history.
        - ``in_snapshot`` (int64, contracts): Contracts in the snapshot.
        - ``equal`` (int64, contracts): Contracts that are equal in both.
        - ``different`` (int64, contracts): Contracts in both whose payload or another column differs.
        - ``only_replay`` (int64, contracts): Contracts that only the history has.
        - ``only_snapshot`` (int64, contracts): Contracts that only the snapshot has.
        - ``first_contract_id`` (str): First contract, by id, that is not equal. Missing if there is none.
        - ``first_path`` (str): Column where that contract differs, and path in its payload. Missing if it does not differ.
        - ``coverage`` (float64, share of 1): Share of the contracts of this row that are in both. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the frames do not cover the history in between, or a part of it is provisional.
    UsageError
        If `frames` is not unfiltered Frames, or `snapshot` or `base` is not one snapshot.
    IntegrityError
        If the outcomes do not add up to the contracts of both sides.

    Notes
    -----
    Source: docs/facts.md#consuming-exercise-archives, docs/facts.md#contracts-at-snapshot. Without a base, contracts that a
    migration imported are only in the snapshot (docs/facts.md#contracts-across-migrations). The order of members does not
    count, and a null is the same as an absent member.

    Picture, by :func:`ledgerframes.plot`: One row per template, the 15 with the most contracts that are not equal, and the
    number of contracts of each outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> rows = lf.reconcile.contracts(frames, lf.load_bulk(net, kind="acs", at="2026-11-09"))
    >>> bool((rows["equal"] == rows["in_snapshot"]).all())
    True
    """
    CONTRACTS.check(frames)
    theirs = snapshot_table(snapshot, "snapshot")
    assert theirs.time is not None
    history, older = replay(frames, theirs.time, base)
    parts = [_count(part) for part in compared(history, _contracts_query(older, theirs), ["contract_id", *NAMES])]
    rows = pd.concat(parts, ignore_index=True)
    groups = group_by(rows, NAMES)
    unequal = rows[rows["outcome"] != "equal"].sort_values("contract_id")
    firsts = unequal.assign(group=groups.codes[unequal.index]).drop_duplicates("group").set_index("group")
    firsts = firsts.reindex(range(len(groups)))
    outcomes = dict.fromkeys(OUTCOMES)
    counts = {name: _total_of(groups, rows["contracts"].where(rows["outcome"] == name)) for name in outcomes}
    in_both = counts["equal"] + counts["different"]
    replayed_counts, snapshot_counts = in_both + counts["only_replay"], in_both + counts["only_snapshot"]
    numbers = run(history, _numbers_query(older, theirs)).iloc[0]
    if (replayed_counts.sum(), snapshot_counts.sum()) != (numbers["replayed"], numbers["in_snapshot"]):
        raise IntegrityError("The outcomes do not add up to the contracts of both sides. Run `ledgerframes store verify`.")
    values = {
        **groups.keys,
        **counts,
        "replayed": replayed_counts,
        "in_snapshot": snapshot_counts,
        "first_contract_id": firsts["contract_id"],
        "first_path": firsts["first_path"],
        "coverage": ratio(in_both, in_both + counts["only_replay"] + counts["only_snapshot"]),
    }
    return CONTRACTS.build(frames, values)


def _contracts_query(older: SnapshotTable, theirs: SnapshotTable) -> Query:
    """Return the query of the contracts of either side."""
    # A snapshot does not name the update of a contract from an earlier migration.
    columns = [ComparedColumn(each.name, each.type, each.is_json, each.name == "created_in_update_id") for each in COMPARED]
    relation = differences(
        "contracts_of_both", REPLAYED_CONTRACTS, SNAPSHOT_CONTRACTS, "contract_id", ["contract_id", *NAMES], columns
    )
    return _query_of_both(f"FROM {relation.name}", (relation,), older, theirs)


def _numbers_query(older: SnapshotTable, theirs: SnapshotTable) -> Query:
    """Return the query of the number of contracts of each side."""
    select = """
SELECT
    (SELECT count(*) FROM replayed_contracts) AS replayed,
    (SELECT count(*) FROM snapshot) AS in_snapshot"""
    return _query_of_both(select.lstrip(), (REPLAYED_CONTRACTS, SNAPSHOT_CONTRACTS), older, theirs)


def _query_of_both(select: str, relations: tuple[Relation, ...], older: SnapshotTable, theirs: SnapshotTable) -> Query:
    return Query(select, relations, {**older.parameters, **theirs.parameters}, {**older.sources, **theirs.sources})


def _count(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the number of contracts of each template and outcome, and the first one by id."""
    keys = [*NAMES, "outcome"]
    rows = rows.assign(outcome=pd.Series(np.array(OUTCOMES)[rows["outcome"]], rows.index)).sort_values("contract_id")
    firsts = rows.drop_duplicates(keys)
    counts = rows.groupby(keys, dropna=False).size().rename("contracts").reset_index()
    return firsts.merge(counts, on=keys)


def _total_of(groups: Groups, numbers: pd.Series) -> Integers:
    return groups.total(numbers).fillna(0).to_numpy("int64")


def _queries_of_contracts(frames: Frames, snapshot: Snapshot, base: Snapshot | None) -> list[Query]:
    theirs = snapshot_table(snapshot, "snapshot")
    assert theirs.time is not None
    _, older = replay(frames, theirs.time, base)
    return [_contracts_query(older, theirs)]


@SUPPLY.register
def supply(frames: Frames, *, base: Snapshot | None, until: Time | Snapshot) -> pd.DataFrame:
    """Compare the coin that follows from minting and burning with the coin that exists.

    Parameters
    ----------
    frames : Frames
        With all updates from the time of `base` to `until`.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).
    until : str, date, datetime, Frames or DataFrame
        The end, or the contracts active at the end. For a time, they are computed from the history.

    Returns
    -------
    DataFrame
        One row.

        Columns:

        - ``opening`` (decimal128(38, 10)[pyarrow], coin): Coins active at the start, including locked ones, by their initial
          amounts. Missing if an amount is unknown.
        - ``minted`` (decimal128(38, 10)[pyarrow], coin): All coin minted. Missing if an amount is unknown.
        - ``burned`` (decimal128(38, 10)[pyarrow], coin): All coin burned, without fees. Missing if an amount is unknown.
        - ``fees`` (decimal128(38, 10)[pyarrow], coin): Transfer fees, which existed until they were abolished. Missing if an
          amount is unknown.
        - ``closing_expected`` (decimal128(38, 10)[pyarrow], coin): Opening plus minted, minus burned and fees. Missing if an
          amount is unknown.
        - ``closing_found`` (decimal128(38, 10)[pyarrow], coin): Coins active at the end, including locked ones. Missing if an
          amount is unknown.
        - ``unexplained`` (decimal128(38, 10)[pyarrow], coin): Closing found minus closing expected. It is 0 if every flow is
          known. Missing if an amount is unknown.
        - ``locked`` (decimal128(38, 10)[pyarrow], coin): Part of the closing that is locked. Missing if an amount is unknown.
        - ``owned_by_dso`` (decimal128(38, 10)[pyarrow], coin): Part of the closing that the network's own party owns. Missing
          if an amount is unknown.
        - ``coverage`` (float64, share of 1): Share of the flows of coin between start and end with a known amount. Missing if
          there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the frames do not cover all of the time, or a part of it is provisional.
    UsageError
        If `frames` is not unfiltered Frames, or `base` or `until` is not one snapshot.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. Coins count by their initial amount. A holding fee that accrues does not count
    as burned until the coin expires.

    Picture, by :func:`ledgerframes.plot`: A waterfall of coin: opening, minted, burned and fees, then the closing that is
    expected and the one that is there.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> lf.reconcile.supply(frames, base=None, until="2026-11-09")["unexplained"].tolist() == [0]
    True
    """
    SUPPLY.check(frames)
    if frames.is_filtered:
        raise UsageError("lf.reconcile.supply needs all updates of its time. Pass the unfiltered frames.")
    opening = None if base is None else snapshot_rows(base, "base")
    if isinstance(until, Snapshot):
        closing = snapshot_rows(until, "until")
        end = _time_of(closing)
    else:
        closing, end = None, instant(until, "until")
    since = HISTORY_START if opening is None else _time_of(opening)
    require_before(since, end)
    require_final_history(frames, Window(since, end))
    part = frames.between(since, end)
    network = read_network(part, opening)
    sums, known_share = sums_of_all(network)
    minted, burned, fees = (sum_if_known(sums.get(kind, 0) for kind in kinds) for kinds in (MINTED, BURNED, ("fees",)))
    before = _coins_of_snapshot(network, opening)
    after = _active_coins(network) if closing is None else _coins_of_snapshot(network, closing)
    end_sum, start = _total(after), _total(before)
    expected = None if None in (start, minted, burned, fees) else start + minted - burned - fees  # type: ignore[operator]
    amounts = {
        "opening": start,
        "minted": minted,
        "burned": burned,
        "fees": fees,
        "closing_expected": expected,
        "closing_found": end_sum,
        "unexplained": None if end_sum is None or expected is None else end_sum - expected,
        "locked": _total(after[after["is_locked"]]),
        "owned_by_dso": _total(after[after["is_of_dso"]]),
    }
    return SUPPLY.build(part, {name: from_scaled([value]) for name, value in amounts.items()} | {"coverage": known_share})


def _time_of(snapshot: pd.DataFrame) -> datetime:
    time: datetime = snapshot["snapshot_time"].iloc[0].to_pydatetime()
    return time


def _active_coins(network: Network) -> pd.DataFrame:
    """Return the sums of coins that are active at the end of the frames, by lock and owner."""
    return run(network.frames, network.query(_sums_of_coins("SELECT * FROM active_coins, network"), ACTIVE_COINS))


def _coins_of_snapshot(network: Network, snapshot: pd.DataFrame | None) -> pd.DataFrame:
    """Return the sums of coins in a snapshot, by lock and owner."""
    coins = f"""
    SELECT *, template = 'Splice.Coin:LockedCoin' AS is_locked, {amount_of("text")} AS amount
    FROM coins_of_snapshot, network"""
    of_snapshot = replace(network, older=contracts_of(snapshot))
    return run(network.frames, of_snapshot.query(_sums_of_coins(coins), COINS_OF_SNAPSHOT))


def _sums_of_coins(coins: str) -> str:
    return f"""
SELECT
    is_locked, coalesce(owner = dso, false) AS is_of_dso, sum(amount) AS amount, count(*) AS coins, count(amount) AS known
FROM ({coins})
GROUP BY ALL"""


def _total(coins: pd.DataFrame) -> int | None:
    """Return the exact sum of coins, or None if an amount is unknown."""
    return sum(filter(None, scaled(coins["amount"]))) if (coins["coins"] == coins["known"]).all() else None
