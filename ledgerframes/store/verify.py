"""Whether the files of the committed segments are what the catalog promises."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.segments import SegmentFile
from ledgerframes.store.store import Store

__all__ = ["Finding", "verify"]

READERS = 4  # files looked at side by side

MISSING = "missing"
UNREADABLE = "unreadable"
OTHER_SIZE = "size differs"
OTHER_DIGEST = "digest differs"
OTHER_ROWS = "row count differs"


@dataclass(frozen=True)
class Finding:
    """A file that is not what the catalog promises.

    Attributes
    ----------
    segment : Segment
        The piece that it belongs to.
    table : str
    path : str
        Below the network's folder.
    problem : str
        ``missing``, ``unreadable``, ``size differs``, ``digest differs`` or ``row count differs``.
    """

    segment: Segment
    table: str
    path: str
    problem: str


def verify(store: Store, *, quick: bool = False) -> list[Finding]:
    """Compare every file of the committed segments with the size, the digest and the rows that the catalog promises.

    Parameters
    ----------
    store : Store
    quick : bool
        Read no whole file: only whether it is there, its size, and the number of rows that it says itself.

    Returns
    -------
    list of Finding
        One for each file that differs, in the order of the datasets and of their segments.

    Raises
    ------
    StoreError
        If the catalog cannot be read, or an object store does not answer.

    Notes
    -----
    Source: design, The store.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.store.verify import verify
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> verify(net.store)
    []
    """
    files = [(segment, file) for segment in store.every_segment() for file in segment.files.values()]
    with ThreadPoolExecutor(READERS) as pool:
        problems = list(pool.map(lambda each: problem_of(store.location, each[1], quick=quick), files))
    found = [
        Finding(segment, file.table, file.path, problem)
        for (segment, file), problem in zip(files, problems, strict=True)
        if problem
    ]
    # What was replaced meanwhile may be gone from the disk already.
    counting = {segment.segment_id for segment in store.every_segment()} if found else set()
    return [finding for finding in found if finding.segment.segment_id in counting]


def problem_of(place: Location, file: SegmentFile, *, quick: bool = False) -> str | None:
    """What is wrong with a file, or None.

    Raises
    ------
    StoreError
        If an object store does not answer, which says nothing about the file.
    """
    try:
        with place.asking(), place.read(file.path) as opened:
            return _difference(opened, file, quick)
    except FileNotFoundError:
        return MISSING
    except (pa.ArrowInvalid, OSError):
        return UNREADABLE


def _difference(opened: pa.NativeFile, file: SegmentFile, quick: bool) -> str | None:
    if opened.size() != file.bytes:
        return OTHER_SIZE
    if not quick and hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:
        return OTHER_DIGEST
    return None if pq.ParquetFile(opened).metadata.num_rows == file.rows else OTHER_ROWS
