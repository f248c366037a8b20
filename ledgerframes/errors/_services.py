"""Errors of requests, and of responses that are not what an API promises."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ledgerframes.errors._base import LedgerframesError, UsageError


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

    An error of the ledger API also has the facts of its body, from `code` on (docs/facts.md#ledger-errors). Branch on
    :attr:`code` there, because the status is 400 for much. They are empty for an error of another service or of a proxy.

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
    is_from_api : bool
        Whether the API itself returned the error, in the form of its errors. Any other may be that of a proxy, or of a host
        that is gone, and says nothing about an id or about the effect of the request (docs/facts.md#history-errors).
    code, category, cause : str, int, str
        The ledger's code, category (1 to 14) and text of the error; ``NA`` and -1 if the ledger hides them.
    grpc_code_value, context, resources, retry_info
        Code in gRPC, further facts, kind and name of the objects concerned, and when to retry, as text.
    correlation_id, trace_id : str or None
        Ids of the request in the participant's log.
    definite_answer : bool or None
        Whether a submission has certainly failed; None if its outcome is unknown.
    """

    retry_after: float | None = None
    retryable: bool = False
    is_from_api: bool = False
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

    def __init__(self, message: str, *, endpoint: str = "", host: str = "", status: int = 0, detail: str = "") -> None:
        super().__init__(message)
        self.endpoint, self.host, self.status, self.detail = endpoint, host, status, detail


class BadRequestError(ServiceError):
    """Status 400 or 413, because the service does not accept the request."""


class PrunedOffsetError(BadRequestError):
    """The offset range starts before the participant's ledger.

    The ledger can be read after `earliest_offset`, which is 0 if unknown.
    """

    def __init__(self, message: str, *, earliest_offset: int = 0, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.earliest_offset = earliest_offset


class OffsetAfterEndError(BadRequestError):
    """The offset range ends after the ledger's end."""


class AuthenticationError(ServiceError):
    """Status 401, because the token is missing, wrong or expired."""


class PermissionDeniedError(ServiceError):
    """Status 403, because the token does not allow this."""


class NotFoundError(ServiceError):
    """Status 404, because the object does not exist, or is not visible to the caller."""


class WrongUrlError(NotFoundError, UsageError):
    """Status 404, because the URL of the profile is not the base of the API."""


class UnsupportedOperationError(NotFoundError):
    """The service does not have this operation.

    `required_version` is the first version of the API with the operation, `removed_version` the first without it again, and
    `actual_version` the service's. Each is empty if unknown.
    """

    required_version: str = ""
    removed_version: str = ""
    actual_version: str = ""


class ConflictError(ServiceError):
    """Status 409, because the state of the service does not allow this."""


class BusyError(ServiceError):
    """Status 429, or 409 of a busy participant (docs/facts.md#overload-is-409)."""

    retryable = True


class ServiceUnavailableError(ServiceError):
    """Status 408, 499, 502, 503 or 504, because the service is not available now."""

    retryable = True


class InternalServerError(ServiceError):
    """Any other status 5xx, because the service failed."""

    retryable = True


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
