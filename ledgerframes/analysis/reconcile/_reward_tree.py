"""Hash tree of the rewards of a mining round, and the proof of one party's reward."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import TypeVar

from ledgerframes.errors import UsageError
from ledgerframes.values.checks import require_integer
from ledgerframes.values.decimals import exact_number

__all__ = ["RewardProof", "RewardTree", "reward_tree"]

LEAF, NODE = "BatchOfMintingAllowances", "BatchOfBatches"
MIN_BATCH_SIZE = 2  # Batches of one hash would never lead to a root.
Allowance = tuple[str, Decimal]
AllowanceTexts = tuple[tuple[str, str], ...]
Item = TypeVar("Item")


@dataclass(frozen=True)
class RewardProof:
    """The path from the reward of one party to the root of its round.

    Attributes
    ----------
    party : str
    amount : Decimal
        In coin.
    position : int
        Number of the party in the round, from 0.
    leaf : tuple of tuple
        Party and text of the amount of each allowance in the party's batch.
    path : tuple of tuple of str
        For each level above the leaves, the hashes of the batch that contains the hash of the level below.
    root : str
        Hash of the round, in hexadecimal digits.

    Notes
    -----
    Source: docs/facts.md#reward-tree.
    """

    party: str
    amount: Decimal
    position: int
    leaf: AllowanceTexts = field(repr=False)
    path: tuple[tuple[str, ...], ...] = field(repr=False)
    root: str

    def verify(self) -> bool:
        """Return whether the reward leads to the root, hash by hash.

        Examples
        --------
        >>> from decimal import Decimal
        >>> import ledgerframes as lf
        >>> tree = lf.reconcile.reward_tree([("a", Decimal(1)), ("b", Decimal(2))], batch_size=2)
        >>> tree.proof("b").verify()
        True
        """
        if (self.party, amount_text(self.amount)) not in self.leaf:
            return False
        digest = leaf_hash(self.leaf)
        for hashes in self.path:
            if digest not in hashes:
                return False
            digest = node_hash(hashes)
        return digest == self.root

    def to_json(self) -> str:
        """Return the proof as JSON, for a check with other software.

        Examples
        --------
        >>> from decimal import Decimal
        >>> import ledgerframes as lf
        >>> lf.reconcile.reward_tree([("a", Decimal(1))], batch_size=2).proof("a").to_json()[:44]
        '{"party": "a", "amount": "1.0", "position": '
        """
        return json.dumps({**asdict(self), "amount": amount_text(self.amount)}, ensure_ascii=False)


@dataclass(frozen=True)
class RewardTree:
    """The hashes of the rewards of a mining round.

    Attributes
    ----------
    allowances : tuple of tuple
        Party and amount [coin], in the order in which they are numbered.
    batch_size : int
        Number of allowances, or of hashes, in one batch.
    levels : tuple of tuple of str
        Hashes of each level in hexadecimal digits, from the leaves to the root.

    Notes
    -----
    Source: docs/facts.md#reward-tree.
    """

    allowances: tuple[Allowance, ...] = field(repr=False)
    batch_size: int
    levels: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def root(self) -> str:
        """The hash that the ledger commits to, in hexadecimal digits."""
        return self.levels[-1][0]

    def proof(self, party: str) -> RewardProof:
        """Return the path from the reward of a party to the root.

        Parameters
        ----------
        party : str
            A party with an allowance in this round.

        Returns
        -------
        RewardProof

        Raises
        ------
        UsageError
            If the party has no allowance.

        Examples
        --------
        >>> from decimal import Decimal
        >>> import ledgerframes as lf
        >>> tree = lf.reconcile.reward_tree([("a", Decimal(1)), ("b", Decimal(2))], batch_size=2)
        >>> tree.proof("b").position
        1
        """
        position = next((number for number, (name, _) in enumerate(self.allowances) if name == party), None)
        if position is None:
            raise UsageError(f"Party {party!r} has no reward among the {len(self.allowances):,} of this round.")
        batch = position // self.batch_size
        leaf = _batches(self.allowances, self.batch_size)[batch]
        path = []
        for hashes in self.levels[:-1]:
            batch //= self.batch_size
            path.append(_batches(hashes, self.batch_size)[batch])
        return RewardProof(party, self.allowances[position][1], position, allowance_texts(leaf), tuple(path), self.root)


def reward_tree(allowances: Iterable[Allowance], batch_size: int, *, sort: bool = True) -> RewardTree:
    """Return the hash tree of the rewards of a mining round.

    Parameters
    ----------
    allowances : iterable of tuple
        Party and amount [coin] of each rewarded provider.
    batch_size : int
        Number of allowances, or of hashes, in one batch. The reward configuration of the round has it.
    sort : bool, optional
        Number the parties in the order of their text (default: True). With False, in the order of `allowances`.

    Returns
    -------
    RewardTree
        The hashes of each level, from the leaves to the root. Without allowances, there is one empty leaf. Its
        :meth:`RewardTree.proof` returns the proof of one party's reward.

    Raises
    ------
    UsageError
        If `allowances` are no pairs, a party occurs twice, an amount is negative or has more than 10 decimal places, or
        `batch_size` is below 2.

    Notes
    -----
    Source: docs/facts.md#reward-tree.

    Examples
    --------
    >>> from decimal import Decimal
    >>> import ledgerframes as lf
    >>> tree = lf.reconcile.reward_tree([("bank::1220", Decimal("2.5")), ("app::1220", Decimal(10))], batch_size=100)
    >>> len(tree.levels), tree.root[:12]
    (1, 'c5f875c0ca6a')
    """
    if not isinstance(allowances, Iterable):
        raise UsageError(f"allowances= must be pairs of a party and an amount, got {allowances!r}.")
    batch_size = require_integer("batch_size", batch_size, MIN_BATCH_SIZE)
    checked = _checked(allowances)
    numbered = tuple(sorted(checked) if sort else checked)
    hashes = tuple(leaf_hash(allowance_texts(batch)) for batch in _batches(numbered, batch_size) or [()])
    levels = [hashes]
    while len(levels[-1]) > 1:
        levels.append(tuple(map(node_hash, _batches(levels[-1], batch_size))))
    return RewardTree(numbered, batch_size, tuple(levels))


def _checked(allowances: Iterable[Allowance]) -> list[Allowance]:
    """Return allowances as pairs of a party and a Decimal, each party once."""
    amounts: dict[str, Decimal] = {}
    for pair in allowances:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise UsageError(f"allowances= must be pairs of a party and an amount, got {pair!r}.")
        party, value = pair
        amount = exact_number(value, "amount")
        if amount < 0:
            raise UsageError(f"amount= must not be negative, got {amount} for party {party!r}.")
        if party in amounts:
            raise UsageError(f"Party {party!r} occurs twice in allowances=. Pass one amount for each party.")
        amounts[party] = amount
    return list(amounts.items())


def _batches(items: tuple[Item, ...], size: int) -> list[tuple[Item, ...]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def allowance_texts(allowances: Iterable[Allowance]) -> AllowanceTexts:
    """Return allowances as they are hashed."""
    return tuple((party, amount_text(amount)) for party, amount in allowances)


def amount_text(amount: Decimal) -> str:
    """Return an amount as the contract language writes it.

    >>> amount_text(Decimal("23759.7510000000")), amount_text(Decimal(10)), amount_text(Decimal("9E-10"))
    ('23759.751', '10.0', '0.0000000009')
    """
    whole, _, fraction = f"{amount:.10f}".partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


# -- hashes -------------------------------------------------------------------------------------------------------------


def leaf_hash(allowances: AllowanceTexts) -> str:
    """Return the hash of a batch of allowances."""
    return _variant_hash(LEAF, _list_hash([_list_hash([_hash(party), _hash(amount)]) for party, amount in allowances]))


def node_hash(hashes: Sequence[str]) -> str:
    """Return the hash of a batch of batches."""
    return _variant_hash(NODE, _list_hash(hashes))


def _variant_hash(tag: str, value: str) -> str:
    return _hash("|".join([tag, "1", value]))


def _list_hash(hashes: Sequence[str]) -> str:
    """Return the hash of a list, which begins with the number of its elements."""
    return _hash("|".join([str(len(hashes)), *hashes]))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
