"""One bulk object: downloaded, checked, and written as a segment. Runs in a worker."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from ledgerframes.datasets.bulk.build import ActiveContractTableBuilder
from ledgerframes.datasets.bulk.expand import LineBatch, iter_line_batches, verify_zstd_frames
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.bulk.schema import BULK_OBJECTS
from ledgerframes.datasets.bulk.wire import ActiveContract
from ledgerframes.datasets.events.build import UPDATE_TABLES, EventTableBuilder
from ledgerframes.datasets.events.wire import Event, Update
from ledgerframes.datasets.registry import BULK, BULK_ACS, BULK_ACS_BY_KEY, BULK_BY_KEY, Dataset
from ledgerframes.errors import DecodeError, IntegrityError
from ledgerframes.extents import EPOCH, from_microseconds, microseconds
from ledgerframes.gc_pause import pause_gc
from ledgerframes.loaders.gathering import SEGMENT_BYTES, Beside, return_memory
from ledgerframes.loaders.listing import Position, places
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.store.location import not_writable_error
from ledgerframes.store.segments import SegmentWriter
from ledgerframes.store.store import new_segment, new_segment_id
from ledgerframes.windows import MICROSECOND

__all__ = ["BulkTask", "read_object", "stream_of"]

logger = logging.getLogger("ledgerframes")

EMPTY = hashlib.sha256(
    b""
).hexdigest()  # listed for good objects after a race in the service (docs/facts.md#digest-of-empty-bytes)
LEAST_LIMIT = 64_000_000  # bytes that any object may expand to
LEFT_BEHIND = 86_400  # seconds without a change, after which nobody is at a download any more
FILE = "file"
PART = ".part"


@dataclass(frozen=True)
class BulkTask:
    """An object to read.

    Attributes
    ----------
    object_key : str
        Its key, or the digest of a file whose name is none.
    key : ObjectKey or None
    kind : str
        ``updates`` or ``acs``.
    path : str or None
        The file it is in, if it is on the disk already.
    sha256 : str or None
        The digest that was listed, as hexadecimal digits.
    keep : str or None
        Folder in which the downloaded object is kept.
    by_key : bool
        Whether it was named, rather than listed for a range.
    """

    object_key: str
    key: ObjectKey | None
    kind: str
    path: str | None = None
    sha256: str | None = None
    keep: str | None = None
    by_key: bool = False

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path or self.object_key


def stream_of(kind: str, *, by_key: bool) -> Dataset:
    """Where objects of a kind are stored: those that were named are kept apart, because they may hold the same lines."""
    if kind == "updates":
        return BULK_BY_KEY if by_key else BULK
    return BULK_ACS_BY_KEY if by_key else BULK_ACS


def read_object(net: Network, task: BulkTask, *, beside: bool = False) -> Segment:
    """Read one object, and write its tables to the store; the segment counts when the caller has committed it.

    Parameters
    ----------
    net : Network
    task : BulkTask
    beside : bool
        Expand the next block and write the last one in threads beside this one: faster where cores are idle.

    Raises
    ------
    IntegrityError
        If the object is not what was listed, was cut off, is damaged, too large, or holds something else.
    NotFoundError, TransportError, ServiceError
        If it cannot be downloaded.
    """
    with _on_disk(net, task) as stored, stored.path.open("rb") as file:
        verify_zstd_frames(file, task.name)
        file.seek(0)
        most = max(LEAST_LIMIT, int(stored.bytes * net.settings.limits.max_decompression_ratio))
        return _Reading(net, task, stored, beside).segment(iter_line_batches(file, task.name, most))


def _sweep(net: Network) -> None:
    """Take away downloads that a killed run has left behind."""
    long_ago = time.time() - LEFT_BEHIND
    for part in _downloads(net).glob(f"*{PART}"):
        with suppress(FileNotFoundError):  # another process sweeps, too
            if part.stat().st_mtime < long_ago:
                part.unlink()


def _downloads(net: Network) -> Path:
    return net.local_dir / "downloads"


@dataclass(frozen=True)
class _Stored:
    """An object on the disk: where, its size, its digest, what that was compared with, and where it came from."""

    path: Path
    bytes: int
    sha256: str
    digest_status: str
    source: str


@contextmanager
def _on_disk(net: Network, task: BulkTask) -> Iterator[_Stored]:
    """The object as a file: the one given, or a download, which goes when it was read."""
    if task.path is not None:
        path = Path(task.path)
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise IntegrityError(f"{path} cannot be read ({error}).", path=str(path)) from error
        yield _Stored(path, path.stat().st_size, digest, _checked(task, digest, path.stat().st_size), FILE)
        return
    _sweep(net)
    folder = _downloads(net) if task.keep is None else Path(task.keep)
    part = folder / f"{new_segment_id()}{PART}"
    try:
        yield _downloaded(net, task, part)
    finally:
        with suppress(OSError):  # of a folder that is none
            part.unlink()


def _downloaded(net: Network, task: BulkTask, part: Path) -> _Stored:
    folder = part.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        download = net.history.bulk_download(task.object_key, part)
        checked = _checked(task, download.sha256, download.bytes)
        path = part if task.keep is None or task.key is None else part.replace(folder / quote(task.key.key, safe="~:"))
    except OSError as error:
        raise not_writable_error(folder, error) from error
    return _Stored(path, download.bytes, download.sha256, checked, download.host)


def _checked(task: BulkTask, digest: str, size: int) -> str:
    if task.sha256 is None:
        return "unknown"
    if task.sha256 == EMPTY and size:
        logger.warning("%s is listed with the digest of nothing, a known fault of the service; it is read", task.object_key)
        return "empty_digest"
    if task.sha256 != digest:
        raise IntegrityError(
            f"{task.object_key} has the digest {digest[:12]}…, but {task.sha256[:12]}… is listed. Get it again.",
            path=task.object_key,
        )
    return "matched"


class _Reading:
    """One object on its way into the store."""

    def __init__(self, net: Network, task: BulkTask, stored: _Stored, beside: bool) -> None:
        self._net = net
        self._task = task
        self._stored = stored
        self._beside = beside
        self._stream = stream_of(task.kind, by_key=task.by_key)
        self._lines = self._expanded = 0
        self._first: Position | None = None
        self._last: Position | None = None
        self._times: tuple[int, int] | None = None

    def segment(self, blocks: Iterator[LineBatch]) -> Segment:
        """Write the tables of all blocks, and say what was written."""
        segment_id = new_segment_id()
        with SegmentWriter(self._net.store.location, _file_name(self._task, segment_id)) as writer:
            with Beside(self._beside) as beside:
                rows = self._no_rows()
                for block in beside.ahead(blocks):
                    self._add(rows, block)
                    if rows.bytes >= SEGMENT_BYTES:
                        beside.behind(writer.write, self._tables(rows))
                        rows = self._no_rows()
                beside.behind(writer.write, self._tables(rows))
            writer.write({BULK_OBJECTS.name: self._row()})
            files = writer.close()
        return new_segment(segment_id, self._stream, self._extent(), files, status="final", source=self._stored.source)

    def _no_rows(self) -> EventTableBuilder | ActiveContractTableBuilder:
        return (
            ActiveContractTableBuilder(self._key.since) if self._task.kind == "acs" else EventTableBuilder("bulk", UPDATE_TABLES)
        )

    def _add(self, rows: EventTableBuilder | ActiveContractTableBuilder, block: LineBatch) -> None:
        name, first_line = self._task.name, self._lines + 1
        self._expanded = block.uncompressed_bytes
        with self._foreign_named(), pause_gc():
            if isinstance(rows, ActiveContractTableBuilder):
                contracts = decode_lines(block.lines, ActiveContract, name, first_line)
                self._lines += len(contracts)
                rows.add(contracts)
            else:
                updates = decode_lines(block.lines, Update, name, first_line)
                self._lines += len(updates)
                events = [Event(update=update) for update in updates]
                self._note(events)
                rows.add(events)

    def _tables(self, rows: EventTableBuilder | ActiveContractTableBuilder) -> dict[str, pa.Table]:
        return_memory()
        with self._foreign_named():
            return rows.tables()

    @contextmanager
    def _foreign_named(self) -> Iterator[None]:
        """What cannot be decoded is an error of the object."""
        try:
            yield
        except DecodeError as error:
            raise IntegrityError(
                f"{self._task.name} holds something else than {self._task.kind}: {error}", path=self._task.object_key
            ) from error

    def _note(self, events: list[Event]) -> None:
        """Keep where the lines begin and end; each block goes on where the one before ended."""
        found = places(events)
        if not found:
            return
        first, last = min(found), max(found)
        if self._last is not None and first < self._last:
            raise IntegrityError(
                f"The lines of {self._task.name} are not in order: "
                f"{from_microseconds(first[1])} after {from_microseconds(self._last[1])}. Leave it out.",
                path=self._task.object_key,
            )
        self._first, self._last = self._first or first, last
        times = [time for _, time in found]
        earliest, latest = self._times or (times[0], times[0])
        self._times = min(earliest, *times), max(latest, *times)

    @property
    def _key(self) -> ObjectKey:
        assert self._task.key is not None
        return self._task.key

    def _extent(self) -> ObjectSet:
        keys = frozenset({self._task.object_key})
        if self._task.kind == "acs":
            return ObjectSet(keys, (0, 0), microseconds(self._key.since), microseconds(self._key.since) + 1)
        if self._first is None or self._last is None or self._times is None:
            start, stop = (self._key.since, self._key.until) if self._task.key else (EPOCH, EPOCH + MICROSECOND)
            return ObjectSet(keys, ANY_MIGRATION, microseconds(start), microseconds(stop))
        return ObjectSet(keys, (self._first[0], self._last[0]), self._times[0], self._times[1] + 1)

    def _row(self) -> pa.Table:
        """What is known of the object now, as a row of bulk_objects."""
        key, first, last = self._task.key, self._first or (None, None), self._last or (None, None)
        values = {
            "object_key": self._task.object_key,
            "kind": self._task.kind,
            "encoding": key and key.encoding,
            "since": key and key.since,
            "until": key and key.until,
            "object_index": key and key.index,
            "bytes": self._stored.bytes,
            "uncompressed_bytes": self._expanded,
            "lines": self._lines,
            "sha256": self._stored.sha256,
            "digest_status": self._stored.digest_status,
            "first_record_time": first[1],
            "last_record_time": last[1],
            "first_migration_id": first[0],
            "last_migration_id": last[0],
            "source": self._stored.source,
            "fetched_at": datetime.now(UTC),
        }
        return BULK_OBJECTS.from_arrays(
            {column.name: pa.array([values[column.name]], column.type) for column in BULK_OBJECTS.columns}
        )


def _file_name(task: BulkTask, segment_id: str) -> str:
    """Made of numbers: a key is text from the network."""
    if task.key is None:
        return f"object_{segment_id[:12]}"
    return f"object_{task.key.since:%Y%m%dT%H%M%SZ}_{task.key.index}_{segment_id[:12]}"
