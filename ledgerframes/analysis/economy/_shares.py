"""Rankings of parties, and the split of rewards among beneficiaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import amounts, from_scaled, multiply, to_decimal
from ledgerframes.analysis._arguments import Snapshot, require_columns
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis._groups import from_microseconds, microseconds
from ledgerframes.analysis.economy._flows import (
    CLAIMS,
    MINTED,
    PROCESS,
    Rounds,
    counted_summaries,
    issued_flows,
    round_of,
    summary_flows,
)
from ledgerframes.analysis.economy._nodes import Node, Trees, read_trees, require_all_updates, units
from ledgerframes.analysis.economy._purchases import bought, buyer_of
from ledgerframes.analysis.state._payloads import member
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.runways import require_integer

COUPON, ASSIGN = "Splice.Coin:RewardCouponV2", "RewardCoupon_AssignBeneficiaries"
AS_CONFIGURED, OTHER = "as configured", "other percentages"
NOT_ASSIGNED, MISSING = "not assigned (provider keeps it)", "missing beneficiary"
UNKNOWN, EXPIRED, NO_CONFIGURATION = "unknown beneficiary", "expired", "no configuration"
KINDS = {"provider": "issued_app", "validator": "issued_validator"}
RANKINGS = ("issued", "minted", "bytes_bought", "burned")
LEADERBOARD = declare.Figure(
    "economy.leaderboard",
    rows="One row per period and party, one for all unknown parties, and periods without a party included; sorted by period, "
    "rank and party, a missing rank last.",
    like="economy.purchases",
    by={"provider": declare.Grouping(), "validator": declare.Grouping()},
    is_grouped=True,
    columns=(
        declare.integer("rank", "Rank in the period, the same for equal amounts. Missing as `amount` or `party`."),
        declare.text("party", "The party. Missing in a period without one, and for amounts of unknown parties."),
        declare.amount("amount", "What is ranked, of known amounts. Missing without any.", "coin or bytes", "Amount"),
        declare.share("Share of all known amounts in the period, also of unknown parties. Missing without an amount."),
        declare.integer("rank_before", "Rank in the period before. Missing if that is partial or has no amount."),
        declare.integer("change", "Ranks gained since then. Missing as `rank_before`."),
    ),
    has_periods=True,
    condition="with a known amount",
    unit="coupons, transfers or purchases of this row",
)
SPLIT = declare.Figure(
    "economy.reward_split",
    rows="One row per coupon and beneficiary; sorted by round, provider and beneficiary.",
    like="economy.purchases",
    columns=(
        declare.integer("round_number", "Round of the coupon. Missing if it is unknown."),
        declare.text("provider", "App provider that earned the coupon. Missing if it is unknown."),
        declare.text("beneficiary", "Party that gets a part of it."),
        declare.amount("coupon_amount", "Amount of the whole coupon. Missing if unknown.", "coin"),
        declare.amount("expected", "Part by configuration, or as assigned without one. Missing if there is none.", "coin"),
        declare.amount("actual", "Amount of the part. Missing if there is no such part, or the coupon is unknown.", "coin"),
        declare.amount("difference", "Actual less expected, where one that is missing is 0. Missing as `coupon_amount`.", "coin"),
        declare.label("outcome", "Whether the part is as configured, or why not. Missing as `coupon_amount`."),
    ),
    condition="with a known coupon amount",
    unit="rows of this result",
)


@LEADERBOARD.document
def leaderboard(
    frames: Frames,
    *,
    of: Literal["issued", "minted", "bytes_bought", "burned"] = "issued",
    by: Literal["provider", "validator"] = "provider",
    every: str | None = "1mo",
    top: int = 50,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return the parties with the largest rewards, purchases or burned coin.

    Parameters
    ----------
    of : {"issued", "minted", "bytes_bought", "burned"}, default "issued"
        Coupons by who earned them, coin by who collected it, or traffic by who paid for it, in bytes or coin.
    by : {"provider", "validator"}, default "provider"
        Whose coupons count, with ``of="issued"`` only.
    top : int, default 50
        Only so many ranks per period.

    Raises
    ------
    UsageError
        If `of` or `top` is invalid.

    Source: docs/facts.md#rewards-of-a-round. A coupon counts for who earned it, before any split.

    >>> lf.economy.leaderboard(frames, top=1)["rank"].tolist()
    [1]
    """
    LEADERBOARD.check(frames, by)
    if of not in RANKINGS or (of != "issued" and by != "provider"):
        raise UsageError(f"of= must be one of {', '.join(RANKINGS)}, and by= is for 'issued', got of={of!r} and by={by!r}.")
    require_integer("top", top, 1)
    require_all_updates(frames, LEADERBOARD.name)
    rows = pd.DataFrame(_ranked(read_trees(frames, base), of, by), columns=["time", "party", "units"], dtype="object")
    groups = group_rows(frames, rows.assign(record_time=from_microseconds(rows["time"])), [], every)
    is_partial = groups.keys.get("is_partial", pd.Series(False, groups.keys.index)).tolist()
    before: dict[str, int] = {}
    parts: list[pd.DataFrame] = []
    for code, part in enumerate(groups.split(rows)):
        ranking = _ranking(part)
        ranking["rank_before"] = pd.array([before.get(party) for party in ranking["party"]], "Int64")
        before = {} if is_partial[code] else dict(zip(ranking["party"], ranking["rank"], strict=True))
        is_unknown = ranking["party"].isna()
        leading = ranking[is_unknown | (ranking["rank"].fillna(int((~is_unknown).sum())) <= top)]
        parts.append((leading if len(leading) or every is None else ranking.reindex([0])).assign(code=code))
    result = pd.concat(parts, ignore_index=True)
    keys = groups.keys.take(result["code"].to_numpy("int64")).reset_index(drop=True)
    change, amount = result["rank_before"] - result["rank"], from_scaled(result["units"])
    return LEADERBOARD.build(frames, {**keys, **result, "amount": amount, "change": change}, by, every=every)


def _ranked(trees: Trees, of: str, by: str) -> Iterable[tuple[int, str | None, int | None]]:
    if of == "issued":
        issued = (flow for flow in issued_flows(trees, Rounds(trees)) if flow.kind == KINDS[by])
        return [(flow.time, flow.party or None, flow.units) for flow in issued]
    if of == "minted":
        flows = (flow for pair in counted_summaries(trees) for flow in summary_flows(*pair, None))
        return [(flow.time, flow.party or None, flow.units) for flow in flows if flow.kind in MINTED and flow.units != 0]
    name = "totalPurchased" if of == "bytes_bought" else "coinSpent"
    return [(node.time, buyer_of(node), units(node.payload.get(name))) for node in bought(trees)]


def _ranking(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the parties of a period by rank, unknown amounts and parties last without one."""
    sums: dict[str | None, int | None] = {}
    counts: defaultdict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for party, amount in zip(rows["party"], rows["units"], strict=True):
        before = sums.get(party)
        sums[party] = before if amount is None else (before or 0) + amount
        counts[party][0] += amount is not None
        counts[party][1] += 1
    ordered = sorted(sums.items(), key=lambda item: (item[0] is None, item[1] is None, -(item[1] or 0), item[0] or ""))
    ranks: list[int | None] = []
    for position, (party, amount) in enumerate(ordered):
        is_equal = position > 0 and amount == ordered[position - 1][1]
        ranks.append(None if party is None or amount is None else ranks[-1] if is_equal else position + 1)
    total = sum(filter(None, sums.values()))
    return pd.DataFrame(
        {
            "rank": pd.array(ranks, "Int64"),
            "party": pd.Series([party for party, _ in ordered], dtype="str"),
            "units": pd.Series([amount for _, amount in ordered], dtype="object"),
            "share": [amount / total if total and amount is not None else np.nan for _, amount in ordered],
            "coverage": [counts[party][0] / counts[party][1] for party, _ in ordered],
        }
    )


# -- split among beneficiaries -------------------------------------------------------------------------------------------


@SPLIT.document
def reward_split(frames: Frames, *, configured: pd.DataFrame | None = None, base: Snapshot | None = None) -> pd.DataFrame:
    """Return how coupons were split among beneficiaries, against what was configured.

    Parameters
    ----------
    configured : DataFrame, optional
        Columns ``provider``, ``beneficiary``, ``percentage`` (from 0 to 1) and ``valid_from``. The newest one of a provider that
        is valid counts.

    Raises
    ------
    UsageError
        If `configured` has no such column, or the percentages of a provider do not add up to 1.

    Source: docs/facts.md#rewards-of-a-round. Coupons of traffic-based rewards only. A part is the amount times the percentage,
    half-even with 10 places.

    >>> set(lf.economy.reward_split(frames)["outcome"]) <= {"no configuration"}
    True
    """
    SPLIT.check(frames)
    require_all_updates(frames, SPLIT.name)
    plans = _plans(configured)
    trees = read_trees(frames, base)
    assigned = trees.exercised(ASSIGN)
    rows = [row for node in assigned for row in _assignment_rows(node, trees, plans)]
    rows += _unassigned_rows(trees, assigned, plans)
    rows.sort(key=_order)
    names = ["round_number", "provider", "beneficiary", "coupon_amount", "expected", "actual", "outcome"]
    table = pd.DataFrame(rows, columns=names)
    values: dict[str, Any] = {name: table[name] for name in ("provider", "beneficiary", "outcome")}
    values["round_number"] = pd.array(table["round_number"].tolist(), "Int64")
    for name in ("coupon_amount", "expected", "actual"):
        values[name] = amounts(None if pd.isna(value) else value for value in table[name])
    is_known = table["coupon_amount"].notna()
    parts = zip(table["actual"], table["expected"], is_known, strict=True)
    values["difference"] = amounts(
        (actual or Decimal(0)) - (expected or Decimal(0)) if is_known else None for actual, expected, is_known in parts
    )
    known = float(is_known.mean()) if len(table) else np.nan
    return SPLIT.build(frames, values | {"coverage": known})


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["round_number"] is None, row["round_number"] or 0, str(row["provider"]), str(row["beneficiary"])


Payload = dict[str, Any]
Plans = dict[str, list[tuple[int, dict[str, Decimal]]]]  # of each provider: since when, and the percentages


def _plans(configured: pd.DataFrame | None) -> Plans:
    if configured is None:
        return {}
    needed = ["provider", "beneficiary", "percentage", "valid_from"]
    require_columns(configured, needed, f"configured= must be a DataFrame with the columns {', '.join(needed)}")
    valid_from = pd.to_datetime(configured["valid_from"], utc=True, errors="coerce", format="mixed")
    unreadable = configured["valid_from"][valid_from.isna()]
    if len(unreadable):
        raise UsageError(f"configured= must have times in valid_from, got {unreadable.iloc[0]!r}.")
    times = microseconds(valid_from.dt.as_unit("us"))
    plans: defaultdict[tuple[str, int], dict[str, Decimal]] = defaultdict(dict)
    for provider, party, percentage, time in zip(*(configured[name] for name in needed[:3]), times, strict=True):
        share = to_decimal(str(percentage))
        if share is None:
            raise UsageError(f"configured= must have percentages of at most 10 places, got {percentage!r}.")
        plans[provider, int(time)][party] = share
    result: Plans = {}
    for (provider, time), shares in sorted(plans.items()):
        if sum(shares.values()) != 1:
            raise UsageError(f"configured= must have percentages of {provider} that add up to 1, got {sum(shares.values())}.")
        result.setdefault(provider, []).append((time, shares))
    return result


def _plan_at(plans: Plans, provider: str, time: int) -> dict[str, Decimal] | None:
    valid = [shares for since, shares in plans.get(provider, ()) if since <= time]
    return valid[-1] if valid else None


def _assignment_rows(node: Node, trees: Trees, plans: Plans) -> list[dict[str, Any]]:
    """Return the parts of the coupon of an assignment, and of each additional coupon."""
    additional = node.argument.get("additionalCoupons") or []
    creates = [trees.creates.get(str(contract)) for contract in (node.contract_id, *additional)]
    coupons = [create.payload if create else {} for create in creates]
    parts: defaultdict[tuple[Any, Any], list[Decimal | None]] = defaultdict(list)
    for child in node.children:
        if not child.choice and child.template == COUPON:
            key = (child.payload.get("beneficiary"), round_of(child.payload))
            parts[key].append(to_decimal(child.payload.get("amount")))
    shares = {
        str(share.get("beneficiary")): to_decimal(share.get("percentage"))
        for share in node.argument.get("newBeneficiaries") or []
    }
    return [row for coupon in coupons for row in _coupon_rows(coupon, node.time, parts, shares, plans)]


def _coupon_rows(coupon: Payload, time: int, parts: Any, shares: dict[str, Decimal | None], plans: Plans) -> list[dict[str, Any]]:
    number, amount, plan = round_of(coupon), to_decimal(coupon.get("amount")), _plan_at(plans, str(coupon.get("provider")), time)
    rows = []
    for party in sorted({*shares, *(plan or {})}):
        created = parts[party, number]
        actual = created.pop(0) if party in shares and created else None
        percentage = (shares if plan is None else plan).get(party)
        expected = None if amount is None or percentage is None else multiply(amount, percentage)
        outcome = None if amount is None else _outcome(party, shares, plan, is_equal=actual == expected)
        rows.append(_row(coupon, party, expected, actual, outcome))
    return rows


def _outcome(party: str, shares: dict[str, Decimal | None], plan: dict[str, Decimal] | None, *, is_equal: bool) -> str:
    if plan is None:
        return NO_CONFIGURATION
    if party not in shares:
        return MISSING
    if party not in plan:
        return UNKNOWN
    return AS_CONFIGURED if is_equal else OTHER


def _row(coupon: Payload, party: str, expected: Decimal | None, actual: Decimal | None, outcome: str | None) -> dict[str, Any]:
    return {
        "round_number": round_of(coupon),
        "provider": coupon.get("provider"),
        "beneficiary": party,
        "coupon_amount": to_decimal(coupon.get("amount")),
        "expected": expected,
        "actual": actual,
        "outcome": outcome,
    }


def _unassigned_rows(trees: Trees, assigned: list[Node], plans: Plans) -> list[dict[str, Any]]:
    """Return the coupons of configured providers that were redeemed or expired as a whole."""
    split = {str(each) for node in assigned for each in (node.contract_id, *(node.argument.get("additionalCoupons") or []))}
    rows = []
    for node in trees.nodes:
        if not (node.consuming and node.template == COUPON and node.is_own) or node.contract_id in split:
            continue
        coupon = trees.creates.get(node.contract_id)
        if coupon is None or member(coupon.payload, "beneficiary") or not (coupon.parent and coupon.parent.choice == PROCESS):
            continue
        provider = str(coupon.payload.get("provider"))
        if _plan_at(plans, provider, node.time) is not None:
            is_expired = node.is_below(*CLAIMS)
            actual = None if is_expired else to_decimal(coupon.payload.get("amount"))
            rows.append(_row(coupon.payload, provider, None, actual, EXPIRED if is_expired else NOT_ASSIGNED))
    return rows
