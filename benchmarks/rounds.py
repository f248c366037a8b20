"""Contestants one after the other in rounds, of which the calmest count.

A machine that is shared becomes slower for seconds or for minutes, and not by one factor: what lives in the processor's caches
suffers most. So a loop that never changes is timed right before and after each run. A run waits for a calm moment, though not
for long. Rounds are held until enough of them were calm, at most twice as many as count; then the calmest count. Only the loop
decides this, never what a contestant took.

The loop sees that a neighbour takes a part of the core; it does not see what happens in the middle of a run.
"""

from __future__ import annotations

import functools
import gc
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

CALM = 1.25  # times the fastest loop
STEPS = 1_000_000  # of the loop: about 50 ms
WAIT, PAUSE = 1.0, 0.1  # seconds to wait for a calm moment at most, and between two looks
MOST = 2  # rounds that are held, for each that counts


@dataclass(frozen=True)
class Run:
    """What was measured, and how busy the machine was.

    Attributes
    ----------
    value : float
        Seconds, or a ratio of seconds.
    loop : float
        Seconds of the loop before or after the run, whichever took longer.
    """

    value: float
    loop: float


Round = dict[str, Run]


# -- how busy the machine is ----------------------------------------------------------------------------------------


def loop_here() -> float:
    """Seconds of the loop in this thread."""
    began, total = time.perf_counter(), 0
    for number in range(STEPS):
        total += number
    return time.perf_counter() - began


class AllCores:
    """The loop on all cores at once, in a process on each, for contestants that may use several."""

    def __init__(self) -> None:
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
        command = [sys.executable, __file__]
        self._processes = [
            subprocess.Popen([*command, str(core)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for core in cores
        ]

    def __enter__(self) -> AllCores:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            with suppress(BrokenPipeError):
                process.communicate()

    def __call__(self) -> float:
        """Seconds of the slowest."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return max(float(process.stdout.readline()) for process in self._processes if process.stdout is not None)


def on_core(core: int) -> None:
    """In a process of its own: time the loop on this core for each line that comes."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    for _ in sys.stdin:
        print(loop_here(), flush=True)


class Pace:
    """Has runs measured in calm moments.

    Parameters
    ----------
    loop : callable
        Says how long the loop takes now.

    Attributes
    ----------
    fastest : float
        Seconds of the fastest loop that this process knows of.
    """

    fastest = math.inf

    def __init__(self, loop: Callable[[], float] = loop_here) -> None:
        self._loop = loop

    def measured(self, run: Callable[[], float]) -> Run:
        """Measure in a calm moment, if one comes soon."""
        gc.collect()
        before = self.calm_moment()
        value = run()
        return Run(value, max(before, self.look()))

    def calm_moment(self) -> float:
        """Wait for a calm moment, not for long; what the loop took at last."""
        over = time.monotonic() + WAIT
        while not is_calm(loop := self.look()) and time.monotonic() < over:
            time.sleep(PAUSE)
        return loop

    def look(self) -> float:
        """Seconds of the loop now."""
        loop = self._loop()
        remember(loop)
        return loop


def remember(loop: float) -> None:
    """Know of a loop that this or another process has timed."""
    Pace.fastest = min(Pace.fastest, loop)


def is_calm(loop: float) -> bool:
    """Whether the loop took about as long as at its fastest."""
    return loop <= CALM * Pace.fastest


def seconds_of(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """What a run takes; what it gives is let go after the clock has stopped."""
    began = clock()
    kept = run()
    seconds = clock() - began
    del kept
    return seconds


# -- rounds ---------------------------------------------------------------------------------------------------------


def contest(count: int, contestants: Mapping[str, Callable[[], Run]], *, warm: bool = True) -> list[Round]:
    """Let contestants run one after the other in rounds, every other round the other way round.

    Parameters
    ----------
    count : int
        How many rounds count.
    contestants : mapping
        Each measures itself.
    warm : bool
        Whether a round comes first that never counts.

    Returns
    -------
    list of dict
        The run of each contestant in the calmest rounds, one dict a round.
    """
    if warm:
        _held(contestants)
    rounds: list[Round] = []
    while len(rounds) < MOST * count and sum(is_calm(busiest(runs)) for runs in rounds) < count:
        step = -1 if len(rounds) % 2 else 1
        rounds.append(_held(dict([*contestants.items()][::step])))
    return sorted(rounds, key=busiest)[:count]


def on_all_cores(count: int, contestants: Mapping[str, Callable[[], float]], *, warm: bool = True) -> list[Round]:
    """A contest of those that may use all cores, each of which says what it took."""
    with AllCores() as cores:
        pace = Pace(cores)
        return contest(count, {name: functools.partial(pace.measured, run) for name, run in contestants.items()}, warm=warm)


def _held(contestants: Mapping[str, Callable[[], Run]]) -> Round:
    runs = {name: run() for name, run in contestants.items()}
    remember(min(run.loop for run in runs.values()))  # workers have timed it where this process does not see it
    return runs


def busiest(runs: Round) -> float:
    """Seconds of the slowest loop around the runs of a round."""
    return max(run.loop for run in runs.values())


def ratio(rounds: Iterable[Round], one: str, other: str) -> float:
    """How many times as long one took as another: the median over the rounds."""
    return statistics.median(runs[one].value / runs[other].value for runs in rounds)


def middle(rounds: Iterable[Round], name: str) -> float:
    """The median of what was measured of one."""
    return statistics.median(runs[name].value for runs in rounds)


def busy(rounds: Sequence[Round]) -> str:
    """How calm the machine was, in words for a note."""
    return f"the loop took at most {max(map(busiest, rounds)) / Pace.fastest:.2f} times its fastest"


if __name__ == "__main__":
    on_core(int(sys.argv[1]))
