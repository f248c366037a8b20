"""Run the attacks of tests/reliability and slow properties at length, and write docs/reliability.md from their own counts.

``python tools/soak.py --minutes 60`` is what ``make soak`` runs. Fewer minutes shorten what has no end (mutated bodies, damaged
files, following); every fault meets every loader, and the kills are as many, whatever the minutes. A piece can be run alone: its
counts replace those of its last run, and the page is written from the counts of all pieces.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
COUNTS = ROOT / ".ledgerframes" / "soak"
Counts = list[dict[str, Any]]
# Following takes one core for its whole time, so the attacks without many parts run next to it.
PIECES = {
    "faults": ("reliability/test_fault_matrix.py",),
    "kills": ("reliability/test_crashes.py",),
    "bodies": ("reliability/test_fuzz.py",),
    "beside": ("reliability/test_loads_beside.py",),
    "damage": ("reliability/test_damaged_files.py",),
    "following": (
        "reliability/test_long_run.py",
        "reliability/test_disks.py",
        "reliability/test_limits.py",
        "reliability/test_secrets.py",
        "reliability/test_untrusted_text.py",
    ),
    # Properties that take so long that the default tests try few examples.
    "properties": (
        "analysis/test_analysis_properties.py",
        "datasets/test_event_blocks.py",
        "loaders/test_load_events.py",
        "loaders/test_load_updates.py",
        "sandbox/test_world.py",
        "store/test_compact_objects.py",
        "test_frames.py",
        "test_one_history.py",
        "test_one_row.py",
    ),
}


def main() -> int:
    """Run the attacks, write the page, and return the exit code of the tests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pieces", nargs="*", metavar="PIECE", help=f"one of {', '.join(PIECES)} (default: all)")
    parser.add_argument("--minutes", type=float, default=60.0, help="what all pieces may take on two cores (default: 60)")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests (default: 2)")
    parser.add_argument("--page", type=Path, default=PAGE, help="page to write (default: docs/reliability.md)")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="directory of the counts (default: .ledgerframes/soak)")
    arguments = parser.parse_args()
    if unknown := set(arguments.pieces) - PIECES.keys():
        parser.error(f"unknown piece {min(unknown)}, choose from {', '.join(PIECES)}")
    arguments.counts.mkdir(parents=True, exist_ok=True)
    codes = [run_piece(piece, arguments) for piece in arguments.pieces or PIECES]
    files = [arguments.counts / f"{piece}.jsonl" for piece in PIECES]
    lines = [line for file in files if file.exists() for line in file.read_text(encoding="utf-8").splitlines()]
    arguments.page.write_text(page([json.loads(line) for line in lines], arguments.minutes), encoding="utf-8")
    return max(codes)


def run_piece(piece: str, arguments: argparse.Namespace) -> int:
    """Run the tests of a piece with the effort of a soak, and replace its counts."""
    counts = arguments.counts / f"{piece}.jsonl"
    counts.write_text("", encoding="utf-8")
    files = [f"tests/{name}" for name in PIECES[piece]]
    options = ["-m", "", "-q", "-n", str(arguments.workers), "--dist", "worksteal", "-o", "faulthandler_timeout=3600"]
    environment = {**os.environ, "SOAK_MINUTES": str(arguments.minutes), "SOAK_COUNTS": str(counts)}
    words = [sys.executable, "-m", "pytest", *files, *options]
    begin, used = time.monotonic(), processor_seconds()
    code = subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode
    run = {
        "attack": "run",
        "piece": piece,
        "code": code,
        "minutes": (time.monotonic() - begin) / 60,
        "processor_minutes": (processor_seconds() - used) / 60,
    }
    with counts.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")
    return code


def processor_seconds() -> float:
    """Return the processor time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# -- the page ---------------------------------------------------------------------------------------------------------


def page(rows: Counts, wanted: float) -> str:
    """Return the page of the last run of each piece."""
    of = defaultdict(list)
    for row in rows:
        of[row["attack"]].append(row)
    faults = of["faults"]
    damages = of["damage"]
    rows_text = "\n".join(f"| {name} | {value:,} |" for name, value in totals(of).items())
    minutes = sum(row["minutes"] for row in of["run"])
    return f"""# Reliability

Run the attacks yourself: `make soak` takes at most an hour on two cores, and writes this page. `make test` runs a quick cut of
the same attacks.
[Security](../SECURITY.md) says what is promised, and [the facts](facts.md#untold-changes) what no client can tell.

This run: `python tools/soak.py --minutes {wanted:g}`, {minutes:.0f} minutes on {os.cpu_count()} cores, Python
{platform.python_version()}, {platform.system()}. {verdict(of["run"])}

{pieces(of["run"])}

| attack | count |
|---|---:|
{rows_text}

| result | count |
|---|---:|
| rows lost, rows doubled or other values without an error | {silent(faults, damages)} |
| exceptions that are no `LedgerframesError` | {foreign(faults, damages)} |

A row that is lost or doubled makes a frame differ from the undisturbed one, so both are counted in one line.

## Kills

Each process was killed by SIGKILL at a random moment. After at most four kills the work was done to its end, and its tables were
compared with those of a run that nobody disturbed.

| work | kills |
|---|---:|
{table_rows(sorted((row["victim"], row["kills"]) for row in of["kills"]))}

{disks(of)}

## Mutated bodies

Bodies of the recorded shapes with up to three changes. A body became rows, whose cells were compared with another reading of the
same JSON, or a `DecodeError`.

| decoder | bodies | rows | DecodeError |
|---|---:|---:|---:|
{table_rows(sorted((row["decoder"], row["inputs"], row["rows"], row["errors"]) for row in of["fuzz"]))}

## Damaged files

Flipped bits, overwritten, cut and exchanged parts at random places. A file was refused, or had the same rows.

| file | damages | bytes | refused | same rows |
|---|---:|---:|---:|---:|
{table_rows(sorted((row["file"], row["damages"], row["bytes"], row["refused"], row["unchanged"]) for row in damages))}

## Following

{long_run(of)}

## A limiter

{limiter(of)}

## Faults and loaders

Each fault met each loader on every request, on one, and on every third. `=` is the undisturbed frame, `E` a named error, and both
if it depends on the request. Afterwards the same store without the fault had the undisturbed frame. `·` means that the loader
makes no request that the fault changes.

{matrix(faults)}
"""


def verdict(runs: Counts) -> str:
    """Return whether the tests of all pieces passed."""
    missing = ", ".join(piece for piece in PIECES if piece not in {row["piece"] for row in runs})
    if missing:
        return f"Some tests failed or were not run ({missing}), so the zeros below do not hold everywhere."
    failed = any(row["code"] for row in runs)
    return "Some tests failed, so the zeros below do not hold everywhere." if failed else "All tests passed."


def pieces(runs: Counts) -> str:
    """Return the time of each piece as a table."""
    cells = [(row["piece"], f"{row['minutes']:.1f}", f"{row['processor_minutes']:.1f}") for row in runs]
    total = [f"{sum(row[name] for row in runs):.1f}" for name in ("minutes", "processor_minutes")]
    return f"| piece | minutes | processor minutes |\n|---|---:|---:|\n{table_rows([*cells, ('all', *total)])}"


def totals(of: dict[str, Counts]) -> dict[str, int]:
    """Return the counts of each kind of attack."""
    return {
        "faults injected into responses": sum(row["struck"] for row in of["faults"]),
        "loads with a fault": len(of["faults"]),
        "kills survived": sum(row["kills"] for row in of["kills"]),
        "bodies tried": sum(row["inputs"] for row in of["fuzz"]),
        "files damaged": sum(row["damages"] for row in of["damage"]),
        "bytes damaged": sum(row["bytes"] for row in of["damage"]),
        "loads beside prune, repair, recheck and compaction": sum(row["loads"] for row in of["beside"]),
    }


def silent(faults: Counts, damages: Counts) -> int:
    """Return how often rows differed without an error."""
    return sum(bool(row["problem"]) and row["outcome"] != "foreign" for row in faults) + sum(row["silent"] for row in damages)


def foreign(faults: Counts, damages: Counts) -> int:
    """Return how often an exception was none of this library."""
    return sum(row["outcome"] == "foreign" for row in faults) + sum(row["foreign"] for row in damages)


def table_rows(rows: Iterable[tuple[Any, ...]]) -> str:
    """Return rows of a table, numbers with separators."""
    return "\n".join(
        "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |" for row in rows
    )


def disks(of: dict[str, Counts]) -> str:
    """Return what happened on full and read-only disks, and with several processes."""
    refusals = ", ".join(f"{row['mode']} {row['refused']}" for row in sorted(of["disks"], key=lambda row: row["mode"]))
    writers = " and ".join(str(row["writers"]) for row in sorted(of["writers"], key=lambda row: row["writers"]))
    reads = sum(row["reads"] for row in of["readers"])
    return (
        f"Writes that were refused with a `StoreError`, after which the same load was exact: {refusals}.\n"
        f"{writers} writers at the same time, and {reads:,} reads during compactions, left the same tables."
    )


def long_run(of: dict[str, Counts]) -> str:
    """Return how long a ledger was followed, and what grew."""
    return "\n".join(map(_long_run, of["long run"]))


def _long_run(row: dict[str, Any]) -> str:
    growth, memory = row["growth"], row["growth"]["memory"] / 1e6
    return (
        f"A growing ledger was followed for {row['seconds']:,} s while its services failed at random, with\n"
        f"{row['errors']:,} restarts and {row['loads']:,} loads of events next to it. {row['rows']:,} rows were exact.\n"
        f"After the first quarter memory changed by {memory:.1f} MB, open files by {growth['files']},\n"
        f"and threads by {growth['threads']}."
    )


def limiter(of: dict[str, Counts]) -> str:
    """Return what a week through a limiter cost."""
    return "\n".join(map(_limiter, of["limiter"]))


def _limiter(row: dict[str, Any]) -> str:
    log = "\n".join(row["log"])
    return (
        f"A week in small pages through a limiter of 120 requests in 60 s took {row['requests']:,} requests,\n"
        f"{row['waits']} refusals and {row['minutes']:g} minutes of a simulated clock, for {row['rows']:,} exact rows.\n"
        f"Its log, with the time of that clock:\n\n```text\n{log}\n```"
    )


def matrix(faults: Counts) -> str:
    """Return the table of faults and loaders."""
    loaders = list(dict.fromkeys(row["loader"] for row in sorted(faults, key=lambda row: row["loader"])))
    cells: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in faults:
        mark = {"frame": "=", "untouched": "", "foreign": "!"}.get(row["outcome"], "E")
        cells[row["fault"], row["loader"]].add("!" if row["problem"] else mark)
    names = [loader.removeprefix("load_") for loader in loaders]
    lines = ["| fault | " + " | ".join(names) + " |", "|---|" + ":-:|" * len(names)]
    for fault in sorted({row["fault"] for row in faults}):
        marks = ["".join(sorted(cells[fault, loader])) or "·" for loader in loaders]
        lines.append(f"| {fault} | " + " | ".join(marks) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
