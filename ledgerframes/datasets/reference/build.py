"""Tables of reference data from contracts of the history API."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa

from ledgerframes.datasets._columns import StructColumns
from ledgerframes.datasets.arrays import MAX_SHOWN, parse_amounts, parse_timestamps, split_template_ids
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.reference.schema import NAME_RULES, PRICE_VOTES
from ledgerframes.datasets.reference.wire import Contract
from ledgerframes.datasets.schema import TEXT
from ledgerframes.errors import DecodeError


@decode_boundary()
def price_vote_table(contracts: Sequence[Contract], observed_at: datetime, coin: str) -> pa.Table:
    """Build the table of one observation of price votes.

    `coin` is the network's word for its coin, which names the price in the payload.

    Raises
    ------
    DecodeError
        If a payload is not that of a vote.
    """
    payloads = [payload_of(contract) for contract in contracts]
    columns = StructColumns.from_structs(Contract, contracts)
    rows = columns.to_table(
        PRICE_VOTES,
        {
            "observed_at": observed_at,
            **split_template_ids(columns["template_id"]),
            "sv": texts_of(payloads, "sv"),
            "dso": texts_of(payloads, "dso"),
            "price": parse_amounts(texts_of(payloads, f"{coin}Price"), f"{coin}Price"),
            "last_updated_at": parse_timestamps(texts_of(payloads, "lastUpdatedAt"), "lastUpdatedAt"),
        },
    )
    return PRICE_VOTES.sorted(rows)


@decode_boundary()
def name_rules_table(contract: Contract, synchronizer_id: str | None, observed_at: datetime, *, cache_hit: bool) -> pa.Table:
    """Build the table of one observation of the name-service rules.

    Raises
    ------
    DecodeError
        If the payload is not that of rules.
    """
    payload = payload_of(contract)
    config = payload.get("config") or {}
    if not isinstance(config, dict):
        raise DecodeError(f"The config of contract {contract.contract_id} is not an object.", json_path="$..config")
    columns = StructColumns.from_structs(Contract, [contract])
    return columns.to_table(
        NAME_RULES,
        {
            "observed_at": observed_at,
            **split_template_ids(columns["template_id"]),
            "synchronizer_id": [synchronizer_id],
            "cache_hit": cache_hit,
            "dso": texts_of([payload], "dso"),
            "entry_fee": parse_amounts(texts_of([config], "entryFee"), "entryFee"),
            "renewal_duration": [_microseconds(config, "renewalDuration")],
            "entry_lifetime": [_microseconds(config, "entryLifetime")],
        },
    )


def payload_of(contract: Contract) -> dict[str, Any]:
    """Return the payload of a contract, which must be an object."""
    try:
        payload = msgspec.json.decode(contract.payload)
    except msgspec.DecodeError:
        payload = None
    if not isinstance(payload, dict):
        raise DecodeError(f"The payload of contract {contract.contract_id} is not an object.", json_path="$..payload")
    return payload


def member(value: object, *names: str) -> Any:
    """Return a nested member by its names, or None if one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def texts_of(payloads: Sequence[dict[str, Any]], name: str) -> pa.Array:
    """Return a member of payloads as texts."""
    values = [payload.get(name) for payload in payloads]
    return pa.array([None if value is None else str(value) for value in values], TEXT)


def whole_number(value: object, member: str) -> int | None:
    """Return a whole number that is sent as such or as text, None if it is missing."""
    if value is None:
        return None
    if not re.fullmatch(r"-?\d{1,19}", str(value), re.ASCII):
        raise DecodeError(f"{member} is not a whole number, got {str(value)[:MAX_SHOWN]!r}.", json_path=f"$..{member}")
    return int(str(value))


def _microseconds(payload: dict[str, Any], member: str) -> int | None:
    """Return a duration in the form of the contract language, None if it is missing."""
    duration = payload.get(member)
    if duration is None:
        return None
    microseconds = duration.get("microseconds", duration) if isinstance(duration, dict) else duration
    return whole_number(microseconds, f"{member}.microseconds")
