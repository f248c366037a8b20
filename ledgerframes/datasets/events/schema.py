"""The nine tables of the history API."""

from __future__ import annotations

from dataclasses import replace

from ledgerframes.datasets.arrays import package_ids, template_names
from ledgerframes.datasets.header import HEADER, UPDATE_ITEM
from ledgerframes.datasets.schema import (
    CHOICE,
    FLAG,
    INTEGER,
    JSON,
    SMALL,
    SMALLS,
    TEXT,
    TEXTS,
    TIME,
    Column,
    Derivation,
    Table,
)

REASSIGNMENT = "docs/facts.md#reassignment-item"
VERDICT = "docs/facts.md#verdict-fields"
VIEW = "docs/facts.md#view-fields"
TRAFFIC_SUMMARY = "docs/facts.md#traffic-fields"
ACTIVITY = "docs/facts.md#activity-fields"

SYNCHRONIZER_ID = Column(
    "synchronizer_id",
    TEXT,
    "Synchronizer that sequenced the request, as sent (`domain_id` in a verdict).",
    "docs/facts.md#network-words",
)
CONTRACT_ID = Column("contract_id", TEXT, "Contract that was created, archived or exercised.", UPDATE_ITEM)
TEMPLATE_ID = Column("template_id", TEXT, "Template id as sent: package id, module and entity.", UPDATE_ITEM)
PACKAGE_ID = Column(
    "package_id",
    TEXT,
    "Package part of the template id.",
    "docs/facts.md#template-id",
    derivation=Derivation(("template_id",), package_ids),
)
TEMPLATE_NAME = Column(
    "template_name",
    TEXT,
    "Module and entity part of the template id, such as `Main:Asset`.",
    "docs/facts.md#template-id",
    derivation=Derivation(("template_id",), template_names),
)
PACKAGE_NAME = Column("package_name", TEXT, "Name of the package.", UPDATE_ITEM, missing="if it is not sent")
CREATE_ARGUMENTS = Column(
    "create_arguments", JSON, "Payload of the created contract.", UPDATE_ITEM, missing="if the row is not a create", unit="JSON"
)
CREATED_AT = Column(
    "created_at",
    TIME,
    "Ledger effective time of the transaction that created the contract.",
    "docs/facts.md#created-at-text",
    missing="if it is not sent",
)
SIGNATORIES = Column(
    "signatories", TEXTS, "Signatories of the created contract.", UPDATE_ITEM, missing="if the row is not a create"
)
OBSERVERS = Column("observers", TEXTS, "Observers of the created contract.", UPDATE_ITEM, missing="if the row is not a create")
TEMPLATE_COLUMNS = (TEMPLATE_ID, PACKAGE_ID, TEMPLATE_NAME, PACKAGE_NAME)
CREATED_COLUMNS = (CREATED_AT, SIGNATORIES, OBSERVERS, CREATE_ARGUMENTS)

ID_SOURCES = ("listing", "ledger", "bulk", "user")
VERDICT_RESULTS = ("VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED", "VERDICT_RESULT_UNSPECIFIED")


def unknown_members(owner: str) -> Column:
    """Return the column of the members of an object that this version does not know."""
    return Column(
        "extra",
        JSON,
        f"Members of the {owner} that this version does not know.",
        "docs/architecture.md#tables",
        missing="if there are none",
        unit="JSON",
    )


UPDATES = Table(
    name="updates",
    row_description="update",
    reference=UPDATE_ITEM,
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEADER,
        Column("kind", CHOICE, "Kind of update.", values=("transaction", "reassignment")),
        Column(
            "synchronizer_id", TEXT, "Synchronizer that sequenced the transaction.", missing="if the update is a reassignment"
        ),
        Column(
            "workflow_id", TEXT, "Workflow id of the submission, empty without one.", missing="if the update is a reassignment"
        ),
        Column(
            "effective_at",
            TIME,
            "Ledger effective time, before or after record_time, so not a base for latency.",
            "docs/facts.md#effective-at",
            missing="if it is a reassignment",
        ),
        Column(
            "root_event_ids",
            TEXTS,
            "Event ids of the roots of the transaction tree, in order.",
            missing="if the update is a reassignment",
        ),
        Column("node_count", SMALL, "Number of nodes of the transaction tree.", unit="nodes"),
        Column(
            "host_offset",
            TEXT,
            "Offset on the responding host, not comparable between hosts.",
            missing="if the host returns none",
            from_field="offset",
            former_names=("node_offset",),
        ),
        Column("external_transaction_hash", TEXT, "Hash that an external party signed.", missing="if no external party did"),
        unknown_members("update"),
    ),
)

TREE_EVENTS = Table(
    name="tree_events",
    row_description="node of a transaction tree",
    reference=UPDATE_ITEM,
    family="events",
    key=("event_id",),
    sort=("migration_id", "record_time", "update_id", "node_index"),
    columns=(
        *HEADER,
        Column(
            "event_id",
            TEXT,
            "Id of the node: update id and pre-order index, without a leading `#`.",
            "docs/facts.md#event-id-prefix",
        ),
        Column("node_index", SMALL, "Pre-order index of the node in its tree, from 0.", "docs/facts.md#event-id-order"),
        Column("parent_event_id", TEXT, "Event id of the parent.", missing="if the node is a root"),
        Column("depth", SMALL, "Number of steps from the root, 0 for a root."),
        Column(
            "event_type",
            CHOICE,
            "Kind of node: a contract was created or a choice was exercised.",
            values=("created_event", "exercised_event"),
        ),
        CONTRACT_ID,
        *TEMPLATE_COLUMNS,
        Column("choice", TEXT, "Choice that was exercised.", missing="if the node is a create"),
        Column(
            "consuming",
            FLAG,
            "Whether the exercise archived the contract.",
            "docs/facts.md#consuming-exercise-archives",
            missing="if the node is a create",
        ),
        Column("acting_parties", TEXTS, "Parties that exercised the choice.", missing="if the node is a create"),
        Column(
            "interface_id",
            TEXT,
            "Interface through which the choice was exercised.",
            "docs/facts.md#interface-id-null",
            missing="if there was none",
        ),
        *CREATED_COLUMNS,
        Column("choice_argument", JSON, "Argument of the choice.", missing="if the node is a create", unit="JSON"),
        Column(
            "exercise_result",
            JSON,
            "Result of the choice, JSON of any type.",
            "docs/facts.md#exercise-result-any-json",
            missing="if it is null or nothing was exercised",
            unit="JSON",
        ),
        unknown_members("node"),
    ),
)

REASSIGNMENTS = Table(
    name="reassignments",
    row_description="assignment or unassignment of a contract",
    reference=REASSIGNMENT,
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEADER,
        Column(
            "kind",
            CHOICE,
            "Kind of reassignment: the contract leaves a synchronizer or arrives at one.",
            "docs/facts.md#reassignment-item",
            values=("unassignment", "assignment"),
        ),
        Column(
            "unassign_id",
            TEXT,
            "Id that links an assignment to its unassignment. Either may come first.",
            "docs/facts.md#assignment-before-unassignment",
        ),
        Column("submitter", TEXT, "Party that submitted the reassignment.", missing="if it is not sent"),
        Column("source_synchronizer", TEXT, "Synchronizer that the contract leaves."),
        Column("target_synchronizer", TEXT, "Synchronizer that the contract arrives at."),
        Column("reassignment_counter", INTEGER, "Number of unassignments of the contract so far, 0 at its creation."),
        CONTRACT_ID,
        *(replace(column, missing="if it is an unassignment") for column in (TEMPLATE_ID, PACKAGE_ID, TEMPLATE_NAME)),
        PACKAGE_NAME,
        *CREATED_COLUMNS,
        unknown_members("reassignment"),
    ),
)

VERDICTS = Table(
    name="verdicts",
    row_description="verdict on a confirmation request",
    reference=VERDICT,
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEADER,
        replace(SYNCHRONIZER_ID, from_field="domain_id"),
        Column(
            "finalization_time",
            TIME,
            "Time at which the decision became final on the responding host. It differs between hosts.",
            "docs/facts.md#finalization-time-differs",
        ),
        Column("verdict_result", CHOICE, "Decision of the mediator.", values=VERDICT_RESULTS),
        Column("submitting_participant_uid", TEXT, "Participant that submitted the request and pays for it."),
        Column(
            "submitting_parties",
            TEXTS,
            "Parties on whose behalf the request was submitted.",
            "docs/facts.md#submitting-parties-null",
            missing="if they are not sent",
        ),
        Column("mediator_group", SMALL, "Mediator group that decided, 0 if it is not sent."),
        Column("view_count", SMALL, "Number of views of the request, 0 if they are not sent.", unit="views"),
        Column("root_views", SMALLS, "View ids of the root views, empty if they are not sent."),
        Column(
            "update_visible",
            FLAG,
            "Whether the history API returned the update. It does not if the request was rejected or private.",
            "docs/facts.md#updates-not-visible",
            former_names=("body_visible",),
        ),
        Column(
            "id_source",
            CHOICE,
            "Source of the update id. Ids from a ledger or from bulk objects are of accepted requests only.",
            "docs/facts.md#survivorship",
            values=ID_SOURCES,
        ),
        unknown_members("verdict"),
    ),
)

VIEWS = Table(
    name="views",
    row_description="view of a confirmation request",
    reference=VIEW,
    family="events",
    key=("update_id", "view_id"),
    sort=("migration_id", "record_time", "update_id", "view_id"),
    columns=(
        *HEADER,
        Column("view_id", SMALL, "Index of the view in its request, from 0."),
        Column("parent_view_id", SMALL, "View that has this one as a sub-view.", missing="if the view is a root"),
        Column("informees", TEXTS, "Parties that are informed of the view, empty if they are not sent."),
        Column("quorum_count", SMALL, "Number of quorums that must confirm the view, 0 if they are not sent.", unit="quorums"),
        Column("sub_views", SMALLS, "View ids of the direct sub-views, empty if they are not sent."),
        Column("view_hash", TEXT, "Hash of the view. Services have sent an empty text so far.", "docs/facts.md#view-hash-empty"),
        unknown_members("view"),
    ),
)

QUORUMS = Table(
    name="quorums",
    row_description="quorum of a view",
    reference=VIEW,
    family="events",
    key=("update_id", "view_id", "quorum_index"),
    sort=("migration_id", "record_time", "update_id", "view_id", "quorum_index"),
    columns=(
        *HEADER,
        Column("view_id", SMALL, "Index of the quorum's view in its request."),
        Column("quorum_index", SMALL, "Index of the quorum in its view, from 0.", former_names=("quorum",)),
        Column("threshold", SMALL, "Number of confirmations that the quorum needs.", unit="confirmations"),
        Column("parties", TEXTS, "Parties that may confirm."),
        unknown_members("quorum"),
    ),
)

TRAFFIC = Table(
    name="traffic",
    row_description="confirmation request with a known traffic cost",
    reference=TRAFFIC_SUMMARY,
    family="events",
    key=("update_id",),
    sort=("migration_id", "record_time", "update_id"),
    columns=(
        *HEADER,
        Column("total_traffic_cost", INTEGER, "Traffic cost of the request, paid by the submitting participant.", unit="bytes"),
        Column("envelope_count", SMALL, "Number of envelopes of the request, 0 if they are not sent.", unit="envelopes"),
        unknown_members("traffic summary"),
    ),
)

ENVELOPES = Table(
    name="envelopes",
    row_description="envelope of a confirmation request",
    reference=TRAFFIC_SUMMARY,
    family="events",
    key=("update_id", "envelope_index"),
    sort=("migration_id", "record_time", "update_id", "envelope_index"),
    columns=(
        *HEADER,
        Column("envelope_index", SMALL, "Index of the envelope in its request, from 0.", former_names=("envelope",)),
        Column("traffic_cost", INTEGER, "Traffic cost of the envelope.", unit="bytes"),
        Column(
            "view_ids", SMALLS, "View ids in the envelope, empty for mediator and root-hash messages, and if they are not sent."
        ),
        unknown_members("envelope"),
    ),
)

ACTIVITY_RECORDS = Table(
    name="activity_records",
    row_description="app provider with an activity weight for a request",
    reference=ACTIVITY,
    family="events",
    key=("update_id", "party"),
    sort=("migration_id", "record_time", "update_id", "party"),
    columns=(
        *HEADER,
        Column("round_number", INTEGER, "Mining round in which the activity counts."),
        Column("party", TEXT, "App provider."),
        Column("weight", INTEGER, "Activity weight. 0 is a regular value.", unit="weighted bytes"),
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
