"""A wallet service with the tracking id rules, which fails as it is told to and counts its offers.

See docs/facts.md#tracking-id-rules.
"""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx

import ledgerframes as lf
from ledgerframes.api.transport import Transport
from ledgerframes.settings import Limits
from ledgerframes.wallet import Journal, OffersWallet

OFFERS = "/v0/wallet/transfer-offers"
PREFIX = "/api/validator"
Reply = tuple[int, Any]
URL = "http://wallet.invalid/api/validator"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
EXPIRY = datetime(2100, 1, 1, 12, 0, 0, 123457, tzinfo=UTC)
OFFER: dict[str, Any] = {
    "receiver": "bob::1220bb",
    "amount": Decimal("5.0"),
    "description": "lunch",
    "expires_at": EXPIRY,
}


def jwt(subject: str, secret: str = "SECRETSIGNATURE") -> str:
    def part(content: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    return f"{part({'alg': 'RS256'})}.{part({'sub': subject})}.{secret}"


TOKEN = jwt("alice")
Connect = Callable[..., lf.Network]


POST_FAULTS = (
    "ok",
    "429 before",
    "500 before",
    "500 after",
    "503 before",
    "503 after",
    "408 before",
    "409 before",
    "drop before",
    "drop after",
    "timeout before",
    "timeout after",
    "garbage after",
    "later",  # taken in, answer lost; it takes effect some requests later
    "never",  # taken in, answer lost; it fails in the end
)
STATUS_FAULTS = ("ok", "404", "gone", "500", "429", "drop", "timeout", "garbage")


class DropError(Exception):
    """The connection breaks off."""


class LateError(Exception):
    """No answer in time."""


@dataclass
class WalletService:
    """Offers by tracking id; faults are taken from the front of the plans, then all is well."""

    post_plan: list[str] = field(default_factory=list)
    status_plan: list[str] = field(default_factory=list)
    ingest: int = 0  # status requests about an offer that are answered 404 right after its creation
    delay: int = 3  # requests until what was taken in takes effect
    hook: Callable[[str, str], None] = lambda when, tracking_id: None
    made: list[dict[str, Any]] = field(default_factory=list)
    statuses: dict[str, dict[str, Any]] = field(default_factory=dict)
    unseen: Counter[str] = field(default_factory=Counter)
    under_way: dict[str, list[Any]] = field(default_factory=dict)
    requests: list[tuple[str, str, bytes, str]] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)

    # -- what tests look at ---------------------------------------------------------------------------------------------

    def count(self, tracking_id: str) -> int:
        return sum(offer["tracking_id"] == tracking_id for offer in self.made)

    @property
    def posts(self) -> list[bytes]:
        return [body for method, path, body, _ in self.requests if (method, path) == ("POST", OFFERS)]

    def settle(self) -> None:
        """Everything that is under way takes effect or fails, and no fault is left."""
        with self.lock:
            self.post_plan.clear()
            self.status_plan.clear()
            for tracking_id in list(self.under_way):
                self.under_way[tracking_id][0] = 0
            self._time_passes()

    # -- requests -------------------------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, body: bytes, authorization: str) -> Reply:
        path = path.removeprefix(PREFIX)
        with self.lock:
            self.requests.append((method, path, body, authorization))
            self._time_passes()
        if (method, path) == ("POST", OFFERS):
            return self._post(json.loads(body))
        if method == "POST" and path.endswith("/status"):
            return self._status(unquote(path.removeprefix(OFFERS + "/").removesuffix("/status")))
        return self._rest(method, path)

    def _post(self, contents: dict[str, Any]) -> Reply:
        fault = self._next(self.post_plan)
        tracking_id = contents["tracking_id"]
        self.hook("before", tracking_id)
        if fault.endswith("before"):
            return fail(fault.split()[0])
        with self.lock:
            if self.count(tracking_id):
                reply: Reply = (409, {"error": "an offer with this tracking id was created"})
            elif tracking_id in self.under_way:
                reply = (429, {"error": "an offer with this tracking id is being processed"})
            elif fault in ("later", "never"):
                self.under_way[tracking_id] = [self.delay, contents if fault == "later" else None]
                return fail("drop")
            else:
                reply = (200, {"offer_contract_id": self._make(contents)})
        self.hook("after", tracking_id)
        return fail(fault.split()[0]) if fault.endswith("after") else reply

    def _status(self, tracking_id: str) -> Reply:
        fault = self._next(self.status_plan)
        if fault != "ok":
            return fail(fault)
        with self.lock:
            if tracking_id not in self.statuses or self.unseen[tracking_id] > 0:
                self.unseen[tracking_id] -= 1
                return 404, {"error": "no such tracking id"}
            return 200, self.statuses[tracking_id]

    def _rest(self, method: str, path: str) -> Reply:
        if path.endswith("/accept"):
            return 200, {"accepted_offer_contract_id": "00accepted"}
        if path.endswith(("/reject", "/withdraw")):
            return 200, None
        if path == OFFERS:
            return 200, {"offers": [self.contract(offer) for offer in self.made]}
        if path == "/v0/wallet/balance":
            return 200, {
                "round": 7,
                "effective_unlocked_qty": "12345678901234567.0000000001",
                "effective_locked_qty": "0E-10",
                "total_holding_fees": "1.5",
            }
        return 404, {"error": f"{method} {path}"}

    def contract(self, offer: dict[str, Any]) -> dict[str, Any]:
        payload = {"sender": "alice::1220aa", "receiver": offer["receiver_party_id"], "trackingId": offer["tracking_id"]}
        payload |= {"amount": {"amount": offer["amount"], "unit": "AmuletUnit"}, "description": offer["description"]}
        contract_id = f"00{self.made.index(offer) + 1:04}"
        return {"template_id": "x:TransferOffer", "contract_id": contract_id, "payload": payload}

    def _make(self, contents: dict[str, Any]) -> str:
        tracking_id = contents["tracking_id"]
        self.made.append(contents)
        self.unseen[tracking_id] = self.ingest
        contract_id = f"00{len(self.made):04}"
        self.statuses[tracking_id] = {"status": "created", "transaction_id": "1220aa", "contract_id": contract_id}
        return contract_id

    def _time_passes(self) -> None:
        for tracking_id, entry in list(self.under_way.items()):
            entry[0] -= 1
            if entry[0] < 0:
                del self.under_way[tracking_id]
                if entry[1] is not None:
                    self._make(entry[1])

    def _next(self, plan: list[str]) -> str:
        with self.lock:
            return plan.pop(0) if plan else "ok"

    # -- doors ----------------------------------------------------------------------------------------------------------

    def transport(self) -> httpx.MockTransport:
        def handler(request: httpx.Request) -> httpx.Response:
            try:
                path = request.url.raw_path.decode()
                status, body = self.answer(request.method, path, request.content, request.headers.get("Authorization", ""))
            except DropError as error:
                raise httpx.RemoteProtocolError("peer closed connection", request=request) from error
            except LateError as error:
                raise httpx.ReadTimeout("late", request=request) from error
            return httpx.Response(status, content=encoded(body))

        return httpx.MockTransport(handler)

    def server(self) -> ThreadingHTTPServer:
        """The same service on a free port of this machine; the caller serves and closes it."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                try:
                    status, reply = service.answer(self.command, self.path, body, self.headers.get("Authorization", ""))
                except (DropError, LateError):
                    self.close_connection = True
                    return
                content = encoded(reply)
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    pass  # whoever asked was killed

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def fail(fault: str) -> Reply:
    if fault == "drop":
        raise DropError
    if fault == "timeout":
        raise LateError
    if fault == "garbage":
        return 200, b'{"offer_contract'
    if fault == "gone":  # a proxy that does not reach the wallet
        return 404, b"404 page not found"
    return int(fault), (b"<html>gateway</html>" if fault == "503" else {"error": "told to fail"})


def encoded(body: object) -> bytes:
    if body is None:
        return b""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def offers_wallet(service: WalletService, folder: Path, now: datetime = NOW, retries: int = 5) -> OffersWallet:
    """A wallet whose offers are written in a folder, at a time."""
    limits = Limits(requests_per_second=0, retries=retries)
    return OffersWallet(Transport((URL,), limits, service.transport()), Journal(folder), lambda: now)
