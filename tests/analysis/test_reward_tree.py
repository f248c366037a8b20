"""Hash trees of rewards, against the vectors and against ten lines of plain Python."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.errors import UsageError

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "reward_vectors.json").read_text("utf-8"))
ROUNDS = st.dictionaries(st.text(min_size=1, max_size=8), st.decimals(0, 10**15, places=10), min_size=1, max_size=40)


def pairs(vector: dict[str, Any]) -> list[tuple[str, Decimal]]:
    return [(party, Decimal(amount)) for party, amount in vector["allowances"]]


def is_proven(text: str) -> bool:
    """Verify a proof as the documentation shows it, without the package."""
    proof = json.loads(text)
    digest = lambda text: hashlib.sha256(text.encode()).hexdigest()  # noqa: E731
    listed = lambda hashes: digest("|".join([str(len(hashes)), *hashes]))  # noqa: E731
    batch = [listed([digest(party), digest(amount)]) for party, amount in proof["leaf"]]
    known = digest(f"BatchOfMintingAllowances|1|{listed(batch)}")
    holds = [proof["party"], proof["amount"]] in proof["leaf"]
    for hashes in proof["path"]:
        holds = holds and known in hashes
        known = digest(f"BatchOfBatches|1|{listed(hashes)}")
    return holds and known == proof["root"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{len(vector['allowances'])}-by-{vector['batch_size']}")
def test_every_vector_has_its_levels_and_root(vector: dict[str, Any]) -> None:
    tree = lf.reconcile.reward_tree(reversed(pairs(vector)), vector["batch_size"])
    assert [list(hashes) for hashes in tree.levels] == vector["levels"]
    assert tree.root == vector["root"]


@given(ROUNDS, st.integers(2, 7), st.data())
def test_each_party_has_a_proof_that_any_change_breaks(amounts: dict[str, Decimal], size: int, data: st.DataObject) -> None:
    tree = lf.reconcile.reward_tree(amounts.items(), size)
    proof = tree.proof(data.draw(st.sampled_from(sorted(amounts))))
    assert proof.verify() and is_proven(proof.to_json())
    wrong = [
        replace(proof, amount=proof.amount + Decimal("1E-10")),
        replace(proof, party=proof.party + "x"),
        replace(proof, root=proof.root[::-1] + "0"),
        replace(proof, leaf=((proof.party, proof.to_json()), *proof.leaf)),
        replace(proof, path=(*proof.path, (proof.root, proof.root))),
    ]
    assert not any(each.verify() or is_proven(each.to_json()) for each in wrong)


def test_the_order_of_the_parties_can_be_that_of_the_caller() -> None:
    allowances = [("b", Decimal(1)), ("B", Decimal(2)), ("a", Decimal(3))]
    by_text = lf.reconcile.reward_tree(allowances, 2)
    as_given = lf.reconcile.reward_tree(allowances, 2, sort=False)
    assert [party for party, _ in by_text.allowances] == ["B", "a", "b"]
    assert as_given.proof("b").position == 0
    assert as_given.root != by_text.root


@pytest.mark.parametrize(
    ("allowances", "size", "text"),
    [
        ([("a", Decimal(1)), ("a", Decimal(2))], 2, "occurs twice"),
        ([("a", Decimal("0.00000000001"))], 2, "at most 10 decimal places"),
        ([("a", Decimal(-1))], 2, "must not be negative"),
        ([("a", 0.5)], 2, "must be a Decimal"),
        ({"a": Decimal(1)}, 2, "allowances= must be pairs of a party and an amount, got 'a'"),
        ([(None, 1)], 2, r"pairs of a party and an amount, got \(None, 1\)"),
        (5, 2, "pairs of a party and an amount, got 5"),
        ([], 1, "at least 2, got 1"),
        ([], True, "at least 2, got True"),
    ],
)
def test_what_has_no_tree_is_refused(allowances: Any, size: int, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        lf.reconcile.reward_tree(allowances, size)


def test_a_party_without_a_reward_has_no_proof() -> None:
    with pytest.raises(UsageError, match="'c' has no reward among the 1 of this round"):
        lf.reconcile.reward_tree([("a", Decimal(1))], 2).proof("c")
