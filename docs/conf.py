"""The site of these pages: ``make docs`` builds it in ``build/docs``. It loads nothing from other hosts."""

from __future__ import annotations

import re
import sys
import tomllib
from functools import reduce
from pathlib import Path

from sphinx.application import Sphinx

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = PROJECT["name"]
author = PROJECT["authors"][0]["name"]
version = release = PROJECT["version"]
html_title = f"{project} {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
add_module_names = False
autodoc_typehints = "none"  # docstrings have them in words
napoleon_google_docstring = False
napoleon_use_ivar = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types in docstrings are words
myst_heading_anchors = 6  # the anchors that hosts of repositories give to headings
nitpicky = True
smartquotes = False  # which would make one dash of the two before an option
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css", "code.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False  # the project names no holder
SAMPLE = Path(__file__).parents[1] / "build" / "sample"  # reports of the sandbox, which `make docs` publishes
html_extra_path = [str(SAMPLE)] if SAMPLE.is_dir() else []

SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
PAGE = re.compile(r"^\| \[[^\]]+\]\(([\w/-]+)\.md\)", re.MULTILINE)
OUTSIDE = re.compile(r"\[([^\]]+)\]\((\.\./[\w./-]+)\)")
TOCTREE = "\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"
SAMPLE_LINK = (
    '\n\n<p><a href="sample/index.html">Sample reports</a> of a week of the sandbox, as a scheduler publishes them.</p>\n\n'
)
PLOT = re.compile(r"^## ([\w.]+)\n\n(.+)$", re.MULTILINE)
THEMES = ("light", "dark")  # the theme of the site shows an image of its class only
IMAGES = "".join(rf'<img class="only-{theme}" src="gallery/\1-{theme}.svg" alt="\2">' for theme in THEMES)
PICTURE = rf"## \1\n\n\2\n\n<p>{IMAGES}</p>"
NOTEBOOK = re.compile(r"^Notebook: \[\w+\]\([\w./-]*?(\w+)\.ipynb\)", re.MULTILINE)
RENDERED = r'\g<0> (<a href="notebooks/\1.html">with its outputs</a>)'
NAMES = {
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    'role="heading"><span class="caption-text">': 'role="heading" aria-level="2"><span class="caption-text">',
    '<div id="search-results"></div>': '<h1>Search</h1>\n<div id="search-results"></div>',
    # What can scroll is reached by the keyboard.
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    "<p><img": '<p tabindex="0"><img',
    '<div class="output_html rendered_html output_subarea': '<div tabindex="0" class="output_html rendered_html output_subarea',
    "<th></th>": "<td></td>",  # the corner of a frame is no heading
}
CITATION = re.compile(r"(?<!`)\bdocs/([\w-]+)\.md(?:#([\w-]+))?")
ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)


def setup(app: Sphinx) -> None:
    """Write the pages that are made from code, and register the changes to pages."""
    sys.path.insert(0, str(Path(__file__).parent))
    from generate import write

    write()
    app.connect("source-read", change_page)
    app.connect("autodoc-process-docstring", link_citations)
    app.connect("build-finished", name_parts)


def change_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn what hosts of repositories show into what Sphinx reads: anchors, files outside this directory, the sidebar."""
    if name == "gallery" and (SAMPLE / "gallery").is_dir():
        source[0] = PLOT.sub(PICTURE, source[0])
    if name == "notebooks" and (SAMPLE / "notebooks").is_dir():
        source[0] = NOTEBOOK.sub(RENDERED, source[0])
    source[0] = source[0].replace("\n\n```\n", "\n```\n")  # the tests of examples need the empty line, a reader does not
    source[0] = ANCHOR.sub(r"(\1)=", source[0])
    source[0] = OUTSIDE.sub(r"{download}`\1 <\2>`", source[0])
    if name == "index":
        source[0] += navigation(source[0])
        if (SAMPLE / "sample").is_dir():
            source[0] = source[0].replace("\n\n", SAMPLE_LINK, 1)


def link_citations(app: Sphinx, kind: str, name: str, documented: object, options: object, lines: list[str]) -> None:
    """Turn the citations of a docstring, such as docs/facts.md#versions, into links from the pages of the reference."""
    lines[:] = [CITATION.sub(citation_link, line) for line in lines]


def citation_link(citation: re.Match[str]) -> str:
    """Return the link to the section or page that a docstring cites, with its name in words."""
    page, anchor = citation.groups()
    address = f"../{page}.html#{anchor}" if anchor else f"../{page}.html"
    return f"`{(anchor or page).replace('-', ' ')} <{address}>`__"


def name_parts(app: Sphinx, error: Exception | None) -> None:
    """Give the parts of each page names and levels that the theme does not give, and let the keyboard reach them."""
    for path in sorted(Path(app.outdir).rglob("*.html")):
        if path.relative_to(app.outdir).parts[0] != "sample":
            page = path.read_text(encoding="utf-8")
            named = reduce(lambda text, pair: text.replace(*pair), NAMES.items(), page)
            if named != page:
                path.write_text(named, encoding="utf-8")


def navigation(index: str) -> str:
    """Return the sidebar: the tables of the index, each with its heading as caption."""
    _, *parts = SECTION.split(index)
    sections = zip(parts[::2], map(PAGE.findall, parts[1::2]), strict=True)
    return "".join(TOCTREE.format(caption=caption, pages="\n".join(pages)) for caption, pages in sections if pages)
