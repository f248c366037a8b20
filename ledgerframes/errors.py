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
│   ├─ ServiceUnavailableError, InternalServerError  502, 503, 504; any other 5xx
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

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ledgerframes.control_characters import escape_control
from ledgerframes.hidden_tokens import hide_in_chain, hide_in_value, hide_tokens

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


def __dir__() -> list[str]:
    return __all__


class LedgerframesError(Exception):
    """Base of all errors that ledgerframes raises."""

    def __init__(self, message: str = "") -> None:
        super().__init__(escape_control(hide_tokens(message)))  # which quotes text of a network
        hide_in_chain(sys.exception())  # from which this error is raised

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, hide_in_value(value))


class TransportError(LedgerframesError):
    """No host sent a complete response.

    Attributes
    ----------
    endpoint, host : str
        HTTP method and path of the request, and the last host.
    retryable : bool
        Whether the same request may succeed a little later.
    """

    retryable: bool = True

    def __init__(self, message: str, *, endpoint: str = "", host: str = "") -> None:
        super().__init__(message)
        self.endpoint, self.host = endpoint, host


class RequestTimeoutError(TransportError):
    """A host did not respond in time."""


class HostUnreachableError(TransportError):
    """A host could not be reached, or closed the connection during its response."""


class ResponseLimitError(TransportError):
    """A response that is larger or slower than the settings allow.

    Attributes
    ----------
    setting : str
        Setting that names the limit.
    maximum : float
        The limit, in the unit of the setting.
    """

    retryable = False

    def __init__(self, message: str, *, endpoint: str = "", host: str = "", setting: str = "", maximum: float = 0) -> None:
        super().__init__(message, endpoint=endpoint, host=host)
        self.setting, self.maximum = setting, maximum


class ServiceError(LedgerframesError):
    """The service returned a status that is not success.

    Attributes
    ----------
    endpoint, host : str
        HTTP method and path of the request, and the host that responded.
    status : int
        HTTP status.
    detail : str
        The service's reason, shortened.
    retry_after : float or None
        Seconds to wait before the next attempt, if the service sets them.
    retryable : bool
        Whether the same request may succeed a little later.
    """

    retry_after: float | None = None
    retryable: bool = False

    def __init__(self, message: str, *, endpoint: str = "", host: str = "", status: int = 0, detail: str = "") -> None:
        super().__init__(message)
        self.endpoint, self.host, self.status, self.detail = endpoint, host, status, detail


class BadRequestError(ServiceError):
    """Status 400, because the service does not accept the request."""


class AuthenticationError(ServiceError):
    """Status 401, because the token is missing, wrong or expired."""


class PermissionDeniedError(ServiceError):
    """Status 403, because the token does not allow this."""


class NotFoundError(ServiceError):
    """Status 404, because the object does not exist, or is not visible to the caller."""


class ConflictError(ServiceError):
    """Status 409, because the state of the service does not allow this."""


class BusyError(ServiceError):
    """Status 429, because the service accepts fewer requests."""

    retryable = True


class ServiceUnavailableError(ServiceError):
    """Status 502, 503 or 504, because the service is not available now."""

    retryable = True


class InternalServerError(ServiceError):
    """Any other status 5xx, because the service failed."""

    retryable = True


class LedgerError(ServiceError):
    """The ledger API returned an error with a code.

    Branch on the class or on :attr:`code`, because the HTTP status is often 400 (docs/facts.md#ledger-errors).

    Attributes
    ----------
    code, category, cause : str, int, str
        The ledger's code, category (1 to 14) and text of the error; ``NA`` and -1 if the ledger hides them.
    grpc_code_value, context, resources, retry_info
        Code in gRPC, further facts, kind and name of the objects concerned, and when to retry, as text.
    correlation_id, trace_id : str or None
        Ids of the request in the participant's log.
    definite_answer : bool or None
        Whether a submission has certainly failed; None if that is open.
    """

    code: str = ""
    category: int = -1
    cause: str = ""
    context: Mapping[str, str] = MappingProxyType({})
    resources: tuple[tuple[str, str], ...] = ()
    correlation_id: str | None = None
    trace_id: str | None = None
    retry_info: str | None = None
    grpc_code_value: int | None = None
    definite_answer: bool | None = None


class InvalidRequestError(LedgerError, BadRequestError):
    """The request is invalid in any state of the ledger."""


class InvalidOffsetError(InvalidRequestError):
    """An offset below zero, or zero where offsets start at 1."""


class InvalidPageTokenError(InvalidRequestError):
    """The page token belongs to another request, page size, participant or version."""


class InvalidLedgerStateError(LedgerError, BadRequestError):
    """The request is not possible in the ledger's current state."""


class PrunedOffsetError(InvalidLedgerStateError):
    """The offset range starts before the participant's ledger.

    The ledger can be read after `earliest_offset`, which is 0 if unknown.
    """

    def __init__(self, message: str, *, earliest_offset: int = 0, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.earliest_offset = earliest_offset


class OffsetAfterEndError(InvalidLedgerStateError):
    """The offset range ends after the ledger's end."""


class TooManyElementsError(LedgerError, BadRequestError):
    """Status 413, because a list has more elements than its limit, 200 by default."""


class LedgerNotFoundError(LedgerError, NotFoundError):
    """The object does not exist, or is not visible to the parties that the token may read as."""


class UpdateNotFoundError(LedgerNotFoundError):
    """No update has this id or offset, or none that is visible."""


class ContractNotFoundError(LedgerNotFoundError):
    """No contract has this id, or none that is visible and not pruned."""


class UnknownTemplateError(LedgerNotFoundError):
    """A filter has a template, an interface or a package that the participant does not have."""


class UnsupportedOperationError(LedgerError, NotFoundError):
    """The participant does not have this operation.

    `required_version` is the first version of the ledger API with the operation, `removed_version` the first without it again,
    and `actual_version` the participant's. Each is empty if unknown.
    """

    required_version: str = ""
    removed_version: str = ""
    actual_version: str = ""


class AlreadyExistsError(LedgerError, ConflictError):
    """The object to be created exists."""


class OverloadedError(LedgerError, BusyError):
    """The participant is overloaded, with status 409 (docs/facts.md#overload-is-409)."""


class LedgerAuthenticationError(LedgerError, AuthenticationError):
    """The ledger does not accept the token (docs/facts.md#redacted-errors)."""


class LedgerPermissionDeniedError(LedgerError, PermissionDeniedError):
    """The token's user needs another right (docs/facts.md#redacted-errors)."""


class LedgerUnavailableError(LedgerError, ServiceUnavailableError):
    """The participant is not available now, or did not respond in time."""


class LedgerInternalError(LedgerError, InternalServerError):
    """The participant failed, or does not support the request."""


class DecodeError(LedgerframesError):
    """A response is not what the API promises.

    Attributes
    ----------
    endpoint : str
        HTTP method and path of the request, or the file.
    json_path : str
        Position of the fault, such as ``$.events[3].verdict.record_time``.
    column, update_id : str
        Column that cannot contain the value, and update whose item is damaged, if they are known.
    kind : str
        Kind of a one-of that this version does not know, if that is the fault.
    """

    def __init__(
        self, message: str, *, endpoint: str = "", json_path: str = "", column: str = "", update_id: str = "", kind: str = ""
    ) -> None:
        super().__init__(message)
        self.endpoint, self.json_path, self.column, self.update_id, self.kind = endpoint, json_path, column, update_id, kind


class StoreError(LedgerframesError):
    """The store cannot be read or written.

    Attributes
    ----------
    path : str
        Directory or file concerned.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class IntegrityError(LedgerframesError):
    """A digest or a row count does not match.

    Attributes
    ----------
    path : str
        File, or key of a bulk object.
    failures : mapping
        Reason by key, if several failed.
    """

    def __init__(self, message: str, *, path: str = "", failures: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.path, self.failures = path, dict(failures)


class CoverageError(LedgerframesError):
    """The data does not cover what was requested, or a figure from it would mislead.

    Attributes
    ----------
    missing : tuple of str
        The windows, offset ranges or ids that are not in the store, as text.
    """

    def __init__(self, message: str, *, missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


class OfferUnresolvedError(LedgerframesError):
    """A transfer offer was not made, or its outcome is unknown.

    Attributes
    ----------
    tracking_id : str
        The offer's tracking id. Resuming with it cannot make a second offer.
    outcome : str
        ``unknown``: the offer may exist. ``refused``: the wallet refused it. ``lapsed``: it expired before it was made.
    status : int
        HTTP status of the wallet's last response; 0 if there was none.
    next_call : str
        The call that resumes this offer.
    """

    def __init__(self, message: str, *, tracking_id: str, outcome: str = "unknown", status: int = 0, next_call: str = "") -> None:
        super().__init__(message)
        self.tracking_id, self.outcome, self.status, self.next_call = tracking_id, outcome, status, next_call


class WorkerError(LedgerframesError):
    """A worker process ended, and repeating its task did not help."""


class ReportError(LedgerframesError):
    """A notebook, time limit, PDF or file of a report failed, or another run is active."""


class UsageError(LedgerframesError, ValueError):
    """The call cannot work, such as one with an unknown table or a time without a time zone."""


class WrongUrlError(NotFoundError, UsageError):
    """Status 404, because the URL of the profile is not the base of the API."""
