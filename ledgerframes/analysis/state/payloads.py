"""Payloads of the network's contracts, read by the names of their members."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
import pandas as pd

from ledgerframes.analysis._amounts import to_decimal
from ledgerframes.analysis.requests import PARTICIPANT_PREFIX
from ledgerframes.datasets.reference.build import member
from ledgerframes.errors import UsageError
from ledgerframes.values.windows import instant

GOVERNANCE = "splice-dso-governance"
DECODER = msgspec.json.Decoder(float_hook=str)  # no amount becomes a float
MAX_FACTOR = 10**9
Values = dict[str, Any]


def is_for_traffic(minting_version: object) -> bool:
    """Return whether a reward configuration mints for traffic."""
    return isinstance(minting_version, str) and "trafficbased" in minting_version.lower().replace("_", "")


def read_round(payload: Values) -> list[Values]:
    """Return the values of a mining round, or none if it has no number or time."""
    number, opens_at = whole(member(payload, "round", "number")), _time(payload.get("opensAt"))
    if number is None or opens_at is None:
        return []
    issuance = member(payload, "issuanceConfig") or {}
    values = {
        "round_number": number,
        "opens_at": opens_at,
        "coin_price": to_decimal(payload.get("coinPrice")),
        "traffic_price": to_decimal(payload.get("trafficPrice")),
        "tick_duration": _duration(member(payload, "tickDuration", "microseconds")),
        "coin_per_year": to_decimal(member(issuance, "coinToIssuePerYear")),
        "app_share": to_decimal(member(issuance, "appRewardPercentage")),
        "development_share": to_decimal(member(issuance, "optDevelopmentFundPercentage")),
        "featured_cap": to_decimal(member(issuance, "featuredAppRewardCap")),
    }
    return [values | _rewards(payload.get("rewardConfig"))]


def read_right(payload: Values) -> list[Values]:
    """Return the values of a featured right, or none if its party or factor is invalid."""
    party, weight = payload.get("provider"), payload.get("activityWeight")
    factor = Decimal(1) if weight is None else to_decimal(weight)
    if not isinstance(party, str) or factor is None or not 0 <= factor <= MAX_FACTOR:
        return []
    return [{"party": party, "weight": factor}]


def read_validators(payload: Values) -> list[Values]:
    """Return the values of each super validator in the network's rules."""
    pairs = payload.get("svs")
    return [
        {
            "party": pair[0],
            "name": _text(member(pair[1], "name")),
            "participant": _text(member(pair[1], "participantId"), prefix=PARTICIPANT_PREFIX),
            "reward_weight": whole(member(pair[1], "svRewardWeight")),
            "joined_round": whole(member(pair[1], "joinedAsOfRound", "number")),
        }
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
    ]


def read_rules(payload: Values) -> list[Values]:
    """Return the values of the network's traffic and reward rules."""
    current = member(payload, "configSchedule", "initialValue")
    if not isinstance(current, dict):
        return []
    fees = member(current, "decentralizedSynchronizer", "fees")
    limits = member(fees, "baseRateTrafficLimits")
    values = {
        "traffic_price": to_decimal(member(fees, "extraTrafficPrice")),
        "min_topup": whole(member(fees, "minTopupAmount")),
        "burst_amount": whole(member(limits, "burstAmount")),
        "burst_window": _duration(member(limits, "burstWindow", "microseconds")),
    }
    return [values | _rewards(current.get("rewardConfig"))]


def _rewards(rewards: object) -> Values:
    threshold = to_decimal(member(rewards, "appRewardCouponThreshold"))
    return {"minting_version": _text(member(rewards, "mintingVersion")), "reward_threshold": threshold}


def decoded(text: object, coin: str) -> Any:
    """Return a payload with neutral names of members, or None if it cannot be read."""
    if not isinstance(text, str):
        return None
    if coin not in ("", "coin"):
        word = re.escape(coin)
        text = re.sub(rf'"(\w*)({word}|{word.capitalize()})(\w*)"(\s*):', lambda match: _renamed(match, coin), text)
    try:
        return DECODER.decode(text)
    except msgspec.DecodeError:
        return None


def _renamed(match: re.Match[str], coin: str) -> str:
    word = "coin" if match[2] == coin else "Coin"
    return f'"{match[1]}{word}{match[3]}"{match[4]}:'


def list_of(parties: Any) -> list[str]:
    """Return the parties in a column of lists, which are none where the list is missing."""
    return [] if parties is None or isinstance(parties, float) else [str(party) for party in parties]


def whole(value: object) -> int | None:
    """Return a value as a whole number, or None if it is not one."""
    return int(str(value)) if isinstance(value, str | int) and re.fullmatch(r"-?\d{1,18}", str(value)) else None


def _text(value: object, prefix: str = "") -> str | None:
    return value.removeprefix(prefix) if isinstance(value, str) else None


def _duration(value: object) -> pd.Timedelta | None:
    number = whole(value)
    return None if number is None else pd.Timedelta(number, "us")


def _time(value: object) -> datetime | None:
    try:
        return instant(value) if isinstance(value, str) else None
    except UsageError:
        return None
