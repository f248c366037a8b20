"""Successors of errors of earlier versions, which repeated codes of the ledger API."""

from __future__ import annotations

EARLIER_NAMES = {
    "AlreadyExistsError": "ConflictError",
    "ContractNotFoundError": 'NotFoundError, with code "CONTRACT_EVENTS_NOT_FOUND" or "CONTRACT_PAYLOAD_NOT_FOUND"',
    "InvalidLedgerStateError": "BadRequestError, with category 9",
    "InvalidOffsetError": 'BadRequestError, with code "NEGATIVE_OFFSET" or "NON_POSITIVE_OFFSET"',
    "InvalidPageTokenError": (
        'BadRequestError, with code "INVALID_UPDATES_PAGE_TOKEN", "INVALID_ACS_PAGE_TOKEN" or "INVALID_CONTINUATION_TOKEN"'
    ),
    "InvalidRequestError": "BadRequestError",
    "LedgerAuthenticationError": "AuthenticationError",
    "LedgerError": "ServiceError, whose code is not empty if the ledger API returned it",
    "LedgerInternalError": "InternalServerError",
    "LedgerNotFoundError": "NotFoundError",
    "LedgerPermissionDeniedError": "PermissionDeniedError",
    "LedgerUnavailableError": "ServiceUnavailableError",
    "OverloadedError": "BusyError",
    "TooManyElementsError": 'BadRequestError, with code "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"',
    "UnknownTemplateError": 'NotFoundError, with code "TEMPLATES_OR_INTERFACES_NOT_FOUND" or "PACKAGE_NAMES_NOT_FOUND"',
    "UpdateNotFoundError": 'NotFoundError, with code "UPDATE_NOT_FOUND", or "TRANSACTION_NOT_FOUND" before ledger API 3.5',
}
