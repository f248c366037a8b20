"""All errors of ledgerframes, grouped by what the caller can do about them.

LedgerframesError
├─ TransportError                    no host sent a complete response
│   ├─ RequestTimeoutError, HostUnreachableError
│   └─ ResponseLimitError            larger or slower than the settings allow
├─ ServiceError                      a response with a bad status; also has the code of an error of the ledger API
│   ├─ BadRequestError               400, 413
│   │   ├─ PrunedOffsetError         the offset range starts before the participant's ledger
│   │   └─ OffsetAfterEndError       the offset range ends after the ledger's end
│   ├─ AuthenticationError, PermissionDeniedError  401, 403
│   ├─ NotFoundError                 404
│   │   ├─ UnsupportedOperationError  an operation that this service does not have
│   │   └─ WrongUrlError             a URL that is not the API's base (UsageError)
│   ├─ ConflictError                 409
│   ├─ BusyError                     429, and 409 of an overloaded participant
│   └─ ServiceUnavailableError, InternalServerError  408, 499, 502 to 504; any other 5xx
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

from typing import TYPE_CHECKING, NoReturn

from ledgerframes.errors._base import LedgerframesError, UsageError
from ledgerframes.errors._data import (
    CoverageError,
    IntegrityError,
    OfferUnresolvedError,
    ReportError,
    StoreError,
    WorkerError,
)
from ledgerframes.errors._removed import EARLIER_NAMES
from ledgerframes.errors._services import (
    AuthenticationError,
    BadRequestError,
    BusyError,
    ConflictError,
    DecodeError,
    HostUnreachableError,
    InternalServerError,
    NotFoundError,
    OffsetAfterEndError,
    PermissionDeniedError,
    PrunedOffsetError,
    RequestTimeoutError,
    ResponseLimitError,
    ServiceError,
    ServiceUnavailableError,
    TransportError,
    UnsupportedOperationError,
    WrongUrlError,
)
from ledgerframes.texts.earlier_names import missing_name_error

__all__ = [
    "AuthenticationError", "BadRequestError", "BusyError", "ConflictError", "CoverageError", "DecodeError",
    "HostUnreachableError", "IntegrityError", "InternalServerError", "LedgerframesError", "NotFoundError",
    "OfferUnresolvedError", "OffsetAfterEndError", "PermissionDeniedError", "PrunedOffsetError", "ReportError",
    "RequestTimeoutError", "ResponseLimitError", "ServiceError", "ServiceUnavailableError", "StoreError", "TransportError",
    "UnsupportedOperationError", "UsageError", "WorkerError", "WrongUrlError",
]  # fmt: skip

for _name in __all__:
    globals()[_name].__module__ = __name__  # where users import it from, as tracebacks show it


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> NoReturn:
        raise missing_name_error("lf.errors", name, EARLIER_NAMES)
