"""Coin that rounds or periods issue, mint and burn, and its control total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes import decimals
from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import amounts, from_scaled, sum_if_known
from ledgerframes.analysis._arguments import Snapshot
from ledgerframes.analysis._coverage import covered_time
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis._groups import Rates, from_microseconds, ratio
from ledgerframes.analysis.economy._flows import BURNED, MINTED, Flow, Rounds, flows_of, issued_flows, totals
from ledgerframes.analysis.economy._nodes import read_trees, require_all_updates
from ledgerframes.extents import microseconds
from ledgerframes.frames import Frames

ISSUED = ("issued_app", "issued_validator", "issued_sv", "expired")
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
    distinct=(),
    rows="One row per round or period, or one for all; sorted by round or time.",
    like="economy.purchases",
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
)
BURN_MINT = declare.Figure(
    "economy.burn_mint",
    distinct=(),
    rows="One row per period, or one for all; sorted by time.",
    like="economy.purchases",
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
)


@ROUNDS.document
def rounds(frames: Frames, *, every: str | None = "round", base: Snapshot | None = None) -> pd.DataFrame:
    """Return what each round or period issues, mints and burns.

    Source: docs/facts.md#rewards-of-a-round. Issued is what coupons of the round are worth, minted is what was collected in the
    round, of whichever round the coupon is. They are never added. A part of a coupon, made for a beneficiary, is no issue.

    >>> bool((lf.economy.rounds(frames)["unexplained"] == 0).all())
    True
    """
    ROUNDS.check(frames)
    require_all_updates(frames, ROUNDS.name)
    trees = read_trees(frames, base)
    rounds = Rounds(trees)
    flows = [*flows_of(trees, rounds), *issued_flows(trees, rounds)]
    if every == "round":
        values, numbers = _by_round(frames, flows, rounds)
    else:
        values = _by_period(frames, flows, every)
        numbers = [None] * len(values["coverage"])
    opened = [rounds.opened[number].payload.get("opensAt") if number in rounds.opened else None for number in numbers]
    values["opened_at"] = pd.to_datetime(pd.Series(opened, dtype="object"), utc=True, format="ISO8601").dt.as_unit("us")
    values["closed_at"] = from_microseconds([rounds.ended.get(number) for number in numbers])
    values["coin_price"] = amounts(rounds.price(number) for number in numbers)
    return ROUNDS.build(frames, values, every=every)


@BURN_MINT.document
def burn_mint(frames: Frames, *, every: str | None = "1mo", base: Snapshot | None = None) -> pd.DataFrame:
    """Return how much coin was burned for each coin minted.

    Source: docs/facts.md#rewards-of-a-round. A ratio of 1 is balance.

    >>> bool((lf.economy.burn_mint(frames, every="1d")["unexplained"] == 0).all())
    True
    """
    BURN_MINT.check(frames)
    require_all_updates(frames, BURN_MINT.name)
    trees = read_trees(frames, base)
    values = _by_period(frames, list(flows_of(trees, Rounds(trees))), every)
    values["ratio"] = decimals.divide(values["burned"], values["minted"])
    values["traffic_part"] = decimals.divide(values["burned_traffic"], values["burned"])
    return BURN_MINT.build(frames, values, every=every)


# -- rows ---------------------------------------------------------------------------------------------------------------


def _by_round(frames: Frames, flows: list[Flow], rounds: Rounds) -> tuple[dict[str, Any], list[int | None]]:
    """Return the sums and the number of each round, None for flows before the first known one."""
    of_flows = [flow.round_number for flow in flows]
    numbers = sorted({number for number in of_flows if number is not None} | set(rounds.opened))
    rows: list[int | None] = [*numbers, *([None] if None in of_flows else [])]
    keys = pd.DataFrame({"round_number": pd.array(rows, "Int64")})
    keys["coverage_time"] = _covered_shares(frames, rows, rounds)
    assert frames.window is not None
    since = microseconds(frames.window.since)
    is_whole = [number in rounds.ended and number in rounds.opened and rounds.opened[number].time >= since for number in rows]
    keys["is_partial"] = pd.array(~np.array(is_whole, dtype=bool) | (keys["coverage_time"] < 1), "boolean")
    return _sums(keys, rows, flows, of_flows), rows


def _covered_shares(frames: Frames, numbers: Iterable[int | None], rounds: Rounds) -> Rates:
    """Return the covered share of the time in which each round is the lowest open one.

    It is missing if the start or the end is unknown.
    """
    spans = np.array([[-1 if time is None else time for time in rounds.span(number)] for number in numbers], dtype=np.int64)
    starts, ends = spans.reshape(-1, 2).T
    return np.where((starts < 0) | (ends < 0), np.nan, covered_time(frames).share(starts, ends))


def _by_period(frames: Frames, flows: list[Flow], every: str | None) -> dict[str, Any]:
    times = from_microseconds([flow.time for flow in flows])
    groups = group_rows(frames, pd.DataFrame({"record_time": times}), [], every)
    return _sums(groups.keys, range(len(groups)), flows, groups.codes.tolist())


def _sums(keys: pd.DataFrame, names: Iterable[int | None], flows: list[Flow], rows: list[Any]) -> dict[str, Any]:
    """Return the sums of the flows of each row, by kind, and their control total.

    Without a flow, they are 0 in covered time, and missing in other time.
    """
    sums, counts, names = totals(flows, rows), Counter(rows), list(names)
    covered = keys["coverage_time"].tolist() if "coverage_time" in keys else [np.nan] * len(names)
    has_facts = [row in counts or share != 0 for row, share in zip(names, covered, strict=True)]
    known = Counter(row for flow, row in zip(flows, rows, strict=True) if flow.units is not None)
    parts: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in (*ISSUED, *MINTED, *BURNED, "fees", "to_dso", "net")}
    parts |= {"minted": tuple(MINTED), "burned": (*BURNED, "fees")}
    units = {
        name: [
            sum_if_known(sums[row].get(kind, 0) for kind in kinds) if is_known else None
            for row, is_known in zip(names, has_facts, strict=True)
        ]
        for name, kinds in parts.items()
    }
    rest = zip(units["net"], units["minted"], units["burned"], strict=True)
    units["unexplained"] = [None if None in row else row[0] - row[1] + row[2] for row in rest]  # type: ignore[operator]
    return {
        **keys,
        **{name: from_scaled(values) for name, values in units.items()},
        "traffic_bought": pd.Series([sums[row].get("traffic_bought", 0) for row in names], dtype="Int64").where(
            np.array(has_facts, dtype=bool)
        ),
        "coverage": ratio([known[row] for row in names], [counts[row] for row in names]),
    }
