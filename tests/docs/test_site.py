"""The site builds without a warning, its links resolve, its sidebar is complete, and it loads nothing from other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urldefrag

import pytest
from browser import needs_browser, opened

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REMOTE = re.compile(r"^(?:https?:)?//")


class Page(HTMLParser):
    """The ids of a page, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link":
            self.loads.append(values["href"])
        elif "src" in values:
            self.loads.append(values["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    (options,) = re.findall(r"-m sphinx (.+) docs build/docs", (ROOT / "Makefile").read_text(encoding="utf-8"))
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", *options.split(), str(DOCS), str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in [*site.glob("*.html"), *site.glob("reference/*.html")]}


def test_warnings_are_errors() -> None:
    command = re.search(r"-m sphinx (.+) docs build/docs", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert command and {"--nitpicky", "--fail-on-warning"} <= set(command[1].split())


def broken_links(pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links + page.loads:
            target, fragment = urldefrag(unquote(link))
            if REMOTE.match(link) or target.startswith("mailto:"):
                continue
            file = (path.parent / target.partition("?")[0]).resolve() if target else path
            if not file.is_file() or (fragment and file in pages and fragment not in pages[file].ids):
                yield f"{path.name}: {link}"


@pytest.mark.exhaustive
def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 30
    assert list(broken_links(pages)) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<h1 id="here"></h1><a href="#here">a</a><a href="#there">b</a><a href="none.html">c</a><img src="none.png">')
    assert list(broken_links({page: Page(page)})) == ["page.html: #there", "page.html: none.html", "page.html: none.png"]


@pytest.mark.exhaustive
def test_nothing_is_loaded_from_other_hosts(site: Path, pages: dict[Path, Page]) -> None:
    assert [load for page in pages.values() for load in page.loads if REMOTE.match(load)] == []
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path.name


@pytest.mark.exhaustive
def test_the_sidebar_names_every_page(site: Path) -> None:
    sidebar = (
        (site / "index.html").read_text(encoding="utf-8").partition('<div class="sidebar-tree">')[2].partition("</aside>")[0]
    )
    named = set(re.findall(r'href="([\w/-]+)\.html"', sidebar))
    assert named == {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")} - {"index"}


@pytest.mark.exhaustive
def test_every_public_name_is_on_the_page_of_its_module(site: Path, pages: dict[Path, Page], generate: ModuleType) -> None:
    reference = import_module("reference")
    for title, module in reference.public_modules().items():
        ids = pages[site / "reference" / f"{reference.page_of(title)}.html"].ids
        assert {f"{module.__name__}.{name}" for name in reference.public_names(module)} <= ids, title


@pytest.mark.exhaustive
def test_every_page_loads_the_script_of_the_site(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert any(load.partition("?")[0].endswith("_static/site.js") for load in page.loads), path.name


@pytest.mark.exhaustive
@needs_browser
def test_every_block_of_code_has_a_button(site: Path, tmp_path: Path) -> None:
    document, errors = opened(tmp_path, (site / "first-hour.html").as_uri())
    blocks = re.findall(r'<div class="highlight"><pre[^>]*>.*?</pre>(<button [^>]*class="copy")?', document, re.DOTALL)
    assert blocks and all(blocks)
    assert errors == []


@pytest.mark.exhaustive
def test_a_name_has_its_parameters(site: Path) -> None:
    page = (site / "reference" / "lf-cost.html").read_text(encoding="utf-8")
    spend = page.partition('id="ledgerframes.analysis.cost.spend"')[2].partition("</dd></dl>")[0]
    assert all(f"<strong>{name}</strong>" in spend for name in ("frames", "by", "every", "completions"))


@pytest.mark.exhaustive
def test_parts_of_a_page_have_names_and_the_keyboard_reaches_what_scrolls(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        parts = re.findall(r'<aside[^>]*class="(?:sidebar|toc)-drawer[^>]*>|<p class="caption"[^>]*>', page)
        assert all("aria-l" in part for part in parts), path.name
        scrolling = re.findall(r'<pre[^>]*>|<div[^>]*class="table-wrapper[^>]*>', page)
        assert all('tabindex="0"' in part for part in scrolling), path.name
    assert "<h1>Search</h1>" in (site / "search.html").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_the_search_index_knows_the_pages(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert all(f'"{page.stem}"' in index for page in DOCS.glob("*.md"))
    assert "survivorship" in index


@pytest.mark.exhaustive
@needs_browser
@pytest.mark.parametrize("width", [600, 1100, 1400])
def test_a_page_is_as_wide_as_its_window(site: Path, tmp_path: Path, width: int) -> None:
    page, measure = site / "first-hour.html", "<script>document.title = document.documentElement.scrollWidth;</script>"
    copy = site / f"measured-{width}.html"
    copy.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{measure}</body>"), encoding="utf-8")
    try:
        document, _ = opened(tmp_path, copy.as_uri(), width)
    finally:
        copy.unlink()
    (measured,) = re.findall(r"<title>(\d+)</title>", document)
    assert int(measured) <= width


@pytest.mark.exhaustive
@needs_browser
def test_the_search_works_from_a_file(site: Path, tmp_path: Path) -> None:
    document, errors = opened(tmp_path, f"{(site / 'search.html').as_uri()}?q=survivorship")
    results = re.findall(r'<li class="kind-\w+"><a href="([\w/-]+\.html)', document)
    assert results and all((site / result).is_file() for result in results)
    assert errors == []


@needs_browser
def test_an_error_of_a_script_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<script>fetch('other.html').then(() => {})</script><script>missing()</script>")
    _, errors = opened(tmp_path, page.as_uri())
    assert any("Failed to fetch" in error for error in errors)
    assert any("missing is not defined" in error for error in errors)
