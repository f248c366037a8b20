"""The split of rewards among beneficiaries."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts, multiply, to_decimal
from ledgerframes.analysis.arguments import Snapshot, require_columns
from ledgerframes.analysis.economy.network import Network, read_network, require_all_updates, round_of
from ledgerframes.analysis.groups import microseconds
from ledgerframes.datasets.reference.build import member
from ledgerframes.datasets.templates import REWARD_COUPON
from ledgerframes.engine import Query, Relation
from ledgerframes.engine.coin_exercises import UNHIDE
from ledgerframes.engine.coupons import PARENTS
from ledgerframes.engine.literals import quoted
from ledgerframes.engine.nodes import CONTRACTS, NODES, exercises, nodes_of, payloads_above
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

AS_CONFIGURED, OTHER = "as configured", "other percentages"
NOT_ASSIGNED, MISSING = "not assigned (provider keeps it)", "missing beneficiary"
UNKNOWN, EXPIRED, NO_CONFIGURATION = "unknown beneficiary", "expired", "no configuration"
ASSIGNMENTS = exercises("assignments", "choice = 'RewardCoupon_AssignBeneficiaries'")
ARCHIVALS = exercises("archivals_of_coupons", f"is_consuming AND template = {quoted(REWARD_COUPON)}")
ASSIGNING = nodes_of("assigning", "One row per exercise of the network's packages.", is_create=False)
ASSIGNED_COUPONS = Relation(
    "assigned_coupons",
    "One row per coupon of an assignment of beneficiaries, starting with the one on which it is exercised.",
    """
    SELECT
        assignments.* EXCLUDE (coupon_ids),
        contracts.create_arguments
    FROM contracts
    -- The engine keeps the right side of a join, which has few rows.
    RIGHT JOIN (
        SELECT *, unnest(coupon_ids) AS coupon_id, generate_subscripts(coupon_ids, 1) AS position
        FROM (
            SELECT migration_id, record_time, update_id, node_index, choice_argument,
                [contract_id] || coalesce(TRY(json_extract_string(choice_argument, '$.additionalCoupons[*]')), []) AS coupon_ids
            FROM assignments
        )
    ) AS assignments ON contracts.contract_id = coupon_id
    """,
    relations=(ASSIGNMENTS, CONTRACTS),
)
PARTS = Relation(
    "parts",
    "One row per coupon that is created in an update with an assignment of beneficiaries.",
    f"""
    SELECT update_id, node_index, depth, create_arguments
    FROM nodes
    WHERE choice = '' AND template = {quoted(REWARD_COUPON)}
        AND update_id IN (SELECT update_id FROM assigning WHERE choice = 'RewardCoupon_AssignBeneficiaries')
    """,
    relations=(NODES, ASSIGNING),
    is_materialized=True,
)
ABOVE_PARTS = payloads_above(PARTS)
SPLIT = declare.Figure(
    "economy.reward_split",
    caption="Rewards by beneficiary",
    rows="One row per coupon and beneficiary; sorted by round, provider and beneficiary.",
    main_columns=("round_number", "outcome", "expected", "actual", "difference", "provider", "beneficiary"),
    columns=(
        declare.integer("round_number", "Round of the coupon. Missing if it is unknown."),
        declare.text("provider", "App provider that earned the coupon. Missing if it is unknown."),
        declare.text("beneficiary", "Party that gets a part of the coupon. Missing if it is unknown."),
        declare.amount("coupon_amount", "Amount of the whole coupon. Missing if unknown.", "coin"),
        declare.amount(
            "expected", "Configured part, or the assigned part without a configuration. Missing if there is none.", "coin"
        ),
        declare.amount("actual", "Amount of the part. Missing if there is no such part, or the coupon is unknown.", "coin"),
        declare.amount(
            "difference", "Actual minus expected part. A missing part counts as 0. Missing where `coupon_amount` is.", "coin"
        ),
        declare.label("outcome", "Whether the part is as configured, or why not. Missing where `coupon_amount` is."),
    ),
    condition="with a known coupon amount",
    unit="rows of this result",
    queries=lambda frames, configured, base: _queries_of_splits(read_network(frames, base)),
)


@SPLIT.register
def reward_split(frames: Frames, *, configured: pd.DataFrame | None = None, base: Snapshot | None = None) -> pd.DataFrame:
    """Return how coupons were split among beneficiaries, compared with the configuration.

    Parameters
    ----------
    frames : Frames
        With all updates of a time, so load them by time and without a filter.
    configured : DataFrame, optional
        Columns ``provider``, ``beneficiary``, ``percentage`` (from 0 to 1) and ``valid_from``. For each provider, the newest
        valid configuration counts.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per coupon and beneficiary; sorted by round, provider and beneficiary.

        Columns:

        - ``round_number`` (Int64): Round of the coupon. Missing if it is unknown.
        - ``provider`` (str): App provider that earned the coupon. Missing if it is unknown.
        - ``beneficiary`` (str): Party that gets a part of the coupon. Missing if it is unknown.
        - ``coupon_amount`` (decimal128(38, 10)[pyarrow], coin): Amount of the whole coupon. Missing if unknown.
        - ``expected`` (decimal128(38, 10)[pyarrow], coin): Configured part, or the assigned part without a configuration.
          Missing if there is none.
        - ``actual`` (decimal128(38, 10)[pyarrow], coin): Amount of the part. Missing if there is no such part, or the coupon is
          unknown.
        - ``difference`` (decimal128(38, 10)[pyarrow], coin): Actual minus expected part. A missing part counts as 0. Missing
          where `coupon_amount` is.
        - ``outcome`` (category): Whether the part is as configured, or why not. Missing where `coupon_amount` is.
        - ``coverage`` (float64, share of 1): Share of the rows of this result with a known coupon amount. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the frames have only a part of the updates of their time.
    UsageError
        If `configured` misses a column or an id, has a beneficiary twice in a configuration, or its percentages are not from 0
        to 1 or do not add up to 1.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. Only coupons of traffic-based rewards have rows. A part is the amount times the
    percentage, rounded half to even to 10 places. With `configured`, a coupon that ends unassigned also has a row. All its
    values are missing if it was created before the frames and is not in `base`.

    Picture, by :func:`ledgerframes.plot`: Two bars per provider [coin], divided into the parts of its beneficiaries:
    expected above, actual below.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> set(lf.economy.reward_split(frames)["outcome"]) <= {"no configuration"}
    True
    """
    SPLIT.check(frames)
    require_all_updates(frames, SPLIT.name)
    plans = _plans(configured)
    network = read_network(frames, base)
    rows = [*_assignment_rows(network, plans), *_unassigned_rows(network, plans)]
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
Shares = dict[str, list[Decimal | None]]  # percentages of each party in an assignment
Plans = dict[str, list[tuple[int, dict[str, Decimal]]]]  # for each provider: the start of each configuration, and its percentages


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
        if share is None or not 0 <= share <= 1:
            raise UsageError(f"configured= must have percentages from 0 to 1 with at most 10 places, got {percentage!r}.")
        for name, value in (("provider", provider), ("beneficiary", party)):
            if not isinstance(value, str) or not value:
                raise UsageError(f"configured= must have a party in each row of {name}, got {value!r}.")
        plan = plans[provider, int(time)]
        if party in plan:
            raise UsageError(f"configured= has {party!r} twice in a configuration of {provider}. Pass it once.")
        plan[party] = share
    result: Plans = {}
    for (provider, time), shares in sorted(plans.items()):
        if sum(shares.values()) != 1:
            raise UsageError(f"configured= must have percentages of {provider} that add up to 1, got {sum(shares.values())}.")
        result.setdefault(provider, []).append((time, shares))
    return result


def _plan_at(plans: Plans, provider: str, time: int) -> dict[str, Decimal] | None:
    valid = [shares for since, shares in plans.get(provider, ()) if since <= time]
    return valid[-1] if valid else None


def _assignment_rows(network: Network, plans: Plans) -> list[dict[str, Any]]:
    """Return the parts of the coupon of each assignment, and of each additional coupon."""
    assignments = network.rows(_assignments_query(network))
    return [row for assignment in assignments for row in _rows_of_assignment(network, assignment, plans)]


def _queries_of_splits(network: Network) -> list[Query]:
    return [_unassigned_query(network), _assignments_query(network)]


def _assignments_query(network: Network) -> Query:
    """Return the query of assignments, with the coupons and the parts below."""
    select = """
SELECT epoch_us(record_time) AS time, choice_argument, coupons, parts
FROM (
    SELECT
        migration_id,
        record_time,
        update_id,
        node_index,
        any_value(choice_argument) AS choice_argument,
        list(create_arguments ORDER BY position) AS coupons
    FROM assigned_coupons
    GROUP BY ALL
)
LEFT JOIN (
    SELECT update_id, parent_index AS node_index, list(create_arguments ORDER BY parts.node_index) AS parts
    FROM parts
    JOIN (
        SELECT update_id, node_index, max(above_index) AS parent_index
        FROM payloads_above_parts
        GROUP BY update_id, node_index
    ) USING (update_id, node_index)
    GROUP BY update_id, parent_index
) USING (update_id, node_index)
ORDER BY migration_id, record_time, update_id, node_index"""
    return network.query(select, ASSIGNED_COUPONS, PARTS, ABOVE_PARTS)


def _rows_of_assignment(network: Network, assignment: dict[str, Any], plans: Plans) -> list[dict[str, Any]]:
    parts: defaultdict[tuple[Any, Any], list[Decimal | None]] = defaultdict(list)
    for text in assignment["parts"] or []:
        part = network.members(text)
        parts[part.get("beneficiary"), round_of(part)].append(to_decimal(part.get("amount")))
    shares: defaultdict[str, list[Decimal | None]] = defaultdict(list)  # A party can be named several times.
    for share in network.members(assignment["choice_argument"]).get("newBeneficiaries") or []:
        shares[str(share.get("beneficiary"))].append(to_decimal(share.get("percentage")))
    coupons = map(network.members, assignment["coupons"])
    return [row for coupon in coupons for row in _coupon_rows(coupon, assignment["time"], parts, shares, plans)]


def _coupon_rows(coupon: Payload, time: int, parts: Any, shares: Shares, plans: Plans) -> list[dict[str, Any]]:
    number, amount, plan = round_of(coupon), to_decimal(coupon.get("amount")), _plan_at(plans, str(coupon.get("provider")), time)
    rows = []
    for party in sorted({*shares, *(plan or {})}):
        assigned = shares.get(party, [])
        created = [parts[party, number].pop(0) for _ in assigned if parts[party, number]]
        actual = _sum(created)
        percentages = assigned if plan is None else [plan.get(party)]
        expected = _sum([None if amount is None or each is None else multiply(amount, each) for each in percentages])
        outcome = None if amount is None else _outcome(party, shares, plan, is_equal=actual == expected)
        rows.append(_row(coupon, party, expected, actual, outcome))
    return rows


def _sum(amounts: list[Decimal | None]) -> Decimal | None:
    """Return the sum of the amounts of a party, or None if there are none or one is unknown."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(amounts) else None


def _outcome(party: str, shares: Shares, plan: dict[str, Decimal] | None, *, is_equal: bool) -> str:
    if plan is None:
        return NO_CONFIGURATION
    if party not in shares:
        return MISSING
    if party not in plan:
        return UNKNOWN
    return AS_CONFIGURED if is_equal else OTHER


def _row(
    coupon: Payload, party: str | None, expected: Decimal | None, actual: Decimal | None, outcome: str | None
) -> dict[str, Any]:
    return {
        "round_number": round_of(coupon),
        "provider": coupon.get("provider"),
        "beneficiary": party,
        "coupon_amount": to_decimal(coupon.get("amount")),
        "expected": expected,
        "actual": actual,
        "outcome": outcome,
    }


def _unassigned_rows(network: Network, plans: Plans) -> list[dict[str, Any]]:
    """Return the coupons of configured or unknown providers that ended without a split."""
    rows: list[dict[str, Any]] = []
    for archived in network.rows(_unassigned_query(network)) if plans else ():
        if archived["create_arguments"] is None:
            rows.append(_row({}, None, None, None, None))
            continue
        coupon = network.members(archived["create_arguments"])
        provider = str(coupon.get("provider"))
        if not member(coupon, "beneficiary") and _plan_at(plans, provider, archived["time"]) is not None:
            outcome = EXPIRED if archived["is_expired"] else NOT_ASSIGNED
            actual = None if archived["is_expired"] else to_decimal(coupon.get("amount"))
            rows.append(_row(coupon, provider, None, actual, outcome))
    return rows


def _unassigned_query(network: Network) -> Query:
    """Return the query of coupons that were archived without ever being assigned."""
    select = f"""
SELECT
    epoch_us(archived.record_time) AS time,
    archived.create_arguments,
    coalesce(is_claimed, false) AS is_expired
FROM archivals_of_coupons AS archived
LEFT JOIN parents USING (update_id, node_index)
ANTI JOIN assigned_coupons ON assigned_coupons.coupon_id = archived.contract_id
-- A coupon that is created again has not ended.
WHERE parent_choice IS DISTINCT FROM {quoted(UNHIDE)}
ORDER BY archived.migration_id, archived.record_time, archived.update_id, archived.node_index"""
    return network.query(select, ARCHIVALS, PARENTS, ASSIGNED_COUPONS)
