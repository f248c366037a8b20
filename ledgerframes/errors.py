"""Every error of ledgerframes, sorted by what the caller can do about it.

LedgerframesError
├─ TransportError        no usable answer came
│   ├─ RequestTimeoutError
│   └─ HostUnreachableError
├─ ServiceError          an answer came, with a bad status
│   ├─ BadRequestError            400
│   ├─ AuthenticationError      401
│   ├─ PermissionDeniedError          403
│   ├─ NotFoundError              404
│   ├─ ConflictError              409
│   ├─ BusyError                  429
│   ├─ ServiceUnavailableError           502, 503, 504
│   ├─ InternalServerError              any other 5xx
│   └─ LedgerError           the ledger API says why; each is also the general error of its status, in brackets
│       ├─ InvalidRequestError        the request is wrong whatever the ledger holds (BadRequestError)
│       │   ├─ InvalidOffsetError         an offset below zero, or zero where none may be
│       │   └─ InvalidPageTokenError      the token belongs to another request or participant
│       ├─ InvalidLedgerStateError            the ledger's present state does not allow it (BadRequestError)
│       │   ├─ PrunedOffsetError          the range begins before what the participant still has
│       │   └─ OffsetAfterEndError        the range ends after the ledger's end
│       ├─ TooManyElementsError       a list endpoint has more than it may answer (BadRequestError)
│       ├─ LedgerNotFoundError            missing, or not visible to the caller (NotFoundError)
│       │   ├─ UpdateNotFoundError, ContractNotFoundError
│       │   └─ UnknownTemplateError       a filter names a template, interface or package that is not there
│       ├─ UnsupportedOperationError            this participant does not have the operation (NotFoundError)
│       ├─ AlreadyExistsError         the thing is there already (ConflictError)
│       ├─ OverloadedError            too much at once, 409 on the wire (BusyError)
│       └─ LedgerAuthenticationError, LedgerPermissionDeniedError, LedgerUnavailableError, LedgerInternalError
├─ DecodeError           an answer came that is not what the API promises
├─ StoreError            the store cannot be read or written as it is
├─ IntegrityError        a digest or a row count differs from what was promised
├─ CoverageError         the data at hand do not cover what was asked
├─ OfferUnresolvedError       a transfer offer was not made, or it is not known whether it was
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
    "AlreadyExistsError",
    "AuthenticationError",
    "BadRequestError",
    "BusyError",
    "ConflictError",
    "ContractNotFoundError",
    "CoverageError",
    "DecodeError",
    "HostUnreachableError",
    "IntegrityError",
    "InternalServerError",
    "InvalidLedgerStateError",
    "InvalidOffsetError",
    "InvalidPageTokenError",
    "InvalidRequestError",
    "LedgerAuthenticationError",
    "LedgerError",
    "LedgerInternalError",
    "LedgerNotFoundError",
    "LedgerPermissionDeniedError",
    "LedgerUnavailableError",
    "LedgerframesError",
    "NotFoundError",
    "OfferUnresolvedError",
    "OffsetAfterEndError",
    "OverloadedError",
    "PermissionDeniedError",
    "PrunedOffsetError",
    "ReportError",
    "RequestTimeoutError",
    "ServiceError",
    "ServiceUnavailableError",
    "StoreError",
    "TooManyElementsError",
    "TransportError",
    "UnknownTemplateError",
    "UnsupportedOperationError",
    "UpdateNotFoundError",
    "UsageError",
    "WorkerError",
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


class RequestTimeoutError(TransportError):
    """A host did not answer in time."""


class HostUnreachableError(TransportError):
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
    retryable : bool
        Whether the same request may succeed a little later.
    """

    retry_after: float | None = None
    retryable: bool = False

    def __init__(self, message: str, *, endpoint: str = "", host: str = "", status: int = 0, detail: str = "") -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.host = host
        self.status = status
        self.detail = detail


class BadRequestError(ServiceError):
    """400: the service does not accept the request."""


class AuthenticationError(ServiceError):
    """401: the token is missing, wrong or expired."""


class PermissionDeniedError(ServiceError):
    """403: the token does not allow this."""


class NotFoundError(ServiceError):
    """404: no such thing, or not visible to the caller."""


class ConflictError(ServiceError):
    """409: the state of the service does not allow this."""


class BusyError(ServiceError):
    """429: the service asks for fewer requests."""

    retryable = True


class ServiceUnavailableError(ServiceError):
    """502, 503, 504: the service cannot answer now."""

    retryable = True


class InternalServerError(ServiceError):
    """Any other 5xx: the service failed."""

    retryable = True


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


class InvalidRequestError(LedgerError, BadRequestError):
    """The request is wrong, whatever the ledger holds."""


class InvalidOffsetError(InvalidRequestError):
    """An offset below zero, or zero where none may be."""


class InvalidPageTokenError(InvalidRequestError):
    """The page token belongs to another request, page size, participant or version."""


class InvalidLedgerStateError(LedgerError, BadRequestError):
    """The ledger's present state does not allow the request."""


class PrunedOffsetError(InvalidLedgerStateError):
    """The range begins before what the participant still has: it can be read after `earliest_offset`, 0 if not known."""

    def __init__(self, message: str, *, earliest_offset: int = 0, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.earliest_offset = earliest_offset


class OffsetAfterEndError(InvalidLedgerStateError):
    """The range ends after the ledger's end."""


class TooManyElementsError(LedgerError, BadRequestError):
    """413: a list endpoint has more elements than it may answer with, 200 unless the operator raised it."""


class LedgerNotFoundError(LedgerError, NotFoundError):
    """No such thing, or not visible to the parties that the token may read as."""


class UpdateNotFoundError(LedgerNotFoundError):
    """No update has this id or offset, or none that may be seen."""


class ContractNotFoundError(LedgerNotFoundError):
    """No contract has this id, or none that may be seen; after archival it may have been pruned."""


class UnknownTemplateError(LedgerNotFoundError):
    """A filter names a template, an interface or a package that the participant does not have."""


class UnsupportedOperationError(LedgerError, NotFoundError):
    """The participant does not have this operation: it runs one version and needs another, each empty where not known."""

    needs: str = ""
    runs: str = ""


class AlreadyExistsError(LedgerError, ConflictError):
    """The thing that was to be made is there already."""


class OverloadedError(LedgerError, BusyError):
    """Too much at once: contention on what the participant shares. 409 on the wire, not 429 (docs/facts.md#overload-is-409)."""


class LedgerAuthenticationError(LedgerError, AuthenticationError):
    """The ledger does not accept the token, and tells no more (docs/facts.md#redacted-errors)."""


class LedgerPermissionDeniedError(LedgerError, PermissionDeniedError):
    """The token's user lacks a right; the ledger does not tell which (docs/facts.md#redacted-errors)."""


class LedgerUnavailableError(LedgerError, ServiceUnavailableError):
    """The participant cannot answer now, or not in time."""


class LedgerInternalError(LedgerError, InternalServerError):
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


class OfferUnresolvedError(LedgerframesError):
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
