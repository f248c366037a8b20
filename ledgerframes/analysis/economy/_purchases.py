"""Purchases of traffic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import divide, from_scaled, multiply, sum_if_known, to_decimal, units
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.economy import _answers as answers
from ledgerframes.analysis.economy.network import Network, Rounds, read_network, require_all_updates, round_of
from ledgerframes.analysis.groups import Groups, from_microseconds, ratio
from ledgerframes.analysis.state.payloads import Values, whole
from ledgerframes.datasets.reference.build import member
from ledgerframes.engine import Query
from ledgerframes.engine.nodes import TRAFFIC_CONTRACTS, payloads_above
from ledgerframes.frames import Frames
from ledgerframes.values import decimals

PURCHASE = "CoinRules_BuyMemberTraffic"
MEGABYTE = Decimal(10**6)
SEVERAL = "Missing if it is unknown, or the row has several."
PURCHASES = declare.Figure(
    "economy.purchases",
    caption="Traffic bought",
    answer=answers.of_purchases,
    main_columns=("record_time", "buyer", "member_id", "bytes", "coin_spent", "usd_spent", "usd_per_mb"),
    rows="One row per purchase or group, or per period and group; sorted by time, or by period and group.",
    by={"buyer": declare.Grouping(), "member_id": declare.Grouping(), "for_whom": declare.Grouping()},
    columns=(
        declare.time("record_time", "Record time of the first purchase. Missing without a purchase."),
        declare.text("buyer", f"Party that pays. {SEVERAL}"),
        declare.text("member_id", f"Participant or mediator that gets the traffic. {SEVERAL}"),
        declare.label("for_whom", f"own if buyer and member share one id, else other. {SEVERAL}"),
        declare.count("purchases", "Purchases, without merges of earlier purchases.", "purchases"),
        declare.cost("bytes", "Traffic bought. Missing without a purchase.", "Traffic"),
        declare.amount("coin_spent", "Coin burned for the traffic. Missing without a purchase.", "coin"),
        declare.amount("usd_spent", "Price in USD. Missing without a purchase.", "USD"),
        declare.amount("usd_per_mb", "USD per 10^6 bytes. Missing without a purchase.", "USD per MB"),
        declare.amount("coin_price", "USD spent divided by coin spent. Missing without a purchase.", "USD per coin"),
        declare.integer(
            "price_differs",
            "Purchases whose price differs from that of their round. Missing if no price is known.",
            "purchases",
        ),
    ),
    has_periods=True,
    condition="with a known price of the round",
    unit="purchases of this row",
    queries=lambda frames, by, every, base: [purchases_query(read_network(frames, base))],
)


@PURCHASES.register
def purchases(
    frames: Frames,
    *,
    by: Literal["buyer", "member_id", "for_whom"] | None = None,
    every: str | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return who bought traffic for whom, and at which price.

    Parameters
    ----------
    frames : Frames
        With all updates of a time, so load them by time and without a filter.
    by : {"buyer", "member_id", "for_whom"}, optional
        Grouping of the rows (default: one row per purchase).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per purchase or group, or per period and group; sorted by time, or by period and group.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``record_time`` (datetime64[us, UTC]): Record time of the first purchase. Missing without a purchase.
        - ``buyer`` (str): Party that pays. Missing if it is unknown, or the row has several.
        - ``member_id`` (str): Participant or mediator that gets the traffic. Missing if it is unknown, or the row has several.
        - ``for_whom`` (category): own if buyer and member share one id, else other. Missing if it is unknown, or the row has
          several.
        - ``purchases`` (int64, purchases): Purchases, without merges of earlier purchases.
        - ``bytes`` (Int64, bytes): Traffic bought. Missing without a purchase.
        - ``coin_spent`` (decimal128(38, 10)[pyarrow], coin): Coin burned for the traffic. Missing without a purchase.
        - ``usd_spent`` (decimal128(38, 10)[pyarrow], USD): Price in USD. Missing without a purchase.
        - ``usd_per_mb`` (decimal128(38, 10)[pyarrow], USD per MB): USD per 10^6 bytes. Missing without a purchase.
        - ``coin_price`` (decimal128(38, 10)[pyarrow], USD per coin): USD spent divided by coin spent. Missing without a
          purchase.
        - ``price_differs`` (Int64, purchases): Purchases whose price differs from that of their round. Missing if no price is
          known.
        - ``coverage`` (float64, share of 1): Share of the purchases of this row with a known price of the round. Missing if
          there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames have only a part of the updates of their time.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. The party and the participant of an operator share one id, so a purchase for
    that participant counts as own.

    Picture, by :func:`ledgerframes.plot`: A bar of the bytes bought for each buyer and member, the 15 with the most. A
    buyer alone bought for itself. With ``every=``, a bar per period.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> bool((lf.economy.purchases(frames)["price_differs"] == 0).all())
    True
    """
    PURCHASES.check(frames, by)
    require_all_updates(frames, PURCHASES.name)
    network = read_network(frames, base)
    rows = pd.DataFrame([_purchase(each, network.rounds) for each in bought(network)], columns=list(_PURCHASE), dtype="object")
    if by is None and every is None:
        groups = Groups(rows[[]], np.arange(len(rows)))
    else:
        groups = group_rows(frames, rows.assign(record_time=from_microseconds(rows["time"])), [by] if by else [], every)
    return PURCHASES.build(frames, _purchase_columns(rows, groups, by), by, every=every)


_PURCHASE = ("time", "buyer", "member_id", "for_whom", "bytes", "coin", "usd", "differs")


@dataclass(frozen=True)
class Purchase:
    """A contract of bought traffic, and the exercises above it, nearest first."""

    time: int  # record time [microseconds since 1970]
    payload: Values
    exercises: list[dict[str, Any]]
    network: Network

    @property
    def buyer(self) -> str | None:
        """Party that pays, from the purchase or the transfer above it."""
        for each in self.exercises:
            if each["choice"] == PURCHASE and isinstance(provider := self._argument(each).get("provider"), str):
                return provider
        senders = (member(self._argument(each), "transfer", "sender") for each in self.exercises)
        return next((sender for sender in senders if isinstance(sender, str)), None)

    @property
    def round_number(self) -> int | None:
        """Round of the transfer."""
        results = (self.network.decoded(each["exercise_result"]) for each in self.exercises)
        return next((number for result in results if (number := round_of(result)) is not None), None)

    def _argument(self, exercise: dict[str, Any]) -> Values:
        """Return the argument of a choice. To decode all payloads would take as long as the query."""
        return self.network.members(exercise["choice_argument"])


def bought(network: Network) -> list[Purchase]:
    """Return the purchases in the order of the history, without merges of earlier ones."""
    rows = network.rows(purchases_query(network))
    return [Purchase(row["time"], network.members(row["create_arguments"]), row["exercises"] or [], network) for row in rows]


def purchases_query(network: Network) -> Query:
    """Return the query of purchases, each with the exercises above it."""
    exercises = payloads_above(TRAFFIC_CONTRACTS)
    select = f"""
SELECT epoch_us(record_time) AS time, create_arguments, exercises
FROM traffic_contracts
LEFT JOIN (
    SELECT
        update_id,
        node_index,
        list(
            {{'choice': choice, 'choice_argument': choice_argument, 'exercise_result': exercise_result}}
            ORDER BY above_index DESC
        ) AS exercises
    FROM {exercises.name}
    GROUP BY update_id, node_index
) USING (update_id, node_index)
-- A merge of earlier purchases buys nothing.
WHERE exercises[1].choice IS DISTINCT FROM 'CoinRules_MergeMemberTrafficContracts'
ORDER BY migration_id, record_time, update_id, node_index"""
    return network.query(select, TRAFFIC_CONTRACTS, exercises)


def _purchase(purchase: Purchase, rounds: Rounds) -> tuple[Any, ...]:
    payload, buyer = purchase.payload, purchase.buyer
    member_id = payload.get("memberId")
    for_whom = None
    if isinstance(member_id, str) and buyer is not None:
        for_whom = "own" if member_id.partition("::")[2] == buyer else "other"
    byte_count, coin, usd = whole(payload.get("totalPurchased")), units(payload.get("coinSpent")), units(payload.get("usdSpent"))
    return purchase.time, buyer, member_id, for_whom, byte_count, coin, usd, _differs(purchase, rounds)


def _differs(purchase: Purchase, rounds: Rounds) -> bool | None:
    """Return whether a purchase has another price than its round, or None if unknown."""
    number = rounds.number_or_lowest_at(purchase.round_number, purchase.time)
    traffic_price, coin_price = rounds.price(number, "trafficPrice"), rounds.price(number)
    byte_count, usd = whole(purchase.payload.get("totalPurchased")), to_decimal(purchase.payload.get("usdSpent"))
    coin = to_decimal(purchase.payload.get("coinSpent"))
    if not coin_price or traffic_price is None or byte_count is None or usd is None or coin is None:
        return None
    return usd != multiply(divide(Decimal(byte_count), MEGABYTE), traffic_price) or coin != divide(usd, coin_price)


def _purchase_columns(rows: pd.DataFrame, groups: Groups, by: str | None) -> dict[str, Any]:
    # If each purchase is a group, building one table per group would take most of the time.
    members: list[list[Any]] = [[] for _ in range(len(groups))]
    for code, row in zip(groups.codes.tolist(), rows.itertuples(index=False), strict=True):
        members[code].append(row)
    byte_counts = pd.Series(pd.array([total_of(row.bytes for row in part) for part in members], "Int64"))
    coin_spent = from_scaled([total_of(row.coin for row in part) for part in members])
    usd_spent = from_scaled([total_of(row.usd for row in part) for part in members])
    values: dict[str, Any] = {**groups.keys}
    for name in ("buyer", "member_id", "for_whom"):
        values[name] = groups.keys[name] if name == by else [_only(getattr(row, name) for row in part) for part in members]
    return values | {
        "record_time": from_microseconds([min((row.time for row in part), default=None) for part in members]),
        "purchases": [len(part) for part in members],
        "bytes": byte_counts,
        "coin_spent": coin_spent,
        "usd_spent": usd_spent,
        "usd_per_mb": decimals.divide(decimals.multiply(usd_spent, MEGABYTE), byte_counts, name="usd_per_mb"),
        "coin_price": decimals.divide(usd_spent, coin_spent, name="coin_price"),
        "price_differs": pd.Series(pd.array([_differing(part) for part in members], "Int64")),
        "coverage": ratio([sum(row.differs is not None for row in part) for part in members], [len(part) for part in members]),
    }


def _differing(members: list[Any]) -> int | None:
    """Return the number of purchases whose price is not that of their round.

    It is None if no price is known.
    """
    known = [row.differs for row in members if row.differs is not None]
    return sum(known) if known or not members else None


def total_of(values: Iterable[int | None]) -> int | None:
    """Return an exact sum, or None if there are no values or one is unknown."""
    numbers = list(values)
    return sum_if_known(numbers) if numbers else None


def _only(values: Iterable[Any]) -> Any:
    different = set(values)
    return different.pop() if len(different) == 1 else None
