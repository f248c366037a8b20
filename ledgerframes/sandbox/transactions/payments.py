"""Computed parts of what users and apps do: coins, tokens, settlements, offers, apps and reassignments."""

from __future__ import annotations

from typing import Any

from ..identifiers import contract_id
from ..ledger import Contract, Node, create
from ..randomness import digest, number
from ..times import HOUR, trimmed
from ..values import TEXTS, UNITS_PER_COIN
from .constants import WorldConstants
from .draft import DraftTransaction

MAX_COUPONS = 14
BATCH_STEPS = 13  # three nodes each, and the root: forty nodes
ASSIGNED_FIRST = 0.15
LEDGER_ONLY = "unassigned_contract"  # only the ledger API shows it
ENTRY_NAMES = (
    "atelier-nord", "café-lumière", "böckling", "three-hares", "o-malley", "sol-y-mar", "tide", "zweigstelle",
)  # fmt: skip


# Contracts that one slice leaves for the next are formulas of slice and index, so that the next slice is built alone.


def _reward_roles(constants: WorldConstants, slice_number: int, index: int) -> dict[str, str]:
    parties, choice = constants.parties, number(constants.seed, "collector", slice_number, index)
    if choice % 2:
        return {"owner": parties.providers[choice // 2 % len(parties.providers)].party.identifier}
    return {"owner": parties.users[choice // 2 % 40].identifier}  # the large ones


def _mint_roles(constants: WorldConstants, slice_number: int, index: int) -> dict[str, str]:
    users = constants.parties.users
    return {"owner": users[number(constants.seed, "holder", slice_number, index) % len(users)].identifier}


def _offer_roles(constants: WorldConstants, slice_number: int, index: int) -> dict[str, str]:
    users = constants.parties.users
    first = number(constants.seed, "offer", slice_number, index) % len(users)
    return {"sender": users[first].identifier, "receiver": users[(first + 1 + index % 7) % len(users)].identifier}


CARRIED_ROLES = {"coin": _reward_roles, "token": _mint_roles, "transfer_offer": _offer_roles}


def carried_names(constants: WorldConstants, template: str, slice_number: int, index: int) -> dict[str, Any]:
    """Return parties, amount and id of a contract that an event leaves for the next slice."""
    units = (50 + number(constants.seed, "carried", slice_number, index) % 5000) * UNITS_PER_COIN
    identifier = contract_id(constants.seed, "carried", slice_number, index)
    return {**CARRIED_ROLES[template](constants, slice_number, index), "units": units, "identifier": identifier}


def carried_contract(constants: WorldConstants, template: str, slice_number: int, index: int) -> Contract:
    """Return a contract that an event of the slice before has left."""
    names = {**constants.names, **carried_names(constants, template, slice_number, index)}
    compiled = constants.compiled[template]
    signatories, observers = (sorted({names[name] for name in group}) for group in compiled[2:4])
    owner = names[compiled.owner]
    return Contract(names["identifier"], compiled.template, None, signatories, observers, owner, names["units"])


def carry(template: str, name: str) -> Any:
    """Return the content that makes a contract for the next slice under a name."""

    def content(draft: DraftTransaction) -> None:
        names, constants = draft.names, draft.constants
        names.update(carried_names(constants, template, draft.state.number, draft.index))
        if template == "transfer_offer":
            names["tracking_id"] = _tracking_id(constants, names["identifier"])
            names["description"] = draft.draws.pick(TEXTS)
        names[name] = draft.make(template, identifier=names["identifier"])
        if template == "coin":
            names["coupons"] = draft.pools["reward_coupon"].take(names["owner"], MAX_COUPONS)
            names["coins"] = draft.pools["coin"].take(names["owner"], 3)

    return content


# Coins


def mint(draft: DraftTransaction, owner: str, units: int) -> Contract:
    """Make a coin that a root node mints for its owner."""
    coin = draft.make("coin", owner=owner, units=units)
    draft.add_roots("$CoinRules_Mint[+coin]", coin=coin, owner=owner, units=units)
    return coin


def take_coins(draft: DraftTransaction, owner: str, limit: int = 3) -> list[Contract]:
    """Take coins of an owner, or mint one; the caller must consume them."""
    return draft.pools["coin"].take(owner, limit) or [mint(draft, owner, draft.draw_units(220))]


def transfer(
    draft: DraftTransaction, sender: str, provider: str, inputs: list[Contract], parts: list[tuple[str, int]]
) -> list[Node]:
    """Return the node of a coin transfer to (receiver, units) parts; the rest returns to the sender."""
    rounds, total = draft.constants.rounds, _total(inputs)
    outputs = [draft.make("coin", owner=receiver, units=units) for receiver, units in parts]
    change_units = total - sum(units for _, units in parts)
    change = draft.make("coin", owner=sender, units=change_units) if change_units > 0 else None
    coins = [*outputs, change] if change else outputs
    for coin in coins:
        if coin.owner != draft.constants.dso:
            draft.pools["coin"].add(coin)
    return draft.nodes(
        "$CoinRules_Transfer[-inputs +coins]",
        sender=sender,
        provider=provider,
        inputs=inputs,
        outputs=outputs,
        coins=coins,
        parts=[{"receiver": receiver, "units": units} for receiver, units in parts],
        total=total,
        change=change,
        change_units=max(0, change_units),
        price=rounds.price(draft.round_number),
        actors=list({sender, provider, *(receiver for receiver, _ in parts)}),
        issuing_number=draft.round_number - 3,
        issuing_round=draft.constants.lasting("issuing_round", draft.round_number - 3),
    )


def _total(contracts: list[Contract]) -> int:
    return sum(contract.units for contract in contracts)


def make_coupon(draft: DraftTransaction, provider: str, weight: str) -> Contract:
    """Make an app reward coupon for a provider to collect."""
    coupon = draft.make("reward_coupon", provider=provider, featured=provider in draft.featured, weight=weight)
    draft.pools["reward_coupon"].add(coupon)
    return coupon


def coin_transfer(draft: DraftTransaction) -> None:
    """Pay one receiver, or two."""
    names, draws = draft.names, draft.draws
    inputs = take_coins(draft, names["sender"], draws.between(1, 4))
    total = _total(inputs)
    units = total if draws.chance(0.08) else total * draws.between(5, 95) // 100
    parts = [(names["receiver"], units)]
    if names["pays_many"]:
        parts = [(names["receiver"], units // 2), (draw_user(draft), units // 3)]
    names["transfer"] = transfer(draft, names["sender"], names["provider"], inputs, parts)
    names["coupon"] = make_coupon(draft, names["provider"], "1.0")


def draw_user(draft: DraftTransaction) -> str:
    """Draw a user, fitting the fate of the request."""
    return draft.parties.user(draft.draws, troubled=draft.is_rejected).identifier


def name_entry(draft: DraftTransaction) -> None:
    """Pay for a name, and enter it."""
    names, user = draft.names, draft.names["user"]
    inputs = take_coins(draft, user)
    price = [(draft.constants.dso, min(inputs[0].units, UNITS_PER_COIN))]
    names["transfer"] = transfer(draft, user, names["sv"], inputs, price)
    names["name"] = f"{draft.draws.pick(ENTRY_NAMES)}-{draft.draws.between(2, 999)}.unverified.sand"
    names["description"] = draft.draws.pick(TEXTS)
    names["url"] = f"https://names.invalid/{user.partition('::')[0]}"
    names["entry"] = draft.make("name_entry")


# Tokens of an app's own registry


def take_tokens(draft: DraftTransaction, owner: str, limit: int = 3) -> list[Contract]:
    """Take tokens of an owner, or mint some; the caller must consume them."""
    tokens = draft.pools["token"].take(owner, limit)
    if not tokens:
        tokens = [draft.make("token", owner=owner, units=draft.draw_units(40))]
        draft.add_roots("Registry_Mint[+token]", token=tokens[0], owner=owner, units=tokens[0].units)
    return tokens


def move_tokens(draft: DraftTransaction, sender: str, receiver: str, tokens: list[Contract]) -> list[Node]:
    """Return the node that moves tokens to a receiver; the rest returns to the sender."""
    total = _total(tokens)
    units = total * draft.draws.between(10, 100) // 100
    parts = [(receiver, units)] + ([(sender, total - units)] if total > units else [])
    outputs = [draft.make("token", owner=owner, units=part) for owner, part in parts]
    for token in outputs:
        draft.pools["token"].add(token)
    return draft.nodes(
        "Registry_Transfer[-tokens +outputs]",
        sender=sender,
        receiver=receiver,
        units=units,
        tokens=tokens,
        outputs=outputs,
    )


def token_transfer(draft: DraftTransaction) -> None:
    """Move tokens to a receiver."""
    sender, receiver = draft.names["sender"], draft.names["receiver"]
    draft.names["transfer"] = move_tokens(draft, sender, receiver, take_tokens(draft, sender))


def token_use(draft: DraftTransaction) -> None:
    """Take the tokens that an owner burns."""
    draft.names["tokens"] = take_tokens(draft, draft.names["owner"])


def token_lock(draft: DraftTransaction) -> None:
    """Take the tokens that an owner locks for some days."""
    token_use(draft)
    draft.names["locked"] = draft.make("locked_token", owner=draft.names["owner"], units=_total(draft.names["tokens"]))


# Delivery versus payment: an allocation first, then a settlement


def allocate(draft: DraftTransaction, owner: str) -> tuple[Contract, list[Node]]:
    """Make an allocation, the promise to pay when a trade settles, and the node that makes it."""
    names: dict[str, Any] = {"owner": owner, "units": draft.draw_units(60)}
    names["reference"] = f"trade-{draft.state.number}-{draft.index}"
    allocation = draft.make("allocation", **names)
    return allocation, draft.nodes("Venue_Allocate[+allocation]", allocation=allocation, **names)


def allocation(draft: DraftTransaction) -> None:
    """Promise funds to a trade that settles later in the slice."""
    promise, draft.roots = allocate(draft, draft.names["owner"])
    draft.pools["allocation"].add(promise)


def draw_buyer(draft: DraftTransaction) -> str:
    """Return the owner of a waiting allocation, or a user."""
    promise = draft.names["allocation"]
    return str(promise.owner) if promise else draw_user(draft)


def draw_venue(draft: DraftTransaction) -> str:
    """Return the app that a waiting allocation is for, or any."""
    if promise := draft.names["allocation"]:
        return str(next(party for party in promise.signatories if party != promise.owner))
    return draft.parties.provider(draft.draws).party.identifier


def settlement(draft: DraftTransaction) -> None:
    """Settle a trade: coin one way, tokens the other."""
    names, buyer, seller = draft.names, draft.names["buyer"], draft.names["seller"]
    if not names["allocation"]:
        names["allocation"], draft.roots = allocate(draft, buyer)
    names["allocation"].is_spent = True
    names["trade"] = draft.make("trade")
    inputs = take_coins(draft, buyer)
    units = min(names["allocation"].units, _total(inputs))
    names["payment"] = transfer(draft, buyer, names["wallet"], inputs, [(seller, units)])
    names["delivery"] = move_tokens(draft, seller, buyer, take_tokens(draft, seller, 2))
    names["activity"] = mark_activity(draft, names["operator"], 1) if names["operator"] in draft.featured else []


# Apps


def mark_activity(draft: DraftTransaction, provider: str, count: int) -> list[Node]:
    """Return the node by which a featured provider marks its activity."""
    weight = "1.0" if count == 1 else "0.25"
    markers = [draft.make("activity_marker", provider=provider, weight=weight) for _ in range(count)]
    for marker in markers:
        draft.pools["activity_marker"].add(marker)
    shares = [{"owner": provider}] * count
    tree = "FeaturedAppRight_CreateActivityMarker[+markers]"
    return draft.nodes(tree, provider=provider, markers=markers, shares=shares)


def activity_marker(draft: DraftTransaction) -> None:
    """Mark some activity of a featured app."""
    draft.roots = mark_activity(draft, draft.names["provider"], draft.names["count"])


def app_batch(draft: DraftTransaction) -> None:
    """Process a ticket in each step, which leaves a stamped one."""
    names, customers, steps = draft.names, draft.names["customers"], []
    for step in range(BATCH_STEPS):
        source = {"customer": customers[step % len(customers)], "step": step}
        tickets = {name: draft.make("ticket", **source, state=state) for name, state in TICKETS.items()}
        steps += draft.nodes("+ticket Ticket_Process[+stamped]", step=step, **tickets)
    names.update(steps=BATCH_STEPS, nodes=steps)


TICKETS = {"ticket": "Queued", "stamped": "Stamped"}


# Transfer offers of the wallet: made, accepted and completed in three transactions
# (docs/facts.md#transfer-offer-transactions).


def _tracking_id(constants: WorldConstants, offer_id: str) -> str:
    return f"tracking-{digest(constants.seed, 'tracking', offer_id, size=8)}"


def choose_offer_step(draft: DraftTransaction) -> str:
    """Choose the next step of a waiting offer; without one, a coin transfer."""
    names, dso = draft.names, draft.constants.dso
    if accepted := draft.any_visible("accepted_offer"):
        sender = accepted.owner
        receiver = next(party for party in accepted.signatories if party not in (sender, dso))
        tracking_id = draft.state.tracking_ids[accepted.identifier]
        names.update(accepted=accepted, sender=sender, receiver=receiver, tracking_id=tracking_id)
        return "offer completion"
    if offer := draft.any_visible("transfer_offer"):
        sender = next(party for party in offer.signatories if party != dso)
        tracking_id = _tracking_id(draft.constants, offer.identifier)
        names.update(offer=offer, sender=sender, receiver=offer.owner, tracking_id=tracking_id, units=offer.units)
        return "offer acceptance"
    return "coin transfer"


def offer_acceptance(draft: DraftTransaction) -> None:
    """Accept an offer."""
    names = draft.names
    names["offer"].is_spent = True
    accepted = names["accepted"] = draft.make("accepted_offer")
    draft.pools["accepted_offer"].add(accepted)
    draft.state.tracking_ids[accepted.identifier] = names["tracking_id"]


def offer_completion(draft: DraftTransaction) -> None:
    """Pay an accepted offer."""
    names, sender, accepted = draft.names, draft.names["sender"], draft.names["accepted"]
    accepted.is_spent = True
    inputs = take_coins(draft, sender)
    if _total(inputs) < accepted.units:
        inputs.append(mint(draft, sender, accepted.units))
    names["host"] = draft.parties.by_identifier[sender].participant
    names["transfer"] = transfer(draft, sender, names["host"], inputs, [(names["receiver"], accepted.units)])


# Reassignments between the global synchronizer and an app's own: two halves, each an event of its own


def begin_reassignment(draft: DraftTransaction) -> str:
    """Continue a reassignment or begin one, and return the owner of its contract.

    A token of this slice leaves the global synchronizer, or another arrives from the app's.
    """
    if draft.is_visible and draft.state.reassignment:
        draft.names.update(draft.state.reassignment, is_second=True)
        return str(draft.names["contract"].owner)
    parties, draws = draft.parties, draft.draws
    token = draft.any_visible("token")
    source, target = parties.synchronizer, parties.app_synchronizer
    if not token or not token.created_at:
        source, target = target, source
        token = draft.make("token", owner=draw_user(draft), units=draft.draw_units(30))
        token.created_at = draft.effective_at - draws.between(1, 40) * HOUR
    token.is_spent = True
    unassign_id = "00" + digest(draft.constants.seed, "unassign", token.identifier, size=20)
    draft.names.update(contract=token, source=source, target=target, unassign_id=unassign_id, is_second=False)
    draft.names.update(is_assignment=draws.chance(ASSIGNED_FIRST), counter=draws.between(1, 4))
    return token.owner


def reassignment(draft: DraftTransaction) -> dict[str, Any]:
    """Return one half of a reassignment; the assignment may come first."""
    names, contract = draft.names, draft.names["contract"]
    kept = {name: names[name] for name in ("contract", "source", "target", "unassign_id", "counter")}
    is_assignment = names["is_assignment"]
    draft.state.reassignment = None if names["is_second"] else {**kept, "is_assignment": not is_assignment}
    created = {**create(contract), "created_at": trimmed(contract.created_at)}
    event = {"submitter": contract.owner, "source_synchronizer": names["source"]}
    target = {"target_synchronizer": names["target"]}
    migration = {"migration_id": draft.migration_id}
    if is_assignment:
        created["event_id"] = f"{draft.update_id}:0"
        unassign = {"unassign_id": names["unassign_id"], "created_event": created}
        return {**event, **target, **migration, **unassign, "reassignment_counter": names["counter"]}
    counter = {"unassign_id": names["unassign_id"], "reassignment_counter": names["counter"]}
    return {**event, **migration, **target, **counter, "contract_id": contract.identifier, LEDGER_ONLY: created}
