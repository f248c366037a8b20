"""Nodes and contracts of coins, tokens, apps, offers and reassignments."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ..identifiers import contract_id
from ..ledger import Contract
from ..randomness import digest, number
from ..times import HOUR
from ..values import UNITS_PER_COIN
from .choices.apps import REGISTRY_MINT, REGISTRY_TRANSFER, TICKET_PROCESS, VENUE_ALLOCATE
from .choices.coin import COIN_RULES_DEV_NET_TAP, COIN_RULES_MINT, COIN_RULES_TRANSFER
from .choices.rewards import FEATURED_APP_RIGHT_CREATE_ACTIVITY_MARKER
from .constants import WorldConstants
from .draft import Branch, DraftTransaction
from .specs import TemplateSpec, archive, create, exercise
from .templates.apps import ALLOCATION, TICKET, TOKEN
from .templates.coin import ACTIVITY_MARKER, COIN
from .templates.wallet import ACCEPTED_OFFER

COUPONS = ("app_coupons", "coupons_v2", "sv_coupons", "records")  # that a transfer may use
MIN_BATCH, MAX_BATCH = 9, 17  # steps of three nodes each
ASSIGNED_FIRST = 0.25


def total_of(contracts: list[Contract]) -> int:
    """Return the sum of some contracts, in units of 10**-10."""
    return sum(contract.units for contract in contracts)


# Contracts that one slice leaves for the next are formulas of slice and index, so that the next slice is built alone.


def carried_names(constants: WorldConstants, template: TemplateSpec, slice_number: int, index: int) -> dict[str, Any]:
    """Return parties, amount and id of a contract that an event leaves for the next slice."""
    seed, parties = constants.seed, constants.parties
    key, users = (slice_number, index), parties.users
    names: dict[str, Any] = {
        "units": (50 + number(seed, "carried", *key) % 5000) * UNITS_PER_COIN,
        "identifier": contract_id(seed, "carried", *key),
    }
    if template is COIN:
        choice = number(seed, "collector", *key)
        rank = choice // 2
        # Every second one is a provider, the others are the large users.
        party = parties.providers[rank % len(parties.providers)] if choice % 2 else users[rank % 40]
        return {**names, "owner": party.identifier}
    if template is TOKEN:
        return {**names, "owner": users[number(seed, "holder", *key) % len(users)].identifier}
    first = number(seed, "offer", *key) % len(users)
    receiver = users[(first + 1 + index % 7) % len(users)]
    return {**names, "sender": users[first].identifier, "receiver": receiver.identifier}


def carried(draft: DraftTransaction, template: TemplateSpec) -> str:
    """Set the names of a contract left for the next slice, and return the submitter."""
    names = carried_names(draft.constants, template, draft.state.number, draft.index)
    draft.names.update(names)
    return str(names.get("sender") or names["owner"])


def carried_contract(constants: WorldConstants, template: TemplateSpec, slice_number: int, index: int) -> Contract:
    """Return a contract that an event of the slice before has left."""
    names = {**constants.names, **carried_names(constants, template, slice_number, index)}
    return Contract(names["identifier"], constants.templates[template], *template.parties(names), names["units"])


# Coins


def mint(draft: DraftTransaction, owner: str, units: int) -> Contract:
    """Make a coin that a root node mints for its owner."""
    coin = draft.make(COIN, owner=owner, units=units)
    tap = exercise(COIN_RULES_DEV_NET_TAP, exercise(COIN_RULES_MINT, create("coin")))
    draft.roots += draft.nodes(tap, coin=coin, owner=owner, units=units)
    return coin


def mint_missing(draft: DraftTransaction, owner: str, units: int) -> list[Contract]:
    """Mint a coin of these units for an owner, or none if they are not positive."""
    return [mint(draft, owner, units)] if units > 0 else []


def take_coins(draft: DraftTransaction, owner: str, limit: int = 3) -> list[Contract]:
    """Take coins of an owner, or mint one, for the caller to consume."""
    return draft.pools[COIN].take(owner, limit) or [mint(draft, owner, draft.draw_units(220))]


def transfer_names(
    draft: DraftTransaction,
    sender: str,
    inputs: list[Contract],
    outputs: list[Contract],
    coupons: Mapping[str, list[Contract]],
    spent: int = 0,
) -> dict[str, Any]:
    """Return the names of a transfer, or of a purchase that burns units, with change if any.

    Coupons are those of `COUPONS`, and mint their units.
    """
    coupons = {name: coupons.get(name, []) for name in COUPONS}
    minted = {name: total_of(contracts) for name, contracts in coupons.items()}
    change_units = total_of(inputs) + sum(minted.values()) - total_of(outputs) - spent
    change = draft.make(COIN, owner=sender, units=change_units) if change_units > 0 else None
    constants = draft.constants
    return {
        **coupons,
        "inputs": inputs,
        "outputs": outputs,
        "coins": [*outputs, change] if change else outputs,
        "used": [*inputs, *(coupon for contracts in coupons.values() for coupon in contracts)],
        "parts": [{"receiver": coin.owner, "units": coin.units} for coin in outputs],
        "total": total_of(inputs),
        "from_app": minted["app_coupons"] + minted["coupons_v2"],
        "from_validator": minted["records"],
        "from_sv": minted["sv_coupons"],
        "change": change,
        "change_units": max(0, change_units),
        "price": constants.rounds.price(draft.round_number),
        "issuing_rounds": constants.issuing_rounds(constants.rounds.issuing_at(draft.event.time)),
    }


def transfer(
    draft: DraftTransaction,
    sender: str,
    provider: str,
    inputs: list[Contract],
    outputs: list[Contract],
    coupons: Mapping[str, list[Contract]] | None = None,
    is_offered: bool = True,
) -> list[Branch]:
    """Return the node of a coin transfer, whose coins later transactions may get."""
    names = transfer_names(draft, sender, inputs, outputs, coupons or {})
    for coin in names["coins"] if is_offered else ():
        if coin.owner != draft.constants.dso:
            draft.pools[COIN].add(coin)
    actors = list({sender, provider, *(part["receiver"] for part in names["parts"])})
    tree = exercise(COIN_RULES_TRANSFER, archive("used"), create("coins"))
    return draft.nodes(tree, sender=sender, provider=provider, actors=actors, **names)


def pay(draft: DraftTransaction, payer: str, provider: str, price: Decimal) -> list[Branch]:
    """Pay a provider a price in coins, or less if the first coin is smaller."""
    names = draft.names
    inputs = names["inputs"] = take_coins(draft, payer)
    units = names["units"] = min(inputs[0].units, int(price * UNITS_PER_COIN))
    paid = draft.make(COIN, owner=provider, units=units)
    return transfer(draft, payer, provider, inputs, [paid])


def pay_some(draft: DraftTransaction) -> list[Branch]:
    """Pay some coins to one receiver, or to two."""
    names, draws = draft.names, draft.draws
    inputs = take_coins(draft, names["sender"], draws.between(1, 4))
    units = total_of(inputs) if draws.chance(0.08) else total_of(inputs) * draws.between(5, 95) // 100
    parts = [(names["receiver"], units)]
    if names["pays_many"]:
        parts = [(names["receiver"], units // 2), (draft.user(), units // 3)]
    coins = [draft.make(COIN, owner=receiver, units=part) for receiver, part in parts]
    return transfer(draft, names["sender"], names["provider"], inputs, coins)


# Tokens of an app's own registry, and delivery versus payment: an allocation first, then a settlement


def take_tokens(draft: DraftTransaction, owner: str, limit: int = 3) -> list[Contract]:
    """Take tokens of an owner, or mint some, for the tree to consume."""
    if tokens := draft.pools[TOKEN].take(owner, limit):
        return tokens
    token = draft.make(TOKEN, owner=owner, units=draft.draw_units(40))
    draft.roots += draft.nodes(exercise(REGISTRY_MINT, create("token")), token=token, owner=owner, units=token.units)
    return [token]


def move_tokens(draft: DraftTransaction, sender: str, receiver: str, limit: int = 3) -> list[Branch]:
    """Return the node that moves tokens to a receiver, with change if any."""
    tokens = take_tokens(draft, sender, limit)
    units = total_of(tokens) * draft.draws.between(10, 100) // 100
    outputs = [draft.offer(TOKEN, owner=receiver, units=units)]
    if total_of(tokens) > units:
        outputs.append(draft.offer(TOKEN, owner=sender, units=total_of(tokens) - units))
    tree = exercise(REGISTRY_TRANSFER, archive("tokens"), create("outputs"))
    return draft.nodes(tree, sender=sender, receiver=receiver, units=units, tokens=tokens, outputs=outputs)


def allocate(draft: DraftTransaction, owner: str) -> Contract:
    """Make an allocation, the promise to pay when a trade settles, by a root node."""
    names: dict[str, Any] = {"owner": owner, "units": draft.draw_units(60)}
    names["reference"] = f"trade-{draft.state.number}-{draft.index}"
    allocation = draft.make(ALLOCATION, **names)
    draft.roots += draft.nodes(exercise(VENUE_ALLOCATE, create("allocation")), allocation=allocation, **names)
    return allocation


def offer_allocation(draft: DraftTransaction) -> Contract:
    """Make an allocation of the owner that a later settlement consumes."""
    allocation = allocate(draft, draft.names["owner"])
    draft.pools[ALLOCATION].add(allocation)
    return allocation


def promise(draft: DraftTransaction) -> Contract:
    """Return the allocation that a settlement consumes, made by itself if the buyer has none."""
    allocation: Contract = draft.names["allocation"] or allocate(draft, draft.names["buyer"])
    allocation.is_spent = True
    return allocation


def pay_promise(draft: DraftTransaction) -> list[Branch]:
    """Pay an allocation."""
    names = draft.names
    inputs = take_coins(draft, names["buyer"])
    paid = draft.make(COIN, owner=names["seller"], units=min(names["allocation"].units, total_of(inputs)))
    return transfer(draft, names["buyer"], names["wallet"], inputs, [paid])


# Apps


def mark_activity(draft: DraftTransaction, provider: str, count: int) -> list[Branch]:
    """Return the node by which a featured provider marks its activity."""
    weight = "1.0" if count == 1 else "0.25"
    markers = [draft.offer(ACTIVITY_MARKER, provider=provider, weight=weight) for _ in range(count)]
    tree = exercise(FEATURED_APP_RIGHT_CREATE_ACTIVITY_MARKER, create("markers"))
    return draft.nodes(tree, provider=provider, markers=markers, shares=[{"owner": provider}] * count)


def mark_featured(draft: DraftTransaction, provider: str) -> list[Branch]:
    """Mark one activity of a provider if it is featured."""
    return mark_activity(draft, provider, 1) if provider in draft.featured else []


def app_batch(draft: DraftTransaction) -> list[Branch]:
    """Process a ticket in each step, which leaves a stamped one."""
    customers, nodes = draft.names["customers"], []
    steps = draft.names["steps"] = draft.draws.between(MIN_BATCH, MAX_BATCH)
    for step in range(steps):
        source = {"customer": customers[step % len(customers)], "step": step}
        ticket = draft.make(TICKET, state="Queued", **source)
        stamped = draft.make(TICKET, state="Stamped", **source)
        tree = create("ticket"), exercise(TICKET_PROCESS, create("stamped"))
        nodes += draft.nodes(*tree, step=step, ticket=ticket, stamped=stamped)
    if steps == MAX_BATCH:  # a full batch leaves the next ticket in the queue
        nodes += draft.nodes(create("ticket"), ticket=draft.make(TICKET, customer=customers[0], step=steps, state="Queued"))
    return nodes


# Transfer offers of the wallet: made, accepted and completed in three transactions
# (docs/facts.md#transfer-offer-transactions).


def tracking_id(draft: DraftTransaction) -> str:
    """Return the tracking id of an offer."""
    return f"tracking-{digest(draft.constants.seed, 'tracking', draft.names['identifier'], size=8)}"


def accept_offer(draft: DraftTransaction) -> Contract:
    """Consume an offer and make an accepted one."""
    names, offer = draft.names, draft.names["offer"]
    offer.is_spent = True
    names["tracking_id"] = tracking_id(draft)
    accepted = draft.offer(ACCEPTED_OFFER, units=offer.units)
    draft.state.tracking_ids[accepted.identifier] = names["tracking_id"]
    return accepted


def complete_offer(draft: DraftTransaction) -> list[Branch]:
    """Pay an accepted offer."""
    names, sender, accepted = draft.names, draft.names["sender"], draft.names["accepted"]
    accepted.is_spent = True
    inputs = take_coins(draft, sender)
    if total_of(inputs) < accepted.units:
        inputs.append(mint(draft, sender, accepted.units))
    names["host"] = draft.parties.by_identifier[sender].participant
    paid = draft.make(COIN, owner=names["receiver"], units=accepted.units)
    return transfer(draft, sender, names["host"], inputs, [paid])


# Reassignments between the global synchronizer and the one of an app. Each has two halves, and each half is an event.


def begin_reassignment(draft: DraftTransaction) -> str:
    """Continue a reassignment or begin one, and return the owner of its contract.

    A token of this slice leaves the global synchronizer, or another arrives from the app's.
    """
    if draft.is_visible and draft.state.reassignment:
        draft.names.update(draft.state.reassignment, is_second=True)
        draft.names["units"] = draft.names["contract"].units
        return str(draft.names["contract"].owner)
    parties, draws = draft.parties, draft.draws
    token = draft.any_visible(TOKEN)
    source, target = parties.synchronizer, parties.app_synchronizer
    if not token or not token.created_at:
        source, target = target, source
        token = draft.make(TOKEN, owner=draft.user(), units=draft.draw_units(30))
        token.created_at = draft.effective_at - draws.between(1, 40) * HOUR
    token.is_spent = True
    unassign_id = "00" + digest(draft.constants.seed, "unassign", token.identifier, size=20)
    draft.names.update(contract=token, units=token.units, source=source, target=target, unassign_id=unassign_id, is_second=False)
    draft.names.update(is_assignment=draws.chance(ASSIGNED_FIRST), counter=draws.between(1, 4))
    return token.owner


def reassignment(draft: DraftTransaction) -> dict[str, Any]:
    """Return what one half of a reassignment says, of which the assignment may come first."""
    names = draft.names
    half = {name: names[name] for name in ("contract", "source", "target", "unassign_id", "counter", "is_assignment")}
    draft.state.reassignment = None if names["is_second"] else {**half, "is_assignment": not half["is_assignment"]}
    return half
