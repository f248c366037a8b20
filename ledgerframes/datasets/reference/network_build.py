"""Tables of rounds, rights, names, rules, validators and hosts from responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa

from ledgerframes.datasets._columns import StructColumns
from ledgerframes.datasets.arrays import parse_amounts, parse_timestamps, split_template_ids
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.extras import encode_extras
from ledgerframes.datasets.reference import network_schema as schema
from ledgerframes.datasets.reference.build import member, payload_of, texts_of, whole_number
from ledgerframes.datasets.reference.wire import (
    Contract,
    DomainScans,
    MiningRounds,
    NameEntry,
    NetworkRules,
    RewardAccounting,
    RewardBatch,
    RewardTotals,
    Scan,
    StateContract,
    TrafficStatus,
    Upgrade,
    ValidatorFaucets,
)
from ledgerframes.datasets.schema import Table
from ledgerframes.errors import DecodeError

OK = "Ok"  # status of a response about rewards that has its content


@decode_boundary()
def mining_round_table(rounds: MiningRounds, closed: Sequence[Contract], observed_at: datetime) -> pa.Table:
    """Build the table of one observation of mining rounds."""
    states = [*rounds.open_mining_rounds.values(), *rounds.issuing_mining_rounds.values()]
    contracts = [*map(_contract, states), *closed]
    payloads = [payload_of(contract) for contract in contracts]
    numbers = [whole_number(member(payload, "round", "number"), "round.number") for payload in payloads]
    counts = {"open": len(rounds.open_mining_rounds), "issuing": len(rounds.issuing_mining_rounds), "closed": len(closed)}
    return _contract_table(
        schema.MINING_ROUNDS,
        contracts,
        observed_at,
        round_state=[state for state, count in counts.items() for _ in range(count)],
        round_number=numbers,
        opens_at=parse_timestamps(texts_of(payloads, "opensAt"), "opensAt"),
        synchronizer_id=[*(state.domain_id for state in states), *(None for _ in closed)],
        extra=encode_extras(contracts, round=[*states, *(None for _ in closed)]),
    )


@decode_boundary()
def featured_app_table(rights: Sequence[Contract], observed_at: datetime) -> pa.Table:
    """Build the table of one observation of featured apps."""
    payloads = [payload_of(contract) for contract in rights]
    return _contract_table(
        schema.FEATURED_APPS,
        rights,
        observed_at,
        provider=texts_of(payloads, "provider"),
        activity_weight=parse_amounts(texts_of(payloads, "activityWeight"), "activityWeight"),
    )


@decode_boundary()
def name_entry_table(entries: Sequence[NameEntry], name_prefix: str, observed_at: datetime) -> pa.Table:
    """Build the table of one observation of names."""
    return _table(schema.NAME_ENTRIES, NameEntry, entries, observed_at=observed_at, name_prefix=name_prefix)


@decode_boundary()
def network_rules_table(rules: NetworkRules, observed_at: datetime) -> pa.Table:
    """Build the table of one observation of the network's rules."""
    kinds = {"coin_rules": rules.coin_rules, "dso_rules": rules.dso_rules, "latest_mining_round": rules.latest_mining_round}
    pairs = [*kinds.items(), *(("sv_node_state", state) for state in rules.sv_node_states)]
    contracts = [_contract(state) for _, state in pairs]
    return _contract_table(
        schema.NETWORK_RULES,
        contracts,
        observed_at,
        kind=[kind for kind, _ in pairs],
        dso=rules.dso_party_id,
        sv_party_id=rules.sv_party_id,
        voting_threshold=rules.voting_threshold,
        synchronizer_id=[state.domain_id for _, state in pairs],
        extra=encode_extras(contracts, contract=[state for _, state in pairs]),
    )


@decode_boundary()
def scan_table(domains: Sequence[DomainScans], observed_at: datetime) -> pa.Table:
    """Build the table of one observation of the history APIs of super validators."""
    pairs = [(domain, scan) for domain in domains for scan in domain.scans]
    scans, around = [scan for _, scan in pairs], [domain for domain, _ in pairs]
    synchronizer_ids = [domain.domain_id for domain in around]
    extra = encode_extras(scans, domain=around)
    return _table(schema.SCANS, Scan, scans, observed_at=observed_at, synchronizer_id=synchronizer_ids, extra=extra)


@decode_boundary()
def validator_license_table(licenses: Sequence[Contract], observed_at: datetime) -> pa.Table:
    """Build the table of one observation of licenses."""
    payloads = [payload_of(contract) for contract in licenses]
    return _contract_table(
        schema.VALIDATOR_LICENSES,
        licenses,
        observed_at,
        validator=texts_of(payloads, "validator"),
        sponsor=texts_of(payloads, "sponsor"),
        last_active_at=parse_timestamps(texts_of(payloads, "lastActiveAt"), "lastActiveAt"),
    )


@decode_boundary()
def validator_faucet_table(faucets: Sequence[ValidatorFaucets], observed_at: datetime) -> pa.Table:
    """Build the table of one observation of validators' activity."""
    return _table(schema.VALIDATOR_FAUCETS, ValidatorFaucets, faucets, observed_at=observed_at)


@decode_boundary()
def traffic_status_table(statuses: Mapping[tuple[str, str], TrafficStatus], observed_at: datetime) -> pa.Table:
    """Build the table of one observation of traffic, by synchronizer and member."""
    values = list(statuses.values())
    return schema.TRAFFIC_STATUS.sorted(
        schema.TRAFFIC_STATUS.from_arrays(
            {
                "observed_at": observed_at,
                "synchronizer_id": [synchronizer_id for synchronizer_id, _ in statuses],
                "member_id": [member_id for _, member_id in statuses],
                "total_consumed": [status.actual.total_consumed for status in values],
                "total_limit": [status.actual.total_limit for status in values],
                "total_purchased": [status.target.total_purchased for status in values],
                "balance": [status.balance for status in values],
                "extra": encode_extras(values),
            }
        )
    )


@decode_boundary()
def synchronizer_status_table(
    serial: int | None, is_backfilled: bool, upgrade: Upgrade | None, observed_at: datetime
) -> pa.Table:
    """Build the table of one observation of the synchronizer."""
    upgrades = StructColumns.from_structs(Upgrade, [upgrade] if upgrade else [])
    values: dict[str, Any] = {"observed_at": observed_at, "serial": [serial], "is_backfilled": [is_backfilled]}
    if upgrade:
        return upgrades.to_table(schema.SYNCHRONIZER_STATUS, values)
    return schema.SYNCHRONIZER_STATUS.from_arrays(values)


@decode_boundary()
def reward_accounting_table(rounds: Sequence[RewardAccounting], observed_at: datetime) -> pa.Table:
    """Build the table of one observation of rewards as a node computes them.

    Raises
    ------
    DecodeError
        If a response is ``Ok`` without its content, or is about another round.
    """
    for each in rounds:
        _check_rewards(each)
    totals, roots = [each.totals for each in rounds], [each.root for each in rounds]
    return _table(
        schema.REWARD_ACCOUNTING,
        RewardTotals,
        totals,
        observed_at=observed_at,
        round_number=[each.round_number for each in rounds],
        root_status=[root.status for root in roots],
        root_hash=[root.root_hash for root in roots],
        batches=[_batches_text(each) if each.root.root_hash else None for each in rounds],
        extra=encode_extras(totals, root=roots),
    )


def _check_rewards(each: RewardAccounting) -> None:
    for response, members in (
        (each.totals, ("total_app_activity_weight", "total_app_reward_minting_allowance")),
        (each.root, ("root_hash",)),
    ):
        if response.round_number not in (None, each.round_number):
            reason = f"A response for round {each.round_number} is about round {response.round_number}."
            raise DecodeError(reason, json_path="$.round_number")
        absent = [name for name in members if getattr(response, name) is None]
        if response.status == OK and absent:
            reason = f"A response for round {each.round_number} has the status Ok, and no {absent[0]}."
            raise DecodeError(reason, json_path=f"$.{absent[0]}")


def _batches_text(each: RewardAccounting) -> str:
    """Return batches by hash as JSON, with the members that the service sends."""
    contents = {digest: None if batch is None else _batch_content(batch) for digest, batch in each.batches.items()}
    return msgspec.json.encode(contents).decode()


def _batch_content(batch: RewardBatch) -> dict[str, Any]:
    if batch.minting_allowances is None:
        return {"batch_type": batch.batch_type, "child_hashes": batch.child_hashes or []}
    allowances = batch.minting_allowances
    parse_amounts([allowance.amount for allowance in allowances], "amount")  # raises for a text that is none
    pairs = [{"provider": allowance.provider, "amount": allowance.amount} for allowance in allowances]
    return {"batch_type": batch.batch_type, "minting_allowances": pairs}


# -- rows of contracts and of other structs -------------------------------------------------------------------------------


def _contract_table(table: Table, contracts: Sequence[Contract], observed_at: datetime, **computed: Any) -> pa.Table:
    columns = StructColumns.from_structs(Contract, contracts)
    identity = {"observed_at": observed_at, **split_template_ids(columns["template_id"])}
    return table.sorted(columns.to_table(table, identity | computed))


def _table(table: Table, kind: type[Any], rows: Sequence[Any], **computed: Any) -> pa.Table:
    return table.sorted(StructColumns.from_structs(kind, rows).to_table(table, computed))


def _contract(state: StateContract) -> Contract:
    if state.contract is None:
        raise DecodeError("A contract is missing, although the request named none that is cached.", json_path="$..contract")
    return state.contract
