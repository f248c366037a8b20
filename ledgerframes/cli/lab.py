"""``ledgerframes lab``: JupyterLab on a copy of the notebooks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, command
from ledgerframes.errors import StoreError, UsageError


@command
def lab(
    call: Call,
    jupyter: Annotated[
        list[str] | None, typer.Argument(metavar="-- OPTION", help="Further options of JupyterLab, such as -- --port=8890.")
    ] = None,
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the copy is kept.")] = Path("ledgerframes-notebooks"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    print_folder: Annotated[
        bool, typer.Option("--print-folder", help="Copy the notebooks, show the folder, and start nothing.")
    ] = False,
) -> None:
    """Open JupyterLab on a copy of the notebooks.

    A notebook that is in the folder already is yours: it is left as it is. Delete it to get a fresh copy.
    """
    if not print_folder:
        _require_jupyterlab()
    copied, kept = copy_notebooks(shipped_notebooks(), folder)
    document = {"folder": folder.absolute(), "copied": copied, "kept": kept}
    if print_folder:
        call.show(document, str(folder.absolute()))
        return
    call.tell(
        document,
        output.facts(
            [("folder", folder.absolute()), ("copied", ", ".join(copied) or "none"), ("kept", ", ".join(kept) or "none")]
        ),
    )
    _start(call, folder, ["--no-browser"] * no_browser + (jupyter or []))


def shipped_notebooks() -> Path:
    """The folder of the notebooks that came with the library.

    Raises
    ------
    UsageError
        If this installation has none.
    """
    from ledgerframes.report import notebooks_folder

    folder = notebooks_folder()
    if not any(folder.glob("*.ipynb")):
        raise UsageError("This installation has no notebooks. Run the command from a clone of the repository.")
    return folder


def copy_notebooks(source: Path, target: Path) -> tuple[list[str], list[str]]:
    """Copy notebooks that are not there yet.

    Returns
    -------
    tuple of list of str
        The names of those that were copied, and of those that were left as they are.
    """
    copied: list[str] = []
    kept: list[str] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for notebook in sorted(source.glob("*.ipynb")):
            place = target / notebook.name
            (kept if place.exists() else copied).append(notebook.name)
            if not place.exists():
                shutil.copyfile(notebook, place)
    except OSError as error:
        raise StoreError(
            f"The notebooks cannot be copied to {target} ({error.strerror or error}). Choose another --folder.", path=str(target)
        ) from error
    return copied, kept


def _require_jupyterlab() -> None:
    if importlib.util.find_spec("jupyterlab") is None:
        raise UsageError("JupyterLab is not installed. Install it with: pip install 'ledgerframes[lab]'.")


def _start(call: Call, folder: Path, options: list[str]) -> NoReturn:
    """Become JupyterLab, so that Ctrl-C and its question reach it and nobody else."""
    arguments = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.absolute()}", *options]
    sys.stdout.flush()
    os.execve(sys.executable, arguments, {**os.environ, **_environment(call)})  # noqa: S606  (no shell is meant)


def _environment(call: Call) -> dict[str, str]:
    """The options of this call as the notebooks see them."""
    from ledgerframes.store import Location

    chosen = {
        "PROFILE": call.profile,
        "STORE": call.store and Location.parse(call.store).uri,
        "OFFLINE": "1" if call.offline else None,
    }
    return {f"LEDGERFRAMES_{name}": str(value) for name, value in chosen.items() if value}
