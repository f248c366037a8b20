"""Tables of reference data. Services return only its latest state.

Each table has one row per contract and observation.
"""

from __future__ import annotations

from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.schema import AMOUNT, FLAG, INTEGER, JSON, TEXT, TIME, Column, Table

CONTRACT = "docs/facts.md#contract-object"
VOTES_AND_RULES = "docs/facts.md#name-rules-and-price-votes"

OBSERVED_AT = Column("observed_at", TIME, "Time of the observation.", "docs/architecture.md#tables")
IDENTITY_COLUMNS = (OBSERVED_AT, history.CONTRACT_ID, history.TEMPLATE_ID, history.PACKAGE_ID, history.TEMPLATE_NAME)
SYNCHRONIZER_ID = Column(
    "synchronizer_id",
    TEXT,
    "Synchronizer of the contract.",
    "docs/facts.md#network-words",
    missing="if it is not sent",
    from_field="domain_id",
    former_names=("domain_id",),
)
CONTENT_COLUMNS = (
    Column("created_at", TIME, "Ledger effective time of the contract's creation.", CONTRACT),
    Column("payload", JSON, "Payload of the contract.", CONTRACT, unit="JSON"),
    Column("created_event_blob", TEXT, "Base64 for explicit disclosure.", CONTRACT, missing="if it is not sent"),
    history.unknown_members("contract"),
)

PRICE_VOTES = Table(
    name="price_votes",
    row_description="vote on the coin price at an observation",
    reference=VOTES_AND_RULES,
    family="price_votes",
    key=("contract_id", "observed_at"),
    sort=("observed_at", "sv", "contract_id"),
    columns=(
        *IDENTITY_COLUMNS,
        Column("sv", TEXT, "Super validator that votes. Each has one contract, whose id changes with each vote."),
        Column("dso", TEXT, "Party of all operators of the network together.", missing="if the payload has none"),
        Column(
            "price",
            AMOUNT,
            "Price that was voted for.",
            "docs/facts.md#price-vote-without-price",
            missing="if the super validator has not voted",
            unit="USD per coin",
        ),
        Column("last_updated_at", TIME, "Time of the vote.", missing="if the payload has none"),
        *CONTENT_COLUMNS,
    ),
)

NAME_RULES = Table(
    name="name_rules",
    row_description="name-service rules contract at an observation",
    reference=VOTES_AND_RULES,
    family="name_rules",
    key=("contract_id", "observed_at"),
    sort=("observed_at", "contract_id"),
    columns=(
        *IDENTITY_COLUMNS,
        SYNCHRONIZER_ID,
        Column("cache_hit", FLAG, "Whether the service reported no change since the observation before."),
        Column("dso", TEXT, "Party of all operators of the network together.", missing="if the payload has none"),
        Column("entry_fee", AMOUNT, "Fee of an entry.", missing="if the payload has none", unit="USD"),
        Column(
            "renewal_duration",
            INTEGER,
            "Time before the end of an entry from which it can be renewed.",
            missing="if the payload has none",
            unit="microseconds",
        ),
        Column("entry_lifetime", INTEGER, "Lifetime of an entry.", missing="if the payload has none", unit="microseconds"),
        *CONTENT_COLUMNS,
    ),
)
