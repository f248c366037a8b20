"""Exit codes, and errors as JSON documents."""

from __future__ import annotations

from typing import Any

from ledgerframes.cli.output import PIPE_CLOSED
from ledgerframes.cli.signals import ENDINGS
from ledgerframes.errors import (
    CoverageError,
    DecodeError,
    LedgerframesError,
    ReportError,
    ServiceError,
    TransportError,
    UsageError,
)

SUCCESS = 0
FAILURE = 1
USAGE = 2
INSUFFICIENT_DATA = 3
SERVICE = 4
REPORT = 5
RULE = 6
INTERRUPTED = 130

# The meaning of each exit code, as the help and the docs show it.
EXIT_CODES = {
    SUCCESS: "Success.",
    FAILURE: "Damaged or different data, an unusable store, or another error.",
    USAGE: "Usage error, such as an unknown name or an invalid time.",
    INSUFFICIENT_DATA: "Insufficient data, such as a window without events.",
    SERVICE: "A service is unreachable, or its response is an error or unexpected.",
    REPORT: "A notebook failed, a run timed out, or another run is active.",
    RULE: "The report is published, but breaks a rule of --fail-if.",
    **dict(sorted([*ENDINGS.values(), (PIPE_CLOSED, "The program that reads the output has closed its pipe.")])),
}

ERROR_CODES: dict[type[LedgerframesError], int] = {
    UsageError: USAGE,
    CoverageError: INSUFFICIENT_DATA,
    ServiceError: SERVICE,
    TransportError: SERVICE,
    DecodeError: SERVICE,
    ReportError: REPORT,
    LedgerframesError: FAILURE,
}


def error_document(error: LedgerframesError) -> dict[str, Any]:
    """Return an error as JSON shows it, with the attributes that have a value."""
    empty: tuple[object, ...] = ("", None, (), {})
    attributes = {name: value for name, value in vars(error).items() if not name.startswith("_") and value not in empty}
    exit_code = next(code for kind, code in ERROR_CODES.items() if isinstance(error, kind))
    return {"error": type(error).__name__, "message": str(error), "exit_code": exit_code, **attributes}
