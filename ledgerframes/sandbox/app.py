"""The WSGI app of the sandbox, with each API under its prefix.

The history API is also at the root.
"""

from __future__ import annotations

import threading

from flask import Flask, Response
from werkzeug.exceptions import MethodNotAllowed, NotFound

from .bulk_api import BulkApi
from .endpoints import Api
from .history_api import HistoryApi
from .ledger_api import LEDGER_APIS
from .ledger_errors import LedgerApiError
from .responses import UNKNOWN_ROUTE, HttpError, text_response
from .services import Services
from .wallet_api import WalletApi

HISTORY_PREFIX, LEDGER_PREFIX, WALLET_PREFIX = "/api/scan", "/api/ledger", "/api/validator"
APIS: tuple[tuple[type[Api], str], ...] = (
    (HistoryApi, HISTORY_PREFIX),
    (BulkApi, HISTORY_PREFIX),
    *((family, LEDGER_PREFIX) for family in LEDGER_APIS),
    (WalletApi, WALLET_PREFIX),
)
WRONG_METHOD = "HTTP method not allowed, supported methods: {}"

_lock = threading.Lock()  # making an app compiles routes and decoders, which must not happen in two threads at once


def make_app(services: Services) -> Flask:
    """Return the app, without the faults that strike any response.

    Parameters
    ----------
    services
        Parts of the sandbox.
    """
    app = Flask(__name__, static_folder=None)
    with _lock:
        for api, prefix in APIS:
            routes = api(services).blueprint()
            app.register_blueprint(routes, url_prefix=prefix)
            if prefix == HISTORY_PREFIX:
                app.register_blueprint(routes, name=f"{routes.name} at the root")
    app.register_error_handler(HttpError, HttpError.response)
    app.register_error_handler(LedgerApiError, LedgerApiError.response)
    app.register_error_handler(NotFound, lambda error: text_response(UNKNOWN_ROUTE, 404))
    app.register_error_handler(MethodNotAllowed, _wrong_method)
    return app


def _wrong_method(error: MethodNotAllowed) -> Response:
    methods = ", ".join(sorted(set(error.valid_methods or ()) - {"HEAD", "OPTIONS"}))
    response = text_response(WRONG_METHOD.format(methods), 405)
    response.headers["Allow"] = methods
    return response
