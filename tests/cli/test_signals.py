"""Ctrl-C and SIGTERM end every command with one line and its exit code, and the next run goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path

import pytest
from cases import every_nth
from equality import assert_equal, every_table
from faulty_host import Host

import ledgerframes as lf
from ledgerframes.sandbox import Faults, Sandbox

COMMAND = [sys.executable, "-m", "ledgerframes"]
MESSAGES = {
    signal.SIGINT: (130, "Interrupted from the keyboard."),
    signal.SIGTERM: (143, "Terminated."),
    signal.SIGHUP: (129, "The terminal was closed."),
}
TERMINATED = (143, "ledgerframes: Terminated. Committed segments stay in the store.\n")
DAY = ("--since", "2026-11-08", "--until", "2026-11-09")
REPORT = ("report", "run", "verdicts", "--during", "2026-11-08")

PROGRESS = ("Fetching ", "Report ")

Send = Callable[[int, int], None]


@pytest.fixture(autouse=True)
def small_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the package importable, which may not be installed, and have signals, which a background job ignores."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("LEDGERFRAMES_EVENTS", "400")
    monkeypatch.setenv("LEDGERFRAMES_DAYS", "1")
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command in a process group of its own, which is killed at the end if it still runs."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, *arguments], **pipes, text=True, start_new_session=True) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def wait_until(is_true: Callable[[], object]) -> None:
    for _ in range(1200):
        if is_true():
            return
        time.sleep(0.05)
    raise AssertionError("waited for a minute")


def ends(process: subprocess.Popen[str], number: signal.Signals, send: Send = os.kill) -> str:
    """Send a signal, expect that the command ends with one line and its exit code, and return its output.

    Above the line, a command that takes seconds says what it does.
    """
    assert process.poll() is None
    send(process.pid, number)
    out, err = process.communicate(timeout=60)
    code, message = MESSAGES[number]
    lines = [line for line in err.splitlines() if not line.startswith(PROGRESS)]
    assert (process.returncode, lines) == (code, [f"ledgerframes: {message} Committed segments stay in the store."])
    return out


def children(process: subprocess.Popen[str], name: str) -> list[int]:
    """Return the ids of the child processes of a command whose command line has a name."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # of a process that has ended
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process.pid and name.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def handles_signals(process: subprocess.Popen[str]) -> bool:
    """Return whether a command has begun to handle signals, which Python itself does not in its first milliseconds."""
    (caught,) = re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def wait_for_kernel(process: subprocess.Popen[str]) -> int:
    """Wait until the notebook of a report has a process, and return its id."""
    wait_until(lambda: children(process, "ledgerframes.report.cell_process"))
    return children(process, "ledgerframes.report.cell_process")[0]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("number", MESSAGES)
def test_a_signal_while_modules_are_imported(number: signal.Signals) -> None:
    with running("doctor") as process:
        wait_until(lambda: "pandas" in Path(f"/proc/{process.pid}/maps").read_text())
        assert ends(process, number) == ""


def command_module(folder: Path, lines: str) -> list[str]:
    """Return a command line that runs these lines, which define `run`, as a command does."""
    ends = "import sys\nfrom ledgerframes.cli.signals import SIGNALS, end_on_signals\nsys.exit(end_on_signals(run))\n"
    (folder / "module.py").write_text(lines + ends)
    return [sys.executable, "-m", "module"]


KILL = "import os, signal, time; os.kill(os.getpid(), signal.SIGTERM)"
SIGNALS_IN_CODE = {
    # As an exec of a library, when a signal comes.
    "generated": f"run = lambda: exec({KILL!r})\n",
    # As the parser of the command line, which catches KeyboardInterrupt.
    "caught": f"def run():\n    try:\n        exec({KILL!r})\n    except KeyboardInterrupt:\n        return 130\n",
    # As a callback of the import system, in which Python loses exceptions.
    "lost": f"""
import time

class Lost:
    def __del__(self):
        exec({KILL!r})

def run():
    Lost()
    time.sleep(30)
""",
    # As a library that drops all exceptions, and cleans up longer than a timer waits.
    "dropped": f"""
from contextlib import suppress
import time

def run():
    with suppress(BaseException):
        try:
            exec({KILL!r})
        finally:
            time.sleep(1)
            print("cleaned up")
    time.sleep(30)
    print("went on")
""",
}


@pytest.mark.parametrize("case", SIGNALS_IN_CODE)
def test_a_signal_anywhere_in_code_ends_with_its_exit_code(tmp_path: Path, case: str) -> None:
    command = command_module(tmp_path, SIGNALS_IN_CODE[case])
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == TERMINATED
    assert ended.stdout == ("cleaned up\n" if case == "dropped" else "")


def test_a_command_that_ends_by_itself_after_a_signal_is_not_interrupted_again(tmp_path: Path) -> None:
    code = f"""
import time

def run():
    SIGNALS.raise_only_once()
    try:
        exec({KILL!r})
    except KeyboardInterrupt:
        pass
    time.sleep(1)
    print("summary")
    return 0
"""
    ended = subprocess.run(command_module(tmp_path, code), cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == TERMINATED
    assert ended.stdout == "summary\n"


INTERRUPTIONS: list[tuple[signal.Signals, Send, float]] = [
    (signal.SIGINT, os.kill, 0.8),
    (signal.SIGTERM, os.killpg, 0.0),
    (signal.SIGINT, os.killpg, 1.5),
    (signal.SIGTERM, os.kill, 2.5),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("number", "send", "seconds"), INTERRUPTIONS)
def test_a_signal_while_the_notebook_of_a_report_runs(number: signal.Signals, send: Send, seconds: float) -> None:
    with running(*REPORT, "--json") as process:
        kernel = wait_for_kernel(process)
        time.sleep(seconds)
        document = json.loads(ends(process, number, send))
    assert (document["error"], document["exit_code"]) == ("Interrupted", MESSAGES[number][0])
    with pytest.raises(ProcessLookupError):
        os.kill(kernel, 0)
    done = subprocess.run([*COMMAND, *REPORT, "--quiet"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).is_file()


INTERRUPTED_START = """
import os, threading
from pathlib import Path
from ledgerframes.report.execute import run_cells
start = threading.Timer.start
def start_and_interrupt(timer):
    start(timer)
    raise KeyboardInterrupt
threading.Timer.start = start_and_interrupt
run_cells({"cells": [{"cell_type": "code", "source": "1", "metadata": {}}]}, "x.ipynb", dict(os.environ), Path.cwd(), 900)
"""


def test_a_signal_while_the_time_of_a_cell_starts() -> None:
    """The process does not wait for the time of the cell, of which nothing is left."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_START], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")


INTERRUPTED_PROCESS = """
import os, signal, subprocess
from pathlib import Path
from ledgerframes.report.execute import run_cells
start = subprocess.Popen.__init__
def start_and_interrupt(process, *arguments, **options):
    start(process, *arguments, **options)
    print(process.pid, flush=True)
    signal.raise_signal(signal.SIGINT)
subprocess.Popen.__init__ = start_and_interrupt
try:
    run_cells({"cells": []}, "x.ipynb", dict(os.environ), Path.cwd(), 900)
except KeyboardInterrupt:
    print("interrupted")
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("without a process")
"""


def test_a_signal_while_the_process_of_a_notebook_starts() -> None:
    """The process that has just started ends, too."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_PROCESS], capture_output=True, text=True, timeout=60)
    assert (done.stdout.splitlines()[1:], done.stderr) == (["interrupted", "without a process"], "")


KILLED_POOL = """
import threading, time
from multiprocessing.connection import Connection
import loky.backend.synchronize as synchronize
from ledgerframes.loaders.executors import processes
def slow_in_the_feeder(function):
    def call(*arguments):
        function(*arguments)
        if threading.current_thread().name == "QueueFeederThread":
            time.sleep(0.2)
    return call
Connection.close = slow_in_the_feeder(Connection.close)
synchronize.sem_unlink = slow_in_the_feeder(synchronize.sem_unlink)
if __name__ == "__main__":
    pool = processes(1)
    pool.submit(abs, -1).result()
    pool.shutdown(kill_workers=True)
    time.sleep(0.3)
"""


def test_a_pool_that_is_killed_leaves_nothing_that_the_end_of_python_would_warn_of(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(KILLED_POOL)
    done = subprocess.run([sys.executable, "module.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.loopback
@pytest.mark.parametrize("number", every_nth([signal.SIGINT, signal.SIGTERM], 2))
def test_a_signal_while_fetching(host: Host, number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    host.box = Sandbox(events=400, days=1, faults=Faults(latency_seconds=0.4))
    monkeypatch.setenv("LEDGERFRAMES_PAGE_SIZE", "1")
    with running("--profile", "live", "sync", "events", *DAY) as process:
        wait_until(lambda: sum(path.endswith("/v0/events") for path in host.paths) > 2)
        assert ends(process, number) == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("number", "seconds"), [(signal.SIGTERM, 0.5), (signal.SIGINT, 0.0), (signal.SIGINT, 1.0)])
def test_a_signal_while_worker_processes_load(number: signal.Signals, seconds: float, tmp_path: Path) -> None:
    load, store = ("sync", "events", *DAY, "--workers", "1"), tmp_path / "store"
    with running("--store", str(store), *load) as process:
        wait_until(lambda: children(process, "popen_loky"))
        time.sleep(seconds)
        assert ends(process, number, os.killpg) == ""
    done = subprocess.run([*COMMAND, "--store", str(store), *load, "--quiet"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    window = {"since": DAY[1], "until": DAY[3]}
    at_once = lf.load_events(lf.connect("sandbox", store=tmp_path / "other"), **window)
    resumed = lf.load_events(lf.connect("sandbox", store=store, offline=True), **window)
    assert_equal(every_table(resumed), every_table(at_once))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("seconds", "command"), [*product((0.3, 1.2), ("compact", "verify", "rebuild"))])
def test_a_signal_during_maintenance(seconds: float, command: str) -> None:
    events = lf.load_events(lf.connect("sandbox"), since="2026-11-08", until="2026-11-09")
    before = every_table(events)
    with running("store", command) as process:
        wait_until(lambda: handles_signals(process))
        time.sleep(seconds)
        process.terminate()
        out, err = process.communicate(timeout=60)
        # Once a command has written its result, Python leaves the signal to the system, and a shell shows 143 as well.
        finished = {(0, ""), (-signal.SIGTERM, "")} if out else set()
        assert (process.returncode, err) in {TERMINATED, *finished}
    assert subprocess.run([*COMMAND, "store", "verify"], capture_output=True).returncode == 0
    assert_equal(every_table(lf.load_events(lf.connect("sandbox"), since="2026-11-08", until="2026-11-09")), before)


@pytest.mark.loopback
@pytest.mark.parametrize("number", every_nth(MESSAGES, len(MESSAGES)))
def test_a_signal_while_serving(number: signal.Signals) -> None:
    port = free_port()
    with running("sandbox", "--port", str(port), "--json") as process:
        wait_until(lambda: listens(port))
        assert json.loads(ends(process, number))["name"]  # one document, although the command ends with an error


@pytest.mark.exhaustive
@pytest.mark.loopback
@pytest.mark.parametrize(("number", "send"), [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)])
def test_a_signal_ends_jupyterlab(number: signal.Signals, send: Send, tmp_path: Path) -> None:
    port = free_port()
    options = (f"--port={port}", "--allow-root", "--ServerApp.log_level=50")
    with running("lab", "--no-browser", "--quiet", "--dir", str(tmp_path / "own"), "--", *options) as process:
        wait_until(lambda: listens(port))
        send(process.pid, number)
        _, err = process.communicate(timeout=60)
    code, message = MESSAGES[number]
    assert (process.returncode, err.splitlines()[-1].partition(" Comm")[0]) == (code, f"ledgerframes: {message}")
    assert "Traceback" not in err
    assert not listens(port)


@pytest.mark.exhaustive
def test_a_command_in_the_background_of_a_script_ignores_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for such a command
    with running("doctor") as process:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
