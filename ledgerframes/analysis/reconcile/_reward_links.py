"""Links from the records of a round to its coupons, each checked separately.

Each link is checked against the one before, as recorded on the ledger or as computed, so one broken link does not break the
rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from ledgerframes.analysis.activity.reward_formula import RoundTotals, round_totals, rules_of
from ledgerframes.analysis.reconcile._reward_rounds import APP, Batch, Coupon, RewardRound
from ledgerframes.analysis.reconcile._reward_tree import (
    LEAF,
    MIN_BATCH_SIZE,
    RewardTree,
    allowance_texts,
    leaf_hash,
    node_hash,
    reward_tree,
)
from ledgerframes.errors import UsageError

EQUAL, DIFFERS, MISSING, UNKNOWN = STATUSES = ("equal", "differs", "missing", "unknown")
SERVICE = "service"
LINKS = ("weights", "amounts", "leaves", "root", "confirmations", "coupons", SERVICE)
NO_START = "the start of the round is not in the frames"
NO_TRAFFIC = "the round does not reward traffic"
NOT_PUBLIC = "how amounts of validators come about is not public"
PARTIAL = "records of the round can be missing"
NO_RULES = "a price or rule of the round is not known"
NOT_PROCESSED = "it is not processed by the end of the frames"
NO_ROOT = "no root is in the frames"
BEFORE_FRAMES = "it can have happened before the frames"
GAP = "history of its time is missing"
NEVER_PROCESSED = "it was never processed, but later rounds were"
LOCALE = "parties are sorted as in a locale"
NOT_SORTED = "parties are not sorted"
OTHER_FLAG = "the round is processed as a dry run, or paid, against its reward configuration"
Amounts = dict[str, Decimal]
Allowances = Iterable[tuple[str, Decimal | None]]


@dataclass(frozen=True)
class Link:
    """Result of the check of one link."""

    status: str
    reason: str | None = None
    expected: str | None = None
    on_ledger: str | None = None
    difference: Decimal | None = None
    example: str | None = None


@dataclass
class Proof:
    """Rewards of a round on the ledger, and as computed from its weights."""

    round: RewardRound
    weights: list[dict[str, int]] = field(default_factory=list)  # the published ones first, or none if they are not known
    coupons: list[Coupon] = field(default_factory=list)

    @cached_property
    def totals(self) -> list[RoundTotals]:
        """Totals that follow from the weights, or none if they are not known."""
        rules = rules_of(self.round.rules)
        if self.round.kind != APP or rules is None:
            return []
        return [round_totals(rules, sum(weights.values())) for weights in self.weights]

    @cached_property
    def own(self) -> list[Amounts]:
        """Amounts that follow from the weights, one for each of the totals."""
        return [_amounts(totals, weights) for totals, weights in zip(self.totals, self.weights, strict=False)]

    @cached_property
    def own_amounts(self) -> Amounts | None:
        """The amounts of the ledger if they follow from the weights, or else the computed ones."""
        on_ledger = _counts(self.allowances or [])
        return next((own for own in self.own if _counts(own.items()) == on_ledger), next(iter(self.own), None))

    @cached_property
    def trees(self) -> list[RewardTree]:
        """Trees of these amounts, or none if they are not known."""
        size = self._batch_size
        return [] if size is None else [reward_tree(amounts.items(), size) for amounts in self.own]

    @property
    def roots_by_locale(self) -> list[str]:
        """Roots of these amounts with the parties in the orders of a locale."""
        size = self._batch_size
        if size is None:
            return []
        orders = [[(party, own[party]) for party in parties] for own in self.own for parties in _locale_orders(own)]
        return [reward_tree(order, size, sort=False).root for order in orders]

    @cached_property
    def own_batches(self) -> dict[str, tuple[tuple[str, Decimal], ...]]:
        """Allowances below each hash of these trees."""
        batches = {}
        for tree in self.trees:
            for level, hashes in enumerate(tree.levels):
                size = tree.batch_size ** (level + 1)
                for position, digest in enumerate(hashes):
                    batches[digest] = tree.allowances[position * size : (position + 1) * size]
        return batches

    @cached_property
    def allowances(self) -> list[tuple[str, Decimal | None]] | None:
        """Allowances of the ledger in order, or None if those of any batch are not known."""
        allowances: list[tuple[str, Decimal | None]] = []
        for leaf in self.round.root.leaves if self.round.root else ():
            if leaf.tag != LEAF and leaf.committed not in self.own_batches:
                return None
            allowances += leaf.allowances if leaf.tag == LEAF else self.own_batches[str(leaf.committed)]
        return allowances

    @cached_property
    def roots(self) -> set[str]:
        """Roots that follow from the weights, or from the allowances of the ledger."""
        size, allowances, roots = self._batch_size, self.allowances, {tree.root for tree in self.trees}
        if allowances is None or size is None:
            return roots | ({hash_as_it_stands(self.round.root)} if self.round.root else set())
        return roots | set(_tree_roots(allowances, size))

    @property
    def _batch_size(self) -> int | None:
        size = self.round.rules.get("batch_size")
        return size if isinstance(size, int) and size >= MIN_BATCH_SIZE else None

    def _follows(self, digest: str | None, own: str) -> bool:
        """Return whether a hash follows from a batch on the ledger, or from the weights."""
        return digest == own or digest in self.own_batches

    def links(self, weights: Link, service: Callable[[Proof], Link] | None = None) -> dict[str, Link]:
        """Return each link, given the link of the weights and the check of a service, if any."""
        checks: dict[str, Callable[[], Link]] = {
            "weights": lambda: weights,
            "amounts": self._amounts,
            "leaves": self._leaves,
            "root": self._root,
            "confirmations": self._confirmations,
            "coupons": self._coupons,
        }
        if service:
            checks[SERVICE] = lambda: service(self)
        if reason := self._reason_for_all:
            return dict.fromkeys(checks, Link(UNKNOWN, reason))
        return {name: self._with_gap(check()) for name, check in checks.items()}

    @property
    def _reason_for_all(self) -> str | None:
        if self.round.root is not None or self.round.is_expected:
            return None
        return NO_TRAFFIC if self.round.rules else NO_START

    def _with_gap(self, link: Link) -> Link:
        is_unsure = link.status in (DIFFERS, MISSING) and not self.round.is_covered
        return Link(UNKNOWN, GAP, link.expected, link.on_ledger, link.difference, link.example) if is_unsure else link

    def _absent(self, expected: str | None = None, processed: str | None = None, example: str | None = None) -> Link:
        """Return a link whose step is still to come, or never came."""
        status, reason = (MISSING, NEVER_PROCESSED) if self.round.is_followed else (UNKNOWN, NOT_PROCESSED)
        return Link(status, reason, expected, processed, None, example)

    # -- links --------------------------------------------------------------------------------------------------------

    def _amounts(self) -> Link:
        if not self.own:
            return Link(UNKNOWN, NOT_PUBLIC if self.round.kind != APP else NO_RULES if self.weights else PARTIAL)
        if self.round.root is None:
            return Link(UNKNOWN, NO_ROOT)
        if self.allowances is None:
            return Link(UNKNOWN, NOT_PROCESSED)
        links = [_compare_amounts(own, self.allowances) for own in self.own]
        return next((link for link in links if link.status == EQUAL), links[0])

    def _leaves(self) -> Link:
        root = self.round.root
        if root is None:
            return Link(UNKNOWN, NO_ROOT)
        leaves = root.leaves
        expected, processed = str(len(leaves)), [leaf for leaf in leaves if leaf.tag == LEAF]
        for leaf in leaves:
            if leaf.tag != LEAF:
                return self._absent(expected, str(len(processed)), leaf.contract_id)
            if leaf is not root and not self._follows(leaf.committed, own := hash_as_it_stands(leaf)):
                return Link(DIFFERS, None, own, leaf.committed, None, leaf.contract_id)
        order = _order([party for leaf in processed for party, _ in leaf.allowances])
        return order or Link(EQUAL, None, expected, expected)

    def _root(self) -> Link:
        root, executed = self.round.root, self.round.executed
        if root is None or executed is None:
            return self._absent()
        expected = next(iter([*(tree.root for tree in self.trees), *sorted(self.roots)]))
        update_id = self.round.start.update_id if self.round.start else None
        if executed not in self.roots:
            return Link(DIFFERS, None, expected, executed, None, update_id)
        if root.committed != executed:
            return Link(DIFFERS, None, executed, root.committed, None, root.contract_id)
        return self._differing_node(root) or Link(EQUAL, None, executed, executed, None, update_id)

    def _differing_node(self, root: Batch) -> Link | None:
        """Return the first batch above the leaves that has a wrong hash."""
        for node in root.nodes:
            if node is not root and not self._follows(node.committed, own := node_hash(node.hashes)):
                return Link(DIFFERS, None, own, node.committed, None, node.contract_id)
            if len(node.hashes) != len(node.children):
                return Link(DIFFERS, None, str(len(node.children)), str(len(node.hashes)), None, node.contract_id)
            for digest, child in zip(node.hashes, node.children, strict=True):
                if not self._follows(digest, own := hash_as_it_stands(child)):
                    return Link(DIFFERS, None, own, digest, None, node.contract_id)
        return None

    def _confirmations(self) -> Link:
        executed = self.round.executed
        if executed is None:
            return Link(UNKNOWN, NO_ROOT)
        if not self.round.confirmed:
            return Link(MISSING, None, executed) if self.round.calculate_id else Link(UNKNOWN, BEFORE_FRAMES, executed)
        accepted = {executed, *self.roots}
        others = sorted(party for party, digest in self.round.confirmed.items() if digest not in accepted)
        silent = None if self.round.super_validators is None else len(self.round.super_validators - self.round.confirmed.keys())
        parts = [f"{len(self.round.confirmed) - len(others)} agree", *([f"{len(others)} differ"] if others else [])]
        on_ledger = ", ".join([*parts, *([f"{silent} silent"] if silent else [])])
        return Link(DIFFERS if others else EQUAL, None, executed, on_ledger, None, others[0] if others else None)

    def _coupons(self) -> Link:
        root = self.round.root
        if root is None:
            return Link(UNKNOWN, NO_ROOT)
        allowances = [] if self.round.is_dry_run else [each for leaf in root.leaves for each in leaf.allowances]
        options: list[Allowances] = [allowances] if self.round.is_dry_run else [allowances, *(own.items() for own in self.own)]
        created = [(coupon.party, coupon.amount) for coupon in self.coupons]
        fates = Counter(coupon.fate for coupon in self.coupons)
        on_ledger = ", ".join(
            [str(len(created)), *(f"{fates[fate]} {fate}" for fate in ("expired", "used", "open") if fates[fate])]
        )
        if self.round.has_other_flag:
            return Link(DIFFERS, OTHER_FLAG, str(len(allowances)), on_ledger, None, root.contract_id)
        if _counts(created) in map(_counts, options):
            return Link(EQUAL, None, str(len(created)), on_ledger)
        absent, extra = _counts(allowances) - _counts(created), _counts(created) - _counts(allowances)
        example = min(party for party, _ in (absent + extra))
        total = _sum_of_differences(allowances, created)
        return Link(MISSING if not extra else DIFFERS, None, str(len(allowances)), on_ledger, total, example)


def _amounts(totals: RoundTotals, weights: dict[str, int]) -> Amounts:
    """Return the amounts of the parties that reach the threshold."""
    return {party: totals.amount(weight) for party, weight in weights.items() if totals.allowance(weight) >= totals.threshold}


def hash_as_it_stands(batch: Batch) -> str:
    """Return the hash of a batch, from the batches below it that are processed."""
    if batch.tag == LEAF:
        return leaf_hash(allowance_texts((party, amount) for party, amount in batch.allowances if amount is not None))
    return node_hash([hash_as_it_stands(child) for child in batch.children]) if batch.tag else batch.committed or ""


def _tree_roots(allowances: Allowances, size: int) -> Iterable[str]:
    known = [(party, amount) for party, amount in allowances if amount is not None]
    try:
        yield reward_tree(known, size, sort=False).root
    except UsageError:  # A party that occurs twice, or a negative amount, makes a tree impossible.
        return


def _counts(allowances: Allowances) -> Counter[tuple[str, Decimal | None]]:
    return Counter(allowances)


def _compare_amounts(own: Amounts, allowances: Sequence[tuple[str, Decimal | None]]) -> Link:
    expected, on_ledger = (str(sum((amount or 0 for _, amount in side), Decimal(0))) for side in (own.items(), allowances))
    ours, theirs = _counts(own.items()), _counts(allowances)
    if ours == theirs:
        return Link(EQUAL, None, expected, on_ledger)
    example = min(party for party, _ in ((ours - theirs) + (theirs - ours)))
    return Link(DIFFERS, None, expected, on_ledger, _sum_of_differences(own.items(), allowances), example)


def _sum_of_differences(left: Allowances, right: Allowances) -> Decimal:
    """Return the sum of the absolute differences of all parties."""
    totals: dict[str, Decimal] = {}
    for side, sign in ((left, -1), (right, 1)):
        for party, amount in side:
            totals[party] = totals.get(party, Decimal(0)) + sign * (amount or 0)
    return sum(map(abs, totals.values()), Decimal(0))


# -- order --------------------------------------------------------------------------------------------------------------


def _order(parties: list[str]) -> Link | None:
    """Return a link that says how parties are sorted, or None if they are sorted by bytes."""
    expected = sorted(parties, key=str.encode)
    if parties == expected:
        return None
    if parties in _locale_orders(parties):
        return Link(EQUAL, LOCALE)
    position = next(number for number, (own, party) in enumerate(zip(expected, parties, strict=True)) if own != party)
    return Link(DIFFERS, NOT_SORTED, expected[position], parties[position], None, parties[position])


def _locale_orders(parties: Iterable[str]) -> list[list[str]]:
    return [sorted(parties, key=key) for key in (_by_letters, str.casefold)]


def _by_letters(party: str) -> tuple[str, str]:
    """Return a sort key as locales have it, with punctuation and case last."""
    return "".join(filter(str.isalnum, party)).casefold(), party.swapcase()
