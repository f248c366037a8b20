"""Histories as large as a network's: made on disk as bulk objects, and served from there.

Every line is a real update of one sandbox world, none is repeated. A process makes some 40 MB of lines a second, so that
two free cores need two or three minutes for 10 GB; they are 0.75 GB of objects.
"""

from __future__ import annotations

import base64
import hashlib
import math
import shutil
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import waitress
import zstandard
from flask import Flask, Response, send_file

from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.sandbox.bulk import LEVEL, Folder
from ledgerframes.sandbox.bulk_api import BulkApi
from ledgerframes.sandbox.responses import HttpError
from ledgerframes.sandbox.timeline import END_OF_LAST_DAY, Timeline
from ledgerframes.sandbox.times import micros

GIGABYTE, MEGABYTE = 10**9, 10**6
GIGABYTES_PER_DAY = 2.5  # enough for a second object: lines shrink to a fourteenth
LINE_BYTES = 9_600  # a little less than the mean
LEAST_EVENTS_PER_DAY = 400
FRAME_BYTES, OBJECT_BYTES = 12 * 2**20, 128 * 2**20  # compressed, as the network cuts them
BATCH_BYTES = 2**20
NOTE = "history.txt"  # what a folder holds, or will


def make_history(folder: Path, gigabytes: float, processes: int = 2, frame_bytes: int = FRAME_BYTES) -> None:
    """Write bulk objects, a folder a day, as the network cuts them; days that were made before are left as they are.

    Parameters
    ----------
    folder
        Where the days' folders go; it must not hold a history of another size.
    gigabytes
        How much JSON there is at least before compression, in 10**9 bytes.
    processes
        How many days are made at once.
    frame_bytes
        Compressed size at which a frame ends.
    """
    _require_same(folder, f"{gigabytes:g} GB in frames of {frame_bytes} bytes")
    events, days = _shape(gigabytes)
    with ProcessPoolExecutor(processes) as pool:
        total = sum(pool.map(_make_day, *zip(*[(folder, events, days, day, frame_bytes) for day in range(days)], strict=True)))
    if total < gigabytes * GIGABYTE:
        raise AssertionError(f"{total} bytes of lines were made: LINE_BYTES={LINE_BYTES} is more than their mean")


def _require_same(folder: Path, what: str) -> None:
    """A history that was begun is gone on with, if it is the same."""
    note = folder / NOTE
    if (not note.exists() and any(folder.glob("*~*"))) or (note.exists() and note.read_text() != what):
        raise FileExistsError(f"{folder} has another history already; remove it or name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(what)


def _shape(gigabytes: float) -> tuple[int, int]:
    """Return (events, days) of a world whose whole days hold so much."""
    days = max(2, round(gigabytes / GIGABYTES_PER_DAY))
    needed = gigabytes * GIGABYTE / LINE_BYTES
    timeline = Timeline(int(needed), days)
    end, parts = micros(END_OF_LAST_DAY), 10**9
    whole = sum(timeline.share(number, parts) for number in range(timeline.count) if timeline.slice(number).begin < end)
    return max(math.ceil(needed * parts / whole), LEAST_EVENTS_PER_DAY * days), days


def _make_day(folder: Path, events: int, days: int, day: int, frame_bytes: int) -> int:
    """Write the objects of one day, if they are not there; return the bytes of its lines."""
    box = _world(events, days)
    place = box.bulk.folders()[day]
    size, written = folder / f"{place.name}.bytes", 0
    if size.exists():
        return int(size.read_text())
    part = folder / f"{day}.part"
    shutil.rmtree(part, ignore_errors=True)
    with ObjectWriter(part, frame_bytes) as objects:
        for batch in _batches(box.bulk.lines(place)):
            objects.write(batch)
            written += len(batch)
    shutil.rmtree(folder / place.name, ignore_errors=True)
    part.rename(folder / place.name)
    size.write_text(str(written))
    return written


def _world(events: int, days: int) -> Sandbox:
    """Return a sandbox without verdicts, which no bulk object shows, and so without rejected requests."""
    box = Sandbox(events=events, days=days)
    box.world.timeline.verdicts_since = box.world.timeline.now
    return box


def _batches(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join lines until there are enough of them to compress."""
    batch: list[bytes] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if size >= BATCH_BYTES:
            yield b"".join(batch)
            batch, size = [], 0
    if batch:
        yield b"".join(batch)


class ObjectWriter:
    """The objects of one folder, being written: frames and objects are cut by their compressed size.

    Parameters
    ----------
    folder
        The folder; it is made.
    frame_bytes
        Compressed size at which a frame ends.
    """

    def __init__(self, folder: Path, frame_bytes: int = FRAME_BYTES) -> None:
        self._most = frame_bytes
        folder.mkdir(parents=True)
        self._folder = folder
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=False)
        self._number = 0
        self._file: BinaryIO | None = None
        self._frame: Any = None
        self._frame_bytes = self._object_bytes = 0

    def write(self, lines: bytes) -> None:
        """Add whole lines."""
        if self._file is None:
            self._file = (self._folder / f"updates_compact_json_{self._number}.zstd").open("xb")
            self._object_bytes = 0
        if self._frame is None:
            self._frame, self._frame_bytes = self._compressor.compressobj(), 0
        self._put(self._frame.compress(lines))
        if self._frame_bytes >= self._most:
            self._end_frame()
        if self._object_bytes >= OBJECT_BYTES:
            self._end_object()

    def _put(self, compressed: bytes) -> None:
        assert self._file is not None
        self._frame_bytes += self._file.write(compressed)

    def _end_frame(self) -> None:
        self._put(self._frame.flush())
        self._object_bytes += self._frame_bytes
        self._frame = None

    def _end_object(self) -> None:
        assert self._file is not None
        self._file.close()
        self._file = None
        self._number += 1

    def __enter__(self) -> ObjectWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._frame is not None:
            self._end_frame()
        if self._file is not None:
            self._end_object()


def event_lines(path: Path, megabytes: int) -> None:
    """Write event items, as POST /v0/events lists them, one a line.

    Parameters
    ----------
    path
        The file.
    megabytes
        How much is written at least, in 10**6 bytes.
    """
    box = Sandbox(events=max(24_000, megabytes * 1000), days=8)
    world = box.world
    written = 0
    with path.open("xb") as file:
        for event in world.after(4, world.timeline.switch, world.timeline.now):
            written += file.write(event.item() + b"\n")
            if written >= megabytes * MEGABYTE:
                return
    raise AssertionError(f"the world ended after {written} bytes")


class StoredHistory:
    """The bulk objects under a folder, as the routes of the bulk storage want them.

    Parameters
    ----------
    root
        What `make_history` wrote.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._files = {f"{path.parent.name}/{path.name}": path for path in sorted(self._root.glob("*~*/updates_*.zstd"))}

    def folders(self) -> list[Folder]:
        """Return the days."""
        names = sorted({path.parent.name for path in self._files.values()})
        return [_day(name) for name in names]

    def snapshots(self) -> list[Folder]:
        """Return nothing: active contracts are not made."""
        return []

    def keys(self, folder: Folder, kind: str = "updates") -> list[str]:
        """Return the keys of a day, in the string order of the storage."""
        return [key for key in self._files if key.startswith(f"{folder.name}/{kind}_")]

    def path(self, key: str) -> Path:
        """Return where an object lies."""
        if key not in self._files:
            raise HttpError(404, f"No bulk object {key}")
        return self._files[key]

    def digest(self, key: str) -> str | None:
        """Return the digest of an object, which is kept beside it."""
        path = self._files.get(key)
        if path is None:
            return None
        beside = path.with_suffix(".sha256")
        if not beside.exists():
            with path.open("rb") as file:
                beside.write_text(base64.b64encode(hashlib.file_digest(file, "sha256").digest()).decode())
        return beside.read_text()


def _day(name: str) -> Folder:
    begin, end = (micros(datetime.fromisoformat(text)) for text in name.split("~"))
    return Folder(name, begin, end, legacy=False)


def history_app(folder: Path) -> Flask:
    """Return a WSGI app with the listing, the checksums and the downloads of a history on disk.

    ObjectSet are streamed from their files: memory does not grow with them.

    Parameters
    ----------
    folder
        What `make_history` wrote.
    """
    history = StoredHistory(folder)
    app = Flask(__name__, static_folder=None)
    app.register_error_handler(HttpError, HttpError.response)
    box = SimpleNamespace(bulk=history, faults=Faults(), world=None, clock=None)
    views = BulkApi(box).views()
    for name, _, declared in BulkApi.endpoints():
        for root in ("/api/scan", ""):
            app.add_url_rule(root + declared.path, name, views[name], methods=[declared.method])

    def download(object_key: str) -> Response:
        path, digest = history.path(object_key), history.digest(object_key)
        return send_file(path, "application/octet-stream", conditional=True, etag=str(digest))

    app.view_functions["BulkApi download"] = download  # what the route does would hold an object in memory
    return app


def serve_history(folder: Path) -> None:
    """Serve a history on disk: print a free port, then serve until the process ends.

    Parameters
    ----------
    folder
        What `make_history` wrote.
    """
    server = waitress.create_server(history_app(folder), host="127.0.0.1", port=0, threads=4)
    print(server.effective_port, flush=True)
    server.run()


def main(role: str, place: str, *size: str) -> None:
    """Do what the command line says."""
    if role == "make":
        make_history(Path(place), float(*size))
    elif role == "lines":
        event_lines(Path(place), int(*size))
    elif role == "serve":
        serve_history(Path(place))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: history.py make FOLDER GIGABYTES | lines FILE MEGABYTES | serve FOLDER")
    main(*sys.argv[1:])
