"""Purchases of traffic and names, and who ranks first."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes import decimals
from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import divide, from_scaled, multiply, sum_if_known, to_decimal
from ledgerframes.analysis._arguments import Snapshot, snapshot_rows
from ledgerframes.analysis._groupings import group_rows, periods_of
from ledgerframes.analysis._groups import Groups, from_microseconds
from ledgerframes.analysis.economy._flows import NAME_PAYMENTS, TRAFFIC, Rounds, is_merged, name_payments, round_of
from ledgerframes.analysis.economy._nodes import Node, Trees, read_trees, require_all_updates, units
from ledgerframes.analysis.state._payloads import RULES, member, whole
from ledgerframes.frames import Frames

PURCHASE = "CoinRules_BuyMemberTraffic"
ENTRY = "Splice.Ans:AnsEntry"
BOUGHT, RENEWED, EXPIRED = "bought", "renewed", "expired"
MEGABYTE = Decimal(10**6)
SEVERAL = "Missing if the row has several, or it is unknown."
PURCHASES = declare.Figure(
    "economy.purchases",
    rows="One row per purchase or group, and per period; sorted by time, or by period and group.",
    by={"buyer": declare.Grouping(), "member_id": declare.Grouping(), "for_whom": declare.Grouping()},
    columns=(
        declare.time("record_time", "Record time of the first purchase. Missing without one."),
        declare.text("buyer", f"Party that pays. {SEVERAL}"),
        declare.text("member_id", f"Participant or mediator that gets the traffic. {SEVERAL}"),
        declare.label("for_whom", f"own if buyer and member share one id, or other. {SEVERAL}"),
        declare.count("purchases", "Purchases. Merges of earlier ones do not count.", "purchases"),
        declare.cost("bytes", "Traffic bought. Missing without a purchase.", "Traffic"),
        declare.amount("coin_spent", "Coin burned for it. Missing without a purchase.", "coin"),
        declare.amount("usd_spent", "Price in USD. Missing without a purchase.", "USD"),
        declare.amount("usd_per_mb", "USD per 10^6 bytes. Missing without a purchase.", "USD per MB"),
        declare.amount("coin_price", "USD spent per coin spent. Missing without a purchase.", "USD per coin"),
        declare.count("price_differs", "Purchases at another price than that of their round.", "purchases"),
    ),
    has_periods=True,
    condition="with a known price of the round",
    unit="purchases of this row",
)
NAMES = declare.Figure(
    "economy.names",
    rows="One row per event or period; sorted by time.",
    like="economy.purchases",
    columns=(
        declare.time("record_time", "Record time of the event. Missing by period."),
        declare.label("event", "bought, renewed, or expired. Missing by period."),
        declare.text("name", "The name. Missing by period, or if its contract is unknown."),
        declare.text("user", "Its owner. Missing by period, or if its contract is unknown."),
        declare.time("expires_at", "Time until which it is paid. Missing by period, or if unknown."),
        declare.amount("paid", "Coin burned for it. Missing for an expiry, or if unknown.", "coin"),
        declare.count("bought", "Names bought.", "names"),
        declare.count("renewed", "Names renewed.", "names"),
        declare.count("expired", "Names expired.", "names"),
        declare.integer("active_at_end", "Names in use afterwards. Missing unless the frames start with the history or base=."),
    ),
    has_periods=True,
    condition="with a known contract",
    unit="events of this row",
)


@PURCHASES.document
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
        With all updates of a time, so loaded by time and without a filter.
    by : {"buyer", "member_id", "for_whom"}, optional
        One row per group (default: per purchase).
    base : Frames or DataFrame, optional
        Contracts active at the start, of :func:`ledgerframes.load_bulk` with ``kind="acs"``. Amounts of older coins come from it.

    Raises
    ------
    CoverageError
        If the frames have only a part of the updates of their time.

    Source: docs/facts.md#rewards-of-a-round. An operator's party and its participant share one id, which is what own means here.

    >>> bool((lf.economy.purchases(frames)["price_differs"] == 0).all())
    True
    """
    PURCHASES.check(frames, by)
    require_all_updates(frames, PURCHASES.name)
    trees = read_trees(frames, base)
    rounds = Rounds(trees)
    rows = pd.DataFrame([_purchase(node, rounds) for node in bought(trees)], columns=list(_PURCHASE), dtype="object")
    if by is None and every is None:
        groups = Groups(rows[[]], np.arange(len(rows)))
    else:
        groups = group_rows(frames, rows.assign(record_time=from_microseconds(rows["time"])), [by] if by else [], every)
    return PURCHASES.build(frames, _purchase_columns(rows, groups, by), by, every=every)


_PURCHASE = ("time", "buyer", "member_id", "for_whom", "bytes", "coin", "usd", "differs")


def bought(trees: Trees) -> list[Node]:
    """Return the contracts of purchases, without those that merge earlier ones."""
    return [node for node in trees.created(TRAFFIC) if not is_merged(node)]


def buyer_of(node: Node) -> str | None:
    """Return who pays for a purchase, from the purchase or the transfer above."""
    for above in node.ancestors():
        if above.choice == PURCHASE and isinstance(above.argument.get("provider"), str):
            return str(above.argument["provider"])
    senders = (member(above.argument, "transfer", "sender") for above in node.ancestors())
    return next((sender for sender in senders if isinstance(sender, str)), None)


def _purchase(node: Node, rounds: Rounds) -> tuple[Any, ...]:
    payload, buyer = node.payload, buyer_of(node)
    member_id = payload.get("memberId")
    for_whom = None
    if isinstance(member_id, str) and buyer is not None:
        for_whom = "own" if member_id.partition("::")[2] == buyer else "other"
    byte_count, coin, usd = whole(payload.get("totalPurchased")), units(payload.get("coinSpent")), units(payload.get("usdSpent"))
    return node.time, buyer, member_id, for_whom, byte_count, coin, usd, _differs(node, rounds)


def _differs(node: Node, rounds: Rounds) -> bool | None:
    """Return whether a purchase differs from the price of its round, None if unknown."""
    number = next((number for above in node.ancestors() if (number := round_of(above.result)) is not None), None)
    number = rounds.number_or_lowest_at(number, node.time)
    traffic_price, coin_price = rounds.price(number, "trafficPrice"), rounds.price(number)
    byte_count, usd = whole(node.payload.get("totalPurchased")), to_decimal(node.payload.get("usdSpent"))
    coin = to_decimal(node.payload.get("coinSpent"))
    if not coin_price or traffic_price is None or byte_count is None or usd is None:
        return None
    return usd != multiply(divide(Decimal(byte_count), MEGABYTE), traffic_price) or coin != divide(usd, coin_price)


def _purchase_columns(rows: pd.DataFrame, groups: Groups, by: str | None) -> dict[str, Any]:
    members = groups.split(rows)
    sums = {name: [_total(part[name]) for part in members] for name in ("bytes", "coin", "usd")}
    values: dict[str, Any] = {**groups.keys}
    for name in ("buyer", "member_id", "for_whom"):
        values[name] = groups.keys[name] if name == by else [_only(part[name]) for part in members]
    byte_counts = pd.Series(pd.array(sums["bytes"], "Int64"))
    coin_spent, usd_spent = from_scaled(sums["coin"]), from_scaled(sums["usd"])
    return values | {
        "record_time": from_microseconds([None if part.empty else part["time"].min() for part in members]),
        "purchases": [len(part) for part in members],
        "bytes": byte_counts,
        "coin_spent": coin_spent,
        "usd_spent": usd_spent,
        "usd_per_mb": decimals.divide(decimals.multiply(usd_spent, MEGABYTE), byte_counts, name="usd_per_mb"),
        "coin_price": decimals.divide(usd_spent, coin_spent, name="coin_price"),
        "price_differs": [sum(value is True for value in part["differs"]) for part in members],
        "coverage": [float(part["differs"].notna().mean()) if len(part) else np.nan for part in members],
    }


def _total(values: pd.Series) -> int | None:
    """Return an exact sum, None without values or with an unknown one."""
    return sum_if_known(values) if len(values) else None


def _only(values: pd.Series) -> Any:
    different = values.dropna().unique()
    return different[0] if len(different) == 1 else None


# -- names --------------------------------------------------------------------------------------------------------------


@NAMES.document
def names(frames: Frames, *, every: str | None = None, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the names that were bought, renewed or expired.

    Source: docs/facts.md#rewards-of-a-round. A renewal archives a contract and creates the next one, so it is not another name.

    >>> set(lf.economy.names(frames)["event"]) <= {"bought", "renewed", "expired"}
    True
    """
    NAMES.check(frames)
    require_all_updates(frames, NAMES.name)
    trees = read_trees(frames, base)
    columns = ["time", "event", "name", "user", "expires_at", "paid"]
    rows = pd.DataFrame(_name_events(trees), columns=columns, dtype="object")
    times = from_microseconds(rows["time"])
    groups = Groups(rows[[]], np.arange(len(rows))) if every is None else periods_of(frames, times, every)
    members = groups.split(rows)
    values: dict[str, Any] = {**groups.keys}
    for name in ("event", "name", "user", "expires_at"):
        values[name] = [part[name].iloc[0] if every is None else None for part in members]
    values["record_time"] = from_microseconds([part["time"].iloc[0] if every is None else None for part in members])
    values["expires_at"] = pd.Series(pd.to_datetime(values["expires_at"], utc=True, format="ISO8601")).dt.as_unit("us")
    values["paid"] = from_scaled([_total(part.loc[part["event"] != EXPIRED, "paid"]) for part in members])
    for event in (BOUGHT, RENEWED, EXPIRED):
        values[event] = [int((part["event"] == event).sum()) for part in members]
    before = sum(node.template == ENTRY and node.is_own and not node.update_id for node in trees.creates.values())
    active = before + np.cumsum(np.array(values[BOUGHT]) - np.array(values[EXPIRED]))
    values["active_at_end"] = pd.array(active if _has_earlier_names(frames, trees, base) else [None] * len(members), "Int64")
    values["coverage"] = [float(part["name"].notna().mean()) if len(part) else np.nan for part in members]
    return NAMES.build(frames, values, every=every)


def _has_earlier_names(frames: Frames, trees: Trees, base: Snapshot | None) -> bool:
    """Return whether the frames begin with the history, or at the time of a snapshot."""
    if any(node.parent is None for node in trees.created(RULES)):
        return True
    if base is None or frames.window is None:
        return False
    return bool(snapshot_rows(base, "base", ())["snapshot_time"].iloc[0] == frames.window.since)


def _name_events(trees: Trees) -> list[tuple[Any, ...]]:
    """Return what happened to names, in the order of the history."""
    rows = []
    for node in trees.nodes:
        if not node.is_own:
            continue
        if node.template == ENTRY and not node.choice and (event := _event_of(node)):
            payment = next((above for above in node.ancestors() if above.choice in NAME_PAYMENTS), None)
            rows.append((node.time, event, *_entry(node), _paid(payment, trees)))
        elif node.choice == "AnsEntry_Expire":
            rows.append((node.time, EXPIRED, *_entry(trees.creates.get(node.contract_id)), None))
    return rows


def _event_of(node: Node) -> str:
    if node.is_below("AnsEntry_Renew"):
        return RENEWED
    return BOUGHT if node.is_below("AnsRules_CollectInitialEntryPayment") else ""


def _entry(node: Node | None) -> tuple[Any, Any, Any]:
    payload = node.payload if node else {}
    return payload.get("name"), payload.get("user"), payload.get("expiresAt")


def _paid(payment: Node | None, trees: Trees) -> int | None:
    return sum_if_known(name_payments(payment, trees)) if payment else None
