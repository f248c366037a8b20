"""The client of the history API, with a method per operation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ledgerframes.api.bulk import BulkClient
from ledgerframes.api.history_reference import ReferenceClient
from ledgerframes.api.history_snapshots import SnapshotClient
from ledgerframes.api.operation import HealthClient, Operation, Request, members, operation
from ledgerframes.api.paging import MAX_PAGE_SIZE
from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import is_unknown_id
from ledgerframes.api.transport import Transport
from ledgerframes.api.unsupported import unsupported_error
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.events.wire import Event, EventsPage, Update
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.reference.wire import Contract, NameRules, TrafficStatus
from ledgerframes.datasets.structs import raw_text
from ledgerframes.errors import DecodeError, NotFoundError, UsageError, WrongUrlError
from ledgerframes.values.checks import require_integer
from ledgerframes.values.windows import instant

if TYPE_CHECKING:
    from ledgerframes.settings import Vocabulary

__all__ = ["Cursor", "History", "ValueEncoding"]

ValueEncoding = Literal["compact_json", "protobuf_json"]


@dataclass(frozen=True)
class Cursor:
    """A position in the history, after which a page starts (docs/facts.md#history-paging)."""

    migration_id: int
    record_time: datetime

    def as_json(self) -> dict[str, Any]:
        """Return the cursor as the list operations expect it, with six digits of a second."""
        time = instant(self.record_time, "record_time").strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")
        return {"after_migration_id": self.migration_id, "after_record_time": time}


class History(HealthClient, BulkClient, SnapshotClient, ReferenceClient):
    """Client of the history API. Every call sends a request, and nothing is cached.

    Its paths and members contain the words of the network's vocabulary (docs/facts.md#network-words).

    Notes
    -----
    Operations: docs/facts.md#history-operations.
    """

    api = "history"

    def __init__(self, transport: Transport, vocabulary: Vocabulary) -> None:
        super().__init__(transport)
        self._encoding_name = f"{vocabulary.lang}_value_encoding"
        self.coin = vocabulary.coin
        self.common_path = self.operations["price_votes"].fill_path({"coin": self.coin})

    def send(self, operation: Operation, request: Request) -> Response:
        """Send the request of an operation that this service's version may not have."""
        try:
            return super().send(operation, request)
        except WrongUrlError:
            raise
        except NotFoundError as error:
            if not (operation.since or operation.until) or is_unknown_id(error):
                raise
            raise unsupported_error(self.api, operation, self._version_of_host(error.host), error) from error

    # -- events -------------------------------------------------------------------------------------------------------

    def event(self, update_id: str, *, value_encoding: ValueEncoding = "compact_json") -> Event:
        """Look up one event by its update id.

        Parameters
        ----------
        update_id : str
        value_encoding : {"compact_json", "protobuf_json"}
            Encoding of payloads.

        Returns
        -------
        Event
            Update, verdict, traffic summary and activity records, each None if the service has none.

        Raises
        ------
        NotFoundError
            If no host that responds knows the id. Hosts may differ in how far they are (docs/facts.md#history-api).
        """
        return self.decode_event(self.event_response(update_id, value_encoding=value_encoding))

    @operation(
        "GET /v0/events/{update_id}",
        name="event",
        returns=Response,
        changed="0.5.15, 0.5.17, 0.6.0, 0.6.10",
        varies_by_host=True,
    )
    def event_response(self, update_id: str, *, value_encoding: ValueEncoding = "compact_json") -> Request:
        """Fetch one event without decoding it, for :meth:`decode_event`.

        Notes
        -----
        ``GET /v0/events/{update_id}``.
        """
        return Request(path={"update_id": update_id}, query=self._encoding(value_encoding))

    @staticmethod
    def decode_event(response: Response) -> Event:
        """Return the event of a response of :meth:`event_response`."""
        return response.decode(Event)

    def events(
        self, after: Cursor | None = None, *, page_size: int = MAX_PAGE_SIZE, value_encoding: ValueEncoding = "compact_json"
    ) -> list[Event]:
        """List events after a position in the history.

        Parameters
        ----------
        after : Cursor, optional
            By default the start of the history.
        page_size : int
            1 to 1000 events.
        value_encoding : {"compact_json", "protobuf_json"}
        """
        page = self.events_page(after, page_size=page_size, value_encoding=value_encoding).decode(EventsPage)
        self.note_around("POST /v0/events", unknown_members(page, but=list))
        return page.events

    @operation("POST /v0/events", name="events", returns=Response, since="0.4.21", read_only=True)
    def events_page(
        self, after: Cursor | None = None, *, page_size: int = MAX_PAGE_SIZE, value_encoding: ValueEncoding = "compact_json"
    ) -> Request:
        """Fetch a page of :meth:`events` without decoding it, for :meth:`decode_events`.

        Notes
        -----
        ``POST /v0/events``, since 0.4.21.
        """
        return self._page_request(after, page_size, value_encoding)

    @staticmethod
    def decode_events(response: Response) -> list[Event]:
        """Return the events of a page, in order of (migration_id, record_time)."""
        return response.decode(EventsPage).events

    # -- updates ------------------------------------------------------------------------------------------------------

    @operation("GET /v2/updates/{update_id}", returns=Update, since="0.4.2", varies_by_host=True)
    def update(self, update_id: str, *, value_encoding: ValueEncoding = "compact_json") -> Request:
        """Look up one update by its id.

        Raises
        ------
        NotFoundError
            If no host that responds knows the id, or it belongs to a request that was rejected or is private
            (docs/facts.md#updates-not-visible).

        Notes
        -----
        ``GET /v2/updates/{update_id}``, since 0.4.2.
        """
        return Request(path={"update_id": update_id}, query=self._encoding(value_encoding))

    @operation("GET /v2/updates/hash/{hash}", returns=Update, since="0.6.1", varies_by_host=True)
    def update_by_hash(self, transaction_hash: str, *, value_encoding: ValueEncoding = "compact_json") -> Request:
        """Look up one update by the hash of the transaction that an external party signed.

        Raises
        ------
        NotFoundError
            If no host that responds knows the hash. A host may not have hashes that others have
            (docs/facts.md#history-operations).

        Notes
        -----
        ``GET /v2/updates/hash/{hash}``, since 0.6.1.
        """
        return Request(path={"hash": transaction_hash}, query=self._encoding(value_encoding))

    @operation("POST /v2/updates", returns=list[Update], member="transactions", since="0.4.2", read_only=True)
    def updates(
        self, after: Cursor | None = None, *, page_size: int = MAX_PAGE_SIZE, value_encoding: ValueEncoding = "compact_json"
    ) -> Request:
        """List updates after a position in the history.

        Rejected and private requests have no update (docs/facts.md#updates-not-visible). Parameters are those of
        :meth:`events`.

        Notes
        -----
        ``POST /v2/updates``, since 0.4.2.
        """
        return self._page_request(after, page_size, value_encoding)

    @operation("GET /v0/updates/{update_id}", returns=Update, changed="0.5.17, 0.6.0", deprecated="update", varies_by_host=True)
    def update_v1(self, update_id: str, *, lossless: bool = False) -> Request:
        """Look up one update in the deprecated form with an offset.

        Parameters
        ----------
        update_id : str
        lossless : bool
            Request the verbose payload encoding, the same as ``protobuf_json``. Event ids start with ``#`` in this form
            (docs/facts.md#event-id-prefix).

        Notes
        -----
        ``GET /v0/updates/{update_id}``, deprecated.
        """
        return Request(path={"update_id": update_id}, query={"lossless": lossless})

    # -- reference data -----------------------------------------------------------------------------------------------

    @operation("POST /v0/ans-rules", returns=NameRules, member="ans_rules_update", read_only=True, internal=True)
    def name_rules(self, cached_contract_id: str | None = None, cached_domain_id: str | None = None) -> Request:
        """Return the rules of the name service.

        Parameters
        ----------
        cached_contract_id, cached_domain_id : str, optional
            Contract and domain id of the rules that the caller already has.

        Returns
        -------
        NameRules
            Without a contract if the cached one is current (docs/facts.md#name-rules-and-price-votes).

        Notes
        -----
        ``POST /v0/ans-rules``, internal to the network, so it may change or disappear.
        """
        # The service requires a body, if only an empty object (docs/facts.md#body-required).
        return Request(body=members(cached_ans_rules_contract_id=cached_contract_id, cached_ans_rules_domain_id=cached_domain_id))

    def price_votes(self) -> list[Contract]:
        """List the latest votes on the coin price, one contract per voter."""
        response = self._price_votes()
        key = f"{self.coin}_price_votes"
        members = response.decode(dict[str, msgspec.Raw])
        self.note_around(response.endpoint, {name: raw_text(value) for name, value in members.items() if name != key})
        if key not in members:
            raise DecodeError(
                f"Unexpected response from {response.endpoint}: {key} is missing, got {', '.join(members) or 'no members'}. "
                "Check vocabulary= of the profile.",
                endpoint=response.endpoint,
                json_path=f"$.{key}",
            )
        return decode(members[key], list[Contract], response.endpoint)

    @operation("GET /v0/{coin}-price/votes", name="price_votes", returns=Response, internal=True)
    def _price_votes(self) -> Request:
        return Request(path={"coin": self.coin})

    # -- state of the network ------------------------------------------------------------------------------------------

    @operation("GET /v0/domains/{domain_id}/members/{member_id}/traffic-status", returns=TrafficStatus, member="traffic_status")
    def traffic_status(self, domain_id: str, member_id: str) -> Request:
        """Return how much traffic a member of a synchronizer has bought and used so far.

        Parameters
        ----------
        domain_id : str
            Synchronizer id.
        member_id : str
            Participant or mediator as ``PAR::id::fingerprint`` or ``MED::id::fingerprint``. Ids in tables omit the prefix
            (docs/facts.md#identifiers).

        Returns
        -------
        TrafficStatus
            In bytes (docs/facts.md#traffic-balance).

        Raises
        ------
        NotFoundError
            If the synchronizer has no such member.

        Notes
        -----
        ``GET /v0/domains/{domain_id}/members/{member_id}/traffic-status``.
        """
        return Request(path={"domain_id": domain_id, "member_id": member_id})

    # -- requests -----------------------------------------------------------------------------------------------------

    def _page_request(self, after: Cursor | None, page_size: int, value_encoding: ValueEncoding) -> Request:
        size = require_integer("page_size", page_size, 1, MAX_PAGE_SIZE)
        if not isinstance(after, Cursor | None):
            raise UsageError(f"after= must be a Cursor(migration_id, record_time), got {after!r}.")
        position = {} if after is None else {"after": after.as_json()}
        return Request(body={**position, "page_size": size, **self._encoding(value_encoding)})

    def _encoding(self, value_encoding: str) -> dict[str, str]:
        if value_encoding not in ("compact_json", "protobuf_json"):
            raise UsageError(f"Unknown value_encoding {value_encoding!r}. Choose from compact_json or protobuf_json.")
        return {self._encoding_name: value_encoding}
