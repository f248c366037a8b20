"""The WSGI app of the sandbox, with each API under its prefix.

The history API is also at the root.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from flask import Flask, Response
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map

from .bulk_api import BulkApi
from .endpoints import Api
from .history_api import HistoryApi
from .ledger_api.admin import Admin
from .ledger_api.commands import Commands
from .ledger_api.state import State
from .ledger_api.updates import Updates
from .reference_api import ReferenceApi
from .responses import HttpError, LedgerApiError, text_response
from .rewards_api import RewardsApi
from .state_api import StateApi
from .versions import minor_of
from .wallet_api import WalletApi

if TYPE_CHECKING:
    from .network import SimulatedNetwork

HISTORY_PREFIX, LEDGER_PREFIX, WALLET_PREFIX = "/api/scan", "/api/ledger", "/api/validator"
APIS: tuple[tuple[type[Api], str], ...] = (
    (HistoryApi, HISTORY_PREFIX),
    (BulkApi, HISTORY_PREFIX),
    (StateApi, HISTORY_PREFIX),
    (ReferenceApi, HISTORY_PREFIX),
    (RewardsApi, HISTORY_PREFIX),
    *((family, LEDGER_PREFIX) for family in (Updates, State, Commands, Admin)),
    (WalletApi, WALLET_PREFIX),
)
MAX_CACHED_ROUTES = 8  # vocabularies and versions
UNKNOWN_ROUTE = "The requested resource could not be found."
WRONG_METHOD = "HTTP method not allowed, supported methods: {}"

_lock = threading.Lock()  # making an app compiles routes and decoders, which must not happen in two threads at once


def make_app(box: SimulatedNetwork) -> Flask:
    """Return the app, without the faults that strike any response."""
    app = Flask(__name__, static_folder=None)
    with _lock:
        app.url_map = _routes(box.world.vocabulary.coin, minor_of(box.ledger_version), minor_of(box.history_version))
        for api, _ in APIS:
            app.view_functions.update(api(box).views())
    app.register_error_handler(HttpError, HttpError.response)
    app.register_error_handler(LedgerApiError, LedgerApiError.response)
    app.register_error_handler(NotFound, lambda error: text_response(UNKNOWN_ROUTE, 404))
    app.register_error_handler(MethodNotAllowed, _wrong_method)
    return app


@lru_cache(MAX_CACHED_ROUTES)  # compiling them takes longer than all the rest of a sandbox
def _routes(coin: str, ledger_minor: int, history_minor: int) -> Map:
    """Return the routes in the network's words, and in versions of two APIs."""
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # an empty id is an unknown route, and no redirect
    for api, prefix in APIS:
        minor = history_minor if prefix == HISTORY_PREFIX else ledger_minor
        for name, _, declared in api.endpoints():
            if not declared.is_in(minor):
                continue
            for root in (prefix, "") if prefix == HISTORY_PREFIX else (prefix,):
                app.add_url_rule(root + declared.path.replace("{coin}", coin), name, methods=[declared.method])
    return app.url_map


def _wrong_method(error: MethodNotAllowed) -> Response:
    methods = ", ".join(sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"}))
    response = text_response(WRONG_METHOD.format(methods), 405)
    response.headers["Allow"] = methods
    return response
