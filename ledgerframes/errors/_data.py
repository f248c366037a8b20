"""Errors of the store, of data, and of work with them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ledgerframes.errors._base import LedgerframesError


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
    """A report's notebook, PDF or file failed, its time ran out, or another run is active."""
