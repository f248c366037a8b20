"""Every error of ledgerframes, sorted by what the caller can do about it.

LedgerframesError
├─ TransportError        no usable answer came
│   ├─ Timeout
│   └─ Unreachable
├─ ServiceError          an answer came, with a bad status
│   ├─ BadRequest            400
│   ├─ NotAuthenticated      401
│   ├─ NotPermitted          403
│   ├─ NotFound              404
│   ├─ Conflict              409
│   ├─ Busy                  429
│   ├─ Unavailable           502, 503, 504
│   ├─ Internal              any other 5xx
│   └─ LedgerError           the ledger API says why; each is also the general error of its status, in brackets
│       ├─ InvalidRequest        the request is wrong whatever the ledger holds (BadRequest)
│       │   ├─ InvalidOffset         an offset below zero, or zero where none may be
│       │   └─ InvalidPageToken      the token belongs to another request or participant
│       ├─ WrongState            the ledger's present state does not allow it (BadRequest)
│       │   ├─ PrunedOffset          the range begins before what the participant still has
│       │   └─ OffsetAfterEnd        the range ends after the ledger's end
│       ├─ TooManyElements       a list endpoint has more than it may answer (BadRequest)
│       ├─ NotVisible            missing, or not visible to the caller (NotFound)
│       │   ├─ UpdateNotFound, ContractNotFound
│       │   └─ UnknownTemplate       a filter names a template, interface or package that is not there
│       ├─ NotOffered            this participant does not have the operation (NotFound)
│       ├─ AlreadyExists         the thing is there already (Conflict)
│       ├─ Overloaded            too much at once, 409 on the wire (Busy)
│       └─ LedgerNotAuthenticated, LedgerNotPermitted, LedgerUnavailable, LedgerInternal
├─ DecodeError           an answer came that is not what the API promises
├─ StoreError            the store cannot be read or written as it is
├─ IntegrityError        a digest or a row count differs from what was promised
├─ CoverageError         the data at hand do not cover what was asked
├─ OfferUnresolved       a transfer offer was not made, or it is not known whether it was
├─ WorkerError           a worker process died
├─ ReportError           a report's notebook failed
└─ UsageError            the call itself makes no sense

Facts are attributes, and the message ends with the next step. No message, attribute or repr ever holds a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = [
    "AlreadyExists",
    "BadRequest",
    "Busy",
    "Conflict",
    "ContractNotFound",
    "CoverageError",
    "DecodeError",
    "IntegrityError",
    "Internal",
    "InvalidOffset",
    "InvalidPageToken",
    "InvalidRequest",
    "LedgerError",
    "LedgerInternal",
    "LedgerNotAuthenticated",
    "LedgerNotPermitted",
    "LedgerUnavailable",
    "LedgerframesError",
    "NotAuthenticated",
    "NotFound",
    "NotOffered",
    "NotPermitted",
    "NotVisible",
    "OfferUnresolved",
    "OffsetAfterEnd",
    "Overloaded",
    "PrunedOffset",
    "ReportError",
    "ServiceError",
    "StoreError",
    "Timeout",
    "TooManyElements",
    "TransportError",
    "Unavailable",
    "UnknownTemplate",
    "Unreachable",
    "UpdateNotFound",
    "UsageError",
    "WorkerError",
    "WrongState",
]


class LedgerframesError(Exception):
    """The root of every error this library raises on purpose."""


# -- no usable answer ---------------------------------------------------------------------------------------------


class TransportError(LedgerframesError):
    """No usable answer came from any host.

    Attributes
    ----------
    endpoint, host : str
        Method and path that was asked, and the last host tried.
    """

    def __init__(self, message: str, *, endpoint: str = "", host: str = "") -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.host = host


class Timeout(TransportError):
    """A host did not answer in time."""


class Unreachable(TransportError):
    """A host could not be reached, or broke off in the middle of its answer."""


# -- an answer with a bad status ----------------------------------------------------------------------------------


class ServiceError(LedgerframesError):
    """The service answered with a status that is not success.

    Attributes
    ----------
    endpoint, host : str
        Method and path that was asked, and the host that answered.
    status : int
        HTTP status.
    detail : str
        What the service said, shortened.
    retry_after : float or None
        Seconds after which the service wants to be asked again, if it says so.
    may_pass : bool
        Whether the same request may succeed a little later.
    """

    retry_after: float | None = None
    may_pass: bool = False

    def __init__(self, message: str, *, endpoint: str = "", host: str = "", status: int = 0, detail: str = "") -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.host = host
        self.status = status
        self.detail = detail


class BadRequest(ServiceError):
    """400: the service does not accept the request."""


class NotAuthenticated(ServiceError):
    """401: the token is missing, wrong or expired."""


class NotPermitted(ServiceError):
    """403: the token does not allow this."""


class NotFound(ServiceError):
    """404: no such thing, or not visible to the caller."""


class Conflict(ServiceError):
    """409: the state of the service does not allow this."""


class Busy(ServiceError):
    """429: the service asks for fewer requests."""

    may_pass = True


class Unavailable(ServiceError):
    """502, 503, 504: the service cannot answer now."""

    may_pass = True


class Internal(ServiceError):
    """Any other 5xx: the service failed."""

    may_pass = True


# -- what the ledger says of itself -------------------------------------------------------------------------------


class LedgerError(ServiceError):
    """The ledger API answered with an error of its own; branch on the class, or on :attr:`code`.

    The HTTP status tells little: pruned, past the end and a wrong page token are all 400 (docs/facts.md#ledger-errors).

    Attributes
    ----------
    code, category, cause : str, int, str
        The ledger's name and kind (1 to 14) of the error, and its own sentence; ``NA`` and -1 where it hides them.
    context, resources, retry_info
        Its further facts, kind and name of the things concerned, and when to ask again in its words.
    correlation_id, trace_id : str or None
        What the operator finds the request by in the participant's log.
    definite_answer : bool or None
        Whether a submission has certainly failed; None where the ledger does not say.
    """

    code: str = ""
    category: int = -1
    cause: str = ""
    context: Mapping[str, str] = MappingProxyType({})
    resources: tuple[tuple[str, str], ...] = ()
    correlation_id: str | None = None
    trace_id: str | None = None
    retry_info: str | None = None
    definite_answer: bool | None = None


class InvalidRequest(LedgerError, BadRequest):
    """The request is wrong, whatever the ledger holds."""


class InvalidOffset(InvalidRequest):
    """An offset below zero, or zero where none may be."""


class InvalidPageToken(InvalidRequest):
    """The page token belongs to another request, page size, participant or version."""


class WrongState(LedgerError, BadRequest):
    """The ledger's present state does not allow the request."""


class PrunedOffset(WrongState):
    """The range begins before what the participant still has: it can be read after `earliest_offset`, 0 if not known."""

    def __init__(self, message: str, *, earliest_offset: int = 0, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.earliest_offset = earliest_offset


class OffsetAfterEnd(WrongState):
    """The range ends after the ledger's end."""


class TooManyElements(LedgerError, BadRequest):
    """413: a list endpoint has more elements than it may answer with, 200 unless the operator raised it."""


class NotVisible(LedgerError, NotFound):
    """No such thing, or not visible to the parties that the token may read as."""


class UpdateNotFound(NotVisible):
    """No update has this id or offset, or none that may be seen."""


class ContractNotFound(NotVisible):
    """No contract has this id, or none that may be seen; after archival it may have been pruned."""


class UnknownTemplate(NotVisible):
    """A filter names a template, an interface or a package that the participant does not have."""


class NotOffered(LedgerError, NotFound):
    """The participant does not have this operation: it runs one version and needs another, each empty where not known."""

    needs: str = ""
    runs: str = ""


class AlreadyExists(LedgerError, Conflict):
    """The thing that was to be made is there already."""


class Overloaded(LedgerError, Busy):
    """Too much at once: contention on what the participant shares. 409 on the wire, not 429 (docs/facts.md#overload-is-409)."""


class LedgerNotAuthenticated(LedgerError, NotAuthenticated):
    """The ledger does not accept the token, and tells no more (docs/facts.md#redacted-errors)."""


class LedgerNotPermitted(LedgerError, NotPermitted):
    """The token's user lacks a right; the ledger does not tell which (docs/facts.md#redacted-errors)."""


class LedgerUnavailable(LedgerError, Unavailable):
    """The participant cannot answer now, or not in time."""


class LedgerInternal(LedgerError, Internal):
    """The participant failed, or does not support this."""


# -- an answer that is not what was promised ----------------------------------------------------------------------


class DecodeError(LedgerframesError):
    """An answer is not what the API promises.

    Attributes
    ----------
    endpoint, json_path : str
        Method and path that was asked, or the file read; and where the fault lies, such as ``$.events[3].verdict.record_time``.
    """

    def __init__(self, message: str, *, endpoint: str = "", json_path: str = "") -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.json_path = json_path


# -- what is stored -----------------------------------------------------------------------------------------------


class StoreError(LedgerframesError):
    """The store cannot be read or written as it is; `path` is the folder or file concerned."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class IntegrityError(LedgerframesError):
    """A digest or a row count differs from what was promised, at `path`: a file, or the key of a bulk object.

    Where several failed, `failed` has the key and the reason of each.
    """

    def __init__(self, message: str, *, path: str = "", failed: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.path = path
        self.failed = failed


class CoverageError(LedgerframesError):
    """The data at hand do not cover what was asked, or a figure made from them would mislead.

    Attributes
    ----------
    missing : tuple of str
        The ranges or ids that are missing, in words.
    """

    def __init__(self, message: str, *, missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


# -- transfer offers -----------------------------------------------------------------------------------------------


class OfferUnresolved(LedgerframesError):
    """A transfer offer was not made, or it is not known whether it was; the cause says why.

    Attributes
    ----------
    tracking_id : str
        The offer's tracking id; going on with it cannot make a second offer.
    outcome : str
        ``unknown``: it may exist. ``refused``: the wallet refused it, none exists. ``lapsed``: it expired before it was made.
    status : int
        HTTP status of the wallet's last answer; 0 if none came.
    resume : str
        The call that goes on with this offer.
    """

    def __init__(self, message: str, *, tracking_id: str, outcome: str = "unknown", status: int = 0, resume: str = "") -> None:
        super().__init__(message)
        self.tracking_id = tracking_id
        self.outcome = outcome
        self.status = status
        self.resume = resume


# -- running and calling ------------------------------------------------------------------------------------------


class WorkerError(LedgerframesError):
    """A worker process died, and doing its work again did not help."""


class ReportError(LedgerframesError):
    """A report's notebook failed; the message holds the cell's own error."""


class UsageError(LedgerframesError, ValueError):
    """The call makes no sense as it stands: since after until, an unknown table, a naive time."""
