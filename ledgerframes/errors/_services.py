"""Errors of requests, and of responses that are not what an API promises."""

from __future__ import annotations

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
    """Status 408, 499, 502, 503 or 504, because the service is not available now."""

    retryable = True


class InternalServerError(ServiceError):
    """Any other status 5xx, because the service failed."""

    retryable = True


class WrongUrlError(NotFoundError, UsageError):
    """Status 404, because the URL of the profile is not the base of the API."""


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
