"""A self-contained HTML page from an executed notebook.

The page loads no resources, and runs one script of this package. It sorts and filters tables, and shows values of pictures.

The author's text is Markdown without HTML, outputs are sanitized to tables and text, and plots are inlined. As a second line
of defense, a strict Content-Security-Policy allows the script by its digest.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerframes.analysis.finding_names import REJECTIONS, WASTE
from ledgerframes.report.cells import escape_unbroken, keep_names, keep_together
from ledgerframes.report.markdown import render_markdown
from ledgerframes.report.notebook import Notebook, tags
from ledgerframes.report.picture_html import ALT, SVG, render_image, render_pictures
from ledgerframes.report.registry import ABOUT
from ledgerframes.report.run_content import RunContent
from ledgerframes.report.sentences import Statement
from ledgerframes.report.sparklines import first_day_of, sparkline
from ledgerframes.report.tables import FILE_NAME, TABLE_METADATA
from ledgerframes.report.titles import describe_window, format_time, title_of_window
from ledgerframes.statistics import printing
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.control_characters import escape_html as escape
from ledgerframes.values.windows import Window

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
MAX_ANCHOR = 60
# With as many characters of an id, and of the fingerprint of a party, as in tables and pictures.
LONG_ID = re.compile(r"((?<=::)[0-9a-f]{6}|\b[0-9a-f]{12})([0-9a-f]{24,})([0-9a-f]{4})\b")
END_OF_LEAD = re.compile(r"(?=[,.]\s|[,.]?\Z)")  # of what is unusual in a finding, which is before what is usual
# Between each two, a later run writes the links to other pages again.
LINKS_START, LINKS_END = "<!-- links -->", "<!-- end of links -->"
WEEKLY_LINK_START, WEEKLY_LINK_END = "<!-- weekly link -->", "<!-- end of weekly link -->"
HIDDEN_TAGS = {"parameters", "injected-parameters", "notebook-only"}
ALLOWED_ELEMENTS = {
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("p", "div", "span", "small", "strong", "em", "code", "pre", "br", "wbr", "ul", "ol", "li"),
    *("details", "summary"),
}
ALLOWED_ATTRIBUTES = {"*": {"class", "title", "colspan", "rowspan", "scope"}, "span": {"style", "role", "aria-label"}}
ALLOWED_STYLE = {"margin-left", "width", "height"}  # of bars in cells


@dataclass(frozen=True)
class Block:
    """A part of the page, with safe HTML."""

    kind: str  # prose, code, plot, table or text
    html: str = ""
    source: str = ""
    table: str = ""  # name of its files
    label: str = ""  # of a table, its caption
    is_folded: bool = False  # a table behind a picture of its numbers


@dataclass(frozen=True)
class Heading:
    """A heading of a page."""

    anchor: str
    html: str  # safe, without elements
    level: int  # 2 for a section, 3 for a part of one


@dataclass
class Section:
    """A part of the page below a heading, or what comes before the first."""

    heading: Heading | None
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Contents:
    """The headings of a page so far, with unique anchors."""

    headings: list[Heading] = field(default_factory=list)

    def render(self, text: str) -> str:
        """Return Markdown without HTML as HTML, and remember its headings."""
        return render_markdown(text, self._render_heading)

    def _render_heading(self, text: str, level: int) -> str:
        return f'<h{level} id="{self.add(text, level)}">{text}</h{level}>\n'

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


def render(book: Notebook, run: RunContent, *, is_folded: bool = False) -> str:
    """Return the page of a notebook with outputs and a ``run.json`` as HTML."""
    contents, labels = Contents(), {figure["label"] for figure in run["key_figures"]}
    title, blocks = _blocks(book, contents)
    window = Window.from_dict(run["window"])
    return render_template(
        "report.html.j2",
        title=title_of_window(title, window) or run["report"],
        sections=_split(blocks, contents.sections()),
        run=run,
        window=window,
        summary=sorted((each for each in run["summary"] if each.get("key_figure") not in labels), key=_has_no_next_step),
        first_day=first_day_of(run),
        anchors={ABOUT: "about-this-page"} | {unescape(heading.html): heading.anchor for heading in contents.headings},
        is_folded=is_folded,
        links_start=LINKS_START,
        links_end=LINKS_END,
        weekly_link_start=WEEKLY_LINK_START,
        weekly_link_end=WEEKLY_LINK_END,
    )


def _has_no_next_step(statement: Statement) -> bool:
    return not statement.get("next_step")


def render_template(name: str, **values: Any) -> str:
    """Return a template with its values, which are escaped, and the common style and script."""
    page = _environment().get_template(name).render(**values)
    return escape_control(page)  # those of Markdown and of tables, too


@cache
def _environment() -> Environment:
    """Return the templates, each compiled once.

    A run writes the links of all published pages.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"percent": printing.share, "time": format_time, "window": describe_window}
    environment.filters |= {"readable": _readable, "together": keep_together, "sparkline": sparkline}
    environment.filters |= {"merged": merge_by_subject, "emphasized": _emphasize}
    style, script = ((TEMPLATES / file).read_text(encoding="utf-8") for file in ("report.css", "page.js"))
    environment.globals |= {"style": style, "script": script, "script_digest": digest_of_script(script)}
    return environment


def digest_of_script(script: str) -> str:
    """Return the digest by which a policy allows a script.

    >>> digest_of_script("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return f"sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _readable(text: str) -> Markup:
    """Return a sentence as HTML, with the middle of each long id in an element.

    The page does not show the middle, but a selection includes it.

    >>> print(_readable("<b> is 1220" + "ab" * 32))  # doctest: +ELLIPSIS
    &lt;b&gt; is <span class="id" title="1220ab...ab">1220abababab<span>abab...</span><span>abab</span></span>
    >>> print(_readable("alice::1220" + "ab" * 32))  # doctest: +ELLIPSIS
    <span class="unbroken">alice::</span><wbr><span class="id" title="1220ab...ab">1220ab<span>...</span><span>abab</span></span>
    >>> print(_readable("Buy before 2026-11-23 19:00 UTC."))
    Buy before <span class="unbroken">2026-11-23 19:00 UTC</span>.
    """
    from markupsafe import Markup

    html = LONG_ID.sub(r'<span class="id" title="\g<0>">\1<span>\2</span><span>\3</span></span>', escape_unbroken(text))
    return Markup(keep_names(html))  # noqa: S704 - escaped above


def _emphasize(text: str) -> Markup:
    """Return a sentence on a finding as HTML, with what is unusual in bold.

    >>> print(_emphasize("Monday: 9 of 10 were rejected, usually 1 to 2. Ask them."))
    <b>Monday: 9 of 10 were rejected</b>, usually 1 to 2. Ask them.
    """
    from markupsafe import Markup

    lead, rest = END_OF_LEAD.split(text, maxsplit=1)
    return Markup("<b>{}</b>{}").format(_readable(lead), _readable(rest))


def merge_by_subject(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return items of which those that begin with the same subject have one text.

    They have all their next steps. All else of them has to be equal. The bytes of wasted requests are those of rejected requests,
    so one text gives them once.

    >>> texts = ["Monday: 9 % were rejected.", "Monday: a tenth was wasted."]
    >>> merge_by_subject([{"text": text, "next_step": "Ask them."} for text in texts])
    [{'text': 'Monday: 9 % were rejected. A tenth was wasted.', 'next_step': 'Ask them.'}]
    """
    merged: list[dict[str, Any]] = []
    for each in items:
        subject, colon, rest = each["text"].partition(": ")
        others = (item for item in merged if colon and item["text"].startswith(f"{subject}: "))
        same = next((item for item in others if _without_texts(item) == _without_texts(each)), None)
        if same is None:
            merged.append({**each})
            continue
        if {same.get("what"), each.get("what")} == {WASTE, REJECTIONS}:
            rest = rest.removesuffix(each["effect"])
        same["text"] += f" {rest[:1].upper()}{rest[1:]}"
        if each["next_step"] not in same["next_step"]:
            same["next_step"] += f" {each['next_step']}"
    return merged


def _without_texts(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in ("text", "what", "effect", "next_step")}


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
            blocks += _fold_tables([block for output in cell["outputs"] if (block := _output_block(output))])
            blocks.append(Block("code", source=cell["source"]))
    return title, _merge_code_blocks(blocks)


def _fold_tables(blocks: list[Block]) -> list[Block]:
    """Return the outputs of a cell.

    A table is folded if a picture or a sentence gives its numbers.
    """
    has_picture = any(block.kind == "plot" for block in blocks)
    has_text = any('class="statement"' in block.html for block in blocks if block.kind == "table")

    def is_said(block: Block) -> bool:
        rows = block.html.count("<tr") - 1 if block.kind == "table" else 0  # without the head
        return rows > 0 and (has_picture or (has_text and rows == 1))

    return [replace(block, is_folded=is_said(block)) for block in blocks]


def _split(blocks: list[Block], headings: list[Heading]) -> list[Section]:
    """Return the sections of a page, of which the first has what precedes its headings."""
    sections = [Section(None)]
    left = list(headings)
    for block in blocks:
        parts = re.split(r'(?=<h2 id=")', block.html) if block.kind == "prose" else [block.html]
        for part in parts:
            if block.kind == "prose" and part.startswith("<h2 "):
                sections.append(Section(left.pop(0)))
                part = part.partition("</h2>")[2]
            if block.kind != "prose" or part.strip():
                sections[-1].blocks.append(replace(block, html=part))
    return sections


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
        return Block("plot", render_pictures(data, metadata))
    if "image/png" in data:
        return Block("plot", render_image(data["image/png"], metadata.get("image/png", {}), metadata.get("alt", ALT)))
    if "text/html" in data:
        html = sanitize(data["text/html"])
        return Block("table", html, table=_table_name(metadata), label=_caption(html))
    if "text/markdown" in data:
        return Block("text", sanitize(render_markdown(data["text/markdown"])))
    if "text/plain" in data:
        return Block("text", f"<pre>{escape(data['text/plain'])}</pre>")
    return None


def _caption(html: str) -> str:
    """Return the text of the caption of a sanitized table."""
    match = re.search(r"<caption[^>]*>(.*?)</caption>", html, re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", "", match[1])).strip() if match else "Table"


def _table_name(metadata: dict[str, Any]) -> str:
    """Return the name of a table's files, empty if it has none."""
    name = metadata.get(TABLE_METADATA)
    return name if isinstance(name, str) and FILE_NAME.fullmatch(name) else ""


def sanitize(html: str) -> str:
    """Return an output's tables and text as HTML that neither loads nor runs anything."""
    import nh3

    return nh3.clean(
        html,
        tags=ALLOWED_ELEMENTS,
        attributes=ALLOWED_ATTRIBUTES,
        filter_style_properties=ALLOWED_STYLE,
        url_schemes=set(),
        link_rel=None,
    )
