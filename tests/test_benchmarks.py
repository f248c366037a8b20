"""What the benchmarks keep can be made from nothing; `python benchmarks/run.py --quick` runs all of them in small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
READS = "from warm_reads import warm_reads; print(len(warm_reads(20_000, 1)))"


def test_a_store_is_made_and_read(tmp_path: Path) -> None:
    environment = {**os.environ, "BENCH_FOLDER": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", READS], cwd=BENCHMARKS, env=environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "3\n"), ran.stderr[-3000:]
