"""Nodes and contracts of traffic, names and dust, which burn coin."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ..formulas import EXACT, MEGABYTE, units
from ..ledger import Contract
from ..parties import VALIDATORS
from ..randomness import number
from ..schedule import Schedule
from ..values import UNITS_PER_COIN
from .choices.apps import TRANSFER_FACTORY_TRANSFER
from .choices.coin import (
    COIN_EXPIRE_V2,
    COIN_RULES_BUY_MEMBER_TRAFFIC,
    COIN_RULES_MERGE_MEMBER_TRAFFIC_CONTRACTS,
    LOCKED_COIN_EXPIRE_COIN_V2,
)
from .choices.wallet import (
    ANS_ENTRY_EXPIRE,
    ANS_ENTRY_RENEW,
    ANS_RULES_COLLECT_ENTRY_RENEWAL_PAYMENT,
    ANS_RULES_COLLECT_INITIAL_ENTRY_PAYMENT,
    ANS_RULES_REQUEST_ENTRY,
    DSO_RULES_EXPIRE_ANS_ENTRY,
)
from .draft import Branch, DraftTransaction
from .payments import mint, mint_missing, take_coins, total_of, transfer, transfer_names
from .specs import archive, create, exercise, insert
from .templates.coin import COIN, LIVENESS_RECORD, LOCKED_COIN, MEMBER_TRAFFIC
from .templates.wallet import NAME_CONTEXT, NAME_ENTRY, SUBSCRIPTION_REQUEST

ENTRY_NAMES = (
    "atelier-nord", "café-lumière", "böckling", "three-hares", "o-malley", "sol-y-mar", "tide", "zweigstelle",
)  # fmt: skip
OWN, FOR_OTHER, BY_TRANSFER, MERGE = "own", "for another", "by transfer", "merge"
PURCHASES = (OWN, OWN, FOR_OTHER, BY_TRANSFER, MERGE)  # of a validator, in turns
BLOCK = 200_000  # bytes, the smallest purchase
MAX_RECORDS = 8
NAME_FEE = UNITS_PER_COIN
TERM = 90 * 24 * 3600 * 1_000_000  # microseconds that a name lasts
BOUGHT, EXPIRED = 0, 3
TURNS = 4  # of a name: bought, renewed twice, expired
LOCKED_OWNER = 1  # of the owners of dust
DUST = 123_456  # units


# Traffic. The purchases of a validator are known by their occurrence, so that a merge knows what it merges.


def _how(member: int, occurrence: int) -> str:
    """Return the turn of a validator, which has nothing to merge at first."""
    turn = PURCHASES[(occurrence + member) % len(PURCHASES)]
    return OWN if turn == MERGE and not occurrence else turn


def _purchase(seed: int, member: int, occurrence: int) -> tuple[int, int]:
    """Return for which validator an occurrence buys, and how many bytes."""
    is_other = _how(member, occurrence) == FOR_OTHER
    blocks = 1 + number(seed, "purchase", member, occurrence) % 9
    return (member + 3) % VALIDATORS if is_other else member, blocks * BLOCK


def _bought(draft: DraftTransaction, occurrence: int) -> dict[str, Any]:
    """Return what is the same for a purchase and its contract."""
    buyer, byte_count = _purchase(draft.constants.seed, draft.event.member, occurrence)
    participant = draft.parties.validators[buyer].participant
    return {"member_id": f"PAR::{participant}", "bytes": byte_count, "purchases": 1}


def purchases_of(schedule: Schedule, seed: int, validator: int) -> list[tuple[int, int]]:
    """Return record time and bytes of each purchase for a validator, by time."""
    purchases = []
    for member, recurring in enumerate(schedule.purchases):
        for occurrence in range(recurring.count_before(schedule.timeline.now)):
            buyer, byte_count = _purchase(seed, member, occurrence)
            if buyer == validator and _how(member, occurrence) != MERGE:
                purchases.append((recurring.time(occurrence), byte_count))
    return sorted(purchases)


def _paid(draft: DraftTransaction, byte_count: int, round_number: int) -> dict[str, int]:
    """Return the units of coin and USD that traffic costs in a round."""
    terms = draft.constants.rounds.terms(round_number)
    usd = EXACT.multiply(Decimal(byte_count) / MEGABYTE, terms.traffic_price)
    return {"usd": units(usd), "spent": units(EXACT.divide(usd, terms.price))}


def _traffic(draft: DraftTransaction, occurrence: int, **names: Any) -> Contract:
    return draft.make(MEMBER_TRAFFIC, (draft.event.member, occurrence), **names)


def buy_traffic(draft: DraftTransaction) -> list[Branch]:
    """Buy traffic for the validator or another, or merge what was bought."""
    occurrence, buyer, dso = draft.event.occurrence, draft.names["buyer"], draft.constants.dso
    how = _how(draft.event.member, occurrence)
    if how == MERGE:
        return _merge(draft, occurrence)
    bought = _bought(draft, occurrence)
    bought |= _paid(draft, bought["bytes"], draft.round_number)
    issuing = draft.constants.rounds.issuing_at(draft.event.time)
    coupons = {"records": draft.pools[LIVENESS_RECORD].take(buyer, MAX_RECORDS, issuing)}
    paid = draft.make(COIN, owner=dso, units=bought["spent"])
    inputs = mint_missing(draft, buyer, paid.units - total_of(coupons["records"]))
    if how == BY_TRANSFER:  # to the DSO, which names the member
        nodes = transfer(draft, buyer, buyer, inputs, [paid], coupons, is_offered=False)
        names = {**bought, "sender": buyer, "transfer": nodes, "paid": paid}
        tree = exercise(TRANSFER_FACTORY_TRANSFER, insert("transfer"), archive("paid"), create("traffic"))
    else:
        names = {**transfer_names(draft, buyer, inputs, [], coupons, paid.units), **bought, "burned": paid}
        burn = create("burned"), archive("burned")
        tree = exercise(COIN_RULES_BUY_MEMBER_TRAFFIC, archive("used"), *burn, create("coins"), create("traffic"))
    return draft.nodes(tree, traffic=_traffic(draft, occurrence, **bought), **names)


def _merge(draft: DraftTransaction, occurrence: int) -> list[Branch]:
    """Merge the validator's own purchases since the last merge."""
    rounds, since = draft.constants.rounds, max(0, occurrence - len(PURCHASES) + 1)
    earlier = [number_ for number_ in range(since, occurrence) if _how(draft.event.member, number_) != FOR_OTHER]
    bought = [_bought(draft, number_) for number_ in earlier]
    merged = [_traffic(draft, n, **each, usd=0, spent=0) for n, each in zip(earlier, bought, strict=True)]
    times = map(rounds.schedule.purchases[draft.event.member].time, earlier)
    bought_in = [rounds.lowest_open(time) or draft.round_number for time in times]
    paid = [_paid(draft, each["bytes"], round_number) for each, round_number in zip(bought, bought_in, strict=True)]
    names = {**_bought(draft, occurrence), "bytes": sum(each["bytes"] for each in bought), "purchases": len(earlier)}
    names |= {name: sum(each[name] for each in paid) for name in ("usd", "spent")}
    tree = exercise(COIN_RULES_MERGE_MEMBER_TRAFFIC_CONTRACTS, archive("merged"), create("traffic"))
    return draft.nodes(tree, merged=merged, traffic=_traffic(draft, occurrence, **names))


# Names


def buy_name(draft: DraftTransaction) -> list[Branch]:
    """Request a name and pay for it."""
    return _pay_for_name(draft, draft.make(NAME_ENTRY, expires=draft.effective_at + TERM))


def _term(draft: DraftTransaction, occurrence: int) -> Contract:
    """Make the entry of a recurring name, in one of its terms."""
    member, life = draft.event.member, occurrence // TURNS
    name = f"{ENTRY_NAMES[member]}-{life}.unverified.sand"
    expires = draft.constants.rounds.start + TERM * (occurrence + 1)
    names: dict[str, Any] = {"name": name, "url": f"https://names.invalid/{name}", "description": "", "expires": expires}
    return draft.make(NAME_ENTRY, (draft.names["user"], member, occurrence), **names)


def name_term(draft: DraftTransaction) -> list[Branch]:
    """Buy, renew or expire a recurring name."""
    occurrence, turn = draft.event.occurrence, draft.event.occurrence % TURNS
    sv = draft.parties.svs[0].identifier
    if turn == EXPIRED:
        tree = exercise(DSO_RULES_EXPIRE_ANS_ENTRY, exercise(ANS_ENTRY_EXPIRE))
        return draft.nodes(tree, old=_term(draft, occurrence - 1), sv=sv)
    entry = _term(draft, occurrence)
    if turn == BOUGHT:
        name = f"{ENTRY_NAMES[draft.event.member]}-{occurrence // TURNS}.unverified.sand"
        draft.names.update(name=name, url=f"https://names.invalid/{name}", description="", sv=sv)
        return _pay_for_name(draft, entry)
    renewal = exercise(ANS_ENTRY_RENEW, create("entry"))
    tree = exercise(ANS_RULES_COLLECT_ENTRY_RENEWAL_PAYMENT, insert("transfer"), archive("fee"), renewal)
    return draft.nodes(tree, old=_term(draft, occurrence - 1), entry=entry, **_pay_fee(draft, sv))


def _pay_for_name(draft: DraftTransaction, entry: Contract) -> list[Branch]:
    request = draft.make(SUBSCRIPTION_REQUEST)
    context = draft.make(NAME_CONTEXT, request=request)
    fee = _pay_fee(draft, draft.names["sv"])
    tree = (
        exercise(ANS_RULES_REQUEST_ENTRY, create("context"), create("request")),
        exercise(ANS_RULES_COLLECT_INITIAL_ENTRY_PAYMENT, insert("transfer"), archive("fee"), create("entry")),
    )
    return draft.nodes(*tree, request=request, context=context, entry=entry, **fee)


def _pay_fee(draft: DraftTransaction, provider: str) -> dict[str, Any]:
    """Return the transfer of the fee to the DSO, and its coin, which is burned."""
    user = draft.names["user"]
    inputs = take_coins(draft, user)
    inputs += mint_missing(draft, user, NAME_FEE - total_of(inputs))
    fee = draft.make(COIN, owner=draft.constants.dso, units=NAME_FEE)
    return {"transfer": transfer(draft, user, provider, inputs, [fee]), "fee": fee}


# Dust: what is too small to keep expires, locked or not


def dust(draft: DraftTransaction) -> list[Branch]:
    """Leave a tiny coin in every second occurrence, and expire it in the next."""
    member, occurrence, owner = draft.event.member, draft.event.occurrence, draft.names["owner"]
    is_locked, key = member == LOCKED_OWNER, (owner, member, occurrence // 2)
    tiny = draft.make(LOCKED_COIN if is_locked else COIN, ("dust", *key), owner=owner, units=DUST)
    if occurrence % 2:
        choice = LOCKED_COIN_EXPIRE_COIN_V2 if is_locked else COIN_EXPIRE_V2
        return draft.nodes(exercise(choice), dust=tiny, units=DUST)
    coin = mint(draft, owner, DUST + UNITS_PER_COIN)
    return transfer(draft, owner, owner, [coin], [tiny], is_offered=False)
