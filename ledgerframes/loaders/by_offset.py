"""A participant's update pages by offset: the plan, the chains of pages, and the tail that is followed."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.api.transport import Response
from ledgerframes.api.update_format import UpdateFormat
from ledgerframes.datasets.ledger.build import ledger_tables
from ledgerframes.datasets.ledger.wire import UpdatesPage, decode_page
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import (
    CoverageError,
    DecodeError,
    InvalidPageTokenError,
    InvalidRequestError,
    PrunedOffsetError,
    StoreError,
    UsageError,
)
from ledgerframes.extents import OffsetRange
from ledgerframes.gc_pause import pause_gc
from ledgerframes.loaders.gathering import SEGMENT_BYTES, Gathered, wait_for
from ledgerframes.loaders.progress import Progress
from ledgerframes.network import Network

logger = logging.getLogger("ledgerframes")

PAGES_PER_PIECE = 4  # a span shorter than this many pages is not split


@dataclass(frozen=True)
class LedgerView:
    """One participant's ledger seen through one filter: what offsets can be compared within.

    Attributes
    ----------
    participant_id : str
    update_format : UpdateFormat
    """

    participant_id: str
    update_format: UpdateFormat

    @property
    def partition(self) -> str:
        """Names the view in the store."""
        return f"{self.participant_id} {hashlib.sha256(str(self.update_format).encode()).hexdigest()[:16]}"

    @property
    def shows_trees(self) -> bool:
        """Whether the events are ledger effects."""
        return self.update_format.shape == "ledger_effects"

    def span(self, after: int, through: int) -> OffsetRange:
        """The offsets of this view with ``after < offset <= through``."""
        return OffsetRange(self.partition, after, through)


def open_view(net: Network, update_format: UpdateFormat) -> LedgerView:
    """The ledger that the store belongs to; offline the one it knows, online the one that answers.

    Raises
    ------
    CoverageError
        If the network is offline and no ledger is stored.
    StoreError
        If another participant answers, or its ledger has been reset: its end lies below what is stored.
    """
    if net.offline:
        stored = net.store.participant()
        if stored is None:
            raise CoverageError(
                f"{net.name} is offline and the store lacks its ledger. Run again without offline.", missing=("ledger",)
            )
        return LedgerView(stored, update_format)
    participant_id = net.ledger.participant_id()
    known = net.store.bind_participant(participant_id)
    if known != participant_id:
        raise StoreError(
            f"The store {net.store.location} holds the ledger of participant {known}, but {participant_id} answers. "
            "Offsets of two participants cannot be mixed. Check ledger_url, or use a profile with another network name.",
            path=str(net.store.location),
        )
    end, highest = net.ledger.ledger_end(), net.store.max_position(LEDGER)
    if end < highest:
        raise StoreError(
            f"The ledger of {participant_id} ends at {end}, below offset {highest} in the store: it was reset, or lags. "
            f"Try again; if it was reset, move {net.store.location} away, or use a profile with another network name.",
            path=str(net.store.location),
        )
    return LedgerView(participant_id, update_format)


def require_stored(net: Network, asked: OffsetRange) -> None:
    """Offline, offsets that the store lacks are an error.

    Raises
    ------
    CoverageError
        If a part is not in the store.
    """
    missing = tuple(str(span) for span in net.store.missing_offsets(LEDGER, asked))
    if missing:
        lacks = "; ".join(missing)
        raise CoverageError(f"{net.name} is offline and the store lacks {lacks}. Run again without offline.", missing=missing)


def checked_bounds(net: Network, view: LedgerView, after: int | None, through: int | None) -> tuple[int, int]:
    """The offsets to read, from what the caller said and the ledger has.

    Raises
    ------
    UsageError
        If they make no sense, or lie past the ledger's end.
    """
    end = net.store.max_position(LEDGER, view.partition) if net.offline else net.ledger.ledger_end()
    if net.offline and not end:
        lacks = f"{net.name} is offline and the store lacks the offsets of this view. Run again without offline."
        raise CoverageError(lacks, missing=("offsets",))
    start, stop = after or 0, end if through is None else through
    if not isinstance(start, int) or not isinstance(stop, int):
        raise UsageError(f"Offsets are whole numbers: after={after!r}, through={through!r}.")
    if start < 0 or stop < 0:
        raise UsageError(f"Offsets are not negative: after={start}, through={stop}.")
    if stop > end and not net.offline:
        raise UsageError(f"through={stop} lies past the ledger's end, which is {end}. Leave it out, or ask again later.")
    if start > stop:
        raise UsageError(f"after={start} must not lie past through={stop}.")
    return start, stop


def sync(
    net: Network,
    view: LedgerView,
    asked: OffsetRange,
    page_size: int,
    *,
    explicit: bool,
    descending: bool,
    progress: bool | None,
) -> None:
    """Fetch what the store lacks of a range of offsets, and commit it piece by piece.

    Parameters
    ----------
    net : Network
    view : LedgerView
    asked : OffsetRange
    page_size : int
        Updates a page, at first.
    explicit : bool
        Whether the caller named the lower bound: then a part lost to pruning is an error instead of a gap.
    descending : bool
        Read from the end.
    progress : bool or None

    Raises
    ------
    PrunedOffsetError
        If the caller named a lower bound that is pruned and not in the store.
    """
    if page_size < 1:
        raise UsageError(f"page_size={page_size} must be 1 or more.")
    missing = net.store.missing_offsets(LEDGER, asked)
    if not missing:
        return
    _record_pruned(net, view, missing, explicit)
    spans = net.store.missing_offsets(LEDGER, asked)
    pieces = [piece for span in spans for piece in _pieces(span, page_size, net.settings.limits.max_concurrency)]
    total = sum(piece.stop - piece.start for piece in pieces)
    with (
        Progress(f"{net.name} ledger", total, progress) as bar,
        ThreadPoolExecutor(net.settings.limits.max_concurrency) as readers,
    ):
        reading = _Reading(net, view, descending, bar, threading.Event())
        wait_for([readers.submit(reading.read, piece, page_size) for piece in pieces], reading.stop)


def _pieces(span: OffsetRange, page_size: int, parallel: int) -> list[OffsetRange]:
    return span.split(max(1, min(parallel, (span.stop - span.start) // (page_size * PAGES_PER_PIECE))))


def _record_pruned(net: Network, view: LedgerView, missing: list[OffsetRange], explicit: bool) -> None:
    """What is missing and pruned can no longer be asked: say so, or remember it as a gap."""
    pruned = net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    if explicit and missing[0].start < pruned:
        raise PrunedOffsetError(
            f"The ledger of {view.participant_id} is pruned through offset {pruned}. Ask with after={pruned} or more.",
            earliest_offset=pruned,
        )
    for span in missing:
        if span.start < pruned:
            _commit_gap(net, replace(span, stop=min(span.stop, pruned)))


def _commit_gap(net: Network, lost: OffsetRange) -> None:
    logger.warning("%s: %s was pruned before it could be read; it stays a gap", net.name, lost)
    net.store.commit(LEDGER, lost, {}, final=True, gap=True, source="")


# -- chains of pages ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading:
    """One sync under way: what its threads share."""

    net: Network
    view: LedgerView
    descending: bool
    bar: Progress
    stop: threading.Event

    def read(self, piece: OffsetRange, page_size: int) -> None:
        """Read one piece; a page size that is refused is halved, and what pruning overtakes becomes a gap."""
        rest: list[OffsetRange] = [piece]
        while rest and not self.stop.is_set():
            before = rest
            try:
                self._read_chain(rest[0], page_size)
            except InvalidPageTokenError:
                logger.info("%s has forgotten the page token; beginning a new chain", self.net.name)
                if self.net.store.missing_offsets(LEDGER, piece) == before:
                    raise
            except InvalidRequestError as error:
                if page_size == 1 or "size" not in error.detail.lower():
                    raise
                page_size = max(1, page_size // 2)
                logger.warning("%s refused the page size (%s); trying %d", self.net.name, error.detail, page_size)
            except PrunedOffsetError:
                self._record_gap(self.net.store.missing_offsets(LEDGER, piece)[0])
            rest = self.net.store.missing_offsets(LEDGER, piece)

    def _record_gap(self, overtaken: OffsetRange) -> None:
        """What pruning has overtaken is a gap; asked for once more, because the error does not always say how far it went."""
        pruned = self.net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
        if pruned <= overtaken.start:
            raise DecodeError(
                f"{self.net.name} says that offset {overtaken.start} is pruned, and that it is pruned through {pruned}."
            )
        _commit_gap(self.net, replace(overtaken, stop=min(overtaken.stop, pruned)))

    def _read_chain(self, span: OffsetRange, page_size: int) -> None:
        gathered, known = Gathered(LEDGER.tables), replace(span, stop=span.start)
        if self.descending:
            known = replace(span, start=span.stop)
        host = ""
        try:
            for answer, page in _chain(self.net, self.view, span, page_size, self.descending):
                merge_with = _joined(known, page, span, self.descending)
                with pause_gc():
                    tables = ledger_tables(page.updates or [], self.view.participant_id, trees=self.view.shows_trees)
                gathered.add(_checked_bounds_of(tables, page))
                known, host = merge_with, answer.host  # only now: what cannot be decoded is not known
                if gathered.bytes >= SEGMENT_BYTES:
                    known = self._commit(known, gathered.take(descending=self.descending), host)
                if self.stop.is_set():
                    break
        finally:
            # Whatever ends the chain, the pages that came are kept.
            if known.start < known.stop:
                self._commit(known, gathered.take(descending=self.descending), host)

    def _commit(self, known: OffsetRange, tables: dict[str, pa.Table], host: str) -> OffsetRange:
        """Commit what is known, and give the empty span where the next page joins."""
        self.net.store.commit(LEDGER, known, tables, final=True, source=host)
        self.bar.advance(known.stop - known.start)
        return replace(known, stop=known.start) if self.descending else replace(known, start=known.stop)


def _checked_bounds_of(tables: dict[str, pa.Table], page: UpdatesPage) -> dict[str, pa.Table]:
    """The tables of a page, whose updates must lie inside its bounds."""
    offsets = pc.min_max(tables["ledger_updates"]["offset"]).as_py()
    start, stop = page.lowest_page_offset_exclusive, page.highest_page_offset_inclusive
    if offsets["min"] is not None and not start < offsets["min"] <= offsets["max"] <= stop:
        raise DecodeError(
            f"A page of updates covers offsets {start} < … <= {stop}, but holds {offsets['min']} to {offsets['max']}.",
            json_path="$.updates[...].offset",
        )
    return tables


def _joined(known: OffsetRange, page: UpdatesPage, span: OffsetRange, descending: bool) -> OffsetRange:
    """What is known with one more page, whose bounds must join those of the page before (docs/facts.md#update-page-response)."""
    start = max(page.lowest_page_offset_exclusive, span.start)
    stop = min(page.highest_page_offset_inclusive, span.stop)
    edge, expected = (stop, known.start) if descending else (start, known.stop)
    if edge != expected or start > stop:
        bound = "highestPageOffsetInclusive" if descending else "lowestPageOffsetExclusive"
        raise DecodeError(
            f"A page of updates covers offsets {start} < … <= {stop}, which does not join {expected}.", json_path=f"$.{bound}"
        )
    return replace(known, start=start) if descending else replace(known, stop=stop)


def _chain(
    net: Network, view: LedgerView, span: OffsetRange, page_size: int, descending: bool
) -> Iterator[tuple[Response, UpdatesPage]]:
    """The pages of one span: the first without a token, each further one with the last and otherwise the same request."""
    request: dict[str, Any] = {
        "updateFormat": view.update_format.as_json(),
        "beginOffsetExclusive": span.start,
        "endOffsetInclusive": span.stop,
        "maxPageSize": page_size,
        "descendingOrder": descending,
    }
    while True:
        answer = net.ledger.get_updates_page(request)
        page = decode_page(answer.body)
        yield answer, page
        if not page.next_page_token:
            return
        request = {**request, "pageToken": page.next_page_token}


# -- the tail -------------------------------------------------------------------------------------------------------


def follow(net: Network, view: LedgerView, after: int, poll_seconds: float, stop: threading.Event) -> int:
    """Read what the ledger adds, until told to stop; every page is committed before the next is asked for.

    Parameters
    ----------
    net : Network
    view : LedgerView
    after : int
        Everything through this offset is in the store.
    poll_seconds : float
        Pause when there is nothing new.
    stop : threading.Event
        Set to end after the page under way.

    Returns
    -------
    int
        Everything through this offset is in the store now.
    """
    token, reached = None, after
    request = _tail_request(net, view, after)
    while not stop.is_set():
        try:
            answer = net.ledger.get_updates_page({**request, "pageToken": token} if token else request)
        except InvalidPageTokenError:
            token, request = None, _tail_request(net, view, after)  # the service has forgotten it: begin a new chain
            stop.wait(poll_seconds)
            continue
        page = decode_page(answer.body)
        token, reached = page.next_page_token, max(reached, page.highest_page_offset_inclusive)
        if page.updates and after < reached:
            tables = _checked_bounds_of(ledger_tables(page.updates, view.participant_id, trees=view.shows_trees), page)
            net.store.commit(LEDGER, view.span(after, reached), tables, final=True, source=answer.host)
            after = reached
        else:
            stop.wait(poll_seconds)
        if not token:
            request = _tail_request(net, view, reached)
    if after < reached:
        net.store.commit(LEDGER, view.span(after, reached), {}, final=True, source=answer.host)
    return reached


def _tail_request(net: Network, view: LedgerView, after: int) -> dict[str, Any]:
    """A request without an end: its chain never ends (docs/facts.md#open-ended-pages)."""
    return {
        "updateFormat": view.update_format.as_json(),
        "beginOffsetExclusive": after,
        "maxPageSize": net.settings.limits.page_size,
        "descendingOrder": False,
    }
