"""The nine tables that the history API fills."""

from __future__ import annotations

from ledgerframes.datasets._schema import CHOICE, FLAG, INTEGER, JSON, SMALL, SMALLS, TEXT, TEXTS, TIME, Column, Table

UPDATE_ITEM = "docs/facts.md#update-items"
NODE = "docs/facts.md#update-items"
REASSIGNMENT = "docs/facts.md#reassignment-item"
VERDICT = "docs/facts.md#verdict-fields"
VIEW = "docs/facts.md#view-fields"
TRAFFIC_SUMMARY = "docs/facts.md#traffic-fields"
ACTIVITY = "docs/facts.md#activity-fields"

MIGRATION_ID = Column(
    "migration_id",
    INTEGER,
    "Migration of the synchronizer; rows are ordered by it first, because record times of two migrations overlap.",
    "docs/facts.md#record-times-per-migration",
)
RECORD_TIME = Column(
    "record_time", TIME, "Sequencing time: when the synchronizer ordered the request.", UPDATE_ITEM, unit="UTC, microseconds"
)
UPDATE_ID = Column("update_id", TEXT, "Id of the update, the same on every node.", UPDATE_ITEM)
HEAD = (MIGRATION_ID, RECORD_TIME, UPDATE_ID)

SYNCHRONIZER_ID = Column(
    "synchronizer_id",
    TEXT,
    "Synchronizer that ordered the request, verbatim (`domain_id` in a verdict).",
    "docs/facts.md#network-words",
)
CONTRACT_ID = Column("contract_id", TEXT, "Contract created or exercised.", NODE)
TEMPLATE_ID = Column("template_id", TEXT, "Template, verbatim: package id, module and entity.", NODE)
PACKAGE_ID = Column("package_id", TEXT, "Package part of the template id.", "docs/facts.md#template-id")
TEMPLATE_NAME = Column(
    "template_name", TEXT, "Module and entity part of the template id, such as `Main:Asset`.", "docs/facts.md#template-id"
)
PACKAGE_NAME = Column("package_name", TEXT, "Name of the package.", NODE, nullable=True)
CREATE_ARGUMENTS = Column("create_arguments", JSON, "The created contract's payload, as JSON text.", NODE, nullable=True)
CREATED_AT = Column(
    "created_at",
    TIME,
    "Ledger effective time of the creating transaction.",
    "docs/facts.md#created-at-text",
    nullable=True,
    unit="UTC, microseconds",
)
SIGNATORIES = Column("signatories", TEXTS, "Signatories of a created contract.", NODE, nullable=True)
OBSERVERS = Column("observers", TEXTS, "Observers of a created contract.", NODE, nullable=True)

ID_SOURCES = ("listing", "ledger", "bulk", "user")
VERDICT_RESULTS = ("VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED", "VERDICT_RESULT_UNSPECIFIED")


def unknown_members(owner: str) -> Column:
    """The column that keeps what this version does not know of an object."""
    return Column(
        "extra",
        JSON,
        f"Members of the {owner} that this version does not know, as JSON text.",
        "docs/architecture.md#tables",
        nullable=True,
    )


UPDATES = Table(
    name="updates",
    row_description="update: a transaction or a reassignment",
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEAD,
        Column(
            "kind",
            CHOICE,
            "Whether the update is a transaction or a reassignment.",
            UPDATE_ITEM,
            values=("transaction", "reassignment"),
        ),
        Column(
            "synchronizer_id",
            TEXT,
            "Synchronizer that ordered the transaction; missing for a reassignment.",
            UPDATE_ITEM,
            nullable=True,
        ),
        Column(
            "workflow_id",
            TEXT,
            "Workflow id of the submission; empty if none was given, missing for a reassignment.",
            UPDATE_ITEM,
            nullable=True,
        ),
        Column(
            "effective_at",
            TIME,
            "Ledger effective time, before or after record_time: never a latency.",
            "docs/facts.md#effective-at",
            nullable=True,
            unit="UTC, microseconds",
        ),
        Column("root_event_ids", TEXTS, "Event ids of the roots of the transaction tree, in order.", UPDATE_ITEM, nullable=True),
        Column("node_count", SMALL, "Nodes of the transaction tree.", UPDATE_ITEM, unit="nodes"),
        Column(
            "host_offset",
            TEXT,
            "Offset inside the answering node, where it gives one; never comparable across nodes.",
            UPDATE_ITEM,
            nullable=True,
        ),
        Column("external_transaction_hash", TEXT, "Hash that an external party signed.", UPDATE_ITEM, nullable=True),
        unknown_members("update"),
    ),
)

TREE_EVENTS = Table(
    name="tree_events",
    row_description="node of a transaction tree",
    family="events",
    key=("event_id",),
    sort=("migration_id", "record_time", "update_id", "node_index"),
    columns=(
        *HEAD,
        Column(
            "event_id",
            TEXT,
            "Id of the node: update id and pre-order index, without a leading `#`.",
            "docs/facts.md#event-id-prefix",
        ),
        Column("node_index", SMALL, "Pre-order index of the node in its tree, from 0.", "docs/facts.md#event-id-order"),
        Column("parent_event_id", TEXT, "Event id of the parent; missing for a root.", NODE, nullable=True),
        Column("depth", SMALL, "Steps from the root; 0 for a root.", NODE),
        Column(
            "event_type",
            CHOICE,
            "Whether the node creates or exercises a contract.",
            NODE,
            values=("created_event", "exercised_event"),
        ),
        CONTRACT_ID,
        TEMPLATE_ID,
        PACKAGE_ID,
        TEMPLATE_NAME,
        PACKAGE_NAME,
        Column("choice", TEXT, "Choice exercised; missing for a create.", NODE, nullable=True),
        Column(
            "consuming",
            FLAG,
            "Whether the exercise archived the contract; missing for a create.",
            "docs/facts.md#consuming-exercise-archives",
            nullable=True,
        ),
        Column("acting_parties", TEXTS, "Parties that exercised the choice; missing for a create.", NODE, nullable=True),
        Column(
            "interface_id",
            TEXT,
            "Interface through which the choice was exercised, if any.",
            "docs/facts.md#interface-id-null",
            nullable=True,
        ),
        CREATED_AT,
        SIGNATORIES,
        OBSERVERS,
        CREATE_ARGUMENTS,
        Column("choice_argument", JSON, "Argument of the choice, as JSON text; missing for a create.", NODE, nullable=True),
        Column(
            "exercise_result",
            JSON,
            "Result of the choice, as JSON text of any type.",
            "docs/facts.md#exercise-result-any-json",
            nullable=True,
        ),
        unknown_members("node"),
    ),
)

REASSIGNMENTS = Table(
    name="reassignments",
    row_description="assignment or unassignment of a contract",
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEAD,
        Column(
            "kind",
            CHOICE,
            "Whether the contract leaves a synchronizer or arrives at one.",
            "docs/facts.md#reassignment-item",
            values=("unassignment", "assignment"),
        ),
        Column(
            "unassign_id",
            TEXT,
            "Ties an assignment to its unassignment; either may come first.",
            "docs/facts.md#assignment-before-unassignment",
        ),
        Column("submitter", TEXT, "Party that submitted it.", REASSIGNMENT, nullable=True),
        Column("source_synchronizer", TEXT, "Synchronizer the contract leaves.", REASSIGNMENT),
        Column("target_synchronizer", TEXT, "Synchronizer the contract goes to.", REASSIGNMENT),
        Column("reassignment_counter", INTEGER, "Grows with each unassignment of the contract; 0 at its creation.", REASSIGNMENT),
        CONTRACT_ID,
        *(
            Column(
                column.name, column.type, f"{column.description} Missing for an unassignment.", column.reference, nullable=True
            )
            for column in (TEMPLATE_ID, PACKAGE_ID, TEMPLATE_NAME, PACKAGE_NAME)
        ),
        CREATED_AT,
        SIGNATORIES,
        OBSERVERS,
        CREATE_ARGUMENTS,
        unknown_members("reassignment"),
    ),
)

VERDICTS = Table(
    name="verdicts",
    row_description="verdict on a confirmation request",
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEAD,
        SYNCHRONIZER_ID,
        Column(
            "finalization_time",
            TIME,
            "When the mediator's decision became final, as the answering node saw it; differs between nodes.",
            "docs/facts.md#finalization-time-differs",
            unit="UTC, microseconds",
        ),
        Column("verdict_result", CHOICE, "What the mediator decided.", VERDICT, values=VERDICT_RESULTS),
        Column("submitting_participant_uid", TEXT, "Validator that submitted the request and pays for it.", VERDICT),
        Column(
            "submitting_parties",
            TEXTS,
            "Parties on whose behalf it was submitted.",
            "docs/facts.md#submitting-parties-null",
            nullable=True,
        ),
        Column("mediator_group", SMALL, "Mediator group that decided.", VERDICT),
        Column("view_count", SMALL, "Views of the request.", VERDICT, unit="views"),
        Column("root_views", SMALLS, "View ids of the roots.", VERDICT),
        Column(
            "update_visible",
            FLAG,
            "Whether the update itself is visible: not when rejected or private.",
            "docs/facts.md#updates-not-visible",
        ),
        Column(
            "id_source",
            CHOICE,
            "How the event was found; ids from the ledger or from bulk objects were all accepted.",
            "docs/facts.md#survivorship",
            values=ID_SOURCES,
        ),
        unknown_members("verdict"),
    ),
)

VIEWS = Table(
    name="views",
    row_description="view of a confirmation request",
    family="events",
    key=("update_id", "view_id"),
    sort=("migration_id", "record_time", "update_id", "view_id"),
    columns=(
        *HEAD,
        Column("view_id", SMALL, "Number of the view in its request, from 0.", VIEW),
        Column("parent_view_id", SMALL, "View that lists this one among its sub-views; missing for a root.", VIEW, nullable=True),
        Column("informees", TEXTS, "Parties that learn of the view.", VIEW),
        Column("quorum_count", SMALL, "Quorums that must confirm the view.", VIEW, unit="quorums"),
        Column("sub_views", SMALLS, "View ids directly below.", VIEW),
        Column("view_hash", TEXT, "Hash of the view; empty wherever it was recorded.", "docs/facts.md#view-hash-empty"),
        unknown_members("view"),
    ),
)

QUORUMS = Table(
    name="quorums",
    row_description="quorum of a view",
    family="events",
    key=("update_id", "view_id", "quorum_index"),
    sort=("migration_id", "record_time", "update_id", "view_id", "quorum_index"),
    columns=(
        *HEAD,
        Column("view_id", SMALL, "View that the quorum belongs to.", VIEW),
        Column("quorum_index", SMALL, "Number of the quorum in its view, from 0.", VIEW),
        Column("threshold", SMALL, "Confirmations needed.", VIEW, unit="confirmations"),
        Column("parties", TEXTS, "Parties that may confirm.", VIEW),
        unknown_members("quorum"),
    ),
)

TRAFFIC = Table(
    name="traffic",
    row_description="confirmation request whose traffic is known",
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEAD,
        Column(
            "total_traffic_cost", INTEGER, "Cost of the request, paid by the submitting validator.", TRAFFIC_SUMMARY, unit="bytes"
        ),
        Column("envelope_count", SMALL, "Envelopes of the request.", TRAFFIC_SUMMARY, unit="envelopes"),
        unknown_members("traffic summary"),
    ),
)

ENVELOPES = Table(
    name="envelopes",
    row_description="envelope of a confirmation request",
    family="events",
    key=("update_id", "envelope_index"),
    sort=("migration_id", "record_time", "update_id", "envelope_index"),
    columns=(
        *HEAD,
        Column("envelope_index", SMALL, "Number of the envelope in its request, from 0.", TRAFFIC_SUMMARY),
        Column("traffic_cost", INTEGER, "Cost of the envelope.", TRAFFIC_SUMMARY, unit="bytes"),
        Column("view_ids", SMALLS, "Views inside; empty for mediator and root-hash messages.", TRAFFIC_SUMMARY),
        unknown_members("envelope"),
    ),
)

ACTIVITY_RECORDS = Table(
    name="activity_records",
    row_description="app provider that earned activity from a request",
    family="events",
    key=("update_id", "party"),
    sort=("migration_id", "record_time", "update_id", "party"),
    columns=(
        *HEAD,
        Column("round_number", INTEGER, "Mining round that the activity counts for.", ACTIVITY),
        Column("party", TEXT, "App provider.", ACTIVITY),
        Column("weight", INTEGER, "Activity weight; 0 is a real value.", ACTIVITY, unit="bytes"),
        unknown_members("activity record"),
    ),
)

EVENT_TABLES: tuple[Table, ...] = (
    UPDATES,
    TREE_EVENTS,
    REASSIGNMENTS,
    VERDICTS,
    VIEWS,
    QUORUMS,
    TRAFFIC,
    ENVELOPES,
    ACTIVITY_RECORDS,
)
