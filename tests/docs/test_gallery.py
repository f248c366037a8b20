"""The gallery has each plot with its call, and the site puts a picture beside each, and outputs beside each notebook."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest
from browser import needs_browser, picture_of

import ledgerframes as lf
from ledgerframes.plots import PICTURES
from ledgerframes.report import notebooks_dir
from ledgerframes.report.page import TEMPLATES
from ledgerframes.report.pictures import COLORS

DOCS = Path(__file__).parents[2] / "docs"
ANSWER = """<div class="lf-answer"><div class="table"><table>
<tr><th>party</th><th class="number">cost</th></tr><tr><td>alder</td><td class="number">1</td></tr></table></div></div>"""
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
    monkeypatch.setattr(gallery, "LARGE", gallery.SMALL)
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


def test_the_gallery_says_what_its_calls_need() -> None:
    introduction = page("gallery.md").partition("\n## ")[0]
    assert "`import ledgerframes as lf`" in introduction
    assert "`net = lf.connect(" in introduction


def test_a_citation_is_a_link_on_the_pages_of_the_reference() -> None:
    lines = ["Source: verdicts (docs/facts.md#traffic-fields).", "``docs/facts.md#versions``", "See docs/uncertainty.md."]
    CONF["link_citations"](None, "function", "", None, None, lines)
    link = "`traffic fields <../facts.html#traffic-fields>`__"
    assert lines == [f"Source: verdicts ({link}).", "``docs/facts.md#versions``", "See `uncertainty <../uncertainty.html>`__."]


@needs_browser
@pytest.mark.parametrize("is_dark", [False, True])
def test_an_output_is_readable_in_both_themes(tmp_path: Path, gallery: ModuleType, is_dark: bool) -> None:
    page, style = tmp_path / "page.html", (TEMPLATES / "answer.css").read_text(encoding="utf-8")
    page.write_text(gallery.rendered_page("page", f"<style>{style}</style>{ANSWER}"), encoding="utf-8")
    shades = picture_of(tmp_path, page, is_dark=is_dark).histogram()
    paper, ink = (min, max) if is_dark else (max, min)
    seen = [shade for shade, count in enumerate(shades) if count]
    assert shades[paper(seen)] > 0.9 * sum(shades), "one paper, also below the table"
    assert (paper(seen) < 64, ink(seen) > 192) == (is_dark, is_dark)
