"""Commands that run after a report."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from ledgerframes.cli import output
from ledgerframes.errors import UsageError


def parse_command(option: str, text: str | None) -> list[str]:
    """Return the program and the arguments of a command, none if there is no command."""
    try:
        return shlex.split(text or "")
    except ValueError as error:
        raise UsageError(f"{option} must be a command, got {text!r}: {error}.") from None


def run_hook(arguments: list[str], report: str, *, page: Path | None = None, error: str = "") -> None:
    """Run a command, without a shell, and write its failure to stderr.

    What it gets is in its environment, because texts of a network are no safe arguments.
    """
    if not arguments:
        return
    facts = {"LEDGERFRAMES_REPORT": report, "LEDGERFRAMES_REPORT_PAGE": str(page or ""), "LEDGERFRAMES_REPORT_ERROR": error}
    try:
        completed = subprocess.run(arguments, env={**os.environ, **facts}, check=False)  # noqa: S603  (runs without a shell)
    except OSError as problem:
        output.write_error(f"ledgerframes: Cannot run {arguments[0]}: {problem.strerror}.")
        return
    if completed.returncode:
        output.write_error(f"ledgerframes: {arguments[0]} ended with exit code {completed.returncode}.")
