"""``load_updates``, a participant's ledger by time or offset."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

from ledgerframes.api.ledger_checks import require_page_size
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import PrunedOffsetError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.loaders.buffering import NO_TIMEOUT
from ledgerframes.loaders.ledger_filter import LedgerFilter, open_ledger, pruned_through
from ledgerframes.loaders.ledger_pages import OffsetReader, follow, gap
from ledgerframes.loaders.ledger_times import find_offsets, require_order, stored_offsets
from ledgerframes.loaders.sync import Loader, load, require_coverage
from ledgerframes.network import Network
from ledgerframes.values.checks import is_number, require_integer
from ledgerframes.values.extents import OffsetRange
from ledgerframes.values.windows import Time, Window, window

__all__ = ["load_updates"]

PAGES_PER_CHUNK = 4  # a range of fewer pages is not split
MAX_WORKER_CHUNKS = 64  # of a range, because offsets may be sparse; a whole chunk is fetched again if its worker dies


class LedgerLoader(Loader[OffsetRange]):
    """Loads a range of offsets through one filter."""

    dataset, noun, unit = LEDGER, "updates", "offsets"

    def __init__(
        self,
        net: Network,
        ledger_filter: LedgerFilter,
        offsets: OffsetRange,
        *,
        explicit: bool,  # the caller chose the lower bound, so that pruned offsets are an error instead of a gap
        page_size: int | None = None,
        descending: bool = False,
        on_bad_item: OnBadItem = "raise",
    ) -> None:
        self.net, self.ledger_filter, self.offsets = net, ledger_filter, offsets
        self.explicit, self.descending, self.on_bad_item = explicit, descending, on_bad_item
        self.window: Window | None = None
        self.page_size = require_page_size(page_size, "page_size") or net.settings.limits.page_size
        self.threads = net.settings.limits.max_concurrency

    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return the missing offset ranges."""
        missing = self.net.store.missing_parts(LEDGER, self.offsets, accept_provisional=accept_provisional)
        return {str(each): each.coverage() for each in missing}

    def count_text(self, count: int) -> str:
        """Return the number of missing offset ranges."""
        return f"{count:,} offset ranges are" if count > 1 else "an offset range is"

    def chunks(self, *, distributed: bool) -> list[OffsetRange]:
        """Return the missing offsets, after committing pruned offsets as a gap."""
        if missing := self.net.store.missing_parts(LEDGER, self.offsets):
            self._commit_gaps(missing)
        limit = MAX_WORKER_CHUNKS if distributed else self.threads
        length = self.page_size * PAGES_PER_CHUNK
        rest = self.net.store.missing_parts(LEDGER, self.offsets)
        return [chunk for each in rest for chunk in each.split(max(1, min(limit, (each.stop - each.start) // length)))]

    def _commit_gaps(self, missing: list[OffsetRange]) -> None:
        pruned = pruned_through(self.net)
        if self.explicit and missing[0].start < pruned:
            raise PrunedOffsetError(
                f"The ledger of {self.ledger_filter.participant_id} is pruned through offset {pruned}. "
                f"Pass after={pruned} or a later offset, or leave out after= to load what is left.",
                earliest_offset=pruned,
            )
        for each in missing:
            if each.start < pruned:
                batch = gap(self.net, replace(each, stop=min(each.stop, pruned)))
                self.net.store.commit(LEDGER, batch.extent, {}, final=True, gap=True, source=batch.source)

    def limit_to(self, window: Window) -> None:
        """Limit the offsets to those of a window."""
        self.window = window
        if self.net.offline:
            self.offsets = stored_offsets(self.net, self.ledger_filter, window, self.offsets.stop)
        else:
            self.offsets = find_offsets(self.reader, window, self.offsets.stop)

    def size(self, chunk: OffsetRange) -> float:
        """Return the number of offsets."""
        return chunk.stop - chunk.start

    @property
    def reader(self) -> OffsetReader:
        """Function that reads the pages of one chunk."""
        return OffsetReader(self.net, self.ledger_filter, self.page_size, self.descending, self.on_bad_item)

    def frames(self) -> Frames:
        """Return frames of the offsets."""
        return Frames(
            self.net.store.snapshot(LEDGER, self.offsets),
            [table.name for table in LEDGER.tables],
            offsets=(self.offsets.start, self.offsets.stop),
            population=LEDGER.population,
            engine=self.net.settings.engine,
        )


def _ledger_loader(
    net: Network,
    *,
    since: Time | None,
    until: Time | None,
    during: str | None,
    after: int | None,
    through: int | None,
    parties: Sequence[str] | Literal["any"] | None,
    templates: Sequence[str],
    interfaces: Sequence[str],
    include_blobs: bool,
    include_topology: bool | Sequence[str],
    shape: Literal["acs_delta", "ledger_effects"],
    descending: bool,
    page_size: int | None,
    on_bad_item: OnBadItem,
    follow: bool,
    poll_seconds: float,
    bind: bool = False,
) -> LedgerLoader:
    """Return the load of a window or of offsets.

    With ``bind``, a store without a ledger is bound to this one, which a plan must not do.
    """
    times = window(net.now(), since, until, during) if (since, until, during) != (None, None, None) else None
    if times and (after, through) != (None, None):
        raise UsageError("since=, until= and during= cannot be combined with after= or through=. Pass times or offsets.")
    if not is_number(poll_seconds, 0, threading.TIMEOUT_MAX) or poll_seconds == 0:
        raise UsageError(f"poll_seconds= must be a number above 0, got {poll_seconds!r}.")
    if follow and (not bind or times or through is not None or descending):
        raise UsageError("follow=True cannot be combined with lf.plan, a window, through= or descending=.")
    wanted_format = update_format(
        parties=parties,
        templates=templates,
        interfaces=interfaces,
        blobs=include_blobs,
        shape=shape,
        topology=include_topology,
    )
    ledger_filter = open_ledger(net, wanted_format, bind=bind)
    ledger = LedgerLoader(
        net,
        ledger_filter,
        _offset_range(net, ledger_filter, after, through),
        explicit=after is not None,
        page_size=page_size,
        descending=descending,
        on_bad_item=on_bad_item,
    )
    if times:
        ledger.limit_to(times)
    return ledger


def _offset_range(net: Network, ledger_filter: LedgerFilter, after: int | None, through: int | None) -> OffsetRange:
    """Return the offsets to load, up to the end of the ledger, or of the store if offline."""
    start = 0 if after is None else require_integer("after", after, 0)
    through = None if through is None else require_integer("through", through, 0)
    end = net.store.max_position(LEDGER, ledger_filter.partition) if net.offline else net.ledger.ledger_end()
    if net.offline:
        require_coverage(net, "the offsets of this filter are", [] if end else ["offsets"])
    stop = end if through is None else through
    if stop > end and not net.offline:
        raise UsageError(f"through= must be at most the ledger's end {end}, got {stop}.")
    if start > stop:
        raise UsageError(f"after= must be at most {stop}, which is through= or the ledger's end, got {start}.")
    return ledger_filter.offset_range(start, stop)


@loader(_ledger_loader)
def load_updates(
    net: Network,
    *,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    after: int | None = None,
    through: int | None = None,
    parties: Sequence[str] | Literal["any"] | None = None,
    templates: Sequence[str] = (),
    interfaces: Sequence[str] = (),
    include_blobs: bool = False,
    include_topology: bool | Sequence[str] = True,
    shape: Literal["acs_delta", "ledger_effects"] = "acs_delta",
    descending: bool = False,
    page_size: int | None = None,
    on_bad_item: OnBadItem = "raise",
    follow: bool = False,
    poll_seconds: float = 5.0,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Frames:
    """Load a participant's ledger, fetching the offsets not yet in the store.

    Parameters
    ----------
    net : Network
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC; ``until`` defaults to now. By default the whole ledger. About 50 requests for
        one update each find the offsets of the window. Ten minutes on both sides are also loaded, because several
        synchronizers can differ (docs/facts.md#record-times-and-offsets).
    during : str, optional
        A date word instead, such as ``yesterday``.
    after, through : int, optional
        Offsets with ``after < offset <= through`` instead.
    parties : sequence of str, or "any", optional
        Parties whose updates to load (default: any party of the participant, which needs the right to read as any).
    templates, interfaces : sequence of str
        Only contracts of these, such as ``#package-name:Module:Entity`` (default: all).
    include_blobs : bool
        Include created-event blobs, several kB per row.
    include_topology : bool or sequence of str
        Include all topology transactions, or only those of these parties.
    shape : {"acs_delta", "ledger_effects"}
        Load creates and archives that change the active contracts, or all creates and exercises with their tree.
    descending : bool
        Read backwards from the end. The frames are the same.
    page_size : int, optional
        Updates per page (default: that of the profile).
    on_bad_item : {"raise", "quarantine"}
        What to do with an update that cannot be decoded, as for :func:`load_events`.
    follow : bool
        Continue with what the ledger appends, until interrupted. The next load resumes there.
    poll_seconds : float
        Seconds to wait after a page without updates, with ``follow``.
    executor : concurrent.futures.Executor, optional
        Fetches the chunks, for example on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
        must reach the network and the store. Only the caller commits. Workers on one machine share the request
        rate of a host, but no other limits.
        By default threads of this process.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    Frames
        ``ledger_updates``, ``ledger_events``, ``ledger_reassignments`` and ``ledger_topology``, sorted by offset.

    Raises
    ------
    UsageError
        If the window, the offsets or the filters are invalid.
    PrunedOffsetError
        If offsets from ``after`` on were pruned before they were loaded. Without ``after``, or if the store already has them
        as a gap, they are a gap in ``frames.coverage``.
    StoreError
        If a participant other than the one in the store responds, or its ledger was reset.
    CoverageError
        If the network is offline and the store does not cover the load, or the order of record times differs so much from that
        of offsets that updates of the window can be missing.

    Notes
    -----
    Source: POST /v2/updates/get-updates-page, docs/facts.md#update-pages; before ledger API 3.5 the list operation
    (docs/facts.md#updates-before-3-5). Both return committed updates only, so they never show rejections
    (docs/facts.md#survivorship).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_updates(net, through=500, shape="ledger_effects")
    >>> frames.tables
    ('ledger_updates', 'ledger_events', 'ledger_reassignments', 'ledger_topology')
    """
    ledger = _ledger_loader(
        net,
        since=since,
        until=until,
        during=during,
        after=after,
        through=through,
        parties=parties,
        templates=templates,
        interfaces=interfaces,
        include_blobs=include_blobs,
        include_topology=include_topology,
        shape=shape,
        descending=descending,
        page_size=page_size,
        on_bad_item=on_bad_item,
        follow=follow,
        poll_seconds=poll_seconds,
        bind=True,
    )
    frames = load(ledger, executor=executor, progress=progress)
    if ledger.window:
        require_order(frames)
        return frames.between(ledger.window.since, ledger.window.until)
    if not follow:
        return frames
    ledger.offsets = replace(ledger.offsets, stop=_follow_until_interrupted(ledger, poll_seconds))
    return load(ledger, executor=executor, progress=progress)


def _follow_until_interrupted(ledger: LedgerLoader, poll_seconds: float) -> int:
    """Follow the ledger until Ctrl-C, and return the last committed offset."""
    stop = threading.Event()
    with ledger.net.waits.session(lambda text: False, stop), ThreadPoolExecutor(1) as pool:
        try:
            reached = pool.submit(follow, ledger.reader, ledger.offsets.stop, poll_seconds, stop)
            try:
                return reached.result(NO_TIMEOUT)
            except KeyboardInterrupt:
                stop.set()
                return reached.result(NO_TIMEOUT)
        finally:
            stop.set()
