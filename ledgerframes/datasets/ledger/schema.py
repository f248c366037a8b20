"""The four tables that a participant's update pages fill."""

from __future__ import annotations

from ledgerframes.datasets._schema import CHOICE, FLAG, INTEGER, JSON, SMALL, TEXT, TEXTS, TIME, Column, Table
from ledgerframes.datasets.events import schema as history

UPDATE = "docs/facts.md#update-variants"
EVENT = "docs/facts.md#ledger-event-fields"
REASSIGNMENT = "docs/facts.md#ledger-reassignments"
TOPOLOGY = "docs/facts.md#topology-events"

PERMISSIONS = tuple(f"PARTICIPANT_PERMISSION_{name}" for name in ("SUBMISSION", "CONFIRMATION", "OBSERVATION", "UNSPECIFIED"))

PARTICIPANT_ID = Column(
    "participant_id",
    TEXT,
    "Participant whose ledger this is; offsets of others mean nothing here.",
    "docs/facts.md#offsets-per-participant",
)
OFFSET = Column("offset", INTEGER, "Place in this participant's ledger.", UPDATE)
RECORD_TIME = Column(
    "record_time", TIME, "When the synchronizer recorded it; not in order across synchronizers.", UPDATE, unit="UTC, microseconds"
)
HEAD = (PARTICIPANT_ID, OFFSET, RECORD_TIME, history.UPDATE_ID)

TEMPLATE_COLUMNS = (history.TEMPLATE_ID, history.PACKAGE_ID, history.TEMPLATE_NAME, history.PACKAGE_NAME)
CREATED_COLUMNS = (
    history.CREATED_AT,
    history.SIGNATORIES,
    history.OBSERVERS,
    history.CREATE_ARGUMENTS,
    Column("contract_key", JSON, "Key of the contract, as JSON text; missing unless its template has one.", EVENT, nullable=True),
    Column("contract_key_hash", TEXT, "Hash of the key; empty without one.", EVENT, nullable=True),
    Column("created_event_blob", TEXT, "Base64, for explicit disclosure; empty unless asked for.", EVENT, nullable=True),
    Column("interface_views", JSON, "Views through the interfaces asked for, as JSON text.", EVENT, nullable=True),
    Column(
        "representative_package_id",
        TEXT,
        "Package that vouches for the contract; missing before ledger 3.4.",
        "docs/facts.md#members-absent-before-3-4",
        nullable=True,
    ),
)
WITNESS_PARTIES = Column("witness_parties", TEXTS, "Parties of this participant that see it.", EVENT, nullable=True)
EVENT_INDEX = Column("event_index", SMALL, "Number of the event in its update, from 0.", UPDATE)


LEDGER_UPDATES = Table(
    name="ledger_updates",
    row_description="update of a participant's ledger",
    family="ledger",
    key=("participant_id", "offset"),
    sort=("participant_id", "offset"),
    columns=(
        *HEAD,
        Column("kind", CHOICE, "What kind of update it is.", UPDATE, values=("transaction", "reassignment", "topology")),
        history.SYNCHRONIZER_ID,
        Column(
            "effective_at",
            TIME,
            "Ledger effective time of a transaction, before or after record_time: never a latency.",
            "docs/facts.md#effective-at",
            nullable=True,
            unit="UTC, microseconds",
        ),
        Column(
            "command_id",
            TEXT,
            "Command that caused it; empty or missing for others' submissions.",
            "docs/facts.md#empty-texts",
            nullable=True,
        ),
        Column(
            "workflow_id",
            TEXT,
            "Workflow id of the submission; empty if none was given.",
            "docs/facts.md#empty-texts",
            nullable=True,
        ),
        Column("event_count", SMALL, "Events that the filter let through.", UPDATE, unit="events"),
        Column(
            "paid_traffic_cost",
            INTEGER,
            "Cost that this participant paid for the request; missing for others' and old requests, which is not 0.",
            "docs/facts.md#paid-cost-missing",
            nullable=True,
            unit="bytes",
        ),
        Column("external_transaction_hash", TEXT, "Hash that an external party signed.", UPDATE, nullable=True),
        Column("transaction_hash", TEXT, "Hash of the transaction; from ledger 3.6.", "docs/facts.md#versions", nullable=True),
        Column("traceparent", TEXT, "W3C trace context of the submission.", UPDATE, nullable=True),
        Column("tracestate", TEXT, "W3C trace state of the submission.", UPDATE, nullable=True),
        history.unknown_members("update"),
    ),
)

LEDGER_EVENTS = Table(
    name="ledger_events",
    row_description="created, archived or exercised event of a transaction",
    family="ledger",
    key=("participant_id", "offset", "node_id"),
    sort=("participant_id", "offset", "node_id"),
    columns=(
        *HEAD,
        Column("node_id", SMALL, "Place in the transaction as this participant sees it; gaps are normal.", EVENT),
        Column(
            "event_type",
            CHOICE,
            "What happened to the contract.",
            EVENT,
            values=("created_event", "archived_event", "exercised_event"),
        ),
        Column(
            "parent_node_id",
            SMALL,
            "Nearest exercise above that is visible; missing for a root and in ACS delta.",
            EVENT,
            nullable=True,
        ),
        Column("depth", SMALL, "Visible exercises above; missing in ACS delta, which has no tree.", EVENT, nullable=True),
        Column("last_descendant_node_id", SMALL, "Last node below an exercise.", EVENT, nullable=True),
        history.CONTRACT_ID,
        *TEMPLATE_COLUMNS,
        Column("choice", TEXT, "Choice exercised.", EVENT, nullable=True),
        Column(
            "consuming",
            FLAG,
            "Whether the exercise archived the contract.",
            "docs/facts.md#consuming-exercise-archives",
            nullable=True,
        ),
        Column("acting_parties", TEXTS, "Parties that exercised the choice.", EVENT, nullable=True),
        Column(
            "interface_id",
            TEXT,
            "Interface through which the choice was exercised, if any.",
            "docs/facts.md#interface-id-null",
            nullable=True,
        ),
        Column("implemented_interfaces", TEXTS, "Interfaces that the template implements.", EVENT, nullable=True),
        WITNESS_PARTIES,
        *CREATED_COLUMNS,
        Column("choice_argument", JSON, "Argument of the choice, as JSON text.", EVENT, nullable=True),
        Column(
            "exercise_result",
            JSON,
            "Result of the choice, as JSON text of any type.",
            "docs/facts.md#exercise-result-any-json",
            nullable=True,
        ),
        Column(
            "acs_delta",
            FLAG,
            "Whether the event changes the active contracts; missing before ledger 3.4.",
            "docs/facts.md#members-absent-before-3-4",
            nullable=True,
        ),
        history.unknown_members("event"),
    ),
)

LEDGER_REASSIGNMENTS = Table(
    name="ledger_reassignments",
    row_description="assignment or unassignment of a contract, as a participant sees it",
    family="ledger",
    key=("participant_id", "offset", "event_index"),
    sort=("participant_id", "offset", "event_index"),
    columns=(
        *HEAD,
        EVENT_INDEX,
        history.REASSIGNMENTS["kind"],
        Column(
            "reassignment_id", TEXT, "Ties an assignment to its unassignment; the history calls it unassign_id.", REASSIGNMENT
        ),
        Column("submitter", TEXT, "Party that submitted it; empty or missing if it is not visible.", REASSIGNMENT, nullable=True),
        history.REASSIGNMENTS["source_synchronizer"],
        history.REASSIGNMENTS["target_synchronizer"],
        history.REASSIGNMENTS["reassignment_counter"],
        Column("node_id", SMALL, "Place in the update.", REASSIGNMENT, nullable=True),
        history.CONTRACT_ID,
        *TEMPLATE_COLUMNS,
        Column(
            "assignment_exclusivity",
            TIME,
            "Until then only the submitter may assign.",
            REASSIGNMENT,
            nullable=True,
            unit="UTC, microseconds",
        ),
        WITNESS_PARTIES,
        *CREATED_COLUMNS,
        history.unknown_members("reassignment"),
    ),
)

LEDGER_TOPOLOGY = Table(
    name="ledger_topology",
    row_description="change of a party's permission on a participant",
    family="ledger",
    key=("participant_id", "offset", "event_index"),
    sort=("participant_id", "offset", "event_index"),
    columns=(
        *HEAD,
        EVENT_INDEX,
        Column("change", CHOICE, "What changed.", TOPOLOGY, values=("added", "changed", "revoked", "onboarding")),
        Column("party", TEXT, "Party concerned.", TOPOLOGY),
        Column("hosting_participant_id", TEXT, "Participant that hosts the party.", TOPOLOGY),
        Column(
            "participant_permission",
            CHOICE,
            "Permission given; missing when revoked.",
            TOPOLOGY,
            nullable=True,
            values=PERMISSIONS,
        ),
        history.unknown_members("topology event"),
    ),
)

LEDGER_TABLES: tuple[Table, ...] = (LEDGER_UPDATES, LEDGER_EVENTS, LEDGER_REASSIGNMENTS, LEDGER_TOPOLOGY)
