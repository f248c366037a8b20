"""The command line. Each command calls a library function and prints its result."""

from ledgerframes.cli.app import main

__all__ = ["main"]
