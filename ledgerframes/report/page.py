"""A self-contained HTML page from an executed notebook.

The page loads no resources and runs no scripts.

The author's text is Markdown without HTML, outputs are sanitized to tables and text, and plots are inlined. A strict
Content-Security-Policy is the second line of defense.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from ledgerframes.control_characters import escape_control
from ledgerframes.control_characters import escape_html as escape
from ledgerframes.report.notebook import Notebook, tags
from ledgerframes.report.tables import FILE_NAME, TABLE_METADATA, keep_together
from ledgerframes.statistics import printing

if TYPE_CHECKING:
    from ledgerframes.report.key_figures import KeyFigure

TEMPLATES = Path(__file__).parent / "templates"
SVG = "image/svg+xml"
NARROW_SVG = "application/vnd.ledgerframes.narrow+svg"  # the same plot for a phone
MAX_ANCHOR = 60
ALT = "A plot without a description"
PERIODS: Final[tuple[Literal["before"], Literal["days"]]] = ("before", "days")
HIDDEN_TAGS = {"parameters", "injected-parameters", "notebook-only"}
ALLOWED_ELEMENTS = {
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("p", "div", "span", "small", "strong", "em", "code", "pre", "br", "wbr", "ul", "ol", "li"),
}
ALLOWED_ATTRIBUTES = {"*": {"class", "title", "colspan", "rowspan", "scope"}}


class Bar(TypedDict):
    """A bar for one day of a key figure."""

    period: str
    height: int  # in percent of the highest


@dataclass(frozen=True)
class Block:
    """A part of the page, with safe HTML."""

    kind: str  # prose, code, plot, table or text
    html: str = ""
    source: str = ""
    table: str = ""  # name of its files


@dataclass(frozen=True)
class Heading:
    """A heading of a page."""

    anchor: str
    html: str  # safe, without elements
    level: int  # 2 for a section, 3 for a part of one


@dataclass
class Contents:
    """The headings of a page so far, with unique anchors."""

    headings: list[Heading] = field(default_factory=list)

    def render(self, text: str) -> str:
        """Return Markdown without HTML as HTML, and remember its headings."""
        import mistune

        contents = self

        class Renderer(mistune.HTMLRenderer):
            def heading(self, text: str, level: int, **attrs: Any) -> str:
                anchor = contents.add(text, level)
                return f'<h{level} id="{anchor}">{text}</h{level}>\n'

        return str(mistune.create_markdown(renderer=Renderer(escape=True), plugins=["table"])(text))

    def add(self, html: str, level: int) -> str:
        """Remember a heading, and return its anchor.

        >>> contents = Contents()
        >>> contents.add("Cost by <em>party</em>", 2), contents.add("Cost by party", 3)
        ('cost-by-party', 'cost-by-party-2')
        """
        plain = re.sub(r"<[^>]*>", "", html)
        slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"&\w+;", "", plain.lower()))[:MAX_ANCHOR].strip("-") or "section"
        same = sum(re.fullmatch(rf"{slug}(-\d+)?", heading.anchor) is not None for heading in self.headings)
        anchor = f"{slug}-{same + 1}" if same else slug
        self.headings.append(Heading(anchor, plain, level))
        return anchor

    def sections(self) -> list[Heading]:
        """Return the headings of sections, in the order of the page."""
        return [heading for heading in self.headings if heading.level == 2]


def render(book: Notebook, run: dict[str, Any]) -> str:
    """Return the page of a notebook with outputs and a ``run.json`` as HTML."""
    contents = Contents()
    title, blocks = _blocks(book, contents)
    return render_template("report.html.j2", title=title or run["report"], blocks=blocks, run=run, sections=contents.sections())


def render_template(name: str, **values: Any) -> str:
    """Return a template with its values, which are escaped, and the common style."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"percent": printing.share, "time": _format_time, "together": keep_together, "bars": bars}
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    page = environment.get_template(name).render(**values, style=style)
    return escape_control(page)  # those of Markdown and of tables, too


def bars(figure: KeyFigure) -> list[Bar]:
    """Return the days of a key figure as bars with a common scale, unless there is only one.

    >>> figure = {"before": [None, 2.0], "days": [4.0, 1.0]}
    >>> [(bar["period"], bar["height"]) for bar in bars(figure)]
    [('before', 0), ('before', 50), ('days', 100), ('days', 25)]
    """
    highest = max((value for period in PERIODS for value in figure[period] if value is not None), default=0)
    if not highest or len(figure["days"]) < 2:
        return []
    return [Bar(period=period, height=round(100 * (value or 0) / highest)) for period in PERIODS for value in figure[period]]


def _format_time(time: str) -> str:
    return time.replace("T", " ").removesuffix("Z").removesuffix(":00")


def template_digest() -> str:
    """Return a digest of the templates, which decide the appearance of the page."""
    files = sorted(path for path in TEMPLATES.iterdir() if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _blocks(book: Notebook, contents: Contents) -> tuple[str, list[Block]]:
    """Return the title, which is the first heading, and everything after it in order."""
    title, blocks = "", []
    for cell in book["cells"]:
        if HIDDEN_TAGS & tags(cell):
            continue
        if cell["cell_type"] == "markdown":
            text = cell["source"]
            if not title and text.startswith("# "):
                heading, _, text = text.partition("\n")
                title = heading[2:].strip()
            blocks.append(Block("prose", contents.render(text)))
        elif cell["cell_type"] == "code":
            blocks += [block for output in cell["outputs"] if (block := _output_block(output))]
            blocks.append(Block("code", source=cell["source"]))
    return title, _merge_code_blocks(blocks)


def _merge_code_blocks(blocks: list[Block]) -> list[Block]:
    """Merge the code between two passages of prose into one block after its outputs."""
    merged: list[Block] = []
    code: list[str] = []
    for block in [*blocks, Block("prose")]:
        if block.kind == "prose" and code:
            merged.append(Block("code", source="\n\n".join(code)))
            code = []
        if block.kind == "code":
            code.append(block.source)
        else:
            merged.append(block)
    return merged[:-1]


def _output_block(output: dict[str, Any]) -> Block | None:
    """Return one output as a plot, a table or plain text, None for progress bars and warnings."""
    if output["output_type"] == "stream":
        return Block("text", f"<pre>{escape(output['text'])}</pre>") if output["name"] == "stdout" else None
    data, metadata = output.get("data", {}), output.get("metadata", {})
    if SVG in data:
        return Block("plot", _render_pictures(data, metadata))
    if "image/png" in data:
        return Block("plot", _render_image(data["image/png"], metadata.get("image/png", {}), metadata.get("alt", ALT)))
    if "text/html" in data:
        return Block("table", sanitize(data["text/html"]), table=_table_name(metadata))
    if "text/plain" in data:
        return Block("text", f"<pre>{escape(data['text/plain'])}</pre>")
    return None


def _render_pictures(data: dict[str, str], metadata: dict[str, Any]) -> str:
    """Return a plot as images for wide and narrow pages, below its title."""
    # An SVG in an image can neither run scripts nor load anything.
    title, note = (escape(metadata.get(name, "")) for name in ("title", "note"))
    caption = f"<figcaption><strong>{title}</strong> <small>{note}</small></figcaption>" if title else ""
    narrow = f'<source media="(max-width: 40rem)" srcset="{_data_url(data[NARROW_SVG])}">' if NARROW_SVG in data else ""
    image = f'<img src="{_data_url(data[SVG])}" alt="{escape(metadata.get("alt", ALT))}">'
    return f"{caption}<picture>{narrow}{image}</picture>"


def _data_url(svg: str) -> str:
    return f"data:{SVG};base64,{b64encode(svg.encode()).decode()}"


def _render_image(base64: str, size: dict[str, int], alt: str) -> str:
    width = f' width="{int(size["width"])}"' if "width" in size else ""
    return f'<img src="data:image/png;base64,{escape("".join(base64.split()))}" alt="{escape(alt)}"{width}>'


def _table_name(metadata: dict[str, Any]) -> str:
    """Return the name of a table's files, empty if it has none."""
    name = metadata.get(TABLE_METADATA)
    return name if isinstance(name, str) and FILE_NAME.fullmatch(name) else ""


def sanitize(html: str) -> str:
    """Return an output's tables and text as HTML that neither loads nor runs anything."""
    import nh3

    return nh3.clean(html, tags=ALLOWED_ELEMENTS, attributes=ALLOWED_ATTRIBUTES, url_schemes=set(), link_rel=None)
