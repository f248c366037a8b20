"""The page of measured figures names every figure that the benchmarks measure; `python benchmarks/run.py --quick` runs them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"
NAME = re.compile(r'\bFigure\(\s*f?"([^"]+)"')
VALUE = re.compile(r"\\\{.+?\\\}")  # in an escaped name, which has a number of rows or a window there
SIGNS = ("≥", "≤")


def names() -> list[re.Pattern[str]]:
    found = [name for path in sorted((ROOT / "benchmarks").glob("*.py")) for name in NAME.findall(path.read_text())]
    assert len(found) == len(set(found))
    return [re.compile(VALUE.sub(".+", re.escape(name))) for name in found]


def cells() -> dict[str, list[str]]:
    table = PAGE.read_text().partition("\n## Figures\n")[2].partition("\n## ")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")]
    return {name: rest for name, *rest in lines[2:]}


def test_every_figure_is_in_the_table() -> None:
    assert len(names()) > 12
    patterns = names()
    assert [name.pattern for name in patterns if not any(map(name.fullmatch, cells()))] == []
    assert [figure for figure in cells() if sum(bool(name.fullmatch(figure)) for name in patterns) != 1] == []


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
    assert [figure for figure in cells() if f"**{figure}**" not in compared] == []


def test_the_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([\w./-]+)\)", PAGE.read_text())
    assert pictures
    assert all((PAGE.parent / picture).stat().st_size > 10_000 for picture in pictures)


def test_every_benchmark_is_in_the_run() -> None:
    run = (ROOT / "benchmarks" / "run.py").read_text()
    with_figures = {path.stem for path in (ROOT / "benchmarks").glob("*.py") if NAME.search(path.read_text())}
    assert with_figures
    assert all(re.search(rf"^(from|import) {name}\b", run, re.MULTILINE) for name in with_figures)
