"""Bodies of requests for updates."""

from __future__ import annotations

from ...participant.filters import EventFormat, TransactionFormat, UpdateFormat
from ...requests import Int32, Int64, LedgerString, PartyId, Request


class PageRequest(Request, kw_only=True):
    """Body of get-updates-page."""

    update_format: UpdateFormat
    begin_offset_exclusive: Int64 | None = None
    end_offset_inclusive: Int64 | None = None
    max_page_size: Int32 | None = None
    descending_order: bool | None = False
    page_token: str | None = None


class _RangeRequest(Request, kw_only=True):
    begin_exclusive: Int64
    end_inclusive: Int64 | None = None
    verbose: bool | None = False
    descending_order: bool | None = False


class ListRequest(_RangeRequest, kw_only=True):
    """Body of the lists of updates, with a deprecated filter."""

    EXACTLY_ONE = ("filter", "update_format")
    filter: EventFormat | None = None
    update_format: UpdateFormat | None = None


class TreesRequest(_RangeRequest, kw_only=True):
    """Body of the deprecated list of trees."""

    filter: EventFormat
    update_format: None = None  # must not be sent


class UpdateByIdRequest(Request):
    """Body of the request for an update by its id."""

    update_id: LedgerString
    update_format: UpdateFormat


class UpdateByOffsetRequest(Request):
    """Body of the request for an update by its offset."""

    offset: Int64
    update_format: UpdateFormat


class UpdateByHashRequest(Request):
    """Body of the request for an update by the hash of its transaction."""

    transaction_hash: str
    update_format: UpdateFormat


class _TransactionRequest(Request, kw_only=True):
    EXACTLY_ONE = ("requesting_parties", "transaction_format")
    requesting_parties: list[PartyId] | None = None
    transaction_format: TransactionFormat | None = None


class TransactionByIdRequest(_TransactionRequest, kw_only=True):
    """Body of the deprecated request for a transaction by its id."""

    update_id: LedgerString


class TransactionByOffsetRequest(_TransactionRequest, kw_only=True):
    """Body of the deprecated request for a transaction by its offset."""

    offset: Int64
