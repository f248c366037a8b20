"""One self-contained HTML page from an executed notebook: nothing is loaded from elsewhere, and nothing runs.

The words of the notebook's author are Markdown without HTML; outputs are cleaned down to tables and text; pictures are
inlined. A strict Content-Security-Policy stands behind that as a second wall.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerframes.report.coverage import percent

if TYPE_CHECKING:
    from nbformat import NotebookNode

TEMPLATES = Path(__file__).parent / "templates"
NOT_ON_THE_PAGE = {"parameters", "injected-parameters", "notebook-only"}
TAGS_KEPT = (
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("p", "div", "span", "small", "strong", "em", "code", "pre", "br", "wbr", "ul", "ol", "li"),
)
ATTRIBUTES_KEPT = {"*": ["class", "title", "colspan", "rowspan", "scope"]}


@dataclass(frozen=True)
class Block:
    """A piece of the page: words, code, or an output; the last two kinds of HTML are safe by now."""

    kind: str
    html: str = ""
    source: str = ""


def render(book: NotebookNode, run: dict[str, Any]) -> str:
    """The page of a run.

    Parameters
    ----------
    book : NotebookNode
        Executed.
    run : dict
        What ``run.json`` is going to hold, as far as it is known.

    Returns
    -------
    str
        HTML.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    title, blocks = _blocks(book)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"percent": percent, "moment": _moment}
    return environment.get_template("report.html.j2").render(
        title=title or run["report"], blocks=blocks, run=run, style=(TEMPLATES / "report.css").read_text(encoding="utf-8")
    )


def _moment(time: str) -> str:
    """An ISO time as people read it."""
    return time.replace("T", " ").removesuffix("Z").removesuffix(":00")


def look_digest() -> str:
    """Names what makes the page look as it does: this module's templates."""
    files = sorted(path for path in TEMPLATES.iterdir() if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _blocks(book: NotebookNode) -> tuple[str, list[Block]]:
    """The title, which is the first heading, and everything after it in order."""
    title, blocks = "", []
    for cell in book.cells:
        if NOT_ON_THE_PAGE.intersection(cell.metadata.get("tags", ())):
            continue
        if cell.cell_type == "markdown":
            text = cell.source
            if not title and text.startswith("# "):
                heading, _, text = text.partition("\n")
                title = heading[2:].strip()
            blocks.append(Block("words", _markdown(text)))
        elif cell.cell_type == "code":
            blocks += [block for output in cell.outputs if (block := _output(output))]
            blocks.append(Block("code", source=cell.source))
    return title, _gathered(blocks)


def _gathered(blocks: list[Block]) -> list[Block]:
    """The code between two passages of words as one block behind its outputs, so that there is one toggle for it."""
    gathered: list[Block] = []
    code: list[str] = []
    for block in [*blocks, Block("words")]:
        if block.kind == "words" and code:
            gathered.append(Block("code", source="\n\n".join(code)))
            code = []
        if block.kind == "code":
            code.append(block.source)
        else:
            gathered.append(block)
    return gathered[:-1]


def _markdown(text: str) -> str:
    import mistune

    return str(mistune.create_markdown(escape=True, plugins=["table"])(text))


def _output(output: NotebookNode) -> Block | None:
    """One output as a block; pictures first, then tables, then plain text. Progress bars and warnings are left out."""
    if output.output_type == "stream":
        return Block("text", f"<pre>{escape(output.text)}</pre>") if output.name == "stdout" else None
    data = output.get("data", {})
    if "image/png" in data:
        return Block("picture", _picture(data["image/png"], output.get("metadata", {}).get("image/png", {})))
    if "text/html" in data:
        return Block("table", _cleaned(data["text/html"]))
    if "text/plain" in data:
        return Block("text", f"<pre>{escape(data['text/plain'])}</pre>")
    return None


def _picture(base64: str, size: dict[str, int]) -> str:
    width = f' width="{int(size["width"])}"' if "width" in size else ""
    return f'<img src="data:image/png;base64,{escape("".join(base64.split()))}" alt="The picture described above"{width}>'


def _cleaned(html: str) -> str:
    """HTML of an output, with nothing left in it but tables and text."""
    import bleach  # type: ignore[import-untyped, unused-ignore]

    return str(bleach.clean(html, tags=TAGS_KEPT, attributes=ATTRIBUTES_KEPT, strip=False))
