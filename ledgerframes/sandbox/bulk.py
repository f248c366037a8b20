"""Bulk objects of the history by whole days (docs/facts.md#bulk-storage).

They are multi-frame zstd files of JSON lines, in the form of the network. Sizes are small, so that a day still has more
than ten objects, and an object more than one frame.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain
from threading import RLock
from typing import NamedTuple

import msgspec
import zstandard

from .builder import NULL, Event, decode_object
from .times import DAY, HOUR, Clock, instant, to_datetime
from .world import MAIN_ENCODING, World

FIRST_DAY = "0001-01-01T00:00:00Z"  # start of the first folder, by name
BEFORE_EVERYTHING = -(10**17)
OBJECTS_PER_DAY, FRAMES_PER_OBJECT = 12, 3
MIN_LINES = 40
LEVEL = 3
COMMIT_DELAY = HOUR  # objects are staged and compared before they are listed
LEGACY_DAYS = 1  # objects of the first days have no encoding in their names
OTHER_ENCODING = "protobuf_json"
MAX_CACHED_FOLDERS = 40  # of three megabytes for a day of a hundred thousand events


class Folder(NamedTuple):
    """A day of updates or a snapshot of the active contracts, in one encoding."""

    name: str
    begin: int  # microseconds since 1970
    end: int
    legacy: bool
    kind: str = "updates"
    encoding: str = MAIN_ENCODING

    def key(self, number: int) -> str:
        """Return the key of an object."""
        stem = self.kind if self.legacy else f"{self.kind}_{self.encoding}"
        return f"{self.name}/{stem}_{number}.zstd"


def digest_of(raw: bytes) -> str:
    """Return the digest of an object's stored bytes, SHA-256 in base64."""
    return base64.b64encode(hashlib.sha256(raw).digest()).decode()


EMPTY_DIGEST = digest_of(b"")


class FolderContents:
    """Objects of all folders of a world, which its sandboxes share, generated on first access."""

    def __init__(self, world: World, max_cached_folders: int) -> None:
        self._world = world
        self._cached_objects = lru_cache(max_cached_folders)(self._compressed)
        # Digests outlive the objects in memory.
        self.digests = cache(lambda folder: [digest_of(raw) for raw in self.objects(folder)])
        # The newest snapshot by encoding, as its time and its contracts by id.
        self._snapshots: dict[str, tuple[int, dict[str, ActiveContract]]] = {}
        self._lock = RLock()

    def objects(self, folder: Folder) -> list[bytes]:
        """Return the bytes of the objects of a folder."""
        with self._lock:
            return self._cached_objects(folder)

    def _compressed(self, folder: Folder) -> list[bytes]:
        return _compress(list(self.lines(folder) if folder.kind == "updates" else self._active(folder)))

    def lines(self, folder: Folder) -> Iterator[bytes]:
        """Iterate over the lines of a folder of updates, in the order of its objects."""
        return (_line(decode_object(event.update)) for event in self._events(folder.begin, folder.end, folder.encoding))

    def _events(self, begin: int, end: int, encoding: str) -> Iterator[Event]:
        """Iterate over the events with an update and begin <= record time < end."""
        # The order of the whole history is that of its days, because the migrations overlap within one day.
        since = max(begin, self._world.timeline.start)
        return (event for event in self._world.events(to_datetime(since), to_datetime(end), encoding) if event.update != NULL)

    def _active(self, folder: Folder) -> Iterable[bytes]:
        """Return the lines of the contracts that are active network-wide at the start of a folder."""
        time, active = self._snapshots.pop(folder.encoding, (0, {}))
        if time > folder.begin:
            time, active = 0, {}
        for event in self._events(time, folder.begin, folder.encoding):
            _apply(event, active)
        self._snapshots[folder.encoding] = folder.begin, active
        migration_id = max((contract.migration_id for contract in active.values()), default=0)
        return (contract.line(migration_id) for contract in active.values())


class BulkStorage:
    """Bulk objects of a world that are committed by the clock."""

    def __init__(self, world: World, clock: Clock, *, max_cached_folders: int = MAX_CACHED_FOLDERS) -> None:
        self._world, self._clock = world, clock
        self._contents = world.derived(FolderContents, max_cached_folders)
        self.lines = self._contents.lines

    def folders(self) -> list[Folder]:
        """Return the committed folders of updates."""
        start = self._world.timeline.start
        days = max(0, (self._clock.now() - COMMIT_DELAY - start) // DAY)
        return [
            Folder(
                f"{instant(start + day * DAY) if day else FIRST_DAY}~{instant(start + (day + 1) * DAY)}",
                start + day * DAY if day else BEFORE_EVERYTHING,
                start + (day + 1) * DAY,
                day < LEGACY_DAYS,
            )
            for day in range(days)
        ]

    def snapshots(self) -> list[Folder]:
        """Return the committed folders of active contracts, one for each midnight but the first."""
        midnights = [folder.end for folder in self.folders()]
        return [Folder(f"{instant(time)}~{instant(time + DAY)}", time, time + DAY, False, "ACS") for time in midnights]

    def keys(self, folder: Folder) -> list[str]:
        """Return the keys of a folder in string order."""
        return sorted(folder.key(number) for number in range(len(self._contents.digests(folder))))

    def get(self, key: str) -> bytes | None:
        """Return the bytes of an object, listed or not, or None if it does not exist."""
        position = self._locate(key)
        return self._contents.objects(position[0])[position[1]] if position else None

    def digest(self, key: str) -> str | None:
        """Return the digest of an object, or None if it does not exist."""
        position = self._locate(key)
        return self._contents.digests(position[0])[position[1]] if position else None

    def _locate(self, key: str) -> tuple[Folder, int] | None:
        """Return the folder and the number of an object, or None if it does not exist."""
        number = key.removesuffix(".zstd").rpartition("_")[2]
        for folder in chain(self.folders(), self.snapshots()) if number.isdecimal() else ():
            for encoding in (MAIN_ENCODING, OTHER_ENCODING):
                candidate = folder._replace(encoding=encoding)
                if candidate.key(int(number)) == key:
                    return (candidate, int(number)) if int(number) < len(self._contents.digests(candidate)) else None
        return None


class ActiveContract(NamedTuple):
    """A contract of a snapshot."""

    migration_id: int
    members: dict[str, object]
    update_id: str

    def line(self, migration_id: int) -> bytes:
        """Return the line of a snapshot, without the name of an update of an earlier migration."""
        is_imported = self.migration_id < migration_id
        return _line(self.members if is_imported else {**self.members, "created_in_update_id": self.update_id})


def _apply(event: Event, active: dict[str, ActiveContract]) -> None:
    """Remove the contracts that an update consumed, and add those that it created."""
    nodes = decode_object(event.update).get("events_by_id", {}).values()
    consumed = {node["contract_id"] for node in nodes if node.get("consuming")}
    for contract_id in consumed:
        active.pop(contract_id, None)
    for node in nodes:
        if "created_at" in node and node["contract_id"] not in consumed:
            members = {name: value for name, value in node.items() if name not in ("event_id", "event_type")}
            active[node["contract_id"]] = ActiveContract(event.migration_id, members, event.update_id)


def _line(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted") + b"\n"


def _compress(lines: list[bytes]) -> list[bytes]:
    """Return lines as objects of several frames each, whose headers have no content size."""
    per_object = max(MIN_LINES, -(-len(lines) // OBJECTS_PER_DAY))
    per_frame = -(-per_object // FRAMES_PER_OBJECT)
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=False)
    return [
        b"".join(
            compressor.compress(b"".join(lines[frame : min(frame + per_frame, start + per_object)]))
            for frame in range(start, min(start + per_object, len(lines)), per_frame)
        )
        for start in range(0, len(lines), per_object)
    ]
