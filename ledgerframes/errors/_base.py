"""The base of all errors, and errors of arguments."""

from __future__ import annotations

import sys

from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.hidden_tokens import hide_in_chain, hide_in_value, hide_tokens


class LedgerframesError(Exception):
    """Base of all errors that ledgerframes raises."""

    def __init__(self, message: str = "") -> None:
        super().__init__(escape_control(hide_tokens(message)))  # which quotes text of a network
        hide_in_chain(sys.exception())  # from which this error is raised

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, hide_in_value(value))


class UsageError(LedgerframesError, ValueError):
    """The call cannot work, such as one with an unknown table or a time without a time zone."""
