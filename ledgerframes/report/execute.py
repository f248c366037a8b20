"""Execution of notebooks in a separate Python process.

A notebook runs from top to bottom, offline, on frozen inputs.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerframes.errors import ReportError
from ledgerframes.extras import extra_for
from ledgerframes.network import Network
from ledgerframes.report.loads import HISTORY_VARIABLE
from ledgerframes.report.tables import TABLES_VARIABLE

if TYPE_CHECKING:
    from nbclient import NotebookClient
    from nbformat import NotebookNode

PREFIX = "LEDGERFRAMES_"
INJECTED_TAG = "injected-parameters"
CELL_TIMEOUT_SECONDS = 900
MAX_MESSAGE = 400
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

PICTURES = "from ledgerframes.report.pictures import register_pictures\nregister_pictures()"


def environment_variables(
    net: Network, catalog: Path, tables_dir: Path, working_dir: Path, history: Path | None = None
) -> dict[str, str]:
    """Return all variables of a process in which ``lf.connect()`` is the frozen network.

    No profile is read and no token is passed on. Offline, the network's name, store and catalog are all that is needed. The
    profile is the one that always exists; with a URL it is a network as configured, not an embedded sandbox.
    """
    token_variable = net.settings.token_env
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX) and name != token_variable}
    settings = {
        "PROFILE": "sandbox",
        "NETWORK": net.name,
        "HISTORY_URL": " ".join(net.settings.history_url) or "https://offline.invalid",
        "STORE": net.store.root.uri,
        "SNAPSHOT": str(catalog.absolute()),
    }
    paths = {TABLES_VARIABLE: str(tables_dir.absolute()), "IPYTHONDIR": str((working_dir / "ipython").absolute())}
    if history is not None:
        paths[HISTORY_VARIABLE] = str(history.absolute())
    return {**inherited, **{PREFIX + name: value for name, value in settings.items()}, **paths}


def execute(
    notebook: Path, parameters: Mapping[str, Any], variables: dict[str, str], working_dir: Path, max_seconds: float | None = None
) -> NotebookNode:
    """Run a notebook with parameters, and return it with its outputs."""
    book = read_notebook(notebook)
    _inject(book, notebook.name, parameters)
    run_cells(book, notebook.name, variables, working_dir, max_seconds)
    return book


@extra_for("A report")
def read_notebook(path: Path) -> NotebookNode:
    """Return the notebook in a file."""
    import nbformat

    book: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return book


@extra_for("A report")
def run_cells(
    book: NotebookNode, name: str, variables: dict[str, str], working_dir: Path, max_seconds: float | None = None
) -> None:
    """Run the cells of a notebook in order, and store their outputs in it."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory(prefix="lf-") as socket_dir:
        seconds = CELL_TIMEOUT_SECONDS if max_seconds is None else max(1, int(max_seconds))
        # A finished notebook has written all its files, so that its process needs no time to end.
        client = NotebookClient(book, kernel_name="python3", timeout=seconds, shutdown_kernel="immediate")
        _use_current_python(client, Path(socket_dir))
        try:
            _run_in_thread(client, env=variables, cwd=str(working_dir))
        except CellTimeoutError:
            advice = "Choose a shorter window, or a longer timeout=."
            raise ReportError(f"A cell of {name} took longer than {seconds} seconds. {advice}") from None
        except CellControlSignal as error:
            raise ReportError(_failure_text(book, name, error)) from None
        except DeadKernelError:
            advice = "It can have run out of memory: choose a shorter window."
            raise ReportError(f"The Python process of {name} ended unexpectedly. {advice}") from None


def _run_in_thread(client: NotebookClient, **options: Any) -> None:
    """Run the cells until their end or Ctrl-C, at which the kernel ends first.

    In the main thread, nbclient would replace the handlers of signals, and end the kernel below the cells that it still runs.
    """
    with closing(asyncio.new_event_loop()) as loop, ThreadPoolExecutor(1) as pool:
        pool.submit(loop.run_forever)
        try:
            asyncio.run_coroutine_threadsafe(client.async_execute(**options), loop).result()
        finally:
            try:
                asyncio.run_coroutine_threadsafe(_end(client), loop).result()
            finally:
                loop.call_soon_threadsafe(loop.stop)


async def _end(client: NotebookClient) -> None:
    """End the kernel and then the other tasks.

    The kernel is killed, because an interrupt makes one that starts print a traceback.
    """
    if client.km and client.km.provisioner and client.km.has_kernel:
        await client.km.provisioner.kill()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _use_current_python(client: NotebookClient, socket_dir: Path) -> None:
    """Let the client start this Python, not a registered kernel, with its own sockets."""
    from jupyter_client.kernelspec import KernelSpecManager

    # The client ends only kernels whose manager it created, so the client creates this one.
    manager = client.create_kernel_manager()
    manager.kernel_spec_manager = KernelSpecManager(kernel_dirs=[])
    manager.connection_file = str(socket_dir / "kernel.json")
    manager.transport = "ipc" if os.name == "posix" else "tcp"


def _inject(book: NotebookNode, name: str, parameters: Mapping[str, Any]) -> None:
    """Insert a cell with the values after the one tagged ``parameters``."""
    from nbformat.v4 import new_code_cell

    indexes = [index for index, cell in enumerate(book.cells) if "parameters" in cell.metadata.get("tags", ())]
    if len(indexes) != 1:
        raise ReportError(f"{name} has {len(indexes)} cells tagged parameters, but a report needs exactly one.")
    lines = [f"{parameter} = {value!r}" for parameter, value in parameters.items()]
    cell = new_code_cell("\n".join([*lines, PICTURES]), metadata={"tags": [INJECTED_TAG]})  # type: ignore[no-untyped-call]
    book.cells.insert(indexes[0] + 1, cell)


def _failure_text(book: NotebookNode, name: str, error: Exception) -> str:
    """Return the number of the failed cell and its error in one line."""
    cells = [cell for cell in book.cells if cell.cell_type == "code" and INJECTED_TAG not in cell.metadata.get("tags", ())]
    for number, cell in enumerate(cells, start=1):
        for output in cell.outputs:
            if output.output_type == "error":
                return f"Code cell {number} of {name} failed: {output.ename}: {_one_line(output.evalue)}"
    return f"{name} failed: {_one_line(str(error))}"


def _one_line(text: str) -> str:
    plain = " ".join(ANSI.sub("", text).split())
    return plain if len(plain) <= MAX_MESSAGE else plain[:MAX_MESSAGE] + " …"
