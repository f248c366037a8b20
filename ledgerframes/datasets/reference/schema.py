"""Tables of reference data: only the latest state is served, so snapshots are kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa

from ledgerframes.datasets._arrays import split_template_ids, times
from ledgerframes.datasets._schema import AMOUNT, FLAG, INTEGER, JSON, TEXT, TIME, Column, Table
from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.reference.wire import Contract
from ledgerframes.errors import DecodeError

CONTRACT = "docs/facts.md#contract-object"
VOTES = "docs/facts.md#name-rules-and-price-votes"
RULES = "docs/facts.md#name-rules-and-price-votes"

OBSERVED_AT = Column("observed_at", TIME, "When the snapshot was taken.", "docs/architecture.md#tables", unit="UTC, microseconds")
CREATED_EVENT_BLOB = Column("created_event_blob", TEXT, "Base64, for explicit disclosure.", CONTRACT, nullable=True)
CREATED_AT = Column("created_at", TIME, "Ledger effective time of the contract's creation.", CONTRACT, unit="UTC, microseconds")
PAYLOAD = Column("payload", JSON, "The contract's payload, as JSON text.", CONTRACT)
CONTRACT_COLUMNS = (OBSERVED_AT, history.CONTRACT_ID, history.TEMPLATE_ID, history.PACKAGE_ID, history.TEMPLATE_NAME)

PRICE_VOTES = Table(
    name="price_votes",
    row_description="vote on the coin price at a snapshot",
    family="price_votes",
    key=("contract_id", "observed_at"),
    sort=("observed_at", "sv", "contract_id"),
    columns=(
        *CONTRACT_COLUMNS,
        Column("sv", TEXT, "Super validator that votes; one contract each, with a new id at each vote.", VOTES),
        Column("dso", TEXT, "Party of the network's operators together.", VOTES, nullable=True),
        Column(
            "price",
            AMOUNT,
            "Price voted for; missing until one has voted.",
            "docs/facts.md#price-vote-without-price",
            nullable=True,
            unit="USD per coin",
        ),
        Column("last_updated_at", TIME, "When the vote was cast.", VOTES, nullable=True, unit="UTC, microseconds"),
        CREATED_AT,
        PAYLOAD,
        CREATED_EVENT_BLOB,
    ),
)

NAME_RULES = Table(
    name="name_rules",
    row_description="name-service rules contract at a snapshot",
    family="name_rules",
    key=("contract_id", "observed_at"),
    sort=("observed_at", "contract_id"),
    columns=(
        *CONTRACT_COLUMNS,
        Column("domain_id", TEXT, "Synchronizer of the contract.", RULES, nullable=True),
        Column("cache_hit", FLAG, "Whether the service said that nothing has changed since the snapshot before.", RULES),
        Column("dso", TEXT, "Party of the network's operators together.", RULES, nullable=True),
        Column("entry_fee", AMOUNT, "Fee of an entry.", RULES, nullable=True, unit="USD"),
        Column("renewal_duration", INTEGER, "How long before its end one can renew.", RULES, nullable=True, unit="microseconds"),
        Column("entry_lifetime", INTEGER, "How long an entry lasts.", RULES, nullable=True, unit="microseconds"),
        CREATED_AT,
        PAYLOAD,
        CREATED_EVENT_BLOB,
    ),
)


def price_vote_table(contracts: Sequence[Contract], observed_at: datetime, coin: str) -> pa.Table:
    """Build the rows of one snapshot of price votes.

    Parameters
    ----------
    contracts : sequence of Contract
    observed_at : datetime
    coin : str
        The network's word for its coin, which names the price in the payload.

    Raises
    ------
    DecodeError
        If a payload is not that of a vote.
    """
    contracts = sorted(contracts, key=lambda contract: contract.contract_id)
    payloads = [_payload(contract) for contract in contracts]
    rows = PRICE_VOTES.from_arrays(
        {
            **_contract_columns(contracts, observed_at),
            "sv": pa.array([_text(payload, "sv") for payload in payloads], TEXT),
            "dso": pa.array([_text(payload, "dso") for payload in payloads], TEXT),
            "price": amounts([_text(payload, f"{coin}Price") for payload in payloads], f"{coin}Price"),
            "last_updated_at": times([_text(payload, "lastUpdatedAt") for payload in payloads], "lastUpdatedAt"),
        }
    )
    return PRICE_VOTES.sorted(rows)


def name_rules_table(contract: Contract, domain_id: str | None, observed_at: datetime, *, cache_hit: bool) -> pa.Table:
    """Build the row of one snapshot of the name-service rules."""
    payload = _payload(contract)
    config = payload.get("config")
    config = config if isinstance(config, dict) else {}
    return NAME_RULES.from_arrays(
        {
            **_contract_columns([contract], observed_at),
            "domain_id": pa.array([domain_id], TEXT),
            "cache_hit": pa.array([cache_hit], FLAG),
            "dso": pa.array([_text(payload, "dso")], TEXT),
            "entry_fee": amounts([_text(config, "entryFee")], "entryFee"),
            "renewal_duration": pa.array([_microseconds(config, "renewalDuration")], INTEGER),
            "entry_lifetime": pa.array([_microseconds(config, "entryLifetime")], INTEGER),
        }
    )


def amounts(texts: Sequence[str | None], member: str) -> pa.Array:
    """Numeric texts as decimals, exactly; zero may be written `0E-10` (docs/facts.md#decimal-texts).

    Raises
    ------
    DecodeError
        If one of them is not a number of at most ten places.
    """
    try:
        return pa.array(texts, TEXT).cast(AMOUNT)
    except pa.ArrowInvalid as error:
        raise DecodeError(f"A value of {member} is not an amount: {error}.", json_path=f"$..{member}") from error


def _contract_columns(contracts: Sequence[Contract], observed_at: datetime) -> dict[str, pa.Array]:
    template_ids = pa.array([contract.template_id for contract in contracts], TEXT)
    package_ids, template_names = split_template_ids(template_ids)
    return {
        "observed_at": pa.array([observed_at] * len(contracts), TIME),
        "contract_id": pa.array([contract.contract_id for contract in contracts], TEXT),
        "template_id": template_ids,
        "package_id": package_ids,
        "template_name": template_names,
        "created_at": times([contract.created_at for contract in contracts], "created_at"),
        "payload": pa.array([bytes(contract.payload).decode() for contract in contracts], TEXT),
        "created_event_blob": pa.array([contract.created_event_blob for contract in contracts], TEXT),
    }


def _payload(contract: Contract) -> dict[str, Any]:
    try:
        payload = msgspec.json.decode(contract.payload)
    except msgspec.DecodeError:
        payload = None
    if not isinstance(payload, dict):
        raise DecodeError(f"The payload of contract {contract.contract_id} is not an object.", json_path="$..payload")
    return payload


def _text(payload: dict[str, Any], member: str) -> str | None:
    value = payload.get(member)
    return None if value is None else str(value)


def _microseconds(payload: dict[str, Any], member: str) -> int | None:
    """A duration as the contract language writes it."""
    duration = payload.get(member)
    text = str(duration.get("microseconds", "")) if isinstance(duration, dict) else ""
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None
