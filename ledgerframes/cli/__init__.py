"""The command line: each command is a call of a library function, and a way of showing its result."""

from ledgerframes.cli.app import main

__all__ = ["main"]
