"""Errors for operations that the version of a service does not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ledgerframes.errors import ServiceError, UnsupportedOperationError

if TYPE_CHECKING:
    from ledgerframes.api.names import Api
    from ledgerframes.api.operation import Operation

__all__ = ["unsupported_error"]


def unsupported_error(api: Api, operation: Operation, actual: str, error: ServiceError) -> UnsupportedOperationError:
    """Return the error for an operation that a service does not know.

    The version is empty if it is unknown.
    """
    label = f"{operation.name} ({operation.route})"
    if not actual:
        message = (
            f"{error.host} does not have {label}, and its version is unknown. Check {api}_url=, with the operator's path prefix."
        )
    elif operation.since and _numbers(actual) < _numbers(operation.since):
        message = (
            f"{label} requires {api} API {operation.since}, but {error.host} runs {actual}. "
            "Ask the operator for an upgrade, or choose another operation from ledgerframes.operations()."
        )
    elif operation.until and _numbers(actual) >= _numbers(operation.until):
        message = (
            f"{label} was removed in {api} API {operation.until}, and {error.host} runs {actual}. "
            f"Use {operation.deprecated} instead."
        )
    else:
        message = (
            f"{error.host} runs {actual}, which supports {label}, but the route was not found. "
            "Ask the operator whether a proxy blocks it."
        )
    unsupported = UnsupportedOperationError(
        message, endpoint=error.endpoint, host=error.host, status=error.status, detail=error.detail
    )
    unsupported.required_version, unsupported.actual_version = operation.since, actual
    unsupported.removed_version = operation.until
    return unsupported


def _numbers(version: str) -> list[int]:
    """Return the first three numbers of a version, also of one such as 3.5."""
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
