"""Kinds of transactions of users and validators, from coins to names."""

from __future__ import annotations

from decimal import Decimal

from ...schedule import Scheduled
from ...script import REQUEST
from ..choices.apps import REGISTRY_BURN, REGISTRY_LOCK, REGISTRY_MINT
from ..choices.wallet import (
    ACCEPTED_TRANSFER_OFFER_COMPLETE,
    SUBSCRIPTION_IDLE_STATE_MAKE_PAYMENT,
    TRANSFER_OFFER_ACCEPT,
    WALLET_APP_INSTALL_CREATE_TRANSFER_OFFER,
    WALLET_APP_INSTALL_EXECUTE_BATCH,
    WALLET_APP_INSTALL_EXECUTE_BATCH_COLLECT,
)
from ..draft import DraftTransaction, Kind, View
from ..governance import occurrence, recurring, scripted_sender, scripted_transfer
from ..payments import (
    accept_offer,
    begin_reassignment,
    carried,
    complete_offer,
    move_tokens,
    pay,
    pay_some,
    reassignment,
    take_tokens,
    total_of,
    tracking_id,
)
from ..purchases import buy_name, buy_traffic, dust, name_term
from ..rewards import collect, coupon
from ..roles import any_text, confirming_app, entry_name, entry_url, payer, provider, sv
from ..specs import archive, create, exercise, insert
from ..templates import wallet
from ..templates.apps import LOCKED_TOKEN, TOKEN
from ..templates.coin import COIN

NAME_OWNERS_FROM, DUST_OWNERS_FROM = 60, 80  # of the users

# Coins

COIN_TRANSFER = Kind(
    "coin transfer",
    submitter="sender",
    roles={
        "sender": lambda draft: payer(draft, COIN),
        "receiver": DraftTransaction.user,
        "provider": provider,
        "pays_many": lambda draft: draft.draws.chance(0.15),
        "confirming": confirming_app,
    },
    views=[
        View(
            ["confirming", "sender"],
            informees=["provider"],
            children=[View(["dso", "sender"], informees=["receiver"])],
        )
    ],
    content={
        "transfer": pay_some,
        "coupon": lambda draft: coupon(draft, draft.names["provider"], "1.0"),
        "note": any_text,
    },
    tree=[exercise(WALLET_APP_INSTALL_EXECUTE_BATCH, insert("transfer"), create("coupon"))],
)
SCRIPTED_REQUEST = Kind(
    REQUEST,
    submitter="sender",
    roles={"sender": scripted_sender},
    views=[View(["confirming"], quorum=["second"], informees=["dso", "second"])],
    nodes=scripted_transfer,
)
REWARD_COLLECTION = Kind(
    "reward collection",
    submitter="owner",
    roles={"owner": lambda draft: carried(draft, COIN)},
    views=[View(["owner"], children=[View(["dso", "owner"])])],
    content={"transfer": collect},
    tree=[exercise(WALLET_APP_INSTALL_EXECUTE_BATCH_COLLECT, insert("transfer"))],
    bytes_per_view=2300,
    carries=COIN,
)
SUBSCRIPTION = Kind(
    Scheduled.SUBSCRIPTION,
    submitter="payer",
    roles={"payer": lambda draft: recurring(draft, wallet.SUBSCRIPTION)},
    views=[View(["payer", "provider"], children=[View(["dso", "payer"])])],
    content={
        "old": lambda draft: occurrence(draft, wallet.SUBSCRIPTION, ahead=-1),
        "new": lambda draft: occurrence(draft, wallet.SUBSCRIPTION),
        "transfer": lambda draft: pay(draft, draft.names["payer"], draft.names["provider"], Decimal("2.5")),
        "payment": lambda draft: draft.make(wallet.SUBSCRIPTION_PAYMENT),
    },
    tree=(
        exercise(SUBSCRIPTION_IDLE_STATE_MAKE_PAYMENT, create("payment"), insert("transfer"), archive("payment"), create("new")),
    ),
    workflow_id="subscription-payment",
)
TRAFFIC_PURCHASE = Kind(
    Scheduled.TRAFFIC_PURCHASE,
    submitter="buyer",
    roles={"buyer": lambda draft: draft.parties.validators[draft.event.member].identifier},
    views=[View(["buyer"], children=[View(["dso", "buyer"])])],
    nodes=buy_traffic,
    bytes_per_view=1700,
)
DUST = Kind(
    Scheduled.DUST,
    submitter="owner",
    roles={"owner": lambda draft: draft.parties.users[DUST_OWNERS_FROM + draft.event.member].identifier},
    views=[View(["owner"], informees=["dso"])],
    nodes=dust,
    bytes_per_view=1100,
)

# Transfer offers


def choose_offer_step(draft: DraftTransaction) -> Kind:
    """Choose the next step of a waiting offer, or a coin transfer without one."""
    names, dso = draft.names, draft.constants.dso
    if accepted := draft.any_visible(wallet.ACCEPTED_OFFER):
        receiver = next(party for party in accepted.signatories if party not in (accepted.owner, dso))
        names.update(accepted=accepted, sender=accepted.owner, receiver=receiver)
        names["tracking_id"] = draft.state.tracking_ids[accepted.identifier]
        return OFFER_COMPLETION
    if offer := draft.any_visible(wallet.TRANSFER_OFFER):
        sender = next(party for party in offer.signatories if party != dso)
        names.update(offer=offer, identifier=offer.identifier, sender=sender, receiver=offer.owner)
        return OFFER_ACCEPTANCE
    return COIN_TRANSFER


TRANSFER_OFFER = Kind(
    "transfer offer",
    submitter="sender",
    roles={"sender": lambda draft: carried(draft, wallet.TRANSFER_OFFER)},
    views=[View(["sender"], informees=["receiver"])],
    content={
        "tracking_id": tracking_id,
        "description": any_text,
        "offer": lambda draft: draft.make(wallet.TRANSFER_OFFER, identifier=draft.names["identifier"]),
    },
    tree=[exercise(WALLET_APP_INSTALL_CREATE_TRANSFER_OFFER, create("offer"))],
    bytes_per_view=2100,
    carries=wallet.TRANSFER_OFFER,
)
OFFER_STEP = Kind("offer step", stands_for=choose_offer_step)
OFFER_ACCEPTANCE = Kind(
    "offer acceptance",
    submitter="receiver",
    views=[View(["receiver", "sender"])],
    content={"accepted": accept_offer},
    tree=[exercise(TRANSFER_OFFER_ACCEPT, create("accepted"))],
    bytes_per_view=1700,
)
OFFER_COMPLETION = Kind(
    "offer completion",
    submitter="sender",
    views=[View(["sender", "receiver"], children=[View(["dso", "sender"], informees=["receiver"])])],
    content={"transfer": complete_offer},
    tree=[exercise(ACCEPTED_TRANSFER_OFFER_COMPLETE, insert("transfer"))],
)

# Tokens of an app

TOKEN_TRANSFER = Kind(
    "token transfer",
    submitter="sender",
    roles={"sender": lambda draft: payer(draft, TOKEN), "receiver": DraftTransaction.user},
    views=[View(["sender", "receiver"], children=[View(["issuer", "sender"], informees=["receiver"])])],
    nodes=lambda draft: move_tokens(draft, draft.names["sender"], draft.names["receiver"]),
    bytes_per_view=1300,
)
TOKEN_MINT = Kind(
    "token mint",
    submitter="issuer",
    roles={"owner": lambda draft: carried(draft, TOKEN)},
    views=[View(["issuer", "owner"])],
    content={"token": lambda draft: draft.make(TOKEN, identifier=draft.names["identifier"])},
    tree=[exercise(REGISTRY_MINT, create("token"))],
    workflow_id="meadow-mint",
    carries=TOKEN,
)
TOKEN_BURN = Kind(
    "token burn",
    submitter="owner",
    roles={"owner": lambda draft: payer(draft, TOKEN)},
    views=[View(["owner"], children=[View(["issuer", "owner"])])],
    content={"tokens": lambda draft: take_tokens(draft, draft.names["owner"])},
    tree=[exercise(REGISTRY_BURN, archive("tokens"))],
    bytes_per_view=1100,
)
TOKEN_LOCK = Kind(
    "token lock",
    submitter="owner",
    roles={"owner": lambda draft: payer(draft, TOKEN)},
    views=[View(["owner"], children=[View(["issuer", "owner"])])],
    content={
        "tokens": lambda draft: take_tokens(draft, draft.names["owner"]),
        "units": lambda draft: total_of(draft.names["tokens"]),
        "locked": lambda draft: draft.make(LOCKED_TOKEN),
    },
    tree=[exercise(REGISTRY_LOCK, archive("tokens"), create("locked"))],
    bytes_per_view=1200,
)
REASSIGNMENT = Kind(
    "reassignment",
    submitter="owner",
    roles={"owner": begin_reassignment},
    views=[View(["owner", "issuer"])],
    content={"half": reassignment},
    bytes_per_view=1000,
)

# Names

NAME_ENTRY = Kind(
    "name entry",
    submitter="user",
    roles={
        "user": lambda draft: payer(draft, COIN),
        "sv": sv,
        "name": entry_name,
        "description": any_text,
        "url": entry_url,
    },
    views=[View(["dso", "user"]), View(["dso", "user"])],
    nodes=buy_name,
)
NAME_TERM = Kind(
    Scheduled.NAME_TERM,
    submitter="user",
    roles={"user": lambda draft: draft.parties.users[NAME_OWNERS_FROM + draft.event.member].identifier},
    views=[View(["dso", "user"])],
    nodes=name_term,
)
