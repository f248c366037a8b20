"""The table of transfer offers made with this library."""

from __future__ import annotations

from ledgerframes.datasets.schema import AMOUNT, CHOICE, INTEGER, TEXT, TIME, Column, Table

OFFER = "docs/facts.md#transfer-offers"
STATUS = "docs/facts.md#wallet-api"
JOURNAL = "journal of offers"

OFFER_STATUSES = ("pending", "created", "accepted", "completed", "failed", "refused", "lapsed")
FAILURE_KINDS = ("expired", "rejected", "withdrawn")

TRANSFER_OFFERS = Table(
    name="transfer_offers",
    row_description="transfer offer made with this library",
    reference=OFFER,
    family="transfer_offers",
    key=("tracking_id",),
    sort=("recorded_at", "tracking_id"),
    columns=(
        Column("tracking_id", TEXT, "Id under which the offer is created exactly once."),
        Column(
            "status",
            CHOICE,
            "State on the wallet, or pending (not confirmed), refused by the wallet, or lapsed (expired before it was made).",
            STATUS,
            values=OFFER_STATUSES,
        ),
        Column("receiver_party_id", TEXT, "Party id of the receiver."),
        Column("amount", AMOUNT, "Amount offered.", unit="coin"),
        Column("description", TEXT, "Purpose that the receiver reads."),
        Column("expires_at", TIME, "Expiry in ledger time, which may differ from wall-clock time."),
        Column(
            "contract_id", TEXT, "Contract of the last known state.", STATUS, missing="if the wallet has not confirmed the offer"
        ),
        Column(
            "transaction_id",
            TEXT,
            "Update id of the last known state.",
            STATUS,
            missing="if the wallet has not confirmed the offer",
        ),
        Column("failure_kind", CHOICE, "Kind of failure.", STATUS, missing="if the offer has not failed", values=FAILURE_KINDS),
        Column("withdrawn_reason", TEXT, "Reason of a withdrawal.", STATUS, missing="if the offer was not withdrawn"),
        Column(
            "attempt_count",
            INTEGER,
            "Number of HTTP requests that were sent for the offer, with or without a response.",
            JOURNAL,
            unit="requests",
        ),
        Column("recorded_at", TIME, "Time at which the offer was recorded, before the first HTTP request.", JOURNAL),
        Column("first_sent_at", TIME, "Time of the first HTTP request.", JOURNAL, missing="if none was sent"),
        Column(
            "last_checked_at", TIME, "Time of the last status response from the wallet.", JOURNAL, missing="if there was none"
        ),
        Column("last_failure", TEXT, "Class and status of the last failed HTTP request.", JOURNAL, missing="if none failed"),
    ),
)
