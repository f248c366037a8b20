"""The gallery: each plot with its call, and for the site its picture and the notebooks with their outputs.

``python docs/gallery.py build/sample`` draws and renders what the site shows beside its pages, from the embedded sandbox.
"""

from __future__ import annotations

import doctest
import functools
import inspect
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")

import ledgerframes as lf
from ledgerframes.analysis import FIGURES
from ledgerframes.plots import PICTURES
from ledgerframes.report.pictures import COLORS

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
INTRODUCTION = """\
# Gallery

{py:func}`lf.plot <ledgerframes.plot>` draws any of these results on new axes, or on those of `ax=`. `lf.show(result)` draws it
with its sentence and its table. Below each picture is its example, which needs two lines before it:

```py
import ledgerframes as lf
net = lf.connect("sandbox")
```

"""
# The sandbox of examples, one whose history fills a picture, and one whose days do.
SMALL, LARGE, FULL = "events=400, days=1", "events=2000, days=8", "events=52000, days=52"
CONNECTIONS = ("import ledgerframes as lf", f'net = lf.connect("sandbox", {SMALL})')  # which all examples share
OF_A_DAY = "day = lf.load_events("
# Buttons that copy, and the colors of code, as on the other pages of the site.
HEAD = """\
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="../_static/pygments.css"><link rel="stylesheet" href="../_static/code.css">
<script defer src="../_static/site.js"></script>"""
# The scheme of the root also makes the canvas of the page dark. That of the body would leave black text on white paper.
STYLE = """\
:root { color-scheme: light dark; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif; }
pre { overflow-x: auto; padding: .6rem .8rem; border: 1px solid #8884; border-radius: 4px; font-size: .85em; }
table { border: 0; border-collapse: collapse; font-size: .85em; }
th, td { padding: .25rem .6rem; border: solid #8883; border-width: 0 0 1px; }
.dataframe td { text-align: right; }
nav a { color: inherit; }
.anchor-link, .jp-InputPrompt, .jp-OutputPrompt, .prompt { display: none; } div.output_subarea, div.table { overflow-x: auto; }
"""


def plots() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield the name of each picture, its first sentence, what it has, and the lines of its example."""
    for name, draw in sorted(PICTURES.items()):
        text = inspect.getdoc(draw) or ""
        sentence, _, content = text.partition("\n\nExamples\n")[0].partition("\n\n")
        if name in FIGURES and FIGURES[name].drawn:  # drawn like others, so its analysis has the example
            text, content = inspect.getdoc(attrgetter(name)(lf)) or "", ""
            sentence = f"Draw the column `{FIGURES[name].drawn}`, with a bar for each row or a line for each group over time."
        yield name, sentence, content, [each.source.rstrip() for each in doctest.DocTestParser().get_examples(text)]


def gallery_page() -> str:
    """Return the page, whose pictures the site has."""
    return "\n".join([INTRODUCTION, *(entry(*plot) for plot in plots())])


def entry(name: str, sentence: str, content: str, lines: list[str]) -> str:
    """Return a picture with what it has and its call."""
    call = "\n".join(line for line in lines if line not in CONNECTIONS)
    return f"## {name}\n\n{sentence}\n\n{content.replace('``', '`')}\n\n```py\n{call}\n```\n"


def draw(directory: Path) -> None:
    """Draw the example of each plot, once for each theme."""
    directory.mkdir(parents=True, exist_ok=True)
    lf.connect = functools.cache(lf.connect)  # type: ignore[misc]  # one world for all examples
    for name, _, _, lines in plots():
        names: dict[str, object] = {}
        text = "\n".join(lines)
        world = FULL if OF_A_DAY in text else LARGE
        exec(compile(text.replace(SMALL, world), name, "exec"), names)  # noqa: S102 - examples of this package, which its tests run
        file = io.StringIO()
        names["ax"].figure.savefig(file, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})  # type: ignore[attr-defined]
        for theme, svg in themes_of(file.getvalue()).items():
            (directory / f"{name}-{theme}.svg").write_text(svg, encoding="utf-8")
        mpl.pyplot.close("all")


def themes_of(svg: str) -> dict[str, str]:
    """Return a picture for light and for dark pages, with the colors that it has in reports."""
    return {"light": svg, "dark": re.sub("|".join(COLORS), lambda match: COLORS[match[0]][1], svg)}


def render(directory: Path) -> None:
    """Run the notebooks, and write each as a page that loads only files of the site."""
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    from ledgerframes.report import notebooks_dir

    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted(notebooks_dir().glob("*.ipynb")):
        book = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as working_dir:
            client = NotebookClient(book, kernel_name="python3", timeout=900, extra_arguments=["--log-level=ERROR"])
            client.execute(cwd=working_dir)
        body, _ = HTMLExporter(template_name="basic").from_notebook_node(book)
        (directory / f"{path.stem}.html").write_text(rendered_page(title_of(book), body), encoding="utf-8")


def title_of(book: NotebookNode) -> str:
    """Return the heading that a notebook starts with."""
    return str(book.cells[0].source).partition("\n")[0].lstrip("# ")


def rendered_page(title: str, body: str) -> str:
    """Return the page of a notebook with its outputs, light or dark as the browser is."""
    from ledgerframes.texts.control_characters import escape_html

    head = f"{HEAD}<title>{escape_html(title)}</title><style>{STYLE}</style>"
    back = '<nav><a href="../notebooks.html">All notebooks</a></nav>'
    article = f"<main><article>{body.replace(f'{ROOT}/', '')}</article></main>"  # paths as in any checkout
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{back}{article}</body></html>'


if __name__ == "__main__":
    os.environ.setdefault("LEDGERFRAMES_STORE", str(ROOT / ".ledgerframes" / "store"))
    draw(Path(sys.argv[1]) / "gallery")
    render(Path(sys.argv[1]) / "notebooks")
