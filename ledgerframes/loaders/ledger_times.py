"""Offsets of a participant's ledger by record time, for which its API has no operation.

On one synchronizer, record times ascend with offsets, so a few pages of one update each find the offset of a time. Between
several synchronizers, the order can differ slightly (docs/facts.md#record-times-and-offsets).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import CoverageError, UnsupportedOperationError
from ledgerframes.frames import Frames
from ledgerframes.loaders.ledger_filter import LedgerFilter, pruned_through
from ledgerframes.loaders.ledger_pages import DecodedPage, OffsetReader
from ledgerframes.loaders.update_lists import lists_instead
from ledgerframes.network import Network
from ledgerframes.values.extents import OffsetRange
from ledgerframes.values.windows import Window, iso

MARGIN = timedelta(minutes=10)  # loaded on both sides of a window, for updates whose order by time is not that of their offsets


def find_offsets(reader: OffsetReader, window: Window, end: int) -> OffsetRange:
    """Return the offsets of a window in a ledger that ends at an offset.

    This takes about 50 requests for one update each. The range also includes one update before and one after the window,
    which later prove that the store has the whole window. If there is none before, it begins at 0, so that pruned offsets are
    named as a gap.
    """
    reader = replace(reader, descending=False)
    pruned = pruned_through(reader.net)
    since, until = _with_margin(window)
    earlier, _ = _neighbors(reader, since, pruned, end)
    _, later = _neighbors(reader, until, earlier or pruned, end)
    return reader.ledger_filter.offset_range(earlier - 1 if earlier else 0, later or end)


def _with_margin(window: Window) -> tuple[datetime, datetime]:
    """Return the bounds of a window with its margin.

    They end where the calendar does.
    """
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return max(window.since, first + MARGIN) - MARGIN, min(window.until, last - MARGIN) + MARGIN


def _neighbors(reader: OffsetReader, time: datetime, after: int, through: int) -> tuple[int | None, int | None]:
    """Return the offsets of the last update before a time and of the next update.

    Each is None if a range of offsets has no such update.
    """
    earlier = later = None
    while after < through:
        middle = (after + through) // 2
        update = _next_update(reader, middle, through)
        if update is None:
            through = middle
        elif update[1] < time:
            earlier = after = update[0]
        else:
            later, through = update[0], middle
    return earlier, later


def _next_update(reader: OffsetReader, after: int, through: int) -> tuple[int, datetime] | None:
    """Return offset and record time of the first update in a range of offsets.

    Updates that cannot be decoded do not count.
    """
    if after < through:
        for _, _, tables, _ in _iter_small_pages(reader, reader.ledger_filter.offset_range(after, through)):
            for row in tables["ledger_updates"].select(["offset", "record_time"]).to_pylist():
                return row["offset"], row["record_time"]
    return None


def _iter_small_pages(reader: OffsetReader, offsets: OffsetRange) -> Iterator[DecodedPage]:
    """Yield pages of one update, or lists if the participant has no pages."""
    try:
        yield from reader.iter_pages(offsets, 1)
    except UnsupportedOperationError as error:
        yield from reader.iter_pages(offsets, 1, lists_instead(reader.net.ledger, error))


def stored_offsets(net: Network, ledger_filter: LedgerFilter, window: Window, end: int) -> OffsetRange:
    """Return the offsets of a window in the store, which ends at an offset.

    Raises
    ------
    CoverageError
        If the store has no update at or after the end of the window, so that more of the window can be missing.
    """
    snapshot = net.store.snapshot(LEDGER, ledger_filter.offset_range(0, end))
    rows = Frames(snapshot, ["ledger_updates"], offsets=(0, end)).scan("ledger_updates").to_table(["offset", "record_time"])
    offsets, times = rows["offset"], rows["record_time"]
    since, until = _with_margin(window)
    later = offsets.filter(pc.greater_equal(times, pa.scalar(until, times.type)))
    if not len(later):
        raise CoverageError(
            f"{net.name} is offline, and the store has no update {MARGIN} after {iso(window.until)} to show that the window is "
            "complete. Choose an earlier until=, or reconnect without offline=True.",
            missing=(str(window),),
        )
    earlier = offsets.filter(pc.less(times, pa.scalar(since, times.type)))
    after = pc.max(earlier).as_py() or 0
    return ledger_filter.offset_range(after, max(after, pc.min(later).as_py() - 1))


def require_order(frames: Frames) -> None:
    """Raise CoverageError if updates of a window can lie outside its offsets.

    This happens if the order of record times differs too much from that of offsets.
    """
    times = frames.scan("ledger_updates").to_table(["offset", "record_time"]).sort_by("offset")["record_time"].cast(pa.int64())
    delay = pc.max(pc.subtract(pc.cumulative_max(times), times)).as_py() if len(times) else 0
    if timedelta(microseconds=delay) > MARGIN:
        raise CoverageError(
            f"Record times of {frames.network} differ from the order of offsets by {timedelta(microseconds=delay)}, "
            "so that updates of the window can be missing. Pass after= and through= instead of times.",
        )
