"""The history API: one method per operation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ledgerframes.api.bulk import BulkReads
from ledgerframes.api.transport import Answer, Transport, path_segment
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets.events.wire import Event, EventsPage, Update, UpdatesPage
from ledgerframes.datasets.reference.wire import Contract, NameRules, NameRulesAnswer
from ledgerframes.errors import DecodeError, UsageError

if TYPE_CHECKING:
    from ledgerframes.settings import Vocabulary

__all__ = ["Cursor", "History", "ValueEncoding"]

ValueEncoding = Literal["compact_json", "protobuf_json"]

MAX_PAGE_SIZE = 1000


@dataclass(frozen=True)
class Cursor:
    """A place in the order of the history: everything strictly after it comes next (docs/facts.md#history-paging)."""

    migration_id: int
    record_time: datetime

    def as_json(self) -> dict[str, Any]:
        """The cursor as the listing operations take it."""
        return {"after_migration_id": self.migration_id, "after_record_time": wire_time(self.record_time)}


def wire_time(time: datetime) -> str:
    """An instant as the history API writes record times: always six digits of a second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


class History(BulkReads):
    """Client of the history API.

    Every method asks the service; loaders are what remembers. Answers are decoded structs with the wire's field names.

    Parameters
    ----------
    transport : Transport
    vocabulary : Vocabulary
        The network's own words.
    """

    def __init__(self, transport: Transport, vocabulary: Vocabulary) -> None:
        self.transport = transport
        self._encoding_name = f"{vocabulary.lang}_value_encoding"
        self._coin = vocabulary.coin

    def event(self, update_id: str, *, value_encoding: ValueEncoding = "compact_json") -> Event:
        """Look one event up by its update id.

        Parameters
        ----------
        update_id : str
            Any text; it is sent as one segment of the path.
        value_encoding : {"compact_json", "protobuf_json"}
            How payloads are written.

        Returns
        -------
        Event
            With update, verdict, traffic summary and activity records, each None where the service has none.

        Raises
        ------
        NotFoundError
            If the service does not know the id.

        Notes
        -----
        Source: docs/facts.md#event-items, GET /v0/events/{update_id}.
        """
        return self.decode_event(self.event_answer(update_id, value_encoding=value_encoding))

    def event_answer(self, update_id: str, *, value_encoding: ValueEncoding = "compact_json") -> Answer:
        """Fetch one event as the bytes that came, for :meth:`decode_event`; see :meth:`event`."""
        return self.transport.get(f"/v0/events/{_segment(update_id)}", {self._encoding_name: _known_encoding(value_encoding)})

    @staticmethod
    def decode_event(answer: Answer) -> Event:
        """The event in an answer of :meth:`event_answer`."""
        return decode(answer.body, Event, "GET /v0/events/{update_id}")

    def events_page(
        self, after: Cursor | None = None, *, page_size: int = MAX_PAGE_SIZE, value_encoding: ValueEncoding = "compact_json"
    ) -> Answer:
        """Fetch a page of the event listing as the bytes that came, for :meth:`decode_events`.

        Parameters
        ----------
        after : Cursor, optional
            Where to go on; the beginning of the history by default.
        page_size : int
            1 to 1000 events.
        value_encoding : {"compact_json", "protobuf_json"}

        Notes
        -----
        Source: docs/facts.md#history-paging, POST /v0/events.
        """
        return self.transport.post("/v0/events", self._page_request(after, page_size, value_encoding))

    @staticmethod
    def decode_events(answer: Answer) -> list[Event]:
        """The events of a page, in order of (migration_id, record_time)."""
        return decode(answer.body, EventsPage, "POST /v0/events").events

    def events(
        self, after: Cursor | None = None, *, page_size: int = MAX_PAGE_SIZE, value_encoding: ValueEncoding = "compact_json"
    ) -> list[Event]:
        """List events after a place in the history; see :meth:`events_page`."""
        return self.decode_events(self.events_page(after, page_size=page_size, value_encoding=value_encoding))

    def update(self, update_id: str, *, value_encoding: ValueEncoding = "compact_json") -> Update:
        """Look one update up by id.

        Raises
        ------
        NotFoundError
            If the id is unknown, or belongs to a request that was rejected or is private (docs/facts.md#updates-not-visible).

        Notes
        -----
        Source: docs/facts.md#history-operations, GET /v2/updates/{update_id}.
        """
        path = f"/v2/updates/{_segment(update_id)}"
        answer = self.transport.get(path, {self._encoding_name: _known_encoding(value_encoding)})
        return decode(answer.body, Update, f"GET {path}")

    def updates(
        self, after: Cursor | None = None, *, page_size: int = MAX_PAGE_SIZE, value_encoding: ValueEncoding = "compact_json"
    ) -> list[Update]:
        """List updates after a place in the history.

        Notes
        -----
        Source: docs/facts.md#history-paging, POST /v2/updates. Rejected and private requests have no update.
        """
        answer = self.transport.post("/v2/updates", self._page_request(after, page_size, value_encoding))
        return decode(answer.body, UpdatesPage, "POST /v2/updates").transactions

    def update_v1(self, update_id: str, *, lossless: bool = False) -> Update:
        """Look one update up in the deprecated form, which has an offset; :meth:`update` is its successor.

        Parameters
        ----------
        update_id : str
        lossless : bool
            Ask for the verbose payload encoding, the same as ``protobuf_json``.

        Notes
        -----
        Source: docs/facts.md#history-operations, GET /v0/updates/{update_id}, deprecated in 0.5.10. Event ids begin with
        ``#`` there (docs/facts.md#event-id-prefix).
        """
        path = f"/v0/updates/{_segment(update_id)}"
        return decode(self.transport.get(path, {"lossless": str(lossless).lower()}).body, Update, f"GET {path}")

    def name_rules(self, cached_contract_id: str | None = None, cached_domain_id: str | None = None) -> NameRules:
        """Read the rules of the name service.

        Parameters
        ----------
        cached_contract_id, cached_domain_id : str, optional
            Contract and domain id of the rules that the caller holds already.

        Returns
        -------
        NameRules
            With the contract, or without one: then the cached contract is still the current one and must be kept.

        Notes
        -----
        Source: POST /v0/ans-rules; docs/facts.md#name-rules-and-price-votes (both ids are plain text, and the body is
        ``{}`` at least).
        """
        cached = {"cached_ans_rules_contract_id": cached_contract_id, "cached_ans_rules_domain_id": cached_domain_id}
        answer = self.transport.post("/v0/ans-rules", {name: value for name, value in cached.items() if value is not None})
        return decode(answer.body, NameRulesAnswer, "POST /v0/ans-rules").ans_rules_update

    def price_votes(self) -> list[Contract]:
        """List the latest votes on the price of coin: one contract per voter, which each vote replaces.

        Notes
        -----
        Source: docs/facts.md#name-rules-and-price-votes, GET /v0/coin-price/votes; the path and the answer's key have the
        network's own word (docs/facts.md#network-words).
        """
        path, key = f"/v0/{self._coin}-price/votes", f"{self._coin}_price_votes"
        members = decode(self.transport.get(path).body, dict[str, msgspec.Raw], f"GET {path}")
        if key not in members:
            raise DecodeError(
                f"GET {path} answered without {key}; it has {', '.join(members) or 'nothing'}. Check the profile's vocabulary.",
                endpoint=f"GET {path}",
                json_path=f"$.{key}",
            )
        return decode(members[key], list[Contract], f"GET {path}")

    def ready(self) -> dict[str, int]:
        """The status each host answers ``/readyz`` with: 200 when ready, 503 when not."""
        return {url: self.transport.probe(url, "/readyz") for url in self.transport.urls}

    def live(self) -> dict[str, int]:
        """The status each host answers ``/livez`` with."""
        return {url: self.transport.probe(url, "/livez") for url in self.transport.urls}

    def _page_request(self, after: Cursor | None, page_size: int, value_encoding: ValueEncoding) -> dict[str, Any]:
        if not 1 <= page_size <= MAX_PAGE_SIZE:
            raise UsageError(f"page_size={page_size} must lie between 1 and {MAX_PAGE_SIZE}.")
        request: dict[str, Any] = {"page_size": page_size, self._encoding_name: _known_encoding(value_encoding)}
        return request if after is None else {"after": after.as_json(), **request}


def _segment(update_id: str) -> str:
    return path_segment(update_id, f"{update_id!r} is not an update id.")


def _known_encoding(value_encoding: str) -> str:
    if value_encoding not in ("compact_json", "protobuf_json"):
        raise UsageError(f"value_encoding={value_encoding!r} is not known. Use compact_json or protobuf_json.")
    return value_encoding
