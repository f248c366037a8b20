"""The gallery has each plot with its call, and the site puts a picture beside each, and outputs beside each notebook."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest
from browser import needs_browser, picture_of

from ledgerframes.plots import PICTURES
from ledgerframes.report import notebooks_dir
from ledgerframes.report.page import TEMPLATES

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


def test_the_site_shows_a_picture_of_each_plot() -> None:
    text = CONF["PLOT"].sub(CONF["PICTURE"], page("gallery.md"))
    assert re.findall(r'<img src="gallery/([\w.]+)\.svg" alt="[^"]+">', text) == sorted(PICTURES)


def test_the_site_links_each_notebook_with_its_outputs() -> None:
    text = CONF["NOTEBOOK"].sub(CONF["RENDERED"], page("notebooks.md"))
    names = [path.stem for path in sorted(notebooks_dir().glob("*.ipynb"))]
    assert re.findall(r'<a href="notebooks/(\w+)\.html">', text) == names
    assert text.count("Sections: ") == len(names)


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
