"""Declarations of the state of the network."""

from __future__ import annotations

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.arguments import Snapshot, base_table
from ledgerframes.analysis.state._lifetimes import SNAPSHOT_COLUMNS, lifetimes_query, require_no_chosen_updates
from ledgerframes.analysis.state._snapshot import is_snapshot
from ledgerframes.engine import Query
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

USD_PER_MB = "USD per MB"
FROM = declare.time("from", "Record time of the create, or in a snapshot its ledger effective time.")
UNTIL = declare.time("until", "Record time of the archival, exclusive. Missing if alive.")
KNOWN_FROM = declare.time("known_from", "Time from which contracts that ended have rows. Missing if all have.")
KNOWN_UNTIL = declare.time("known_until", "Time that the frames reach. The contract may have ended since.")
LIFETIME = (
    FROM,
    UNTIL,
    KNOWN_FROM,
    KNOWN_UNTIL,
    declare.time("effective_from", "Ledger effective time of the create. Missing if unknown."),
    declare.time("effective_until", "Ledger effective time of the archival. Missing if alive."),
    declare.text("contract_id", "The contract."),
    declare.label("source", "history, snapshot, or given."),
)


CONDITION, UNIT = "with a known payload", "contracts of this result"


def _amount(name: str, description: str, unit: str = "") -> declare.ResultColumn:
    return declare.amount(name, f"{description} Missing if it is not in the contract.", unit)


def _queries(frames: Frames, base: Snapshot | None) -> list[Query]:
    if is_snapshot(frames):
        raise UsageError("A snapshot alone has no query of its state. Query it with lf.sql(net, 'FROM active_contracts').")
    require_no_chosen_updates(frames)
    return [lifetimes_query(base_table(base, SNAPSHOT_COLUMNS))]


ROUNDS = declare.Figure(
    "state.rounds",
    caption="Mining rounds and their prices",
    rows="One row per contract; sorted by start and contract.",
    columns=(
        declare.integer("round_number", "Mining round. Missing if the payload cannot be read."),
        declare.time("opens_at", "Time from which the round is open. Missing if it cannot be read."),
        _amount("coin_price", "Price of the coin.", "USD per coin"),
        _amount("traffic_price", "Price of traffic.", USD_PER_MB),
        declare.duration("tick_duration", "Time from one round to the next. Missing if it is not in the contract."),
        _amount("coin_per_year", "Coin to issue per year.", "coin"),
        _amount("app_share", "Share of the issuance for apps.", declare.SHARE),
        _amount("development_share", "Share of the issuance for development.", declare.SHARE),
        _amount("featured_cap", "Largest issuance per weight of a featured app.", "coin per USD"),
        declare.text("minting_version", "Scheme of app rewards. Missing without a reward configuration."),
        _amount("reward_threshold", "Smallest reward of a party.", "USD"),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
FEATURED = declare.Figure(
    "state.featured",
    caption="Featured rights of app providers",
    rows="One row per contract; sorted by start and contract.",
    columns=(
        declare.text("party", "App provider. Missing if the payload cannot be read."),
        declare.amount("weight", "Factor of the right, 1 by default. Missing if it cannot be read."),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
SUPER_VALIDATORS = declare.Figure(
    "state.super_validators",
    caption="Super validators of the network",
    rows="One row per contract and super validator; sorted by start, contract and party.",
    columns=(
        declare.text("party", "Party of the super validator."),
        declare.text("name", "Name of the super validator. Missing if it is not sent."),
        declare.text("participant", "Participant id without a prefix. Missing if it is not sent."),
        declare.integer("reward_weight", "Reward weight. Missing if it is not sent."),
        declare.integer("joined_round", "Round in which the super validator joined. Missing if it is not sent."),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
CONFIG = declare.Figure(
    "state.config",
    caption="Rules of the network",
    rows="One row per contract; sorted by start and contract.",
    columns=(
        _amount("traffic_price", "Price of traffic beyond the free rate.", USD_PER_MB),
        declare.integer("min_topup", "Smallest purchase. Missing if it is not in the contract.", "bytes"),
        declare.integer("burst_amount", "Free traffic per window. Missing if it is not in the contract.", "bytes"),
        declare.duration("burst_window", "Length of the window for free traffic. Missing if it is not in the contract."),
        declare.text("minting_version", "Scheme of app rewards. Missing without a reward configuration."),
        _amount("reward_threshold", "Smallest reward of a party.", "USD"),
        *LIFETIME,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
IGNORED_CONTRACTS = declare.Figure(
    "state.ignored_contracts",
    caption="Contracts that do not count, or not fully",
    rows="One row per contract; sorted by start and contract.",
    columns=(
        declare.text("contract_id", "The contract."),
        declare.text("template_name", "Module and entity of its template."),
        declare.text("package_name", "Package of its template. Missing if it is not sent."),
        FROM,
        declare.label("reason", "Why the contract does not count, or counts only in part."),
        declare.label("source", "history or snapshot."),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
