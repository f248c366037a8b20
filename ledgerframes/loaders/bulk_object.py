"""One bulk object, downloaded, verified and written as a segment by a worker."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pyarrow as pa

from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.bulk.build import ActiveContractTableBuilder
from ledgerframes.datasets.bulk.expand import LineBatch, iter_line_batches, verify_zstd_frames
from ledgerframes.datasets.bulk.extent import ANY_MIGRATION, ObjectSet
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.bulk.schema import BULK_OBJECTS
from ledgerframes.datasets.bulk.wire import EMPTY_DIGEST, ActiveContract
from ledgerframes.datasets.events.build import UPDATE_TABLES, EventTableBuilder
from ledgerframes.datasets.events.wire import Event, Update
from ledgerframes.datasets.registry import BULK, BULK_ACS, BULK_ACS_BY_KEY, BULK_BY_KEY, Dataset
from ledgerframes.errors import DecodeError, IntegrityError
from ledgerframes.loaders import buffering
from ledgerframes.loaders.bad_items import BadItem, OnBadItem, find_errors, settle
from ledgerframes.loaders.buffering import Pipeline
from ledgerframes.loaders.digest_files import save_digest
from ledgerframes.loaders.event_pages import Position, positions_of
from ledgerframes.loaders.sync import ChunkContext
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.store.location import digest_of, not_writable_error
from ledgerframes.store.private_files import make_durable_dir
from ledgerframes.store.segments import SegmentWriter
from ledgerframes.store.store import finish_segment, new_segment, new_segment_id
from ledgerframes.values.extents import EPOCH, from_microseconds, microseconds
from ledgerframes.values.windows import MICROSECOND

logger = logging.getLogger("ledgerframes")

BulkKind = Literal["updates", "acs"]
Builder = EventTableBuilder | ActiveContractTableBuilder
MIN_SIZE_LIMIT = 64_000_000  # bytes to which any object may decompress
STALE_AFTER = 86_400  # seconds without a change, after which a download has been abandoned
FILE = "file"
# Objects that the caller names are stored separately, because they may repeat the lines of others.
OBJECT_DATASETS: dict[tuple[BulkKind, bool], Dataset] = {
    ("updates", False): BULK,
    ("updates", True): BULK_BY_KEY,
    ("acs", False): BULK_ACS,
    ("acs", True): BULK_ACS_BY_KEY,
}
PARTIAL_SUFFIX = ".part"


@dataclass(frozen=True)
class BulkTask:
    """An object to read."""

    object_key: str  # its key, or the digest of a file that is not named by one
    key: ObjectKey | None
    path: str | None = None  # its file, if it is on the disk
    sha256: str | None = None  # the digest that the network lists, or that was saved with the file, in hexadecimal digits

    @property
    def name(self) -> str:
        """Name of the object in messages."""
        return self.path or self.object_key


@dataclass(frozen=True)
class ObjectOptions:
    """Options of all objects of a load."""

    kind: BulkKind
    by_key: bool  # the caller names the objects, instead of a window or a time
    download_dir: str | None = None  # that downloads are saved to
    allow_partial: bool = False  # return frames even if some objects could not be read
    on_bad_item: OnBadItem = "raise"  # if a line cannot be decoded, the segment is provisional without it

    @property
    def dataset(self) -> Dataset:
        """The dataset of the objects."""
        return OBJECT_DATASETS[self.kind, self.by_key]


def read_object(net: Network, options: ObjectOptions, task: BulkTask, context: ChunkContext) -> Iterator[Segment]:
    """Read one object, and yield the segment that is written and not committed.

    Blocks of lines are decoded at once, which is fast. If a block cannot be decoded and bad lines are quarantined, the object
    is read again line by line.

    Raises
    ------
    IntegrityError
        If the object is not the listed one, or is truncated, damaged, too large, or of another kind.
    NotFoundError, TransportError, ServiceError
        If it cannot be downloaded.
    """
    with _open_local(net, options, task) as local, local.path.open("rb") as file:
        verify_zstd_frames(file, task.name)
        file.seek(0)
        limit = max(MIN_SIZE_LIMIT, int(local.bytes * net.settings.limits.max_decompression_ratio))
        try:
            segment = _ObjectReader(net, options, task, local, context).segment(iter_line_batches(file, task.name, limit))
        except IntegrityError as error:
            if options.on_bad_item == "raise" or not isinstance(error.__cause__, DecodeError):
                raise
            file.seek(0)
            segment = _LineReader(net, options, task, local, context).segment(iter_line_batches(file, task.name, limit))
    yield segment


@dataclass(frozen=True)
class _LocalObject:
    """An object on the disk, with its size, its digest and its origin."""

    path: Path
    bytes: int
    sha256: str
    digest_status: str
    source: str


@contextmanager
def _open_local(net: Network, options: ObjectOptions, task: BulkTask) -> Iterator[_LocalObject]:
    """Yield the caller's file, or a download that is removed afterwards."""
    if task.path is not None:
        path = Path(task.path)
        try:
            digest, size = digest_of(path), path.stat().st_size
        except OSError as error:
            raise IntegrityError(f"Cannot read {path}: {error}. Check the file.", path=str(path)) from error
        yield _LocalObject(path, size, digest, _check_digest(task, digest, size), FILE)
        return
    _remove_stale_downloads(net)
    directory = _downloads(net) if options.download_dir is None else Path(options.download_dir)
    partial = directory / f"{new_segment_id()}{PARTIAL_SUFFIX}"
    try:
        yield _download(net, task, partial, is_saved=options.download_dir is not None)
    finally:
        with suppress(OSError):  # of a directory that does not exist
            partial.unlink()


def _downloads(net: Network) -> Path:
    return net.local_dir / "downloads"


def _remove_stale_downloads(net: Network) -> None:
    """Remove downloads that killed processes have abandoned."""
    oldest = time.time() - STALE_AFTER
    for partial in _downloads(net).glob(f"*{PARTIAL_SUFFIX}"):
        with suppress(FileNotFoundError):  # another process may have removed it
            if partial.stat().st_mtime < oldest:
                partial.unlink()


def _download(net: Network, task: BulkTask, partial: Path, *, is_saved: bool) -> _LocalObject:
    directory, path = partial.parent, partial
    try:
        if is_saved:
            directory.mkdir(parents=True, exist_ok=True)
        else:
            make_durable_dir(directory, net.local_dir.parent)
        download = net.history.bulk_download(task.object_key, partial)
        digest_status = _check_digest(task, download.sha256, download.bytes)
        if is_saved and task.key is not None:
            path = partial.replace(directory / quote(task.key.key, safe="~:"))
            save_digest(path, download.sha256)
    except OSError as error:
        raise not_writable_error(directory, error) from error
    return _LocalObject(path, download.bytes, download.sha256, digest_status, download.host)


def _check_digest(task: BulkTask, digest: str, size: int) -> str:
    if task.sha256 is None:
        return "unknown"
    if task.sha256 == EMPTY_DIGEST and size:
        logger.warning("digest_of_empty_bytes object=%s", task.object_key)
        return "empty_digest"
    if task.sha256 != digest:
        raise IntegrityError(
            f"{task.name} has the digest {digest[:12]}…, but {task.sha256[:12]}… is "
            f"{'in its digest file' if task.path else 'listed'}. Download it again.",
            path=task.object_key,
        )
    return "matched"


class _ObjectReader:
    """Reads the lines of one object into a segment."""

    _status = "final"

    def __init__(self, net: Network, options: ObjectOptions, task: BulkTask, local: _LocalObject, context: ChunkContext) -> None:
        self._net, self._task, self._local, self._context = net, task, local, context
        self._kind, self._dataset = options.kind, options.dataset
        self._lines = self._uncompressed_bytes = 0
        self._first: Position | None = None
        self._last: Position | None = None
        self._times: tuple[int, int] | None = None

    def segment(self, blocks: Iterator[LineBatch]) -> Segment:
        """Write the tables of all lines, and return their segment."""
        segment_id = new_segment_id()
        name = _file_name(self._task, segment_id)
        with SegmentWriter(self._net.store.location, name, self._dataset.event_tables) as writer:
            # The writer's own pipeline, because its last write must end before the writer closes.
            with Pipeline(self._context.pipeline.enabled) as pipeline:
                builder = self._new_builder()
                for block in pipeline.prefetch(blocks):
                    self._add(builder, block)
                    if builder.bytes >= self._net.settings.limits.segment_bytes:
                        pipeline.write_behind(writer.write, self._tables(builder))
                        builder = self._new_builder()
                pipeline.write_behind(writer.write, self._tables(builder))
            writer.write({BULK_OBJECTS.name: self._object_row()})
            source = self._local.source
            segment = new_segment(self._dataset, self._extent(), status=self._status, source=source, segment_id=segment_id)
            return finish_segment(writer, segment)

    def _new_builder(self) -> Builder:
        if self._kind == "acs":
            return ActiveContractTableBuilder(self._key.since)
        return EventTableBuilder("bulk", UPDATE_TABLES)

    def _decode(self, lines: bytes | memoryview, first_line: int) -> list[Any]:
        """Return the items that a builder takes."""
        if self._kind == "acs":
            return decode_lines(lines, ActiveContract, self._task.name, first_line)
        return [Event(update=update) for update in decode_lines(lines, Update, self._task.name, first_line)]

    def _add(self, builder: Builder, block: LineBatch) -> None:
        self._uncompressed_bytes = block.uncompressed_bytes
        with self._decode_error_as_integrity_error():
            items = self._decode(block.lines, self._lines + 1)
            self._lines += len(items)
            if self._kind == "updates":
                self._extend_bounds(positions_of(items))
            builder.add(items)

    def _tables(self, builder: Builder) -> dict[str, pa.Table]:
        buffering.release_memory()
        with self._decode_error_as_integrity_error():
            tables = builder.tables()
        self._context.report.additions.note(tables)
        return tables

    @contextmanager
    def _decode_error_as_integrity_error(self) -> Iterator[None]:
        try:
            yield
        except DecodeError as error:
            raise IntegrityError(
                f"{self._task.name} contains something other than {self._kind}: {error}", path=self._task.object_key
            ) from error

    def _extend_bounds(self, positions: list[Position]) -> None:
        """Extend the bounds of the lines, whose batches must be in order."""
        if not positions:
            return
        first, last = min(positions), max(positions)
        if self._last is not None and first < self._last:
            raise IntegrityError(
                f"The lines of {self._task.name} are not in order: "
                f"{from_microseconds(first[1])} after {from_microseconds(self._last[1])}. Load the other objects only.",
                path=self._task.object_key,
            )
        self._first, self._last = self._first or first, last
        record_times = [*(self._times or ()), *(record_time for _, record_time in positions)]
        self._times = min(record_times), max(record_times)

    @property
    def _key(self) -> ObjectKey:
        assert self._task.key is not None
        return self._task.key

    def _extent(self) -> ObjectSet:
        keys = frozenset({self._task.object_key})
        if self._kind == "acs":
            return ObjectSet(keys, (0, 0), microseconds(self._key.since), microseconds(self._key.since) + 1)
        if self._first is None or self._last is None or self._times is None:
            start, stop = (self._key.since, self._key.until) if self._task.key else (EPOCH, EPOCH + MICROSECOND)
            return ObjectSet(keys, ANY_MIGRATION, microseconds(start), microseconds(stop))
        return ObjectSet(keys, (self._first[0], self._last[0]), self._times[0], self._times[1] + 1)

    def _object_row(self) -> pa.Table:
        """Return the object as a row of bulk_objects."""
        key, first, last = self._task.key, self._first or (None, None), self._last or (None, None)
        row = {
            "object_key": self._task.object_key,
            "kind": self._kind,
            "encoding": key and key.encoding,
            "since": key and key.since,
            "until": key and key.until,
            "object_index": key and key.index,
            "bytes": self._local.bytes,
            "uncompressed_bytes": self._uncompressed_bytes,
            "lines": self._lines,
            "sha256": self._local.sha256,
            "digest_status": self._local.digest_status,
            "first_record_time": first[1],
            "last_record_time": last[1],
            "first_migration_id": first[0],
            "last_migration_id": last[0],
            "source": self._local.source,
            "fetched_at": datetime.now(UTC),
        }
        return BULK_OBJECTS.from_arrays({name: [value] for name, value in row.items()})


class _LineReader(_ObjectReader):
    """Reads the lines of one object, and keeps the bytes of bad ones below the store."""

    def _add(self, builder: Builder, block: LineBatch) -> None:
        lines = [line for line in bytes(block.lines).split(b"\n") if line.strip()]
        errors = find_errors(list(enumerate(lines, self._lines + 1)), self._check)
        bad_items = [BadItem(lines[number], error) for number, error in errors.items()]
        if bad_items:
            self._status = "provisional"
            settle(self._net, bad_items, "quarantine", self._context.report.additions)
        good = b"\n".join(line for number, line in enumerate(lines) if number not in errors)
        super()._add(builder, replace(block, lines=memoryview(good)))
        self._lines += len(bad_items)

    def _check(self, lines: Sequence[tuple[int, bytes]]) -> None:
        """Raise DecodeError unless these numbered lines can become rows."""
        with decode_boundary(self._task.name):
            items = self._decode(b"\n".join(line for _, line in lines), lines[0][0])
            if self._kind == "updates":
                positions_of(items)
            trial = self._new_builder()
            trial.add(items)
            trial.tables()


def _file_name(task: BulkTask, segment_id: str) -> str:
    """Return a name made of numbers, because a key is text from the network."""
    if task.key is None:
        return f"object_{segment_id[:12]}"
    return f"object_{task.key.since:%Y%m%dT%H%M%SZ}_{task.key.index}_{segment_id[:12]}"
