"""The WSGI app of the sandbox: every API's routes, under its prefix and at the root, and their refusals."""

from __future__ import annotations

import threading
from typing import NamedTuple

from flask import Flask, Response
from werkzeug.exceptions import MethodNotAllowed, NotFound

from .bulk import BulkStorage
from .bulk_api import bulk_api
from .canton import CantonError
from .clock import Clock
from .faults import Faults
from .history_api import history_api
from .ledger_api import LedgerService, ledger_api
from .reference_api import reference_api
from .requests import Refusal
from .vocabulary import Vocabulary
from .wallet import WalletService, wallet_api
from .world import World

HISTORY_PREFIX, LEDGER_PREFIX, WALLET_PREFIX = "/api/scan", "/api/ledger", "/api/validator"
UNKNOWN_ROUTE = "The requested resource could not be found."
WRONG_METHOD = "HTTP method not allowed, supported methods: {}"

_making = threading.Lock()  # routes are compiled, and Python 3.11 trips over threads that compile at once


class Services(NamedTuple):
    """What the routes are over."""

    world: World
    words: Vocabulary
    clock: Clock
    ledger: LedgerService
    wallet: WalletService
    bulk: BulkStorage
    faults: Faults | None


def make_app(services: Services) -> Flask:
    """Return the app over a world, without the faults that strike any answer.

    Parameters
    ----------
    services
        The world, and what serves it.
    """
    with _making:
        return _made(services)


def _made(services: Services) -> Flask:
    app = Flask(__name__, static_folder=None)
    world, words, clock = services.world, services.words, services.clock
    history = [
        history_api(world, words, clock),
        reference_api(world, words, clock),
        bulk_api(services.bulk, services.faults),
    ]
    for part in history:
        app.register_blueprint(part, url_prefix=HISTORY_PREFIX, name=part.name)
        app.register_blueprint(part, name=f"{part.name} at the root")
    app.register_blueprint(ledger_api(services.ledger), url_prefix=LEDGER_PREFIX)
    app.register_blueprint(wallet_api(services.wallet, clock.now), url_prefix=WALLET_PREFIX)
    app.register_error_handler(Refusal, Refusal.response)
    app.register_error_handler(CantonError, CantonError.response)
    app.register_error_handler(NotFound, lambda error: _plain(UNKNOWN_ROUTE, 404))
    app.register_error_handler(MethodNotAllowed, _wrong_method)
    return app


def _plain(text: str, status: int) -> Response:
    return Response(text, status, content_type="text/plain; charset=UTF-8")


def _wrong_method(error: MethodNotAllowed) -> Response:
    methods = sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"})
    answer = _plain(WRONG_METHOD.format(", ".join(methods)), 405)
    answer.headers["Allow"] = ", ".join(methods)
    return answer
