"""The benchmarks run, in small: what they measure there means nothing, but `make bench` must work for whoever wants to know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_benchmark_runs_and_is_on_the_page() -> None:
    page = ROOT / "docs" / "performance.md"
    before = page.read_bytes()
    ran = subprocess.run([sys.executable, "benchmarks/run.py", "--quick"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    figures = [line[2:].partition(" | ")[0] for line in page.read_text().splitlines() if " | ≥ " in line or " | ≤ " in line]
    assert len(figures) > 12
    assert [figure for figure in figures if figure not in ran.stdout] == []
    assert page.read_bytes() == before, "only a whole run writes the page"
