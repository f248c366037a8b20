"""Payloads of the network's contracts, read by the names of their members."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import pandas as pd

from ledgerframes.analysis._amounts import to_decimal
from ledgerframes.analysis.state._lifetimes import Contract
from ledgerframes.errors import UsageError
from ledgerframes.windows import instant

MAX_FACTOR = 10**9
Values = dict[str, Any]


def is_for_traffic(minting_version: object) -> bool:
    """Return whether a reward configuration mints for traffic."""
    return isinstance(minting_version, str) and "trafficbased" in minting_version.lower().replace("_", "")


def read_round(contract: Contract) -> list[Values]:
    """Return the values of a mining round, none if it has no number or time."""
    payload = contract.payload
    number, opens_at = _integer(_member(payload, "round", "number")), _time(payload.get("opensAt"))
    if number is None or opens_at is None:
        return []
    issuance = _member(payload, "issuanceConfig") or {}
    values = {
        "round_number": number,
        "opens_at": opens_at,
        "coin_price": to_decimal(payload.get(f"{contract.coin}Price")),
        "traffic_price": to_decimal(payload.get("trafficPrice")),
        "tick_duration": _duration(_member(payload, "tickDuration", "microseconds")),
        "coin_per_year": to_decimal(_member(issuance, f"{contract.coin}ToIssuePerYear")),
        "app_share": to_decimal(_member(issuance, "appRewardPercentage")),
        "development_share": to_decimal(_member(issuance, "optDevelopmentFundPercentage")),
        "featured_cap": to_decimal(_member(issuance, "featuredAppRewardCap")),
    }
    return [values | _rewards(payload.get("rewardConfig"))]


def read_right(contract: Contract) -> list[Values]:
    """Return the values of a featured right, none without a party or with an invalid factor."""
    party, weight = contract.payload.get("provider"), contract.payload.get("activityWeight")
    factor = Decimal(1) if weight is None else to_decimal(weight)
    if not isinstance(party, str) or factor is None or not 0 <= factor <= MAX_FACTOR:
        return []
    return [{"party": party, "weight": factor}]


def read_validators(contract: Contract) -> list[Values]:
    """Return the values of each super validator in the network's rules."""
    pairs = contract.payload.get("svs")
    return [
        {
            "party": pair[0],
            "name": _text(_member(pair[1], "name")),
            "participant": _participant(_member(pair[1], "participantId")),
            "reward_weight": _integer(_member(pair[1], "svRewardWeight")),
            "joined_round": _integer(_member(pair[1], "joinedAsOfRound", "number")),
        }
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
    ]


def read_rules(contract: Contract) -> list[Values]:
    """Return the values of the network's traffic and reward rules."""
    current = _member(contract.payload, "configSchedule", "initialValue")
    if not isinstance(current, dict):
        return []
    fees = _member(current, "decentralizedSynchronizer", "fees")
    limits = _member(fees, "baseRateTrafficLimits")
    values = {
        "traffic_price": to_decimal(_member(fees, "extraTrafficPrice")),
        "min_topup": _integer(_member(fees, "minTopupAmount")),
        "burst_amount": _integer(_member(limits, "burstAmount")),
        "burst_window": _duration(_member(limits, "burstWindow", "microseconds")),
    }
    return [values | _rewards(current.get("rewardConfig"))]


def _rewards(rewards: object) -> Values:
    threshold = to_decimal(_member(rewards, "appRewardCouponThreshold"))
    return {"minting_version": _text(_member(rewards, "mintingVersion")), "reward_threshold": threshold}


def _member(value: object, *names: str) -> Any:
    """Return a member of members by name, None if one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _participant(value: object) -> str | None:
    return value.removeprefix("PAR::") if isinstance(value, str) else None


def _integer(value: object) -> int | None:
    is_integer = isinstance(value, str | int) and not isinstance(value, bool) and str(value).removeprefix("-").isdecimal()
    return int(str(value)) if is_integer and len(str(value)) < 19 else None


def _duration(value: object) -> pd.Timedelta | None:
    number = _integer(value)
    return None if number is None else pd.Timedelta(number, "us")


def _time(value: object) -> datetime | None:
    try:
        return instant(value) if isinstance(value, str) else None
    except UsageError:
        return None
