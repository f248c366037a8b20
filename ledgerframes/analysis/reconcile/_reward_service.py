"""Rewards of a round as a service computes them, against the ledger and our results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

import pandas as pd

from ledgerframes.analysis._amounts import half_up, to_decimal
from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.reconcile._reward_links import DIFFERS, EQUAL, LOCALE, MISSING, UNKNOWN, Link, Proof
from ledgerframes.analysis.reconcile._reward_rounds import APP
from ledgerframes.analysis.reconcile._reward_tree import LEAF, allowance_texts, leaf_hash, node_hash
from ledgerframes.datasets.reference.network_schema import REWARD_ACCOUNTING
from ledgerframes.errors import UsageError
from ledgerframes.values.decimals import STEP

OK = "Ok"
NOT_ASKED = "not checked: the service was not asked for the round"
APPS_ONLY = "not checked: the service has the rewards of apps only"
NOTHING_KNOWN = "not checked: neither the weights of the round nor its root are known"
WITHOUT_TOTALS, WITHOUT_ROOT = "without the totals", "without the root"
COLUMNS = {  # columns of a table of answers, by their names here
    "weight": "total_app_activity_weight",
    "parties": "active_parties_count",
    "records": "activity_records_count",
    "amount": "total_app_reward_minting_allowance",
    "below the threshold": "total_app_reward_thresholded",
    "unclaimed": "total_app_reward_unclaimed",
    "rewarded parties": "rewarded_app_provider_parties_count",
}
Allowances = tuple[tuple[str, Decimal], ...]


@dataclass(frozen=True)
class ServiceBatch:
    """A batch as a service has it."""

    hashes: tuple[str, ...] = ()
    allowances: Allowances = ()
    is_leaf: bool = False

    @property
    def own_hash(self) -> str:
        """Hash of its content."""
        return leaf_hash(allowance_texts(self.allowances)) if self.is_leaf else node_hash(self.hashes)


@dataclass(frozen=True)
class Answer:
    """The answer of a service about a round."""

    totals_status: str
    root_status: str
    totals: dict[str, Decimal]  # the totals in the answer, by the names above
    root: str | None
    batches: dict[str, ServiceBatch | None]

    @property
    def allowances(self) -> Allowances:
        """Allowances of its batches from left to right, each batch once."""
        allowances: list[tuple[str, Decimal]] = []
        waiting, seen = [self.root], set()
        while waiting:
            digest = waiting.pop()
            batch = self.batches.get(digest or "")
            if batch and digest not in seen:
                seen.add(digest)
                allowances += batch.allowances
                waiting += reversed(batch.hashes)
        return tuple(allowances)

    @property
    def differing_batches(self) -> Iterator[str]:
        """Hashes for which the service returns batches with another hash."""
        for digest, batch in self.batches.items():
            if batch and batch.own_hash != digest:
                yield digest


class Service:
    """The latest answers of a service by round, those with a root before others."""

    def __init__(self, table: pd.DataFrame) -> None:
        names = [*REWARD_ACCOUNTING.column_names]
        rule = "service= must be a table of lf.load_reward_accounting"
        table = require_columns(table, names, rule, "Pass what the function returns.")
        ordered = table.assign(has_root=table["root_hash"].notna()).sort_values(["has_root", "observed_at"], kind="stable")
        rows = ordered.drop_duplicates("round_number", keep="last")[names].to_dict("records")
        self._answers = {int(row["round_number"]): _answer(cast("dict[str, Any]", row)) for row in rows}

    def allowances(self, proof: Proof) -> dict[str, Decimal] | None:
        """Return the allowance of each party, or None if the service has no root of the round."""
        answer = self._answers.get(proof.round.number) if proof.round.kind == APP else None
        return None if answer is None or answer.root is None else dict(answer.allowances)

    def link(self, proof: Proof) -> Link:
        """Return the link of the answers of a service."""
        answer = self._answers.get(proof.round.number)
        if proof.round.kind != APP or answer is None:
            return Link(UNKNOWN, NOT_ASKED if answer is None and proof.round.kind == APP else APPS_ONLY)
        if not answer.totals and answer.root is None:
            return Link(UNKNOWN, f"not checked: the service answers {answer.totals_status}")
        roots = _roots(proof)
        if not (roots and answer.root) and not (proof.weights and answer.totals):
            return Link(UNKNOWN, NOTHING_KNOWN)
        if differing := list(_differing_totals(proof, answer)):
            name, expected = differing[0]
            others = ", ".join(name for name, _ in differing)
            return _differs(proof, answer, f"it differs in: {others}", str(expected), str(answer.totals[name]))
        if answer.root is None or not roots:
            return Link(EQUAL, WITHOUT_ROOT)
        return _root_link(proof, answer, roots)


def _root_link(proof: Proof, answer: Answer, roots: list[str]) -> Link:
    reasons = [] if answer.totals and proof.totals else [WITHOUT_TOTALS]
    if answer.root not in roots:
        # The order of a root on the ledger is known. Until then, a service can also sort as in a locale.
        if proof.round.root is not None or answer.root not in proof.roots_by_locale:
            return _differs(proof, answer, "it differs in: root", roots[0], answer.root)
        reasons.insert(0, LOCALE)
    if absent := next((digest for digest, batch in answer.batches.items() if batch is None), None):
        return Link(MISSING, "the service has no such batch", absent, None, None, absent)
    for digest in answer.differing_batches:
        batch = answer.batches[digest]
        return _differs(proof, answer, "a batch has another hash", digest, batch.own_hash if batch else None)
    return Link(EQUAL, ", ".join(reasons) or None, answer.root, answer.root)


def _roots(proof: Proof) -> list[str]:
    """Return the roots that the service can have, with that of the ledger first."""
    executed = proof.round.executed
    own = sorted(proof.roots) if proof.round.root else [tree.root for tree in proof.trees]
    return [*([executed] if executed else []), *own]


def _on_ledger(proof: Proof) -> dict[str, Decimal] | None:
    """Return the allowances of the ledger, or None if they are not known."""
    if proof.round.root is None or proof.allowances is None:
        return None
    return {party: amount or Decimal(0) for party, amount in proof.allowances}


def _differing_totals(proof: Proof, answer: Answer) -> Iterator[tuple[str, Decimal]]:
    """Yield the totals that differ, with the value that follows from the weights."""
    options = [_totals(proof, number) for number in range(len(proof.weights))]
    if (known := _on_ledger(proof)) is not None:
        options.append({"amount": sum(known.values(), Decimal(0)), "rewarded parties": Decimal(len(known))})
    for name, value in answer.totals.items():
        expected = [option[name] for option in options if name in option]
        # The sum of the amounts below the threshold can be rounded for each amount, or once.
        bound = STEP * len(proof.weights[0]) if name == "below the threshold" and proof.weights else Decimal(0)
        if expected and all(abs(each - value) > bound for each in expected):
            yield name, expected[0]


def _totals(proof: Proof, number: int) -> dict[str, Decimal]:
    """Return the totals that follow from one of the options of weights."""
    weights = proof.weights[number]
    totals = {"weight": Decimal(sum(weights.values())), "parties": Decimal(len(weights))}
    if number == 0 and proof.round.record_count is not None:
        totals["records"] = Decimal(proof.round.record_count)
    if proof.totals:
        of_round, own = proof.totals[number], proof.own[number]
        below = [half_up(of_round.allowance(weight)) for party, weight in weights.items() if party not in own]
        totals |= {
            "amount": sum(own.values(), Decimal(0)),
            "rewarded parties": Decimal(len(own)),
            "below the threshold": sum(below, Decimal(0)),
            "unclaimed": of_round.unclaimed,
        }
    return totals


def _differs(proof: Proof, answer: Answer, reason: str, expected: str, on_service: str | None) -> Link:
    """Return a link with the difference of the allowances, and the first party that differs."""
    served, difference, example = dict(answer.allowances), None, None
    options = [each for each in (proof.own_amounts, _on_ledger(proof)) if each is not None]
    known = next(iter(options), None)
    if answer.root is not None and known is not None and served not in options:
        differences = {party: abs(served.get(party, Decimal(0)) - known.get(party, Decimal(0))) for party in {*served, *known}}
        difference = sum(differences.values(), Decimal(0))
        example = min(party for party, each in differences.items() if each or (party in served) != (party in known))
    return Link(DIFFERS, reason, expected, on_service, difference, example)


# -- rows of the table ----------------------------------------------------------------------------------------------------


def _answer(row: dict[str, Any]) -> Answer:
    totals = {name: Decimal(str(row[column])) for name, column in COLUMNS.items() if not pd.isna(row[column])}
    root = None if pd.isna(row["root_hash"]) else str(row["root_hash"])
    batches = {} if pd.isna(row["batches"]) else _batches(str(row["batches"]))
    return Answer(str(row["totals_status"]), str(row["root_status"]), totals, root, batches)


def _batches(text: str) -> dict[str, ServiceBatch | None]:
    try:
        return {str(digest): None if batch is None else _batch(batch) for digest, batch in json.loads(text).items()}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        reason = "service= must have batches as lf.load_reward_accounting returns them"
        raise UsageError(f"{reason}, got {text[:60]!r}. Load them again.") from None


def _batch(batch: dict[str, Any]) -> ServiceBatch:
    if batch["batch_type"] != LEAF:
        return ServiceBatch(tuple(map(str, batch["child_hashes"])))
    pairs = [(str(each["provider"]), to_decimal(each["amount"])) for each in batch["minting_allowances"]]
    return ServiceBatch((), tuple((party, Decimal(0) if amount is None else amount) for party, amount in pairs), is_leaf=True)
