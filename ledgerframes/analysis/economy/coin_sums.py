"""Coin that rounds or periods issue, mint and burn, and its control total."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.economy import _answers as answers
from ledgerframes.analysis.economy.flow_sums import queries_of_rounds, sums_by_period, sums_by_round, sums_query
from ledgerframes.analysis.economy.network import read_network, require_all_updates
from ledgerframes.analysis.groups import from_microseconds
from ledgerframes.engine.flows import FLOWS, FLOWS_AND_COUPONS
from ledgerframes.frames import Frames
from ledgerframes.values import decimals

UNKNOWN = "Missing if unknown, or in uncovered time."
UNKNOWN_WHILE_ALIVE = "Missing if unknown, in uncovered time, or by round while more can expire."
UNKNOWN_UNLESS_ALL = "Missing if unknown, in uncovered time, or by round until all are issued."


def _coin(name: str, description: str, title: str = "Coin") -> declare.ResultColumn:
    return declare.amount(name, f"{description} {UNKNOWN}", "coin", title)


def _issued(name: str, role: str) -> declare.ResultColumn:
    return declare.amount(name, f"Coupons of the round for {role}. {UNKNOWN_UNLESS_ALL}", "coin", "Coin")


NET = (
    _coin("net", "Coins created minus coins archived, by their initial amounts."),
    _coin("unexplained", "Net minus minted, plus burned and fees. It is 0 if every flow is known."),
)
CONDITION, UNIT = "with a known amount", "flows of coin in this row"
COIN_FLOWS = declare.Figure(
    "economy.flows",
    caption="Coin issued, minted and burned",
    answer=answers.of_flows,
    main_columns=("opened_at", "issued_app", "issued_validator", "issued_sv", "minted_app", "burned_traffic"),
    distinct=(),
    rows="One row per round or period, or one row in all; sorted by round or time.",
    columns=(
        declare.time("opened_at", "Time from which the round is open. Missing by period."),
        declare.time("closed_at", "Record time of the round's archival. Missing by period, and if the round is alive."),
        _issued("issued_app", "apps"),
        _issued("issued_validator", "validators"),
        _issued("issued_sv", "super validators"),
        declare.amount("expired", f"Coupons of the round that nobody collected. {UNKNOWN_WHILE_ALIVE}", "coin", "Coin"),
        _coin("minted_app", "App rewards collected, from coupons of any round.", "Minted"),
        _coin("minted_validator", "Validator rewards collected, including those of the faucet.", "Minted"),
        _coin("minted_sv", "Super validator rewards collected.", "Minted"),
        _coin(
            "minted_other",
            "Coin for unclaimed activity, of the development fund, and of test networks.",
            "Minted",
        ),
        _coin("burned_traffic", "Coin paid for traffic.", "Burned"),
        _coin("burned_preapproval", "Coin paid for transfer preapprovals.", "Burned"),
        _coin("burned_names", "Coin paid for names.", "Burned"),
        _coin("burned_dust", "Initial amounts of coins that expired.", "Burned"),
        _coin("fees", "Transfer fees, which existed until they were abolished."),
        _coin("to_dso", "Coins created for the network's own party and not archived by the same update."),
        declare.cost("traffic_bought", f"Traffic bought. {UNKNOWN}", "Traffic"),
        *NET,
        declare.amount("coin_price", "Price of the round. Missing by period.", "USD per coin"),
    ),
    condition=CONDITION,
    unit=UNIT,
    has_periods=True,
    has_rounds=True,
    queries=lambda frames, every, base: queries_of_rounds(read_network(frames, base), every),
)
BURN_MINT = declare.Figure(
    "economy.burn_mint",
    caption="Coin minted and burned",
    answer=answers.of_burn_mint,
    main_columns=("minted", "burned", "ratio", "traffic_part", "unexplained"),
    distinct=(),
    rows="One row per period, or one row in all; sorted by time.",
    columns=(
        _coin("minted", "All coin minted.", "Minted"),
        _coin("burned", "All coin burned, including fees.", "Burned"),
        declare.amount("ratio", "Burned divided by minted coin, rounded half to even to 10 places. Missing without minted coin."),
        declare.amount("traffic_part", "Part of the burned coin that paid for traffic. Missing without burned coin."),
        *NET,
    ),
    condition=CONDITION,
    unit=UNIT,
    has_periods=True,
    queries=lambda frames, every, base: [sums_query(read_network(frames, base), FLOWS, every)],
)


@COIN_FLOWS.register
def flows(frames: Frames, *, every: str | None = "round", base: Snapshot | None = None) -> pd.DataFrame:
    """Return what each round or period issues, mints and burns.

    Parameters
    ----------
    frames : Frames
        With all updates of a time, so loaded by time and without a filter.
    every : str, optional
        ``"round"``, or a period such as ``"1h"``, ``"1d"`` or ``"1mo"`` (default: round).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per round or period, or one row in all; sorted by round or time.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``round_number`` (Int64, with every="round"): Mining round.
        - ``is_partial`` (boolean, with every="round"): Whether records of the round can be missing. Missing if the rounds are
          unknown.
        - ``opened_at`` (datetime64[us, UTC]): Time from which the round is open. Missing by period.
        - ``closed_at`` (datetime64[us, UTC]): Record time of the round's archival. Missing by period, and if the round is
          alive.
        - ``issued_app`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round for apps. Missing if unknown, in uncovered
          time, or by round until all are issued.
        - ``issued_validator`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round for validators. Missing if unknown, in
          uncovered time, or by round until all are issued.
        - ``issued_sv`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round for super validators. Missing if unknown, in
          uncovered time, or by round until all are issued.
        - ``expired`` (decimal128(38, 10)[pyarrow], coin): Coupons of the round that nobody collected. Missing if unknown, in
          uncovered time, or by round while more can expire.
        - ``minted_app`` (decimal128(38, 10)[pyarrow], coin): App rewards collected, from coupons of any round. Missing if
          unknown, or in uncovered time.
        - ``minted_validator`` (decimal128(38, 10)[pyarrow], coin): Validator rewards collected, including those of the faucet.
          Missing if unknown, or in uncovered time.
        - ``minted_sv`` (decimal128(38, 10)[pyarrow], coin): Super validator rewards collected. Missing if unknown, or in
          uncovered time.
        - ``minted_other`` (decimal128(38, 10)[pyarrow], coin): Coin for unclaimed activity, of the development fund, and of
          test networks. Missing if unknown, or in uncovered time.
        - ``burned_traffic`` (decimal128(38, 10)[pyarrow], coin): Coin paid for traffic. Missing if unknown, or in uncovered
          time.
        - ``burned_preapproval`` (decimal128(38, 10)[pyarrow], coin): Coin paid for transfer preapprovals. Missing if unknown,
          or in uncovered time.
        - ``burned_names`` (decimal128(38, 10)[pyarrow], coin): Coin paid for names. Missing if unknown, or in uncovered time.
        - ``burned_dust`` (decimal128(38, 10)[pyarrow], coin): Initial amounts of coins that expired. Missing if unknown, or in
          uncovered time.
        - ``fees`` (decimal128(38, 10)[pyarrow], coin): Transfer fees, which existed until they were abolished. Missing if
          unknown, or in uncovered time.
        - ``to_dso`` (decimal128(38, 10)[pyarrow], coin): Coins created for the network's own party and not archived by the same
          update. Missing if unknown, or in uncovered time.
        - ``traffic_bought`` (Int64, bytes): Traffic bought. Missing if unknown, or in uncovered time.
        - ``net`` (decimal128(38, 10)[pyarrow], coin): Coins created minus coins archived, by their initial amounts. Missing if
          unknown, or in uncovered time.
        - ``unexplained`` (decimal128(38, 10)[pyarrow], coin): Net minus minted, plus burned and fees. It is 0 if every flow is
          known. Missing if unknown, or in uncovered time.
        - ``coin_price`` (decimal128(38, 10)[pyarrow], USD per coin): Price of the round. Missing by period.
        - ``coverage`` (float64, share of 1): Share of the flows of coin in this row with a known amount. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames have only a part of the updates of their time.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. Issued coin is what the coupons of the round are worth. Minted coin is what was
    collected during the round, from coupons of any round. The two are never added. A part of a coupon that is created for a
    beneficiary is not issued again.

    Picture, by :func:`ledgerframes.plot`: The result needs ``every="round"`` or a period. More than 100 rounds are added up
    in groups, which the title says. Coin per round or period: minted by kind above 0, burned below 0, and a line of the
    net.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> bool((lf.economy.flows(frames)["unexplained"] == 0).all())
    True
    """
    COIN_FLOWS.check(frames)
    require_all_updates(frames, COIN_FLOWS.name)
    network = read_network(frames, base)
    rounds = network.rounds
    if every == "round":
        values, numbers = sums_by_round(network)
    else:
        values = sums_by_period(network, FLOWS_AND_COUPONS, every)
        numbers = [None] * len(values["coverage"])
    opened = [rounds.opened[number].payload.get("opensAt") if number in rounds.opened else None for number in numbers]
    values["opened_at"] = pd.to_datetime(pd.Series(opened, dtype="object"), utc=True, format="ISO8601").dt.as_unit("us")
    values["closed_at"] = from_microseconds([rounds.ended.get(number) for number in numbers])
    values["coin_price"] = amounts(rounds.price(number) for number in numbers)
    return COIN_FLOWS.build(frames, values, every=every)


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
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per period, or one row in all; sorted by time.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``minted`` (decimal128(38, 10)[pyarrow], coin): All coin minted. Missing if unknown, or in uncovered time.
        - ``burned`` (decimal128(38, 10)[pyarrow], coin): All coin burned, including fees. Missing if unknown, or in uncovered
          time.
        - ``ratio`` (decimal128(38, 10)[pyarrow]): Burned divided by minted coin, rounded half to even to 10 places. Missing
          without minted coin.
        - ``traffic_part`` (decimal128(38, 10)[pyarrow]): Part of the burned coin that paid for traffic. Missing without burned
          coin.
        - ``net`` (decimal128(38, 10)[pyarrow], coin): Coins created minus coins archived, by their initial amounts. Missing if
          unknown, or in uncovered time.
        - ``unexplained`` (decimal128(38, 10)[pyarrow], coin): Net minus minted, plus burned and fees. It is 0 if every flow is
          known. Missing if unknown, or in uncovered time.
        - ``coverage`` (float64, share of 1): Share of the flows of coin in this row with a known amount. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
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
    values = sums_by_period(read_network(frames, base), FLOWS, every)
    values["ratio"] = decimals.divide(values["burned"], values["minted"])
    values["traffic_part"] = decimals.divide(values["burned_traffic"], values["burned"])
    return BURN_MINT.build(frames, values, every=every)
