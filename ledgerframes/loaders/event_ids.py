"""History events by id."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from ledgerframes.api.history import History
from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import fetch_if_known
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import REJECTED, Event, header_of
from ledgerframes.datasets.registry import EVENTS_BY_ID
from ledgerframes.errors import DecodeError, ServiceError, TransportError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.committed_ids import committed_ids
from ledgerframes.loaders.bad_items import BadItem, OnBadItem, find_errors, settle
from ledgerframes.loaders.buffering import NO_TIMEOUT
from ledgerframes.loaders.event_pages import position_of
from ledgerframes.loaders.sync import Batch, ChunkContext, ChunkResult, Loader, Reader
from ledgerframes.network import Network
from ledgerframes.values.extents import IdSet, microseconds

logger = logging.getLogger("ledgerframes")

IDS_PER_CHUNK = 500

Ids = tuple[str, ...]


@dataclass(frozen=True)
class MissingIds:
    """Ids that are not stored, because the service does not know them or their events are bad."""

    unknown: Ids
    bad: Ids


@dataclass(frozen=True)
class Finality:
    """When an event cannot change any more."""

    cutoff: int  # microseconds
    complete_host: str  # that has all of the history, or ""

    def is_final(self, event: Event, host: str) -> bool:
        """Return whether nothing more can arrive of an event.

        A service that is still loading its history returns a part of an event without a warning
        (docs/facts.md#history-not-ready), so an event needs verdict and traffic. An accepted one without an update is private,
        or its update has not arrived yet.
        """
        verdict = event.verdict
        if verdict is None or event.traffic_summary is None or position_of(event)[1] >= self.cutoff:
            return False
        return event.update is not None or verdict.verdict_result == REJECTED or host == self.complete_host


def find_complete_host(net: Network) -> str:
    """Return the host that says that it has all of the history, or "" if it does not say so."""
    try:
        return net.history.transport.last_host if net.history.is_backfilled() else ""
    except (ServiceError, TransportError, DecodeError) as error:
        logger.info("history_completeness_unknown network=%s error=%s", net.name, error)
        return ""


def parse_update_ids(update_ids: Iterable[str]) -> list[str]:
    """Return the distinct ids, in their original order."""
    if isinstance(update_ids, str) or not isinstance(update_ids, Iterable):
        raise UsageError(f"update_ids= must be a list of ids, got {update_ids!r}.")
    ids = list(update_ids)
    invalid = [each for each in ids if not isinstance(each, str) or not each.strip() or not _is_encodable(each)]
    if invalid:
        raise UsageError(f"update_ids= must be a list of ids, got {invalid[0]!r} in it.")
    return list(dict.fromkeys(ids))


def _is_encodable(update_id: str) -> bool:
    """Return whether an id can be sent. Half a surrogate pair cannot."""
    return update_id.encode("utf-8", "ignore").decode() == update_id


class EventIdLoader(Loader[Ids]):
    """Loads events by id, one chunk at a time and the ids of a chunk concurrently."""

    dataset, noun, unit = EVENTS_BY_ID, "events by id", "ids"

    def __init__(self, net: Network, update_ids: list[str], id_source: str, on_bad_item: OnBadItem = "raise") -> None:
        self.net, self.update_ids, self.id_source, self.on_bad_item = net, update_ids, id_source, on_bad_item
        self.unknown_ids: set[str] = set()
        self.bad_ids: set[str] = set()

    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return the missing ids."""
        ids = IdSet(frozenset(self.update_ids))
        parts = self.net.store.missing_parts(EVENTS_BY_ID, ids, accept_provisional=accept_provisional)
        missing = {update_id for part in parts for update_id in part.keys}
        return {update_id: {"update_id": update_id} for update_id in self.update_ids if update_id in missing}

    def shortfall(self) -> Collection[str]:
        """Return the missing ids, without those that cannot be stored."""
        return [each for each in super().shortfall() if each not in self.unknown_ids | self.bad_ids]

    def count_text(self, count: int) -> str:
        """Return the number of missing ids."""
        return f"{count:,} of {len(self.update_ids):,} update ids are"

    def chunks(self, *, distributed: bool) -> list[Ids]:
        """Return the ids to look up."""
        missing = list(self.missing())
        return [tuple(missing[start : start + IDS_PER_CHUNK]) for start in range(0, len(missing), IDS_PER_CHUNK)]

    def size(self, chunk: Ids) -> float:
        """Return the number of ids."""
        return len(chunk)

    @property
    def reader(self) -> Reader[Ids]:
        """Function that looks up the ids of one chunk."""
        cutoff = self.net.now() - timedelta(minutes=self.net.settings.limits.provisional_minutes)
        # Before the lookups: a host that completes its history during them may have returned a part.
        finality = Finality(microseconds(cutoff), find_complete_host(self.net))
        return functools.partial(_fetch_ids, self.net, self.id_source, finality, self.on_bad_item)

    def commit(self, item: MissingIds) -> None:
        """Remember ids that cannot be stored."""
        self.unknown_ids.update(item.unknown)
        self.bad_ids.update(item.bad)

    def finish(self) -> None:
        """Log how many ids the service does not know."""
        if self.unknown_ids:
            logger.warning(
                "update_ids_unknown network=%s unknown=%d ids=%d", self.net.name, len(self.unknown_ids), len(self.update_ids)
            )

    def frames(self) -> Frames:
        """Return frames of the ids that the service knows."""
        known = [update_id for update_id in self.update_ids if update_id not in self.unknown_ids | self.bad_ids]
        unknown = [update_id for update_id in self.update_ids if update_id in self.unknown_ids]
        snapshot = self.net.store.snapshot(EVENTS_BY_ID, IdSet(frozenset(known)))
        known_to_updates = functools.partial(committed_ids, self.net.store)
        is_committed = self.id_source != "user" or known_to_updates(pa.array(known, pa.string()))
        return Frames(
            snapshot,
            [table.name for table in EVENTS_BY_ID.tables],
            update_ids=known,
            unknown_ids=unknown,
            population="committed" if is_committed else EVENTS_BY_ID.population,
            committed_ids=known_to_updates,
            engine=self.net.settings.engine,
        )


def _fetch_ids(
    net: Network, id_source: str, finality: Finality, on_bad_item: OnBadItem, chunk: Ids, context: ChunkContext
) -> Iterator[ChunkResult]:
    """Yield the events with these ids, then raise the first error of an event or a lookup."""
    history, stop = net.history, threading.Event()  # created once here, or else by each thread
    with net.waits.session(lambda text: False, stop), ThreadPoolExecutor(net.settings.limits.max_concurrency) as pool:
        try:
            lookups = {update_id: pool.submit(_fetch_event, history, update_id) for update_id in chunk}
            for _ in as_completed(lookups.values(), NO_TIMEOUT):
                context.advance(1)
        except KeyboardInterrupt:
            stop.set()  # the pool waits for its lookups, which may wait long for a host
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    results = {update_id: lookup.result() for update_id, lookup in lookups.items() if lookup.exception() is None}
    responses = [(update_id, result) for update_id, result in results.items() if result is not None]

    def check(some: Sequence[tuple[str, Response]]) -> None:
        with decode_boundary(some[0][1].endpoint, update_id=some[0][0]):
            _batches(some, id_source, finality)

    bad: dict[str, BadItem] = {}
    try:
        batches = _batches(responses, id_source, finality)
    except DecodeError:
        errors = find_errors(responses, check)
        bad = {responses[number][0]: BadItem(responses[number][1].body, error) for number, error in errors.items()}
        batches = _batches([item for item in responses if item[0] not in bad], id_source, finality)
    yield from batches
    yield MissingIds(tuple(update_id for update_id, result in results.items() if result is None), tuple(bad))
    settle(net, bad.values(), on_bad_item, context.report.additions)
    for lookup in lookups.values():
        lookup.result()


def _decode_event(response: Response, update_id: str) -> Event:
    event = History.decode_event(response)
    returned_id = header_of(event)[2]
    if returned_id != update_id:
        raise DecodeError(f"{response.host} returned update {returned_id} for {update_id}.", json_path="$..update_id")
    return event


def _fetch_event(history: History, update_id: str) -> Response | None:
    """Return the response with an event, or None if the service does not know the id."""
    return fetch_if_known(lambda: history.event_response(update_id))


def _batches(responses: Sequence[tuple[str, Response]], id_source: str, finality: Finality) -> list[Batch]:
    """Return the events in responses, as final if nothing more can arrive."""
    groups: dict[tuple[bool, str], list[Event]] = {}
    for update_id, response in responses:
        event = _decode_event(response, update_id)
        groups.setdefault((finality.is_final(event, response.host), response.host), []).append(event)
    return [
        Batch(IdSet(frozenset(header_of(event)[2] for event in events)), event_tables(events, id_source), host, final=final)
        for (final, host), events in groups.items()
    ]
