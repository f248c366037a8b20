"""Update pages of a participant's ledger."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.api.paging import PageChain
from ledgerframes.api.response import Response
from ledgerframes.api.update_format import UpdateFormat
from ledgerframes.datasets._boundary import decode_boundary
from ledgerframes.datasets.ledger.build import ledger_tables
from ledgerframes.datasets.ledger.wire import PAGE, UpdatesPage
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import (
    DecodeError,
    InvalidPageTokenError,
    InvalidRequestError,
    PrunedOffsetError,
    StoreError,
    UsageError,
)
from ledgerframes.extents import OffsetRange
from ledgerframes.gc_pause import pause_gc
from ledgerframes.loaders import buffering
from ledgerframes.loaders.additions import Additions
from ledgerframes.loaders.bad_items import OnBadItem, settle
from ledgerframes.loaders.bad_updates import BadUpdate, decode_updates
from ledgerframes.loaders.buffering import TableBuffer
from ledgerframes.loaders.sync import Batch, ChunkContext, require_coverage
from ledgerframes.network import Network

logger = logging.getLogger("ledgerframes")


@dataclass(frozen=True)
class LedgerFilter:
    """A filter on one participant's ledger, within which offsets can be compared.

    Attributes
    ----------
    participant_id : str
    update_format : UpdateFormat
    """

    participant_id: str
    update_format: UpdateFormat

    @property
    def partition(self) -> str:
        """Name of the filter in the store."""
        return f"{self.participant_id} {hashlib.sha256(str(self.update_format).encode()).hexdigest()[:16]}"

    def offset_range(self, after: int, through: int) -> OffsetRange:
        """Return the offsets with ``after < offset <= through``."""
        return OffsetRange(self.partition, after, through)

    def tables(self, page: UpdatesPage) -> dict[str, pa.Table]:
        """Return the tables of a page, whose updates must be inside its bounds."""
        with pause_gc(), decode_boundary(PAGE):
            trees = self.update_format.shape == "ledger_effects"
            tables = ledger_tables(page.updates, self.participant_id, trees=trees)
        offsets = pc.min_max(tables["ledger_updates"]["offset"]).as_py()
        start, stop = page.lowest_page_offset_exclusive, page.highest_page_offset_inclusive
        if offsets["min"] is not None and not start < offsets["min"] <= offsets["max"] <= stop:
            raise DecodeError(
                f"A page of updates covers offsets {start} < … <= {stop}, but contains {offsets['min']} to {offsets['max']}.",
                json_path="$.updates[...].offset",
            )
        return tables


def open_ledger(net: Network, update_format: UpdateFormat, *, bind: bool) -> LedgerFilter:
    """Return the ledger that responds, or offline the one in the store.

    Parameters
    ----------
    net : Network
    update_format : UpdateFormat
    bind : bool
        Bind a store without a ledger to this participant.

    Raises
    ------
    CoverageError
        If the network is offline and no ledger is stored.
    StoreError
        If another participant responds, or its ledger ends before the offsets in the store.
    """
    stored_id = net.store.participant()  # before the first request, for a catalog that is lost
    if net.offline:
        require_coverage(net, "the ledger is", [] if stored_id else ["ledger"])
        return LedgerFilter(stored_id or "", update_format)
    participant_id = net.ledger.participant_id()
    stored_id = net.store.bind_participant(participant_id) if bind else stored_id or participant_id
    if stored_id != participant_id:
        raise StoreError(
            f"The store {net.store.location} has the ledger of {stored_id}, which cannot be mixed with that of {participant_id}. "
            "Check ledger_url, or use a profile with another network name.",
            path=str(net.store.location),
        )
    end, stored_end = net.ledger.ledger_end(), net.store.max_position(LEDGER)
    if end < stored_end:
        raise StoreError(
            f"The ledger of {participant_id} ends at {end}, before offset {stored_end} in the store. "
            f"Try again, or if the ledger was reset, move {net.store.location}.",
            path=str(net.store.location),
        )
    return LedgerFilter(participant_id, update_format)


def pruned_through(net: Network) -> int:
    """Return the last offset that the participant has pruned, 0 if none."""
    return net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive


def gap(net: Network, offsets: OffsetRange) -> Batch:
    """Return the batch of offsets that were pruned before they could be fetched, and log them."""
    logger.warning("offset_range_pruned network=%s after=%d through=%d", net.name, offsets.start, offsets.stop)
    return Batch(offsets, {}, "", gap=True)


@dataclass(frozen=True)
class OffsetReader:
    """Reads the pages of a range of offsets.

    Attributes
    ----------
    net : Network
    ledger_filter : LedgerFilter
    page_size : int
        Updates per page, at first.
    descending : bool
    on_bad_item : {"raise", "quarantine"}
        What to do with an update that cannot be decoded.
    """

    net: Network
    ledger_filter: LedgerFilter
    page_size: int
    descending: bool
    on_bad_item: OnBadItem = "raise"

    def __call__(self, chunk: OffsetRange, context: ChunkContext) -> Iterator[Batch]:
        """Yield batches of updates, and gaps for offsets that are pruned during the sync."""
        rest, page_size = [chunk], self.page_size
        while rest and not context.is_stopped:
            before = rest
            try:
                for batch in self._read_pages(rest[0], page_size, context):
                    rest = rest[0].difference([batch.extent])
                    yield batch
                if rest == before and not context.is_stopped:
                    raise DecodeError(f"{self.net.name} returned no page for {rest[0]}.", json_path="$.nextPageToken")
            except InvalidPageTokenError:
                logger.info("page_token_rejected network=%s", self.net.name)
                if rest == before:
                    raise
            except InvalidRequestError as error:
                if page_size == 1 or "size" not in error.detail.lower():
                    raise
                page_size = max(1, page_size // 2)
                logger.warning("page_size_reduced network=%s page_size=%d error=%s", self.net.name, page_size, error.detail)
            except PrunedOffsetError:
                batch = self._gap(rest[0])
                rest = rest[0].difference([batch.extent])
                yield batch

    def __getstate__(self) -> dict[str, Any]:
        """Raise UsageError instead of sending a token to another process."""
        if self.net.settings.token is not None:
            raise UsageError("executor= cannot send token= to other processes. Use token_file= or token_env= instead.")
        return dict(self.__dict__)

    def _gap(self, rest: OffsetRange) -> Batch:
        """Return the pruned start of a range, whose end the error may not contain."""
        pruned = pruned_through(self.net)
        if pruned <= rest.start:
            raise DecodeError(f"{self.net.name} refused offset {rest.start} as pruned, but is pruned through {pruned}.")
        return gap(self.net, replace(rest, stop=min(rest.stop, pruned)))

    def _after(self, known: OffsetRange) -> OffsetRange:
        """Return the empty range from which the known offsets continue after a flush."""
        return replace(known, stop=known.start) if self.descending else replace(known, start=known.stop)

    def _read_pages(self, rest: OffsetRange, page_size: int, context: ChunkContext) -> Iterator[Batch]:
        buffer = TableBuffer(LEDGER.tables)
        known = replace(rest, start=rest.stop) if self.descending else replace(rest, stop=rest.start)
        source = ""

        def flush(bad_updates: Sequence[BadUpdate] = ()) -> Iterator[Batch]:
            if known.start < known.stop:
                tables = buffer.flush(descending=self.descending)
                yield from _batches(known, tables, source, bad_updates, descending=self.descending)

        try:
            for response, page, bad_updates in self._iter_pages(rest, page_size):
                extended = _append_page(known, page, rest, self.descending)
                tables = self.ledger_filter.tables(page)
                if response.host != source:  # a segment has the rows of one host
                    yield from flush()
                    known = self._after(known)
                    extended = _append_page(known, page, rest, self.descending)
                buffer.add(tables)
                context.advance(extended.stop - extended.start - (known.stop - known.start))
                known, source = extended, response.host  # only now, because a page that cannot be decoded is not known
                if buffer.bytes >= buffering.SEGMENT_BYTES or bad_updates:
                    yield from flush(bad_updates)
                    known = self._after(known)
                settle(self.net, [bad.item for bad in bad_updates], self.on_bad_item, context.additions)
                if context.is_stopped:
                    break
        except Exception:
            yield from flush()  # the pages before an error are retained
            raise
        yield from flush()

    def _iter_pages(self, offsets: OffsetRange, page_size: int) -> Iterator[tuple[Response, UpdatesPage, list[BadUpdate]]]:
        """Yield the pages of a range, and the bad updates of each."""
        request: dict[str, Any] = {
            "updateFormat": self.ledger_filter.update_format.as_json(),
            "beginOffsetExclusive": offsets.start,
            "endOffsetInclusive": offsets.stop,
            "maxPageSize": page_size,
            "descendingOrder": self.descending,
        }
        chain = PageChain(PAGE)
        while True:
            response = self.net.ledger.get_updates_page(request)
            page, bad_updates = decode_updates(response, self.ledger_filter.tables)
            yield response, page, bad_updates
            token = chain.next_token(page.next_page_token, _page_bounds(page))
            if token is None:
                return
            request = {**request, "pageToken": token}


def _batches(
    known: OffsetRange, tables: dict[str, pa.Table], source: str, bad_updates: Sequence[BadUpdate], *, descending: bool = False
) -> Iterator[Batch]:
    """Yield the known offsets in reading order, provisional near a bad update."""
    certain = known.difference([replace(known, start=bad.after, stop=bad.through) for bad in bad_updates])
    parts = [(part, True) for part in certain] + [(part, False) for part in known.difference(certain)]
    for part, final in sorted(parts, key=lambda each: each[0].start, reverse=descending):
        rows = tables if part == known else {name: table.filter(part.filter()) for name, table in tables.items()}
        yield Batch(part, rows, source, final=final)


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


def _page_bounds(page: UpdatesPage) -> bytes:
    """Return the offsets of a page, which tell it from all others, or nothing if it has none."""
    start, stop = page.lowest_page_offset_exclusive, page.highest_page_offset_inclusive
    return b"%d < %d" % (start, stop) if start < stop else b""


# -- following ------------------------------------------------------------------------------------------------------


def follow(
    net: Network,
    ledger_filter: LedgerFilter,
    after: int,
    poll_seconds: float,
    stop: threading.Event,
    on_bad_item: OnBadItem = "raise",
) -> int:
    """Commit what the ledger appends, page by page, until an event is set.

    Parameters
    ----------
    net : Network
    ledger_filter : LedgerFilter
    after : int
        Everything through this offset is in the store.
    poll_seconds : float
        Pause after a page without updates.
    stop : threading.Event
        Ends the loop after the page in progress.
    on_bad_item : {"raise", "quarantine"}
        What to do with an update that cannot be decoded, after the others of its page are committed.

    Returns
    -------
    int
        Everything through this offset is in the store now.
    """
    token, reached, additions = None, after, Additions()
    request = _open_end_request(net, ledger_filter, after)
    while not stop.is_set():
        try:
            response = net.ledger.get_updates_page({**request, "pageToken": token} if token else request)
        except InvalidPageTokenError:
            token, request = None, _open_end_request(net, ledger_filter, reached)  # the token has expired
            stop.wait(poll_seconds)
            continue
        page, bad_updates = decode_updates(response, ledger_filter.tables)
        end = ledger_filter.offset_range(reached, page.highest_page_offset_inclusive)
        reached = _append_page(replace(end, stop=reached), page, end, descending=False).stop
        tables = ledger_filter.tables(page)
        if page.updates or bad_updates:
            for batch in _batches(ledger_filter.offset_range(after, reached), tables, response.host, bad_updates):
                net.store.commit(LEDGER, batch.extent, batch.tables, final=batch.final, source=batch.source)
            after = reached
            additions.note(tables)
            settle(net, [bad.item for bad in bad_updates], on_bad_item, additions)
            additions.log(net.name)
        else:
            stop.wait(poll_seconds)
        token = page.next_page_token
        if not token:
            request = _open_end_request(net, ledger_filter, reached)
    if after < reached:
        net.store.commit(LEDGER, ledger_filter.offset_range(after, reached), {}, final=True, source=response.host)
    return reached


def _open_end_request(net: Network, ledger_filter: LedgerFilter, after: int) -> dict[str, Any]:
    """Return a request whose pages never end (docs/facts.md#open-ended-pages)."""
    return {
        "updateFormat": ledger_filter.update_format.as_json(),
        "beginOffsetExclusive": after,
        "maxPageSize": net.settings.limits.page_size,
        "descendingOrder": False,
    }
