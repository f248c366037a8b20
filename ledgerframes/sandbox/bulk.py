"""Bulk objects: the history by whole days, as multi-frame zstd files of JSON lines (docs/facts.md#bulk-storage).

What is real is the form; sizes are small, so that a day still has more than ten objects, and an object more
than one frame.
"""

from __future__ import annotations

import base64
import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import msgspec
import zstandard

from .builder import NULL, Event
from .clock import Clock
from .times import DAY, HOUR, instant, moment
from .world import World, evict_oldest

T = TypeVar("T")
BEGINNING = "0001-01-01T00:00:00Z"
OBJECTS_PER_DAY, FRAMES_PER_OBJECT = 12, 3
LEAST_LINES = 40
LEVEL = 3
COMMITTED_AFTER = HOUR  # objects are staged and compared before they are listed
LEGACY_DAYS = 1  # the first days' objects have no encoding in their names
BYTES_KEPT = 128 * 2**20  # of the objects of folders: some forty days of a hundred thousand events
EMPTY_DIGEST = base64.b64encode(hashlib.sha256(b"").digest()).decode()


class Folder(NamedTuple):
    """A day of updates, or a snapshot of the active contracts."""

    name: str
    begin: int  # microseconds since 1970
    end: int
    legacy: bool


def digest_of(raw: bytes) -> str:
    """Return the digest of an object's stored bytes: SHA-256 in base64."""
    return base64.b64encode(hashlib.sha256(raw).digest()).decode()


class BulkStorage:
    """The bulk objects of a world, each folder made when it is asked for.

    Parameters
    ----------
    world
        The world.
    clock
        The present; later days are not there yet.
    """

    def __init__(self, world: World, clock: Clock) -> None:
        self._world = world
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], list[bytes]] = OrderedDict()
        self._digests: dict[tuple[str, str], list[str]] = {}
        # The newest snapshot made, by encoding: its time, and its lines by contract id.
        self._snapshots: dict[str, tuple[int, dict[str, bytes]]] = {}
        self._lock = RLock()

    def folders(self) -> list[Folder]:
        """Return the folders of updates that are committed."""
        start = self._world.timeline.start
        days = (self._clock.now() - COMMITTED_AFTER - start) // DAY
        return [self._folder(day) for day in range(max(0, days))]

    def snapshots(self) -> list[Folder]:
        """Return the folders of active contracts that are committed: one for each midnight but the first."""
        return [
            Folder(f"{instant(folder.end)}~{instant(folder.end + DAY)}", folder.end, folder.end + DAY, False)
            for folder in self.folders()
        ]

    def _folder(self, day: int) -> Folder:
        begin = self._world.timeline.start + day * DAY
        since = instant(begin) if day else BEGINNING
        return Folder(f"{since}~{instant(begin + DAY)}", begin if day else -(10**17), begin + DAY, day < LEGACY_DAYS)

    def keys(self, folder: Folder, kind: str = "updates") -> list[str]:
        """Return the listed keys of a folder, in the string order of the storage."""
        count = len(self._sums(folder, kind, "compact_json"))
        return sorted(f"{folder.name}/{self._file(folder, kind, 'compact_json', n)}" for n in range(count))

    @staticmethod
    def _file(folder: Folder, kind: str, encoding: str, number: int) -> str:
        return f"{kind}_{number}.zstd" if folder.legacy else f"{kind}_{encoding}_{number}.zstd"

    def get(self, key: str) -> bytes | None:
        """Return an object's bytes, listed or not; None when there is none."""
        place = self._place(key)
        return None if place is None else _at(self._objects(*place[0]), place[1])

    def digest(self, key: str) -> str | None:
        """Return the digest of an object's stored bytes; None when there is no such object."""
        place = self._place(key)
        return None if place is None else _at(self._sums(*place[0]), place[1])

    def lines(self, folder: Folder, encoding: str = "compact_json") -> Iterator[bytes]:
        """Iterate over the lines of a folder of updates, in the order of its objects."""
        for event in self._events(folder.begin, folder.end, encoding):
            yield _line(msgspec.json.decode(event.update))

    def _place(self, key: str) -> tuple[tuple[Folder, str, str], int] | None:
        """Return ((folder, kind, encoding), number) of a key that could be an object's."""
        name, _, file = key.partition("/")
        kind = "ACS" if file.startswith("ACS_") else "updates"
        found = [f for f in (self.snapshots() if kind == "ACS" else self.folders()) if f.name == name]
        stem, _, number = file.removesuffix(".zstd").rpartition("_")
        if not found or not number.isdecimal() or not file.endswith(".zstd"):
            return None
        encoding = stem.removeprefix(kind).removeprefix("_") or "compact_json"
        if file != self._file(found[0], kind, encoding, int(number)):
            return None
        if encoding not in ("compact_json", "protobuf_json"):
            return None
        return (found[0], kind, encoding), int(number)

    def _sums(self, folder: Folder, kind: str, encoding: str) -> list[str]:
        """Return the digests of a folder's objects; they stay when the objects do not."""
        key = f"{kind}/{folder.name}", encoding
        if key not in self._digests:
            self._digests[key] = [digest_of(raw) for raw in self._objects(folder, kind, encoding)]
        return self._digests[key]

    def _objects(self, folder: Folder, kind: str, encoding: str) -> list[bytes]:
        with self._lock:
            key = f"{kind}/{folder.name}", encoding
            if key not in self._kept:
                lines = self.lines(folder, encoding) if kind == "updates" else self._active(folder, encoding)
                self._kept[key] = _packed(list(lines))
                evict_oldest(self._kept, _size, BYTES_KEPT, min_count=1)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _events(self, begin: int, end: int, encoding: str) -> Iterator[Event]:
        """Iterate over the events of begin <= record time < end that the history shows an update of."""
        # The order of the whole history is that of its days: the migrations overlap within one day.
        since = max(begin, self._world.timeline.start)
        return (event for event in self._world.events(moment(since), moment(end), encoding) if event.update != NULL)

    def _active(self, folder: Folder, encoding: str) -> Iterable[bytes]:
        """Return the lines of the contracts that are active at the folder's beginning, network-wide."""
        made, active = self._snapshots.pop(encoding, (0, {}))
        if made > folder.begin:
            made, active = 0, {}
        for event in self._events(made, folder.begin, encoding):
            _apply(event, active)
        self._snapshots[encoding] = folder.begin, active
        return active.values()


def _at(values: Sequence[T], number: int) -> T | None:
    return values[number] if number < len(values) else None


def _apply(event: Event, active: dict[str, bytes]) -> None:
    """Take what an update consumed out of the active contracts, and add what it created."""
    nodes = msgspec.json.decode(event.update).get("events_by_id", {}).values()
    consumed = {node["contract_id"] for node in nodes if node.get("consuming")}
    for contract_id in consumed:
        active.pop(contract_id, None)
    for node in nodes:
        if "created_at" in node and node["contract_id"] not in consumed:
            active[node["contract_id"]] = _line(_active_contract(node, event.update_id))


def _active_contract(node: dict[str, Any], update_id: str) -> dict[str, Any]:
    kept = {name: value for name, value in node.items() if name not in ("event_id", "event_type")}
    return {**kept, "created_in_update_id": update_id}


def _line(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted") + b"\n"


def _size(objects: list[bytes]) -> int:
    return sum(map(len, objects))


def _packed(lines: list[bytes]) -> list[bytes]:
    """Cut lines into objects of several frames each, without a content size in the frames' heads."""
    if not lines:
        return []
    per_object = max(LEAST_LINES, -(-len(lines) // OBJECTS_PER_DAY))
    per_frame = -(-per_object // FRAMES_PER_OBJECT)
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=False)
    return [
        b"".join(
            compressor.compress(b"".join(lines[frame : min(frame + per_frame, start + per_object)]))
            for frame in range(start, min(start + per_object, len(lines)), per_frame)
        )
        for start in range(0, len(lines), per_object)
    ]
