"""Checks of committed files against the catalog."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.scan import READ_ERRORS
from ledgerframes.store.segments import SegmentFile, open_parquet, read_footer_digest
from ledgerframes.store.store import Store

__all__ = ["DamagedFile", "verify"]

THREADS = 4

MISSING = "missing"
UNREADABLE = "unreadable"
SIZE_MISMATCH = "size differs"
DIGEST_MISMATCH = "digest differs"
ROW_COUNT_MISMATCH = "row count differs"
OTHER_SCHEMA = "other schema"


@dataclass(frozen=True)
class DamagedFile:
    """A file that differs from its record in the catalog.

    Attributes
    ----------
    segment : Segment
        The segment that it belongs to.
    table : str
    path : str
        Path below the network's directory.
    problem : str
        ``missing``, ``unreadable``, ``size differs``, ``digest differs``, ``row count differs``, or ``other schema`` and why this
        version cannot read it.
    """

    segment: Segment
    table: str
    path: str
    problem: str


def verify(store: Store, *, quick: bool = False) -> list[DamagedFile]:
    """Compare every committed file with the catalog, and its schema with this version.

    Parameters
    ----------
    store : Store
    quick : bool, default False
        Check only that the file exists, its size, its footer, and the row count in it.

    Returns
    -------
    list of DamagedFile
        One for each file that differs; sorted by dataset and segment.

    Raises
    ------
    StoreError
        If the catalog cannot be read, or an object store does not respond.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.store.verify import verify
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> verify(net.store)
    []
    """
    files = [(segment, file) for segment in store.all_segments() for file in segment.files.values()]
    with ThreadPoolExecutor(THREADS) as pool:
        problems = list(pool.map(lambda each: check_file(store.location, each[1], quick=quick), files))
    unreadable = [each for dataset in store.datasets.values() for each in store.unreadable(dataset)]
    reasons = {each.segment.segment_id: f"{OTHER_SCHEMA}: {each.reason}" for each in unreadable}
    mismatches = [
        DamagedFile(segment, file.table, file.path, problem)
        for (segment, file), damage in zip(files, problems, strict=True)
        if (problem := damage or reasons.get(segment.segment_id))
    ]
    # Files of segments that another process has replaced since may be deleted already.
    committed = {segment.segment_id for segment in store.all_segments()} if mismatches else set()
    return [each for each in mismatches if each.segment.segment_id in committed]


def check_file(location: Location, file: SegmentFile, *, quick: bool = False) -> str | None:
    """Return what is wrong with a file, or None if it is intact."""
    try:
        with location.translate_errors(), location.read(file.path) as source:
            return _mismatch(source, file, quick)
    except FileNotFoundError:
        return MISSING
    except READ_ERRORS:
        return UNREADABLE


def _mismatch(source: pa.NativeFile, file: SegmentFile, quick: bool) -> str | None:
    if source.size() != file.bytes:
        return SIZE_MISMATCH
    if not quick and hashlib.file_digest(source, "sha256").hexdigest() != file.sha256:
        return DIGEST_MISMATCH
    if file.footer and (digest := read_footer_digest(source, file.bytes)) != file.footer:
        return DIGEST_MISMATCH if digest else UNREADABLE
    return None if open_parquet(source).metadata.num_rows == file.rows else ROW_COUNT_MISMATCH
