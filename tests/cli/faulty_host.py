"""A host with selectable faults."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from ledgerframes.sandbox import Sandbox


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnects, which is part of the test."""


class _Silent(WSGIRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


class Host:
    """A local host of the history API, which behaves as a sandbox until its mode is changed."""

    def __init__(self) -> None:
        self.box = Sandbox(events=400, days=1)
        self.mode = "well"
        self.paths: list[str] = []  # of the requests so far
        self.server = make_server("127.0.0.1", 0, self, server_class=_Server, handler_class=_Silent)
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/scan"

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.paths.append(environ["PATH_INFO"])
        fault = getattr(self, f"_{self.mode}", None)
        if fault is None:
            return self.box.app(environ, start_response)
        status, content_type, body, length = fault()
        start_response(status, [("Content-Type", content_type), ("Content-Length", str(length))])
        return [body]

    @staticmethod
    def _html() -> tuple[str, str, bytes, int]:
        body = b"<!DOCTYPE html><html><body>Welcome</body></html>"
        return "200 OK", "text/html", body, len(body)

    @staticmethod
    def _gateway() -> tuple[str, str, bytes, int]:
        body = b"<html><body>503</body></html>"
        return "503 Service Unavailable", "text/html", body, len(body)

    @staticmethod
    def _half() -> tuple[str, str, bytes, int]:
        body = b'{"events": [{"upd'
        return "200 OK", "application/json", body, 2 * len(body)

    @staticmethod
    def _silent() -> tuple[str, str, bytes, int]:
        time.sleep(1.0)
        return "200 OK", "application/json", b"{}", 2

    @staticmethod
    def _no_event() -> tuple[str, str, bytes, int]:
        body = b'{"events": [{"update": 5}]}'
        return "200 OK", "application/json", body, len(body)

    @staticmethod
    def _rude() -> tuple[str, str, bytes, int]:
        body = json.dumps({"error": "no \x1b[31mred\x1b[0m\x07 and [bold]no[/bold] \u202e markup \x9b2J"}).encode()
        return "400 Bad Request", "application/json", body, len(body)
