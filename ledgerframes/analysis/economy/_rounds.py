"""Coin that rounds or periods issue, mint and burn, and its control total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import amounts, divide, from_scaled, sum_if_known
from ledgerframes.analysis._coverage import covered_time
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis._groups import Rates, from_microseconds, ratio
from ledgerframes.analysis._snapshots import Snapshot
from ledgerframes.analysis.economy._flows import BURNED, MINTED, Flow, Rounds, flows_of, issued_flows, totals
from ledgerframes.analysis.economy._nodes import Node, from_units, read_trees, require_all_updates
from ledgerframes.extents import microseconds
from ledgerframes.frames import Frames

ISSUED = ("issued_app", "issued_validator", "issued_sv", "expired")
UNKNOWN = "Missing if an amount is unknown."


def _coin(name: str, description: str, title: str = "Coin") -> declare.ResultColumn:
    return declare.amount(name, f"{description} {UNKNOWN}", "coin", title)


NET = (
    _coin("net", "Coins created less coins archived, by their initial amounts."),
    _coin("unexplained", "Net less minted, plus burned and fees. It is 0 if every flow is known."),
)
FACT, UNIT = "amount", "flows of coin in this row"
ROUNDS = declare.Figure(
    "economy.rounds",
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
    fact=FACT,
    unit=UNIT,
    has_periods=True,
    has_rounds=True,
)
BURN_MINT = declare.Figure(
    "economy.burn_mint",
    rows="One row per period, or one for all; sorted by time.",
    like="economy.purchases",
    columns=(
        _coin("minted", "All coin minted.", "Minted"),
        _coin("burned", "All coin burned, with fees.", "Burned"),
        declare.amount("ratio", "Burned over minted, half-even with 10 places. Missing without minted coin."),
        declare.amount("traffic_part", "Part of the burned coin that traffic has. Missing without burned coin."),
        *NET,
    ),
    fact=FACT,
    unit=UNIT,
    has_periods=True,
)


@dataclass(frozen=True)
class Table:
    """Sums of flows, one row per round or period."""

    keys: pd.DataFrame  # columns that name the rows
    sums: list[dict[str, int | None]]  # units of each kind of flow, None if one of its amounts is unknown
    coverage: Any  # share of the flows of each row with a known amount

    def units(self, *kinds: str) -> list[int | None]:
        """Return the sum of some kinds in each row, None if one is unknown."""
        return [sum_if_known(row.get(kind, 0) for kind in kinds) for row in self.sums]

    def values(self) -> dict[str, Any]:
        """Return the columns of all kinds and the control total."""
        kinds = (*ISSUED, *MINTED, *BURNED, "fees", "to_dso", "net")
        values: dict[str, Any] = {kind: from_scaled(self.units(kind)) for kind in kinds}
        values["traffic_bought"] = pd.Series(self.units("traffic_bought"), dtype="Int64")
        values["unexplained"] = from_scaled(self.unexplained())
        return {**values, **self.keys, "coverage": self.coverage}

    def unexplained(self) -> list[int | None]:
        """Return the net less minted, plus burned and fees."""
        rows = zip(self.units("net"), self.units(*MINTED), self.units(*BURNED, "fees"), strict=True)
        return [None if None in (net, minted, burned) else net - minted + burned for net, minted, burned in rows]  # type: ignore[operator]


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
    known = Rounds(trees)
    flows = [*flows_of(trees, known), *issued_flows(trees, known)]
    if every == "round":
        table = _by_round(frames, flows, known)
        numbers = table.keys["round_number"]
        opened = [known.opened.get(number) if pd.notna(number) else None for number in numbers]
        extra: dict[str, Any] = {
            "opened_at": _openings(opened),
            "closed_at": from_microseconds([known.ended.get(number) if pd.notna(number) else None for number in numbers]),
            "coin_price": amounts(known.price(None if pd.isna(number) else number) for number in numbers),
        }
    else:
        table = _by_period(frames, flows, every)
        nothing = [None] * len(table.sums)
        extra = {"opened_at": from_microseconds(nothing), "closed_at": from_microseconds(nothing), "coin_price": amounts(nothing)}
    return ROUNDS.build(frames, table.values() | extra, every=every)


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
    table = _by_period(frames, list(flows_of(trees, Rounds(trees))), every)
    minted, burned = table.units(*MINTED), table.units(*BURNED, "fees")
    traffic = table.units("burned_traffic")
    values = table.values() | {"minted": from_scaled(minted), "burned": from_scaled(burned)}
    values["ratio"] = amounts(_quotient(above, below) for above, below in zip(burned, minted, strict=True))
    values["traffic_part"] = amounts(_quotient(above, below) for above, below in zip(traffic, burned, strict=True))
    return BURN_MINT.build(frames, values, every=every)


def _quotient(above: int | None, below: int | None) -> Decimal | None:
    return divide(from_units(above), from_units(below)) if above is not None and below else None


def _openings(opened: list[Node | None]) -> pd.Series:
    texts = pd.Series([node and node.payload.get("opensAt") for node in opened], dtype="object")
    return pd.to_datetime(texts, utc=True, format="ISO8601").dt.as_unit("us")


# -- rows ---------------------------------------------------------------------------------------------------------------


def _by_round(frames: Frames, flows: list[Flow], known: Rounds) -> Table:
    """Return the sums per round, and of flows before the first known round."""
    of_flows = [flow.round_number for flow in flows]
    numbers = sorted({number for number in of_flows if number is not None} | set(known.opened))
    rows: list[int | None] = [*numbers, *([None] if None in of_flows else [])]
    keys = pd.DataFrame({"round_number": pd.array(rows, "Int64")})
    keys["coverage_time"] = _covered_shares(frames, rows, known)
    assert frames.window is not None
    since = microseconds(frames.window.since)
    is_partial = np.array([_begins_or_ends_outside(number, known, since) for number in rows], dtype=bool)
    keys["is_partial"] = pd.array(is_partial | (keys["coverage_time"] < 1), "boolean")
    return _table(keys, rows, flows, of_flows)


def _covered_shares(frames: Frames, numbers: Iterable[int | None], known: Rounds) -> Rates:
    """Return the covered share of the time in which each round is the lowest open one.

    It is missing if the start or the end is unknown.
    """
    spans = np.array([[-1 if time is None else time for time in known.span(number)] for number in numbers], dtype=np.int64)
    starts, ends = spans.reshape(-1, 2).T
    return np.where((starts < 0) | (ends < 0), np.nan, covered_time(frames).share(starts, ends))


def _begins_or_ends_outside(number: int | None, known: Rounds, since: int) -> bool:
    """Return whether a part of the round's life lies outside the frames."""
    if number is None or number not in known.ended:
        return True
    opened = known.opened.get(number)
    return opened is None or opened.time < since


def _by_period(frames: Frames, flows: list[Flow], every: str | None) -> Table:
    times = from_microseconds([flow.time for flow in flows])
    groups = group_rows(frames, pd.DataFrame({"record_time": times}), [], every)
    return _table(groups.keys, range(len(groups)), flows, groups.codes.tolist())


def _table(keys: pd.DataFrame, names: Iterable[int | None], flows: list[Flow], rows: list[Any]) -> Table:
    """Return the sums of the flows of each row, by the name of its row."""
    sums, counts = totals(flows, rows), Counter(rows)
    known = Counter(row for flow, row in zip(flows, rows, strict=True) if flow.units is not None)
    coverage = ratio([known[name] for name in names], [counts[name] for name in names])
    return Table(keys, [sums.get(name, {}) for name in names], coverage)
