"""The command line. Each command calls a library function and prints its result.

Nothing heavy is imported before signals are handled: importing all that a command needs takes a second.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ledgerframes.cli.signals import end_on_signals
from ledgerframes.gc_pause import collect_rarely

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default that of this process, and return its exit code.

    A signal ends the command of this process, whereas a program that passes arguments handles signals itself.
    """
    if arguments is None:
        collect_rarely()
        return end_on_signals(lambda: _run(sys.argv[1:]))
    return _run(list(arguments))


def _run(arguments: list[str]) -> int:
    from ledgerframes.cli.app import run

    return run(arguments)
