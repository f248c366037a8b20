"""Bodies of requests for active contracts and single contracts."""

from __future__ import annotations

import msgspec

from ...participant.filters import EventFormat
from ...requests import ContractId, Int32, Int64, PartyId, Request


class ActiveFormat(EventFormat):
    """Events of active contracts.

    Since 3.7, incomplete reassignments are omitted unless they are included.
    """

    include_incomplete_reassignments: bool = False


class ActiveListRequest(Request, kw_only=True):
    """Body of the list of active contracts, with a deprecated filter."""

    EXACTLY_ONE = ("filter", "event_format")
    active_at_offset: Int64
    filter: ActiveFormat | None = None
    verbose: bool | None = False
    event_format: ActiveFormat | None = None
    stream_continuation_token: str | None = None


class ActivePageRequest(Request, kw_only=True):
    """Body of a page of active contracts."""

    event_format: ActiveFormat
    active_at_offset: Int64 | None = None
    max_page_size: Int32 | None = None
    page_token: str | None = None


class ContractEventsRequest(Request):
    """Body of the request for the events of a contract."""

    contract_id: ContractId
    event_format: EventFormat


class ContractRequest(Request):
    """Body of the request for a contract."""

    contract_id: ContractId
    querying_parties: list[PartyId] = msgspec.field(default_factory=list)
