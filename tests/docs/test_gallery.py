"""The gallery has each plot with its call, and the site puts a picture beside each, and outputs beside each notebook."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from browser import needs_browser, opened, picture_of
from cases import every_nth

import ledgerframes as lf
from ledgerframes.plots import PICTURES
from ledgerframes.report import notebooks_dir
from ledgerframes.report.page import TEMPLATES
from ledgerframes.report.pictures import COLORS

DOCS = Path(__file__).parents[2] / "docs"
ANSWER = """<div class="lf-answer"><div class="table"><table>
<tr><th>party</th><th class="number">cost</th></tr><tr><td>alder</td><td class="number">1</td></tr></table></div></div>"""
CELL = '<div class="highlight hl-ipython3"><pre>net = lf.connect()</pre></div><div class="output_text"><pre>1</pre></div>'
CONF = runpy.run_path(str(DOCS / "conf.py"))


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_each_plot_has_its_call() -> None:
    text = page("gallery.md")
    entries = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert [entry.partition("\n")[0] for entry in entries] == sorted(PICTURES)
    for entry in entries:
        assert re.search(r"```py\n(?:.*\n)*ax = lf\.plot\(.+\)\n```", entry), entry


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_site_shows_a_picture_of_each_plot(theme: str) -> None:
    text = CONF["PLOT"].sub(CONF["PICTURE"], page("gallery.md"))
    images = rf'<img class="only-{theme}" src="gallery/([\w.]+)-{theme}\.svg" alt="[^"]+">'
    assert re.findall(images, text) == sorted(PICTURES)


def test_a_picture_is_drawn_for_both_themes(tmp_path: Path, gallery: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    plot = next(plot for plot in gallery.plots() if plot[0] == "cost.spend")
    monkeypatch.setattr(gallery, "plots", lambda: iter([plot]))
    monkeypatch.setattr(gallery, "FULL", gallery.SMALL)
    monkeypatch.setattr(lf, "connect", lf.connect)  # which drawing replaces
    gallery.draw(tmp_path)
    light, dark = ((tmp_path / f"cost.spend-{theme}.svg").read_text(encoding="utf-8") for theme in ("light", "dark"))
    inks = [ink for ink in COLORS if ink in light]
    assert inks
    assert all(ink not in dark and COLORS[ink][1] in dark for ink in inks)
    assert re.sub("#[0-9a-f]{6}", "", light) == re.sub("#[0-9a-f]{6}", "", dark)


def test_the_site_links_each_notebook_with_its_outputs() -> None:
    text = CONF["NOTEBOOK"].sub(CONF["RENDERED"], page("notebooks.md"))
    names = [path.stem for path in sorted(notebooks_dir().glob("*.ipynb"))]
    assert re.findall(r'<a href="notebooks/(\w+)\.html">', text) == names
    assert text.count("Sections: ") == len(names)


def test_a_notebook_with_its_outputs_leads_back_to_the_site(gallery: ModuleType) -> None:
    assert '<a href="../notebooks.html">' in gallery.rendered_page("page", "")


def test_the_page_of_a_notebook_fits_a_phone_and_has_a_name(gallery: ModuleType) -> None:
    book = SimpleNamespace(cells=[SimpleNamespace(source="# First frames\n\nLoad typed frames.")])
    page = gallery.rendered_page(gallery.title_of(book), "")
    assert "<title>First frames</title>" in page
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page


def test_the_page_of_a_notebook_hides_where_it_was_made(gallery: ModuleType) -> None:
    page = gallery.rendered_page("page", f"<td>{DOCS.parent}/.ledgerframes/store</td>")
    assert "<td>.ledgerframes/store</td>" in page


@needs_browser
def test_code_of_a_notebook_has_a_button(tmp_path: Path, gallery: ModuleType) -> None:
    shutil.copytree(DOCS / "_static", tmp_path / "_static")
    (tmp_path / "_static" / "pygments.css").touch()  # which Sphinx writes
    page = tmp_path / "notebooks" / "page.html"
    page.parent.mkdir()
    page.write_text(gallery.rendered_page("page", CELL), encoding="utf-8")
    document, errors = opened(tmp_path, page.as_uri())
    assert re.findall(r'<button [^>]*class="copy" aria-label="([^"]+)"', document) == ["Copy the code: net = lf.connect()"]
    assert errors == []


def test_the_gallery_says_what_its_calls_need() -> None:
    introduction = page("gallery.md").partition("\n## ")[0]
    assert '```py\nimport ledgerframes as lf\nnet = lf.connect("sandbox")\n```' in introduction


def test_a_citation_is_a_link_on_the_pages_of_the_reference() -> None:
    lines = ["Source: verdicts (docs/facts.md#traffic-fields).", "``docs/facts.md#versions``", "See docs/uncertainty.md."]
    CONF["link_citations"](None, "function", "", None, None, lines)
    link = "`traffic fields <../facts.html#traffic-fields>`__"
    assert lines == [f"Source: verdicts ({link}).", "``docs/facts.md#versions``", "See `uncertainty <../uncertainty.html>`__."]


@needs_browser
@pytest.mark.parametrize("is_dark", every_nth([True, False], 2))
def test_an_output_is_readable_in_both_themes(tmp_path: Path, gallery: ModuleType, is_dark: bool) -> None:
    page, style = tmp_path / "page.html", (TEMPLATES / "answer.css").read_text(encoding="utf-8")
    page.write_text(gallery.rendered_page("page", f"<style>{style}</style>{ANSWER}"), encoding="utf-8")
    shades = picture_of(tmp_path, page, is_dark=is_dark).histogram()
    paper, ink = (min, max) if is_dark else (max, min)
    seen = [shade for shade, count in enumerate(shades) if count]
    assert shades[paper(seen)] > 0.9 * sum(shades), "one paper, also below the table"
    assert (paper(seen) < 64, ink(seen) > 192) == (is_dark, is_dark)
