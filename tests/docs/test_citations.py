"""Every citation resolves, and nothing names a directory outside the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from citations import anchors_of, citation_problems, files_of, outside_problems, slug_of

ROOT = Path(__file__).resolve().parents[2]
FILES = files_of(ROOT)
BAD = "docs/" + "facts.md"  # not a citation of this file


def test_files_are_found() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in FILES}
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", ".ci/run", "ledgerframes/__init__.py"} <= names
    assert {"docs/facts.md", "docs/store.md", "notebooks/01_first_frames.ipynb", "tests/conftest.py"} <= names


def test_every_citation_resolves() -> None:
    problems = [f"{path.relative_to(ROOT)}: {problem}" for path in FILES for problem in citation_problems(ROOT, path)]
    assert problems == []


def test_nothing_names_a_directory_outside() -> None:
    problems = [f"{path.relative_to(ROOT)}: {problem}" for path in FILES for problem in outside_problems(ROOT, path)]
    assert problems == []


def test_every_fact_names_its_source() -> None:
    facts = (ROOT / "docs" / "facts.md").read_text(encoding="utf-8")
    sections = facts.partition("\n## Traps\n")[2].split("\n#### ")[1:]
    assert len(sections) > 60
    assert [section.partition("\n")[0] for section in sections if "*Source: " not in section] == []
    names = tuple(re.findall(r"^\| ([a-z ]+) \|", facts.partition("| source | meaning |")[2].partition("\n\n")[0], re.MULTILINE))
    assert len(names) > 5 and [source for source in re.findall(r"\*Source: ([^*]+)", facts) if not source.startswith(names)] == []


# -- the checks can fail --------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "tests").mkdir()
    page = '# Facts\n\n## Event id prefix\n\n```text\n# Not a heading\n```\n\n<a id="explicit"></a>\n'
    (tmp_path / "docs" / "facts.md").write_text(page)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("module.py", f'"""See {BAD}#event-id-prefix and {BAD}#explicit."""'),
        ("tests/page.md", "[a](../docs/facts.md#event-id-prefix) [b](#here) [c](https://host.example/x#y)\n\n# Here\n"),
        ("tests/test_x.py", 'ROOT = Path(__file__).parents[1]; OTHER = Path(__file__).parent.parent / "docs"'),
    ],
)
def test_good_citations_pass(repository: Path, name: str, text: str) -> None:
    (repository / name).write_text(text)
    assert list(citation_problems(repository, repository / name)) == []
    assert list(outside_problems(repository, repository / name)) == []


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("module.py", f'"""See {BAD}#no-such-fact."""', "no anchor 'no-such-fact'"),
        ("module.py", f'"""See {BAD}#not-a-heading."""', "no anchor 'not-a-heading'"),
        ("module.py", '"""See ' + "docs/" + 'missing.md."""', "missing.md does not exist"),
        ("module.py", 'Column("a", TEXT, "A.", "' + "wire " + 'fact 40")', "outdated citation"),
        ("module.py", 'Column("a", TEXT, "A.", "' + "questions " + 'T1")', "outdated citation"),
        ("module.py", 'Column("a", TEXT, "A.", "' + "or" + 'der: Contract object")', "outdated citation"),
        ("tests/page.md", "[a](../docs/facts.md#gone)", "no anchor 'gone'"),
        ("tests/page.md", "[a](gone.md)", "tests/gone.md does not exist"),
        ("tests/page.md", "[a](../../elsewhere.md)", "outside the repository"),
        (
            "tests/page.ipynb",
            '{"cells": [{"cell_type": "markdown", "source": ["[a](../docs/facts.md#gone)"]}]}',
            "no anchor 'gone'",
        ),
    ],
)
def test_bad_citations_are_reported(repository: Path, name: str, text: str, problem: str) -> None:
    (repository / name).write_text(text)
    (reported,) = citation_problems(repository, repository / name)
    assert problem in reported


@pytest.mark.parametrize(
    "text",
    [
        "DATA = Path(__file__).parents[2]",
        "DATA = Path(__file__).parents[1].parent",
        "DATA = Path(__file__).resolve().parent.parent.parent",
        'DATA = ROOT.parent / "' + 'shared"',
        "See .." + "/shared/answers.",
        'DATA = "' + "/wo" + 'rk/data"',
    ],
)
def test_names_outside_are_reported(repository: Path, text: str) -> None:
    (repository / "tests" / "test_x.py").write_text(text)
    assert len(list(outside_problems(repository, repository / "tests" / "test_x.py"))) == 1


@pytest.mark.parametrize(
    ("heading", "slug"),
    [("Event id prefix", "event-id-prefix"), ("`lf.sql`: how?", "lfsql-how"), ("effective_at", "effective_at")],
)
def test_slugs_are_those_of_repository_hosts(heading: str, slug: str) -> None:
    assert slug_of(heading) == slug


def test_anchors_are_headings_and_explicit_ones(repository: Path) -> None:
    assert anchors_of(repository / "docs" / "facts.md") == {"facts", "event-id-prefix", "explicit"}
