"""Coin of parties over time, and whether the network's own sums agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from operator import add
from typing import Any, NamedTuple

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import from_scaled, scaled
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis.arguments import Snapshot, require_columns
from ledgerframes.analysis.economy import _answers as answers
from ledgerframes.analysis.economy._known_coins import KnownCoins, known_coins
from ledgerframes.analysis.groups import MAX_PERIODS, as_integers, ratio, single_group
from ledgerframes.datasets.holdings.build import TOTALS
from ledgerframes.engine import Query, run
from ledgerframes.engine.balances import OWNERS
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.conditions import near_matches
from ledgerframes.values.windows import iso

SUM_COLUMNS = ("party", "snapshot_time", *TOTALS)
UNKNOWN = "Missing if unknown, after a gap, or in uncovered time."
NO_SUM = "Missing without a sum."


def _coin(name: str, description: str, unit: str = "coin", missing: str = UNKNOWN) -> declare.ResultColumn:
    return declare.amount(name, f"{description} {missing}", unit, "Coin")


BALANCE = declare.Figure(
    "economy.balance",
    caption="Coin of parties",
    answer=answers.of_balance,
    main_columns=("party", "balance", "change", "coins", "locked", "node_sums", "differing_sums"),
    distinct=("party",),
    rows="One row per party, or per period and party; sorted by time, then by party.",
    columns=(
        declare.text("party", "Party that owns coin. Missing for coins whose owner cannot be read."),
        declare.integer(
            "coins", "Coins of the party at the end, including locked ones. Missing after a gap, or in uncovered time.", "coins"
        ),
        _coin("unlocked", "Unlocked coin of the party at the end, by initial amounts."),
        _coin("locked", "Locked coin of the party at the end, by initial amounts."),
        _coin("balance", "All coin of the party at the end."),
        _coin("change", "Balance minus the balance at the start, or at the time of base=."),
        _coin("fee_per_round", "Holding fee that the party's coins owe for each round.", "coin per round"),
        declare.count(
            "node_sums", "Sums of the network that are compared: those after the start, up to and including the end.", "sums"
        ),
        declare.count("differing_sums", "Sums that differ from the history in unlocked, locked or all coin.", "sums"),
        declare.time("node_time", f"Time of the sum that differs most, or of the last sum if none differs. {NO_SUM}"),
        _coin("node_balance", "Balance of that sum.", missing=NO_SUM),
        _coin("difference", "Balance at that time according to the history, minus the balance of that sum.", missing=NO_SUM),
    ),
    has_periods=True,
    condition="with a known owner and amount",
    unit="coins of this row",
    queries=lambda frames, parties, every, base, summary: _queries(frames, parties, every, base, summary),
)


@BALANCE.register
def balance(
    frames: Frames,
    parties: str | Sequence[str] | None = None,
    *,
    every: str | None = "1d",
    base: Snapshot | None = None,
    summary: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the coin of parties over time, and where the network's own sums differ from it.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``, from the time of `base`, or from the start of history.
    parties : str or sequence of str, optional
        Parties that own coin (default: all, each with a row in each period).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: 1d).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).
    summary : DataFrame, optional
        Sums of the network, from :func:`ledgerframes.load_holdings_summary`. Sums outside the known time are omitted.

    Returns
    -------
    DataFrame
        One row per party, or per period and party; sorted by time, then by party.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``party`` (str): Party that owns coin. Missing for coins whose owner cannot be read.
        - ``coins`` (Int64, coins): Coins of the party at the end, including locked ones. Missing after a gap, or in uncovered
          time.
        - ``unlocked`` (decimal128(38, 10)[pyarrow], coin): Unlocked coin of the party at the end, by initial amounts. Missing
          if unknown, after a gap, or in uncovered time.
        - ``locked`` (decimal128(38, 10)[pyarrow], coin): Locked coin of the party at the end, by initial amounts. Missing if
          unknown, after a gap, or in uncovered time.
        - ``balance`` (decimal128(38, 10)[pyarrow], coin): All coin of the party at the end. Missing if unknown, after a gap, or
          in uncovered time.
        - ``change`` (decimal128(38, 10)[pyarrow], coin): Balance minus the balance at the start, or at the time of base=.
          Missing if unknown, after a gap, or in uncovered time.
        - ``fee_per_round`` (decimal128(38, 10)[pyarrow], coin per round): Holding fee that the party's coins owe for each
          round. Missing if unknown, after a gap, or in uncovered time.
        - ``node_sums`` (int64, sums): Sums of the network that are compared: those after the start, up to and including the
          end.
        - ``differing_sums`` (int64, sums): Sums that differ from the history in unlocked, locked or all coin.
        - ``node_time`` (datetime64[us, UTC]): Time of the sum that differs most, or of the last sum if none differs. Missing
          without a sum.
        - ``node_balance`` (decimal128(38, 10)[pyarrow], coin): Balance of that sum. Missing without a sum.
        - ``difference`` (decimal128(38, 10)[pyarrow], coin): Balance at that time according to the history, minus the balance
          of that sum. Missing without a sum.
        - ``coverage`` (float64, share of 1): Share of the coins of this row with a known owner and amount. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames leave a gap after `base`, or do not start with the history.
    UsageError
        If a party is unknown, or there is no sum in the known time.

    Notes
    -----
    Source: docs/facts.md#holdings-at-snapshot. Creates of coins add to a balance, and consuming exercises subtract. Amounts
    are initial amounts: the holding fee is charged only when a coin expires, so no sum subtracts it. An update at exactly the
    time of a sum counts as before it.

    Picture, by :func:`ledgerframes.plot`: The result of one party shows how much of its coin is locked. Of several parties,
    it shows those with the most coin. Coin at the end of each period over time, with a ring for the last or worst sum of a
    period: green if it is equal, red if it differs. Several parties: a panel for each of the 12 with the most coin. Without
    periods, one bar per party.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> sums = lf.load_holdings_summary(net, at="2026-11-08T12:00Z")
    >>> held = lf.economy.balance(frames, every="6h", summary=sums)
    >>> int(held["node_sums"].sum()) == len(sums), int(held["differing_sums"].sum())
    (True, 0)
    """
    BALANCE.check(frames)
    coins = known_coins(frames, BALANCE.name, parties, base)
    sums = None if summary is None else _sums(coins, summary)
    parts = run(frames, coins.changes_query(every))
    owners = _owners(coins, parts, sums)
    periods, lines = _periods(frames, parts, every)
    if len(periods) * len(owners) > MAX_PERIODS:
        raise UsageError(
            f"every={every!r} makes {len(periods):,} periods of {len(owners):,} parties each. "
            "Choose a longer period, or some parties=."
        )
    covered = periods["coverage_time"].tolist() if "coverage_time" in periods else [1.0]
    ends = zip(_ends(frames, periods), covered, strict=True)
    known = [coins.since <= end <= coins.until and share > 0 for end, share in ends]
    rows = list(_rows(parts.assign(line=lines), owners, known))
    compared = _compared(coins, sums, periods)
    keys = periods.loc[[row.line for row in rows]].reset_index(drop=True)
    return BALANCE.build(frames, {**keys, **_values(rows), **_comparison(rows, compared)}, every=every)


def _queries(
    frames: Frames, parties: str | Sequence[str] | None, every: str | None, base: Snapshot | None, summary: pd.DataFrame | None
) -> list[Query]:
    coins = known_coins(frames, BALANCE.name, parties, base)
    compared = [] if summary is None else [coins.sums_query(_sums(coins, summary))]
    return [coins.changes_query(every), *compared]


# -- arguments ----------------------------------------------------------------------------------------------------------


def _owners(coins: KnownCoins, parts: pd.DataFrame, sums: pd.DataFrame | None) -> list[str | None]:
    """Return the parties of the result, with None for coins of an unknown owner.

    Raises
    ------
    UsageError
        If a party has neither a coin nor a sum.
    """
    owners = {*parts["owner"].dropna(), *(() if sums is None else sums["party"])}
    if coins.parties is None:
        return [*sorted(owners), *([None] if parts["owner"].isna().any() else [])]
    unknown = [party for party in coins.parties if party not in owners]
    if unknown:
        near = near_matches(unknown[0], run(coins.network.frames, coins.query("FROM owners", OWNERS))["owner"])
        step = f"Choose from {', '.join(map(repr, near))}." if near else "Choose one that owns coin in these frames or in base=."
        raise UsageError(f"Unknown party {unknown[0]!r}. {step}")
    return [*coins.parties]


def _sums(coins: KnownCoins, summary: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of the parties within the known time, without repeats."""
    rule = "summary= must be rows of table holdings_summary"
    rows = require_columns(summary, SUM_COLUMNS, rule, "Pass the result of lf.load_holdings_summary(net).")
    times = rows["snapshot_time"]
    if not pd.api.types.is_datetime64_any_dtype(times) or times.dt.tz is None:
        raise UsageError(f"{rule}, got column 'snapshot_time' of {times.dtype}. Pass its times in UTC.")
    if inexact := [name for name in TOTALS if not str(rows[name].dtype).startswith("decimal")]:
        raise UsageError(f"{rule}, got column {inexact[0]!r} of {rows[inexact[0]].dtype}. Pass its decimals.")
    rows = rows[[*SUM_COLUMNS]].drop_duplicates()
    if coins.parties is not None:
        rows = rows[rows["party"].isin(coins.parties)]
    within = rows[rows["snapshot_time"].between(coins.since, coins.until)].reset_index(drop=True)
    if within.empty:
        raise UsageError(
            f"summary= must have a sum of these parties from {iso(coins.since)} until {iso(coins.until)}, got none. "
            "Load one with lf.load_holdings_summary(net, owners=[…], at=…)."
        )
    return within


# -- rows ---------------------------------------------------------------------------------------------------------------


class Coins(NamedTuple):
    """Coins of a party, or how they change. Amounts are in units of 10^-10."""

    unlocked: int = 0
    locked: int = 0
    fee_per_round: int = 0
    coin_count: int = 0
    unknown: int = 0  # coins without a known amount
    unknown_fees: int = 0

    def plus(self, other: Coins) -> Coins:
        """Return the sum of both."""
        return Coins(*map(add, self, other))


class Row(NamedTuple):
    """Coins of a party at the end of a period, and how they changed in it."""

    line: int
    party: str | None
    coins: Coins
    change: Coins
    ownerless: int
    is_known: bool


def _periods(frames: Frames, parts: pd.DataFrame, every: str | None) -> tuple[pd.DataFrame, list[int]]:
    """Return all periods, or one line for the window, and the line of each part.

    A part that exists from the beginning has line -1.
    """
    is_later = ~parts["is_opening"].astype(bool)
    groups = single_group(is_later.sum()) if every is None else periods_of(frames, parts.loc[is_later, "record_time"], every)
    codes = iter(groups.codes.tolist())
    return groups.keys, [next(codes) if later else -1 for later in is_later]


def _ends(frames: Frames, periods: pd.DataFrame) -> list[datetime]:
    """Return the end of each period, or of the window if that is earlier."""
    assert frames.window is not None
    until = frames.window.until
    return [min(end.to_pydatetime(), until) for end in periods["period_end"]] if "period_end" in periods else [until]


def _rows(parts: pd.DataFrame, owners: Sequence[str | None], known: Sequence[bool]) -> Iterator[Row]:
    """Yield the rows of all parties for each period."""
    amounts = zip(*(scaled(parts[name]) for name in Coins._fields[:3]), strict=True)
    counts = zip(*(parts[name].tolist() for name in Coins._fields[3:]), strict=True)
    changes: dict[tuple[int, str | None], Coins] = {}
    for line, owner, coin, numbers in zip(parts["line"], parts["owner"], amounts, counts, strict=True):
        key = line, None if pd.isna(owner) else owner
        changes[key] = changes.get(key, Coins()).plus(Coins(*(each or 0 for each in coin), *numbers))
    coins = {owner: changes.get((-1, owner), Coins()) for owner in {*owners, None}}
    for line, is_known in enumerate(known):
        for owner in coins:
            coins[owner] = coins[owner].plus(changes.get((line, owner), Coins()))
        for owner in owners:
            yield Row(line, owner, coins[owner], changes.get((line, owner), Coins()), coins[None].coin_count, is_known)


def _values(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the columns of coin."""
    with_amounts = [row.is_known and not row.coins.unknown for row in rows]
    with_change = [
        is_known and row.coins.unknown == row.change.unknown == 0 for row, is_known in zip(rows, with_amounts, strict=True)
    ]
    known = [row.coins.coin_count - row.coins.unknown if row.party is not None else 0 for row in rows]
    every_coin = [row.coins.coin_count + (row.ownerless if row.party is not None else 0) for row in rows]

    def amount(numbers: Iterator[int], is_known: Sequence[bool]) -> pd.Series:
        return from_scaled(number if each else None for number, each in zip(numbers, is_known, strict=True))

    return {
        "party": pd.Series([row.party for row in rows], dtype="str"),
        "coins": as_integers([row.coins.coin_count if row.is_known else None for row in rows], "coins"),
        "unlocked": amount((row.coins.unlocked for row in rows), with_amounts),
        "locked": amount((row.coins.locked for row in rows), with_amounts),
        "balance": amount((row.coins.unlocked + row.coins.locked for row in rows), with_amounts),
        "change": amount((row.change.unlocked + row.change.locked for row in rows), with_change),
        "fee_per_round": amount(
            (row.coins.fee_per_round for row in rows), [row.is_known and not row.coins.unknown_fees for row in rows]
        ),
        "coverage": ratio(known, every_coin),
    }


# -- sums of the network --------------------------------------------------------------------------------------------------


class Compared(NamedTuple):
    """A sum of the network next to the coin according to the history.

    Amounts are in units of 10^-10.
    """

    distance: int
    time: pd.Timestamp
    node_balance: int
    difference: int
    is_equal: bool


def _compared(
    coins: KnownCoins, sums: pd.DataFrame | None, periods: pd.DataFrame
) -> dict[tuple[int, str | None], list[Compared]]:
    """Return the comparisons of each line and party.

    A sum at the end of a period belongs to that period.
    """
    if sums is None:
        return {}
    ours = run(coins.network.frames, coins.sums_query(sums))
    both = sums.merge(ours, on=["party", "snapshot_time"])
    both = both[both["unknown"] == 0]
    starts = periods["period_start"] if "period_start" in periods else pd.Series([pd.Timestamp(coins.since)])
    lines = (starts.searchsorted(both["snapshot_time"], side="left") - 1).clip(0)
    comparisons: dict[tuple[int, str | None], list[Compared]] = {}
    amounts = zip(*(scaled(both[name].fillna(0)) for name in (*TOTALS, "unlocked", "locked")), strict=True)
    for line, party, time, row in zip(lines, both["party"], both["snapshot_time"], amounts, strict=True):
        node_unlocked, node_locked, node_balance, unlocked, locked = (number or 0 for number in row)
        difference = unlocked + locked - node_balance
        is_equal = (unlocked, locked, 0) == (node_unlocked, node_locked, difference)
        comparisons.setdefault((int(line), party), []).append(Compared(abs(difference), time, node_balance, difference, is_equal))
    return comparisons


def _comparison(rows: Sequence[Row], compared: Mapping[tuple[int, str | None], list[Compared]]) -> dict[str, Any]:
    """Return the columns of the network's own sums."""
    comparisons = [compared.get((row.line, row.party), []) for row in rows]
    worst = [max(each, default=None) for each in comparisons]
    return {
        "node_sums": [len(each) for each in comparisons],
        "differing_sums": [sum(not sum_.is_equal for sum_ in each) for each in comparisons],
        "node_time": pd.Series([each and each.time for each in worst], dtype=declare.TIME),
        "node_balance": from_scaled(each and each.node_balance for each in worst),
        "difference": from_scaled(each and each.difference for each in worst),
    }
