"""All errors of ledgerframes, grouped by what the caller can do about them.

LedgerframesError
├─ TransportError                    no host sent a complete response
│   ├─ RequestTimeoutError, HostUnreachableError
│   └─ ResponseLimitError            larger or slower than the settings allow
├─ ServiceError                      a response with a bad status
│   ├─ BadRequestError               400
│   ├─ AuthenticationError, PermissionDeniedError  401, 403
│   ├─ ConflictError, NotFoundError  409, 404
│   │   └─ WrongUrlError             404 for a URL that is not the API's base (UsageError)
│   ├─ BusyError                     429
│   ├─ ServiceUnavailableError, InternalServerError  408, 499, 502 to 504; any other 5xx
│   └─ LedgerError                   an error of the ledger API, also of the class in parentheses
│       ├─ InvalidRequestError       invalid in any state of the ledger (BadRequestError)
│       │   ├─ InvalidOffsetError    an offset below the minimum
│       │   └─ InvalidPageTokenError  a page token of another request or participant
│       ├─ InvalidLedgerStateError   not possible in the ledger's current state (BadRequestError)
│       │   ├─ PrunedOffsetError     the offset range starts before the participant's ledger
│       │   └─ OffsetAfterEndError   the offset range ends after the ledger's end
│       ├─ TooManyElementsError      more elements than a list operation may return (BadRequestError)
│       ├─ LedgerNotFoundError       missing, or not visible to the caller (NotFoundError)
│       │   ├─ UpdateNotFoundError, ContractNotFoundError
│       │   └─ UnknownTemplateError  an unknown template, interface or package in a filter
│       ├─ UnsupportedOperationError  an operation that this participant does not have (NotFoundError)
│       ├─ AlreadyExistsError        the object exists (ConflictError)
│       ├─ OverloadedError           too much at once, 409 on the wire (BusyError)
│       └─ LedgerAuthenticationError, LedgerPermissionDeniedError, LedgerUnavailableError, LedgerInternalError
├─ DecodeError                       a response that is not what the API promises
├─ StoreError                        the store cannot be read or written
├─ IntegrityError                    a digest or a row count that does not match
├─ CoverageError                     the data does not cover what was requested
├─ OfferUnresolvedError              a transfer offer that was not made, or whose outcome is unknown
├─ WorkerError                       a worker process that ended
├─ ReportError                       a report's notebook that failed
└─ UsageError                        a call that cannot work, such as a wrong type or an unknown name

Facts are attributes, and the message ends with the next step. No message, attribute, repr or cause contains a token.
"""

from __future__ import annotations

from ledgerframes.errors._base import (
    LedgerframesError,
    UsageError,
)
from ledgerframes.errors._data import (
    CoverageError,
    IntegrityError,
    OfferUnresolvedError,
    ReportError,
    StoreError,
    WorkerError,
)
from ledgerframes.errors._ledger import (
    AlreadyExistsError,
    ContractNotFoundError,
    InvalidLedgerStateError,
    InvalidOffsetError,
    InvalidPageTokenError,
    InvalidRequestError,
    LedgerAuthenticationError,
    LedgerError,
    LedgerInternalError,
    LedgerNotFoundError,
    LedgerPermissionDeniedError,
    LedgerUnavailableError,
    OffsetAfterEndError,
    OverloadedError,
    PrunedOffsetError,
    TooManyElementsError,
    UnknownTemplateError,
    UnsupportedOperationError,
    UpdateNotFoundError,
)
from ledgerframes.errors._services import (
    AuthenticationError,
    BadRequestError,
    BusyError,
    ConflictError,
    DecodeError,
    HostUnreachableError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RequestTimeoutError,
    ResponseLimitError,
    ServiceError,
    ServiceUnavailableError,
    TransportError,
    WrongUrlError,
)

__all__ = [
    "AlreadyExistsError", "AuthenticationError", "BadRequestError", "BusyError", "ConflictError", "ContractNotFoundError",
    "CoverageError", "DecodeError", "HostUnreachableError", "IntegrityError", "InternalServerError",
    "InvalidLedgerStateError", "InvalidOffsetError", "InvalidPageTokenError", "InvalidRequestError",
    "LedgerAuthenticationError", "LedgerError", "LedgerInternalError", "LedgerNotFoundError", "LedgerPermissionDeniedError",
    "LedgerUnavailableError", "LedgerframesError", "NotFoundError", "OfferUnresolvedError", "OffsetAfterEndError",
    "OverloadedError", "PermissionDeniedError", "PrunedOffsetError", "ReportError", "RequestTimeoutError",
    "ResponseLimitError", "ServiceError", "ServiceUnavailableError", "StoreError", "TooManyElementsError", "TransportError",
    "UnknownTemplateError", "UnsupportedOperationError", "UpdateNotFoundError", "UsageError", "WorkerError", "WrongUrlError",
]  # fmt: skip

for _name in __all__:
    globals()[_name].__module__ = __name__  # where users import it from, as tracebacks show it


def __dir__() -> list[str]:
    return __all__
