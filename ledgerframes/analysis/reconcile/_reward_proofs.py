"""The proof of each party's reward, from the batches on the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ledgerframes.analysis.reconcile._reward_links import (
    DIFFERS,
    EQUAL,
    MISSING,
    SERVICE,
    UNKNOWN,
    Link,
    Proof,
    hash_as_it_stands,
)
from ledgerframes.analysis.reconcile._reward_rounds import Batch, RewardRound
from ledgerframes.analysis.reconcile._reward_tree import RewardProof, allowance_texts

Hashes = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PartyProof:
    """A reward of a party, with the first link that does not hold for it."""

    party: str
    link: str | None
    check: Link
    proof: RewardProof | None  # None if the party is in no batch
    hashes: tuple[str, ...] = ()  # hashes of its batch and of the batches above


def paths_of(each: RewardRound) -> Iterator[tuple[RewardProof, tuple[str, ...]]]:
    """Yield the path of each party in the batches of a round, and the hashes along it."""
    position = 0
    for leaf, path, hashes in _leaves(each.root, (), ()) if each.root else ():
        texts = allowance_texts((party, amount) for party, amount in leaf.allowances if amount is not None)
        for party, amount in leaf.allowances:
            root = each.executed or (each.root.committed if each.root else None) or ""
            yield RewardProof(party, amount or Decimal(0), position, texts, path, root), hashes
            position += 1


def path_of(each: RewardRound, party: str) -> RewardProof | None:
    """Return the path of one party, or None if it is in no batch."""
    return next((proof for proof, _ in paths_of(each) if proof.party == party), None)


def _leaves(batch: Batch, path: Hashes, above: tuple[str, ...]) -> Iterator[tuple[Batch, Hashes, tuple[str, ...]]]:
    """Yield each leaf with the batches above it and the hashes from the leaf upwards."""
    hashes = (hash_as_it_stands(batch), *above)
    if not batch.hashes:
        yield batch, path, hashes
    for child in batch.children:
        yield from _leaves(child, (batch.hashes, *path), hashes)


def party_proofs(
    proof: Proof, links: dict[str, Link], faulty_parties: list[str], served: dict[str, Decimal] | None = None
) -> Iterator[PartyProof]:
    """Yield the proof of each rewarded party, in the order of the ledger, then the others.

    `served` are the allowances that a service has, or None if they are not known.
    """
    own = proof.own_amounts
    coupons: defaultdict[str, Decimal] = defaultdict(Decimal)
    for coupon in proof.coupons:
        coupons[coupon.party] += coupon.amount or 0
    seen = set()
    for path, hashes in paths_of(proof.round):
        seen.add(path.party)
        created = None if proof.round.is_dry_run else coupons.get(path.party)
        link, check = _first_fault(proof, path, links, own, created, path.party in faulty_parties)
        if link is None and served is not None and links[SERVICE].status != EQUAL:
            link, check = _fault_of_service(path, links[SERVICE], served.get(path.party))
        yield PartyProof(path.party, link, check, path, hashes)
    for party in sorted((own or {}).keys() - seen):
        check = links["amounts"] if links["amounts"].status == UNKNOWN else _absent(own[party] if own else None)
        yield PartyProof(party, "amounts", check, None)


def _first_fault(
    proof: Proof,
    path: RewardProof,
    links: dict[str, Link],
    own: dict[str, Decimal] | None,
    created: Decimal | None,
    is_faulty: bool,
) -> tuple[str | None, Link]:
    amount = str(path.amount)
    if is_faulty:
        return "weights", links["weights"]
    if links["amounts"].status == UNKNOWN or own is None:
        return "amounts", links["amounts"]
    if path.party not in own:
        return "amounts", Link(DIFFERS, None, None, amount, path.amount, path.party)
    if own[path.party] != path.amount:
        return "amounts", Link(DIFFERS, None, str(own[path.party]), amount, abs(own[path.party] - path.amount), path.party)
    if not path.verify():
        name = "leaves" if links["leaves"].status in (DIFFERS, MISSING) else "root"
        return name, links[name] if links[name].status != EQUAL else Link(DIFFERS, None, None, path.root, None, path.party)
    if not proof.round.is_dry_run and created != path.amount:
        status = MISSING if created is None else DIFFERS
        difference = abs(path.amount - (created or 0))
        return "coupons", Link(status, None, amount, None if created is None else str(created), difference, path.party)
    return None, Link(EQUAL, None, amount, amount)


def _fault_of_service(path: RewardProof, link: Link, served: Decimal | None) -> tuple[str | None, Link]:
    """Return whether a service that differs somewhere has another amount for this party."""
    if served == path.amount:
        return None, Link(EQUAL, None, str(path.amount), str(path.amount))
    on_service = None if served is None else str(served)
    difference = abs(path.amount - (served or 0))
    return SERVICE, Link(link.status, link.reason, str(path.amount), on_service, difference, path.party)


def _absent(amount: Decimal | None) -> Link:
    return Link(MISSING, "it is in no batch", None if amount is None else str(amount), None, amount)
