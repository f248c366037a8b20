"""The docs are current, complete, linked, and their examples run."""

from __future__ import annotations

import doctest
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import matplotlib as mpl
import pandas as pd
import pytest
from cases import only
from citations import anchors_of
from matplotlib import pyplot

import ledgerframes as lf
from ledgerframes.report.run_content import RunContent
from ledgerframes.report.sentences import LinkedText

DOCS = Path(__file__).parents[2] / "docs"
GENERATED_PAGES = {
    "cli.md",
    "gallery.md",
    "notebooks.md",
    "operations.md",
    "questions.md",
    "run-json.md",
    "settings.md",
    "tables.md",
}
PAGES = sorted({page.name for page in DOCS.glob("*.md")} | GENERATED_PAGES)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


# -- pages that are made from code --------------------------------------------------------------------------------


def test_every_command_is_in_the_manual(generate: ModuleType) -> None:
    page = (DOCS / "cli.md").read_text()
    for command in generate.commands():
        assert f"## {' '.join(['ledgerframes', *command])}\n" in page


def test_what_is_made_from_code_is_not_in_the_repository(generate: ModuleType) -> None:
    ignored = (DOCS.parent / ".gitignore").read_text().splitlines()
    pages = set(generate.pages())
    assert {page for page in pages if "/" not in page} == GENERATED_PAGES
    assert {f"/docs/{page}" if "/" not in page else f"/docs/{page.partition('/')[0]}/" for page in pages} <= set(ignored)
    if (DOCS.parent / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "docs"], cwd=DOCS.parent, check=True, capture_output=True, text=True).stdout
        assert {f"docs/{page}" for page in pages}.isdisjoint(listed.splitlines())


@pytest.mark.parametrize("name", [name for name in dir(lf) if name.startswith("load_")])
def test_every_loader_is_on_a_page(name: str) -> None:
    pages = [path for path in DOCS.glob("*.md") if name in path.read_text(encoding="utf-8")]
    assert pages, "docs/events.md, ledger.md and wallet.md have the loaders"


def test_every_setting_has_a_meaning(generate: ModuleType) -> None:
    for line in generate.settings_grid().splitlines()[2:]:
        assert line.split(" | ")[-1].strip(" |"), line


def test_every_member_of_a_run_has_a_meaning(generate: ModuleType) -> None:
    kinds = dict([("run", RunContent), *generate.nested_types(RunContent)])
    assert len(kinds) == 15 and kinds["attention.findings"] is LinkedText
    for kind in kinds.values():
        assert generate.attribute_meanings(kind).keys() == get_type_hints(kind).keys(), kind
    page = (DOCS / "run-json.md").read_text()
    assert (
        "| `before` | array of numbers or nulls |  | Value of each day of the weeks or the period before the window, null" in page
    )
    assert "| [`attention`](#attention) | object or null | yes | " in page


# -- hand-written pages -------------------------------------------------------------------------------------------


@pytest.fixture
def figures_are_closed() -> Iterator[None]:
    """A page may draw many figures, and nobody looks."""
    with mpl.rc_context({"figure.max_open_warning": 0}):
        yield
    pyplot.close("all")


# Of the pages with networks: their calls are those of docstrings, and their networks are larger.
LATER = (
    "activity.md",
    "bulk.md",
    "economy.md",
    "engines.md",
    "events.md",
    "money.md",
    "questions.md",
    "reconcile.md",
    "state.md",
    "times-and-costs.md",
    "traps.md",
)


@pytest.mark.usefixtures("figures_are_closed", "copied_first_loads")
@pytest.mark.parametrize("page", only(lambda page: page not in LATER, PAGES))
def test_examples_run(page: str) -> None:
    text = (DOCS / page).read_text()
    blocks = PYTHON.findall(text)
    assert all(block.startswith(">>> ") for block in blocks), "examples are written as at the prompt, so that they are tested"
    example = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    shown: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=shown.append, clear_globs=False)
    assert shown == [], "".join(shown)
    tables = {name: value for name, value in example.globs.items() if isinstance(value, pd.DataFrame)}
    assert [name for name, table in tables.items() if table.empty] == [], "an example has no answer"


def test_the_index_names_every_page() -> None:
    linked = set(re.findall(r"\]\((\w[\w/-]*\.md)\)", (DOCS / "index.md").read_text()))
    assert linked == set(PAGES) - {"index.md"} | {"reference/index.md"}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text()
    for target, anchor in re.findall(r"\]\(([\w./-]*)#?([\w-]*)\)", text):
        file = DOCS / target if target else DOCS / page
        assert file.is_file(), target
        assert not anchor or anchor in anchors_of(file), anchor


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_machine(page: str) -> None:
    assert not re.search(r"/(home|root|tmp|Users|work|opt|var)/|0x[0-9a-f]{6}|[\w.-]+:\d{4,5}/", (DOCS / page).read_text())
