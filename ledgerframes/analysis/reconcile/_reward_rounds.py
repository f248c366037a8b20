"""Rewards of each round in the history, from its records to its coupons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis._amounts import to_decimal
from ledgerframes.analysis.activity.final_rounds import lowest_open_times, round_values
from ledgerframes.analysis.coverage import covered_time
from ledgerframes.analysis.economy.network import Network, round_of
from ledgerframes.analysis.groups import microseconds
from ledgerframes.analysis.reconcile._reward_tree import LEAF, NODE
from ledgerframes.analysis.state.payloads import Values, is_for_traffic, read_round, read_validators, whole
from ledgerframes.datasets.reference.build import member
from ledgerframes.datasets.templates import CALCULATE_REWARDS, DSO_RULES, PROCESS_REWARDS
from ledgerframes.engine.query import run_arrow
from ledgerframes.engine.rewards import PUBLISHED_WEIGHTS, REWARD_COUPONS, REWARD_STEPS

APP, VALIDATOR = "app", "validator"
START, PROCESS_BATCH = "CoinRules_StartProcessingRewardsV2", "ProcessRewardsV2_ProcessBatch"
Key = tuple[int, str, bool]  # round, kind, and whether it is a dry run


@dataclass(frozen=True)
class Step:
    """A node of the history that a round's rewards cause."""

    time: int  # record time, microseconds since 1970
    update_id: str
    event_id: str
    parent_event_id: str | None
    contract_id: str
    template: str
    choice: str
    payload: Values  # of the contract
    argument: Values


@dataclass(frozen=True)
class Batch:
    """A contract that commits to a batch of rewards, and the batch once it is processed."""

    contract_id: str
    committed: str | None  # its hash, or None if it cannot be read
    created_by: str | None  # the event that creates it
    tag: str = ""  # empty if it is not processed
    allowances: tuple[tuple[str, Decimal | None], ...] = ()
    hashes: tuple[str, ...] = ()
    children: tuple[Batch, ...] = ()

    @property
    def leaves(self) -> list[Batch]:
        """The batches below that have no batches, from left to right."""
        return [leaf for child in self.children for leaf in child.leaves] if self.tag == NODE else [self]

    @property
    def nodes(self) -> list[Batch]:
        """The batch and those below it that contain batches, from the root down."""
        return [self, *(node for child in self.children for node in child.nodes)] if self.tag == NODE else []


@dataclass(frozen=True)
class Coupon:
    """A coupon that a batch creates."""

    batch_contract_id: str
    contract_id: str
    party: str
    amount: Decimal | None
    fate: str


@dataclass
class RewardRound:
    """Rewards of a round, where the history has them."""

    number: int
    kind: str
    is_dry_run: bool
    is_expected: bool = False  # by the reward configuration of the round
    has_other_flag: bool = False  # whether the ledger says the opposite of the reward configuration about a dry run
    rules: Values = field(default_factory=dict)  # prices and rules of the round, none if they are not in the frames
    weights: dict[str, int] | None = None  # published weights, or None if records can be missing
    record_count: int | None = None  # as `weights`
    calculate_id: str | None = None  # contract whose create the frames have
    start: Step | None = None
    root: Batch | None = None
    confirmed: dict[str, str | None] = field(default_factory=dict)  # hash by confirmer
    super_validators: frozenset[str] | None = None  # None if they are not known
    coupons: list[Coupon] = field(default_factory=list)
    is_covered: bool = True  # whether final data cover all of its time
    is_followed: bool = False  # whether a later round was processed

    @property
    def executed(self) -> str | None:
        """The root that was executed."""
        return None if self.start is None else hash_of(member(self.start.argument, "batchHash"))


def hash_of(value: object) -> str | None:
    """Return the text of a hash, which the ledger wraps into a record."""
    text = member(value, "value") if isinstance(value, dict) else value
    return text if isinstance(text, str) else None


def read_reward_rounds(network: Network) -> list[RewardRound]:
    """Return the rewards of the rounds in the frames, by number, without coupons."""
    steps = _Steps(network)
    rules = {number: _rules(contract.payload) for number, contract in network.rounds.opened.items()}
    on_ledger = steps.rounds()
    weights = _read_weights(network)
    numbers = _rounds_in_frames(network, weights.keys | {key[0] for key in on_ledger})
    rounds = [each for number in numbers for each in _of_number(number, rules.get(number), on_ledger)]
    _add_spans(network, rounds, weights)
    last = {
        kind: max((each.number for each in rounds if each.root and each.kind == kind), default=0) for kind in (APP, VALIDATOR)
    }
    for each in rounds:
        each.is_followed = each.number < last[each.kind]
    return rounds


def _of_number(number: int, rules: Values | None, on_ledger: dict[Key, RewardRound]) -> Iterator[RewardRound]:
    """Yield the rewards of one round that its configuration demands or the ledger has."""
    apps = {is_dry: on_ledger[key] for is_dry in (False, True) if (key := (number, APP, is_dry)) in on_ledger}
    expected = {} if rules is None else {False: rules["minting_version"], True: rules["dry_run_version"]}
    is_demanded = {is_dry: is_for_traffic(expected.get(is_dry)) for is_dry in (False, True)}
    if len(apps) == 1 and sum(is_demanded.values()) == 1 and not is_demanded[next(iter(apps))]:
        (each,) = apps.values()
        each.is_dry_run, each.has_other_flag = not each.is_dry_run, True
        apps = {each.is_dry_run: each}
    for is_dry in (False, True):
        if is_demanded[is_dry] or is_dry in apps:
            yield _with_rules(apps.get(is_dry) or RewardRound(number, APP, is_dry), rules, is_expected=is_demanded[is_dry])
    if not apps and not any(is_demanded.values()):
        yield _with_rules(RewardRound(number, APP, False), rules)
    for is_dry in (False, True):
        if (key := (number, VALIDATOR, is_dry)) in on_ledger:
            yield _with_rules(on_ledger[key], rules, is_expected=True)


def _with_rules(each: RewardRound, rules: Values | None, *, is_expected: bool = False) -> RewardRound:
    each.rules, each.is_expected = rules or {}, is_expected
    return each


def _rules(payload: Values) -> Values | None:
    """Return the values and reward configuration of a round, or None if they cannot be read."""
    values = read_round(payload)
    if not values:
        return None
    config = member(payload, "rewardConfig")
    return {**values[0], "dry_run_version": member(config, "dryRunVersion"), "batch_size": whole(member(config, "batchSize"))}


# -- records and times --------------------------------------------------------------------------------------------------


class _SortedRows:
    """Rows of a table by the value of the column that it is sorted by."""

    def __init__(self, table: pa.Table, name: str) -> None:
        self._table = table
        values = table[name].combine_chunks().dictionary_encode()
        codes = values.indices.to_numpy(zero_copy_only=False)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        keys = values.dictionary.take(pa.array(codes[starts])).to_pylist()
        ends = np.append(starts, len(codes))[1:]
        self._spans = dict(zip(keys, zip(starts.tolist(), ends.tolist(), strict=True), strict=True))

    def of(self, key: object) -> list[dict[str, Any]]:
        """Return the rows with this value."""
        start, end = self._spans.get(key, (0, 0))
        rows: list[dict[str, Any]] = self._table.slice(start, end - start).to_pylist()
        return rows

    @property
    def keys(self) -> set[Any]:
        """Values of the column, without a missing one."""
        return {key for key in self._spans if key is not None}


class Coupons:
    """Coupons of all batches."""

    def __init__(self, network: Network) -> None:
        select = "FROM reward_coupons ORDER BY batch_contract_id, party, contract_id"
        self._rows = _SortedRows(run_arrow(network.frames, network.query(select, REWARD_COUPONS)), "batch_contract_id")

    def of(self, batch: Batch) -> list[Coupon]:
        """Return the coupons of a batch."""
        return [Coupon(**row) for row in self._rows.of(batch.contract_id)]


def _read_weights(network: Network) -> _SortedRows:
    """Return the published weight of each round and party."""
    select = "FROM published_weights ORDER BY round_number, party"
    return _SortedRows(run_arrow(network.frames, network.query(select, PUBLISHED_WEIGHTS)), "round_number")


def _rounds_in_frames(network: Network, others: set[int]) -> list[int]:
    """Return other rounds, and those that were the lowest open round within the window."""
    window = network.frames.window
    assert window is not None
    table = _round_table(network)
    since, until = microseconds(pd.Series([window.since, window.until], dtype="datetime64[us, UTC]"))
    lives = lowest_open_times(table) if len(table) else pd.DataFrame({"round_number": [], "since": [], "until": []})
    is_inside = (lives["since"] < until) & (lives["until"] > since) & (lives["until"] > lives["since"])
    return sorted({*others, *(int(number) for number in lives["round_number"][is_inside])})


def _round_table(network: Network) -> pd.DataFrame:
    """Return the rounds of the frames with their times, as in the results of ``lf.state``."""
    rounds = network.rounds
    rows = [
        (number, values[0]["opens_at"], contract.time, rounds.ended.get(number))
        for number, contract in sorted(rounds.opened.items())
        if (values := read_round(contract.payload))
    ]
    table = pd.DataFrame(rows, columns=["round_number", "opens_at", "from", "until"])
    table["round_number"] = table["round_number"].astype("Int64")
    for name in ("from", "until"):
        table[name] = pd.to_datetime(table[name].astype("Int64"), unit="us", utc=True).astype("datetime64[us, UTC]")
    return table.assign(opens_at=pd.to_datetime(table["opens_at"], utc=True).astype("datetime64[us, UTC]"))


def _add_spans(network: Network, rounds: list[RewardRound], weights: _SortedRows) -> None:
    """Note for each round whether all its records and its time are in the frames."""
    numbers = pd.Series([each.number for each in rounds], dtype="Int64")
    table = _round_table(network)
    is_partial = round_values(network.frames, table, numbers)["is_partial"] if len(table) else numbers.notna()
    covered, window = covered_time(network.frames), network.frames.window
    assert window is not None
    (end,) = microseconds(pd.Series([window.until], dtype="datetime64[us, UTC]"))
    for each, partial in zip(rounds, is_partial, strict=True):
        if not (pd.isna(partial) or partial):
            rows = weights.of(each.number)
            each.weights = {row["party"]: int(row["weight"]) for row in rows}
            each.record_count = sum(row["records"] for row in rows)
        begin = network.rounds.span(each.number)[0]
        last = each.start.time if each.start else int(end)
        if begin is not None and begin < last:
            each.is_covered = not covered.is_partial(np.array([begin]), np.array([last]))[0]


# -- steps on the ledger ------------------------------------------------------------------------------------------------


class _Steps:
    """Steps of the history by contract."""

    def __init__(self, network: Network) -> None:
        self._network = network
        select = """
SELECT * EXCLUDE (record_time), epoch_us(record_time) AS time
FROM reward_steps
ORDER BY migration_id, record_time, update_id, node_index"""
        rows = network.rows(network.query(select, REWARD_STEPS))
        steps = [_step(network, row) for row in rows]
        templates = (CALCULATE_REWARDS, DSO_RULES)
        self._of = {name: [step for step in steps if step.template == name] for name in templates}
        self._starts = [step for step in steps if step.choice == START]
        self._confirmations = [step for step in steps if not step.choice and step.template.endswith(":Confirmation")]
        self._processed = {step.contract_id: step for step in steps if step.choice == PROCESS_BATCH}
        self._children: defaultdict[str | None, list[Step]] = defaultdict(list)
        for step in steps:
            if not step.choice and step.template == PROCESS_REWARDS:
                self._children[step.parent_event_id].append(step)

    def rounds(self) -> dict[Key, RewardRound]:
        """Return the rewards of each round that the ledger calculates or processes."""
        by_contract = {step.contract_id: _reward_round(step.payload) for step in self._of[CALCULATE_REWARDS]}
        for contract_id, each in by_contract.items():
            if each:
                each.calculate_id = contract_id
        for step in self._starts:
            roots = self._children[step.event_id]
            contract_id = str(member(step.argument, "calculateRewardsCid"))
            each = by_contract.get(contract_id) or (_reward_round(roots[0].payload) if roots else None)
            if each is None:
                continue
            by_contract[contract_id] = each
            each.start, each.super_validators = step, self._super_validators(step)
            each.root = self._batch(roots[0]) if roots else None
        for step in self._confirmations:
            value = _processing_of(step.payload)
            each = by_contract.get(str(member(value, "calculateRewardsCid")))
            if each:
                each.confirmed[str(step.payload.get("confirmer"))] = hash_of(member(value, "batchHash"))
        return {(each.number, each.kind, each.is_dry_run): each for each in by_contract.values() if each}

    def _super_validators(self, start: Step) -> frozenset[str] | None:
        """Return the super validators at a step, or None if the rules are not in the frames."""
        before = [step for step in self._of[DSO_RULES] if not step.choice and step.time <= start.time]
        return frozenset(row["party"] for row in read_validators(before[-1].payload)) if before else None

    def _batch(self, created: Step) -> Batch:
        """Return the batch of a contract with all batches below."""
        head = (created.contract_id, hash_of(created.payload.get("batchHash")), created.parent_event_id)
        step = self._processed.get(created.contract_id)
        batch = {} if step is None else step.argument.get("batch")
        tag, value = str(member(batch, "tag") or ""), member(batch, "value")
        items = value if isinstance(value, list) else []
        if step is None or tag not in (LEAF, NODE):
            return Batch(*head)
        if tag == NODE:
            children = tuple(self._batch(child) for child in self._children[step.event_id])
            return Batch(*head, NODE, hashes=tuple(hash_of(item) or "" for item in items), children=children)
        return Batch(*head, LEAF, tuple((str(member(item, "provider")), to_decimal(member(item, "amount"))) for item in items))


def _step(network: Network, row: Mapping[str, Any]) -> Step:
    names = ("time", "update_id", "event_id", "parent_event_id", "contract_id", "template", "choice")
    payloads = (network.members(row[name]) for name in ("create_arguments", "choice_argument"))
    return Step(*(row[name] for name in names), *payloads)


def _reward_round(payload: Values) -> RewardRound | None:
    """Return the round, kind and flag that a contract names."""
    number = round_of(payload)
    if number is None:
        return None
    kind = VALIDATOR if str(payload.get("kind") or "").lower().endswith("validator") else APP
    return RewardRound(number, kind, payload.get("dryRun") in (True, "true"))


def _processing_of(confirmation: Values) -> Values:
    """Return the argument of the choice that a confirmation is for."""
    value = member(confirmation, "action", "value", "coinRulesAction", "value")
    return value if isinstance(value, dict) else {}
