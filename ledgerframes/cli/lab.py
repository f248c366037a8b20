"""``ledgerframes lab`` opens JupyterLab on a copy of the notebooks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, option
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.installation import extra_for, is_root
from ledgerframes.loaders.interrupts import signals_handled_afterwards

ALLOW_ROOT = "--allow-root"  # without which Jupyter refuses root, who is the user of many containers


def lab(
    context: CommandContext,
    jupyter: Annotated[
        list[str] | None, typer.Argument(metavar="-- OPTION", help="Options for JupyterLab, such as -- --port=8890.")
    ] = None,
    directory: Annotated[Path, option("--dir DIR", "Directory of the copy (default: ledgerframes-notebooks).")] = Path(
        "ledgerframes-notebooks"
    ),
    no_browser: Annotated[bool, option("--no-browser", "Do not open a browser.")] = False,
    print_dir: Annotated[bool, option("--print-dir", "Copy the notebooks and print the directory, without JupyterLab.")] = False,
) -> None:
    """Open JupyterLab on a copy of the notebooks.

    Notebooks that already exist in the directory are never overwritten. Delete one to get a fresh copy.
    """
    if not print_dir:
        _require_jupyterlab()
    copied, existing = copy_notebooks(shipped_notebooks(), directory)
    document = {"directory": directory.absolute(), "copied": copied, "existing": existing}
    if print_dir:
        context.print_result(document, lambda document: str(document["directory"]))
        return
    context.print_summary(document, _format)
    options = ["--no-browser"] * no_browser + (jupyter or [])
    exit_code = _run_jupyterlab(context, directory, options)
    if exit_code and is_root() and ALLOW_ROOT not in options:
        raise UsageError(f"JupyterLab ended with {exit_code}, as it does for root. Run `ledgerframes lab -- {ALLOW_ROOT}`.")
    raise typer.Exit(exit_code)


def shipped_notebooks() -> Path:
    """Return the directory of the notebooks that are part of the installation."""
    from ledgerframes.report import notebooks_dir

    directory = notebooks_dir()
    if not any(directory.glob("*.ipynb")):
        raise UsageError("This installation has no notebooks. Run the command from a clone of the repository.")
    return directory


def copy_notebooks(source: Path, target: Path) -> tuple[list[str], list[str]]:
    """Copy notebooks that do not exist in the target, and return new and existing names."""
    copied: list[str] = []
    existing: list[str] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for notebook in sorted(source.glob("*.ipynb")):
            path = target / notebook.name
            (existing if path.exists() else copied).append(notebook.name)
            if not path.exists():
                shutil.copyfile(notebook, path)
    except OSError as error:
        raise StoreError(
            f"Cannot copy the notebooks to {target}: {error.strerror or error}. Choose another --dir.", path=str(target)
        ) from error
    return copied, existing


def _format(document: dict[str, Any]) -> str:
    return output.format_pairs(
        [
            ("directory", document["directory"]),
            ("copied", ", ".join(document["copied"]) or "none"),
            ("existing", ", ".join(document["existing"]) or "none"),
        ]
    )


def _require_jupyterlab() -> None:
    with extra_for("This command"):
        if importlib.util.find_spec("jupyterlab") is None:
            raise ModuleNotFoundError(name="jupyterlab")


def _run_jupyterlab(context: CommandContext, directory: Path, options: list[str]) -> int:
    """Run JupyterLab until it ends, and return its exit code.

    Ctrl-C reaches this process alone, which ends JupyterLab without a confirmation.
    """
    arguments = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={directory.absolute()}", *options]
    sys.stdout.flush()
    environment = {**os.environ, **_environment(context)}
    server = None
    try:
        with signals_handled_afterwards():
            server = subprocess.Popen(arguments, env=environment, start_new_session=True)  # noqa: S603  (without a shell)
        return server.wait()
    finally:
        if server is not None:
            server.terminate()
            server.wait()


def _environment(context: CommandContext) -> dict[str, str]:
    """Return options and files of settings as variables for another directory."""
    from ledgerframes.settings import PATHS, config_path, variable_of
    from ledgerframes.store import Location

    profiles = config_path()
    paths = {name: os.environ.get(variable_of(name)) for name in PATHS}
    paths |= {"config": str(profiles) if profiles.is_file() else None, "store": context.store or paths["store"]}
    locations = {name: Location.parse(path).uri for name, path in paths.items() if path}
    options = {"profile": context.profile, "offline": "1" if context.offline else None}
    return {variable_of(name): value for name, value in {**locations, **options}.items() if value}
