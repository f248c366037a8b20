"""The command line in this process, and a host with selectable faults."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from completed import Completed
from faulty_host import Host

from ledgerframes.cli import main
from ledgerframes.report import ReportResult
from ledgerframes.sandbox import Sandbox

SMALL_WORLD = {"LEDGERFRAMES_EVENTS": "400", "LEDGERFRAMES_DAYS": "1"}


class Serving(NamedTuple):
    """What the command would serve, and where."""

    box: Sandbox
    port: int
    host: str


RUN = {"network": "devnet", "coverage": {"final": 0.243}}


@pytest.fixture(autouse=True)
def restored_log_handlers() -> Iterator[None]:
    """Remove the log handlers of a command after the test."""
    loggers = [logging.getLogger(name) for name in ("ledgerframes", "ledgerframes.retries")]
    before = [(logger, list(logger.handlers), logger.level) for logger in loggers]
    yield
    for logger, handlers, level in before:
        logger.handlers, logger.level = handlers, level


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Completed]:
    for name, value in SMALL_WORLD.items():
        monkeypatch.setenv(name, value)

    def call(*arguments: object) -> Completed:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Completed(code, *capsys.readouterr())

    return call


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Return a function that replaces the run of a report by an outcome, and returns the arguments of the run."""

    def replace(*broken_rules: str, error: BaseException | None = None) -> dict[str, Any]:
        passed: dict[str, Any] = {}

        def run_report(name: str, **arguments: Any) -> ReportResult:
            passed.update(arguments, name=name)
            if error:
                raise error
            page = Path("r/key/index.html")
            return ReportResult(name, "key", page.parent, page, Path("r/latest"), False, RUN, broken_rules=broken_rules)

        monkeypatch.setattr("ledgerframes.report.run_report", run_report)
        return passed

    return replace


@pytest.fixture
def servings(monkeypatch: pytest.MonkeyPatch) -> list[Serving]:
    """The sandboxes that commands would serve, without a server."""
    servings: list[Serving] = []
    monkeypatch.setattr("ledgerframes.sandbox.serve", lambda *arguments: servings.append(Serving(*arguments)))
    return servings


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host with selectable faults, and the profile ``live`` that names it."""
    host = Host()
    profile = f'[live]\nhistory_url = "{host.url}"\ntimeout = 5\nretries = 0\nrequests_per_second = 0\ntoken = "geheim"\n'
    (tmp_path / "ledgerframes.toml").write_text(profile)
    thread = threading.Thread(target=host.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield host
    host.server.shutdown()
    thread.join()
    host.server.server_close()
