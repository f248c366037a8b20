"""The result of a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ledgerframes.errors import LedgerframesError, ServiceError, UsageError

Kind = Literal["configuration", "software", "store", "service"]
Status = Literal["ok", "warning", "failed"]


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes
    ----------
    kind : {"configuration", "software", "store", "service"}
    subject : str
        Object of the check, such as a host.
    status : {"ok", "warning", "failed"}
    message : str
        Result of the check.
    next_step : str
        Advice; empty if the status is ok.
    """

    kind: Kind
    subject: str
    status: Status
    message: str
    next_step: str = ""


# Status, message and, unless the status is ok, the next step.
Result = tuple[Status, str] | tuple[Status, str, str]


def run_check(kind: Kind, subject: str, check: Callable[[], Result]) -> Check:
    """Return the result of a check, which failed if it raised an error.

    What prevents a request to a service is a mistake in the configuration.
    """
    try:
        return Check(kind, subject, *check())
    except LedgerframesError as error:
        is_before_request = isinstance(error, UsageError) and not isinstance(error, ServiceError)
        return failed_check("configuration" if kind == "service" and is_before_request else kind, subject, error)


def failed_check(kind: Kind, subject: str, error: LedgerframesError) -> Check:
    """Return a check from an error, whose last sentence is the next step."""
    message, _, step = str(error).rstrip(".").rpartition(". ")
    return Check(kind, subject, "failed", f"{message}.", f"{step}.") if message else Check(kind, subject, "failed", str(error))
