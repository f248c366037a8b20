"""The wallet API (docs/facts.md#wallet-api)."""

from __future__ import annotations

import base64
from decimal import Decimal
from typing import ClassVar

import flask
from flask import Response

from .endpoints import Api, Endpoint, endpoint
from .offer_book import ACCEPTED, CREATED, Offer, OfferRequest
from .responses import HttpError, Json, contract_object, text_response
from .times import instant, trimmed

OFFERS = "/v0/wallet/transfer-offers"


class WalletApi(Api):
    """Endpoints of the wallet API."""

    path_root: ClassVar[str] = "/v0/wallet/"

    def admit(self, declared: Endpoint) -> None:
        """Refuse a bad token and a user without a wallet."""
        if declared.public:
            return
        user = self.box.users.find(flask.request.headers.get("Authorization"))
        if user is None and self.box.users.require_token:
            raise HttpError(401, "The supplied authentication is missing, invalid or expired")
        user = user or self.box.users.main
        if user == self.box.users.limited:
            raise HttpError(404, f"No wallet found for user {user.name}")
        self.box.wallet.start_request()
        flask.g.party = user.party

    @property
    def _party(self) -> str:
        """Party of the wallet's owner, who sent the request."""
        return str(flask.g.party)

    @property
    def _actor(self) -> str | None:
        """Party that acts on an offer, or None for whoever is entitled if no token is required."""
        return self._party if self.box.users.require_token else None

    @endpoint("POST", OFFERS, OfferRequest)
    def _create(self, request: OfferRequest) -> Json:
        if self.strikes("wallet_500_before"):
            raise HttpError(500, "an internal error occurred before the offer was submitted")
        offer = self.box.wallet.create(self._party, request, self.strikes)
        self.record("wallet", request)
        if self.strikes("wallet_500_after"):
            raise HttpError(500, "an internal error occurred after the offer was submitted")
        return {"offer_contract_id": offer.contract()}

    @endpoint("GET", OFFERS)
    def _offers(self) -> Json:
        return {"offers": [self._contract(offer) for offer in self.box.wallet.of(self._party, CREATED)]}

    @endpoint("GET", "/v0/wallet/accepted-transfer-offers")
    def _accepted_offers(self) -> Json:
        return {"accepted_offers": [self._contract(offer) for offer in self.box.wallet.of(self._party, ACCEPTED)]}

    def _contract(self, offer: Offer) -> Json:
        """Return the contract of an offer, without description once accepted."""
        constants, identifier, waiting = self.world.constants(), offer.contract(offer.state), offer.state == CREATED
        template = constants.templates["transfer_offer" if waiting else "accepted_offer"]
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
        return self.box.wallet.status(self._party, tracking_id).status()

    @endpoint("GET", "/v0/wallet/balance")
    def _balance(self) -> Json:
        balance = self.box.wallet.balance(self._party)
        return {
            "round": self.world.rounds.lowest_open(self.clock.now()),
            "effective_unlocked_qty": decimal_text(balance),
            "effective_locked_qty": "0.0",
            "total_holding_fees": "0.0",
        }

    @endpoint("GET", "/v0/wallet/user-status")
    def _user_status(self) -> Json:
        flags = {"user_onboarded": True, "user_wallet_installed": True, "has_featured_app_right": False}
        return {"party_id": self._party, **flags}

    @endpoint("POST", f"{OFFERS}/<contract_id>/<any(accept, reject, withdraw):step>")
    def _step(self, contract_id: str, step: str) -> Json | Response:
        offer = getattr(self.box.wallet, step)(contract_id, self._actor)
        self.record("wallet", contract_id)
        return {"accepted_offer_contract_id": offer.contract(ACCEPTED)} if step == "accept" else Response()

    @endpoint("GET", "/readyz", public=True)
    @endpoint("GET", "/livez", public=True)
    def _probe(self) -> Response:
        return text_response()


def decimal_text(value: Decimal) -> str:
    """Return a decimal without trailing zeros but with at least one place, as in payloads."""
    whole, _, fraction = f"{value:f}".partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"
