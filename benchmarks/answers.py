"""How fast answers come: every figure over a live week, beside a query by hand, and how it grows.

``python benchmarks/answers.py`` prints a page in Markdown; ``--quick`` measures a small week. With names of calls, it prints only
their rows.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

import numpy as np
from by_hand import BY_HAND, MEMORY_LIMIT
from live_week import CALLS
from measuring import KEPT, fresh, say
from page import machine
from week_store import EVENTS_OF_THE_SANDBOX, make_week

MAX_SECONDS, MAX_GIGABYTES, MAX_RATIO, MAX_EXPONENT = 60, 4, 3, 1.1
MAX_REPORT_SECONDS = 300
MAX_WAIT_SECONDS, MAX_WAIT_BY_HAND = 240, 120  # for a call, and for a query by hand
FULL = (40, (1, 6, 40))  # copies of a sandbox's week: of the live week, and of those that show the growth
QUICK = (1, (1, 2))
HEAD = """\
# Performance of answers

How long each figure takes over a week as large as that of the live network, how much memory its process needs, how that compares
with a query that one would write by hand, and how the time grows with the number of requests.

The week is that of the sandbox, {copies} times with other ids and times a few milliseconds later, written by the store's own
writer: {requests:,} requests. Each call runs in a separate process, with `memory_limit="{memory_limit}"`, after the same call
over one hour, so that imports do not count. Memory is what the operating system says of the process (VmHWM), with all libraries.

The query by hand, in `benchmarks/by_hand.py`, gives the columns of the figure without estimates, intervals, coverage and checks,
in DuckDB over the same files. Both use one thread, and the ratio is that of their seconds of the processor.

The exponent is that of a power of the number of requests, fitted to the seconds of the processor of {sizes} requests: 1 is
proportional. Below a second or so, fixed costs make it small.

Figures without a call need something other than a week of events: {absent}.

`make bench-answers` measures all of this again: up to an hour on two quiet cores, and 10 GB of disk below
`.ledgerframes/bench`.
"""

# Figures without a call, by what they need instead of a week of events.
WITHOUT_CALL = {
    "four whole weeks": ("cost.runway", "cost.runway_end"),
    "the updates of one participant": ("reconcile.bounds", "reconcile.paid_traffic", "reconcile.paid_traffic_totals"),
    "lists of bulk objects": ("reconcile.digests",),
    "price votes": ("votes.price", "votes.stale"),
}


@dataclass(frozen=True)
class Answer:
    """What a call took."""

    call: str
    seconds: float
    gigabytes: float
    ratio: float | None  # to a query by hand
    exponent: float
    error: str = ""
    note: str = ""  # on the query by hand

    @property
    def missed(self) -> list[str]:
        """The limits that it misses, in words."""
        if self.error:
            return [self.error]
        limits = {
            f"over {MAX_SECONDS} s": self.seconds > MAX_SECONDS,
            f"over {MAX_GIGABYTES} GB": self.gigabytes > MAX_GIGABYTES,
            f"over {MAX_RATIO} times": self.ratio is not None and self.ratio > MAX_RATIO,
            f"grows faster than {MAX_EXPONENT}": self.exponent > MAX_EXPONENT,
        }
        return [words for words, is_missed in limits.items() if is_missed]


def measured(copies: int, sizes: tuple[int, ...], calls: Iterable[str]) -> Iterator[Answer]:
    """Yield what each call takes."""
    stores = {size: make_week(size) for size in {*sizes, copies}}
    for call in calls:
        try:
            answer = _measure(call, copies, sizes, stores)
        except subprocess.TimeoutExpired as error:
            answer = Answer(call, nan, nan, None, nan, f"over {error.timeout:.0f} s")
        except SystemExit as error:
            answer = Answer(call, nan, nan, None, nan, str(error).strip().splitlines()[-1].partition(": ")[2])
        say(" | ".join(_cells(answer)))
        yield answer


def _measure(call: str, copies: int, sizes: tuple[int, ...], stores: dict[int, Path]) -> Answer:
    used = {size: fresh("live_week.py", store, call, max_seconds=MAX_WAIT_SECONDS) for size, store in sorted(stores.items())}
    seconds = [used[size]["processor"] for size in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    ratio, note = _ratio(stores[copies], call) if call in BY_HAND else (None, "")
    return Answer(call, used[copies]["seconds"], used[copies]["megabytes"] / 1000, ratio, exponent, note=note)


def _ratio(store: Path, call: str) -> tuple[float | None, str]:
    """Return the ratio to a query by hand, or why there is none."""
    ours = fresh("live_week.py", store, call, "one-thread")["processor"]
    try:
        theirs = fresh("live_week.py", store, call, "by-hand", max_seconds=MAX_WAIT_BY_HAND)["processor"]
    except (SystemExit, subprocess.TimeoutExpired):
        return None, f"no result by hand within {MAX_WAIT_BY_HAND} s and the memory"
    return float(ours / theirs), ""


def as_page(
    copies: int, sizes: tuple[int, ...], answers: list[Answer], report: dict[str, float], digests: dict[str, float]
) -> str:
    """Return the page."""
    lines = ["| call | seconds | GB | to by hand | exponent | note |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    lines += [_line(answer) for answer in answers]
    minutes, gigabytes = report["seconds"] / 60, report["megabytes"] / 1000
    missed = "" if report["seconds"] <= MAX_REPORT_SECONDS else ", more than the five that it should"
    kept = sum(not answer.missed for answer in answers)
    limits = (
        f"Limits: {MAX_SECONDS} seconds, {MAX_GIGABYTES} GB, {MAX_RATIO} times the query by hand, an exponent of {MAX_EXPONENT}; "
        f"five minutes for a weekly report. {kept} of {len(answers)} calls keep all of theirs."
    )
    absent = [f"`{call}`" for call in CALLS if call not in {answer.call for answer in answers}]
    if absent:
        limits += f" Not measured this time: {', '.join(absent)}."
    head = HEAD.format(
        memory_limit=MEMORY_LIMIT,
        copies=copies,
        requests=copies * EVENTS_OF_THE_SANDBOX,
        sizes=", ".join(f"{size * EVENTS_OF_THE_SANDBOX:,}" for size in sizes),
        absent=", ".join(f"{what} ({', '.join(f'`{name}`' for name in names)})" for what, names in WITHOUT_CALL.items()),
    )
    written = (
        f"The weekly report over this week takes {minutes:.1f} minutes{missed}; its largest process needs {gigabytes:.1f} GB."
    )
    compared = (
        "Before DuckDB reads a file, a process compares all of its bytes with the digest in the catalog, once. The seconds above "
        f"include that. For all files of this week, which are warm, it takes {digests['seconds']:.1f} seconds for "
        f"{digests['gigabytes']:.2f} GB. Copies compress well: files of the live network are larger."
    )
    parts = [head.rstrip(), machine(), limits, "\n".join(lines), "## A weekly report", written, "## Digests of files", compared]
    return "\n\n".join(parts) + "\n"


def _line(answer: Answer) -> str:
    return f"| {' | '.join(_cells(answer))} |"


def _cells(answer: Answer) -> tuple[str, ...]:
    ratio = "" if answer.ratio is None else f"{answer.ratio:.1f}"
    return (
        f"`{answer.call.partition(' ')[0]}`{answer.call.removeprefix(answer.call.partition(' ')[0])}",
        _number(answer.seconds, 1),
        _number(answer.gigabytes, 1),
        ratio,
        _number(answer.exponent, 2),
        ", ".join(filter(None, [*answer.missed, answer.note])),
    )


def _number(value: float, decimals: int) -> str:
    return "" if isnan(value) else f"{value:.{decimals}f}"


def main() -> int:
    """Measure and print the page; 1 if a call misses twice a limit of time or memory."""
    quick = "--quick" in sys.argv
    copies, sizes = QUICK if quick else FULL
    began = time.monotonic()
    KEPT.mkdir(parents=True, exist_ok=True)
    names = [name for name in sys.argv[1:] if name != "--quick"]
    answers = list(measured(copies, sizes, names or CALLS))
    if names:
        print("\n".join(_line(answer) for answer in answers))
        return 0
    say("a weekly report")
    shutil.rmtree(make_week(copies) / "reports", ignore_errors=True)
    report, digests = (fresh("live_week.py", make_week(copies), what) for what in ("report", "digests"))
    text = as_page(copies, sizes, answers, report, digests)
    print(text)
    say(f"{(time.monotonic() - began) / 60:.1f} minutes")
    too_much = [each for each in answers if each.seconds > 2 * MAX_SECONDS or each.gigabytes > 2 * MAX_GIGABYTES]
    return int(bool(too_much) and not quick)


if __name__ == "__main__":
    sys.exit(main())
