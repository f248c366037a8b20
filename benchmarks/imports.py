"""`import ledgerframes` against importing pandas and pyarrow, which it needs; and what it must not import."""

from __future__ import annotations

import functools
import json
import subprocess
import sys

from figures import Figure
from measuring import Row, environment
from rounds import busy, middle, on_all_cores, ratio

FOR_LATER = ("matplotlib", "duckdb", "jupyter_core", "jupyterlab", "IPython", "loky", "distributed", "dask", "flask", "httpx")
SHOWN = 10
CALL = "import time; began = time.perf_counter(); import {}; print(time.perf_counter() - began)"


def imports(rounds: int) -> Row:
    """Fresh processes in turn; the seconds are those of the import statement, without the start of the interpreter."""
    too_early = set(FOR_LATER) & set(
        json.loads(_output("-c", "import ledgerframes, json, sys; print(json.dumps(list(sys.modules)))"))
    )
    assert not too_early, f"import ledgerframes imports {', '.join(sorted(too_early))}"
    ours, theirs = "ledgerframes", "pandas, pyarrow"
    # The round that does not count compiles.
    taken = on_all_cores(rounds, {names: functools.partial(_seconds, names) for names in (ours, theirs)})
    note = f"{middle(taken, ours):.2f} s and {middle(taken, theirs):.2f} s; {busy(taken)}"
    return Row.of(
        Figure(
            "import ledgerframes, to importing pandas and pyarrow",
            ratio(taken, ours, theirs),
            1.25,
            1.5,
            higher_is_better=False,
            note=note,
        ),
        "The import statement in fresh processes, compiled before. That "
        f"{', '.join(f'`{name}`' for name in FOR_LATER)} are not imported by it is asserted, also by a test.",
        slowest,
    )


def slowest() -> str:
    """The modules that take longest by themselves, pandas and pyarrow left out."""
    shown = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import pandas, pyarrow; import ledgerframes"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    ).stderr
    lines = [line.removeprefix("import time:").split("|") for line in shown.splitlines()]
    end = next(number for number, line in enumerate(lines) if line[-1].strip() == "pandas")
    own = sorted(((int(line[0]), line[-1].strip()) for line in lines[end + 1 :]), reverse=True)
    return "\n".join(f"{microseconds / 1000:>6.1f} ms  {name}" for microseconds, name in own[:SHOWN])


def _seconds(names: str) -> float:
    return float(_output("-c", CALL.format(names)))


def _output(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment()).stdout
