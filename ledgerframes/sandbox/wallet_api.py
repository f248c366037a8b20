"""The wallet API (docs/facts.md#wallet-api)."""

from __future__ import annotations

import base64
from decimal import Decimal

import flask
from flask import Response

from .endpoints import WRITE_ROOTS, Api, Endpoint, endpoint
from .history_api import COMMITTED
from .network import Write
from .responses import HttpError, Json, contract_object, text_response
from .times import instant, trimmed
from .transactions.templates.wallet import ACCEPTED_OFFER, TRANSFER_OFFER
from .wallet import ACCEPTED, CREATED, Offer, OfferRequest

OFFERS = "/v0/wallet/transfer-offers"
NOTHING_LOCKED = {"effective_locked_qty": "0.0", "total_holding_fees": "0.0"}
ONBOARDED = {"user_onboarded": True, "user_wallet_installed": True, "has_featured_app_right": False}


class WalletApi(Api):
    """Endpoints of the wallet API."""

    def admit(self, declared: Endpoint) -> None:
        """Refuse a bad token and a user without a wallet."""
        if declared.public:
            return
        user = self.box.users.find(flask.request.headers.get("Authorization"))
        if user is None:
            raise HttpError(401, "The supplied authentication is missing, invalid or expired")
        if user == self.box.users.limited:
            raise HttpError(404, f"No wallet found for user {user.name}")
        created = self.box.wallet.start_request()
        self.box.writes += [Write("wallet", f"POST {OFFERS.removeprefix(WRITE_ROOTS['wallet'])}", request) for request in created]
        flask.g.party = user.party  # owner of the wallet

    @endpoint("POST", OFFERS, OfferRequest)
    def _create(self, request: OfferRequest) -> Json:
        if self.strikes("wallet_500_before"):
            raise HttpError(500, "an internal error occurred before the offer was submitted")
        offer = self.box.wallet.create(flask.g.party, request, self.strikes)
        self.record("wallet", request)
        if self.strikes("wallet_500_after"):
            raise HttpError(500, "an internal error occurred after the offer was submitted")
        return {"offer_contract_id": offer.contract()}

    _offers = endpoint("GET", OFFERS)(lambda api: {"offers": api.contracts(CREATED)})
    _accepted_offers = endpoint("GET", "/v0/wallet/accepted-transfer-offers")(
        lambda api: {"accepted_offers": api.contracts(ACCEPTED)}
    )

    def contracts(self, state: str) -> list[Json]:
        """Return the contracts of the wallet's offers in a state."""
        return [self._contract(offer) for offer in self.box.wallet.of(flask.g.party, state)]

    def _contract(self, offer: Offer) -> Json:
        """Return the contract of an offer, without description once accepted."""
        constants, identifier, waiting = self.world.constants(), offer.contract(offer.state), offer.state == CREATED
        template = constants.templates[TRANSFER_OFFER if waiting else ACCEPTED_OFFER]
        payload = {
            "sender": offer.sender,
            "receiver": offer.receiver,
            "dso": constants.dso,
            "amount": {"amount": decimal_text(offer.amount), "unit": f"{constants.vocabulary.Coin}Unit"},
            **({"description": offer.request.description} if waiting else {}),
            "expiresAt": instant(offer.request.expires_at),
            "trackingId": offer.tracking_id,
        }
        blob = base64.b64encode(bytes.fromhex(identifier)).decode()
        return contract_object(template.identifier, identifier, payload, trimmed(offer.created_at), blob)

    @endpoint("POST", f"{OFFERS}/<path:tracking_id>/status")
    def _status(self, tracking_id: str) -> Json:
        return self.box.wallet.status(flask.g.party, tracking_id).status()

    @endpoint("GET", "/v0/wallet/balance")
    def _balance(self) -> Json:
        lowest_open, balance = self.world.rounds.lowest_open(self.clock.now()), self.box.wallet.balance(flask.g.party)
        return {"round": lowest_open, "effective_unlocked_qty": decimal_text(balance), **NOTHING_LOCKED}

    _user_status = endpoint("GET", "/v0/wallet/user-status")(lambda api: {"party_id": flask.g.party, **ONBOARDED})

    @endpoint("POST", f"{OFFERS}/<contract_id>/<any(accept, reject, withdraw):step>")
    def _step(self, contract_id: str, step: str) -> Json | Response:
        actor = flask.g.party if self.box.users.require_token else None  # None is whoever is entitled
        offer = getattr(self.box.wallet, step)(contract_id, actor)
        self.record("wallet", contract_id)
        return {"accepted_offer_contract_id": offer.contract(ACCEPTED)} if step == "accept" else Response()

    _ready = endpoint("GET", "/readyz", public=True)(lambda api: text_response())
    _live = endpoint("GET", "/livez", public=True)(lambda api: text_response())
    _version = endpoint("GET", "/version", public=True)(lambda api: {"version": api.box.history_version, "commit_ts": COMMITTED})


def decimal_text(value: Decimal) -> str:
    """Return a decimal without trailing zeros but with at least one place, as in payloads."""
    whole, _, fraction = f"{value:f}".partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"
