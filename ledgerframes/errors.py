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
│   └─ Internal              any other 5xx
├─ DecodeError           an answer came that is not what the API promises
├─ StoreError            the store cannot be read or written as it is
├─ IntegrityError        a digest or a row count differs from what was promised
├─ CoverageError         the data at hand do not cover what was asked
├─ ReportError           a report's notebook failed
└─ UsageError            the call itself makes no sense

Facts are attributes, and the message ends with the next step. No message, attribute or repr ever holds a token.
"""

from __future__ import annotations

__all__ = [
    "BadRequest",
    "Busy",
    "Conflict",
    "CoverageError",
    "DecodeError",
    "IntegrityError",
    "Internal",
    "LedgerframesError",
    "NotAuthenticated",
    "NotFound",
    "NotPermitted",
    "ReportError",
    "ServiceError",
    "StoreError",
    "Timeout",
    "TransportError",
    "Unavailable",
    "Unreachable",
    "UsageError",
]


class LedgerframesError(Exception):
    """The root of every error this library raises on purpose."""


# -- no usable answer ---------------------------------------------------------------------------------------------


class TransportError(LedgerframesError):
    """No usable answer came from any host.

    Attributes
    ----------
    endpoint : str
        Method and path that was asked.
    host : str
        The last host tried.
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
    endpoint : str
        Method and path that was asked.
    host : str
        The host that answered.
    status : int
        HTTP status.
    detail : str
        What the service said, shortened.
    retry_after : float or None
        Seconds after which the service wants to be asked again, if it says so.
    """

    retry_after: float | None = None

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


class Unavailable(ServiceError):
    """502, 503, 504: the service cannot answer now."""


class Internal(ServiceError):
    """Any other 5xx: the service failed."""


# -- an answer that is not what was promised ----------------------------------------------------------------------


class DecodeError(LedgerframesError):
    """An answer is not what the API promises.

    Attributes
    ----------
    endpoint : str
        Method and path that was asked, or the file read.
    json_path : str
        Where in the answer the fault lies, such as ``$.events[3].verdict.record_time``.
    """

    def __init__(self, message: str, *, endpoint: str = "", json_path: str = "") -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.json_path = json_path


# -- what is stored -----------------------------------------------------------------------------------------------


class StoreError(LedgerframesError):
    """The store cannot be read or written as it is.

    Attributes
    ----------
    path : str
        The folder or file concerned.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class IntegrityError(LedgerframesError):
    """A digest or a row count differs from what was promised.

    Attributes
    ----------
    path : str
        The file concerned.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


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


# -- running and calling ------------------------------------------------------------------------------------------


class ReportError(LedgerframesError):
    """A report's notebook failed; the message holds the cell's own error."""


class UsageError(LedgerframesError, ValueError):
    """The call makes no sense as it stands: since after until, an unknown table, a naive time."""
