"""Errors of the ledger API. Each is also an error of the class of its status."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ledgerframes.errors._services import (
    AuthenticationError,
    BadRequestError,
    BusyError,
    ConflictError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
)


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
        Whether a submission has certainly failed; None if its outcome is unknown.
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
    """The service does not have this operation, also one of the history API.

    `required_version` is the first version of the API with the operation, `removed_version` the first without it again, and
    `actual_version` the service's. Each is empty if unknown.
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
