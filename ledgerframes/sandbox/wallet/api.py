"""The routes of the wallet API."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from ..decoders import decoder_of
from ..faults import Faults
from ..requests import Refusal, json_response
from ..users import User, Users
from ..world import World
from ..writes import Write
from .book import OfferBook
from .offers import ACCEPTED, CREATED, Offer, OfferRequest, shown, trimmed_decimal

OFFERS = "/v0/wallet/transfer-offers"


class WalletService:
    """What the routes need.

    Parameters
    ----------
    book
        The offers.
    users
        Whose token is whose.
    world
        For the words, the templates and the round.
    writes
        Where accepted writes are noted.
    faults
        What shall go wrong.
    """

    def __init__(self, book: OfferBook, users: Users, world: World, writes: list[Write], faults: Faults | None) -> None:
        self.book, self.users, self.world, self.writes = book, users, world, writes
        self._faults = faults or Faults()
        self._draws = count()

    def strikes(self, fault: str) -> bool:
        """Tell whether a fault strikes; every question is a draw of its own."""
        return self._faults.strike(fault, next(self._draws))

    def owner(self) -> User:
        """Return who asks; a missing or bad token, and a user without a wallet, are refused."""
        user = self.users.find(request.headers.get("Authorization"))
        if user is None and self.users.require_token:
            raise Refusal(401, "The supplied authentication is missing, invalid or expired")
        user = user or self.users.main
        if user == self.users.limited:
            raise Refusal(404, f"No wallet found for user {user.name}")
        self.book.begin_request()
        return user

    def entitled(self) -> str | None:
        """Return the party of who asks; None, which is everybody, when nobody has to say."""
        owner = self.owner()
        return owner.party if self.users.require_token else None

    def shown(self, offer: Offer) -> dict[str, Any]:
        """Return an offer's contract as the wire shows it."""
        constants = self.world.constants()
        return shown(offer, constants.dso, constants.templates, constants.vocabulary)

    def written(self, body: Any) -> None:
        """Note an accepted write."""
        operation = request.path[request.path.index("/v0/wallet/") + len("/v0/wallet/") :]
        self.writes.append(Write("wallet", f"{request.method} {operation}", body))


def wallet_api(service: WalletService, now: Callable[[], int]) -> Blueprint:
    """Return the routes of the wallet API (docs/facts.md#wallet-api).

    Parameters
    ----------
    service
        The offers and everything around them.
    now
        The present, microseconds since 1970.
    """
    api = Blueprint("wallet", __name__)
    _add_creation(api, service)
    _add_reads(api, service, now)
    _add_steps(api, service)

    @api.get("/readyz")
    @api.get("/livez")
    def probe() -> Response:
        return Response(b"", 200, content_type="text/plain; charset=UTF-8")

    return api


def _add_creation(api: Blueprint, service: WalletService) -> None:
    @api.post(OFFERS)
    def create() -> Response:
        owner = service.owner()
        try:
            asked = decoder_of(OfferRequest).decode(request.get_data())
        except msgspec.MsgspecError as error:
            raise Refusal(400, f"The request content was malformed:\n{error}", plain=True) from error
        if service.strikes("wallet_500_before"):
            raise Refusal(500, "an internal error occurred before the offer was submitted")
        offer = service.book.create(owner.party, asked, service.strikes)
        service.written(asked)
        if service.strikes("wallet_500_after"):
            raise Refusal(500, "an internal error occurred after the offer was submitted")
        return _answer({"offer_contract_id": offer.contract()})


def _add_reads(api: Blueprint, service: WalletService, now: Callable[[], int]) -> None:
    @api.get(OFFERS)
    def offers() -> Response:
        found = service.book.of(service.owner().party, CREATED)
        return _answer({"offers": [service.shown(offer) for offer in found]})

    @api.get("/v0/wallet/accepted-transfer-offers")
    def accepted() -> Response:
        found = service.book.of(service.owner().party, ACCEPTED)
        return _answer({"accepted_offers": [service.shown(offer) for offer in found]})

    @api.post(f"{OFFERS}/<path:tracking_id>/status")
    def status(tracking_id: str) -> Response:
        return _answer(service.book.status(service.owner().party, tracking_id).status())

    @api.get("/v0/wallet/balance")
    def balance() -> Response:
        held = service.book.balance(service.owner().party)
        return _answer(
            {
                "round": service.world.rounds.lowest_open(now()),
                "effective_unlocked_qty": trimmed_decimal(held),
                "effective_locked_qty": "0.0",
                "total_holding_fees": "0.0",
            }
        )

    @api.get("/v0/wallet/user-status")
    def user_status() -> Response:
        user = service.owner()
        known = {"user_onboarded": True, "user_wallet_installed": True, "has_featured_app_right": False}
        return _answer({"party_id": user.party, **known})


def _add_steps(api: Blueprint, service: WalletService) -> None:
    @api.post(f"{OFFERS}/<contract_id>/accept")
    def accept(contract_id: str) -> Response:
        offer = service.book.accept(contract_id, service.entitled())
        service.written(contract_id)
        return _answer({"accepted_offer_contract_id": offer.contract(ACCEPTED)})

    @api.post(f"{OFFERS}/<contract_id>/reject")
    def reject(contract_id: str) -> Response:
        service.book.reject(contract_id, service.entitled())
        return _empty(service, contract_id)

    @api.post(f"{OFFERS}/<contract_id>/withdraw")
    def withdraw(contract_id: str) -> Response:
        service.book.withdraw(contract_id, service.entitled())
        return _empty(service, contract_id)


def _empty(service: WalletService, contract_id: str) -> Response:
    service.written(contract_id)
    return Response(b"", 200)


def _answer(value: Any) -> Response:
    return json_response(msgspec.json.encode(value))
