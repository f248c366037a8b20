"""Running a notebook: from top to bottom, offline, on frozen data, in a Python process of its own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerframes.errors import ReportError, UsageError
from ledgerframes.network import Network
from ledgerframes.report.tables import TABLES_VARIABLE

if TYPE_CHECKING:
    from nbclient import NotebookClient
    from nbformat import NotebookNode

PREFIX = "LEDGERFRAMES_"
INJECTED = "injected-parameters"
CELL_SECONDS = 900
LONGEST_MESSAGE = 400
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

# Pictures at twice the resolution stay sharp on paper.
SHARP_PICTURES = '%config InlineBackend.figure_formats = ["retina"]'


@dataclass(frozen=True)
class Surroundings:
    """What a notebook's process is given.

    Attributes
    ----------
    environment : dict of str to str
    folder : Path
        Where it runs.
    """

    environment: dict[str, str]
    folder: Path


def surroundings(net: Network, catalog: Path, tables: Path, folder: Path) -> Surroundings:
    """The environment in which ``lf.connect()`` is exactly the frozen data, and nothing else.

    Parameters
    ----------
    net : Network
    catalog : Path
        The copied catalog.
    tables : Path
        Where published tables go.
    folder : Path
        Where the notebook runs; what it leaves there is thrown away.

    Notes
    -----
    No profile is read and no token passed on. The network's name, store and catalog are all that is needed offline, so
    the profile is the one that always exists; an address of its own makes it a network as it stands, not an embedded sandbox.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX) and name != net.settings.token_env}
    given = {
        "PROFILE": "sandbox",
        "NETWORK": net.name,
        "HISTORY_URL": " ".join(net.settings.history_url) or "https://offline.invalid",
        "STORE": net.store.root.uri,
        "SNAPSHOT": str(catalog.absolute()),
    }
    own = {TABLES_VARIABLE: str(tables.absolute()), "IPYTHONDIR": str((folder / "ipython").absolute())}
    return Surroundings({**kept, **{PREFIX + name: value for name, value in given.items()}, **own}, folder)


def execute(notebook: Path, parameters: Mapping[str, Any], around: Surroundings) -> NotebookNode:
    """Run a notebook with parameters.

    Parameters
    ----------
    notebook : Path
        Has one cell tagged ``parameters``; the values given replace those set there.
    parameters : mapping
        Texts, numbers and None.
    around : Surroundings

    Returns
    -------
    NotebookNode
        With outputs.

    Raises
    ------
    ReportError
        If a cell fails, takes more than 15 minutes, or the process dies.
    UsageError
        If the packages that run notebooks are not installed.
    """
    book = read(notebook)
    _inject(book, notebook.name, parameters)
    run_cells(book, notebook.name, around)
    return book


def read(notebook: Path) -> NotebookNode:
    """The notebook in a file."""
    try:
        import nbformat
    except ImportError as error:
        raise _not_installed() from error
    book: NotebookNode = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    return book


def run_cells(book: NotebookNode, name: str, around: Surroundings) -> None:
    """Run the cells of a notebook in order, and keep their outputs in it.

    Raises
    ------
    ReportError
        If a cell fails, takes more than 15 minutes, or the process dies; with the number of the code cell.
    """
    try:
        from nbclient import NotebookClient
        from nbclient.exceptions import CellControlSignal, DeadKernelError
    except ImportError as error:
        raise _not_installed() from error
    with tempfile.TemporaryDirectory(prefix="lf-") as short:
        client = NotebookClient(book, kernel_name="python3", timeout=CELL_SECONDS)
        _own_kernel(client, Path(short))
        try:
            client.execute(env=around.environment, cwd=str(around.folder))
        except CellControlSignal as error:
            raise ReportError(_what_failed(book, name, error)) from None
        except DeadKernelError:
            reason = "perhaps for lack of memory. Try a shorter window"
            raise ReportError(f"The process running {name} died, {reason}.") from None


def _not_installed() -> UsageError:
    return UsageError("Reports need more packages. Install them with: pip install 'ledgerframes[report]'.")


def _own_kernel(client: NotebookClient, folder: Path) -> None:
    """Let the client start this very Python, whatever kernels are registered; its sockets are files in a folder of its own."""
    from jupyter_client.kernelspec import KernelSpecManager

    # The client ends only kernels whose manager it has made itself, so it makes this one.
    manager = client.create_kernel_manager()
    manager.kernel_spec_manager = KernelSpecManager(kernel_dirs=[])
    manager.connection_file = str(folder / "kernel.json")
    manager.transport = "ipc" if os.name == "posix" else "tcp"


def _inject(book: NotebookNode, name: str, parameters: Mapping[str, Any]) -> None:
    """Put a cell with the values behind the one tagged ``parameters``."""
    from nbformat.v4 import new_code_cell

    tagged = [number for number, cell in enumerate(book.cells) if "parameters" in cell.metadata.get("tags", ())]
    if len(tagged) != 1:
        raise ReportError(f"{name} has {len(tagged)} cells tagged parameters; a report needs one.")
    lines = [f"{parameter} = {value!r}" for parameter, value in parameters.items()]
    cell = new_code_cell(  # type: ignore[no-untyped-call]
        "\n".join([*lines, SHARP_PICTURES]), metadata={"tags": [INJECTED]}
    )
    book.cells.insert(tagged[0] + 1, cell)


def _what_failed(book: NotebookNode, name: str, error: Exception) -> str:
    """Which cell failed and why, in one line: its number counts code cells, the injected one left out."""
    own = [cell for cell in book.cells if INJECTED not in cell.metadata.get("tags", ())]
    for number, cell in enumerate((cell for cell in own if cell.cell_type == "code"), start=1):
        for output in cell.outputs:
            if output.output_type == "error":
                return f"Code cell {number} of {name} failed: {output.ename}: {_one_line(output.evalue)}"
    return f"{name} failed: {_one_line(str(error))}"


def _one_line(text: str) -> str:
    plain = " ".join(ANSI.sub("", text).split())
    return plain if len(plain) <= LONGEST_MESSAGE else plain[:LONGEST_MESSAGE] + " …"
