"""What the benchmarks share: fresh processes, peak memory, samples of where time goes, and objects of any size."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures import Figure
from rounds import Round, on_all_cores, seconds_of

import ledgerframes as lf
from ledgerframes.datasets.bulk.expand import _after_frame

ROOT = Path(__file__).parents[1]
KEPT = Path(os.environ.get("BENCH_FOLDER", ROOT / ".ledgerframes" / "bench"))
SAMPLE_SECONDS = 0.005
SHOWN = 8  # places in a profile
WAITING = ("threading.py", "selectors.py", "socketserver.py", "thread.py", "_base.py", "queue.py", "measuring.py")

_used: list[str] = []  # stores to remove


@dataclass(frozen=True)
class Row:
    """A figure, what it compares, and where time goes if it misses its goal."""

    figure: Figure
    how: str
    profile: str = ""

    @classmethod
    def of(cls, figure: Figure, how: str, profile: Callable[[], str]) -> Row:
        """With a profile, taken now, if the goal is missed."""
        return cls(figure, how, "" if figure.reached == "goal" else profile())


def say(text: str) -> None:
    """One line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def interleaved(rounds: int, contestants: Mapping[str, Callable[[], object]], *, warm: bool = True) -> list[Round]:
    """The calmest rounds of seconds on the wall, of contestants that may use all cores."""
    return on_all_cores(rounds, {name: functools.partial(_seconds, run) for name, run in contestants.items()}, warm=warm)


def _seconds(run: Callable[[], object]) -> float:
    try:
        return seconds_of(run)
    finally:
        sweep()


# -- fresh processes and their memory -------------------------------------------------------------------------------


def fresh(*command: object, max_seconds: float | None = None) -> Any:
    """Run a script of this folder in a process of its own; what it prints last is JSON."""
    words = [sys.executable, *map(str, command)]
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False, "timeout": max_seconds}
    result = subprocess.run(words, cwd=Path(__file__).parent, env=environment(), **options)
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{result.stderr[-3000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def environment() -> dict[str, str]:
    """Of a process as users have it: with compiled modules, wherever this one may write them."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(KEPT / "bytecode")}


def peak_megabytes(process: int | str = "self") -> float:
    """The most memory that a process has had, in 10**6 bytes."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        if process == "self":
            raise SystemExit("Memory is read from /proc: run this benchmark on Linux.") from None
        return 0.0  # it has ended
    return next((int(line.split()[1]) * 1.024e-3 for line in lines if line.startswith("VmHWM")), 0.0)


class PeakOfWorkers(threading.Thread):
    """Watches the processes that this one starts, for as long as the block lasts."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._over = threading.Event()
        self.megabytes: dict[int, float] = {}

    def run(self) -> None:
        """Look ten times a second: what a process had at most never shrinks."""
        while not self._over.wait(0.1):
            for process in _descendants(os.getpid()):
                self.megabytes[process] = max(self.megabytes.get(process, 0.0), peak_megabytes(process))

    def __enter__(self) -> PeakOfWorkers:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def _descendants(process: int) -> Iterator[int]:
    try:
        children = Path(f"/proc/{process}/task").glob("*/children")
        found = [int(child) for listed in children for child in listed.read_text().split()]
    except OSError:
        return  # it has ended
    for child in found:
        yield child
        yield from _descendants(child)


# -- where time goes ------------------------------------------------------------------------------------------------


def sampled(run: Callable[[], object]) -> str:
    """Where the threads of this process are while something runs, as shares of the samples; waiting is left out."""
    over, places = threading.Event(), Counter[str]()

    def look() -> None:
        while not over.wait(SAMPLE_SECONDS):
            for frame in sys._current_frames().values():
                place = Path(frame.f_code.co_filename)
                if place.name not in WAITING:
                    places[f"{place.parent.name}/{place.name} {frame.f_code.co_name}"] += 1

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    run()
    over.set()
    watcher.join()
    total = max(places.total(), 1)
    return "\n".join(f"{count / total:>5.0%}  {place}" for place, count in places.most_common(SHOWN))


# -- stores and objects ---------------------------------------------------------------------------------------------


@contextmanager
def empty_store(**overrides: Any) -> Iterator[lf.Network]:
    """A network that lists nothing, with an empty store on the disk where everything else is.

    The store goes when nobody looks at the clock: after a round, or when the process ends.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    store = tempfile.mkdtemp(dir=KEPT, prefix="store-")
    _used.append(store)
    with lf.connect("sandbox", **{"history_url": "http://127.0.0.1:9", "store": store, **overrides}) as net:
        yield net


@atexit.register
def sweep() -> None:
    """Remove the stores that were used."""
    while _used:
        shutil.rmtree(_used.pop(), ignore_errors=True)


Piece = tuple[Path, int, int]  # a frame: its file, and where in it


def frames_of(day: Path) -> list[Piece]:
    """The zstd frames of a day's objects, in order: each holds whole lines, so any of them in order make an object."""
    pieces = []
    for path in sorted(day.glob("updates_*.zstd"), key=lambda path: int(path.stem.rpartition("_")[2])):
        end, size = 0, path.stat().st_size
        with path.open("rb") as file:
            while end < size:
                begin, end = end, _after_frame(file, end, path.name)
                pieces.append((path, begin, end))
    return pieces


def put_together(pieces: Sequence[Piece], target: Path) -> Path:
    """One object of these frames."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    with part.open("wb") as written:
        for path, begin, end in pieces:
            with path.open("rb") as file:
                file.seek(begin)
                written.write(file.read(end - begin))
    return part.replace(target)


def days_of(history: Path) -> list[Path]:
    """The folders of a history, in order."""
    return sorted(path for path in history.glob("*~*") if path.is_dir())


def recut(history: Path, target: Path, frames: int) -> list[Path]:
    """The objects of a history cut anew, so many frames each; shorter ones at the end of a day are left out."""
    if not target.exists():
        part = target.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        for day in days_of(history):
            pieces = frames_of(day)
            for number, begin in enumerate(range(0, len(pieces) - frames + 1, frames)):
                name = f"updates_compact_json_{number}.zstd"
                put_together(pieces[begin : begin + frames], part / day.name / name)
        part.rename(target)
    return [path for day in days_of(target) for path in sorted(day.glob("*.zstd"), key=lambda path: (len(path.name), path.name))]
