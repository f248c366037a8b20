"""What the README promises: its notebook lines run, its commands exist, its links lead somewhere."""

from __future__ import annotations

import ast
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib import pyplot

import ledgerframes as lf
from ledgerframes.cli import main
from ledgerframes.report import REPORTS, Report
from ledgerframes.report.page import digest_of_script

ROOT = Path(__file__).parents[2]
READMES = ["README.md", "data/README.md"]
mpl.use("Agg")


@pytest.fixture
def figures_are_closed() -> Iterator[None]:
    """Examples draw; nobody looks."""
    yield
    pyplot.close("all")


@pytest.mark.usefixtures("figures_are_closed")
@pytest.mark.parametrize("readme", READMES)
def test_python_blocks_run(readme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text(), re.DOTALL)
    assert blocks
    monkeypatch.chdir(ROOT)
    for block in blocks:
        names: dict[str, object] = {}
        for statement in ast.parse(block).body:
            if isinstance(statement, ast.Expr):
                shown = eval(compile(ast.Expression(statement.value), readme, "eval"), names)
                assert_answers(shown, ast.unparse(statement))
            else:
                exec(compile(ast.Module([statement], []), readme, "exec"), names)


def assert_answers(shown: object, example: str) -> None:
    """A table that an example shows has rows, and one of latencies has its percentiles."""
    if isinstance(shown, pd.DataFrame):
        assert len(shown), example
        percentiles = ["p50", "p90", "p95", "p99"] if "p50" in shown else []
        assert shown[percentiles].notna().all(axis=None), example


@pytest.mark.exhaustive
def test_the_picture_is_what_the_report_of_the_week_says(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
    week = script["run_week"](lf.connect("sandbox"), tmp_path / "reports")
    for theme, colors in script["THEMES"].items():
        script["draw_week"](week.run, colors, tmp_path / "week.svg")
        assert (tmp_path / "week.svg").read_text() == (ROOT / "docs" / "images" / f"week-{theme}.svg").read_text()
    page = (ROOT / "docs" / "images" / "week.html").read_text(encoding="utf-8")
    assert week.run["inputs"]["notebook"][:16] in page, "python docs/pictures.py makes it again"
    assert [each["label"] for each in week.run["key_figures"] if each["value"] not in page.replace("\xa0", " ")] == []


def test_the_sample_page_stands_alone_and_is_a_report() -> None:
    page = (ROOT / "docs" / "images" / "week.html").read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert digest_of_script(script) in page, "the policy of the page allows its script"
    assert [each for each in re.findall(r'\bsrc="([^"]*)"', page) if not each.startswith("data:")] == []
    links = re.findall(r'href="([^"]*)"', page)
    assert links and [each for each in links if not each.startswith("#") or f'id="{each[1:]}"' not in page] == []
    assert '<h2 id="needs-attention">Needs attention</h2>' in page


def test_the_sample_is_what_the_sandbox_makes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "data" / "make.py"))
    monkeypatch.setitem(script["main"].__globals__, "DIRECTORY", tmp_path / "sample")
    script["main"]()
    kept, made = lf.open_frames(ROOT / "data" / "sample"), lf.open_frames(tmp_path / "sample")
    assert (kept.network, kept.tables) == (made.network, made.tables)
    assert [table for table in kept.tables if not getattr(kept, table).equals(getattr(made, table))] == []
    assert set(kept.verdicts["migration_id"]) == {4}  # as the page says


def test_the_list_of_notebooks_is_complete() -> None:
    listed = re.findall(r"^- \[[^\]]+\]\((notebooks/\S+)\)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert listed == sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("report", REPORTS.values(), ids=lambda report: report.name)
def test_each_report_is_made_and_listed(report: Report) -> None:
    makefile, page = ((ROOT / name).read_text() for name in ("Makefile", "docs/reports.md"))
    made = re.findall(r"report-([\w-]+)|report run ([\w-]+)", makefile.partition("\ntest:")[0])
    assert report.name in {name for names in made for name in names}, "make reports must run it"
    assert f"\n| `{report.name}` |" in page, "the table of docs/reports.md needs its row"
    on_costs = page.partition("in the reports on costs (")[2].partition(")")[0]
    assert (f"`{report.name}`" in on_costs) == report.needs_cost, "docs/reports.md lists the reports that need costs"


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    texts = [(ROOT / page).read_text() for page in (*READMES, "CONTRIBUTING.md")]
    named = {target for text in texts for target in re.findall(r"(?:^|`)make ([\w-]+)", text, re.MULTILINE)}
    assert named <= targets
    assert {"venv", "report", "test", "lab", "lint", "docs", "bench", "data"} <= targets


def test_commands_and_their_options_exist(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join((ROOT / page).read_text() for page in READMES)
    lines = re.findall(r"^ledgerframes .*$", text, re.MULTILINE)
    assert lines
    for line in lines:
        words = shlex.split(line)[1:]
        options = [word for word in words if word.startswith("--")]
        first_option = words.index(options[0]) if options else len(words)
        command = [word for word in words[:first_option] if word not in ("traffic-cost", "verdicts")]
        assert main([*command, "--help"]) == 0
        shown = capsys.readouterr().out
        assert all(option in shown for option in options), line


@pytest.mark.parametrize("readme", [*READMES, "CONTRIBUTING.md"])
def test_links_lead_somewhere(readme: str) -> None:
    page = ROOT / readme
    for target in re.findall(r"\]\(([\w./-]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
