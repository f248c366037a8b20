"""Tables of rounds, rights, names, rules, validators and hosts, by observation."""

from __future__ import annotations

from dataclasses import replace

from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.reference.schema import CONTENT_COLUMNS, IDENTITY_COLUMNS, OBSERVED_AT, SYNCHRONIZER_ID
from ledgerframes.datasets.schema import AMOUNT, CHOICE, FLAG, INTEGER, JSON, TEXT, TIME, Column, Table

REFERENCE = "docs/facts.md#reference-operations"
FAMILY = "network_reference"
IN_PAYLOAD = "if the payload has none"

MINING_ROUNDS = Table(
    name="mining_rounds",
    row_description="mining round that is open, issuing or in process after its close, at an observation",
    reference=REFERENCE,
    family=FAMILY,
    key=("contract_id", "observed_at"),
    sort=("observed_at", "round_number", "contract_id"),
    columns=(
        *IDENTITY_COLUMNS,
        Column("round_state", CHOICE, "State of the round.", values=("open", "issuing", "closed")),
        Column("round_number", INTEGER, "Mining round.", missing=IN_PAYLOAD),
        Column("opens_at", TIME, "Time from which the round is open, or issues.", missing=IN_PAYLOAD),
        SYNCHRONIZER_ID,
        *CONTENT_COLUMNS,
    ),
)

FEATURED_APPS = Table(
    name="featured_apps",
    row_description="right of a featured app at an observation",
    reference=REFERENCE,
    family=FAMILY,
    key=("contract_id", "observed_at"),
    sort=("observed_at", "provider", "contract_id"),
    columns=(
        *IDENTITY_COLUMNS,
        Column("provider", TEXT, "App provider.", missing=IN_PAYLOAD),
        Column("activity_weight", AMOUNT, "Factor of the right.", missing="if it is not sent, which counts as 1"),
        *CONTENT_COLUMNS,
    ),
)

NAME_ENTRIES = Table(
    name="name_entries",
    row_description="name that has not expired at an observation",
    reference=REFERENCE,
    family=FAMILY,
    key=("name", "observed_at"),
    sort=("observed_at", "name"),
    columns=(
        OBSERVED_AT,
        Column("name_prefix", TEXT, "Prefix of the names of the observation, empty for all names."),
        Column("name", TEXT, "Name of the entry."),
        Column("user", TEXT, "Party with the name."),
        Column("url", TEXT, "Address that the party has set, or empty."),
        Column("description", TEXT, "Text that the party has set, or empty."),
        Column("expires_at", TIME, "Time after which the entry expires.", missing="if it never does"),
        Column(
            "entry_contract_id",
            TEXT,
            "Contract of the entry.",
            missing="if the entry is the network's own",
            from_field="contract_id",
        ),
        history.unknown_members("entry"),
    ),
)

NETWORK_RULES = Table(
    name="network_rules",
    row_description="contract with rules or a super validator's hosts, at an observation",
    reference=REFERENCE,
    family=FAMILY,
    key=("contract_id", "observed_at"),
    sort=("observed_at", "kind", "contract_id"),
    columns=(
        *IDENTITY_COLUMNS,
        Column(
            "kind",
            CHOICE,
            "What the contract is.",
            values=("coin_rules", "dso_rules", "latest_mining_round", "sv_node_state"),
        ),
        Column("dso", TEXT, "Party of all operators of the network together.", from_field="dso_party_id"),
        Column("sv_party_id", TEXT, "Super validator that serves the observation."),
        Column("voting_threshold", INTEGER, "Number of super validators that decide."),
        SYNCHRONIZER_ID,
        *CONTENT_COLUMNS,
    ),
)

SCANS = Table(
    name="scans",
    row_description="history API of a super validator at an observation",
    reference=REFERENCE,
    family=FAMILY,
    key=("synchronizer_id", "sv_name", "public_url", "observed_at"),
    sort=("observed_at", "synchronizer_id", "sv_name", "public_url"),
    columns=(
        OBSERVED_AT,
        replace(SYNCHRONIZER_ID, meaning="Synchronizer of the hosts."),
        Column("sv_name", TEXT, "Name of the super validator."),
        Column("public_url", TEXT, "Base address of the API."),
        history.unknown_members("scan"),
    ),
)

VALIDATOR_LICENSES = Table(
    name="validator_licenses",
    row_description="license of a validator at an observation",
    reference=REFERENCE,
    family=FAMILY,
    key=("contract_id", "observed_at"),
    sort=("observed_at", "validator", "contract_id"),
    columns=(
        *IDENTITY_COLUMNS,
        Column("validator", TEXT, "Party of the validator.", missing=IN_PAYLOAD),
        Column("sponsor", TEXT, "Super validator that onboarded it.", missing=IN_PAYLOAD),
        Column("last_active_at", TIME, "Time of its last report.", missing=IN_PAYLOAD),
        *CONTENT_COLUMNS,
    ),
)

VALIDATOR_FAUCETS = Table(
    name="validator_faucets",
    row_description="licensed validator at an observation",
    reference=REFERENCE,
    family=FAMILY,
    key=("validator", "observed_at"),
    sort=("observed_at", "validator"),
    columns=(
        OBSERVED_AT,
        Column("validator", TEXT, "Party of the validator."),
        Column("num_rounds_collected", INTEGER, "Rounds in which the validator was active.", unit="rounds"),
        Column(
            "num_rounds_missed",
            INTEGER,
            "Rounds between the first and the last in which the validator was not active.",
            unit="rounds",
        ),
        Column("first_collected_in_round", INTEGER, "First round in which the validator was active."),
        Column("last_collected_in_round", INTEGER, "Last round in which the validator was active."),
        history.unknown_members("validator"),
    ),
)

TRAFFIC_STATUS = Table(
    name="traffic_status",
    row_description="member of a synchronizer at an observation",
    reference="docs/facts.md#traffic-balance",
    family=FAMILY,
    key=("synchronizer_id", "member_id", "observed_at"),
    sort=("observed_at", "synchronizer_id", "member_id"),
    columns=(
        OBSERVED_AT,
        replace(SYNCHRONIZER_ID, meaning="Synchronizer of the balance."),
        Column("member_id", TEXT, "Participant or mediator, with its prefix."),
        Column("total_consumed", INTEGER, "Extra traffic that the member has used so far.", unit="bytes"),
        Column("total_limit", INTEGER, "Extra traffic up to which the member may use it now.", unit="bytes"),
        Column("total_purchased", INTEGER, "Extra traffic that was bought for the member so far.", unit="bytes"),
        Column("balance", INTEGER, "Extra traffic that is left: the limit minus the use.", unit="bytes"),
        history.unknown_members("traffic_status"),
    ),
)

SYNCHRONIZER_STATUS = Table(
    name="synchronizer_status",
    row_description="observation of the synchronizer and of a node's history",
    reference=REFERENCE,
    family=FAMILY,
    key=("observed_at",),
    columns=(
        OBSERVED_AT,
        Column(
            "serial",
            INTEGER,
            "Number of upgrades of the synchronizer.",
            "docs/facts.md#record-times-per-migration",
            missing="if the node reports none",
        ),
        Column("is_backfilled", FLAG, "Whether the node has all of the history."),
        Column("topology_freeze_time", TIME, "Start of the freeze before the next upgrade.", missing="if none is planned"),
        Column("upgrade_time", TIME, "Time of the next upgrade.", missing="if none is planned"),
        Column(
            "successor_physical_synchronizer_id",
            TEXT,
            "Synchronizer after the next upgrade.",
            missing="if none is planned",
        ),
        history.unknown_members("upgrade"),
    ),
)

IF_NOT_OK = "if the status of the totals is not Ok"
REWARD_ACCOUNTING = Table(
    name="reward_accounting",
    row_description="mining round whose rewards a node was asked for, at an observation",
    reference="docs/facts.md#reward-accounting",
    family=FAMILY,
    key=("round_number", "observed_at"),
    sort=("observed_at", "round_number"),
    columns=(
        OBSERVED_AT,
        Column("round_number", INTEGER, "Mining round."),
        Column("totals_status", TEXT, "Whether the node provides the totals: `Ok`, or why not.", from_field="status"),
        Column("total_app_activity_weight", INTEGER, "Weight of all providers.", missing=IF_NOT_OK, unit="bytes times factor"),
        Column("active_parties_count", INTEGER, "Providers with a record.", missing=IF_NOT_OK, unit="parties"),
        Column("activity_records_count", INTEGER, "Activity records.", missing=IF_NOT_OK, unit="records"),
        Column("total_app_reward_minting_allowance", AMOUNT, "Sum of all allowances.", missing=IF_NOT_OK, unit="coin"),
        Column("total_app_reward_thresholded", AMOUNT, "Sum of allowances below the threshold.", missing=IF_NOT_OK, unit="coin"),
        Column("total_app_reward_unclaimed", AMOUNT, "What is beyond the cap.", missing=IF_NOT_OK, unit="coin"),
        Column("rewarded_app_provider_parties_count", INTEGER, "Providers with a reward.", missing=IF_NOT_OK, unit="parties"),
        Column("root_status", TEXT, "Whether the node provides the root: `Ok`, or why not."),
        Column("root_hash", TEXT, "Hash that the node computes for all rewards.", missing="if its status is not Ok"),
        Column(
            "batches",
            JSON,
            "Batches of allowances or of hashes, by hash. null is a hash for which the node has no batch.",
            missing="if there is no root",
            unit="JSON",
        ),
        history.unknown_members("round"),
    ),
)

NETWORK_TABLES = (
    MINING_ROUNDS,
    FEATURED_APPS,
    NAME_ENTRIES,
    NETWORK_RULES,
    SCANS,
    VALIDATOR_LICENSES,
    VALIDATOR_FAUCETS,
    TRAFFIC_STATUS,
    SYNCHRONIZER_STATUS,
    REWARD_ACCOUNTING,
)
