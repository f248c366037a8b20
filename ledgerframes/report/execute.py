"""Execution of notebooks in a separate Python process.

A notebook runs from top to bottom, offline, on frozen inputs.
"""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ledgerframes.errors import ReportError
from ledgerframes.installation import extra_for
from ledgerframes.loaders.interrupts import signals_handled_afterwards
from ledgerframes.network import Network
from ledgerframes.report.freeze import FrozenInputs
from ledgerframes.report.loads import HISTORY_VARIABLE
from ledgerframes.report.notebook import Cell, Notebook, code_cells, read_notebook, tags
from ledgerframes.report.reward_links import REWARD_LINKS_VARIABLE
from ledgerframes.report.tables import TABLES_VARIABLE

PREFIX = "LEDGERFRAMES_"
INJECTED_TAG = "injected-parameters"
CELL_TIMEOUT_SECONDS = 900
MAX_MESSAGE = 400
NO_SPACE = f"[Errno {errno.ENOSPC}]"
FREE_SPACE = "A disk is full: free space there, or choose another directory with out=."
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def environment_variables(
    net: Network, inputs: FrozenInputs, tables_dir: Path, working_dir: Path, spill_dir: Path
) -> dict[str, str]:
    """Return all variables of a process in which ``lf.connect()`` is the frozen network.

    No profile is read and no token is passed on. Offline, only the network's name, store, catalog and query limits are
    needed. The profile is the one that always exists. With a URL, it stands for a configured network, not an embedded
    sandbox.
    """
    token_variable = net.settings.token_env
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX) and name != token_variable}
    limits = net.settings.engine.model_copy(update={"spill_dir": spill_dir}).model_dump(exclude_none=True)
    settings = {
        "PROFILE": "sandbox",
        "NETWORK": net.name,
        "HISTORY_URL": " ".join(net.settings.history_url) or "https://offline.invalid",
        "STORE": net.store.root.uri,
        "SNAPSHOT": str(inputs.catalog.absolute()),
        "NO_PROFILES": "1",
        **{name.upper(): str(value) for name, value in limits.items()},
    }
    paths = {
        TABLES_VARIABLE: str(tables_dir.absolute()),
        "IPYTHONDIR": str((working_dir / "ipython").absolute()),
        "TMPDIR": str(spill_dir),
    }
    if inputs.history is not None:
        paths[HISTORY_VARIABLE] = str(inputs.history.absolute())
    if inputs.reward_links.is_file():
        paths[REWARD_LINKS_VARIABLE] = str(inputs.reward_links.absolute())
    return {**inherited, **{PREFIX + name: value for name, value in settings.items()}, **paths}


def execute(
    notebook: Path, parameters: Mapping[str, Any], variables: dict[str, str], working_dir: Path, max_seconds: float | None = None
) -> Notebook:
    """Run a notebook with parameters, and return it with its outputs."""
    book = read_notebook(notebook)
    _inject(book, notebook.name, parameters)
    run_cells(book, notebook.name, variables, working_dir, max_seconds)
    return book


@extra_for("A report")
def run_cells(book: Notebook, name: str, variables: dict[str, str], working_dir: Path, max_seconds: float | None = None) -> None:
    """Run the cells of a notebook in order, and store their outputs in it."""
    if find_spec("IPython") is None:  # the process of the cells cannot report this itself
        raise ModuleNotFoundError(name="IPython")
    seconds = CELL_TIMEOUT_SECONDS if max_seconds is None else max(1, int(max_seconds))
    cells = code_cells(book)
    with _cell_process(variables, working_dir) as process:
        _send(process, [cell["source"] for cell in cells])
        for cell in cells:
            cell["outputs"] = _read_outputs(process, name, seconds)
            if error := _error_of(cell):
                step = f". {FREE_SPACE}" if NO_SPACE in error else ""
                raise ReportError(f"Code cell {_number_of(cell, cells)} of {name} failed: {error.rstrip('.')}{step}")


@contextmanager
def _cell_process(variables: dict[str, str], working_dir: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs cells, which ends with the block."""
    process = None
    try:
        with signals_handled_afterwards():
            process = _start_cell_process(variables, working_dir)
        yield process
    finally:
        if process is not None:
            process.kill()
            process.wait()
            with suppress(BrokenPipeError):  # of a process that ended before it read all
                process.communicate()


def _start_cell_process(variables: dict[str, str], working_dir: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ledgerframes.report.cell_process"],
        env=variables,
        cwd=working_dir,
        encoding="utf-8",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _send(process: subprocess.Popen[str], sources: list[str]) -> None:
    assert process.stdin
    with suppress(BrokenPipeError):  # of a process that has ended, which its outputs show
        process.stdin.write(json.dumps(sources) + "\n")
        process.stdin.flush()


def _read_outputs(process: subprocess.Popen[str], name: str, seconds: int) -> list[dict[str, Any]]:
    """Return the outputs of the next cell, within its time."""
    assert process.stdout
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True  # a signal while it starts leaves it running, and the process would wait for it at its end
    try:
        timer.start()
        line = process.stdout.readline()
        is_late = not timer.is_alive()
    finally:
        timer.cancel()
    if line.endswith("\n"):
        outputs: list[dict[str, Any]] = json.loads(line)
        return outputs
    if is_late:
        advice = "Choose a shorter window, or a longer timeout=."
        raise ReportError(f"A cell of {name} took longer than {seconds} seconds. {advice}")
    advice = "It can have run out of memory: choose a shorter window."
    raise ReportError(f"The Python process of {name} ended unexpectedly. {advice}")


def _inject(book: Notebook, name: str, parameters: Mapping[str, Any]) -> None:
    """Insert a cell with the values after the one tagged ``parameters``."""
    indexes = [index for index, cell in enumerate(book["cells"]) if "parameters" in tags(cell)]
    if len(indexes) != 1:
        raise ReportError(f"{name} has {len(indexes)} cells tagged parameters, but a report needs exactly one.")
    lines = [f"{parameter} = {value!r}" for parameter, value in parameters.items()]
    cell: Cell = {"cell_type": "code", "source": "\n".join(lines), "metadata": {"tags": [INJECTED_TAG]}}
    book["cells"].insert(indexes[0] + 1, cell)


def _error_of(cell: Cell) -> str:
    """Return the error of a cell in one line, or empty without an error."""
    error = cell["outputs"][-1] if cell["outputs"] else {"output_type": ""}
    return f"{error['ename']}: {_one_line(error['evalue'])}" if error["output_type"] == "error" else ""


def _number_of(cell: Cell, cells: list[Cell]) -> int:
    """Return the number of a cell among the cells that the notebook's author wrote."""
    return [each for each in cells if INJECTED_TAG not in tags(each) or each is cell].index(cell) + 1


def _one_line(text: str) -> str:
    plain = " ".join(ANSI.sub("", text).split())
    return plain if len(plain) <= MAX_MESSAGE else plain[:MAX_MESSAGE] + " …"
