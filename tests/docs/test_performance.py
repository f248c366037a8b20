"""The page of measured figures names every figure that the benchmarks measure; `python benchmarks/run.py --quick` runs them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"
NAME = re.compile(r'\bFigure\(\s*"([^"]+)"')
SIGNS = ("≥", "≤")


def names() -> list[str]:
    found = [name for path in sorted((ROOT / "benchmarks").glob("*.py")) for name in NAME.findall(path.read_text())]
    assert len(found) == len(set(found))
    return found


def cells() -> dict[str, list[str]]:
    table = PAGE.read_text().partition("\n## Figures\n")[2].partition("\n## ")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")]
    return {name: rest for name, *rest in lines[2:]}


def test_every_figure_is_in_the_table() -> None:
    assert len(names()) > 12
    assert set(cells()) == set(names())


def test_every_figure_stands_beside_its_goal_and_its_bound() -> None:
    for name, (measured, goal, bound, _) in cells().items():
        assert float(measured) > 0, name
        assert goal.startswith(SIGNS) and bound[0] == goal[0], name


def test_what_misses_is_marked_and_explained() -> None:
    limits = PAGE.read_text().partition("\n## What limits")[2]
    for name, (measured, goal, _, mark) in cells().items():
        better = float(measured) >= float(goal[2:]) if goal[0] == "≥" else float(measured) <= float(goal[2:])
        if float(measured) != float(goal[2:]):  # rounded to the goal, it may lie on either side
            assert better == (mark == ""), name
        assert better or f"**{name}**" in limits, name


def test_every_figure_says_what_it_compares() -> None:
    compared = PAGE.read_text().partition("\n## What is compared\n")[2].partition("\n## ")[0]
    assert [name for name in names() if f"**{name}**" not in compared] == []


def test_the_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([\w./-]+)\)", PAGE.read_text())
    assert pictures
    assert all((PAGE.parent / picture).stat().st_size > 10_000 for picture in pictures)


def test_every_benchmark_is_in_the_run() -> None:
    run = (ROOT / "benchmarks" / "run.py").read_text()
    with_figures = {path.stem for path in (ROOT / "benchmarks").glob("*.py") if NAME.search(path.read_text())}
    assert with_figures
    assert all(re.search(rf"^(from|import) {name}\b", run, re.MULTILINE) for name in with_figures)
