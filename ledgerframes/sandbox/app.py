"""The WSGI app of the sandbox: every API's routes, under its prefix and at the root, and their refusals."""

from __future__ import annotations

from flask import Flask, Response
from werkzeug.exceptions import MethodNotAllowed, NotFound

from .history_api import history_api
from .requests import Refusal
from .words import Words
from .world import World

HISTORY_PREFIX = "/api/scan"
UNKNOWN_ROUTE = "The requested resource could not be found."
WRONG_METHOD = "HTTP method not allowed, supported methods: {}"


def make_app(world: World, words: Words) -> Flask:
    """Return the app over a world, without faults.

    Parameters
    ----------
    world
        The world that is shown.
    words
        The vocabulary of paths and keys.
    """
    app = Flask(__name__, static_folder=None)
    history = history_api(world, words)
    app.register_blueprint(history, url_prefix=HISTORY_PREFIX, name="history")
    app.register_blueprint(history, name="history at the root")
    app.register_error_handler(Refusal, Refusal.response)
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
