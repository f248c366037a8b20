"""The gallery has each plot with its call, and the site puts a picture beside each, and outputs beside each notebook."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from ledgerframes.plots import PICTURES
from ledgerframes.report import notebooks_dir

DOCS = Path(__file__).parents[2] / "docs"
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
