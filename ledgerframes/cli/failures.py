"""Errors as exit codes, as sentences and as JSON."""

from __future__ import annotations

from typing import Any

from ledgerframes.errors import (
    CoverageError,
    DecodeError,
    LedgerframesError,
    ReportError,
    ServiceError,
    TransportError,
    UsageError,
)

DONE = 0
FAILED = 1
USAGE = 2
NOT_GOOD_ENOUGH = 3
SERVICE = 4
NOTEBOOK = 5
STOPPED = 130

# What each exit code means; the help pages and the docs show these lines.
MEANINGS = {
    DONE: "Done.",
    FAILED: "The store cannot be used as it is, or something unexpected happened.",
    USAGE: "The command makes no sense as it stands: an unknown name, a time that is not one.",
    NOT_GOOD_ENOUGH: "The data are not good enough: missing while offline, unknown ids, --min-coverage, --max-age.",
    SERVICE: "A service is down, refuses, or answers something else than it promises.",
    NOTEBOOK: "A report's notebook failed.",
    STOPPED: "Stopped from the keyboard; what was committed stays.",
}

# Modules of the optional parts, and which part each belongs to.
EXTRAS = {
    "flask": "sandbox",
    "waitress": "sandbox",
    "matplotlib": "plot",
    "ipykernel": "report",
    "distributed": "dask",
    "nbclient": "report",
    "nbconvert": "report",
    "nbformat": "report",
}

CODES: tuple[tuple[type[LedgerframesError], int], ...] = (
    (UsageError, USAGE),
    (CoverageError, NOT_GOOD_ENOUGH),
    (ServiceError, SERVICE),
    (TransportError, SERVICE),
    (DecodeError, SERVICE),
    (ReportError, NOTEBOOK),
    (LedgerframesError, FAILED),
)


def exit_code(error: LedgerframesError) -> int:
    """The exit code of an error."""
    return next(code for kind, code in CODES if isinstance(error, kind))


def not_installed(error: ModuleNotFoundError) -> UsageError | None:
    """The error for a part of the library that was not installed; None if the module is none of ours."""
    module = (error.name or "").partition(".")[0]
    if module not in EXTRAS:
        return None
    return UsageError(
        f"{module} is not installed, which this command needs. Install it with: pip install 'ledgerframes[{EXTRAS[module]}]'."
    )


def as_document(error: LedgerframesError) -> dict[str, Any]:
    """An error as JSON shows it: its class, its sentence, its exit code, and the facts it carries."""
    facts = {name: value for name, value in vars(error).items() if not name.startswith("_") and value not in ("", None, (), {})}
    return {"error": type(error).__name__, "message": str(error), "exit_code": exit_code(error), **facts}
