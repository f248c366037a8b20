"""Functions of declarations for coins, tokens, apps, offers and reassignments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..identifiers import contract_id
from ..ledger import Contract
from ..randomness import digest, number
from ..times import HOUR
from ..values import UNITS_PER_COIN
from .declarations import TEMPLATES, WorldConstants
from .draft import Branch, DraftTransaction

COUPONS = ("app_coupons", "coupons_v2", "sv_coupons", "records")  # that a transfer may use
MIN_BATCH, MAX_BATCH = 9, 17  # steps of three nodes each
ASSIGNED_FIRST = 0.25


def total_of(contracts: list[Contract]) -> int:
    """Return the sum of some contracts, in units of 10**-10."""
    return sum(contract.units for contract in contracts)


# Contracts that one slice leaves for the next are formulas of slice and index, so that the next slice is built alone.


def carried_names(constants: WorldConstants, template: str, slice_number: int, index: int) -> dict[str, Any]:
    """Return parties, amount and id of a contract that an event leaves for the next slice."""
    seed, parties = constants.seed, constants.parties
    key, users = (slice_number, index), parties.users
    names: dict[str, Any] = {
        "units": (50 + number(seed, "carried", *key) % 5000) * UNITS_PER_COIN,
        "identifier": contract_id(seed, "carried", *key),
    }
    if template == "coin":
        choice = number(seed, "collector", *key)
        rank = choice // 2
        # Every second one is a provider, the others are the large users.
        party = parties.providers[rank % len(parties.providers)] if choice % 2 else users[rank % 40]
        return {**names, "owner": party.identifier}
    if template == "token":
        return {**names, "owner": users[number(seed, "holder", *key) % len(users)].identifier}
    first = number(seed, "offer", *key) % len(users)
    receiver = users[(first + 1 + index % 7) % len(users)]
    return {**names, "sender": users[first].identifier, "receiver": receiver.identifier}


def carried(draft: DraftTransaction, template: str) -> str:
    """Set the names of a contract left for the next slice, and return the submitter."""
    names = carried_names(draft.constants, template, draft.state.number, draft.index)
    draft.names.update(names)
    return str(names.get("sender") or names["owner"])


def carried_contract(constants: WorldConstants, template: str, slice_number: int, index: int) -> Contract:
    """Return a contract that an event of the slice before has left."""
    names = {**constants.names, **carried_names(constants, template, slice_number, index)}
    parties = TEMPLATES[template].parties(names)
    return Contract(names["identifier"], constants.templates[template], *parties, names["units"])


# Coins


def mint(draft: DraftTransaction, owner: str, units: int) -> Contract:
    """Make a coin that a root node mints for its owner."""
    coin = draft.make("coin", owner=owner, units=units)
    draft.roots += draft.nodes("$CoinRules_DevNet_Tap[$CoinRules_Mint[+coin]]", coin=coin, owner=owner, units=units)
    return coin


def mint_missing(draft: DraftTransaction, owner: str, units: int) -> list[Contract]:
    """Mint a coin of these units for an owner, or none if they are not positive."""
    return [mint(draft, owner, units)] if units > 0 else []


def take_coins(draft: DraftTransaction, owner: str, limit: int = 3) -> list[Contract]:
    """Take coins of an owner, or mint one, for the caller to consume."""
    return draft.pools["coin"].take(owner, limit) or [mint(draft, owner, draft.draw_units(220))]


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
    change = draft.make("coin", owner=sender, units=change_units) if change_units > 0 else None
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
            draft.pools["coin"].add(coin)
    actors = list({sender, provider, *(part["receiver"] for part in names["parts"])})
    return draft.nodes("$CoinRules_Transfer[-used +coins]", sender=sender, provider=provider, actors=actors, **names)


def pay(draft: DraftTransaction, payer: str, receiver: str, provider: str, price: str) -> list[Branch]:
    """Pay a price in coins, or less if the first coin is smaller."""
    names = draft.names
    inputs = names["inputs"] = take_coins(draft, names[payer])
    units = names["units"] = min(inputs[0].units, int(float(price) * UNITS_PER_COIN))
    paid = draft.make("coin", owner=names[receiver], units=units)
    return transfer(draft, names[payer], names[provider], inputs, [paid])


def pay_some(draft: DraftTransaction) -> list[Branch]:
    """Pay some coins to one receiver, or to two."""
    names, draws = draft.names, draft.draws
    inputs = take_coins(draft, names["sender"], draws.between(1, 4))
    units = total_of(inputs) if draws.chance(0.08) else total_of(inputs) * draws.between(5, 95) // 100
    parts = [(names["receiver"], units)]
    if names["pays_many"]:
        parts = [(names["receiver"], units // 2), (draft.user(), units // 3)]
    coins = [draft.make("coin", owner=receiver, units=part) for receiver, part in parts]
    return transfer(draft, names["sender"], names["provider"], inputs, coins)


# Tokens of an app's own registry, and delivery versus payment: an allocation first, then a settlement


def take_tokens(draft: DraftTransaction, owner: str, limit: str = "3") -> list[Contract]:
    """Take tokens of an owner, or mint some, for the tree to consume."""
    owner = draft.names[owner]
    if tokens := draft.pools["token"].take(owner, int(limit)):
        return tokens
    token = draft.make("token", owner=owner, units=draft.draw_units(40))
    draft.roots += draft.nodes("Registry_Mint[+token]", token=token, owner=owner, units=token.units)
    return [token]


def move_tokens(draft: DraftTransaction, sender: str, receiver: str, limit: str = "3") -> list[Branch]:
    """Return the node that moves tokens to a receiver, with change if any."""
    names = {"sender": draft.names[sender], "receiver": draft.names[receiver]}
    tokens = take_tokens(draft, sender, limit)
    units = total_of(tokens) * draft.draws.between(10, 100) // 100
    outputs = [draft.offer("token", owner=names["receiver"], units=units)]
    if total_of(tokens) > units:
        outputs.append(draft.offer("token", owner=names["sender"], units=total_of(tokens) - units))
    return draft.nodes("Registry_Transfer[-tokens +outputs]", units=units, tokens=tokens, outputs=outputs, **names)


def allocate(draft: DraftTransaction, owner: str) -> Contract:
    """Make an allocation, the promise to pay when a trade settles, by a root node."""
    names: dict[str, Any] = {"owner": draft.names[owner], "units": draft.draw_units(60)}
    names["reference"] = f"trade-{draft.state.number}-{draft.index}"
    allocation = draft.make("allocation", **names)
    draft.roots += draft.nodes("Venue_Allocate[+allocation]", allocation=allocation, **names)
    return allocation


def promise(draft: DraftTransaction, owner: str) -> Contract:
    """Return the allocation that a settlement consumes, made by itself if none waits."""
    allocation: Contract = draft.names["allocation"] or allocate(draft, owner)
    allocation.is_spent = True
    return allocation


def pay_promise(draft: DraftTransaction) -> list[Branch]:
    """Pay an allocation."""
    names = draft.names
    inputs = take_coins(draft, names["buyer"])
    paid = draft.make("coin", owner=names["seller"], units=min(names["allocation"].units, total_of(inputs)))
    return transfer(draft, names["buyer"], names["wallet"], inputs, [paid])


# Apps


def mark_activity(draft: DraftTransaction, provider: str, count: str = "") -> list[Branch]:
    """Return the node by which a featured provider marks its activity."""
    party, marker_count = draft.names[provider], draft.names[count] if count else 1
    weight = "1.0" if marker_count == 1 else "0.25"
    markers = [draft.offer("activity_marker", provider=party, weight=weight) for _ in range(marker_count)]
    tree = "FeaturedAppRight_CreateActivityMarker[+markers]"
    return draft.nodes(tree, provider=party, markers=markers, shares=[{"owner": party}] * marker_count)


def mark_featured(draft: DraftTransaction, provider: str) -> list[Branch]:
    """Mark one activity of a provider if it is featured."""
    return mark_activity(draft, provider) if draft.names[provider] in draft.featured else []


def app_batch(draft: DraftTransaction) -> list[Branch]:
    """Process a ticket in each step, which leaves a stamped one."""
    customers, nodes = draft.names["customers"], []
    steps = draft.names["steps"] = draft.draws.between(MIN_BATCH, MAX_BATCH)
    for step in range(steps):
        source = {"customer": customers[step % len(customers)], "step": step}
        ticket = draft.make("ticket", state="Queued", **source)
        stamped = draft.make("ticket", state="Stamped", **source)
        nodes += draft.nodes("+ticket Ticket_Process[+stamped]", step=step, ticket=ticket, stamped=stamped)
    if steps == MAX_BATCH:  # a full batch leaves the next ticket in the queue
        nodes += draft.nodes("+ticket", ticket=draft.make("ticket", customer=customers[0], step=steps, state="Queued"))
    return nodes


# Transfer offers of the wallet: made, accepted and completed in three transactions
# (docs/facts.md#transfer-offer-transactions).


def tracking_id(draft: DraftTransaction) -> str:
    """Return the tracking id of an offer."""
    return f"tracking-{digest(draft.constants.seed, 'tracking', draft.names['identifier'], size=8)}"


def choose_offer_step(draft: DraftTransaction) -> str:
    """Choose the next step of a waiting offer, or a coin transfer without one."""
    names, dso = draft.names, draft.constants.dso
    if accepted := draft.any_visible("accepted_offer"):
        receiver = next(party for party in accepted.signatories if party not in (accepted.owner, dso))
        names.update(accepted=accepted, sender=accepted.owner, receiver=receiver)
        names["tracking_id"] = draft.state.tracking_ids[accepted.identifier]
        return "offer completion"
    if offer := draft.any_visible("transfer_offer"):
        sender = next(party for party in offer.signatories if party != dso)
        names.update(offer=offer, identifier=offer.identifier, sender=sender, receiver=offer.owner)
        return "offer acceptance"
    return "coin transfer"


def accept_offer(draft: DraftTransaction) -> Contract:
    """Consume an offer and make an accepted one."""
    names, offer = draft.names, draft.names["offer"]
    offer.is_spent = True
    names["tracking_id"] = tracking_id(draft)
    accepted = draft.offer("accepted_offer", units=offer.units)
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
    paid = draft.make("coin", owner=names["receiver"], units=accepted.units)
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
    token = draft.any_visible("token")
    source, target = parties.synchronizer, parties.app_synchronizer
    if not token or not token.created_at:
        source, target = target, source
        token = draft.make("token", owner=draft.user(), units=draft.draw_units(30))
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
