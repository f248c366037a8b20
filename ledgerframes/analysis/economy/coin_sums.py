"""Coin that rounds or periods issue, mint and burn, and its control total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import SCALE, amounts, from_scaled, scaled, sum_if_known
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.coverage import covered_time
from ledgerframes.analysis.economy import _answers as answers
from ledgerframes.analysis.economy.network import Network, Rounds, read_network, require_all_updates
from ledgerframes.analysis.economy.periods import period_of
from ledgerframes.analysis.groups import Rates, as_integers, from_microseconds, ratio
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.flows import FLOWS, FLOWS_AND_COUPONS, SUMS_BY_ROUND
from ledgerframes.frames import Frames
from ledgerframes.values import decimals
from ledgerframes.values.extents import microseconds

ISSUED = ("issued_app", "issued_validator", "issued_sv", "expired")
MINTED = ("minted_app", "minted_validator", "minted_sv", "minted_other")
BURNED = ("burned_traffic", "burned_preapproval", "burned_names", "burned_dust")
UNKNOWN = "Missing if unknown, or in uncovered time."


def _coin(name: str, description: str, title: str = "Coin") -> declare.ResultColumn:
    return declare.amount(name, f"{description} {UNKNOWN}", "coin", title)


NET = (
    _coin("net", "Coins created less coins archived, by their initial amounts."),
    _coin("unexplained", "Net less minted, plus burned and fees. It is 0 if every flow is known."),
)
CONDITION, UNIT = "with a known amount", "flows of coin in this row"
ROUNDS = declare.Figure(
    "economy.rounds",
    caption="Coin issued, minted and burned",
    answer=answers.of_rounds,
    main_columns=("opened_at", "issued_app", "issued_validator", "issued_sv", "minted_app", "burned_traffic"),
    distinct=(),
    rows="One row per round or period, or one for all; sorted by round or time.",
    columns=(
        declare.time("opened_at", "Time from which the round is open. Missing by period."),
        declare.time("closed_at", "Record time of its archival. Missing by period, and if alive."),
        _coin("issued_app", "Coupons of the round for apps."),
        _coin("issued_validator", "Coupons of the round for validators."),
        _coin("issued_sv", "Coupons of the round for super validators."),
        _coin("expired", "Coupons of the round that nobody collected."),
        _coin("minted_app", "App rewards collected, of any round.", "Minted"),
        _coin("minted_validator", "Validator rewards collected, with those of the faucet.", "Minted"),
        _coin("minted_sv", "Super validator rewards collected.", "Minted"),
        _coin("minted_other", "Unclaimed activity and development fund collected, and coin of test networks.", "Minted"),
        _coin("burned_traffic", "Coin paid for traffic.", "Burned"),
        _coin("burned_preapproval", "Coin paid for transfer preapprovals.", "Burned"),
        _coin("burned_names", "Coin paid for names.", "Burned"),
        _coin("burned_dust", "Initial amounts of coins that expired.", "Burned"),
        _coin("fees", "Fees of transfers, until they were abolished."),
        _coin("to_dso", "Coins created for the network's own party that stay."),
        declare.cost("traffic_bought", f"Traffic bought. {UNKNOWN}", "Traffic"),
        *NET,
        declare.amount("coin_price", "Price of the round. Missing by period.", "USD per coin"),
    ),
    condition=CONDITION,
    unit=UNIT,
    has_periods=True,
    has_rounds=True,
    queries=lambda frames, every, base: _queries_of_rounds(read_network(frames, base), every),
)
BURN_MINT = declare.Figure(
    "economy.burn_mint",
    caption="Coin minted and burned",
    answer=answers.of_burn_mint,
    main_columns=("minted", "burned", "ratio", "traffic_part", "unexplained"),
    distinct=(),
    rows="One row per period, or one for all; sorted by time.",
    columns=(
        _coin("minted", "All coin minted.", "Minted"),
        _coin("burned", "All coin burned, with fees.", "Burned"),
        declare.amount("ratio", "Burned over minted, half-even with 10 places. Missing without minted coin."),
        declare.amount("traffic_part", "Part of the burned coin that traffic has. Missing without burned coin."),
        *NET,
    ),
    condition=CONDITION,
    unit=UNIT,
    has_periods=True,
    queries=lambda frames, every, base: [_sums_query(read_network(frames, base), FLOWS, every)],
)


@ROUNDS.register
def rounds(frames: Frames, *, every: str | None = "round", base: Snapshot | None = None) -> pd.DataFrame:
    """Return what each round or period issues, mints and burns.

    Parameters
    ----------
    frames : Frames
        With all updates of a time, so loaded by time and without a filter.
    every : str, optional
        ``"round"``, or a period such as ``"1h"``, ``"1d"`` or ``"1mo"`` (default: round).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts`, from which the tables
        above follow as far as they are not passed (default: the history then starts with the network).

    Returns
    -------
    DataFrame
        One row per round or period, or one for all; sorted by round or time.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover all of the period.
        - ``round_number`` (Int64, with every="round"): Mining round.
        - ``is_partial`` (boolean, with every="round"): Whether records of the round can be missing. Missing if the rounds are
          unknown.
        - ``opened_at`` (datetime64[us, UTC]): Time from which the round is open. Missing by period.
        - ``closed_at`` (datetime64[us, UTC]): Record time of its archival. Missing by period, and if alive.
        - ``issued_app`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round for apps. Missing if unknown, or in uncovered
          time.
        - ``issued_validator`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round for validators. Missing if unknown, or
          in uncovered time.
        - ``issued_sv`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round for super validators. Missing if unknown, or
          in uncovered time.
        - ``expired`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round that nobody collected. Missing if unknown, or in
          uncovered time.
        - ``minted_app`` (decimal128(38, 10)[pyarrow], coin): App rewards collected, of any round. Missing if unknown, or in
          uncovered time.
        - ``minted_validator`` (decimal128(38, 10)[pyarrow], coin): Validator rewards collected, with those of the faucet.
          Missing if unknown, or in uncovered time.
        - ``minted_sv`` (decimal128(38, 10)[pyarrow], coin): Super validator rewards collected. Missing if unknown, or in
          uncovered time.
        - ``minted_other`` (decimal128(38, 10)[pyarrow], coin): Unclaimed activity and development fund collected, and coin of
          test networks. Missing if unknown, or in uncovered time.
        - ``burned_traffic`` (decimal128(38, 10)[pyarrow], coin): Coin paid for traffic. Missing if unknown, or in uncovered
          time.
        - ``burned_preapproval`` (decimal128(38, 10)[pyarrow], coin): Coin paid for transfer preapprovals. Missing if unknown,
          or in uncovered time.
        - ``burned_names`` (decimal128(38, 10)[pyarrow], coin): Coin paid for names. Missing if unknown, or in uncovered time.
        - ``burned_dust`` (decimal128(38, 10)[pyarrow], coin): Initial amounts of coins that expired. Missing if unknown, or in
          uncovered time.
        - ``fees`` (decimal128(38, 10)[pyarrow], coin): Fees of transfers, until they were abolished. Missing if unknown, or in
          uncovered time.
        - ``to_dso`` (decimal128(38, 10)[pyarrow], coin): Coins created for the network's own party that stay. Missing if
          unknown, or in uncovered time.
        - ``traffic_bought`` (Int64, bytes): Traffic bought. Missing if unknown, or in uncovered time.
        - ``net`` (decimal128(38, 10)[pyarrow], coin): Coins created less coins archived, by their initial amounts. Missing if
          unknown, or in uncovered time.
        - ``unexplained`` (decimal128(38, 10)[pyarrow], coin): Net less minted, plus burned and fees. It is 0 if every flow is
          known. Missing if unknown, or in uncovered time.
        - ``coin_price`` (decimal128(38, 10)[pyarrow], USD per coin): Price of the round. Missing by period.
        - ``coverage`` (float64, share of 1): Share of the flows of coin in this row with a known amount. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or there are more than a million of them.
    CoverageError
        If the frames have only a part of the updates of their time.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. Issued is what coupons of the round are worth, minted is what was collected in the
    round, of whichever round the coupon is. They are never added. A part of a coupon, made for a beneficiary, is no issue.

    Picture, by :func:`ledgerframes.plot`: The result needs ``every="round"`` or a period. More than 100 rounds are added up
    in groups, which the title says. Coin per round or period: minted by kind above 0, burned below 0, and a line of the
    net.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> bool((lf.economy.rounds(frames)["unexplained"] == 0).all())
    True
    """
    ROUNDS.check(frames)
    require_all_updates(frames, ROUNDS.name)
    network = read_network(frames, base)
    rounds = network.rounds
    if every == "round":
        values, numbers = _by_round(network)
    else:
        values = _by_period(network, FLOWS_AND_COUPONS, every)
        numbers = [None] * len(values["coverage"])
    opened = [rounds.opened[number].payload.get("opensAt") if number in rounds.opened else None for number in numbers]
    values["opened_at"] = pd.to_datetime(pd.Series(opened, dtype="object"), utc=True, format="ISO8601").dt.as_unit("us")
    values["closed_at"] = from_microseconds([rounds.ended.get(number) for number in numbers])
    values["coin_price"] = amounts(rounds.price(number) for number in numbers)
    return ROUNDS.build(frames, values, every=every)


@BURN_MINT.register
def burn_mint(frames: Frames, *, every: str | None = "1mo", base: Snapshot | None = None) -> pd.DataFrame:
    """Return how much coin was burned for each coin minted.

    Parameters
    ----------
    frames : Frames
        With all updates of a time, so loaded by time and without a filter.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: 1mo).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts`, from which the tables
        above follow as far as they are not passed (default: the history then starts with the network).

    Returns
    -------
    DataFrame
        One row per period, or one for all; sorted by time.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover all of the period.
        - ``minted`` (decimal128(38, 10)[pyarrow], coin): All coin minted. Missing if unknown, or in uncovered time.
        - ``burned`` (decimal128(38, 10)[pyarrow], coin): All coin burned, with fees. Missing if unknown, or in uncovered time.
        - ``ratio`` (decimal128(38, 10)[pyarrow]): Burned over minted, half-even with 10 places. Missing without minted coin.
        - ``traffic_part`` (decimal128(38, 10)[pyarrow]): Part of the burned coin that traffic has. Missing without burned coin.
        - ``net`` (decimal128(38, 10)[pyarrow], coin): Coins created less coins archived, by their initial amounts. Missing if
          unknown, or in uncovered time.
        - ``unexplained`` (decimal128(38, 10)[pyarrow], coin): Net less minted, plus burned and fees. It is 0 if every flow is
          known. Missing if unknown, or in uncovered time.
        - ``coverage`` (float64, share of 1): Share of the flows of coin in this row with a known amount. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or there are more than a million of them.
    CoverageError
        If the frames have only a part of the updates of their time.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. A ratio of 1 is balance.

    Picture, by :func:`ledgerframes.plot`: The ratio over time with a line at 1, where both are equal, and below it the coin
    burned. Partial periods are hollow.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> bool((lf.economy.burn_mint(frames, every="1d")["unexplained"] == 0).all())
    True
    """
    BURN_MINT.check(frames)
    require_all_updates(frames, BURN_MINT.name)
    values = _by_period(read_network(frames, base), FLOWS, every)
    values["ratio"] = decimals.divide(values["burned"], values["minted"])
    values["traffic_part"] = decimals.divide(values["burned_traffic"], values["burned"])
    return BURN_MINT.build(frames, values, every=every)


# -- rows ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sums:
    """Sums of the flows of each row of a result, by kind, None if an amount is unknown."""

    units: Mapping[tuple[Any, str], int | None]
    flows: Mapping[Any, int]
    known: Mapping[Any, int]

    @classmethod
    def of(cls, parts: pd.DataFrame, rows: Sequence[Any]) -> Sums:
        """Add up parts of flows, each with the row that it is in."""
        units: dict[tuple[Any, str], int | None] = {}
        flows, known = Counter[Any](), Counter[Any]()
        columns = (parts["kind"], scaled(parts["amount"]), parts["flows"].tolist(), parts["known"].tolist())
        for row, kind, amount, flow_count, known_count in zip(rows, *columns, strict=True):
            before = units.get((row, kind), 0)
            units[row, kind] = None if before is None or known_count < flow_count else before + (amount or 0)
            flows[row] += flow_count
            known[row] += known_count
        return cls(units, flows, known)


def _queries_of_rounds(network: Network, every: str | None) -> list[Query]:
    return [_sums_by_round_query(network) if every == "round" else _sums_query(network, FLOWS_AND_COUPONS, every)]


def _sums_query(network: Network, flows: Relation, every: str | None) -> Query:
    """Return the query of the sums of flows by kind, and within periods."""
    select = f"""
SELECT
    kind,
    {period_of(every)} AS period,
    min(record_time) AS record_time,
    sum(amount) AS amount,
    count(*) AS flows,
    count(amount) AS known
FROM {flows.name}
GROUP BY kind, period"""
    return network.query(select, flows)


def _sums_by_round_query(network: Network) -> Query:
    """Return the query of the sums of flows by kind and round."""
    return network.query("FROM sums_by_round", SUMS_BY_ROUND)


def _by_round(network: Network) -> tuple[dict[str, Any], list[int | None]]:
    """Return the sums and the number of each round, None for flows before the first known one."""
    frames, rounds = network.frames, network.rounds
    parts = run(frames, _sums_by_round_query(network))
    of_parts = [None if pd.isna(number) else int(number) for number in parts["round_number"]]
    numbers = sorted({number for number in of_parts if number is not None} | set(rounds.opened))
    rows: list[int | None] = [*numbers, *([None] if None in of_parts else [])]
    keys = pd.DataFrame({"round_number": pd.array(rows, "Int64")})
    keys["coverage_time"] = _covered_shares(frames, rows, rounds)
    assert frames.window is not None
    since = microseconds(frames.window.since)
    is_whole = [number in rounds.ended and _is_opened_since(rounds, number, since) for number in rows]
    keys["is_partial"] = pd.array(~np.array(is_whole, dtype=bool) | (keys["coverage_time"] < 1), "boolean")
    return _columns(keys, rows, Sums.of(parts, of_parts)), rows


def _is_opened_since(rounds: Rounds, number: int | None, since: int) -> bool:
    opened = rounds.opened.get(number)
    return opened is not None and opened.time is not None and opened.time >= since


def _covered_shares(frames: Frames, numbers: Iterable[int | None], rounds: Rounds) -> Rates:
    """Return the covered share of the time in which each round is the lowest open one.

    It is missing if the start or the end is unknown.
    """
    spans = np.array([[-1 if time is None else time for time in rounds.span(number)] for number in numbers], dtype=np.int64)
    starts, ends = spans.reshape(-1, 2).T
    return np.where((starts < 0) | (ends < 0), np.nan, covered_time(frames).share(starts, ends))


def _by_period(network: Network, flows: Relation, every: str | None) -> dict[str, Any]:
    parts = run(network.frames, _sums_query(network, flows, every))
    groups = group_rows(network.frames, parts, [], every)
    return _columns(groups.keys, range(len(groups)), Sums.of(parts, groups.codes.tolist()))


def sums_of_all(network: Network) -> tuple[dict[str, int | None], Rates]:
    """Return the sums of all flows by kind, and the share of known amounts.

    A sum is None if an amount is unknown.
    """
    parts = run(network.frames, _sums_query(network, FLOWS, None))
    sums = Sums.of(parts, [0] * len(parts))
    return {kind: number for (_, kind), number in sums.units.items()}, ratio([sums.known[0]], [sums.flows[0]])


def _columns(keys: pd.DataFrame, rows: Iterable[int | None], sums: Sums) -> dict[str, Any]:
    """Return the sums of each row by kind, and their control total.

    Without a flow, they are 0 in covered time, and missing in other time.
    """
    rows = list(rows)
    covered = keys["coverage_time"].tolist() if "coverage_time" in keys else [np.nan] * len(rows)
    has_facts = [row in sums.flows or share != 0 for row, share in zip(rows, covered, strict=True)]
    kinds: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in (*ISSUED, *MINTED, *BURNED, "fees", "to_dso", "net")}
    kinds |= {"traffic_bought": ("traffic_bought",), "minted": MINTED, "burned": (*BURNED, "fees")}
    units = {
        name: [
            sum_if_known(sums.units.get((row, kind), 0) for kind in parts) if is_known else None
            for row, is_known in zip(rows, has_facts, strict=True)
        ]
        for name, parts in kinds.items()
    }
    rest = zip(units["net"], units["minted"], units["burned"], strict=True)
    units["unexplained"] = [None if None in row else row[0] - row[1] + row[2] for row in rest]  # type: ignore[operator]
    traffic = [None if number is None else number // SCALE for number in units.pop("traffic_bought")]
    return {
        **keys,
        **{name: from_scaled(values) for name, values in units.items()},
        "traffic_bought": as_integers(traffic, "traffic_bought"),
        "coverage": ratio([sums.known[row] for row in rows], [sums.flows[row] for row in rows]),
    }
