"""Behavior of a separate process: imports, pipes, Ctrl-C, terminals."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cases import every_nth

from ledgerframes.cli.exit_codes import EXIT_CODES

Run = Callable[..., Any]

COMMAND = [sys.executable, "-m", "ledgerframes"]
# A command in its own process, and one that a program runs in its process.
COLLECTIONS = """
import gc, sys
from ledgerframes.cli import main
before = gc.get_threshold()
main(["--version"])
inside = gc.get_threshold()
sys.argv = ["ledgerframes", "--version"]
main()
print(inside == before, gc.get_threshold()[0] > before[0])
"""
HEAVY = ("pandas", "pyarrow", "numpy", "httpx", "flask", "matplotlib", "nbclient", "rich")

# The package without its __init__, to see the imports of the command line alone.
IMPORTS = """
import sys, types
package = types.ModuleType("ledgerframes")
package.__path__ = [sys.argv[1]]
sys.modules["ledgerframes"] = package
from ledgerframes.cli import main
main(["--help"])
main(["sync", "events", "--help"])
main(["--version"])
print(sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the package importable, because tests run in a separate directory and it may not be installed."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("LEDGERFRAMES_EVENTS", "400")
    monkeypatch.setenv("LEDGERFRAMES_DAYS", "1")


def test_help_imports_nothing_heavy() -> None:
    package = Path(__file__).parents[2] / "ledgerframes"
    done = subprocess.run([sys.executable, "-c", IMPORTS, str(package)], capture_output=True, text=True, check=True)
    assert "typer" in done.stderr
    assert not [name for name in HEAVY if f"'{name}'" in done.stderr]


def test_only_the_process_of_a_command_collects_garbage_rarely() -> None:
    done = subprocess.run([sys.executable, "-c", COLLECTIONS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"


@pytest.mark.parametrize("unbuffered", every_nth(["", "1"], 2))
def test_output_that_does_not_fit_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str) -> None:
    """A file of at most 1,000 bytes takes a part of the output. Without a buffer, Python would not write the rest."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    limited = shlex.join([*COMMAND, "tables", "--json"])
    command = f"ulimit -f 1; exec {limited}"
    with (tmp_path / "output.json").open("wb") as file:
        done = subprocess.run(["sh", "-c", command], stdout=file, stderr=subprocess.PIPE, text=True)
    assert (tmp_path / "output.json").stat().st_size > 0
    assert done.returncode == 1 and done.stderr.startswith("ledgerframes: Cannot write the output: File too large.")
    whole = run("tables", "--json").out
    assert len(whole) > 1_000 and json.loads(whole)


@pytest.mark.parametrize(
    ("arguments", "message"), [(["tables"], ""), (["tables", "nothing", "--json"], "ledgerframes: Unknown table")]
)
def test_a_closed_pipe_is_quiet(arguments: list[str], message: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run([*COMMAND, *arguments], stdout=closed, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 141 in EXIT_CODES
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr


UNWRITABLE = {">&-": (0, ""), ">/dev/full": (1, "ledgerframes: Cannot write the output: No space left on device.")}


@pytest.mark.parametrize(
    ("redirection", "arguments"), every_nth(product(UNWRITABLE, [["tables"], ["tables", "traffic", "--json"]]), 3)
)
def test_output_that_cannot_be_written(redirection: str, arguments: list[str]) -> None:
    exit_code, message = UNWRITABLE[redirection]
    command = f"{shlex.join([*COMMAND, *arguments])} {redirection}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr[: len(message) or None]) == (exit_code, message)
    assert "bug" not in done.stderr


WRONG = (["tables", "nosuch", "--json"], ["report", "run", "nosuch", "--json"], ["--nosuch"], ["sql", "nothing", "--json"])


@pytest.mark.parametrize(("redirection", "arguments"), every_nth(product(["2>&-", "2>/dev/full"], WRONG), len(WRONG)))
def test_the_exit_code_and_the_document_do_not_need_stderr(redirection: str, arguments: list[str]) -> None:
    # A buffer of stderr that cannot be written would change the exit code when Python exits.
    command = f"unset PYTHONUNBUFFERED; {shlex.join([*COMMAND, *arguments])} {redirection}"
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 2
    if "--json" in arguments:
        assert json.loads(done.stdout)["exit_code"] == 2


def in_terminal(*arguments: str) -> str:
    """Return the output of a command on a terminal."""
    controller, terminal = pty.openpty()
    with subprocess.Popen([*COMMAND, *arguments], stdin=terminal, stdout=terminal, stderr=terminal):
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # the end of a terminal, on Linux
                break
            if not part:
                break
            shown += part
    os.close(controller)
    return shown.decode()


def test_lines_fit_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    shown = in_terminal("tables", "verdicts").replace("\r", "")
    assert max(map(len, shown.splitlines())) <= 120
    assert len(shown.splitlines()) > len(run("tables", "verdicts").out.splitlines())
