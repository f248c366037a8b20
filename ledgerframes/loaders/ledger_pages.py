"""Update pages of a participant's ledger."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ledgerframes.api import host_rates
from ledgerframes.api.ledger_errors import is_invalid_page_token, is_invalid_request
from ledgerframes.api.paging import PageChain
from ledgerframes.api.response import Response
from ledgerframes.datasets.ledger.build import members_without_row
from ledgerframes.datasets.ledger.wire import PAGE, UpdatesPage
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import (
    BadRequestError,
    DecodeError,
    PrunedOffsetError,
    ServiceError,
    TransportError,
    UnsupportedOperationError,
    UsageError,
)
from ledgerframes.loaders import buffering
from ledgerframes.loaders.additions import Additions
from ledgerframes.loaders.bad_items import BadItem, OnBadItem, settle
from ledgerframes.loaders.bad_updates import decode_updates
from ledgerframes.loaders.ledger_filter import MAX_OFFSET, LedgerFilter, pruned_through
from ledgerframes.loaders.sync import Batch, ChunkContext, split_batches
from ledgerframes.loaders.update_lists import LIST, FetchPage, UpdateLists, lists_instead
from ledgerframes.network import Network
from ledgerframes.values.extents import ExtentRange, OffsetRange

COMMIT_SECONDS = 600.0  # after which a followed ledger commits offsets without updates

DecodedPage = tuple[Response, UpdatesPage, dict[str, pa.Table], list[BadItem]]

logger = logging.getLogger("ledgerframes")


def gap(net: Network, offsets: OffsetRange) -> Batch:
    """Return the batch of offsets that were pruned before they could be fetched, and log them."""
    logger.warning("offset_range_pruned network=%s after=%d through=%d", net.name, offsets.start, offsets.stop)
    return Batch(offsets, {}, "", gap=True)


@dataclass(frozen=True)
class OffsetReader:
    """Reads the pages of a range of offsets."""

    net: Network
    ledger_filter: LedgerFilter
    page_size: int  # at first
    descending: bool
    on_bad_item: OnBadItem = "raise"

    def __call__(self, chunk: OffsetRange, context: ChunkContext) -> Iterator[Batch]:
        """Yield batches of updates, and gaps for offsets that are pruned during the sync."""
        rest, page_size, lists = [chunk], self.page_size, None
        while rest and not context.is_stopped:
            before = rest
            try:
                for batch in self._read_pages(rest[0], page_size, context, lists):
                    rest = rest[0].difference([batch.extent])
                    yield batch
                if rest == before and not context.is_stopped:
                    raise DecodeError(f"{self.net.name} returned no page for {rest[0]}.", json_path="$.nextPageToken")
            except UnsupportedOperationError as error:
                lists = lists_instead(self.net.ledger, error)
            except PrunedOffsetError as error:
                pruned = self.pruned_start(rest[0], error)
                rest = rest[0].difference([pruned])
                yield gap(self.net, pruned)
            except BadRequestError as error:
                if is_invalid_page_token(error):
                    logger.info("page_token_rejected network=%s", self.net.name)
                    if rest == before:
                        raise
                elif is_invalid_request(error):
                    page_size = self.reduce_page_size(page_size, error)
                else:
                    raise

    def __getstate__(self) -> dict[str, Any]:
        """Raise UsageError instead of sending a token to another process."""
        if self.net.settings.token is not None:
            raise UsageError("executor= cannot send token= to other processes. Use token_file= or token_env= instead.")
        return dict(self.__dict__)

    def reduce_page_size(self, page_size: int, error: BadRequestError) -> int:
        """Return a smaller page size, or raise the error if it has another cause."""
        if page_size == 1 or "size" not in error.detail.lower():
            raise error
        page_size = max(1, page_size // 2)
        logger.warning("page_size_reduced network=%s page_size=%d error=%s", self.net.name, page_size, error.detail)
        return page_size

    def pruned_start(self, rest: OffsetRange, error: PrunedOffsetError) -> OffsetRange:
        """Return the pruned start of a range. Its end may not be in the error."""
        pruned = max(error.earliest_offset, pruned_through(self.net))
        if pruned <= rest.start:
            raise DecodeError(f"{self.net.name} refused offset {rest.start} as pruned, but is pruned through {pruned}.")
        return replace(rest, stop=min(rest.stop, pruned))

    def _read_pages(self, rest: OffsetRange, page_size: int, context: ChunkContext, lists: UpdateLists | None) -> Iterator[Batch]:
        descending = self.descending and lists is None  # lists are ascending
        buffer = _UpdateBuffer(rest, descending)
        try:
            for response, page, tables, bad_items in self.iter_pages(rest, page_size, lists):
                if response.host != buffer.source:  # a segment has the rows of one host
                    yield from buffer.flush()
                if not descending and buffer.known == replace(rest, stop=rest.start):
                    _require_start(page, rest.start)
                context.advance(buffer.add(response, page, tables, bad_items))
                if lists and not page.next_page_token:
                    context.advance(buffer.add_rest())
                if buffer.bytes >= self.net.settings.limits.segment_bytes:
                    yield from buffer.flush()
                settle(self.net, bad_items, self.on_bad_item, context.report.additions)
                if descending and not page.next_page_token:
                    _require_start(page, rest.start)
                if context.is_stopped:
                    break
        except Exception:
            yield from buffer.flush()  # the pages before an error are retained
            raise
        yield from buffer.flush()

    def iter_pages(self, offsets: OffsetRange, page_size: int, lists: UpdateLists | None = None) -> Iterator[DecodedPage]:
        """Yield the pages of a range, each with its tables and bad updates."""
        request = self.ledger_filter.request(offsets.start, page_size, through=offsets.stop, descending=self.descending)
        fetch: FetchPage = lists or self.net.ledger.get_updates_page
        chain = PageChain(LIST if lists else PAGE)
        token: str | None = ""
        while token is not None:
            response = fetch({**request, "pageToken": token} if token else request)
            page, tables, bad_items = decode_updates(response, self.ledger_filter)
            self.net.ledger.note_around(response.endpoint, members_without_row(page))
            yield response, page, tables, bad_items
            token = chain.next_token(page.next_page_token, _page_bounds(page))


class _UpdateBuffer:
    """Updates of one range that do not yet fill a segment."""

    def __init__(self, rest: OffsetRange, descending: bool = False) -> None:
        self.known = replace(rest, start=rest.stop) if descending else replace(rest, stop=rest.start)
        self._rest, self._descending = rest, descending
        self._uncertain: list[ExtentRange] = []
        self._pages: list[dict[str, pa.Table]] = []  # only pages with rows, because an idle ledger sends empty ones for days
        self._flushed_at = host_rates.clock.now()
        self.bytes = 0
        self.source = ""

    def add(self, response: Response, page: UpdatesPage, tables: dict[str, pa.Table], bad_items: Sequence[BadItem]) -> int:
        """Add a page, and return the number of its offsets."""
        before = self.known
        self.known = _append_page(before, page, self._rest, self._descending)
        self.source = response.host
        self._uncertain += [bad.extent for bad in bad_items if bad.extent]
        if any(table.num_rows for table in tables.values()):
            self._pages.append(tables)
            self.bytes += sum(table.nbytes for table in tables.values())
        return (self.known.stop - self.known.start) - (before.stop - before.start)

    def add_rest(self) -> int:
        """Add the offsets that no list confirms as provisional ones, and return their number."""
        start, stop = self.known.stop, self._rest.stop
        if start < stop:
            self._uncertain.append(replace(self._rest, start=start))
            self.known = replace(self.known, stop=stop)
        return stop - start

    @property
    def is_due(self) -> bool:
        """Whether the latest flush is so long ago that a kill could lose many offsets."""
        return host_rates.clock.now() - self._flushed_at >= COMMIT_SECONDS

    def flush(self) -> Iterator[Batch]:
        """Yield what was added since the last flush, as provisional near a bad update."""
        known, pages = self.known, self._pages[::-1] if self._descending else self._pages
        if known.start == known.stop:
            return
        buffering.release_memory()
        tables = {table.name: pa.concat_tables([page[table.name] for page in pages]) for table in LEDGER.tables} if pages else {}
        self._flushed_at = host_rates.clock.now()
        self.known = replace(known, stop=known.start) if self._descending else replace(known, start=known.stop)
        uncertain, self._uncertain, self._pages, self.bytes = self._uncertain, [], [], 0
        yield from split_batches(known, uncertain, tables, self.source, descending=self._descending)


def _append_page(known: OffsetRange, page: UpdatesPage, rest: OffsetRange, descending: bool) -> OffsetRange:
    """Return the known offsets with an adjacent page (docs/facts.md#update-page-response)."""
    start, stop = page.lowest_page_offset_exclusive, page.highest_page_offset_inclusive
    if descending:
        start = max(start, rest.start)
    else:
        stop = min(stop, rest.stop)
    edge, expected = (stop, known.start) if descending else (start, known.stop)
    if edge != expected or start > stop:
        bound = "highestPageOffsetInclusive" if descending else "lowestPageOffsetExclusive"
        raise DecodeError(
            f"A page of updates covers offsets {start} < … <= {stop}, which are not adjacent to {expected}.",
            json_path=f"$.{bound}",
        )
    return replace(known, start=start) if descending else replace(known, stop=stop)


def _require_start(page: UpdatesPage, after: int) -> None:
    """Raise PrunedOffsetError if the first page of a ledger begins where it was pruned.

    A participant does not refuse such a request as it refuses other pruned offsets (docs/facts.md#update-page-response).
    """
    lowest = page.lowest_page_offset_exclusive
    if after == 0 < lowest:
        raise PrunedOffsetError(f"The ledger is pruned through offset {lowest}.", earliest_offset=lowest)


def _page_bounds(page: UpdatesPage) -> bytes:
    """Return the offsets of a page, which identify it, or nothing if it has none."""
    start, stop = page.lowest_page_offset_exclusive, page.highest_page_offset_inclusive
    return b"%d < %d" % (start, stop) if start < stop else b""


# -- following ------------------------------------------------------------------------------------------------------


def follow(reader: OffsetReader, after: int, poll_seconds: float, stop: threading.Event) -> int:
    """Commit what the ledger appends until an event is set, and return the last offset.

    Everything through the offset ``after`` must be in the store. ``seconds`` is the pause after a page without updates.
    """
    net, ledger_filter, page_size, additions = reader.net, reader.ledger_filter, reader.page_size, Additions()
    buffer = _UpdateBuffer(ledger_filter.offset_range(after, MAX_OFFSET))
    token: str | None = None
    fetch: FetchPage = net.ledger.get_updates_page
    while not stop.is_set():
        if not token:
            request = ledger_filter.request(buffer.known.stop, page_size)
        try:
            response = fetch({**request, "pageToken": token} if token else request)
            page, tables, bad_items = decode_updates(response, ledger_filter)
            _require_start(page, buffer.known.stop)
        except UnsupportedOperationError as error:
            fetch = lists_instead(net.ledger, error)
            continue
        except PrunedOffsetError as error:
            pruned = reader.pruned_start(ledger_filter.offset_range(buffer.known.stop, MAX_OFFSET), error)
            _commit(net, [*buffer.flush(), gap(net, pruned)])
            buffer, token = _UpdateBuffer(replace(pruned, start=pruned.stop, stop=MAX_OFFSET)), None
            continue
        except (ServiceError, TransportError) as error:
            if token and is_invalid_page_token(error):
                logger.info("page_token_rejected network=%s", net.name)
                token = None  # it has expired
                stop.wait(poll_seconds)
                continue
            if isinstance(error, BadRequestError) and is_invalid_request(error):
                page_size, token = reader.reduce_page_size(page_size, error), None
                continue
            if stop.is_set():  # which ends the wait for a host that is busy
                break
            raise
        net.ledger.note_around(response.endpoint, members_without_row(page))
        buffer.add(response, page, tables, bad_items)
        is_idle = not (page.updates or bad_items)
        if not is_idle or buffer.is_due:
            _commit(net, buffer.flush())
            additions.note(tables)
            settle(net, bad_items, reader.on_bad_item, additions)
            additions.log(net.name)
        stop.wait(poll_seconds if is_idle else 0)
        token = page.next_page_token
    _commit(net, buffer.flush())
    return buffer.known.stop


def _commit(net: Network, batches: Iterable[Batch]) -> None:
    for batch in batches:
        net.store.commit(LEDGER, batch.extent, batch.tables, final=batch.final, gap=batch.gap, source=batch.source)
