"""Hash trees of the rewards of rounds (docs/facts.md#reward-tree)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .values import decimal_text

BATCH_SIZE = 2  # small, so that a few rewarded providers make several levels


class Batch(NamedTuple):
    """A batch of allowances, or of batches."""

    hash: str
    allowances: list[tuple[str, int]]  # party and units of 10**-10
    children: list[Batch]


def root_batch(rewards: Mapping[str, int]) -> Batch:
    """Return the batch above all others, given the units of each rewarded party."""
    allowances = sorted(rewards.items())
    starts = range(0, max(len(allowances), 1), BATCH_SIZE)  # without an allowance, one batch of nothing
    batches = [_leaf(allowances[start : start + BATCH_SIZE]) for start in starts]
    while len(batches) > 1:
        batches = [_node(batches[start : start + BATCH_SIZE]) for start in range(0, len(batches), BATCH_SIZE)]
    return batches[0]


def _leaf(allowances: list[tuple[str, int]]) -> Batch:
    hashes = [_list_hash([_hash(party), _hash(_amount_text(units))]) for party, units in allowances]
    return Batch(_hash(f"BatchOfMintingAllowances|1|{_list_hash(hashes)}"), allowances, [])


def _node(children: list[Batch]) -> Batch:
    return Batch(_hash(f"BatchOfBatches|1|{_list_hash(child.hash for child in children)}"), [], children)


def _list_hash(hashes: Iterable[str]) -> str:
    elements = list(hashes)
    return _hash("|".join([str(len(elements)), *elements]))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _amount_text(units: int) -> str:
    """Return an amount with ten places, without the zeros at its end but one."""
    text = decimal_text(units, zero="0.0").rstrip("0")
    return text + "0" if text.endswith(".") else text
