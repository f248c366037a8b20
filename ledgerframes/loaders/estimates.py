"""Estimates of requests, rows, bytes and minutes, from the density of stored data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from math import ceil

from ledgerframes.api.transport import host_of
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.values.extents import MigrationWindow, OffsetRange, microseconds

TOLERANCE = Fraction(11, 10)  # a rate this close to the maximum counts as the maximum
ITEM_TABLES = ("verdicts", "updates", "ledger_updates")  # each item of a page is a row of one of them


def with_estimates(net: Network, dataset: str, rows: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return rows of table ``plan`` with the estimated cost of fetching each extent.

    Rows without a window or an offset range have no estimate. No row has one while nothing of the dataset is stored. The
    ``minutes`` are also missing if the request rate of the host is unknown and has no limit. A migration has hardly any rows
    after the next one begins, and its last page is enough to show that they are complete.
    """
    ends = {before.migration_id: after.first for before, after in pairwise(net.store.migrations())}
    items, stored_rows, size = _density((each for each in net.store.all_segments() if each.dataset == dataset), ends)
    seconds, rate = _request_interval(net, net.settings.ledger_url if dataset == LEDGER.name else net.settings.history_url)
    items_per_page = max(1, net.settings.limits.page_size - 1)  # a page of events repeats the last record time of the page before

    def costs(length: int | None) -> dict[str, object]:
        if length is None or not stored_rows:
            return {}
        requests = ceil(length * items / items_per_page) + 1  # the last page is not full
        time = {"minutes": ceil(requests * seconds / 60), "request_rate": rate} if seconds else {}
        return {"requests": requests, "rows": ceil(length * stored_rows), "bytes": ceil(length * size), **time}

    return [{**row, **costs(_length(row, ends))} for row in rows]


def _density(segments: Iterable[Segment], ends: Mapping[int, int]) -> tuple[Fraction, Fraction, Fraction]:
    """Return items, rows and bytes per microsecond or offset that the segments cover."""
    length = items = rows = size = 0
    for segment in segments:
        if isinstance(segment.extent, MigrationWindow | OffsetRange) and segment.status != "gap":
            length += _length(segment.extent.coverage(), ends) or 0
            items += max((segment.files[name].rows for name in ITEM_TABLES if name in segment.files), default=0)
            rows, size = rows + segment.rows, size + segment.bytes
    return Fraction(items, length or 1), Fraction(rows, length or 1), Fraction(size, length or 1)


def _request_interval(net: Network, urls: Sequence[str]) -> tuple[Fraction, str]:
    """Return the seconds per request, or 0 if they are unknown, and what they rest on."""
    per_second = Fraction(net.settings.limits.requests_per_second)
    at_least = 1 / per_second if per_second else Fraction(0)
    known = Fraction(net.mean_interval(urls[0])) if urls and (per_second or not net.in_process) else Fraction(0)
    if known > at_least * TOLERANCE:
        return known, f"the {float(1 / known):.3g} requests per second of {host_of(urls[0])} so far"
    return at_least, f"the maximum of {float(per_second):g} requests per second" if per_second else ""


def _length(row: Mapping[str, object], ends: Mapping[int, int]) -> int | None:
    """Return the length of a window in microseconds, or of a range of offsets.

    A window ends where the next migration begins.
    """
    since, until, after, through = (row.get(name) for name in ("since", "until", "after", "through"))
    if isinstance(since, datetime) and isinstance(until, datetime):
        migration_id = row.get("migration_id")
        end = ends.get(migration_id) if isinstance(migration_id, int) else None
        stop = microseconds(until) if end is None else min(microseconds(until), end)
        return max(0, stop - microseconds(since))
    return through - after if isinstance(after, int) and isinstance(through, int) else None
