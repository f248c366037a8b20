"""The four tables of a participant's updates."""

from __future__ import annotations

from dataclasses import replace

from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.header import UPDATE_ID
from ledgerframes.datasets.schema import CHOICE, FLAG, INTEGER, JSON, SMALL, TEXT, TEXTS, TIME, Column, Table

UPDATE = "docs/facts.md#update-variants"
EVENT = "docs/facts.md#ledger-event-fields"
REASSIGNMENT = "docs/facts.md#ledger-reassignments"
TOPOLOGY = "docs/facts.md#topology-events"

PERMISSIONS = tuple(f"PARTICIPANT_PERMISSION_{name}" for name in ("SUBMISSION", "CONFIRMATION", "OBSERVATION", "UNSPECIFIED"))

PARTICIPANT_ID = Column(
    "participant_id", TEXT, "Participant that owns the ledger and its offsets.", "docs/facts.md#offsets-per-participant"
)
OFFSET = Column("offset", INTEGER, "Position of the update in this participant's ledger.", UPDATE)
RECORD_TIME = Column(
    "record_time", TIME, "Time at which the synchronizer sequenced the update. Not in order across synchronizers.", UPDATE
)
HEADER = (PARTICIPANT_ID, OFFSET, RECORD_TIME, UPDATE_ID)

CREATED_COLUMNS = (
    *history.CREATED_COLUMNS[:-1],
    replace(history.CREATE_ARGUMENTS, from_field="create_argument"),
    Column("contract_key", JSON, "Key of the contract.", EVENT, missing="if its template has none", unit="JSON"),
    Column("contract_key_hash", TEXT, "Hash of the key, empty without a key.", EVENT, missing="if the row is not a create"),
    Column(
        "created_event_blob",
        TEXT,
        "Base64 for explicit disclosure, empty unless requested.",
        EVENT,
        missing="if the row is not a create",
    ),
    Column(
        "interface_views",
        JSON,
        "Views through the interfaces in the filter.",
        EVENT,
        missing="if the row is not a create",
        unit="JSON",
    ),
    Column(
        "representative_package_id",
        TEXT,
        "Package that represents the contract.",
        "docs/facts.md#members-absent-before-3-4",
        missing="if the row is not a create, or the ledger is older than 3.4",
    ),
)
WITNESS_PARTIES = Column(
    "witness_parties", TEXTS, "Parties of this participant that see the event.", EVENT, missing="if they are not sent"
)
EVENT_INDEX = Column("event_index", SMALL, "Index of the event in its update, from 0.", UPDATE, former_names=("position",))


LEDGER_UPDATES = Table(
    name="ledger_updates",
    row_description="update of a participant's ledger",
    reference=UPDATE,
    family="ledger",
    key=("participant_id", "offset"),
    columns=(
        *HEADER,
        Column("kind", CHOICE, "Kind of update.", values=("transaction", "reassignment", "topology")),
        history.SYNCHRONIZER_ID,
        Column(
            "effective_at",
            TIME,
            "Ledger effective time, before or after record_time.",
            "docs/facts.md#effective-at",
            missing="if the update is not a transaction",
        ),
        Column(
            "command_id",
            TEXT,
            "Command that caused the update, or empty.",
            "docs/facts.md#empty-texts",
            missing="if another participant submitted it",
        ),
        Column(
            "workflow_id",
            TEXT,
            "Workflow id of the submission, or empty.",
            "docs/facts.md#empty-texts",
            missing="if it is not sent",
        ),
        Column("event_count", SMALL, "Number of events that match the filter.", unit="events"),
        Column(
            "paid_traffic_cost",
            INTEGER,
            "Traffic cost that this participant paid.",
            "docs/facts.md#paid-cost-missing",
            missing="if it did not pay or the request is old, never 0 instead",
            unit="bytes",
        ),
        Column("external_transaction_hash", TEXT, "Hash that an external party signed.", missing="if no external party did"),
        Column(
            "transaction_hash",
            TEXT,
            "Hash of the transaction.",
            "docs/facts.md#versions",
            missing="if the ledger is older than 3.6",
        ),
        Column("traceparent", TEXT, "W3C trace context of the submission.", missing="if it is not sent"),
        Column("tracestate", TEXT, "W3C trace state of the submission.", missing="if it is not sent"),
        history.unknown_members("update"),
    ),
)

LEDGER_EVENTS = Table(
    name="ledger_events",
    row_description="created, archived or exercised event of a transaction",
    reference=EVENT,
    family="ledger",
    key=("participant_id", "offset", "node_id"),
    columns=(
        *HEADER,
        Column("node_id", SMALL, "Position of the node in the transaction, as visible to this participant, with gaps."),
        Column(
            "event_type",
            CHOICE,
            "Kind of event: the contract was created, archived or exercised.",
            values=("created_event", "archived_event", "exercised_event"),
        ),
        Column(
            "parent_node_id", SMALL, "Nearest visible exercise above.", missing="if the node is a root or the shape is acs_delta"
        ),
        Column("depth", SMALL, "Number of visible exercises above.", missing="if the shape is acs_delta, which has no tree"),
        Column("last_descendant_node_id", SMALL, "Last node below an exercise.", missing="if the event is not an exercise"),
        history.CONTRACT_ID,
        *history.TEMPLATE_COLUMNS,
        Column("choice", TEXT, "Choice that was exercised.", missing="if the event is not an exercise"),
        Column(
            "consuming",
            FLAG,
            "Whether the exercise archived the contract.",
            "docs/facts.md#consuming-exercise-archives",
            missing="if the event is not an exercise",
        ),
        Column("acting_parties", TEXTS, "Parties that exercised the choice.", missing="if the event is not an exercise"),
        history.TREE_EVENTS["interface_id"],
        Column("implemented_interfaces", TEXTS, "Interfaces that the template implements.", missing="if they are not sent"),
        WITNESS_PARTIES,
        *CREATED_COLUMNS,
        Column("choice_argument", JSON, "Argument of the choice.", missing="if the event is not an exercise", unit="JSON"),
        history.TREE_EVENTS["exercise_result"],
        Column(
            "acs_delta",
            FLAG,
            "Whether the event changes the active contracts.",
            "docs/facts.md#members-absent-before-3-4",
            missing="if it is not sent, as for an archival, or by a ledger older than 3.4",
        ),
        history.unknown_members("event"),
    ),
)

LEDGER_REASSIGNMENTS = Table(
    name="ledger_reassignments",
    row_description="assignment or unassignment of a contract, as a participant sees it",
    reference=REASSIGNMENT,
    family="ledger",
    key=("participant_id", "offset", "event_index"),
    columns=(
        *HEADER,
        EVENT_INDEX,
        history.REASSIGNMENTS["kind"],
        Column("reassignment_id", TEXT, "Id that links an assignment to its unassignment, called unassign_id in the history."),
        Column("submitter", TEXT, "Party that submitted the reassignment, or empty.", missing="if it is not visible"),
        replace(history.REASSIGNMENTS["source_synchronizer"], from_field="source"),
        replace(history.REASSIGNMENTS["target_synchronizer"], from_field="target"),
        history.REASSIGNMENTS["reassignment_counter"],
        Column("node_id", SMALL, "Position of the event in the update.", missing="if it is not sent"),
        history.CONTRACT_ID,
        *history.TEMPLATE_COLUMNS,
        Column("assignment_exclusivity", TIME, "Time until which only the submitter may assign.", missing="if there is none"),
        WITNESS_PARTIES,
        *CREATED_COLUMNS,
        history.unknown_members("reassignment"),
    ),
)

LEDGER_TOPOLOGY = Table(
    name="ledger_topology",
    row_description="change of a party's permission on a participant",
    reference=TOPOLOGY,
    family="ledger",
    key=("participant_id", "offset", "event_index"),
    columns=(
        *HEADER,
        EVENT_INDEX,
        Column("change", CHOICE, "Kind of change.", values=("added", "changed", "revoked", "onboarding")),
        Column("party", TEXT, "Party whose permission changes.", from_field="party_id"),
        Column("hosting_participant_id", TEXT, "Participant that hosts the party.", from_field="participant_id"),
        Column("participant_permission", CHOICE, "Permission after the change.", missing="if it was revoked", values=PERMISSIONS),
        history.unknown_members("topology event"),
    ),
)

LEDGER_TABLES: tuple[Table, ...] = (LEDGER_UPDATES, LEDGER_EVENTS, LEDGER_REASSIGNMENTS, LEDGER_TOPOLOGY)
