"""The table of transfer offers made here."""

from __future__ import annotations

from ledgerframes.datasets._schema import AMOUNT, CHOICE, INTEGER, TEXT, TIME, Column, Table

OFFER = "docs/facts.md#transfer-offers"
STATUS = "docs/facts.md#wallet-api"
JOURNAL = "journal of offers"
MICROSECONDS = "UTC, microseconds"

OFFER_STATUSES = ("pending", "created", "accepted", "completed", "failed", "refused", "lapsed")
FAILURE_KINDS = ("expired", "rejected", "withdrawn")

TRANSFER_OFFERS = Table(
    name="transfer_offers",
    row_description="transfer offer made here",
    family="transfer_offers",
    key=("tracking_id",),
    sort=("recorded_at", "tracking_id"),
    columns=(
        Column("tracking_id", TEXT, "Id under which the offer is made exactly once.", OFFER),
        Column(
            "status",
            CHOICE,
            "What the wallet says (created, accepted, completed, failed); pending while it is not known to exist, refused if the "
            "wallet refused it, lapsed if it expired before it was made.",
            STATUS,
            values=OFFER_STATUSES,
        ),
        Column("receiver_party_id", TEXT, "Party id of the receiver.", OFFER),
        Column("amount", AMOUNT, "Amount offered.", OFFER, unit="coin"),
        Column("description", TEXT, "Purpose, as the receiver reads it.", OFFER),
        Column(
            "expires_at",
            TIME,
            "Expiry, compared with ledger time, so it may skew from wall-clock time.",
            OFFER,
            unit=MICROSECONDS,
        ),
        Column(
            "contract_id",
            TEXT,
            "Contract of the last known state: the offer, the accepted offer, or what the transfer made.",
            STATUS,
            nullable=True,
        ),
        Column("transaction_id", TEXT, "Update id of the last known state.", STATUS, nullable=True),
        Column("failure_kind", CHOICE, "How a failed offer ended.", STATUS, nullable=True, values=FAILURE_KINDS),
        Column("withdrawn_reason", TEXT, "Reason given for a withdrawal.", STATUS, nullable=True),
        Column("attempt_count", INTEGER, "Requests sent for it, answered or not.", JOURNAL, unit="requests"),
        Column("recorded_at", TIME, "When it was written down, before the first request.", JOURNAL, unit=MICROSECONDS),
        Column("first_sent_at", TIME, "When its first request went out.", JOURNAL, nullable=True, unit=MICROSECONDS),
        Column("last_checked_at", TIME, "When the wallet last said how it fares.", JOURNAL, nullable=True, unit=MICROSECONDS),
        Column("last_failure", TEXT, "Class and status of the last failed request.", JOURNAL, nullable=True),
    ),
)
