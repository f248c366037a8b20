"""The command line in this process, and a host that can be told to misbehave."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest

from ledgerframes.cli import main
from ledgerframes.sandbox import Sandbox

SMALL_WORLD = {"LEDGERFRAMES_EVENTS": "400", "LEDGERFRAMES_DAYS": "1"}


@dataclass(frozen=True)
class Ran:
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def own_log_lines() -> Iterator[None]:
    """Handlers that a command has added are gone after the test."""
    loggers = [logging.getLogger(name) for name in ("ledgerframes", "stamina")]
    before = [(logger, list(logger.handlers), logger.level) for logger in loggers]
    yield
    for logger, handlers, level in before:
        logger.handlers, logger.level = handlers, level


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    for name, value in SMALL_WORLD.items():
        monkeypatch.setenv(name, value)

    def call(*arguments: object) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return call


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of the test."""


class _Silent(WSGIRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


class Host:
    """A host of the history API on this machine: a sandbox, until it is told to misbehave."""

    def __init__(self) -> None:
        self.box = Sandbox(events=400, days=1)
        self.mode = "well"
        self.server = make_server("127.0.0.1", 0, self, server_class=_Server, handler_class=_Silent)
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/scan"

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = getattr(self, f"_{self.mode}", None)
        if answer is None:
            return self.box.app(environ, start_response)
        status, kind, body, length = answer()
        start_response(status, [("Content-Type", kind), ("Content-Length", str(length))])
        return [body]

    @staticmethod
    def _html() -> tuple[str, str, bytes, int]:
        body = b"<!DOCTYPE html><html><body>Welcome</body></html>"
        return "200 OK", "text/html", body, len(body)

    @staticmethod
    def _gateway() -> tuple[str, str, bytes, int]:
        body = b"<html><body>503</body></html>"
        return "503 Service ServiceUnavailableError", "text/html", body, len(body)

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


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A misbehaving host, and the profile ``live`` that names it."""
    host = Host()
    profile = f'[live]\nhistory_url = "{host.url}"\ntimeout = 5\nretries = 0\nrequests_per_second = 0\ntoken = "geheim"\n'
    (tmp_path / "ledgerframes.toml").write_text(profile)
    thread = threading.Thread(target=host.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield host
    host.server.shutdown()
    thread.join()
    host.server.server_close()
