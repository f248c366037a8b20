"""Tables of a participant's current state."""

from __future__ import annotations

from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.ledger import schema as ledger
from ledgerframes.datasets.schema import CHOICE, FLAG, INTEGER, JSON, SMALL, TEXT, TEXTS, TIME, Column, Table

STATE = "docs/facts.md#ledger-operations"

LEDGER_ACTIVE_CONTRACTS = Table(
    name="ledger_active_contracts",
    row_description="contract that is active, or on its way between synchronizers, at an offset",
    reference=STATE,
    family="ledger_state",
    key=("participant_id", "contract_id"),
    sort=("participant_id", "offset", "contract_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        Column("active_at_offset", INTEGER, "Offset at which the contract is active."),
        Column(
            "offset",
            INTEGER,
            "Offset of the last update that changed the contract's state, which need not be its creation.",
            "docs/facts.md#ledger-event-fields",
        ),
        Column(
            "contract_state",
            CHOICE,
            "State of the contract: active, or only one half of a reassignment has happened on this participant.",
            values=("active", "incomplete_assigned", "incomplete_unassigned"),
        ),
        Column("synchronizer_id", TEXT, "Synchronizer of the contract."),
        Column("reassignment_counter", INTEGER, "Number of unassignments of the contract so far."),
        Column(
            "workflow_id",
            TEXT,
            "Workflow id of the update, which identifies imported contracts.",
            "docs/facts.md#contracts-across-migrations",
            missing="if it is not sent",
        ),
        Column("node_id", SMALL, "Position of the event in the update.", missing="if it is not sent"),
        history.CONTRACT_ID,
        *history.TEMPLATE_COLUMNS,
        ledger.WITNESS_PARTIES,
        *ledger.CREATED_COLUMNS,
        history.unknown_members("contract"),
    ),
)

COMPLETIONS = Table(
    name="completions",
    row_description="completed or failed command",
    reference=STATE,
    family="ledger_state",
    key=("participant_id", "offset", "command_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        ledger.OFFSET,
        Column("command_id", TEXT, "Id of the command."),
        Column("status_code", SMALL, "gRPC code, 0 for success.", missing="if it is not sent", from_field="code"),
        Column("status_message", TEXT, "Text of the error.", missing="if it is not sent", from_field="message"),
        Column("update_id", TEXT, "Update that the command caused, or empty.", missing="if the command failed"),
        Column("user_id", TEXT, "User that submitted the command.", missing="if it is not sent"),
        Column("act_as", TEXTS, "Parties on whose behalf the request was submitted.", missing="if they are not sent"),
        Column("submission_id", TEXT, "Id of the submission.", missing="if it is not sent"),
        Column("synchronizer_id", TEXT, "Synchronizer of the command.", missing="if it is not sent"),
        Column("record_time", TIME, "Time of the synchronizer at the end of the command.", missing="if it is not sent"),
        ledger.LEDGER_UPDATES["paid_traffic_cost"],
        ledger.LEDGER_UPDATES["transaction_hash"],
        Column(
            "deduplication_period", JSON, "Period in which the command is deduplicated.", missing="if it is not sent", unit="JSON"
        ),
        history.unknown_members("completion"),
    ),
)

PARTIES = Table(
    name="parties",
    row_description="party known to a participant",
    reference=STATE,
    family="ledger_state",
    key=("participant_id", "party"),
    columns=(
        ledger.PARTICIPANT_ID,
        Column("party", TEXT, "Party id."),
        Column("is_local", FLAG, "Whether the participant hosts the party.", missing="if it is not sent"),
        Column(
            "identity_provider_id",
            TEXT,
            "Identity provider of the party, empty for the participant itself.",
            missing="if it is not sent",
        ),
        Column(
            "local_metadata", JSON, "Attributes of the party on this participant.", missing="if they are not sent", unit="JSON"
        ),
        history.unknown_members("party"),
    ),
)

PACKAGES = Table(
    name="packages",
    row_description="package of a participant and synchronizer on which it is vetted",
    reference=STATE,
    family="ledger_state",
    key=("participant_id", "package_id", "synchronizer_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        history.PACKAGE_ID,
        Column(
            "synchronizer_id", TEXT, "Synchronizer on which this participant has vetted the package.", missing="if there is none"
        ),
        Column("package_name", TEXT, "Name of the package.", missing="if the vetting does not contain it"),
        Column("package_version", TEXT, "Version of the package.", missing="if the vetting does not contain it"),
        Column("valid_from", TIME, "Start of the vetting.", missing="if it has none", from_field="valid_from_inclusive"),
        Column("valid_until", TIME, "End of the vetting.", missing="if it has none", from_field="valid_until_exclusive"),
        history.unknown_members("vetting"),
    ),
)

SYNCHRONIZERS = Table(
    name="synchronizers",
    row_description="synchronizer that a participant is connected to",
    reference=STATE,
    family="ledger_state",
    key=("participant_id", "synchronizer_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        Column("synchronizer_id", TEXT, "Synchronizer id as sent."),
        Column("synchronizer_alias", TEXT, "Name of the synchronizer on the participant.", missing="if it is not sent"),
        Column("permission", TEXT, "Permission of the requested party on the synchronizer.", missing="if no party was requested"),
        history.unknown_members("synchronizer"),
    ),
)

LEDGER_STATE_TABLES = (LEDGER_ACTIVE_CONTRACTS, COMPLETIONS, PARTIES, PACKAGES, SYNCHRONIZERS)
